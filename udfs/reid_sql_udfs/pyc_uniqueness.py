"""Ξ of a Pitman–Yor population."""

from reid_sql.function import Question, function
from reid_sql.models.pyc import pitman_yor
from reid_sql.models.pyc.pitman_yor import Entropy, Tail
from reid_sql.parameters import Count, Floats


@function(question=Question.CORRECTNESS, source="Rocher, Hendrickx & de Montjoye 2025, eq. 12")
def pyc_uniqueness(entropy: Entropy, tail: Tail, n: Count) -> Floats:
    """Expected share of n people alone in their set, for sets of this entropy and tail complexity.

    The sets are anonymity sets. `entropy` in nats, 0.001 to 60; `tail` from −20 to below 1. NULL where an
    argument is NULL; refuses values outside these domains and n below 1.

    >>> round(float(pyc_uniqueness(10.0, 0.5, 1e6)), 4)
    0.1685
    """
    return pitman_yor.uniqueness(entropy, tail, n)
