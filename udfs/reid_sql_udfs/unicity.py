"""Unicity: how many people a few of their rows single out."""

from typing import Annotated

import numpy.typing as npt

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes import matching
from reid_sql.models.classes.matching import Matches, SinglingRows, SparsePoint
from reid_sql.models.classes.quasi_identifiers import Codes
from reid_sql.models.classes.unicity import TargetPopulation, Unicity, unicity_by_points
from reid_sql.parameters import COUNT, Numbers
from reid_sql.parameters.outputs import Output
from reid_sql.reduction import Needs
from reid_sql.reductions.matches import MATCHES
from reid_sql.reductions.qar import PERSON_ROWS


@table_function(
    "tbl, entity, columns, points, exact_up_to, samples, seed, nulls, tolerance, population, bins",
    answer=Answer.ROWS,
    reduction=MATCHES,
    question=Question.SEVERAL_ROWS,
    source="de Montjoye, Hidalgo, Verleysen & Blondel 2013; de Montjoye, Radaelli, Singh & Pentland 2015; "
    "Farzanehfar, Houssiau & de Montjoye 2021",
    needs=Needs.CODES,
    output=Output("output", ("points",)),
)
def unicity(matches: Matches, population: TargetPopulation = None) -> list[Unicity]:
    """Share of people whom some of their rows single out, for an attacker who knows several rows of each.

    For a table with several rows per person, such as visits, trips or purchases. `output := 'people'` lists
    the rows that single each person out, 'curve' the share of right matches among fewer people. `columns` are
    what the attacker knows of a row, such as its place and day; equal rows of a person count once. For each
    number in `points`, the attacker knows that number of random rows of a person (all, if there are fewer;
    with `points := NULL`, always all), and everyone who has all of them matches. Up to `exact_up_to`
    combinations of rows, all are counted; beyond, `samples` people and their known rows are drawn by `seed`,
    the same on every engine, and the standard errors are those of the draw.

    If the people are a random sample of a `population`, pass its number of people. The interval of
    `population_uniqueness` contained the true value for 99 % of held-out traces and baskets, from 2 to 25 %
    of the people (docs/rows_per_person.md). Refuses an empty table, and a population smaller than it.

    `bins` asks for coarser resolutions, in all combinations, a row each: `{'time': ['1 hour', '1 day']}` for
    dates and times, `{'cost': [10, 100]}` for numbers, `{'place': ['place', 'district']}` for other columns.

    With `tolerance`, as in risk_summary, candidates are all people with a row within it of each known row.

    >>> import numpy as np
    >>> one, people, none = np.array([1, 1]), np.array([4, 4]), np.array([0, 0])
    >>> size, weight, exact = np.array([1, 2]), np.array([2.0, 2.0]), [None, None]
    >>> half_have_a_twin = Matches(one, size, weight, people, none, none, none, exact)
    >>> unicity(half_have_a_twin)[0].uniqueness
    0.5
    """
    return unicity_by_points(matches, population)


@table_function(
    "tbl, entity, columns, points, exact_up_to, samples, seed, sizes, nulls, tolerance, bins",
    answer=Answer.ROWS,
    reduction=MATCHES,
    question=Question.SEVERAL_ROWS,
    source="Rocher, Hendrickx & de Montjoye 2025 (sparse matching)",
    needs=Needs.CODES,
    output=Output("output", ("curve",), of="unicity"),
)
def unicity_curve(
    matches: Matches, sizes: Annotated[npt.ArrayLike | None, Numbers(COUNT, optional=True)] = None
) -> list[SparsePoint]:
    """Share of right matches in a gallery of n people, for an attacker who knows some rows of each person.

    The attacker names one of the people of the gallery who have all known rows. `sizes` are whole numbers
    from 1 to the number of people; by default 50 numbers, evenly spaced on a logarithmic scale. What is drawn
    is as above. Refuses an empty table.

    >>> import numpy as np
    >>> one, people, none = np.array([1, 1]), np.array([4, 4]), np.array([0, 0])
    >>> size, weight, exact = np.array([1, 2]), np.array([2.0, 2.0]), [None, None]
    >>> half_have_a_twin = Matches(one, size, weight, people, none, none, none, exact)
    >>> unicity_curve(half_have_a_twin, [4])[0].correctness
    0.75
    """
    return matching.sparse_matching_curve(matches, sizes)


@table_function(
    "tbl, entity, columns, nulls",
    answer=Answer.ROWS,
    reduction=PERSON_ROWS,
    question=Question.UNIQUE_RECORDS,
    source="de Montjoye, Hidalgo, Verleysen & Blondel 2013; greedy set cover of Chvátal 1979",
    needs=Needs.CODES,
    output=Output("output", ("people",), of="unicity"),
)
def unicity_people(table: Codes) -> SinglingRows:
    """Find for each person a small number of their rows that singles them out, to see who is exposed.

    The search is greedy: it takes the row that fewest people have, then the one that fewest of those have who
    still match, until nobody else does. `known_rows` is an upper bound: fewer rows may single the person out.
    If other people have all rows of a person, `matches` is the number of people who have them, including the
    person, and `known_rows` is the number of rows that leave only these people. Refuses rows that so many
    people share that the search would take hours.

    >>> import numpy as np
    >>> ward, people = np.array([1, 2, 1]), np.array([0, 0, 1])
    >>> unicity_people(Codes(["ward"], [True], [ward], np.arange(3), people=people)).matches.tolist()
    [1, 2]
    """
    return matching.find_singling_rows(table)
