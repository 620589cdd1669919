"""The sentences of a report, the same on the terminal, in JUnit and in HTML."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from typing import Final

from reid_sql.check.catalogue import MEASURES
from reid_sql.check.masking import ReportPage, refuse_unmasked
from reid_sql.check.remarks import INFORMATIVE_CODES
from reid_sql.check.verdicts import REASON_CAUTION, WORST_FIRST, worst_verdict
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.population_risk.answer import MIN_PERCENT
from reid_sql.parameters.document import toml_texts

Check = ReportPage
MAX_EXACT_NUMBER: Final = 1e15
MAX_DIGITS: Final = 17  # those of a double
RELATIVE_TOLERANCE: Final = 1e-9  # up to which a measure takes two figures for the same
WORK_LIMITS: Final = ("max_sets",)  # parameters that bound the work, not the figure
VERDICTS: Final = {
    "pass": "PASS: every check is within its limit.",
    "no worse": "PASS: some checks are beyond their limit, but none is worse than in the baseline.",
    "fail": "FAIL: the policy is not met.",
    "not judged": "NOT JUDGED, which is not a pass:",
}
CONTROLLER: Final = "the controller"  # of the checks that no recipient has
MEASURED: Final = "measured, but not judged because of a caution or the baseline"
UNMEASURED: Final = "could not be measured"


def checks_of(page: ReportPage, table: str) -> list[Check]:
    """Return the checks of a table."""
    return [check for check in page["checks"] if check["table"] == table]


def deciding_group(check: Check) -> ReportPage:
    """Give the group that decides: of the worst verdict, the one of the highest risk."""
    is_lower_worse = check["bound"] == "at_least"

    def risk(group: ReportPage) -> float:
        figure = group["below"] if group["judged"] is None else group["judged"]
        return -(figure or 0.0) if is_lower_worse else figure or 0.0

    candidates = [group for group in check["groups"] if group["verdict"] == check["verdict"]]
    deciding: ReportPage = max(candidates, key=risk)
    return deciding


def describe_check(check: Check) -> str:
    """Name the measure with the parameters that make it, and the groups it is judged on."""
    parameters = [
        f"{name} {value['name'] if isinstance(value, Mapping) else format_number(value)}"
        for name, value in check["parameters"].items()
        if _has_effect(check, name, value)
    ]
    by = f" by {', '.join(check['by'])}" if check["by"] else ""
    sensitive = f" of {check['sensitive']}" if check["sensitive"] else ""
    estimate = ", by its estimate" if check["judge_by"] == "estimate" else ""
    listed = f" ({', '.join(parameters)})" if parameters else ""
    whom = f" for {check['recipient']}" if check["recipient"] else ""
    return f"{check['measure']}{sensitive}{listed}{by}{estimate}{whom}"


def describe_check_and_columns(check: Check) -> str:
    """Name the check, and the columns by which it distinguishes people."""
    return " ".join(filter(None, (describe_check(check), describe_columns(check))))


def counted_noun(table: ReportPage) -> str:
    """Name what the figures of a table count."""
    return "records" if table["entity"] is None else "people"


def describe_count(table: ReportPage) -> str:
    """Say how many records, or people, a table has, if it could be read."""
    if table["records"] is None:
        return f"{counted_noun(table)} not counted"
    return f"{table['records']:,} {counted_noun(table)}"


def describe_released_columns(table: ReportPage) -> list[str]:
    """Name the columns that no check measures, and those that the release lacks; earlier reports do not."""
    columns = table.get("released_columns")
    return list(columns["sentences"]) if columns else []


def describe_columns(check: Check) -> str:
    """Name the columns by which the check distinguishes people."""
    return f"on {', '.join(check['quasi_identifiers'])}" if check["quasi_identifiers"] else ""


def _has_effect(check: Check, name: str, value: object) -> bool:
    """Whether the figure hangs on the parameter."""
    if value in (None, []) or name in WORK_LIMITS or (name == "sample" and value == 0):
        return False
    return name != "c" or check["parameters"].get("variant") == "recursive"


def format_number(value: object) -> str:
    """Write a number with all its digits, as a policy may have it."""
    if isinstance(value, list | tuple):
        return " and ".join(format_number(each) for each in value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if float(value).is_integer() and abs(value) < MAX_EXACT_NUMBER:
        return f"{value:,.0f}"
    return repr(float(value))


def format_figure(group: ReportPage, check: Check | None = None) -> str:
    """Write a figure with its interval, or below which it lies, or that there is none.

    It is never written so that it seems to lie on the other side of the limit.
    """
    refuse_unmasked(group)
    bound = check["limit"] if check else None
    is_share = check is not None and _is_in_percent(check)
    unit = " %" if is_share else ""

    def written(value: float) -> str:
        return (
            format_percent_near_limit(value, bound) if is_share else format_near_limit(value, bound)
        )

    if group["masked"]:
        return "masked"
    if group["below"] is not None:
        return f"below {written(group['below'])}{unit}"
    if group["value"] is None:
        return "no answer"
    ends = (
        f" ({written(group['low'])} to {written(group['high'])}{unit})"
        if group["low"] is not None
        else ""
    )
    return f"{written(group['value'])}{unit}{ends}"


def _is_in_percent(check: Check) -> bool:
    """Whether the measure is a share; the distance of t-closeness is none."""
    measure = MEASURES[check["measure"]]
    return measure.unit == "share" and measure.relative is None


def format_near_limit(value: float | None, bound: float | None) -> str:
    """Write a number with four digits, or with as many as show on which side of the limit it lies.

    >>> format_near_limit(0.10000001, 0.1), format_near_limit(0.123456, 0.1), format_near_limit(0.1, 0.1)
    ('0.10000001', '0.1235', '0.1')
    """
    if value is None or isinstance(value, int):
        return "NULL" if value is None else format_number(value)
    for digits in range(4, 18):
        text = f"{value:.{digits}g}"
        if bound is None or _side_of_limit(float(text), bound) == _side_of_limit(value, bound):
            return text
    return repr(value)


def format_percent_near_limit(share: float, bound: float | None) -> str:
    """Write a share in percent, with as many digits as show on which side of the limit it lies.

    It has two digits of the distance to the nearer of 0 and 100 otherwise.

    >>> [format_percent_near_limit(share, 0.05) for share in (0.853, 0.0501, 0.05, 1.0, -0.0031, 1e-9)]
    ['85', '5.01', '5', '100', '-0.31', 'less than 0.001']
    """
    points = 100 * share
    if 0 < points < MIN_PERCENT and (bound is None or 100 * bound > MIN_PERCENT):
        return f"less than {MIN_PERCENT}"
    gap = min(abs(points), abs(100 - points))  # an excess may be below 0
    digits = max(0, 1 - math.floor(math.log10(gap))) if gap > 0 else 0
    for more in range(MAX_DIGITS):
        text = f"{points:.{digits + more}f}"
        if bound is None or _side_of_limit(float(text) / 100, bound) == _side_of_limit(
            share, bound
        ):
            return text.rstrip("0").rstrip(".") if "." in text else text
    return repr(points)


def _side_of_limit(value: float, bound: float) -> int:
    """Whether a figure lies below the limit, on it but for rounding, or above, as a verdict takes it."""
    gap = value - bound
    return (
        0 if abs(gap) <= RELATIVE_TOLERANCE * max(abs(value), abs(bound)) else 1 if gap > 0 else -1
    )


def format_limit(check: Check) -> str:
    """Write the limit."""
    limit = check["limit"]
    if limit is not None and _is_in_percent(check):
        limit = f"{Decimal(repr(float(limit))).scaleb(2).normalize():f} %"
    bounds = [] if limit is None else [f"{check['bound'].replace('_', ' ')} {format_number(limit)}"]
    return ", ".join([*bounds, *(["no worse"] if check["no_worse"] else [])])


def count_verdicts(page: ReportPage) -> dict[str, int]:
    """Count the checks by verdict, worst first."""
    verdicts = [check["verdict"] for check in page["checks"]]
    return {verdict: verdicts.count(verdict) for verdict in WORST_FIRST}


def describe_verdict(page: ReportPage) -> tuple[str, str]:
    """Return the word of the verdict, and what it means; a figure that is not judged is not a missing one."""
    word, _, rest = VERDICTS[page["verdict"]].partition(":")
    open_ = [check for check in page["checks"] if check["verdict"] == "not judged"]
    if page["verdict"] == "not judged":
        measured = sum(_has_figure(deciding_group(check)) for check in open_)
        counts = {MEASURED: measured, UNMEASURED: len(open_) - measured}
        rest = " " + "; ".join(f"{count} {each}" for each, count in counts.items() if count) + "."
    whom = "; ".join(f"{name}: {verdict}" for name, verdict in verdicts_by_recipient(page).items())
    return word, f"{rest} For {whom}." if page["recipients"] else rest


def verdicts_by_recipient(page: ReportPage) -> dict[str, str]:
    """Return the worst verdict for the controller, where checks are its own, then for each recipient."""
    verdicts = [check["verdict"] for check in page["checks"] if check["recipient"] is None]
    controller = {CONTROLLER: worst_verdict(verdicts)} if verdicts else {}
    return controller | {each["name"]: each["verdict"] for each in page["recipients"]}


def _has_figure(group: ReportPage) -> bool:
    """Whether something was measured, be it shown, bounded or masked."""
    is_shown = group["value"] is not None or group["below"] is not None
    return is_shown or group["why"] == REASON_CAUTION


def describe_knowledge(recipient: ReportPage) -> str:
    """Say where a recipient has the release, under which controls, and what they may know."""
    columns = ", ".join(recipient["knows"]) or "the quasi-identifiers"
    rows = f", {recipient['rows']:,} rows of a person" if recipient["rows"] else ""
    linked = [f"may link with the {each} table" for each in recipient["links"]]
    where = [recipient["environment"], *recipient["controls"]]
    return "; ".join([*where, f"may know {columns}{rows}", *linked])


def summarize_verdicts(page: ReportPage) -> str:
    """Say the verdict and how many checks came out how."""
    verdicts = ", ".join(
        f"{count} {verdict}" for verdict, count in count_verdicts(page).items() if count
    )
    word, rest = describe_verdict(page)
    return f"{word}:{rest} {verdicts}."


def quotable_sentences(page: ReportPage) -> list[str]:
    """Give the sentences that may be quoted, each once, of the group that decides a check."""
    pairs = [(check["table"], deciding_group(check)) for check in page["checks"]]
    whose = [
        (table, group_label(group), group["sentence"])
        for table, group in pairs
        if group["sentence"]
    ]
    return list(
        dict.fromkeys(
            f"{', '.join(filter(None, (table, label)))}: {quote}" for table, label, quote in whose
        )
    )


def group_label(group: ReportPage) -> str:
    """Name a group by its values; nothing where it has none, or may not be named."""
    return ", ".join(
        f"{k} = {'NULL' if v is None else v}" for k, v in (group["group"] or {}).items()
    )


REMEDY_TABLE: Final = "Where a caution is right, write below [[tables]] of the policy:"
REMEDY_POLICY: Final = (
    "To judge these figures in spite of their cautions, write at the top of the policy:"
)


@dataclass(frozen=True)
class TableCautions:
    """What is doubtful about a table, and the lines of the policy that resolve it."""

    sentences: Sequence[str] = ()
    remedies: Sequence[str] = ()  # of the table
    accepted: str = ""  # of the policy

    @property
    def lines(self) -> dict[str, Sequence[str]]:
        """The lines to copy, by the words before them."""
        listed = {REMEDY_TABLE: self.remedies, REMEDY_POLICY: [self.accepted]}
        return {words: lines for words, lines in listed.items() if any(lines)}


def find_table_cautions(page: ReportPage, name: str) -> TableCautions:
    """Collect the cautions with a remedy, and those of several checks; a status stays next to its figure."""
    checks = checks_of(page, name)
    statuses = {group["status"] for check in checks for group in check["groups"]}
    counted = Counter(chain(*(check["cautions"] for check in checks)))
    remedies = dict(chain(*(check.get("remedies", {}).items() for check in checks)))
    shown = [
        each for each in counted if each in remedies or (counted[each] > 1 and each not in statuses)
    ]
    lines = dict.fromkeys(remedies[each] for each in shown if each in remedies)
    accepted = _line_that_accepts(checks) if page["policy"]["cautions"] == "refuse" else ""
    return TableCautions(shown, list(lines), accepted)


def cautions_of_figures(page: ReportPage, name: str) -> list[str]:
    """The cautions on single figures of a table, which `find_table_cautions` leaves beside these."""
    shown = find_table_cautions(page, name).sentences
    checks = checks_of(page, name)
    return [
        each
        for each in dict.fromkeys(caution for check in checks for caution in check["cautions"])
        if each not in shown
    ]


def _line_that_accepts(checks: Sequence[Check]) -> str:
    """Write the line that accepts the cautions of checks that are not judged; nothing if there are none."""
    refused = [check for check in checks if check["verdict"] == "not judged" and check["cautions"]]
    named = dict.fromkeys(code for check in refused for code in check.get("caution_codes", ()))
    codes = [code for code in named if code not in {"", OK, *INFORMATIVE_CODES}]
    return f"accept = {toml_texts(codes)}" if codes else ""


@dataclass(frozen=True)
class Explanation:
    """The group that decided a check, and the reason."""

    group: ReportPage
    words: str


def explain_verdict(check: Check, above: Collection[str] = ()) -> Explanation:
    """Return the group that decided, and why, where there is a reason; without the cautions shown `above`."""
    explanation = deciding_group(check)
    parts = []
    if check["by"]:
        alike = sum(group["verdict"] == check["verdict"] for group in check["groups"])
        label = group_label(explanation) or "a small group"
        parts.append(
            f"{alike:,} of {len(check['groups']):,} groups: {check['verdict']}; highest risk: {label}"
        )
    # A masked group shows no baseline.
    compared = explanation["baseline"] is not None or "baseline" in explanation["why"]
    words = explanation["why"] if check["verdict"] != "fail" or compared else ""
    shown = {explanation["why"], *above}
    cautions = [caution for caution in check["cautions"] if caution not in shown]
    return Explanation(explanation, "; ".join(filter(None, (*parts, words, *cautions))))
