"""The release gate: check tables against a policy."""

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from rich.console import Group, RenderableType

from reid_sql.check import gate
from reid_sql.check.duckdb_table import DuckDBTable
from reid_sql.check.html import PreparedRelease, render_html
from reid_sql.check.masking import ReportPage
from reid_sql.check.policy import read_policy
from reid_sql.check.policy_model import SECONDS, Policy
from reid_sql.check.report import (
    check_columns,
    check_rows,
    files_read,
    refuse_to_overwrite,
    render_junit,
    to_json,
    write_report,
)
from reid_sql.check.sentences import describe_released_columns
from reid_sql.check.terminal import verdict_page
from reid_sql.commands.options import PASSED, number, printed
from reid_sql.commands.output import print_people, print_rendered, print_rows
from reid_sql.errors import OutOfDomainError, ReidError
from reid_sql.parameters import Number
from reid_sql.terminal import progress
from reid_sql.terminal.console import Text

Page = ReportPage
REPORTS: Final = ("json_report", "junit", "html")  # options of `check` that name a file
NOT_IN_A_FILE: Final = (
    "No release was searched for: its table must be in a file that DuckDB reads. Copy it or an extract into "
    "one, and run reid-sql prepare."
)
RISKY_RECORDS: Final = Number(
    "a whole number from 0 to 1000", "write how many to show, such as 20", 0.0, 1000.0, whole=True
)


def run_check(options: argparse.Namespace) -> int:
    """Check a policy: print the verdict, write the reports, return the exit code."""
    policy = read_policy(options.policy)
    if options.plan:
        return _print_plan(policy, overview=_shows_overview(options))
    risky = int(
        RISKY_RECORDS.check("--risky-records", number("--risky-records", options.risky_records))
    )
    files = report_files(options, REPORTS)
    baseline = _path(options, "baseline")
    protect_inputs(files, policy, baseline)
    policy = _with_time_limit(policy, options)
    way_out = None
    with gate.open_with_engine(
        options.engine, policy, options.memory_limit, progress.report
    ) as releases:
        page = gate.measure_policy(
            policy,
            releases,
            baseline,
            risky=risky,
            overview=_shows_overview(options),
            show_progress=progress.report,
        )
        if options.prepare and page["verdict"] == "fail":
            way_out = _way_out(policy, releases, baseline)
    writers: dict[str, Callable[[Page], str]] = {
        "json_report": to_json,
        "junit": render_junit,
        "html": partial(render_html, prepared=way_out),
    }
    for name, file in files.items():
        write_report(file, writers[name](page))
    print_verdict(options, page)
    return int(page["exit_code"])


def _shows_overview(options: argparse.Namespace) -> bool:
    """Whether a report shows the overview of the table; else nothing is counted for it."""
    return options.format == "json" or options.json_report is not None or options.html is not None


def _print_plan(policy: Policy, *, overview: bool) -> int:
    """Print the statements of a check of a warehouse; nothing but the tables' columns is asked for."""
    plan = gate.plan_statements(policy, overview=overview)
    for place, statement in enumerate(plan.statements, 1):
        print(f"-- {place}: returns {_name_values(statement.columns)}\n{statement.sql};")  # noqa: T201 - SQL, never wrapped
    for table, check, columns in plan.checks:
        print(f"-- {table}, {check.measure.name}: fetches {_name_values(columns)}")  # noqa: T201 - the same
    more = (
        "; a group that is measured alone asks for more"
        if any(c.by for t in policy.tables for c in t.checks)
        else ""
    )
    print(f"-- {len(plan.statements)} statements{more}")  # noqa: T201 - the same
    return PASSED


def _name_values(columns: Sequence[str]) -> str:
    return f"values of {', '.join(columns)}" if columns else "counts and codes"


def report_files(options: argparse.Namespace, names: Iterable[str]) -> dict[str, Path]:
    """Return the paths of those options that are given."""
    paths = {name: _path(options, name) for name in names}
    return {name: path for name, path in paths.items() if path is not None}


def _path(options: argparse.Namespace, name: str) -> Path | None:
    """Return the option's path, or refuse an empty one, which an unset shell variable leaves."""
    file = getattr(options, name)
    if file is None:
        return None
    if not Path(file).name:
        rule = f"{_option(name)} must name a file, got '{file}'"
        raise OutOfDomainError(f"{rule}; write its path, or omit the option")
    return Path(file)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def protect_inputs(files: Mapping[str, Path], policy: Policy, baseline: Path | None) -> None:
    """Refuse to overwrite the policy, its tables or the baseline."""
    refuse_to_overwrite(
        {_option(name): file for name, file in files.items()}, files_read(policy, baseline)
    )


def _with_time_limit(policy: Policy, options: argparse.Namespace) -> Policy:
    """Return the policy with the time limit of the search; refuse a search whose result no report shows."""
    if options.prepare and options.html is None:
        rule = "--prepare must come with --html, where the release is shown, got none"
        raise OutOfDomainError(f"{rule}; add --html FILE, or run reid-sql prepare")
    if options.time_limit is None:
        return policy
    if not options.prepare:
        rule = f"--time-limit must come with --prepare, got {options.time_limit} alone"
        raise OutOfDomainError(f"{rule}; add --prepare, or omit it")
    seconds = SECONDS.check("--time-limit", number("--time-limit", options.time_limit))
    return replace(policy, preparing=replace(policy.preparing, time_limit=float(seconds)))


def _way_out(policy: Policy, releases: Any, baseline: Path | None) -> PreparedRelease:  # noqa: ANN401 - of any engine
    """Return the release that meets the policy, or why none was searched for; neither changes the verdict."""
    from reid_sql.prepare.preparation import prepare_releases  # noqa: PLC0415 - loads sqlglot, which few checks need

    if not all(isinstance(release.engine, DuckDBTable) for release in releases):
        return PreparedRelease(None, [NOT_IN_A_FILE])
    try:
        return prepare_releases(policy, releases, progress.report, baseline).way_out
    except ReidError as error:
        return PreparedRelease(None, [f"No release was searched for: {error}."])


def _page(policy: str, page: Page, width: int) -> RenderableType:
    """Show the verdict, and where a file fails, the command that finds what to release."""
    shown = verdict_page(page, width)
    if page["verdict"] != "fail" or not all(each["sha256"] for each in page["tables"]):
        return shown
    return Group(
        shown, Text(f"reid-sql prepare {shlex.quote(policy)} finds what to release instead.")
    )


def print_verdict(options: argparse.Namespace, page: Page) -> None:
    """Print the checks and the verdict; a reader who stops does not change it."""
    if options.format == "csv":
        columns = (line for each in page["tables"] for line in describe_released_columns(each))
        print_people(" ".join(columns))
    try:
        print_document(
            options,
            page,
            lambda: (check_columns(), check_rows(page)),
            partial(_page, options.policy, page),
        )
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_document(
    options: argparse.Namespace,
    page: Mapping[str, Any],
    rows: Callable[[], tuple[Sequence[str], Sequence[Mapping[str, Any]]]],
    render: Callable[[int], RenderableType],
) -> None:
    """Print the page as its JSON file has it, its rows as CSV, or what `render` returns for people."""
    if options.format == "json":
        printed(to_json(page))
    elif options.format == "csv":
        print_rows(*rows())
    else:
        print_rendered(render)
