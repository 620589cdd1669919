"""κ of a Pitman–Yor population."""

from reid_sql.function import Question, function
from reid_sql.models.pyc import pitman_yor
from reid_sql.models.pyc.pitman_yor import Entropy, Tail
from reid_sql.parameters import Count, Floats


@function(question=Question.CORRECTNESS, source="Rocher, Hendrickx & de Montjoye 2025, eq. 13")
def pyc_correctness(entropy: Entropy, tail: Tail, n: Count) -> Floats:
    """Expected probability that a match is right among n, for sets of this entropy and tail complexity.

    The sets are anonymity sets, and n is the number of people. `entropy` is in nats, 0.001 to 60, and `tail`
    is −20 to below 1. NULL where an argument is NULL; refuses values outside these domains and n below
    1. 40 bits and a geometric tail, in the world's population:

    >>> round(float(pyc_correctness(27.7259, 0.0, 7.53e9)), 3)
    0.994
    """
    return pitman_yor.correctness(entropy, tail, n)
