"""Correctness of an attacker who knows some points of a set."""

from typing import Annotated

import numpy.typing as npt

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes import matching
from reid_sql.models.classes.matching import Matches, SparsePoint
from reid_sql.parameters import COUNT, Numbers
from reid_sql.reduction import Needs
from reid_sql.reductions.matches import MATCHES


@table_function(
    "tbl, person, item, points, exact_up_to, samples, seed, sizes, nulls",
    answer=Answer.ROWS,
    reduction=MATCHES,
    question=Question.SEVERAL_ROWS,
    source="Rocher, Hendrickx & de Montjoye 2025 (sparse matching)",
    needs=Needs.CODES,
)
def sparse_correctness_curve(
    matches: Matches, sizes: Annotated[npt.ArrayLike | None, Numbers(COUNT, optional=True)] = None
) -> list[SparsePoint]:
    """Share of right matches in a gallery of n people, for an attacker who knows some items of each person.

    The table has a row for each person and item, such as a purchase; repeated rows count once. The attacker
    knows `points` random items of the target, or all of them where there are fewer, and names one of the
    people who have them all. Up to `exact_up_to` combinations of items, all are counted; beyond, `samples`
    targets and their known items are drawn by `seed`, the same on every engine, and `standard_error` is the
    error of the draw. `unicity` gives `uniqueness` for several numbers of points. `sizes` are whole numbers
    from 1 to the number of people; by default 50 numbers, evenly spaced on a logarithmic scale. Refuses an
    empty table.

    >>> import numpy as np
    >>> one, people, none = np.array([1, 1]), np.array([4, 4]), np.array([0, 0])
    >>> half_have_a_twin = Matches(one, np.array([1, 2]), np.array([2.0, 2.0]), people, none, none)
    >>> sparse_correctness_curve(half_have_a_twin, [4])[0].correctness
    0.75
    """
    return matching.sparse_matching_curve(matches, sizes)
