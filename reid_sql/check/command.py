"""The commands `reid-sql check` and `reid-sql advise`."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Protocol

from reid_sql import screen
from reid_sql.check import gate
from reid_sql.check.junit import junit
from reid_sql.check.policy import read_policy
from reid_sql.check.report import text
from reid_sql.check.verdict_page import verdict_page
from reid_sql.domains import Number
from reid_sql.errors import OutOfDomainError, UnknownNameError

RISKY: Final = Number("a whole number from 0 to 1000", "write how many to show, such as 20", 0.0, 1000.0, whole=True)
WRITERS: Final[dict[str, Callable[[dict[str, Any]], str]]] = {"json_report": text, "junit": junit}


class Commands(Protocol):
    """Where a command is added, with its help."""

    def add_parser(self, name: str, *, help: str) -> argparse.ArgumentParser:  # noqa: A002 - argparse's name
        """Give the parser of a new command."""


def add(commands: Commands) -> None:
    """Add both commands."""
    checking = commands.add_parser("check", help="hold tables to a policy: exit 0 pass, 1 fail, 2 could not judge")
    _policy_options(checking)
    checking.add_argument("--json", action="store_true", help="print the report as JSON in place of the table")
    checking.add_argument("--json-report", metavar="FILE", help="write the report as JSON")
    checking.add_argument("--junit", metavar="FILE", help="write the verdicts as JUnit XML")
    checking.add_argument("--baseline", metavar="FILE", help="an earlier JSON report: fail only on what got worse")
    words = "show the N rarest combinations as they stand in the table; without it, no report holds a record"
    checking.add_argument("--risky-records", metavar="N", default="0", help=words)
    checking.set_defaults(run=check)


def _policy_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("policy", metavar="POLICY.toml", help="the policy, TOML or JSON")
    parser.add_argument("--memory-limit", metavar="SIZE", help="the most memory to use, such as 4GB; more goes to disk")


def check(options: argparse.Namespace) -> int:
    """Check a policy: print the verdict, write the reports, give the exit code."""
    policy = read_policy(options.policy)
    risky = int(RISKY.check("--risky-records", _whole(options.risky_records)))
    wanted = {name: Path(file) for name in WRITERS if (file := getattr(options, name))}
    for name, file in wanted.items():
        _refuse_unwritable(f"--{name.replace('_', '-')}", file)
    baseline = Path(options.baseline) if options.baseline else policy.baseline
    with gate.opened(policy, options.memory_limit, _tell) as releases:
        page = gate.measured(policy, releases, baseline, risky=risky, tell=_tell)
    for name, file in wanted.items():
        file.write_text(WRITERS[name](page), encoding="utf-8", newline="\n")
    if options.json:
        sys.stdout.write(text(page))
    else:
        screen.console().print(verdict_page(page))
    return int(page["exit_code"])


def _tell(words: str) -> None:
    """Say what is being done, where a person watches."""
    if sys.stderr.isatty():
        screen.console(error=True).print(f"[dim]{words}[/dim]", markup=True)


def _whole(given: str) -> float:
    try:
        return float(given)
    except ValueError:
        raise OutOfDomainError(RISKY.sentence("--risky-records", f"'{given}'")) from None


def _refuse_unwritable(option: str, file: Path) -> None:
    """Refuse a report that could not be written, before any counting."""
    if not file.parent.is_dir():
        raise UnknownNameError(f"{option} must lie in an existing folder, got '{file}'; make the folder '{file.parent}' first")
    if file.is_dir():
        raise OutOfDomainError(f"{option} must be a file, got the folder '{file}'; name a file in it")
