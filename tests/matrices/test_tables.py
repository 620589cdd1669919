"""Tables of all types, and what is easily taken for something else, counted as by going record by record."""

import math
from datetime import date, datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any

import polars as pl
import pytest

from reid_sql_udfs import declared
from tests.cells import each_cell
from tests.engines.asking import FUNCTIONS, counted, tidy
from tests.matrices.engines import Engine
from tests.tables import KINDS, NULLS, class_sizes, drop_nulls, key
from tests.tables import histogram as counted_sizes

pytestmark = pytest.mark.first(engine=["duckdb"])

# A value, then one that must not be taken for it, for each type that tables are drawn of.
ALIKE: dict[pl.DataType, list[Any]] = {
    pl.Int32(): [0, -1],
    pl.String(): ["", " ", "a", "A", "é", "e\u0301", "a ", "None", "null"],
    pl.Float64(): [0.0, -0.0, math.nan, -math.nan, math.inf, -math.inf, 1.5],
    pl.Boolean(): [False, True],
    pl.Date(): [date(1970, 1, 1), date(1969, 12, 31)],
    pl.Decimal(10, 2): [Decimal("1.50"), Decimal("1.05")],
    pl.List(pl.Int64()): [[], [None], [0], [0, None], [None, 0], [0, 0]],
    pl.Struct({"x": pl.Int64()}): [{"x": None}, {"x": 0}],
    pl.Enum(["low", "high"]): ["low", "high"],
}
WIDE: dict[pl.DataType, list[Any]] = {
    pl.Int64(): [2**53, 2**53 + 1, -(2**63), 2**63 - 1],
    pl.Float32(): [0.1, math.nan, 0.0],
    pl.Binary(): [b"", b"\x00", b"\x00\x00", b"a"],
    pl.Datetime("us"): [0, 1, -1],
}
ODD = [
    "^a.*$",
    "*",
    "a.b",
    "select",
    'say "a"',
    "it's",
    "`t`",
    "q1",
    "é",
    "two words",
    "side",
    "#1",
    "members",
]


def column(kind: pl.DataType, values: list[Any], height: int) -> pl.Series:
    """The values in turn, a NULL after them, each twice."""
    turn = [*values, None]
    cells = [turn[place // 2 % len(turn)] for place in range(height)]
    return pl.Series(cells, dtype=pl.Int64 if kind == pl.Datetime("us") else kind).cast(kind)


def frame() -> pl.DataFrame:
    kinds = ALIKE | WIDE
    columns = {name: column(kind, kinds[kind], 24) for name, kind in zip(ODD, kinds, strict=True)}
    return pl.DataFrame(columns)


FRAME = frame()
CHOSEN = [*([name] for name in ODD), *(list(pair) for pair in pairwise(ODD)), ODD[:5], ODD]


def plain(value: Any) -> Any:
    """A value as databases compare it; Spark shows a wall clock's time with the session's zone."""
    value = value.replace(tzinfo=None) if isinstance(value, datetime) else value
    return value + 0.0 if isinstance(value, float) and not math.isnan(value) else key(value)


def rows_of(names: list[str]) -> list[tuple[Any, ...]]:
    places = [FRAME.get_column_index(name) for name in names]
    return [tuple(plain(row[place]) for place in places) for row in FRAME.rows()]


def cells(answers: Any) -> list[tuple[Any, ...]]:
    assert isinstance(answers, list), answers
    return tidy([tuple(plain(value) for value in row.values()) for row in answers])


def test_every_type_that_is_drawn_stands_here() -> None:
    assert set(ALIKE) == set(KINDS)


@each_cell("names", CHOSEN)
def test_class_sizes_are_those_of_a_loop(engine: Engine, names: list[str]) -> None:
    rows = rows_of(names)
    table = FRAME.with_row_index("row").cast({"row": pl.Int64})
    answers = engine.ask(declared()["equivalence_class_size"], {"tbl": table, "columns": names})
    assert sorted(cells(answers)) == list(enumerate(class_sizes(rows, rows, "value")))


@each_cell("function", FUNCTIONS)
def test_tables_are_counted_as_in_a_loop(engine: Engine, function: str) -> None:
    kind = declared()[function]
    for names in ([ODD[0], ODD[3]], ODD[1:3], ODD[6:8], ODD):
        tables = (
            {"tbl": FRAME, "population_tbl": FRAME}
            if function == "journalist_risk"
            else {"tbl": FRAME}
        )
        options = (
            {"columns": names, "max_size": 1} if function == "attribute_risk" else {"qi": names}
        )
        answers = cells(engine.ask(kind, tables | options))
        assert answers == tidy(
            [tuple(map(plain, row)) for row in counted(function, rows_of(names), names)]
        )


@each_cell("nulls", NULLS)
def test_missing_values_are_treated_as_asked(engine: Engine, nulls: str) -> None:
    for names in (ODD[3:4], ODD[2:5], ODD[:2]):
        every = rows_of(names)
        rows = drop_nulls(every, nulls)
        expected = counted_sizes(rows, class_sizes(rows, rows, nulls))
        dropped = len(every) - len(rows)
        asked = {"tbl": FRAME, "qi": names, "nulls": nulls}
        answers = cells(engine.ask(declared()["class_size_histogram"], asked))
        # blank records, whose size is that of the table
        empty = sum(set(row) == {None} for row in rows)
        reported = [
            empty * (line[0] == len(rows)) if nulls == "wildcard" else None for line in expected
        ]
        lines = [
            (*line, each, dropped, nulls) for line, each in zip(expected, reported, strict=True)
        ]
        assert answers == tidy(lines)
