"""Correctness of a learned matching by the size of the gallery, from its scores."""

from typing import Annotated

import numpy.typing as npt

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes import matching
from reid_sql.models.classes.matching import PERSON, SCORE, MatchingPoint
from reid_sql.parameters import COUNT, Numbers

Scores = Annotated[npt.ArrayLike, Numbers(SCORE)]
Persons = Annotated[npt.ArrayLike | None, Numbers(PERSON, optional=True)]
Sizes = Annotated[npt.ArrayLike | None, Numbers(COUNT, optional=True)]


@table_function(
    "true_scores, false_scores, sizes, true_persons, false_persons",
    answer=Answer.ROWS,
    question=Question.SEVERAL_ROWS,
    source="Rocher, Hendrickx & de Montjoye 2025 (rank-1 identification rate), expectation over galleries "
    "taken exactly",
)
def matching_correctness_curve(
    true_scores: Scores,
    false_scores: Scores,
    sizes: Sizes = None,
    true_persons: Persons = None,
    false_persons: Persons = None,
) -> list[MatchingPoint]:
    """Measure how often a learned matching names the right person among n, from its scores of pairs.

    Pass lists: in SQL `SET VARIABLE right_pairs = (SELECT list(score) FROM pairs WHERE same)` and
    `getvariable('right_pairs')`. Higher scores are better matches; ties are broken at random. With
    `true_persons` and `false_persons`, the number of the person looked for in each pair, each person is
    compared with their own wrong pairs; without them with all, as if nobody were easier to mistake. Sizes go
    up to the wrong pairs of a person and one more; `pyc_extrapolate` goes on from there, with
    `standard_error` as its `standard_errors`.

    >>> curve = matching_correctness_curve([0.9, 0.4], [0.1, 0.2, 0.5, 0.6], [1, 2, 3])
    >>> [round(row.correctness, 3) for row in curve]
    [1.0, 0.75, 0.583]
    """
    return matching.matching_curve(true_scores, false_scores, sizes, true_persons, false_persons)
