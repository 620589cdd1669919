"""Ibis: the models in a table that copula_json wrote."""

import ibis
from ibis.expr.types import Table

from reid_sql.engines.ibis.frames import aliases, bigint, check_columns, null_report, with_aliases, with_names
from reid_sql.parameters import Columns


def saved(tbl: Table) -> Table:
    """Each model by its name and its text."""
    given = ["model", "json"]
    rows = with_aliases(tbl, check_columns(Columns("columns of the saved models"), given, tbl))
    texts = {name: each.cast("string") for name, each in with_names(rows, given).items()}
    ordered = ibis.row_number().over(order_by=[rows[name] for name in aliases(given)])
    lines = rows.select(line=bigint(ordered), **texts)
    return null_report(rows, aliases(given), "value", lines)
