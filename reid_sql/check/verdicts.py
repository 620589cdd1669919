"""The figure of each group of a check, its verdict, and the cautions that a report prints with it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from reid_sql.check.cautions import check_cautions, identifier_cautions, table_cautions
from reid_sql.check.masking import (
    Mask,
    can_show_dropped,
    reveals_small_cells,
    reveals_small_classes,
    round_above,
)
from reid_sql.check.policy_model import Check, Policy
from reid_sql.check.release import INTERRUPTIONS, WHOLE, Group, Release
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.population.classical_estimators import COVERED
from reid_sql.parameters import plain
from reid_sql.runner import sentence

PASS: Final = "pass"  # noqa: S105 - a verdict, no secret
FAIL: Final = "fail"
NO_WORSE: Final = "no worse"  # breaks the limit, but not more than the baseline did
NOT_JUDGED: Final = "not judged"
WORST_FIRST: Final = (FAIL, NOT_JUDGED, NO_WORSE, PASS)
EXIT_CODES: Final = {PASS: 0, NO_WORSE: 0, FAIL: 1, NOT_JUDGED: 2}
REASON_CAUTION: Final = "the policy refuses figures with a caution"
CAUTION_BLANK_RECORDS: Final = (
    "match every person, so that their own risk is the lowest, and no other record matches them"
)
CAUTION_POPULATION_OF_GROUP: Final = (
    "{} people are taken for the population of each group; "
    "where a group's has fewer, its risk is higher than its figure"
)
REASON_ALIKE_GROUPS: Final = (
    "groups by {} must differ as reports write them, got two that are written alike; "
    "cast the column to text in a view"
)
REASON_NO_ANSWER: Final = "there is no answer"


@dataclass(frozen=True)
class Figure:
    """What was measured of a group: the figure, the ends of its interval, if any, and its status."""

    group: Group
    value: float | None
    low: float | None
    high: float | None
    status: str
    dropped: int = 0  # records that lack a value, and were not measured
    shows_dropped: bool = True  # whether a report may show how many
    small: bool = (
        False  # whether there are class sizes of so few records that an exact figure may reveal them
    )
    remarks: tuple[str, ...] = ()  # what was measured otherwise than asked, or may be meant otherwise
    method: str | None = None  # of an estimate, where its function says it
    sentence: str | None = None  # to quote, where the function gives one


@dataclass(frozen=True)
class BaselineFigure:
    """A figure of an earlier report; None is masked, and only known to be above 0."""

    value: float | None
    same: bool = False  # whether it was measured on the very same file, so that it is the same figure


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
    cautions: tuple[str, ...] = ()  # on the table and on what is asked, whatever the figures
    withheld: bool = False  # whether even a rounded figure would reveal a small count

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

    def figure(self, key: tuple[Any, ...]) -> BaselineFigure | None:
        """Give the figure of what was measured, where there is one."""
        return self.figures.get(key)


def worst_verdict(verdicts: Sequence[str]) -> str:
    """Give the verdict that decides among some."""
    return min(verdicts, key=WORST_FIRST.index)


def judge_check(release: Release, check: Check, policy: Policy, baseline: Baseline | None) -> CheckResult:
    """Measure and judge a check, group by group. What cannot be measured is not judged, and never a pass."""
    table = release.table.name
    try:
        groups = release.groups(check.by)
        cautions = tuple(dict.fromkeys([*table_cautions(release), *check_cautions(release, check)]))
    except INTERRUPTIONS:
        raise
    except release.errors as error:
        return CheckResult(table, check, (_not_judged(WHOLE, sentence(error)),))
    if not groups:
        why = "the table has no records to group"
        return CheckResult(table, check, (_not_judged(WHOLE, why),), cautions)
    if len({group_labels(group) for group in groups}) < len(groups):
        why = REASON_ALIKE_GROUPS.format(", ".join(check.by))
        return CheckResult(table, check, (_not_judged(WHOLE, why),), cautions)
    mask, refused = Mask(policy.mask_below), policy.cautions == "refuse" and bool(cautions)
    figures = [measure_figure(release, check, group, mask) for group in groups]
    findings = [
        _not_judged(figure.group, _reason(figure), figure)
        if refused
        else judge_figure(check, figure, policy, table, baseline)
        for figure in figures
    ]
    return CheckResult(table, check, tuple(findings), cautions)


def _reason(outcome: Figure) -> str:
    """Return why a figure with a caution is not judged."""
    return outcome.status if outcome.status != OK else REASON_CAUTION


def leave_unjudged(table: str, check: Check, why: str) -> CheckResult:
    """Give a check of a table that cannot be measured."""
    return CheckResult(table, check, (_not_judged(WHOLE, why),))


def measure_figure(release: Release, check: Check, group: Group, mask: Mask) -> Figure:
    """Measure a check on a group; a refusal is its status."""
    try:
        about = _count_around(release, check, group, mask)
        rows = release.answer(check, group)
        outcome = read_figure(check, rows, group)
        about["small"] |= reveals_small_cells(release, check, rows, outcome.value, mask.below)
        return replace(outcome, **about, remarks=(*outcome.remarks, *release.hints(check.counted)))
    except INTERRUPTIONS:
        raise
    except release.errors as error:
        return Figure(group, None, None, None, sentence(error))


def _count_around(release: Release, check: Check, group: Group, mask: Mask) -> dict[str, Any]:
    """Count what is shown, or masked, next to a figure."""
    return {
        "dropped": release.dropped(check, group),
        "shows_dropped": can_show_dropped(release, check, mask.below),
        "small": reveals_small_classes(release, check, group, mask.below),
    }


def count_ahead(release: Release, check: Check, mask: Mask) -> None:
    """Count what a check needs besides its answer; what cannot be counted is refused when it is judged."""
    try:
        table_cautions(release)
        identifier_cautions(release)
        release.hints(check.counted)
        for group in release.groups(check.by):
            _count_around(release, check, group, mask)
    except INTERRUPTIONS:
        raise
    except release.errors:
        return


def withhold_figures(each: CheckResult, why: str) -> CheckResult:
    """Give the check without its figures, as they are not to be trusted."""
    return replace(each, findings=tuple(_not_judged(finding.figure.group, why) for finding in each.findings))


def read_figure(check: Check, rows: Sequence[Mapping[str, Any]], group: Group) -> Figure:
    """Take the check's figure from the function's answer."""
    measure = check.measure
    row = measure.pick(rows, check.parameters)
    status = row.get("status") or OK
    covers = measure.interval and COVERED not in status  # an interval that covers too seldom decides nothing
    low, high = (_number(row[f"{measure.column}_{end}"]) if covers else None for end in ("low", "high"))
    return Figure(
        group,
        _number(row[measure.column]),
        low,
        high,
        status,
        remarks=_remarks(check, row),
        method=row.get("method"),
        sentence=row.get("sentence"),
    )


def _remarks(check: Check, row: Mapping[str, Any]) -> tuple[str, ...]:
    """Say where records are blank, fewer choices measured than asked for, or a population not the group's."""
    if blank := row.get("blank_records"):
        number = f"{blank} record{'' if blank == 1 else 's'}"
        return (f"{number} without any value of {', '.join(check.counted)} {CAUTION_BLANK_RECORDS}",)
    if check.by and "population" in check.parameters:
        return (CAUTION_POPULATION_OF_GROUP.format(plain(check.parameters["population"])),)
    asked, measured = check.parameters.get("sample"), row.get("quasi_identifiers")
    if not isinstance(asked, int | float) or not asked or measured is None or measured == asked:
        return ()
    return (f"a sample of {int(asked):,} choices of columns was asked for, {measured:,} were measured",)


