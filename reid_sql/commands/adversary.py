"""How risky a file is against an attacker who knows part of it."""

import argparse
import json
from typing import TYPE_CHECKING, Final

from reid_sql.commands.options import PASSED, number, opened_table, print_answer, source_options

if TYPE_CHECKING:
    import duckdb

MODEL: Final = "attacked"  # name of the model that is fitted to the file
WORDS: Final = "measure a file against an attacker who knows part of it"


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    source_options(parser, None)
    parser.add_argument(
        "--scenario",
        required=True,
        metavar="FILE",
        help="what the attacker may know: a .toml or .json file, or a shipped name",
    )
    parser.add_argument(
        "--threshold", default="0.2", help="the risk above which a record counts as at risk (default 0.2)"
    )
    parser.add_argument(
        "--nulls", default="value", help="NULL as a value (default), as a wildcard, or drop such records"
    )
    parser.add_argument(
        "--sensitivity", action="store_true", help="show all 81 settings of the four parameters too"
    )
    told = parser.add_mutually_exclusive_group()
    told.add_argument(
        "--population-file",
        metavar="FILE",
        help="CSV, Parquet or JSON file of the population, which tells who is unique in it",
    )
    told.add_argument(
        "--model",
        choices=("people", "copula"),
        help="estimate who is unique in the population by this model of the file, not by Pitman's",
    )


def _population(con: "duckdb.DuckDBPyConnection", file: str) -> str:
    """Open the file of the population beside the other: the name by which functions find it."""
    from reid_sql.source import attach_source  # noqa: PLC0415 - help is shown without DuckDB

    words, view = "--population-file", "reid_population"
    found = attach_source(con, view, words, file)
    if found.records is not None:
        found.hold(words, con.execute(f"SELECT count(*) FROM {view}").fetchall()[0][0])
    return view


def run_command(options: argparse.Namespace) -> int:
    """Show what the attacker of the scenario can do."""
    from reid_sql import terminal  # noqa: PLC0415 - help is shown without what counts
    from reid_sql.parameters import NULLS, THRESHOLD  # noqa: PLC0415 - the same
    from reid_sql.runner import run  # noqa: PLC0415 - the same
    from reid_sql.scenario import scenario  # noqa: PLC0415 - the same

    threshold = float(THRESHOLD.check("threshold", number("threshold", options.threshold)))
    nulls = f"nulls := '{NULLS.check('nulls', options.nulls)}'"
    known = scenario(options.scenario)
    con, table = opened_table(options)
    if options.model:
        fitted = f"FROM fit_{options.model}('{MODEL}', ?, ?)"
        run(con, fitted, [table, known.columns], "the model")
    told = f"{nulls}, population_tbl := ?, model := ?"
    people = _population(con, options.population_file) if options.population_file else None
    given = [table, known.text(), people, MODEL if options.model else None]
    found = run(
        con, f"FROM adversary_summary(?, ?, threshold := {threshold!r}, {told})", given, "summary"
    ).records()
    settings = (
        run(con, f"FROM adversary_sensitivity(?, ?, {told})", given, "sensitivity")
        if options.sensitivity
        else None
    )
    page = {"scenario": json.loads(known.text()), "summary": found}
    page |= {"sensitivity": settings.records()} if settings else {}
    name = known.name or options.scenario
    rows = settings.records() if settings else found
    print_answer(
        options, page, rows, lambda: terminal.adversary_page(name, known.assumptions, found, settings)
    )
    return PASSED
