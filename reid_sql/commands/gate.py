"""The release gate: check tables against a policy."""

import os
import shlex
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import duckdb
from rich.console import Group, RenderableType

from reid_sql.check import gate
from reid_sql.check.duckdb_table import DuckDBTable
from reid_sql.check.html import Additions, PreparedRelease, render_html
from reid_sql.check.lineage import render_openlineage, render_tags
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
from reid_sql.check.several_policies import (
    PolicyResult,
    build_run,
    render_run_html,
    render_run_junit,
    run_page,
    run_rows,
)
from reid_sql.check.terminal import verdict_page
from reid_sql.commands.options import PASSED, number, printed
from reid_sql.commands.output import print_people, print_rendered, print_rows
from reid_sql.errors import OutOfDomainError, ReidError
from reid_sql.parameters import ColumnNames, Number, Rows
from reid_sql.terminal import progress
from reid_sql.terminal.console import Text
from reid_sql.terminal.control_characters import escape_control_characters
from reid_sql.terminal.runner import sentence

REPORTS: Final = (
    "json_report",
    "junit",
    "html",
    "openlineage",
    "tags",
)  # options of `check` that name a file
NOT_IN_A_FILE: Final = (
    "No release was searched for: its table must be in a file that DuckDB reads. Copy it or an extract into "
    "one, and run reid-sql prepare."
)
RISKY_RECORDS: Final = Number(
    "a whole number from 0 to 1000", "write how many to show, such as 20", 0.0, 1000.0, whole=True
)


def run_check(options: Namespace) -> int:
    """Check one policy or several: print the verdict, write the reports, return the exit code."""
    named = [str(each) for each in options.policies]
    _refuse_twice(named)
    if options.plan:
        return _print_plans(options)
    risky = int(
        RISKY_RECORDS.check("--risky-records", number("--risky-records", options.risky_records))
    )
    files = report_files(options, REPORTS)
    baseline = _path(options, "baseline")
    # what a policy alone is refused for ends the command
    attempt = _attempt if len(named) > 1 else lambda work: work()
    policies = {file: attempt(partial(_read_policy, options, file)) for file in named}
    inputs: list[Path] = []
    for file, policy in policies.items():
        inputs += [Path(file)] if isinstance(policy, str) else files_read(policy, baseline)
    refuse_to_overwrite({_option(name): file for name, file in files.items()}, inputs)
    results: list[PolicyResult] = []
    for file, policy in policies.items():
        result = (
            policy
            if isinstance(policy, str)
            else attempt(partial(_measure, options, file, policy, baseline, risky))
        )
        results.append(PolicyResult(file, refusal=result) if isinstance(result, str) else result)
    return _report(options, results, files)


def _read_policy(options: Namespace, file: str) -> Policy:
    """Read a policy, with the time limit of its search; refuse a search whose result no report shows."""
    policy = read_policy(file)
    if options.prepare and options.html is None:
        raise OutOfDomainError(
            "--prepare must come with --html, where the release is shown, got none; add --html FILE, or run reid-sql prepare"
        )
    if options.time_limit is None:
        return policy
    if not options.prepare:
        raise OutOfDomainError(
            f"--time-limit must come with --prepare, got {options.time_limit} alone; add --prepare, or omit it"
        )
    seconds = SECONDS.check("--time-limit", number("--time-limit", options.time_limit))
    return replace(policy, preparing=replace(policy.preparing, time_limit=float(seconds)))


Result = TypeVar("Result")


def _attempt(work: Callable[[], Result]) -> Result | str:
    """Return the result, or the sentence by which it is refused, which is the result of that policy."""
    try:
        return work()
    except (duckdb.InterruptException, BrokenPipeError):
        raise
    except (ReidError, OSError, UnicodeError, ImportError, MemoryError, duckdb.Error) as error:
        return sentence(error) or type(error).__name__


def _refuse_twice(policies: Sequence[str]) -> None:
    for place, file in enumerate(policies):
        if Path(file).resolve() in [Path(other).resolve() for other in policies[:place]]:
            raise OutOfDomainError(f"POLICY must be named once, got '{file}' twice; omit one")


def _measure(
    options: Namespace, file: str, policy: Policy, baseline: Path | None, risky: int
) -> PolicyResult:
    """Measure a policy, and search for a release that meets it if that is asked."""
    prepared = None
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
            prepared = _way_out(policy, releases, baseline)
    return PolicyResult(file, page, prepared=prepared)


def _report(options: Namespace, results: Sequence[PolicyResult], files: Mapping[str, Path]) -> int:
    """Write and print the report of one policy, or one document of several."""
    pages = [each.page for each in results if each.page is not None]
    refusals = [f"{each.file}: {each.refusal}" for each in results if each.page is None]
    first, is_alone = results[0], len(results) == 1
    document = pages[0] if is_alone else build_run(results)
    additions = Additions(prepared=first.prepared)
    writers: dict[str, Callable[[], str]] = {
        "json_report": partial(to_json, document),
        "junit": partial(render_junit, document)
        if is_alone
        else partial(render_run_junit, results),
        "html": partial(render_html, document, additions)
        if is_alone
        else partial(render_run_html, results),
        "openlineage": partial(render_openlineage, pages, refusals),
        "tags": partial(render_tags, pages),
    }
    for name, file in files.items():
        write_report(file, writers[name]())
    if is_alone:
        print_verdict(options, document, first.file)
    else:
        _print_run(options, document, results)
    return int(document["exit_code"])