def has_caveat(outcome: Figure) -> bool:
    """Whether there is a caveat on a figure."""
    return outcome.status != OK or outcome.dropped > 0 or bool(outcome.remarks)


def judge_figure(
    check: Check, outcome: Figure, policy: Policy, table: str, baseline: Baseline | None
) -> Judgement:
    """Hold a figure to the limit, then to the baseline."""
    value = figure_to_judge(check, outcome)
    if value is None:
        return _not_judged(
            outcome.group, outcome.status if outcome.status != OK else REASON_NO_ANSWER, outcome
        )
    if policy.cautions == "refuse" and has_caveat(outcome):
        return _not_judged(outcome.group, _reason(outcome), outcome)
    before = baseline.figure((table, *check.without_limit, group_labels(outcome.group))) if baseline else None
    verdict, why = _verdict(check, value, before, baseline)
    if policy.cautions == "refuse" and before is not None and baseline and baseline.caution:
        return _not_judged(outcome.group, baseline.caution, outcome)
    return Judgement(outcome, value, before, verdict, why)


def group_labels(group: Group) -> tuple[str | None, ...]:
    """Give the values that name a group, as reports write them."""
    return tuple(None if value is None else str(value) for value in group.values)


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
    check: Check, value: float, before: BaselineFigure | None, baseline: Baseline | None
) -> tuple[str, str]:
    broken = check.limit is not None and check.measure.worse(value, check.limit)
    if before is None:
        reason = "the baseline has no such figure" if baseline else "there is no baseline to compare with"
        if check.no_worse and not broken:
            return NOT_JUDGED, reason
        return (FAIL, "beyond the limit") if broken else (PASS, "")
    if check.limit is not None and not broken and not check.no_worse:
        return PASS, ""
    if before.value is None and value != 0 and not before.same:
        reason = "the baseline masks the figure, so that a rise would not be seen"
        return (FAIL, f"beyond the limit, and {reason}") if broken else (NOT_JUDGED, reason)
    if before.value is not None and check.measure.worse(value, before.value):
        return FAIL, "beyond the limit and worse than the baseline" if broken else "worse than the baseline"
    return (NO_WORSE, "beyond the limit, but no worse than the baseline") if broken else (PASS, "")


