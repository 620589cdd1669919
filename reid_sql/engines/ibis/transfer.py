"""Ibis: the one way by which values come from a database: numbered there, and verified here.

A driver may change a value: it rounds a decimal, reads three texts as one timestamp, wraps a time beyond 24
hours, or gives NULL for what it cannot read. So the database numbers the values of each column, equal ones
alike, and what is counted again is counted by these numbers. Where the values themselves are needed, one for
each number comes, as text if drivers change its type. They must differ as their numbers do, or are refused.
Elsewhere the numbers alone leave the database.
"""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import ibis
import ibis.expr.datatypes as dt
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from ibis.expr.types import Column, Table

from reid_sql.engines.ibis.alike import comparable, restored
from reid_sql.engines.ibis.frames import (
    POSTGRES,
    WITHOUT_WINDOWS,
    aliases,
    backend,
    bigint,
    fetch,
    with_ones,
)
from reid_sql.errors import OutOfDomainError
from reid_sql.models.people.evidence import ON_SCALE, SCALE_LETTERS
from reid_sql.parameters import ColumnNames, Integers

# whose whole numbers come as they are
FAITHFUL: Final = ("duckdb", "datafusion", "polars", "postgres", "")
NESTED_AS_TEXT: Final = ("postgres", "mysql")  # arrays with bounds, sets
DISTINCT: Final = "the distinct records under nulls='wildcard'"
CODE, TEXT, ONE, TOTAL = "reid_code_", "reid_value_", "reid_one", "reid_rows"
MAX_DIGITS: Final = 38  # of Arrow's decimals that all who read it have


@dataclass(frozen=True)
class NumberedRows:
    """Rows by the numbers of their values, and the values by these numbers."""

    codes: Integers  # (rows, columns), from 1, 0 for NULL: numbered by the database, in its order
    values: Sequence[pa.Array]  # of each column, the value of each code, the first of code 1
    unnumbered: pa.Table  # the columns that were not numbered, as they came

    def column(self, place: int) -> pa.Array:
        """The column of values, by its place among those that were numbered."""
        codes = self.codes[:, place]
        return self.values[place].take(pa.array(codes - 1, mask=codes == 0))


def fetch_values(
    rows: Table, columns: dict[str, str], words: str, coded: Collection[str] = ()
) -> NumberedRows:
    """Fetch the numbers and the values of columns, made comparable, and all other columns.

    `columns` has the user's name of each. Of the `coded` ones, the numbers are the values. Refuses values
    that do not come as they are.
    """
    names, shown = list(columns), list(columns.values())
    sent_values = {place: name for place, name in enumerate(names) if name not in coded}
    unnumbered = [name for name in rows.columns if name not in columns]
    kinds = [rows.schema()[name] for name in names]
    engine = backend(rows)
    if engine in WITHOUT_WINDOWS:  # in this process, without a driver
        table = fetch(rows.select(*unnumbered, *names), words, len(rows.columns))
        sent_values = dict(enumerate(names))
        codes = _stack([dense_codes(pl.Series(pl.from_arrow(table[name]))) for name in names])
    else:
        placed, numbers, total = _numbered(rows, names, engine)
        sent = {name: placed[name] for name in unnumbered}
        sent |= {f"{CODE}{place}": code for place, code in enumerate(numbers)}
        sent |= {
            f"{TEXT}{place}": _sent(placed[name], engine) for place, name in sent_values.items()
        }
        sent[TOTAL] = total
        listed = (
            f"'{name}' of type {' '.join(str(kind).split())}"
            for name, kind in zip(shown, kinds, strict=True)
        )
        table = fetch(placed.select(**sent), words, len(rows.columns), f" ({', '.join(listed)})")
        counted = table[TOTAL][0].as_py() if table.num_rows else 0
        if counted != table.num_rows:
            raise OutOfDomainError(
                f"{words} must be all rows that the database counted, got {table.num_rows} of {counted}; "
                "ask again, or ask about an extract"
            )
        codes = _codes(table, shown, kinds)
        table = table.rename_columns([_renamed(name, names) for name in table.column_names])
    values = [
        _representatives(table[name], codes[:, place], kinds[place], shown[place])
        if place in sent_values
        else _name_codes(int(codes[:, place].max(initial=0)), kinds[place])
        for place, name in enumerate(names)
    ]
    return NumberedRows(codes, values, table.select(unnumbered))


