"""Hold tables to a policy, and write the reports."""

import argparse
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reid_sql.commands.options import format_options, number, print_document, tell
from reid_sql.errors import OutOfDomainError, ReidError

if TYPE_CHECKING:
    from reid_sql.check.figures import ReportPage
    from reid_sql.check.html import PreparedRelease
    from reid_sql.check.policy import Policy

WORDS: Final = "hold tables to a policy: exit 0 pass, 1 fail, 2 could not judge"
ELSEWHERE: Final = (
    "No release was sought: its table must lie in a file that DuckDB reads; bring it or an extract into one, "
    "and run reid-sql prepare."
)
REPORTS: Final = ("json_report", "junit", "html")  # the options that name a file for one


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    policy_options(parser)
    parser.add_argument("--json-report", metavar="FILE", help="write the report as JSON")
    parser.add_argument("--junit", metavar="FILE", help="write the verdicts as JUnit XML")
    parser.add_argument("--html", metavar="FILE", help="write the report as one HTML file for people")
    parser.add_argument(
        "--baseline", metavar="FILE", help="an earlier JSON report: fail only on what got worse"
    )
    words = "where the policy is not met, seek the release that meets it, and show it in the HTML report"
    parser.add_argument("--prepare", action="store_true", help=words)
    words = "how long it may be sought, in place of the policy's prepare.time_limit"
    parser.add_argument("--time-limit", metavar="SECONDS", help=words)
    words = "duckdb; spark, whose tables or paths the policy's files then are; ibis, for a policy with a url"
    parser.add_argument("--engine", metavar="NAME", help=words)
    words = "show the N rarest combinations as they stand in the table; without it, no report holds a record"
    parser.add_argument("--risky-records", metavar="N", default="0", help=words)


def policy_options(parser: argparse.ArgumentParser) -> None:
    """Add what every command takes that follows a policy."""
    parser.add_argument("policy", metavar="POLICY.toml", help="the policy, TOML or JSON")
    parser.add_argument(
        "--memory-limit", metavar="SIZE", help="the most memory to use, such as 4GB; more goes to disk"
    )
    format_options(parser)


def run_command(options: argparse.Namespace) -> int:
    """Check a policy: print the verdict, write the reports, give the exit code."""
    from reid_sql.check import gate  # noqa: PLC0415 - help is shown without what counts
    from reid_sql.check.files import files_read, refuse_to_overwrite, write_report  # noqa: PLC0415 - the same
    from reid_sql.check.policy_file import read_policy  # noqa: PLC0415 - the same

    policy = read_policy(options.policy)
    risky = _risky(options.risky_records)
    given = {name: named(name, getattr(options, name)) for name in (*REPORTS, "baseline")}
    baseline = given.pop("baseline")
    wanted = {name: file for name, file in given.items() if file is not None}
    refuse_to_overwrite(
        {f"--{name.replace('_', '-')}": file for name, file in wanted.items()}, files_read(policy, baseline)
    )
    policy = _with_time(policy, options, wanted)
    found = None
    with gate.open_with_engine(options.engine, policy, options.memory_limit, tell) as releases:
        page = gate.measure_policy(policy, releases, baseline, risky=risky, tell=tell)
        if options.prepare and page["verdict"] == "fail":
            found = _way_out(policy, releases, baseline)
    for name, file in wanted.items():
        write_report(file, _written(name, page, found))
    with suppress(BrokenPipeError):  # who stops reading does not change the verdict
        _show(options, page)
    return int(page["exit_code"])


def _risky(text: str) -> int:
    """How many of the rarest combinations are shown."""
    from reid_sql.parameters import Number  # noqa: PLC0415 - help is shown without numpy

    domain = Number(
        "a whole number from 0 to 1000", "write how many to show, such as 20", 0.0, 1000.0, whole=True
    )
    return int(domain.check("--risky-records", number("--risky-records", text)))


def _with_time(policy: "Policy", options: argparse.Namespace, wanted: Mapping[str, Path]) -> "Policy":
    """The policy with the time that a release may be sought; refuses what would be sought and not shown."""
    from reid_sql.check.policy_file import SECONDS  # noqa: PLC0415 - help is shown without numpy

    if options.prepare and "html" not in wanted:
        rule = "--prepare must come with --html, where the release is shown, got none"
        raise OutOfDomainError(f"{rule}; add --html FILE, or run reid-sql prepare")
    if options.time_limit is None:
        return policy
    if not options.prepare:
        rule = f"--time-limit must come with --prepare, got {options.time_limit} alone"
        raise OutOfDomainError(f"{rule}; add --prepare, or leave it away")
    seconds = SECONDS.check("--time-limit", number("--time-limit", options.time_limit))
    return replace(policy, preparing=replace(policy.preparing, time_limit=float(seconds)))


def _way_out(policy: "Policy", releases: Any, baseline: Path | None) -> "PreparedRelease":  # noqa: ANN401 - of any engine
    """The release that meets the policy, or why none could be sought: the verdict stands either way."""
    from reid_sql.check.duckdb_table import DuckDBTable  # noqa: PLC0415 - help is shown without what counts
    from reid_sql.check.html import PreparedRelease  # noqa: PLC0415 - the same
    from reid_sql.release.preparation import prepared  # noqa: PLC0415 - the same

    if not all(isinstance(release.engine, DuckDBTable) for release in releases):
        return PreparedRelease(None, [ELSEWHERE])
    try:
        return prepared(policy, releases, tell, baseline).way_out
    except ReidError as error:
        return PreparedRelease(None, [f"No release was sought: {error}."])


def _written(report: str, page: "ReportPage", found: "PreparedRelease | None") -> str:
    """The report of this kind."""
    from reid_sql.check.files import render_junit  # noqa: PLC0415 - the same
    from reid_sql.check.html import render_html  # noqa: PLC0415 - help is shown without what counts
    from reid_sql.check.report import to_json  # noqa: PLC0415 - the same

    if report == "html":
        return render_html(page, found=found)
    return {"json_report": to_json, "junit": render_junit}[report](page)


def named(option: str, file: str | None) -> Path | None:
    """Give the path, where the option is given; one without a name is what an empty variable leaves of it."""
    if file is None:
        return None
    if not Path(file).name:
        rule = f"--{option.replace('_', '-')} must name a file, got '{file}'"
        raise OutOfDomainError(f"{rule}; write its path, or leave the option away")
    return Path(file)


def _show(options: argparse.Namespace, page: "ReportPage") -> None:
    """Print the verdict to its end."""
    from reid_sql.check.files import check_columns, check_rows  # noqa: PLC0415 - help is shown without them
    from reid_sql.check.terminal import verdict_page  # noqa: PLC0415 - the same

    try:
        print_document(
            options, page, lambda: (check_columns(), check_rows(page)), partial(verdict_page, page)
        )
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise
