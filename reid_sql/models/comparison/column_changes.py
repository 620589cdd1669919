"""What became of one column: cells changed and suppressed, what it tells no more, how far values moved."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Final

import numpy as np

from reid_sql.models.classes.disclosure import OK
from reid_sql.models.comparison.paired_records import PairedColumn, PairedRecords
from reid_sql.models.comparison.reading import reading
from reid_sql.models.comparison.written import canonical
from reid_sql.parameters import Floats, Integers

NO_KEY: Final = "without key nobody knows which released record is whose: pass key, a column of both tables"
NOT_KNOWN: Final = "not known"
OTHER_FORMS: Final = "no released value is one of the original, so that total_variation tells nothing"


@dataclass(frozen=True)
class ColumnChanges:
    """What became of one column; what is not known is None, and the status says why."""

    column_name: str
    original_values: int  # distinct values of the column in the original, NULL not counted
    released_values: int  # the same in the release
    cells_changed: int | None  # records of both tables whose value is another than it was
    cells_suppressed: int | None  # those of them that tell nothing now: NULL, an empty text, or stars alone
    information_loss: float | None  # share of the column's entropy that its released values no longer tell
    total_variation: float | None  # share of records by which the distributions of values differ
    earth_movers: float | None  # how far numbers moved on average, as a share of the original's range
    understood: str  # how the attack of compare reads the column
    status: str


def column_changes(paired: PairedRecords) -> list[ColumnChanges]:
    """Tell what became of each column.

    >>> import numpy as np
    >>> paired = PairedRecords(["age"], [True], np.array([[1, 2]]), np.array([[1, 1]]), np.array([1, 1]),
    ...     [["23", "27"]], [["20 to 29"]])
    >>> found = column_changes(paired)[0]
    >>> found.cells_changed, found.information_loss, found.understood
    (2, 1.0, 'recoded')
    """
    return [_changes(column, keyed=paired.is_keyed) for column in paired.columns()]


def _changes(column: PairedColumn, *, keyed: bool) -> ColumnChanges:
    records = column.became.records
    moved = total_variation(column)
    reasons = [NO_KEY] * (not keyed) + [OTHER_FORMS] * (moved is None)
    return ColumnChanges(
        column_name=column.name,
        original_values=len(column.original_values),
        released_values=len(column.released_values),
        cells_changed=int(records[column.differs].sum()) if keyed else None,
        cells_suppressed=int(records[column.suppressed].sum()) if keyed else None,
        information_loss=information_loss(column) if keyed else None,
        total_variation=moved,
        earth_movers=earth_movers(column),
        understood=reading(column).words if keyed and (column.became.released >= 0).any() else NOT_KNOWN,
        status="; ".join(reasons) or OK,
    )


def information_loss(column: PairedColumn) -> float:
    """Give H(O | R) / H(O) of the values O and what they became, R; removed is one form; 0 where H(O) is.

    Shannon 1948; where values are merged alone it is the non-uniform entropy of de Waal & Willenborg 1999.
    """
    became = column.became
    n = became.records.astype(np.float64)
    whole = n.sum()
    each = np.bincount(became.original, weights=n)
    forms = np.bincount(became.released + 1, weights=n)
    left = float((n * np.log(forms[became.released + 1] / n)).sum())
    known = each[each > 0]
    told = float((known * np.log(whole / known)).sum())
    return min(1.0, max(0.0, left / told)) if told > 0 else 0.0


def total_variation(column: PairedColumn) -> float | None:
    """Give ½ Σ |p − q| over values, NULL one of them; None where no released value is an original one."""
    mine, theirs = (_shares(column, released=side) for side in (False, True))
    if not (mine.keys() & theirs.keys()) - {None} and any(value is not None for value in mine):
        return None
    # In whatever order: the sum of the differences is rounded once.
    return fsum(abs(mine.get(value, 0) - theirs.get(value, 0)) for value in mine.keys() | theirs.keys()) / 2


def _shares(column: PairedColumn, *, released: bool) -> dict[str | float | None, float]:
    codes = column.released if released else column.original
    values = column.released_values if released else column.original_values
    counts = _counts(codes, column.records, values)
    found: dict[str | float | None, float] = {}
    for value, n in zip([None, *values], counts, strict=True):
        if n:
            found[canonical(value)] = found.get(canonical(value), 0.0) + float(n)
    return {value: n / float(counts.sum()) for value, n in found.items()}


def _counts(codes: Integers, records: Integers, values: Sequence[str]) -> Floats:
    there = codes >= 0
    weights = records[there].astype(np.float64)
    return np.bincount(codes[there], weights=weights, minlength=len(values) + 1).astype(np.float64)


def earth_movers(column: PairedColumn) -> float | None:
    """Give ∫ |F − G| over the original's range, of numbers that are told; None where there are others."""
    sides = (column.original, column.original_values), (column.released, column.released_values)
    told = []
    for codes, values in sides:
        found = column.as_numbers(values)
        if found is None:
            return None
        counts = _counts(codes, column.records, values)
        held = ~np.isnan(found) & (counts > 0)
        if not held.any():
            return None
        told.append((found[held], counts[held] / counts[held].sum()))
    (mine, p), (theirs, q) = told
    spread = float(mine.max() - mine.min())
    if not spread:
        return None
    points, place = np.unique(np.concatenate([mine, theirs]), return_inverse=True)
    steps = np.bincount(place, weights=np.concatenate([p, -q]))
    return float((np.abs(np.cumsum(steps))[:-1] * np.diff(points)).sum() / spread)
