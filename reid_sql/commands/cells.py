"""Tables of aggregates: a safe one from a file of people, and the audit of published ones."""

import argparse
from typing import Final

from rich.text import Text

from reid_sql.charts.figure import check_plot_file, save
from reid_sql.charts.release_charts import audited_cells
from reid_sql.commands.options import PASSED, names
from reid_sql.commands.output import print_answer
from reid_sql.commands.tables import (
    Rows,
    call,
    describe_people,
    function_options,
    given_entity,
    open_file_table,
    text_format,
)
from reid_sql.parameters import Columns, sql_literal
from reid_sql.reductions.tables import SAFE_CELLS
from reid_sql.sources.acro import read_risk_appetite, shows_unsafe, write_results
from reid_sql.sources.files import attach_source, open_source
from reid_sql.terminal.answers import audit_page, cells_page

BY: Final = Columns("columns of by")
COUNTED: Final = ("k", "totals", "suppress", "protection", "zeros", "nulls")
AUDITED: Final = ("k", "people", "lowest", "highest", "base")


def run_safe(options: argparse.Namespace) -> int:
    """Print the cells of a table of aggregates."""
    how = function_options(options, "safe_table", *COUNTED) | given_entity(options)
    if options.value is not None:
        how["value"] = options.value
    appetite = None if options.risk_appetite is None else read_risk_appetite(options.risk_appetite)
    if appetite is not None:
        how |= {
            name: value for name, value in appetite.parameters.items() if name != "k" or options.k is None
        }
    table = open_file_table(options, BY)
    rows = table.call("safe_table", words="cells", query="FROM CALL ORDER BY ALL", **how)
    people = describe_people(options.entity, table.con, [table.name], table.columns)
    notes = [*([people] if people else []), *([] if appetite is None else [appetite.summary()])]
    if options.acro is not None:
        given = ", ".join(f"{name} := {sql_literal(value)}" for name, value in how.items())
        call_text = f"safe_table(..., {sql_literal(table.columns)}, {given})"
        written = write_results(options.acro, rows, table.columns, call_text)
        notes.append(f"Written for an output checker: {written}.")
        unsafe = shows_unsafe(rows)
        notes.append("The CSV file shows unsafe cells." if unsafe else "Publish the CSV file alone.")
    page = {"cells": rows}
    print_answer(options, page, rows, lambda: cells_page(rows, list(SAFE_CELLS.columns)), " ".join(notes))
    return PASSED


def run_audit_tables(options: argparse.Namespace) -> int:
    """Print what published tables give away, and draw it if asked."""
    how = function_options(options, "audit_tables", *AUDITED)
    how |= {name: getattr(options, name) for name in ("count", "total") if getattr(options, name) is not None}
    columns = [name for text in options.columns for name in names("the columns", text)]
    if columns:
        how["columns"] = list(dict.fromkeys(columns))
    if options.plot:
        check_plot_file(options.plot)
    form = text_format(options)
    con, first = open_source(options.files[0], None, form=form)
    tables = [first]
    for number, file in enumerate(options.files[1:], 2):
        source = attach_source(con, f"reid_published_{number}", f"FILE {number}", file, None, form)
        tables.append(f"reid_published_{number}")
        if source.records is not None:
            counted = con.execute(f"SELECT count(*) FROM {tables[-1]}").fetchall()[0][0]
            source.refuse_missing_records(f"FILE {number}", counted)
    rows: Rows = call(con, "audit_tables", [tables], "audit", **how).records()
    if options.plot:
        save(audited_cells(rows), "Hidden cells of published tables", options.plot, "")
    nothing = Text("No cell is hidden, and none is below k.", style="bold")
    print_answer(options, {"cells": rows}, rows, lambda: audit_page(rows) if rows else nothing, "")
    return PASSED