def _print_run(options: Namespace, run: ReportPage, results: Sequence[PolicyResult]) -> None:
    """Print the document of several policies."""

    def render(width: int) -> RenderableType:
        shown = {each.file: _page(each.file, each.page, width) for each in results if each.page}
        return run_page(results, shown)

    if options.format == "csv":
        for each in results:
            columns = _released_columns(each.page) if each.page else []
            print_people(f"{each.file}: {' '.join(columns)}" if columns else "")
    print_result(options, run, lambda: run_rows(results), render)


def _shows_overview(options: Namespace) -> bool:
    """Whether a report shows the overview of the table; else nothing is counted for it."""
    return options.format == "json" or options.json_report is not None or options.html is not None


def _print_plans(options: Namespace) -> int:
    """Print the statements of checks of warehouses; nothing but the tables' columns is asked for."""
    policies = [read_policy(file) for file in options.policies]
    plans = [gate.plan_statements(each, overview=_shows_overview(options)) for each in policies]
    statements = [statement for plan in plans for statement in plan.statements]
    for place, statement in enumerate(statements, 1):
        print(f"-- {place}: returns {_name_values(statement.columns)}\n{statement.sql};")  # noqa: T201 - SQL, never wrapped
    for plan in plans:
        for table, check, columns in plan.checks:
            named = escape_control_characters(table)
            print(f"-- {named}, {check.measure.name}: fetches {_name_values(columns)}")  # noqa: T201 - the same
    more = (
        "; a group that is measured alone asks for more"
        if any(check.by for policy in policies for table in policy.tables for check in table.checks)
        else ""
    )
    print(f"-- {len(statements)} statements{more}")  # noqa: T201 - the same
    return PASSED


def _name_values(columns: ColumnNames) -> str:
    r"""Name columns in a comment, which a line break in a name must not end.

    >>> _name_values(["age", "a\nb"])
    'values of age, a\\x0ab'
    """
    named = escape_control_characters(", ".join(columns))
    return f"values of {named}" if columns else "counts and codes"


def report_files(options: Namespace, names: Iterable[str]) -> dict[str, Path]:
    """Return the paths of those options that are given."""
    paths = {name: _path(options, name) for name in names}
    return {name: path for name, path in paths.items() if path is not None}


def _path(options: Namespace, name: str) -> Path | None:
    """Return the option's path, or refuse an empty one, which an unset shell variable leaves."""
    file = getattr(options, name)
    if file is None:
        return None
    if not Path(file).name:
        raise OutOfDomainError(
            f"{_option(name)} must name a file, got '{file}'; write its path, or omit the option"
        )
    return Path(file)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def protect_inputs(files: Mapping[str, Path], policy: Policy) -> None:
    """Refuse to overwrite the policy or its tables."""
    refuse_to_overwrite(
        {_option(name): file for name, file in files.items()}, files_read(policy, None)
    )


def _way_out(policy: Policy, releases: Any, baseline: Path | None) -> PreparedRelease:  # noqa: ANN401 - of any engine
    """Return the release that meets the policy, or why none was searched for; neither changes the verdict."""
    from reid_sql.prepare.preparation import prepare_releases  # noqa: PLC0415 - loads sqlglot, which few checks need

    if not all(isinstance(release.engine, DuckDBTable) for release in releases):
        return PreparedRelease(None, [NOT_IN_A_FILE])
    try:
        return prepare_releases(policy, releases, progress.report, baseline).way_out
    except ReidError as error:
        return PreparedRelease(None, [f"No release was searched for: {error}."])


def _page(policy: str, page: ReportPage, width: int) -> RenderableType:
    """Show the verdict, and where a file fails, the command that finds what to release."""
    shown = verdict_page(page, width)
    if page["verdict"] != "fail" or not all(each["sha256"] for each in page["tables"]):
        return shown
    return Group(
        shown, Text(f"reid-sql prepare {shlex.quote(policy)} finds what to release instead.")
    )


def _released_columns(page: ReportPage) -> list[str]:
    """What rows of checks do not have: the columns in no check."""
    return [line for each in page["tables"] for line in describe_released_columns(each)]


def print_verdict(options: Namespace, page: ReportPage, policy: str) -> None:
    """Print the checks and the verdict of the policy in this file."""
    if options.format == "csv":
        print_people(" ".join(_released_columns(page)))
    print_result(
        options, page, lambda: (check_columns(), check_rows(page)), partial(_page, policy, page)
    )


def print_result(
    options: Namespace,
    page: Mapping[str, Any],
    rows: Callable[[], tuple[Sequence[str], Rows]],
    render: Callable[[int], RenderableType],
) -> None:
    """Print a document; a reader who stops does not change the verdict."""
    try:
        print_document(options, page, rows, render)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_document(
    options: Namespace,
    page: Mapping[str, Any],
    rows: Callable[[], tuple[Sequence[str], Rows]],
    render: Callable[[int], RenderableType],
) -> None:
    """Print the page as its JSON file has it, its rows as CSV, or what `render` returns for people."""
    if options.format == "json":
        printed(to_json(page))
    elif options.format == "csv":
        print_rows(*rows())
    else:
        print_rendered(render)
