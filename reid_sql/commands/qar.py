"""The extreme risk of a file, and the effect of removing records."""

import argparse
from pathlib import Path
from typing import Any, Final

import duckdb

from reid_sql.charts import column_charts
from reid_sql.charts.figure import save
from reid_sql.commands.options import PASSED, number, require
from reid_sql.commands.output import print_answer
from reid_sql.commands.tables import (
    FileTable,
    Rows,
    counted_noun,
    describe_people,
    function_options,
    given_entity,
    open_file_table,
)
from reid_sql.errors import OutOfDomainError, ReidError
from reid_sql.models.extreme.removal_path import BY, REMOVE
from reid_sql.parameters import COLUMNS
from reid_sql.terminal import pages
from reid_sql.terminal.runner import sentence

REMOVED_SHARE: Final = 0.2  # of the records; a table is of little use without more
MAX_EXACT_STEPS: Final = 10**8  # records times removals of an exact elimination that nobody asked for
REFUSAL_NO_PLOT: Final = "--plot needs an extreme risk below 1 to remove records from, got none; {}"
SHOWN: Final = 5  # riskiest choices
COUNTING: Final = ("p", "sample", "memory_mb", "nulls")


def run_qar(options: argparse.Namespace) -> int:
    """Print the extreme risk, and the effect of removing records if asked.

    What has no risk to draw is printed before the chart is refused.
    """
    how = function_options(options, "qar_risk", *COUNTING, "alpha", "tail") | given_entity(options)
    remove = int(REMOVE.check("remove", number("remove", options.remove))) if options.remove else 0
    orders = [BY.check("by", word.strip()) for word in options.by.split(",")] if options.by else []
    require("--by", options.by, "--remove or --plot", given=bool(options.remove or options.plot))
    require("--without-contributions", options.without_contributions, "--plot", given=bool(options.plot))
    table = open_file_table(options, COLUMNS)
    risk = table.call("qar_risk", words="extreme risk", **how)[0]
    counting = {name: how[name] for name in COUNTING} | given_entity(options)
    query = "FROM CALL" if options.plot else f"FROM CALL LIMIT {SHOWN}"
    choices = table.call("qar_quasi_identifiers", words="quasi-identifiers", query=query, **counting)
    has_risk = risk["risk"] is not None and risk["risk"] < 1
    if options.plot and has_risk:
        remove = remove or max(1, int(REMOVED_SHARE * risk["records"]))
    paths, remarks = _removals(table, how, remove, orders) if remove else ({}, [])
    people = describe_people(options.entity, table.con, [table.name], table.columns)
    if options.plot and has_risk:
        added, remark = ([], []) if options.without_contributions else _contributions(table, how)
        remarks += remark
        charts = [column_charts.choices(choices, [risk]), column_charts.elimination(paths)]
        if added:
            charts.insert(1, column_charts.contributions(added))
        save(charts, _title(options.file, how), options.plot, people)
    riskiest = choices[:SHOWN]
    page = {"risk": risk, "riskiest": riskiest, "removals": paths, "remarks": remarks}
    removed = [{"by": by} | row for by, path in paths.items() for row in path] if options.remove else []
    noun = counted_noun(options)
    print_answer(
        options, page, removed or [risk], lambda: pages.qar_page(risk, riskiest, paths, remarks, noun), people
    )
    if options.plot and not has_risk:
        raise ReidError(REFUSAL_NO_PLOT.format(risk["status"]))
    return PASSED


def _title(file: str, how: dict[str, Any]) -> str:
    attacker = f"an attacker who knows any {how['p']} columns"
    riskier = f"{100 * how['alpha']:g} % of the choices are riskier"
    return f"Extreme risk of {Path(file).name} for {attacker}: {riskier}"


def _contributions(table: FileTable, how: dict[str, Any]) -> tuple[Rows, list[str]]:
    """Return what each record adds to the extreme risk, or nothing and the reason."""
    query = "SELECT contribution FROM CALL WHERE contribution IS NOT NULL"
    try:
        return table.call("qar_contributions", words="contributions of records", query=query, **how), []
    except (duckdb.Error, ReidError) as error:
        return [], [f"the contributions of records are not drawn: {sentence(error)}"]


def _removals(
    table: FileTable, how: dict[str, Any], remove: int, orders: list[str]
) -> tuple[dict[str, Rows], list[str]]:
    """Remove records in each order; say which orders were skipped, unless they were asked for."""
    paths, remarks = {}, []
    for by in orders or BY.words:
        try:
            if by == "exact" and not orders:
                _refuse_long(table, remove)
            words = f"removals by {by}"
            paths[by] = table.call("qar_elimination", words=words, remove=remove, by=by, **how)
        except (duckdb.Error, ReidError) as error:
            if orders or (not paths and by != "exact"):
                raise
            remarks.append(f"{by} is left out: {sentence(error)}")
    return paths, remarks


def _refuse_long(table: FileTable, remove: int) -> None:
    records = table.con.execute("SELECT count(*) FROM query_table(?)", [table.name]).fetchall()[0][0]
    if records * remove > MAX_EXACT_STEPS:
        rule = f"{remove} exact removals among {records} records take long"
        raise OutOfDomainError(f"{rule}; ask for them with --by exact")
