"""Ibis: the models in a table that copula_json wrote."""

import ibis
from ibis.expr.types import Table

from reid_sql.engines.ibis.frames import null_report, numbered, own_names, places, resolved, whole
from reid_sql.parameters import Columns


def saved(tbl: Table) -> Table:
    """Each model by its name and its text."""
    given = ["model", "json"]
    rows = numbered(tbl, resolved(Columns("columns of the saved models"), given, tbl))
    texts = {name: each.cast("string") for name, each in own_names(rows, given).items()}
    ordered = ibis.row_number().over(order_by=[rows[name] for name in places(given)])
    lines = rows.select(line=whole(ordered), **texts)
    return null_report(rows, places(given), "value", lines)