def _not_judged(group: Group, why: str, outcome: Figure | None = None) -> Judgement:
    return Judgement(outcome or Figure(group, None, None, None, why), None, None, NOT_JUDGED, why)


def _number(value: Any) -> float | None:  # noqa: ANN401 - a cell of an answer
    finite: float | None = None if value is None or value != value else value  # noqa: PLR0124 - NaN is none
    return finite


CAUTION_SMALL_GROUPS: Final = "of some groups of fewer records there are cautions, too"


def collect_cautions(each: CheckResult, records: int, mask: Mask, baseline: Baseline | None) -> list[str]:
    """Return the cautions of a check, each once, without small counts."""
    cautions = [*(mask.text(words) for words in each.cautions), *_dropped_caution(each, records, mask)]
    for judgement in each.findings:
        figure = judgement.figure
        status = [figure.status] if figure.status != OK and figure.value is not None else []
        if figure.group.values and mask.hides(figure.group.records):
            cautions += [CAUTION_SMALL_GROUPS] * bool(status)
        else:
            cautions += [mask.text(sentence) for sentence in (*status, *figure.remarks)]
        if judgement.baseline is not None and baseline and baseline.caution:
            cautions.append(baseline.caution)
    return list(dict.fromkeys(cautions))


def _dropped_caution(each: CheckResult, records: int, mask: Mask) -> Iterator[str]:
    """Return how many records lack a value and were not measured."""
    dropped = sum(judgement.figure.dropped for judgement in each.findings)
    if not dropped:
        return
    if mask.hides(records - dropped):
        number = f"all but fewer than {mask.below}"
    elif mask.hides(dropped):
        number = f"fewer than {mask.below}"
    elif all(judgement.figure.shows_dropped for judgement in each.findings):
        number = f"{dropped:,}"
    else:
        number = f"fewer than {round(round_above(dropped / records, records, mask.below) * records):,}"
    listed = ", ".join(each.check.counted)
    yield f"{number} of {records:,} records lack a value of {listed} and were not measured"
