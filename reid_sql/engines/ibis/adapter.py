"""Ibis: functions of tables, which the warehouse counts; nothing is created in it.

Only reduced statistics come to the client. Functions of single records are absent, as `ABSENT` in
`reid_sql.function` says: a warehouse is asked about tables.
"""

from collections.abc import Sequence
from inspect import Parameter, Signature
from typing import Final

import ibis.expr.types as ir

from reid_sql.engines.contract import Kind
from reid_sql.engines.ibis.answers import drawn, table
from reid_sql.engines.ibis.frames import collected, framed
from reid_sql.errors import OutOfDomainError
from reid_sql.function import Function
from reid_sql.reduction import implementation

__all__ = [
    "COLUMN",
    "ENGINE",
    "TABLE",
    "collected",
    "count",
    "counting",
    "drawn",
    "framed",
    "table",
]
ENGINE: Final = "ibis"
TABLE: Final = Kind((ir.Table,), "an Ibis table", "pass connection.table('name')")
COLUMN: Final = Kind((ir.Value,), "a column of Ibis", "write 'age' or table['age']")


def counting(declared: Function) -> Signature:
    """The table, its columns, the name of the column put beside them, and the one that tells people apart."""
    kind = Parameter.POSITIONAL_OR_KEYWORD
    frame, columns = Parameter("tbl", kind), Parameter("columns", Parameter.VAR_POSITIONAL)
    name = Parameter("name", Parameter.KEYWORD_ONLY, default=declared.name)
    if len(declared.parameters) > 1:
        return Signature([frame, Parameter("entity", kind), columns, name])
    return Signature([frame, columns, name, Parameter("entity", Parameter.KEYWORD_ONLY, default=None)])


def count(
    declared: Function, columns: Sequence[str], tbl: ir.Table, name: str, entity: str | None
) -> ir.Table:
    """Bind COUNT: the table with a column more, of this name."""
    if name.lower() in (other.lower() for other in tbl.columns):
        rule = f"name must not be a column of the table, got '{name}'"
        raise OutOfDomainError(f"{rule}; pass another, such as name='k'")
    # A COUNT has a reduction.
    counted: ir.Table = implementation(declared.reduction, ENGINE)(tbl, columns, name, entity)  # type: ignore[arg-type]
    return counted
