"""What a scheduler gets of a check: whether it passed, what was found, and the reports to keep."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from reid_sql.check import gate
from reid_sql.check.files import junit, refuse_to_overwrite, spared, write_report
from reid_sql.check.html import WayOut, html
from reid_sql.check.policy_file import read_policy
from reid_sql.check.report import text
from reid_sql.check.sentences import asked, counted, figure, limit, sentence
from reid_sql.check.verdicts import NO_WORSE, PASS
from reid_sql.models.classes.disclosure import OK


@dataclass(frozen=True)
class Finding:
    """A check of a table, or of one group of its records, in words that a log can hold.

    An estimate has the ends of its interval, its method where it is told, and a sentence to quote.
    """

    table: str
    check: str
    figure: str
    limit: str
    verdict: str
    why: str
    group: Mapping[str, str | None] | None = None
    cautions: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    method: str | None = None
    status: str = OK
    sentence: str | None = None


@dataclass(frozen=True)
class Report:
    """The outcome of a check; `page` is the JSON report as a dictionary."""

    page: Mapping[str, Any]
    spared: tuple[Path, ...] = field(default=(), repr=False)

    @property
    def passed(self) -> bool:
        """Whether every check was judged, and is within its limit or no worse than the baseline."""
        return self.verdict in {PASS, NO_WORSE}

    @property
    def verdict(self) -> str:
        """Pass, no worse, fail or not judged."""
        return str(self.page["verdict"])

    @property
    def exit_code(self) -> int:
        """What the command would end with: 0, 1 or 2."""
        return int(self.page["exit_code"])

    @property
    def findings(self) -> list[Finding]:
        """What came of each check, group by group, in the order of the policy; small counts are masked."""
        return [_finding(check, group) for check in self.page["checks"] for group in check["groups"]]

    def json(self, path: str | PathLike[str]) -> Path:
        """Write the report as JSON, by report.schema.json, and give its path."""
        return self._written("--json-report", path, text(self.page))

    def html(self, path: str | PathLike[str], found: WayOut | None = None) -> Path:
        """Write the report as one HTML file for people, and give its path.

        `found` is the `way_out` of a release that was prepared for the policy, shown under what to do next.
        """
        return self._written("--html", path, html(self.page, found=found))

    def junit(self, path: str | PathLike[str]) -> Path:
        """Write the verdicts as JUnit XML, and give the path."""
        return self._written("--junit", path, junit(self.page))

    def _written(self, option: str, path: str | PathLike[str], content: str) -> Path:
        file = Path(path)
        refuse_to_overwrite({option: file}, self.spared)
        write_report(file, content)
        return file

    def __str__(self) -> str:
        """The verdict in one sentence."""
        return sentence(self.page)


def run(
    policy: str | PathLike[str],
    *,
    baseline: str | PathLike[str] | None = None,
    engine: str | None = None,
    tables: Mapping[str, Any] | None = None,
) -> Report:
    """Check the tables of a policy file, or those handed over."""
    handed = tables or {}
    asked_for = read_policy(Path(policy), tuple(handed))
    earlier = None if baseline is None else Path(baseline)
    with gate.opened_by(engine, asked_for, tables=handed) as releases:
        page = gate.measured(asked_for, releases, earlier)
    return Report(page, tuple(spared(asked_for, earlier)))


def _finding(check: Mapping[str, Any], group: Mapping[str, Any]) -> Finding:
    return Finding(
        table=check["table"],
        check=" ".join(part for part in (asked(check), counted(check)) if part),
        figure=figure(group, check),
        limit=limit(check),
        verdict=group["verdict"],
        why=group["why"],
        group=group["group"],
        cautions=tuple(check["cautions"]),
        **{name: group[name] for name in ("low", "high", "method", "status", "sentence")},
    )
