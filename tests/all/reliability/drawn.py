"""Tables drawn at random over all types, nested too, and what somebody who counts in a loop says of them."""

import math
import random
from collections import Counter
from collections.abc import Callable, Hashable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

Draw = Callable[[random.Random], Any]
Column = tuple[pa.DataType, Draw]

ODD_TEXTS: Final = [
    "",
    " ",
    "a",
    "A",
    "a ",
    "\u00e9",
    "e\u0301",
    "0123",
    "123",
    "1e2",
    "100",
    "NULL",
    "\x00",
    "🎂",
]
INSTANT: Final = datetime(2020, 1, 1, 12, tzinfo=UTC)
LARGE: Final = 2**53


def _of(*values: Any) -> Draw:
    return lambda rng: rng.choice(values)


PLAIN: Final[dict[str, Column]] = {
    "tinyint": (pa.int8(), _of(-128, -1, 0, 1, 127)),
    "utinyint": (pa.uint8(), _of(0, 1, 255)),
    "integer": (pa.int32(), lambda rng: rng.randint(-3, 3)),
    "bigint": (pa.int64(), _of(LARGE, LARGE + 1, -LARGE - 1, 0, 2**63 - 1, -(2**63))),
    "ubigint": (pa.uint64(), _of(0, 2**64 - 1, 2**63, LARGE + 1)),
    "float": (pa.float32(), _of(0.0, -0.0, 1.5, math.nan, math.inf, -math.inf)),
    "double": (
        pa.float64(),
        _of(0.0, -0.0, 0.1, 0.1 + 2**-56, math.nan, -math.nan, math.inf, float(LARGE)),
    ),
    "decimal": (
        pa.decimal128(20, 3),
        _of(Decimal("1.500"), Decimal("1.501"), Decimal("-99999999999999999.999")),
    ),
    "boolean": (pa.bool_(), lambda rng: rng.random() < 0.5),
    "text": (pa.string(), lambda rng: rng.choice(ODD_TEXTS)),
    "blob": (pa.binary(), _of(b"", b"\x00", b"\x00\x00", b"a", b"\xff")),
    "date": (pa.date32(), _of(date(1970, 1, 1), date(1969, 12, 31), date(2000, 2, 29))),
    "time": (pa.time64("us"), _of(time(0), time(23, 59, 59, 999999), time(12, 0, 0, 1))),
    "timestamp": (
        pa.timestamp("us"),
        # A wall clock's.
        _of(datetime(1970, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 999999)),  # noqa: DTZ001
    ),
    "instant": (pa.timestamp("us", "UTC"), _of(INSTANT, INSTANT + timedelta(microseconds=1))),
    "word": (pa.dictionary(pa.int8(), pa.string()), _of("low", "high", "Low")),
}


def _nested(rng: random.Random, depth: int) -> Column:
    """A list or a structure of another column, with gaps inside."""
    kind, draw = _column(rng, depth - 1)
    if pa.types.is_dictionary(kind):
        kind = pa.string()

    def gap(rng: random.Random) -> Any:
        return None if rng.random() < 0.3 else draw(rng)

    if rng.random() < 0.5:
        return pa.list_(kind), lambda rng: [gap(rng) for _ in range(rng.randint(0, 2))]
    return pa.struct([("x", kind), ("y", pa.int8())]), lambda rng: {
        "x": gap(rng),
        "y": rng.choice([None, 1]),
    }


def _column(rng: random.Random, depth: int = 2) -> Column:
    return _nested(rng, depth) if depth and rng.random() < 0.2 else rng.choice(list(PLAIN.values()))


def table(seed: int) -> pa.Table:
    """Draw a table of up to 40 records and 1 to 9 columns, with values missing and records drawn twice."""
    rng = random.Random(seed)  # noqa: S311 - tables, no secrets
    columns = [_column(rng) for _ in range(rng.randint(1, 9))]
    height, gaps = rng.randint(1, 40), rng.choice([0.0, 0.1, 0.5])
    rows = [
        [None if rng.random() < gaps else draw(rng) for _, draw in columns] for _ in range(height)
    ]
    rows += [rng.choice(rows) for _ in range(rng.randint(0, height))]
    arrays = [
        pa.array([row[place] for row in rows], pa.string()).dictionary_encode().cast(kind)
        if pa.types.is_dictionary(kind)
        else pa.array([row[place] for row in rows], kind)
        for place, (kind, _) in enumerate(columns)
    ]
    return pa.table(arrays, names=[f"c{place}" for place in range(1, len(columns) + 1)])


def canonical(value: Any) -> Hashable:
    """A value as databases compare it: NaN is NaN, 0.0 is -0.0, and nothing else is alike that differs."""
    if isinstance(value, float):
        return ("float", "nan" if math.isnan(value) else value + 0.0)
    if isinstance(value, list):
        return ("list", *(canonical(item) for item in value))
    if isinstance(value, dict):
        return ("struct", *(canonical(item) for item in value.values()))
    return (type(value).__name__, value)


def sizes(drawn: pa.Table) -> list[int]:
    """The class size of each record, counted in a loop."""
    keys = [tuple(canonical(value) for value in row.values()) for row in drawn.to_pylist()]
    counts = Counter(keys)
    return [counts[key] for key in keys]
