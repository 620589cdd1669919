"""ξ and κ of a record among n people, from its cell probability; κ from ξ."""

from reid_sql.function import Question, function
from reid_sql.models.classes import uniqueness
from reid_sql.parameters import Count, Floats, Probability
from reid_sql.parameters.outputs import Output


@function(
    question=Question.MODEL_SCORES,
    source="Rocher, Hendrickx & de Montjoye 2019, eq. 2",
    duckdb="CASE WHEN n = 1 THEN 1.0 WHEN p = 1 THEN 0.0 ELSE exp((n - 1) * reid_log1p(-p)) END",
    output=Output("measure", ("uniqueness",)),
)
def cell_risk(p: Probability, n: Count) -> Floats:
    """Probability that a record of cell probability p is the only one of its kind among n people.

    ξ(p, n) = (1 − p)^(n−1), the 'uniqueness'. `measure := 'correctness'` gives κ, the probability that a
    match on the record is the right person; with 'correctness_of_uniqueness', p is ξ. NULL where an argument
    is NULL; refuses p outside [0, 1] and n below 1.

    >>> round(float(cell_risk(0.01, 101)), 6)
    0.366032
    """
    return uniqueness.uniqueness_from_probability(p, n)


@function(
    question=Question.MODEL_SCORES,
    source="Rocher, Hendrickx & de Montjoye 2019, eq. 27",
    duckdb="""CASE WHEN n * p = 0 THEN 1.0 WHEN p = 1 THEN 1 / n
    ELSE least(1.0, -reid_expm1(n * reid_log1p(-p)) / (n * p)) END""",
    output=Output("measure", ("correctness",), of="cell_risk"),
)
def correctness_from_probability(p: Probability, n: Count) -> Floats:
    """Probability that a match on a record of cell probability p among n people is the right person.

    κ(p, n) = (1 − (1 − p)^n) / (n p).

    >>> round(float(correctness_from_probability(0.01, 101)), 6)
    0.631315
    """
    return uniqueness.correctness_from_probability(p, n)


@function(
    question=Question.MODEL_SCORES,
    source="Rocher, Hendrickx & de Montjoye 2019, eq. 4",
    duckdb="""CASE WHEN p = 1 OR n = 1 THEN 1.0 WHEN p = 0 THEN 1 / n
    WHEN ln(abs(p)) / (n - 1) = 0 THEN 1.0
    ELSE least(1.0, reid_expm1(n * (ln(abs(p)) / (n - 1))) / (n * reid_expm1(ln(abs(p)) / (n - 1)))) END""",
    output=Output("measure", ("correctness_of_uniqueness",), of="cell_risk"),
)
def correctness_from_uniqueness(p: Probability, n: Count) -> Floats:
    """Probability that a match is right, for a record that is unique among n people with probability p.

    κ = (1 − p^(n/(n−1))) / (n (1 − p^(1/(n−1)))). Governor Weld, p = 0.58 in a town of 54,805 people:

    >>> round(float(correctness_from_uniqueness(0.58, 54805)), 2)
    0.77
    """
    return uniqueness.correctness_from_uniqueness(p, n)