def dense_codes(values: pl.Series) -> Integers:
    """A code for each value of a column, 1, 2, … without gaps and 0 for NULL, (records,), of any type.

    >>> dense_codes(pl.Series(["F", None, "M", "F"])).tolist()
    [1, 0, 2, 1]
    """
    placed = values.to_frame("q").with_row_index("place")
    first = pl.when(pl.col("q").is_not_null()).then(pl.col("place").first().over("q"))
    codes = placed.select(first.rank("dense").fill_null(0).cast(pl.Int32))
    return codes.to_series().to_numpy()


def _name_codes(count: int, kind: dt.DataType) -> pa.Array:
    """Return values for the numbers of a column, in their order; those of texts are no number to a model."""
    return pa.array(
        [f"v{code:012}" for code in range(1, count + 1)]
        if kind.is_string()
        else range(1, count + 1)
    )


def lacks_scale(rows: Table, names: ColumnNames, words: str) -> list[str]:
    """Return the columns of texts of which too few records are written like a number or a date.

    `rows` are distinct records with their number in `records`.
    """
    texts = [name for name in names if rows.schema()[name].is_string()]
    if not texts:
        return []
    weighed = {}
    for name in texts:
        rest = rows[name]
        for letter in SCALE_LETTERS:
            rest = rest.replace(letter, "")
        is_text, on_scale = rows[name].notnull(), rest == ""
        weighed[f"{CODE}{name}"] = bigint((is_text & on_scale).ifelse(rows["records"], 0).sum())
        weighed[f"{TEXT}{name}"] = bigint(is_text.ifelse(rows["records"], 0).sum())
    row = fetch(rows.aggregate(**weighed), words, len(weighed)).to_pylist()[0]
    return [
        name
        for name in texts
        if (row[f"{CODE}{name}"] or 0) < ON_SCALE * (row[f"{TEXT}{name}"] or 0)
    ]


def fetch_rarest(
    classes: Table, columns: ColumnNames, count: int, words: str
) -> list[tuple[Any, ...]]:
    """Fetch the smallest classes: the size of each and its values, in their order, NULL last."""
    order = [classes["class_size"], *(classes[name].asc(nulls_first=False) for name in columns)]
    rarest = classes.order_by(order).limit(count).select("class_size", *columns)
    compared = rarest.select(
        "class_size",
        **{q: comparable(rarest[name]) for q, name in zip(aliases(columns), columns, strict=True)},
    )
    fetched = fetch_values(compared, dict(zip(aliases(columns), columns, strict=True)), words)
    sizes = fetched.unnumbered["class_size"].to_pylist()
    values = [fetched.column(place).to_pylist() for place in range(len(columns))]
    codes = np.where(fetched.codes == 0, np.iinfo(np.int64).max, fetched.codes)
    ordered = np.lexsort((*codes.T[::-1], sizes))
    return [(sizes[row], *(column[row] for column in values)) for row in ordered]


def _codes(table: pa.Table, shown: Sequence[str], kinds: Sequence[dt.DataType]) -> Integers:
    """Return the numbers; a value that the database finds unequal to itself has none."""
    columns = [table[f"{CODE}{place}"] for place in range(len(kinds))]
    for place, each in enumerate(columns):
        if each.null_count:
            raise OutOfDomainError(
                f"'{shown[place]}' must have values that equal themselves, got {each.null_count} rows without, of type {kinds[place]}; "
                "cast the column to text in a view"
            )
    return _stack([each.to_numpy() for each in columns])


def _stack(columns: Sequence[Integers]) -> Integers:
    return np.column_stack([each.astype(np.int64) for each in columns])


def _renamed(name: str, names: ColumnNames) -> str:
    return names[int(name.removeprefix(TEXT))] if name.startswith(TEXT) else name


def number_values(column: Column) -> Any:  # noqa: ANN401 - a column of whole numbers
    """Number the values, made comparable, from 1 in the database's order, equal ones alike, NULL 0."""
    rank = ibis.dense_rank().over(order_by=column.asc(nulls_first=False))
    return bigint(column.isnull().ifelse(ibis.literal(0, dt.int64), bigint(rank) + 1))


