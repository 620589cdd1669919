"""Shares as people read them."""


def percent(share: float) -> str:
    """Write a share as a percentage, never rounding a small one to nothing or nearly all to all.

    >>> percent(0.104), percent(0.00001), percent(0.999999), percent(1.0)
    ('10.4 %', 'below 0.1 %', 'above 99.9 %', '100.0 %')
    """
    if 0 < share < 0.001:  # noqa: PLR2004 - one decimal
        return "below 0.1 %"
    return "above 99.9 %" if 0.999 < share < 1 else f"{100 * share:.1f} %"  # noqa: PLR2004 - one decimal
