"""Ibis: columns by their names, the relations that all reductions share, and every fetch of rows."""

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import and_, or_
from typing import Any, Final

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.operations as ops
import polars as pl
import pyarrow as pa
from ibis.expr.types import BooleanValue, Column, FloatingValue, IntegerScalar, IntegerValue, Table

from reid_sql.engines.codes import value_codes
from reid_sql.engines.ibis.alike import compared, known_to_polars, shown
from reid_sql.errors import OutOfDomainError, UnavailableError
from reid_sql.models.classes.wildcard import wildcard_class_sizes
from reid_sql.parameters import Columns, Integers

SETTING: Final = "REID_SQL_MAX_COLLECTED_VALUES"
LIMIT: Final = 50_000_000  # values, rows times columns: 400 MB of numbers
WHOLE: Final = dt.int64
POSTGRES: Final = "postgres"
AT_ONCE: Final = 20_000  # rows that PostgreSQL sends at a time, each a tuple of Python's on its way
WINDOWLESS: Final = ("polars",)  # by Ibis; Polars' own functions have them


def resolved(words: Columns, columns: Sequence[str], frame: Table) -> list[str]:
    """Give the names as a list, or refuse: no list of distinct columns that can be compared."""
    found = words.check(columns, frame.columns)
    for name in found:
        kind = frame.schema()[name]
        if _unlike(kind):
            rule = f"{words.words} must be of types that can be compared, got '{name}' of type {kind}"
            raise OutOfDomainError(f"{rule}; cast it to text first")
    return found


def _unlike(kind: dt.DataType) -> bool:
    """Whether values of the type have no equality, or none on which databases agree."""
    if kind.is_array():
        return _unlike(kind.value_type)
    if kind.is_struct():
        return any(_unlike(each) for each in kind.types)
    return bool(
        kind.is_map() or kind.is_interval() or kind.is_json() or kind.is_geospatial() or kind.is_unknown()
    )


def places(names: Sequence[str]) -> list[str]:
    """The names that `numbered` gives."""
    return [f"q{place}" for place in range(1, len(names) + 1)]


def numbered(frame: Table, columns: Sequence[str]) -> Table:
    """Give the columns names of our own, as they are compared, so that none can meet one of the counts'."""
    if backend(frame) == "polars":
        known_to_polars()
    return frame.select(
        **{q: compared(frame[name]) for q, name in zip(places(columns), columns, strict=True)}
    )


def backend(frame: Table) -> str:
    """The name of what holds the table; nothing where it is bound to nothing yet."""
    return next((str(source.name) for source in sources(frame)), "")


def sources(frame: Table) -> Iterator[Any]:
    """The connections to what holds the table."""
    return (node.source for node in frame.op().find((ops.DatabaseTable, ops.SQLQueryResult)))


def missing(rows: Table, names: Sequence[str]) -> BooleanValue:
    """Whether one of the columns is NULL."""
    return reduce(or_, (rows[name].isnull() for name in names))


def kept(rows: Table, names: Sequence[str], nulls: str) -> Table:
    """The rows, without those that have a NULL where NULLs are dropped."""
    return rows.filter(~missing(rows, names)) if nulls == "drop" else rows


def counted(rows: Table, names: Sequence[str], nulls: str) -> Table:
    """Distinct records with their counts."""
    return number_of(kept(rows, names, nulls), names, "records")


def number_of(rows: Table, names: Sequence[str], count: str) -> Table:
    """How many rows have each combination of values."""
    return rows.group_by(list(names)).agg(**{count: whole(rows.count())})


def over(rows: Table, names: Sequence[str], one: str = "reid_one") -> IntegerValue:
    """How many rows share the values of each, in a column of ones: some dialects count no rows in windows."""
    return whole(rows[one].count().over(group_by=windowed(rows, names)))


def windowed(rows: Table, names: Sequence[str]) -> list[Column]:
    """The columns that a window is by, or a refusal where Ibis has no windows."""
    if (held := backend(rows)) in WINDOWLESS:
        rule = f"a window must be asked of a database that has it by Ibis, got {held}"
        raise UnavailableError(f"{rule}; pass the frame to reid_sql.{held}")
    return [rows[name] for name in names]


def with_ones(rows: Table, one: str = "reid_one") -> Table:
    """The rows with a column of ones."""
    return rows.mutate(**{one: ibis.literal(1, dt.int8)})


def whole(value: Any) -> Any:  # noqa: ANN401 - a column or a scalar of whole numbers, as it came
    """The number as 64 bits: a database's own sum may be as narrow as what it adds, or a decimal."""
    return value.cast(WHOLE)


def summed(value: IntegerValue) -> IntegerScalar:
    """The sum of whole numbers, each made wide before it is added."""
    return whole(whole(value).sum())


def sum_over(rows: Table, names: Sequence[str], value: str) -> FloatingValue:
    """The sum of a count over all rows that share the values of each, as a double, exact up to 2^53.

    A window's: databases guess badly how many rows meet by a NULL-safe join, and then go through every pair.
    A double: PostgreSQL adds 64-bit numbers up as decimals of any length, which takes far longer.
    """
    return rows[value].cast(dt.float64).sum().over(group_by=windowed(rows, names))