def _numbered(rows: Table, names: ColumnNames, engine: str) -> tuple[Table, list[Any], Any]:
    """Return the rows, the numbers of the values of each column, and how many rows there are.

    A window sorts all rows for each column. PostgreSQL numbers the few values of each column and joins
    them, which takes a third of the time; a value that is no equal of its own would get no number.
    """
    by_window = (
        engine != POSTGRES
        or len(names) == 1
        or any(rows[name].type().is_nested() for name in names)
    )
    if by_window:
        ones = with_ones(rows, ONE)
        codes = [number_values(ones[name]) for name in names]
        return ones, codes, bigint(ones[ONE].count().over(ibis.window()))
    joined, numbers = rows, [f"{CODE}{place}" for place in range(len(names))]
    for place, name in enumerate(names):
        # No DISTINCT: of ordered rows, Ibis takes the values together with what they are ordered by.
        values = rows.select(**{f"{TEXT}{place}": rows[name]}).group_by(f"{TEXT}{place}").agg()
        value = values[f"{TEXT}{place}"]
        joined = joined.left_join(
            values.mutate(**{numbers[place]: number_values(value)}), rows[name] == value
        )
    zero = ibis.literal(0, dt.int64)
    codes = [
        joined[name].isnull().ifelse(zero, joined[number])
        for name, number in zip(names, numbers, strict=True)
    ]
    return joined, codes, bigint(rows.count().name(TOTAL).as_scalar())


def _sent(column: Column, engine: str) -> Column:
    """The column, or its text where drivers change values of its type."""
    column, kind = restored(column), column.type()
    plain = kind.is_string() or kind.is_binary() or kind.is_floating()
    plain |= (kind.is_integer() or kind.is_boolean()) and engine in FAITHFUL
    plain |= kind.is_nested() and engine not in NESTED_AS_TEXT
    if engine == "mysql" and kind.is_float32():  # of which it shows six digits
        return column.cast("float64")
    return column if plain else column.cast("string")


def _representatives(
    column: pa.ChunkedArray, codes: Integers, kind: dt.DataType, name: str
) -> pa.Array:
    """Give one value for each code; refuse values that are not as many as the codes, or are NULL."""
    numbers, first = np.unique(codes, return_index=True)
    first = first[numbers > 0]
    sent = column.take(pa.array(first)).combine_chunks()
    counted = int(codes.max(initial=0))
    for values in (_read(sent, kind), sent):
        if not values.null_count and len(values) == counted == _count_distinct(values):
            return values
    rule = f"'{name}' must come to the client as values that differ as in the database"
    type_text = " ".join(str(kind).split())
    raise OutOfDomainError(
        f"{rule}, got {_count_distinct(sent.drop_null())} distinct values of {counted}, of type {type_text}; "
        "cast the column to text or to a whole number in a view"
    )


def _count_distinct(values: pa.Array) -> int:
    return int(pl.Series(values=pl.from_arrow(values)).n_unique()) if len(values) else 0


def _read(texts: pa.Array, kind: dt.DataType) -> pa.Array:
    """Read the texts as values of their type; they stay texts if one of them is no such value."""
    if not pa.types.is_string(texts.type) or kind.is_string():
        return texts
    if kind.is_decimal():
        return _read_decimals(texts, kind)
    for target in _targets(kind):
        with suppress(pa.ArrowException, OverflowError):
            return pc.cast(texts, target)
    return texts


def _targets(kind: dt.DataType) -> list[pa.DataType]:
    """Arrow's types for values of the type, the best first; none where only the text is exact."""
    if kind.is_timestamp():
        return [pa.timestamp(unit, zone) for zone in (kind.timezone, None) for unit in ("us", "ns")]
    if kind.is_time():
        return [pa.time64("us"), pa.time64("ns")]
    if kind.is_date():
        return [pa.date32()]
    return [kind.to_pyarrow()] if kind.is_integer() or kind.is_boolean() else []


def _read_decimals(texts: pa.Array, kind: dt.Decimal) -> pa.Array:
    """Read decimals exactly, by their own digits where the type has fewer; else texts without final zeros."""
    try:
        numbers = [Decimal(text) for text in texts.to_pylist()]
    except (InvalidOperation, TypeError):
        return texts
    if all(map(Decimal.is_finite, numbers)):
        scale = max((-int(number.as_tuple().exponent) for number in numbers), default=0)
        declared = (kind.precision or MAX_DIGITS, scale if kind.scale is None else kind.scale)
        for digits, places in (declared, (MAX_DIGITS, max(scale, 0))):
            if max(scale, 0) <= places <= digits <= MAX_DIGITS:
                with suppress(pa.ArrowException, InvalidOperation):
                    return pa.array(numbers, pa.decimal128(digits, places))
    return pa.array([_shortest(number) for number in numbers], pa.string())


def _shortest(number: Decimal) -> str:
    """Write a decimal without final zeros: equal ones alike, as any row's may stand for all."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
