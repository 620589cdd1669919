"""Unicity: how many people a few of their rows single out."""

from reid_sql.function import Answer, table_function
from reid_sql.models.classes.matching import Matches, Unicity, unicity_by_points
from reid_sql.reductions.matches import ROW_MATCHES


@table_function(
    "tbl, entity, columns, points, exact_up_to, samples, seed, nulls",
    answer=Answer.ROWS,
    reduction=ROW_MATCHES,
    source="de Montjoye, Hidalgo, Verleysen & Blondel 2013; de Montjoye, Radaelli, Singh & Pentland 2015",
)
def unicity(matches: Matches) -> list[Unicity]:
    """Share of people whom some of their rows single out, for an attacker who knows several rows of each.

    For a table with several rows per person, such as visits, trips or purchases. `entity` is the column that
    identifies people, `columns` are what the attacker knows of a row, such as its place and day; equal rows
    of a person count once. For each number in `points`, the attacker knows so many random rows of a person,
    and everyone who has them all matches. `points := NULL` asks about an attacker who knows all rows. People
    with fewer rows are known by all of theirs; `people_with_fewer` counts them. Where the combinations of
    rows are at most `exact_up_to`, all are counted; beyond, `samples` people and their known rows are drawn
    by `seed`, the same on every engine, and the standard errors say how much that leaves open. Refuses an
    empty table.

    >>> import numpy as np
    >>> one, people, none = np.array([1, 1]), np.array([4, 4]), np.array([0, 0])
    >>> half_have_a_twin = Matches(one, np.array([1, 2]), np.array([2.0, 2.0]), people, none, none)
    >>> unicity(half_have_a_twin)[0].uniqueness
    0.5
    """
    return unicity_by_points(matches)
