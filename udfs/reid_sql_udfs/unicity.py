"""Unicity: how many people a few of their rows single out."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes.matching import RowMatches
from reid_sql.models.classes.unicity import TargetPopulation, Unicity, unicity_by_points
from reid_sql.reductions.matches import ROW_MATCHES


@table_function(
    "tbl, entity, columns, points, exact_up_to, samples, seed, nulls, tolerance, population, bins",
    answer=Answer.ROWS,
    reduction=ROW_MATCHES,
    question=Question.SEVERAL_ROWS,
    source="de Montjoye, Hidalgo, Verleysen & Blondel 2013; de Montjoye, Radaelli, Singh & Pentland 2015; "
    "Farzanehfar, Houssiau & de Montjoye 2021",
)
def unicity(matches: RowMatches, population: TargetPopulation = None) -> list[Unicity]:
    """Share of people whom some of their rows single out, for an attacker who knows several rows of each.

    For a table with several rows per person, such as visits, trips or purchases. `entity` is the column that
    identifies people, `columns` are what the attacker knows of a row, such as its place and day; equal rows
    of a person count once. For each number in `points`, the attacker knows that number of random rows of a
    person, and everyone who has all of them matches. With `points := NULL`, the attacker knows all rows. If a
    person has fewer rows, the attacker knows all of them; `people_with_fewer` counts these people. Up to
    `exact_up_to` combinations of rows, all are counted; beyond, `samples` people and their known rows are
    drawn by `seed`, the same on every engine, and the standard errors are those of the draw.

    If the people are a random sample, pass the number of people of the `population`: the more people, the
    fewer are singled out. The interval of `population_uniqueness` contained the true value for 99 % of
    held-out traces and baskets, from 2 to 25 % of the people (docs/rows_per_person.md). Refuses an empty
    table, and a population smaller than it.

    `bins` asks for coarser resolutions, in all combinations, a row each: `{'time': ['1 hour', '1 day']}` for
    dates and times, `{'cost': [10, 100]}` for numbers, `{'place': ['place', 'district']}` for other columns.

    With `tolerance`, values of `columns` match that differ by no more, as in risk_summary: an attacker who
    knows rows only so closely has as candidates all people with a row within it of each known row.

    >>> import numpy as np
    >>> one, people, none = np.array([1, 1]), np.array([4, 4]), np.array([0, 0])
    >>> size, weight, exact = np.array([1, 2]), np.array([2.0, 2.0]), [None, None]
    >>> half_have_a_twin = RowMatches(one, size, weight, people, none, none, none, exact)
    >>> unicity(half_have_a_twin)[0].uniqueness
    0.5
    """
    return unicity_by_points(matches, population)
