"""The extreme risk of a file, and what removing records does to it."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reid_sql.commands.options import PASSED, needs, number, opened, print_answer, source_options, whole
from reid_sql.errors import OutOfDomainError, ReidError

if TYPE_CHECKING:
    import duckdb

WORDS: Final = "extreme risk (QaR): the table's, and what removing records does to it"
WORTHWHILE: Final = 0.2  # share of the records beyond which a table is of little use without them
AT_ONCE: Final = 10**8  # records times removals up to which the exact elimination is done unasked
SHOWN: Final = 5  # of the riskiest choices
COUNTED: Final = ("p", "sample", "memory_mb")


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    source_options(parser, "--columns", "the columns that an attacker may combine")
    parser.add_argument("--p", default="3", help="how many columns make a quasi-identifier (default 3)")
    parser.add_argument(
        "--alpha", default="0.01", help="the share of quasi-identifiers that may be riskier (default 0.01)"
    )
    parser.add_argument(
        "--tail",
        default="0.05",
        help="the share of quasi-identifiers that the law is fitted to (default 0.05)",
    )
    parser.add_argument(
        "--sample", default="0", metavar="N", help="measure N quasi-identifiers drawn at random, not all"
    )
    parser.add_argument(
        "--memory-mb", default="1024", metavar="MB", help="the most memory to count with (default 1024)"
    )
    parser.add_argument("--nulls", default="value", help="NULL as a value (default), or drop such records")
    parser.add_argument(
        "--remove",
        metavar="N",
        help="show what removing N records does (with --plot: default a fifth of them)",
    )
    parser.add_argument(
        "--by", metavar="A,B", help="how records to remove are chosen, as in qar_elimination (default all)"
    )
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help="draw the risk over choices, what each record adds and what removals do to a PNG or SVG file",
    )
    parser.add_argument(
        "--without-contributions",
        action="store_true",
        help="do not draw what each record adds, which takes longer the more records there are",
    )


def run_command(options: argparse.Namespace) -> int:
    """Show the extreme risk, and what removing records does where asked."""
    from reid_sql import terminal  # noqa: PLC0415 - help is shown without what counts
    from reid_sql.charts.release_figures import check_plot_file  # noqa: PLC0415 - the same
    from reid_sql.models.extreme.removal_path import BY, REMOVE  # noqa: PLC0415 - the same
    from reid_sql.parameters import COLUMNS  # noqa: PLC0415 - the same
    from reid_sql.runner import run  # noqa: PLC0415 - the same

    counted, how = _settings(options)
    remove = whole("remove", options.remove, REMOVE) if options.remove else 0
    orders = [BY.check("by", word.strip()) for word in options.by.split(",")] if options.by else []
    needs("--by", options.by, "--remove or --plot", given=bool(options.remove or options.plot))
    needs("--without-contributions", options.without_contributions, "--plot", given=bool(options.plot))
    if options.plot:
        check_plot_file(options.plot)
    con, given = opened(options, COLUMNS)
    risk = run(con, f"FROM qar_risk(?, ?, {how})", given, "extreme risk").records()[0]
    listed = f"FROM qar_quasi_identifiers(?, ?, {counted}) {'' if options.plot else f'LIMIT {SHOWN}'}"
    choices = run(con, listed, given, "quasi-identifiers").records()
    if options.plot and (risk["risk"] is None or risk["risk"] >= 1):
        raise ReidError(
            f"--plot needs an extreme risk below 1 to remove records from, got none; {risk['status']}"
        )
    remove = remove or (max(1, int(WORTHWHILE * risk["records"])) if options.plot else 0)
    paths, remarks = _removals(con, given, how, remove, orders) if remove else ({}, [])
    if options.plot:
        added, remark = ([], []) if options.without_contributions else _contributions(con, given, how)
        remarks += remark
        _draw(options, choices, risk, added, paths)
    riskiest = choices[:SHOWN]
    page = {"risk": risk, "riskiest": riskiest, "removals": paths, "remarks": remarks}
    removed = [{"by": by} | row for by, path in paths.items() for row in path] if options.remove else []
    print_answer(options, page, removed or [risk], lambda: terminal.qar_page(risk, riskiest, paths, remarks))
    return PASSED


def _settings(options: argparse.Namespace) -> tuple[str, str]:
    """The options as SQL spells them: those of the counting, and all of them."""
    from reid_sql.models.classes.class_keys import MEMORY  # noqa: PLC0415 - the same
    from reid_sql.models.classes.quasi_identifiers import CHOICES_DRAWN, SIZE  # noqa: PLC0415 - the same
    from reid_sql.models.extreme.extreme_risk import ALPHA, TAIL  # noqa: PLC0415 - the same
    from reid_sql.parameters import VALUE_OR_DROP, plain  # noqa: PLC0415 - help is shown without what counts

    domains = {"p": SIZE, "alpha": ALPHA, "tail": TAIL, "sample": CHOICES_DRAWN, "memory_mb": MEMORY}
    read = {
        name: float(domain.check(name, number(name, getattr(options, name))))
        for name, domain in domains.items()
    }
    counted = [f"{name} := {plain(value)}" for name, value in read.items() if name in COUNTED]
    shares = [f"{name} := {value!r}" for name, value in read.items() if name not in COUNTED]
    nulls = f"nulls := '{VALUE_OR_DROP.check('nulls', options.nulls)}'"
    return ", ".join([*counted, nulls]), ", ".join([*counted, *shares, nulls])


def _draw(
    options: argparse.Namespace,
    choices: list[dict[str, Any]],
    risk: dict[str, Any],
    added: list[dict[str, Any]],
    paths: dict[str, list[dict[str, Any]]],
) -> None:
    from reid_sql.charts.release_figures import extreme_page, save  # noqa: PLC0415 - an optional extra

    riskier = f"{100 * float(options.alpha):g} % of the choices are riskier"
    title = f"Extreme risk of {Path(options.file).name} to who knows any {options.p} columns: {riskier}"
    save(extreme_page(choices, risk, added, paths), title, options.plot)


def _contributions(
    con: "duckdb.DuckDBPyConnection", given: list[Any], how: str
) -> tuple[list[dict[str, Any]], list[str]]:
    """What each record adds to the extreme risk; where it cannot be said, nothing and the reason."""
    import duckdb  # noqa: PLC0415 - help is shown without what counts

    from reid_sql.runner import run, sentence  # noqa: PLC0415 - the same

    asked = f"SELECT contribution FROM qar_contributions(?, ?, {how}) WHERE contribution IS NOT NULL"
    try:
        return run(con, asked, given, "what records add").records(), []
    except (duckdb.Error, ReidError) as error:
        return [], [f"what each record adds is not drawn: {sentence(error)}"]


def _removals(
    con: "duckdb.DuckDBPyConnection", given: list[Any], how: str, remove: int, orders: list[str]
) -> tuple[dict[str, list[dict[str, Any]]], list[str]]:
    """Remove records in each order, and say which of the orders nobody asked for were left out."""
    import duckdb  # noqa: PLC0415 - help is shown without what counts

    from reid_sql.models.extreme.removal_path import BY  # noqa: PLC0415 - the same
    from reid_sql.runner import run, sentence  # noqa: PLC0415 - the same

    paths, remarks = {}, []
    for by in orders or BY.words:
        try:
            if by == "exact" and not orders:
                _refuse_long(con, given, remove)
            path = f"FROM qar_elimination(?, ?, remove := {remove}, by := '{by}', {how})"
            paths[by] = run(con, path, given, f"removals by {by}").records()
        except (duckdb.Error, ReidError) as error:
            if orders or (not paths and by != "exact"):
                raise
            remarks.append(f"{by} is left out: {sentence(error)}")
    return paths, remarks


def _refuse_long(con: "duckdb.DuckDBPyConnection", given: list[Any], remove: int) -> None:
    records = con.execute("SELECT count(*) FROM query_table(?)", [given[0]]).fetchall()[0][0]
    if records * remove > AT_ONCE:
        raise OutOfDomainError(
            f"{remove} exact removals among {records} records take long; ask for them with --by exact"
        )
