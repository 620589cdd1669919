"""V_k of a Pitman–Yor population."""

from reid_sql.function import Question, function
from reid_sql.models.pyc import pitman_yor
from reid_sql.models.pyc.pitman_yor import ClassSize, Entropy, Tail
from reid_sql.parameters import Count, Floats


@function(
    question=Question.CORRECTNESS,
    source="Rocher, Hendrickx & de Montjoye 2025, eq. 14, as the sum over classes smaller than k",
)
def pyc_k_violation(entropy: Entropy, tail: Tail, n: Count, k: ClassSize) -> Floats:
    """Expected share of n people in sets smaller than k, for sets of this entropy and tail complexity.

    The sets are anonymity sets. `entropy` in nats, 0.001 to 60; `tail` from −20 to below 1; `k` a whole
    number from 1 to 1,000. NULL where an argument is NULL; refuses values outside these domains and n below
    1.

    >>> round(float(pyc_k_violation(10.0, 0.5, 1e6, 5)), 4)
    0.2333
    """
    return pitman_yor.k_violation(entropy, tail, n, k)
