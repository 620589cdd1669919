"""DataFusion as one more place of records: all that an engine needs, in the tests' own tree.

It makes values comparable, counts the distinct records, and joins class sizes to its rows. DuckDB answers
everything else. This is the example of "How to add an engine" in ARCHITECTURE.md.
"""

from collections.abc import Mapping, Sequence
from math import nan
from typing import Any, Final

import pyarrow as pa
from datafusion import DataFrame, Expr, SessionContext, col, literal
from datafusion import functions as f
from datafusion.expr import Window

from reid_sql.engines.arrow import answer_rows
from reid_sql.engines.contract import Kind, refuse_added_name
from reid_sql.engines.contract import signature_of_added_count as counting
from reid_sql.errors import OutOfDomainError, UnavailableError
from reid_sql.function import Function
from reid_sql.parameters import QUASI_IDENTIFIERS, Columns
from reid_sql.reduction import refuse_entity

ENGINE: Final = "datafusion"
TABLE: Final = Kind((DataFrame,), "a DataFusion DataFrame", "pass context.table('name')")
COLUMN: Final = Kind((Expr,), "an expression", "write 'age' or col('age')")
LIMIT: Final = 50_000_000  # values, rows times columns, that come to this process
QI_AND_ENTITY: Final = Columns("quasi-identifiers and entity")
__all__ = [
    "COLUMN",
    "ENGINE",
    "TABLE",
    "collected",
    "column_names",
    "count",
    "counting",
    "drawn",
    "find_lacked",
    "finish_reading",
    "framed",
    "read",
    "table",
]


def column(name: str) -> Expr:
    """The column of this very name, capitals and dots included."""
    return col('"' + name.replace('"', '""') + '"')


def comparable(frame: DataFrame, name: str) -> Expr:
    """The column so that equal means the same: to DataFusion -0.0 is not 0.0, and NaN has many forms."""
    value = column(name)
    if not pa.types.is_floating(frame.schema().field(name).type):
        return value
    return (
        f.when(f.isnan(value), literal(nan))
        .when(f.abs(value) == literal(0.0), literal(0.0))
        .otherwise(value)
    )


# The place: what the fallback reads.


def column_names(frame: DataFrame) -> list[str]:
    return list(frame.schema().names)


def find_lacked(frame: DataFrame, columns: Sequence[str]) -> list[str]:
    return [name for name in columns if name not in column_names(frame)]


def read(frame: DataFrame, columns: Sequence[str]) -> pa.Table:
    """The distinct records with their counts, within the limit."""
    names = [f"q{place}" for place, _ in enumerate(columns, 1)]
    rows = frame.select(
        *(comparable(frame, c).alias(q) for c, q in zip(columns, names, strict=True))
    )
    counted = rows.aggregate([column(q) for q in names], [f.count(literal(1)).alias("records")])
    return collected(counted, "the distinct records that DuckDB answers from")


def finish_reading() -> None:
    """Nothing is left open."""


def collected(frame: DataFrame, words: str) -> pa.Table:
    """The rows in this process, or a refusal of more than the limit."""
    rows = LIMIT // len(column_names(frame))
    table = frame.limit(rows + 1).to_arrow_table()
    if table.num_rows > rows:
        rule = f"{words} must be at most {rows} rows, got more"
        raise OutOfDomainError(f"{rule}; take fewer or coarser columns")
    return table


def framed(table: pa.Table) -> DataFrame:
    return SessionContext().from_arrow(table)


# The bindings: a count that is joined to the rows, and functions without a table.


def count(
    _: Function, columns: Sequence[str], tbl: DataFrame, name: str, entity: str | None
) -> DataFrame:
    """The frame with one more column: how many records, or people, share each record's values."""
    refuse_added_name(name, column_names(tbl))
    refuse_entity(columns, entity, "value")
    asked = [*columns, *([] if entity is None else [entity])]
    checked = (QUASI_IDENTIFIERS if entity is None else QI_AND_ENTITY).check(
        asked, column_names(tbl)
    )
    keys = [comparable(tbl, each) for each in checked]
    if entity is None:
        return tbl.with_column(name, f.count(literal(1)).over(Window(partition_by=keys)))
    # Each person counts once in a class: at their first record there.
    first = f.row_number().over(Window(partition_by=keys, order_by=[keys[-1]])) == literal(1)
    marked = tbl.with_column("reid_first", f.when(first, literal(1)).otherwise(literal(0)))
    people = f.sum(column("reid_first")).over(Window(partition_by=keys[:-1]))
    return marked.with_column(name, people).drop("reid_first")


def table(declared: Function, arguments: Mapping[str, Any]) -> DataFrame:
    """Answer a function of its parameters alone; DuckDB answers those of tables."""
    own = {parameter.name: arguments[parameter.name] for parameter in declared.own_parameters}
    return framed(pa.Table.from_pylist(answer_rows(declared, {}, own)))


def drawn(declared: Function, *_: Any) -> DataFrame:
    """Refuse: the records of a model are of no place."""
    raise UnavailableError(
        f"{declared.name} must be called on DuckDB or Polars, got DataFusion; draw there"
    )