def null_report(rows: Table, names: Sequence[str], nulls: str, reduced: Table) -> Table:
    """Put beside each row how many records were dropped and how NULLs were treated."""
    if nulls == "drop":
        left_out = rows.filter(missing(rows, names)).agg(
            records_dropped=lambda lacking: whole(lacking.count())
        )
        reduced = reduced.cross_join(left_out)
    else:
        reduced = reduced.mutate(records_dropped=nobody())
    return reduced.mutate(nulls=ibis.literal(nulls, dt.string))


def nobody() -> IntegerScalar:
    """0, as a count."""
    return ibis.literal(0, WHOLE)


def unasked() -> IntegerScalar:
    """NULL, in place of `blank_records` where NULL is no wildcard."""
    return ibis.null(WHOLE)


def own_names(rows: Table, given: Sequence[str]) -> dict[str, Any]:
    """The columns, as they were, under the names that they were given by."""
    return {name: shown(rows[q]) for q, name in zip(places(given), given, strict=True)}


def all_missing(rows: Table, names: Sequence[str]) -> BooleanValue:
    """Whether all of the columns are NULL."""
    return reduce(and_, (rows[name].isnull() for name in names))


def collected(frame: Table, words: str) -> pa.Table:
    """Bring the table to this process, or refuse where it has more values than are to come.

    What was answered here is here already.
    """
    held = frame.op()
    if isinstance(held, ops.InMemoryTable):
        return held.data.to_pyarrow(held.schema)
    rows = max(1, most_values() // max(1, len(frame.columns)))
    found = _fetched(frame.limit(rows + 1))
    if found.num_rows > rows:
        rule = f"{words} must be at most {rows} rows, as they come to the client, got more"
        raise OutOfDomainError(
            f"{rule}; take fewer or coarser columns, or raise {SETTING} with the client's memory"
        )
    return found


def _fetched(frame: Table) -> pa.Table:
    if backend(frame) != POSTGRES:
        return frame.to_pyarrow()
    with frame.to_pyarrow_batches(chunk_size=AT_ONCE) as batches:
        return batches.read_all()


def most_values(environment: Mapping[str, str] = os.environ) -> int:
    """How many values may come to the client, rows times columns."""
    given = environment.get(SETTING, str(LIMIT))
    try:
        most = int(float(given))
    except (ValueError, OverflowError):
        most = 0
    if most < 1:
        raise OutOfDomainError(
            f"{SETTING} must be a whole number of at least 1, got '{given}'; the default is {LIMIT}"
        )
    return most


def framed(table: pa.Table) -> Table:
    """The table in this process, as one of Ibis."""
    return ibis.memtable(table)


# A number before the keys that PostgreSQL sorts by


NUMBER: Final = "reid_scatter"
HASH: Final = "hashtextextended"  # of a text and a number, since PostgreSQL 11
PLACE: Final = "pg_catalog"


@ibis.udf.scalar.builtin(name=HASH, database=PLACE, signature=((str, int), int))  # type: ignore[untyped-decorator]
def _hash(text: str, seed: int) -> int:  # type: ignore[empty-body]
    """The database's own number of a text and another number."""


def sorted_fast(rows: Table, names: Sequence[str]) -> tuple[Table, list[str]]:
    """The rows, and the keys to sort them by where only equal rows are to stand together."""
    found = [each.name(NUMBER) for each in scattered(rows, [rows[name] for name in names])]
    return (rows.mutate(*found) if found else rows), [*(each.get_name() for each in found), *names]


def scattered(rows: Table, keys: Sequence[Column]) -> list[Column]:
    """The number, where PostgreSQL holds the rows.

    The keys are as `compared` makes them: equal texts have the same bytes, and so the same number.
    """
    numbers = [key for key in keys if key.type().is_integer()]
    texts = [key for key in keys if key.type().is_string()]
    if not texts or len(numbers) + len(texts) == 1 or not _has_hash(rows):
        return []
    return [reduce(_with_text, texts, reduce(_with_number, numbers, ibis.literal(0, WHOLE)))]


def _with_number(mixed: IntegerValue, key: Column) -> IntegerValue:
    return mixed ^ ibis.coalesce(whole(key), 0)


def _with_text(mixed: IntegerValue, key: Column) -> IntegerValue:
    found: IntegerValue = _hash(ibis.coalesce(key, ""), mixed)
    return found


def _has_hash(rows: Table) -> bool:
    """Whether the server has PostgreSQL's own function: others that speak as it does may not."""
    if backend(rows) != POSTGRES:
        return False
    asked = f"SELECT count(*) AS found FROM {PLACE}.pg_proc WHERE proname = '{HASH}'"
    found = next(sources(rows)).sql(asked, schema={"found": WHOLE})
    return bool(found.to_pyarrow()["found"][0].as_py())


# Matching in which NULL may be any value: the warehouse counts the distinct records, the client matches


def distinct(counted: Table) -> pa.Table:
    """Bring the distinct records with their counts to the client."""
    return collected(counted, "the distinct records under nulls='wildcard'")


def coded(*tables: pa.Table, names: Sequence[str]) -> Integers:
    """A code for each value of the columns, 0 for NULL, the same in all of the tables; one row a record."""
    frames = [pl.DataFrame(pl.from_arrow(each.select(list(names)))) for each in tables]
    return value_codes(pl.concat(frames), names)


def class_sizes(own: pa.Table, other: pa.Table, names: Sequence[str]) -> Integers:
    """How many of the other's records each distinct record matches, in its order."""
    codes = coded(own, other, names=names)
    return wildcard_class_sizes(codes[: own.num_rows], codes[own.num_rows :], other["records"].to_numpy())
