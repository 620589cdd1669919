"""The verdict on each figure that was measured: against the limit, then against the baseline."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from reid_sql.check.exact_figures import (
    WHOLE,
    Figure,
    Group,
    MeasuredCheck,
    MeasuredTable,
    group_labels,
)
from reid_sql.check.policy_model import Check, Policy
from reid_sql.check.remarks import INFORMATIVE_CODES, Remark, codes_of_status
from reid_sql.models.classes.disclosure import OK

PASS: Final = "pass"  # noqa: S105 - a verdict, no secret
FAIL: Final = "fail"
NO_WORSE: Final = "no worse"  # breaks the limit, but not more than the baseline did
NOT_JUDGED: Final = "not judged"
WORST_FIRST: Final = (FAIL, NOT_JUDGED, NO_WORSE, PASS)
EXIT_CODES: Final = {PASS: 0, NO_WORSE: 0, FAIL: 1, NOT_JUDGED: 2}
REASON_CAUTION: Final = "the policy refuses figures with a caution"
NO_BASELINE: Final = "there is no baseline to compare with"
NO_SUCH_FIGURE: Final = "the baseline has no such figure"
BEYOND: Final = "beyond the limit"
WORSE: Final = "worse than the baseline"
REASON_MASKED: Final = "the baseline masks the figure, so that a rise would not be seen"
REASON_NO_ANSWER: Final = "there is no answer"


@dataclass(frozen=True)
class BaselineFigure:
    """A figure of an earlier report; None is masked, and only known to be above 0."""

    value: float | None
    # whether it was measured on the very same file, so that it is the same figure
    same: bool = False


@dataclass(frozen=True)
class Judgement:
    """A figure, the one that is judged, that of the baseline, the verdict and why."""

    figure: Figure
    judged: float | None
    baseline: BaselineFigure | None
    verdict: str
    why: str


@dataclass(frozen=True)
class CheckResult:
    """A check with a finding for each group; its verdict is the worst of theirs."""

    table: str
    check: Check
    findings: tuple[Judgement, ...]
    cautions: tuple[Remark, ...] = ()  # on the table and on what is asked, whatever the figures

    @property
    def verdict(self) -> str:
        """The worst verdict of the groups."""
        return worst_verdict([finding.verdict for finding in self.findings])


@dataclass(frozen=True)
class Baseline:
    """An earlier report: its figures by what was measured, its hash, and its caution."""

    figures: Mapping[tuple[Any, ...], BaselineFigure]
    sha256: str
    caution: str = ""
    accepted_by: str | None = None  # who accepts figures that failed there
    # Why a check's figures are left out, by table and check without its limit
    left_out: Mapping[tuple[Any, ...], str] = field(default_factory=dict)

    def figure(self, key: tuple[Any, ...]) -> BaselineFigure | None:
        """Give the figure of what was measured, where there is one."""
        return self.figures.get(key)

    def reason(self, key: tuple[Any, ...]) -> str:
        """Say why there is no figure of a check."""
        return self.left_out.get(key, NO_SUCH_FIGURE)


def worst_verdict(verdicts: Sequence[str]) -> str:
    """Give the verdict that decides among some."""
    return min(verdicts, key=WORST_FIRST.index)


def judge_tables(
    policy: Policy, tables: Sequence[MeasuredTable], baseline: Baseline | None
) -> list[list[CheckResult]]:
    """Judge the checks of each table; of one that changed while it was measured, none."""
    judged = [[judge_check(each, policy, baseline) for each in table.checks] for table in tables]
    return [
        [withhold_figures(each, table.changed) for each in results] if table.changed else results
        for table, results in zip(tables, judged, strict=True)
    ]


def judge_check(measured: MeasuredCheck, policy: Policy, baseline: Baseline | None) -> CheckResult:
    """Judge a check, group by group. What could not be measured is not judged, and never a pass."""
    table, check, cautions = measured.table, measured.check, measured.cautions
    if measured.refusal:
        return CheckResult(table, check, (_not_judged(WHOLE, measured.refusal),), cautions)
    refused = policy.cautions == "refuse" and any(
        each.code not in INFORMATIVE_CODES.union(policy.accept) for each in cautions
    )
    findings = [
        _not_judged(figure.group, _reason(figure), figure)
        if refused
        else judge_figure(check, figure, policy, table, baseline)
        for figure in measured.figures
    ]
    return CheckResult(table, check, tuple(findings), cautions)


def _reason(outcome: Figure) -> str:
    """Return why a figure with a caution is not judged."""
    return outcome.status if outcome.status != OK else REASON_CAUTION


def withhold_figures(each: CheckResult, why: str) -> CheckResult:
    """Give the check without its figures, as they are not to be trusted."""
    return replace(
        each, findings=tuple(_not_judged(finding.figure.group, why) for finding in each.findings)
    )


def has_caveat(outcome: Figure, accepted: Collection[str] = ()) -> bool:
    """Whether there is a caveat on a figure that needs a remedy, and that nobody accepts."""
    codes = {*codes_of_status(outcome.status), *(each.code for each in outcome.remarks)}
    codes |= {"records_dropped"} if outcome.dropped > 0 else set()
    return bool(codes - {OK} - INFORMATIVE_CODES - {*accepted})


def judge_figure(
    check: Check, outcome: Figure, policy: Policy, table: str, baseline: Baseline | None
) -> Judgement:
    """Hold a figure to the limit, then to the baseline."""
    value = figure_to_judge(check, outcome)
    if value is None:
        return _not_judged(
            outcome.group, outcome.status if outcome.status != OK else REASON_NO_ANSWER, outcome
        )
    if policy.cautions == "refuse" and has_caveat(outcome, policy.accept):
        return _not_judged(outcome.group, _reason(outcome), outcome)
    before = (
        baseline.figure((table, *check.without_limit, group_labels(outcome.group)))
        if baseline
        else None
    )
    missing = baseline.reason((table, *check.without_limit)) if baseline else NO_BASELINE
    verdict, why = _verdict(check, value, before, missing)
    refuses = policy.cautions == "refuse" and "other_policy" not in policy.accept
    if refuses and before is not None and baseline and baseline.caution:
        return _not_judged(outcome.group, baseline.caution, outcome)
    return Judgement(outcome, value, before, verdict, why)


def figure_to_judge(check: Check, outcome: Figure) -> float | None:
    """Give the figure that is judged: the risky end of the interval, unless the check asks for the estimate.

    An estimate without an interval can break a limit, but meet none.
    """
    end = outcome.low if check.measure.at_least else outcome.high
    if check.judge_by == "estimate" or not check.measure.interval:
        return outcome.value
    if (
        end is None
        and outcome.value is not None
        and check.limit is not None
        and check.measure.worse(outcome.value, check.limit)
    ):
        return outcome.value
    return end


def _verdict(
    check: Check, value: float, before: BaselineFigure | None, missing: str
) -> tuple[str, str]:
    """Return the verdict and why; `missing` is the reason why the baseline has no figure."""
    broken = check.limit is not None and check.measure.worse(value, check.limit)
    if not broken and check.limit is not None and not check.no_worse:
        return PASS, ""
    verdict, why = _compare_with_baseline(check, value, before, missing)
    if not broken:
        return verdict, why
    if verdict == PASS:
        return NO_WORSE, f"{BEYOND}, but no {WORSE}"
    if verdict == FAIL:
        return FAIL, f"{BEYOND} and {why}"
    return FAIL, BEYOND if why in (NO_BASELINE, NO_SUCH_FIGURE) else f"{BEYOND}, and {why}"


def _compare_with_baseline(
    check: Check, value: float, before: BaselineFigure | None, missing: str
) -> tuple[str, str]:
    """Return the verdict by the baseline alone: whether the figure is worse than it was, and why."""
    if before is None:
        return NOT_JUDGED, missing
    if before.value is None:
        return (PASS, "") if value == 0 or before.same else (NOT_JUDGED, REASON_MASKED)
    return (FAIL, WORSE) if check.measure.worse(value, before.value) else (PASS, "")


def _not_judged(group: Group, why: str, outcome: Figure | None = None) -> Judgement:
    return Judgement(outcome or Figure(group, None, None, None, why), None, None, NOT_JUDGED, why)
