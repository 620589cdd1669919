"""The exact upper end of a share that was counted in a sample (Clopper & Pearson 1934)."""

from typing import Final

from reid_sql.models.numerics.special import betaincinv

TAIL: Final = 0.975


def clopper_pearson(held: float, records: float) -> float:
    """Upper end of a share that `held` records have: the truth is below it in 97.5 % of samples.

    A sample without replacement varies less than the binomial, so the end is on the safe side.

    >>> round(clopper_pearson(2, 10), 4), clopper_pearson(10, 10)
    (0.5561, 1.0)
    """
    return float(betaincinv(held + 1.0, records - held, TAIL)) if held < records else 1.0
