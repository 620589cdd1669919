"""Shares of a Pitman–Yor population: κ, Ξ and V_k."""

from reid_sql.function import Question, function
from reid_sql.models.pyc import pitman_yor
from reid_sql.models.pyc.pitman_yor import ClassSize, Entropy, Tail
from reid_sql.parameters import Count, Floats
from reid_sql.parameters.outputs import Output


@function(
    question=Question.CORRECTNESS,
    source="Rocher, Hendrickx & de Montjoye 2025, eq. 13",
    output=Output("measure", ("correctness",)),
)
def pyc_share(entropy: Entropy, tail: Tail, n: Count) -> Floats:
    """Expected share of right matches among n people, for sets of this entropy and tail complexity.

    The sets are anonymity sets. `entropy` is in nats, 0.001 to 60, and `tail` is −20 to below 1. `measure` is
    'correctness' (right matches), 'uniqueness' (people alone in their set) or 'k_violation' (people in sets
    smaller than `k`). NULL where an argument is NULL; refuses values outside these domains and n below 1. 40
    bits and a geometric tail, in the world's population:

    >>> round(float(pyc_share(27.7259, 0.0, 7.53e9)), 3)
    0.994
    """
    return pitman_yor.correctness(entropy, tail, n)


@function(
    question=Question.CORRECTNESS,
    source="Rocher, Hendrickx & de Montjoye 2025, eq. 12",
    output=Output("measure", ("uniqueness",), of="pyc_share"),
)
def pyc_uniqueness(entropy: Entropy, tail: Tail, n: Count) -> Floats:
    """Expected share of n people who are alone in their set.

    >>> round(float(pyc_uniqueness(10.0, 0.5, 1e6)), 4)
    0.1685
    """
    return pitman_yor.uniqueness(entropy, tail, n)


@function(
    question=Question.CORRECTNESS,
    source="Rocher, Hendrickx & de Montjoye 2025, eq. 14, as the sum over classes smaller than k",
    output=Output("measure", ("k_violation",), of="pyc_share"),
)
def pyc_k_violation(entropy: Entropy, tail: Tail, n: Count, k: ClassSize = 5) -> Floats:
    """Expected share of n people in sets smaller than k, a whole number from 1 to 1,000.

    >>> round(float(pyc_k_violation(10.0, 0.5, 1e6, 5)), 4)
    0.2333
    """
    return pitman_yor.k_violation(entropy, tail, n, k)
