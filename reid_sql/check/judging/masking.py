"""Reports hold no small counts, nor what would tell them: how few people there are of a kind can identify them.

What is hidden must stay open to more than one solution: complementary suppression, as statistical offices do.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final

from reid_sql.models.classes.disclosure import Histogram
from reid_sql.screen import BINS, ENDLESS

Bin = tuple[int, int | None]  # class sizes from, to
REACH: Final = 1000  # how far another solution is looked for
DIGITS: Final = (2, 1)  # to which a figure is rounded that would tell a small count
COUNTED: Final = re.compile(r"(?<![\d,.])(\d+) (records?|people|classes|values)\b")


def binned(histogram: Histogram) -> list[tuple[Bin, int, int]]:
    """Give, by bins of the class size, the classes and the records."""
    found = []
    for low, high in zip(BINS, (*BINS[1:], ENDLESS), strict=True):
        inside = (histogram.class_size >= low) & (histogram.class_size < high)
        sizes = (low, None if high == ENDLESS else high - 1)
        found.append((sizes, int(histogram.classes[inside].sum()), int(histogram.records[inside].sum())))
    return found


def has_small(histogram: Histogram, dropped: int, below: int) -> bool:
    """Whether a count of records by the size of their class, or of those dropped, is too small to be told."""
    return any(0 < count < below for count in (dropped, *(records for _, _, records in binned(histogram))))


def masked_bins(counts: Sequence[int], bins: Sequence[Bin], below: int, dropped: int = 0) -> list[int | None]:
    """Give the records by class size, small counts as None, with as many others as keep them from being solved for.

    The counts and those dropped make up a total that is told. Zero stays: nobody is told of.

    >>> masked_bins([3, 40, 500, 0], [(1, 1), (2, 2), (3, 4), (5, 9)], 10)
    [None, None, 500, 0]
    """
    parts = [*counts, dropped]
    forms: list[Bin] = [*bins, (1, 1)]
    hidden = {place for place, count in enumerate(parts) if 0 < count < below}
    rest = sorted(
        (place for place, count in enumerate(counts) if count >= below), key=lambda place: counts[place]
    )
    while hidden and rest and not _open(hidden, parts, forms):
        hidden.add(rest.pop(0))
    return [None if place in hidden else count for place, count in enumerate(counts)]


def _open(hidden: set[int], counts: Sequence[int], bins: Sequence[Bin]) -> bool:
    """Whether each hidden count could be another one, with one more of them changed to keep the total."""
    return all(
        any(
            _holds(counts[place] + step, bins[place]) and _holds(counts[other] - step, bins[other])
            for other in hidden - {place}
            for step in (*range(-REACH, 0), *range(1, REACH + 1))
        )
        for place in hidden
    )


def _holds(records: int, sizes: Bin) -> bool:
    """Whether so many records can be in classes of these sizes; there is at least one such class."""
    low, high = sizes
    return records >= low and (high is None or low * -(-records // high) <= records)


def hidden_groups(
    tables: Mapping[tuple[str, ...], Mapping[tuple[str | None, ...], int]], below: int
) -> dict[tuple[str, ...], set[tuple[str | None, ...]]]:
    """Give, for every grouping of a table, the groups whose size is not told.

    These are the small ones, and others so that no size follows from a total: of the table, of another
    grouping by fewer columns, or of what two groupings share.

    >>> found = hidden_groups({("sex",): {("F",): 4, ("M",): 40, ("X",): 500}}, 10)
    >>> sorted(found[("sex",)])
    [('F',), ('M',)]
    """
    hidden = {
        by: {group for group, count in groups.items() if 0 < count < below} for by, groups in tables.items()
    }
    shared = _shared(tables)
    changed = True
    while changed:
        before = sum(len(groups) for groups in hidden.values())
        for by, groups in tables.items():
            for fewer in shared:
                if fewer < frozenset(by):
                    _close(by, groups, fewer, tables, hidden, below)
        changed = sum(len(groups) for groups in hidden.values()) > before
    return hidden


def _shared(tables: Mapping[tuple[str, ...], object]) -> list[frozenset[str]]:
    """Give the sets of columns by which groups add up: none, those of a grouping, those that some have in common."""
    found = {frozenset[str](), *(frozenset(by) for by in tables)}
    while more := {one & other for one in found for other in found} - found:
        found |= more
    return sorted(found, key=lambda names: (len(names), sorted(names)))


def _close(  # noqa: PLR0917 - one step of a loop over all of them
    by: tuple[str, ...],
    groups: Mapping[tuple[str | None, ...], int],
    fewer: frozenset[str],
    tables: Mapping[tuple[str, ...], Mapping[tuple[str | None, ...], int]],
    hidden: dict[tuple[str, ...], set[tuple[str | None, ...]]],
    below: int,
) -> None:
    """Hide more of a grouping wherever a total that is told would tell a hidden group, or the told ones a hidden total."""
    whole = next((other for other in tables if frozenset(other) == fewer), None)
    for total, parts in _parts(by, groups, fewer).items():
        if whole is not None and _ordered(total, whole) in hidden[whole]:
            if not any(part in hidden[by] for part in parts):
                hidden[by].add(min(parts, key=lambda part: (groups[part], repr(part))))
        elif not fewer or whole is not None or _told(total, fewer, tables, hidden):
            _secure(parts, groups, hidden[by], below)


Total = tuple[tuple[str, str | None], ...]


def _parts(
    by: tuple[str, ...], groups: Mapping[tuple[str | None, ...], int], fewer: frozenset[str]
) -> dict[Total, list[tuple[str | None, ...]]]:
    found: dict[Total, list[tuple[str | None, ...]]] = {}
    for group in groups:
        total = tuple(sorted((c, v) for c, v in zip(by, group, strict=True) if c in fewer))
        found.setdefault(total, []).append(group)
    return found


def _ordered(total: Total, by: tuple[str, ...]) -> tuple[str | None, ...]:
    values = dict(total)
    return tuple(values[column] for column in by)


def _told(
    total: Total,
    fewer: frozenset[str],
    tables: Mapping[tuple[str, ...], Mapping[tuple[str | None, ...], int]],
    hidden: Mapping[tuple[str, ...], set[tuple[str | None, ...]]],
) -> bool:
    """Whether some grouping tells every part of the total, and so the total."""
    return any(
        not hidden[by].intersection(_parts(by, groups, fewer).get(total, []))
        for by, groups in tables.items()
        if fewer < frozenset(by)
    )


def _secure(
    parts: Sequence[tuple[str | None, ...]],
    groups: Mapping[tuple[str | None, ...], int],
    hidden: set[tuple[str | None, ...]],
    below: int,
) -> None:
    """Hide the next smallest parts until each hidden one has two solutions."""
    rest = sorted((part for part in parts if part not in hidden), key=lambda part: (groups[part], repr(part)))
    while not several([groups[part] for part in parts if part in hidden], below) and rest:
        hidden.add(rest.pop(0))


def several(counts: Sequence[int], below: int) -> bool:
    """Whether each of the hidden counts, whose sum is known, could be another: small ones are known to be small.

    >>> several([1, 1], 10), several([1, 2], 10), several([3], 10), several([1, 10], 10), several([1, 11], 10)
    (False, True, False, False, True)
    """
    total = sum(counts)
    lows = [1 if count < below else below for count in counts]
    highs = [below - 1 if count < below else math.inf for count in counts]
    least, most = sum(lows), sum(highs)
    return all(
        min(high, total - (least - low))
        > max(low, total - (most - high) if math.isfinite(most - high) else -math.inf)
        for low, high in zip(lows, highs, strict=True)
    )


def mask_of_share(share: float, records: int, below: int) -> float | None:
    """Give the share below which a share of so few records is told to lie; None where it may be told as it is.

    What all but a few records have is told as below 1.

    >>> mask_of_share(0.003, 1000, 10), mask_of_share(0.03, 1000, 10), mask_of_share(0.997, 1000, 10)
    (0.01, None, 1.0)
    """
    count = round(share * records)
    if 0 < count < below:
        return below / records
    return 1.0 if 0 < records - count < below and share < 1 else None


def round_above(value: float, records: int, below: int) -> float:
    """Give a round figure above the value, far from the round one before it: no count of records follows.

    >>> round_above(0.2206, 32561, 10), round_above(0.2201, 32561, 10), round_above(5 / 32561, 32561, 10) * 32561
    (0.23, 0.3, 10.0)
    """
    if value * records < below:
        return below / records
    for digits in DIGITS:
        unit = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
        steps = math.floor(value / unit)
        if (value - steps * unit) * records >= below:
            return max(float(f"{(steps + 1) * unit:.{digits}g}"), below / records)
    return max(float(f"{10.0 ** (math.floor(math.log10(value)) + 1):.1g}"), below / records)


def few_masked(words: str, below: int) -> str:
    """Give a sentence that counts records without its small counts.

    >>> few_masked("3 records are not covered by the population table of 1,003 records", 10)
    'fewer than 10 records are not covered by the population table of 1,003 records'
    """
    return COUNTED.sub(
        lambda found: f"fewer than {below} {_plural(found[2])}" if 0 < int(found[1]) < below else found[0],
        words,
    )


def _plural(noun: str) -> str:
    return "records" if noun == "record" else noun
