"""What an answer may show of its figures: no small count of the records, and nothing that reveals one."""

import math
from collections.abc import Collection, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from reid_sql.check.masking import is_small, mask_counts_in_text, round_between

# Columns of numbers that no record was counted for: what a client gave, or how something was computed.
SETTINGS: Final = frozenset(
    {
        "threshold",
        "threshold_k",
        "population",
        "fraction",
        "sample",
        "points",
        "size",
        "n",
        "draws",
        "c",
    }
)


def mask_answer(answer: pa.Table, below: int, records: int, by: int) -> pa.Table:
    """Mask every figure of an answer that is a small count of the records, or reveals one.

    The first columns are its groups. Class sizes that are hidden are no rows: how many they are narrows them.
    """
    groups: dict[str, list[int]] = {}
    for place, row in enumerate(answer.to_pylist()):
        groups.setdefault(repr(list(row.values())[:by]), []).append(place)
    masked = answer
    for place, name in enumerate(answer.column_names):
        if place >= by and name not in SETTINGS and below > 1:
            parts = [*groups.values(), range(len(answer))]
            column = _masked(name, answer[name], below, records, parts)
            masked = masked.set_column(place, name, column)
    is_histogram = "class_size" in answer.column_names
    return masked.filter(pc.is_valid(masked["class_size"])) if is_histogram else masked


def _masked(
    name: str, column: pa.ChunkedArray, below: int, records: int, parts: Collection[Sequence[int]]
) -> pa.Array:
    """Mask a column; where hidden counts of a part are small together, its smallest other is hidden, too."""
    values = column.to_pylist()
    masked = [_mask_value(name, value, below, records) for value in values]
    for places in parts if pa.types.is_integer(column.type) else ():
        hidden = sum(values[place] or 0 for place in places if masked[place] is None)
        others = [place for place in places if masked[place]]
        if is_small(hidden, below) and others:
            masked[min(others, key=lambda place: int(values[place]))] = None
    return pa.array(masked, column.type)


def _mask_value(name: str, value: Any, below: int, records: int) -> Any:  # noqa: ANN401 - a cell of an answer
    """Mask a cell: a small count becomes NULL; a share is rounded, up, or down where it is a lower bound."""
    if isinstance(value, str):
        return mask_counts_in_text(value, below)
    if isinstance(value, list):
        masked = [_mask_value(name, each, below, records) for each in value]
        return masked if masked == value else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return value
    if not 0 < value < 1:
        is_count = value == round(value)
        small = is_small(round(value), below) or is_small(records - round(value), below)
        return (
            None if is_count and small and not (value == 1 and isinstance(value, float)) else value
        )
    if any(math.isclose(value * size, 1) for size in range(2, below)):  # the risk of a small class
        return None
    low, high = round_between(value, records, below)
    return low if name.endswith("low") else min(1.0, high)
