"""Find the release that meets a policy at the least loss, and write it as SQL."""

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reid_sql.commands.check import named, policy_options
from reid_sql.commands.options import print_document, printed, tell

if TYPE_CHECKING:
    from reid_sql.release.prepared import Prepared

WORDS: Final = "find the coarser form of a table that meets a policy at the least loss, as SQL"
DIALECTS: Final = "the dialect of --sql: duckdb, postgres, snowflake, bigquery, databricks, spark or trino"
FILES: Final = ("sql", "polars", "json_report", "html")


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    policy_options(parser)
    parser.add_argument("--sql", metavar="FILE", help="write the release as SQL: a view for each table")
    parser.add_argument("--dialect", default="duckdb", metavar="NAME", help=DIALECTS)
    parser.add_argument(
        "--target", metavar="COLUMN", help="tell how well the others still predict this column"
    )
    parser.add_argument("--polars", metavar="FILE", help="write the release as Python with Polars")
    parser.add_argument(
        "--json-report", metavar="FILE", help="write the gate's report on the release as JSON"
    )
    parser.add_argument("--html", metavar="FILE", help="write that report as HTML, with what was prepared")
    parser.add_argument("--plot", metavar="FILE", help="draw risk against loss of the forms: .png or .svg")


def run_command(options: argparse.Namespace) -> int:
    """Seek the release, write what is asked for, show what is lost, give the exit code of its verdict."""
    from reid_sql.charts.release_figures import check_plot_file, save  # noqa: PLC0415 - the same
    from reid_sql.check.files import files_read, refuse_to_overwrite  # noqa: PLC0415 - the same
    from reid_sql.check.policy_file import read_policy  # noqa: PLC0415 - help is shown without what counts
    from reid_sql.release.dialects import refuse_dialect  # noqa: PLC0415 - the same
    from reid_sql.release.preparation import run  # noqa: PLC0415 - the same

    refuse_dialect(options.dialect)
    given = {name: named(name, getattr(options, name)) for name in FILES}
    wanted = {name: file for name, file in given.items() if file is not None}
    files = {f"--{name.replace('_', '-')}": file for name, file in wanted.items()}
    refuse_to_overwrite(files, files_read(read_policy(options.policy), None))
    if options.plot is not None:
        check_plot_file(options.plot)
    made = run(options.policy, memory_limit=options.memory_limit, target=options.target, tell=tell)
    _write(made, wanted, options.dialect)
    if options.plot is not None:
        from reid_sql.charts.figures import frontier  # noqa: PLC0415 - only a picture needs it

        save(frontier(made.page), f"{made.page['policy']}: {made.page['verdict']}", options.plot)
    _show(options, dict(made.page))
    return made.exit_code


def _write(made: "Prepared", wanted: dict[str, Path], dialect: str) -> None:
    """Write the files; one that is no release is not written, and that is said."""
    from reid_sql.check.files import write_report  # noqa: PLC0415 - help is shown without what counts
    from reid_sql.check.html import render_html  # noqa: PLC0415 - the same
    from reid_sql.check.report import to_json  # noqa: PLC0415 - the same
    from reid_sql.release.sentences import steps  # noqa: PLC0415 - the same

    for name, file in wanted.items():
        if name == "json_report" and made.report is not None:
            write_report(file, to_json(dict(made.report)))
        elif name == "html" and made.report is not None:
            write_report(file, render_html(made.report, steps(dict(made.page))))
        elif made.passed:
            write_report(file, made.sql_in(dialect) if name == "sql" else made.python)
        else:
            words = f"reid-sql: '{file}' is not written, as no release was found that meets the policy"
            printed(words + "\n", sys.stderr)  # one line, never wrapped


def _show(options: argparse.Namespace, page: dict[str, Any]) -> None:
    from reid_sql.release.rows import release_rows  # noqa: PLC0415 - help is shown without what counts
    from reid_sql.release.terminal_page import release_page  # noqa: PLC0415 - the same

    rows = release_rows(page)  # a table has a column at least
    print_document(options, page, lambda: (list(rows[0]), rows), partial(release_page, page))
