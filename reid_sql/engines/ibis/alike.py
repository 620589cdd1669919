"""Ibis: values made comparable, so that equal means the same, in each dialect's own terms.

Texts are compared by their bytes, as a collation that ignores case or trailing spaces would merge classes;
floats so that NaN is NaN and 0.0 is -0.0. The dialect is known when a query is written, so both are
operations of our own, which every compiler of Ibis finds by their names.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import ibis.expr.datatypes as dt
import ibis.expr.operations as ops
import ibis.expr.rules as rlz
import sqlglot as sg
import sqlglot.expressions as sge
from ibis.backends.sql.compilers.base import SQLGlotCompiler
from ibis.expr.types import Column

from reid_sql.errors import OutOfDomainError
from reid_sql.reduction import REFUSAL_INTERVAL

X: Final = "reid_x"  # the value, in the texts below
# A text so that equal means the same bytes, and the text again from that; of a dialect that is not here every
# comparison is by bytes.
BY_BYTES: Final[Mapping[str, tuple[str, str]]] = {
    # A VARCHAR: `citext`, or a type of the user's that is called as one of texts, compares in its own way.
    "Postgres": (f'CAST({X} AS VARCHAR) COLLATE "C"', X),
    "DuckDB": (f'CAST({X} AS VARCHAR) COLLATE "binary"', X),
    "SQLite": (f"{X} COLLATE BINARY", X),
    "Snowflake": (f"COLLATE({X}, '')", X),
    "BigQuery": (f"COLLATE({X}, '')", X),
    "Databricks": (f"{X} COLLATE UTF8_BINARY", X),
    "MSSQL": (f"CAST(CAST({X} AS NVARCHAR(MAX)) AS VARBINARY(MAX))", f"CAST({X} AS NVARCHAR(MAX))"),
    # An enum has the empty text for a value that is none of its members, of number 0, and may have it as one.
    "MySQL": (
        f"""CASE WHEN LENGTH({X}) = 0 AND {X} + 0 = 0 THEN UNHEX('FF')
            ELSE CAST(CONVERT({X} USING utf8mb4) AS BINARY) END""",
        f"CASE WHEN {X} = UNHEX('FF') THEN '' ELSE CONVERT({X} USING utf8mb4) END",
    ),
    "SingleStore": (f"{X} :> BINARY", f"{X} :> TEXT"),
    "Oracle": (f"UTL_RAW.CAST_TO_RAW({X})", f"UTL_RAW.CAST_TO_VARCHAR2({X})"),
}
TEXT: Final = "NULL::VARCHAR"
# The same of texts within arrays and structs, in dialects whose collations reach there. DuckDB
# takes a cast from one text to another for none.
WITHIN: Final[Mapping[str, tuple[str, str]]] = {
    "Postgres": (f'CAST({X} AS VARCHAR[]) COLLATE "C"', X),
    "DuckDB": (
        f'replace_type(replace_type({X}, {TEXT}, NULL::VARIANT), NULL::VARIANT, {TEXT} COLLATE "binary")',
        X,
    ),
}
# The same of floats, in dialects that compare their bits, or make no windows by them.
FLOATS: Final[Mapping[str, tuple[str, str]]] = {
    "DataFusion": (
        f"CASE WHEN ISNAN({X}) THEN CAST('NaN' AS DOUBLE) WHEN ABS({X}) = 0 THEN 0.0 ELSE {X} END",
        X,
    ),
    "ClickHouse": (f"CASE WHEN isNaN({X}) THEN nan WHEN ABS({X}) = 0 THEN 0.0 ELSE {X} END", X),
    "BigQuery": (
        f"CASE WHEN {X} = 0 THEN '0' ELSE CAST({X} AS STRING) END",
        f"CAST({X} AS FLOAT64)",
    ),
}


class ReidCompared(ops.Value):  # type: ignore[misc]
    """A value so that equal means the same."""

    arg: ops.Value
    shape = rlz.shape_like("arg")
    dtype = rlz.dtype_like("arg")


class ReidRestored(ops.Value):  # type: ignore[misc]
    """The value again."""

    arg: ops.Value
    shape = rlz.shape_like("arg")
    dtype = rlz.dtype_like("arg")


def comparable(column: Column) -> Column:
    """The column so that equal means the same.

    >>> import ibis
    >>> people = ibis.table({"name": "string"}, name="people")
    >>> print(ibis.to_sql(people.select(q=comparable(people["name"])), dialect="postgres", pretty=False))
    SELECT CAST("t0"."name" AS VARCHAR) COLLATE "C" AS "q" FROM "people" AS "t0"
    """
    if column.type().is_interval():
        raise OutOfDomainError(REFUSAL_INTERVAL.format(column.get_name()))
    # A type that Ibis does not know, such as a domain, has an equality of its own.
    text = column.cast("string") if column.type().is_unknown() else column
    return ReidCompared(text.op()).to_expr()


def restored(column: Column) -> Column:
    """The column as it was, from what `comparable` made of it."""
    return ReidRestored(column.op()).to_expr()


def _write(compiler: Any, op: Any, arg: Any, which: int) -> Any:  # noqa: ANN401 - trees of sqlglot
    """The value as it is compared, or again as it was, in the compiler's dialect."""
    words = BY_BYTES if op.dtype.is_string() else FLOATS if op.dtype.is_floating() else {}
    words = WITHIN if op.dtype.is_nested() and _has_text(op.dtype) else words
    dialect = compiler.dialect.__name__
    if dialect not in words:
        return arg

    def placed(node: Any) -> Any:  # noqa: ANN401 - the same
        return arg.copy() if isinstance(node, sge.Column) and node.name == X else node

    return _parse(words[dialect][which], dialect=dialect.lower()).transform(placed)


def _has_text(kind: dt.DataType) -> bool:
    if kind.is_array():
        return _has_text(kind.value_type)
    return any(map(_has_text, kind.types)) if kind.is_struct() else kind.is_string()


_parse = cache(sg.parse_one)


SQLGlotCompiler.visit_ReidCompared = lambda compiler, op, *, arg: _write(compiler, op, arg, 0)
SQLGlotCompiler.visit_ReidRestored = lambda compiler, op, *, arg: _write(compiler, op, arg, 1)


def register_with_polars() -> None:
    """Register the operations with Polars' compiler, which compares bytes and has NaN = NaN, 0.0 = -0.0.

    It has no scalar subquery either: that number is counted at once.
    """
    import polars as pl  # noqa: PLC0415 - where the table is Polars'
    from ibis.backends.polars.compiler import translate  # noqa: PLC0415 - the same

    for kind in (ReidCompared, ReidRestored):
        translate.register(kind, lambda op, **more: translate(op.arg, **more))
    translate.register(
        ops.ScalarSubquery, lambda op, **more: pl.lit(translate(op.rel, **more).collect().item())
    )
