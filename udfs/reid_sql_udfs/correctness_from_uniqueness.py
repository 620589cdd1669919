"""κ from ξ."""

from reid_sql.function import Question, function
from reid_sql.models.classes import uniqueness
from reid_sql.parameters import Count, Floats, Probability


@function(
    question=Question.CORRECTNESS,
    source="Rocher, Hendrickx & de Montjoye 2019, eq. 4",
    duckdb="""CASE WHEN xi = 1 OR n = 1 THEN 1.0 WHEN xi = 0 THEN 1 / n
    WHEN ln(abs(xi)) / (n - 1) = 0 THEN 1.0
    ELSE least(1.0, reid_expm1(n * (ln(abs(xi)) / (n - 1))) / (n * reid_expm1(ln(abs(xi)) / (n - 1)))) END""",
)
def correctness_from_uniqueness(xi: Probability, n: Count) -> Floats:
    """Probability that a match is right, for a record that is unique among n people with probability xi.

    κ = (1 − ξ^(n/(n−1))) / (n (1 − ξ^(1/(n−1)))). NULL where an argument is NULL; refuses xi outside [0, 1]
    and n below 1. Governor Weld, ξ = 0.58 in a town of 54,805 people:

    >>> round(float(correctness_from_uniqueness(0.58, 54805)), 2)
    0.77
    """
    return uniqueness.correctness_from_uniqueness(xi, n)
