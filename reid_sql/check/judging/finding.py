"""What came of a check: the figure of each group, and the verdict over it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from reid_sql.check.measures.answers import Answers
from reid_sql.check.policy.policy import Check, Policy
from reid_sql.engines.duckdb_packed import Group
from reid_sql.errors import ReidError
from reid_sql.models.classes.disclosure import OK

PASS: Final = "pass"  # noqa: S105 - a verdict, no secret
FAIL: Final = "fail"
NO_WORSE: Final = "no worse"  # breaks the limit, but not more than the baseline did
NOT_JUDGED: Final = "not judged"
ORDER: Final = (FAIL, NOT_JUDGED, NO_WORSE, PASS)
EXIT: Final = {PASS: 0, NO_WORSE: 0, FAIL: 1, NOT_JUDGED: 2}
NO_ANSWER: Final = "there is no answer"


@dataclass(frozen=True)
class Figure:
    """What was measured of a group: the figure, the ends of its interval where it has one, and what is said of it."""

    group: Group
    value: float | None
    low: float | None
    high: float | None
    status: str


@dataclass(frozen=True)
class Finding:
    """A figure, the one that is judged, that of the baseline, the verdict and why."""

    figure: Figure
    judged: float | None
    baseline: float | None
    verdict: str
    why: str


@dataclass(frozen=True)
class Checked:
    """A check with a finding for each group; its verdict is the worst of theirs."""

    table: str
    check: Check
    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> str:
        """The worst verdict of the groups."""
        return worst([finding.verdict for finding in self.findings])

    @property
    def telling(self) -> Finding:
        """The finding that decides: of the worst verdict, the one of the highest risk."""
        sign = 1 if self.check.measure.at_least else -1
        found = [finding for finding in self.findings if finding.verdict == self.verdict]
        return min(found, key=lambda finding: 0.0 if finding.judged is None else sign * finding.judged)


Baseline = Mapping[tuple[Any, ...], float]


def worst(verdicts: Sequence[str]) -> str:
    """Give the verdict that decides among some."""
    return min(verdicts, key=ORDER.index)


def checked(release: Answers, check: Check, policy: Policy, baseline: Baseline | None) -> Checked:
    """Measure and judge a check, group by group. What cannot be measured is not judged, and never a pass."""
    try:
        groups = release.groups(check.by)
    except ReidError as error:
        return Checked(release.table.name, check, (_unjudged(Group((), (), 0), str(error)),))
    if not groups:
        return Checked(
            release.table.name, check, (_unjudged(Group((), (), 0), "the table has no records to group"),)
        )
    findings = [
        judged(check, figure(release, check, group), policy, release.table.name, baseline) for group in groups
    ]
    return Checked(release.table.name, check, tuple(findings))


def figure(release: Answers, check: Check, group: Group) -> Figure:
    """Measure a check on a group; a refusal is its status."""
    try:
        rows = release.answer(check, group)
    except ReidError as error:
        return Figure(group, None, None, None, str(error))
    return of_rows(check, rows, group)


def of_rows(check: Check, rows: Sequence[Mapping[str, Any]], group: Group) -> Figure:
    """Take the check's figure from the function's answer."""
    measure = check.measure
    row = measure.pick(rows, check.parameters)
    ends = [_number(row[f"{measure.column}_{end}"]) if measure.interval else None for end in ("low", "high")]
    return Figure(group, _number(row[measure.column]), ends[0], ends[1], row.get("status") or OK)


def judged(check: Check, found: Figure, policy: Policy, table: str, baseline: Baseline | None) -> Finding:
    """Hold a figure to the limit, then to the baseline."""
    value = to_judge(check, found)
    if value is None:
        return _unjudged(found.group, found.status if found.status != OK else NO_ANSWER, found)
    if policy.cautions == "refuse" and found.status != OK:
        return _unjudged(found.group, found.status, found)
    before = (baseline or {}).get((table, *check.without_limit, names(found.group)))
    verdict, why = _verdict(check, value, before, compared=baseline is not None)
    return Finding(found, value, before, verdict, why)


def names(group: Group) -> tuple[str | None, ...]:
    """Give the values by which a group is told, as reports write them."""
    return tuple(None if value is None else str(value) for value in group.values)


def to_judge(check: Check, found: Figure) -> float | None:
    """Give the figure that is judged: the risky end of the interval, unless the check asks for the estimate.

    An estimate without an interval can break a limit, but meet none.
    """
    end = found.low if check.measure.at_least else found.high
    if check.judge_by == "estimate" or not check.measure.interval:
        return found.value
    if (
        end is None
        and found.value is not None
        and check.limit is not None
        and check.measure.worse(found.value, check.limit)
    ):
        return found.value
    return end


def _verdict(check: Check, value: float, before: float | None, *, compared: bool) -> tuple[str, str]:
    broken = check.limit is not None and check.measure.worse(value, check.limit)
    if check.no_worse and before is None:
        told = "the baseline has no such figure" if compared else "there is no baseline to compare with"
        return (FAIL, "beyond the limit") if broken else (NOT_JUDGED, told)
    if check.limit is not None and not broken and not check.no_worse:
        return PASS, ""
    if before is None:
        return FAIL, "beyond the limit"
    if check.measure.worse(value, before):
        return FAIL, "beyond the limit and worse than the baseline" if broken else "worse than the baseline"
    return (NO_WORSE, "beyond the limit, but no worse than the baseline") if broken else (PASS, "")


def _unjudged(group: Group, why: str, found: Figure | None = None) -> Finding:
    return Finding(found or Figure(group, None, None, None, why), None, None, NOT_JUDGED, why)


def _number(value: Any) -> float | None:  # noqa: ANN401 - a cell of an answer
    found: float | None = None if value is None or value != value else value  # noqa: PLR0124 - NaN is no answer
    return found
