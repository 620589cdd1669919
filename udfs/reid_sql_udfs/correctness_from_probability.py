"""κ from a cell probability."""

from reid_sql.function import Question, function
from reid_sql.models.classes import uniqueness
from reid_sql.parameters import Count, Floats, Probability


@function(
    question=Question.CORRECTNESS,
    source="Rocher, Hendrickx & de Montjoye 2019, eq. 27",
    duckdb="""CASE WHEN n * p = 0 THEN 1.0 WHEN p = 1 THEN 1 / n
    ELSE least(1.0, -reid_expm1(n * reid_log1p(-p)) / (n * p)) END""",
)
def correctness_from_probability(p: Probability, n: Count) -> Floats:
    """Probability that a match on a record of cell probability p among n people is the right person.

    κ(p, n) = (1 − (1 − p)^n) / (n p). NULL where an argument is NULL; refuses p outside [0, 1] and n below 1.

    >>> round(float(correctness_from_probability(0.01, 101)), 6)
    0.631315
    """
    return uniqueness.correctness_from_probability(p, n)
