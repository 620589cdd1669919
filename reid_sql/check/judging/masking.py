"""Reports hold no small counts: how few people there are of a kind is itself something that can identify them."""

import re
from collections.abc import Sequence


def masked_counts(counts: Sequence[int], below: int) -> list[int | None]:
    """Give the parts of a known total, small ones as None; a lone small one takes the next smallest along.

    Else the total would tell it. Zero stays: nobody is told of.

    >>> masked_counts([3, 40, 500, 0], 10)
    [None, None, 500, 0]
    >>> masked_counts([3, 4, 500], 10)
    [None, None, 500]
    """
    small = {place for place, count in enumerate(counts) if 0 < count < below}
    rest = [place for place, count in enumerate(counts) if count >= below]
    if len(small) == 1 and rest:
        small.add(min(rest, key=lambda place: counts[place]))
    return [None if place in small else count for place, count in enumerate(counts)]


def mask_of_share(share: float, records: int, below: int) -> float | None:
    """Give the share below which a share of so few records is told to lie; None where it may be told as it is.

    >>> mask_of_share(0.003, 1000, 10), mask_of_share(0.03, 1000, 10)
    (0.01, None)
    """
    few = 0 < round(share * records) < below
    return below / records if few else None


def few_masked(words: str, below: int) -> str:
    """Give a sentence that counts records without its small counts.

    >>> few_masked("3 records are not covered by the population table", 10)
    'fewer than 10 records are not covered by the population table'
    """
    return re.sub(
        r"\b(\d+) records\b",
        lambda found: f"fewer than {below} records" if 0 < int(found[1]) < below else found[0],
        words,
    )
