"""How risky a file is against an attacker who knows part of it."""

import argparse
import json
from typing import Final

from reid_sql.commands.options import PASSED, number, opened_table, print_json, source_options

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


def run_command(options: argparse.Namespace) -> int:
    """Show what the attacker of the scenario can do."""
    from reid_sql import screen  # noqa: PLC0415 - help is shown without what counts
    from reid_sql.domains import NULLS, THRESHOLD  # noqa: PLC0415 - the same
    from reid_sql.runner import run  # noqa: PLC0415 - the same
    from reid_sql.scenario import scenario  # noqa: PLC0415 - the same

    threshold = float(THRESHOLD.check("threshold", number("threshold", options.threshold)))
    nulls = f"nulls := '{NULLS.check('nulls', options.nulls)}'"
    known = scenario(options.scenario)
    con, table = opened_table(options)
    given = [table, known.text()]
    found = run(
        con, f"FROM adversary_summary(?, ?, threshold := {threshold!r}, {nulls})", given, "summary"
    ).records()
    settings = (
        run(con, f"FROM adversary_sensitivity(?, ?, {nulls})", given, "sensitivity")
        if options.sensitivity
        else None
    )
    if options.json:
        page = {"scenario": json.loads(known.text()), "summary": found}
        print_json(page | ({"sensitivity": settings.records()} if settings else {}))
    else:
        screen.console().print(
            screen.adversary_page(known.name or options.scenario, known.assumptions, found, settings)
        )
    return PASSED
