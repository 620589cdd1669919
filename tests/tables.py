"""Small tables to draw, and the plain counting that the engines are held against."""

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

import duckdb
import polars as pl
from hypothesis import strategies as st

import reid_sql
import reid_sql.polars as rp
from reid_sql_udfs import declared
from tests.tiers import counts_itself

Row = tuple[Any, ...]
ADULT10 = [
    "age",
    "workclass",
    "education_num",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "hours_per_week",
    "native_country",
]
NULLS = ("value", "wildcard", "drop")

KINDS: dict[pl.DataType, st.SearchStrategy[Any]] = {
    pl.Int32(): st.integers(-2, 2),
    pl.String(): st.sampled_from(["", "a", "A", "é", "ab"]),
    pl.Float64(): st.sampled_from([0.0, -0.0, 1.5, math.nan, math.inf]),
    pl.Boolean(): st.booleans(),
    pl.Date(): st.sampled_from([date(1970, 1, 1), date(2000, 2, 29)]),
    pl.Decimal(10, 2): st.sampled_from([Decimal("1.50"), Decimal("2.25")]),
    pl.List(pl.Int64()): st.lists(st.none() | st.integers(0, 1), max_size=2),
    pl.Struct({"x": pl.Int64()}): st.fixed_dictionaries({"x": st.none() | st.integers(0, 1)}),
    pl.Enum(["low", "high"]): st.sampled_from(["low", "high"]),
}


@st.composite
def frames(draw: st.DrawFn, *, min_rows: int = 0, max_columns: int = 7) -> pl.DataFrame:
    """Draw a table of up to 12 rows with columns c1, c2, … of any type, some values missing."""
    kinds = draw(st.lists(st.sampled_from(list(KINDS)), min_size=1, max_size=max_columns))
    height = draw(st.integers(min_rows, 12))
    cells = [
        draw(st.lists(st.none() | KINDS[kind], min_size=height, max_size=height)) for kind in kinds
    ]
    columns = {
        f"c{place}": pl.Series(values, dtype=kind)
        for place, (kind, values) in enumerate(zip(kinds, cells, strict=True), 1)
    }
    return pl.DataFrame(columns)


def key(value: Any) -> Hashable:
    """Make a value comparable as databases compare: NaN equals NaN, 0.0 equals -0.0, NULL equals NULL."""
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    if isinstance(value, list):
        return tuple(key(item) for item in value)
    return tuple(key(item) for item in value.values()) if isinstance(value, dict) else value


def keys(frame: pl.DataFrame) -> list[Row]:
    return [tuple(key(value) for value in row) for row in frame.rows()]


def drop_nulls(rows: list[Row], nulls: str) -> list[Row]:
    return [row for row in rows if None not in row] if nulls == "drop" else rows


def match(left: Row, right: Row, nulls: str) -> bool:
    if nulls == "wildcard":
        if right == (None,) * len(right) != left:  # a blank record is nobody else's match
            return False
        return all(a is None or b is None or a == b for a, b in zip(left, right, strict=True))
    return left == right


def class_sizes(rows: list[Row], others: list[Row], nulls: str) -> list[int]:
    return [sum(match(row, other, nulls) for other in others) for row in rows]


def histogram(rows: list[Row], sizes: list[int]) -> list[tuple[int, int, int]]:
    """Class size, classes, records."""
    records = Counter(sizes)
    classes = Counter(size for _, size in set(zip(rows, sizes, strict=True)))
    return [(size, classes[size], records[size]) for size in sorted(records)]


def blank(rows: list[Row], nulls: str) -> int | None:
    """Records of nothing but NULL, where NULL may be any value; else nobody asks."""
    return sum(set(row) == {None} for row in rows) if nulls == "wildcard" else None


def risk(rows: list[Row], sizes: list[int], threshold: float) -> dict[str, float]:
    """Summarise by exact fractions."""
    n, by_class = len(rows), dict(zip(rows, sizes, strict=True))
    return {
        "records": n,
        "classes": len(by_class),
        "k": min(sizes),
        "unique_records": sizes.count(1),
        "uniqueness": sizes.count(1) / n,
        "highest_risk": 1 / min(sizes),
        "average_risk": float(sum(Fraction(1, size) for size in sizes) / n),
        "average_class_risk": float(
            sum(Fraction(1, size) for size in by_class.values()) / len(by_class)
        ),
        "records_at_risk": sum(1 / size > threshold for size in sizes) / n,
        "threshold": threshold,
    }


def subsets(columns: Sequence[str], max_size: int) -> list[tuple[str, ...]]:
    return [subset for size in range(1, max_size + 1) for subset in combinations(columns, size)]


# what was asked of Polars in this process, and is left to DuckDB there
ASKED_OF_POLARS: set[object] = set()


@cache
def connection() -> duckdb.DuckDBPyConnection:
    """Give the one connection of this process that all drawn tables go through."""
    con = duckdb.connect()
    reid_sql.register(con)
    return con


def by_duckdb(call: str, **frames: pl.DataFrame) -> list[dict[str, Any]]:
    """Ask DuckDB; the frames are known by their names in the call."""
    con = connection()
    for name, frame in frames.items():
        con.register(name, frame.to_arrow())
    try:
        cursor = con.execute(call)
        names = [column[0] for column in cursor.description or []]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    finally:
        for name in frames:
            con.unregister(name)


def by_polars(name: str, *arguments: Any, **options: Any) -> list[dict[str, Any]]:
    """Ask Polars, streaming."""
    lazy = [
        argument.lazy() if isinstance(argument, pl.DataFrame) else argument
        for argument in arguments
    ]
    frame: pl.DataFrame = getattr(rp, name)(*lazy, **options).collect(engine="streaming")
    return frame.to_dicts()


def on_polars(
    by_sql: list[dict[str, Any]], name: str, *arguments: Any, **options: Any
) -> list[dict[str, Any]]:
    """Ask Polars, whose answer DuckDB's `by_sql` has to be.

    What Polars leaves to DuckDB differs by how arguments arrive there: each function is asked once for the
    same types of columns and words of options. Later it is the answer of DuckDB.
    """
    types = tuple(
        frozenset(map(repr, each.dtypes)) for each in arguments if isinstance(each, pl.DataFrame)
    )
    words = tuple(
        (option, value if isinstance(value, str | bool | None) else str(type(value)))
        for option, value in sorted(options.items())
    )
    what = (name, types, words)
    if what in ASKED_OF_POLARS and not counts_itself(declared()[name], "polars"):
        return by_sql
    ASKED_OF_POLARS.add(what)
    return by_polars(name, *arguments, **options)


def by_both(
    name: str, frames: dict[str, pl.DataFrame], columns: list[str] | None, **options: Any
) -> list[list[dict[str, Any]]]:
    """Ask both engines for the same table function."""
    extras = "".join(f", {option} := {value!r}" for option, value in options.items())
    sql = f"FROM {name}({', '.join(frames)}, {'NULL' if columns is None else columns}{extras})"
    answer = by_duckdb(sql, **frames)
    return [answer, on_polars(answer, name, *frames.values(), columns, **options)]
