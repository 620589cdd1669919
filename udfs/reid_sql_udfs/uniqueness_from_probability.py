"""ξ from a cell probability."""

from reid_sql.function import Question, function
from reid_sql.models.classes import uniqueness
from reid_sql.parameters import Count, Floats, Probability


@function(
    question=Question.MODEL_SCORES,
    source="Rocher, Hendrickx & de Montjoye 2019, eq. 2",
    duckdb="CASE WHEN n = 1 THEN 1.0 WHEN p = 1 THEN 0.0 ELSE exp((n - 1) * reid_log1p(-p)) END",
)
def uniqueness_from_probability(p: Probability, n: Count) -> Floats:
    """Probability that a record of cell probability p is the only one of its kind among n people.

    ξ(p, n) = (1 − p)^(n−1). NULL where an argument is NULL; refuses p outside [0, 1] and n below 1.

    >>> round(float(uniqueness_from_probability(0.01, 101)), 6)
    0.366032
    """
    return uniqueness.uniqueness_from_probability(p, n)
