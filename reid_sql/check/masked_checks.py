"""What a report shows of the checks: each figure, or the bound below which it lies, or that it is masked."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain
from typing import Final

from reid_sql.check.exact_figures import Figure, MeasuredTable, group_labels
from reid_sql.check.inference import By, Cell, groups_to_hide
from reid_sql.check.masked_columns import columns_page
from reid_sql.check.masked_figures import OF_ONE_CLASS, bound_of_figure, hides_figure
from reid_sql.check.masked_tables import MaskedClasses, mask_classes, table_page
from reid_sql.check.masking import Mask, Page, Sentence, round_above, settings
from reid_sql.check.policy_model import Check, Policy
from reid_sql.check.remarks import Count, codes_of_status, remark
from reid_sql.check.verdicts import WORST_FIRST, Baseline, CheckResult, Judgement
from reid_sql.models.classes.disclosure import OK

STATUS_MASKED_GROUP: Final = "nothing more is shown of a masked group"
# of a table, up to which a reader may know which classes a count sums
MAX_CLASSES_SUMMED: Final = 50
CAUTION_SMALL_GROUPS: Final = "of some groups of fewer records there are cautions, too"


@dataclass(frozen=True)
class Hidden:
    """What no report shows: by table and grouping, groups; by table, columns whose values are not counted."""

    groups: Mapping[tuple[str, By], AbstractSet[Cell]]
    columns: Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class MaskedReport:
    """The pages of the tables and of the checks, whose numbers a mask has seen."""

    tables: list[Page]
    checks: list[Page]


def mask_report(
    policy: Policy,
    tables: Sequence[MeasuredTable],
    judged: Sequence[Sequence[CheckResult]],
    baseline: Baseline | None,
) -> MaskedReport:
    """Mask what was measured and judged.

    The sizes of groups are masked first, over all checks together, as one grouping could reveal what another
    hides; then the class sizes of each table, with the rounded figures that may stand next to them.
    """
    mask = Mask(policy.mask_below)
    masked = [
        mask_classes(measured, results, mask)
        for measured, results in zip(tables, judged, strict=True)
    ]
    closed = {
        measured.table.name: _close_columns(measured, classes)
        for measured, classes in zip(tables, masked, strict=True)
    }
    hidden = _find_hidden_groups([each for results in judged for each in results], mask, closed)
    pages, checks = [], []
    for measured, results, classes in zip(tables, judged, masked, strict=True):
        described: Page = {"released_columns": columns_page(measured, classes, mask)}
        pages.append(table_page(measured, policy, classes) | described)
        checks += [
            _check_page(
                each, measured.records, mask, hidden, baseline, withheld=place in classes.withheld
            )
            for place, each in enumerate(results)
        ]
    return MaskedReport(pages, checks)


def _close_columns(measured: MeasuredTable, classes: MaskedClasses) -> frozenset[str]:
    """Return the table's quasi-identifiers if sizes of few classes are masked, in small letters.

    The records with a value of one of them are a sum of classes. A reader who is told it would subtract it,
    with the class sizes that are shown, from the total. Among many classes, nobody knows which it sums.
    """
    if (
        not classes.hidden
        or classes.counts is None
        or sum(classes.counts.classes) > MAX_CLASSES_SUMMED
    ):
        return frozenset()
    return frozenset(column.lower() for column in measured.table.quasi_identifiers)


def _find_hidden_groups(
    results: Sequence[CheckResult], mask: Mask, closed: Mapping[str, frozenset[str]]
) -> Hidden:
    """Return the groups whose size and figures are masked, and the columns whose values are not counted.

    `closed` are columns of each table that are not counted for another reason.
    """
    tables: dict[str, dict[By, dict[Cell, int]]] = {each.table: {} for each in results}
    for each in results:
        for judgement in each.findings if each.check.by else ():
            group = judgement.figure.group
            if group.values:
                tables[each.table].setdefault(each.check.by, {})[group_labels(group)] = (
                    group.records
                )
    groups = {
        (table, by): hidden
        for table, sizes in tables.items()
        for by, hidden in (groups_to_hide(sizes, mask.below) if sizes else {}).items()
    }
    columns = {
        table: closed.get(table, frozenset()) | _find_closed_columns(table, results, groups)
        for table in tables
    }
    return Hidden(groups, columns)


def _find_closed_columns(
    table: str, results: Sequence[CheckResult], groups: Mapping[tuple[str, By], AbstractSet[Cell]]
) -> frozenset[str]:
    """Return the columns of a table of whose values no sentence may give the number, in small letters.

    The records with some values of a column are a sum of groups that it makes, alone or with others: where
    the size of one is masked, it would be the rest of the sum. The same are the classes by the column alone
    where one is few records.
    """
    masked = [by for (owner, by), hidden in groups.items() if owner == table and hidden]
    alone = [
        each.check.counted
        for each in results
        if each.table == table
        and len(each.check.counted) == 1
        and any(finding.figure.small for finding in each.findings)
    ]
    return frozenset(map(str.lower, chain(*masked, *alone)))


def _check_page(
    each: CheckResult,
    records: int,
    mask: Mask,
    hidden: Hidden,
    baseline: Baseline | None,
    *,
    withheld: bool,
) -> Page:
    """Return the result of a check, group by group, small counts masked; groups without a name come last.

    `withheld` is whether even a rounded figure would reveal a small count.
    """
    labels = hidden.groups.get((each.table, each.check.by), set())
    named: list[Page] = []
    small: list[Page] = []
    for judgement in each.findings:
        group = judgement.figure.group
        masked = group_labels(group) in labels
        size = group.records if each.check.by else records
        page = _group_page(each.check, judgement, size, mask, masked=masked, withheld=withheld)
        (small if masked and mask.hides(size) else named).append(page)
    small.sort(key=lambda page: (WORST_FIRST.index(str(page["verdict"])), str(page["why"])))
    cautions = _collect_cautions(each, records, mask, hidden, baseline)
    return {
        "table": each.table,
        **describe_question(each.check),
        "verdict": each.verdict,
        "cautions": list(dict.fromkeys(words for words, *_ in cautions)),
        "caution_codes": list(dict.fromkeys(code for _, codes, _ in cautions for code in codes)),
        "remedies": {words: remedy for words, _, remedy in cautions if remedy},
        "groups": [*named, *small[:1]],  # the worst for all: their number would reveal their sizes
    }


def describe_question(check: Check) -> Page:
    """Return what a check asks."""
    return {
        "measure": check.measure.name,
        "words": check.measure.words,
        "function": check.measure.function,
        "quasi_identifiers": list(check.quasi_identifiers),
        "sensitive": check.sensitive,
        "by": list(check.by),
        "parameters": _parameters(check),
        "bound": check.measure.bound,
        "limit": settings(check.limit),
        "no_worse": check.no_worse,
        "judge_by": check.judge_by if check.measure.interval else None,
        "recipient": check.recipient,
    }


def _parameters(check: Check) -> Page:
    """Return the parameters; of a document its name and hash."""
    page: Page = {}
    for name, value in check.parameters.items():
        if check.measure.parameters[name].domain.form == "document":
            sha256 = hashlib.sha256(value.encode()).hexdigest()
            page[name] = {"name": json.loads(value).get("name", ""), "sha256": sha256}
        else:
            page[name] = settings(value)
    return page


def _group_page(
    check: Check,
    judgement: Judgement,
    records: int,
    mask: Mask,
    *,
    masked: bool,
    withheld: bool = False,
) -> Page:
    """Turn the figure of a group into one that is shown or masked; of a masked group, show the verdict.

    Where a figure counts few records, it is masked, and a bound below which it lies is shown.
    """
    figure = judgement.figure
    bound = None if masked else bound_of_figure(check, judgement, records, mask)
    masked = masked or _masks_figure(check, figure, mask, bound, withheld=withheld)
    bound = None if masked else bound
    exact = not masked and bound is None
    # its values could name its people
    unnamed = not figure.group.values or (masked and mask.hides(records))
    status, why = (
        mask.status(words, small=figure.small) for words in (figure.status, judgement.why)
    )
    hides_status, hides_reason = figure.status != OK, figure.value is None and judgement.why
    return {
        "group": None if unnamed else dict(zip(check.by, group_labels(figure.group), strict=True)),
        "records": mask.show(records, when=not masked),
        "masked": masked,
        "value": mask.show(figure.value, when=exact),
        "low": mask.show(figure.low, when=exact),
        "high": mask.show(figure.high, when=exact),
        "judged": mask.show(judgement.judged, when=exact),
        "below": mask.show(bound),
        "baseline": mask.show(judgement.baseline.value if judgement.baseline else None, when=exact),
        "verdict": judgement.verdict,
        "status": STATUS_MASKED_GROUP if masked and hides_status else status,
        "why": STATUS_MASKED_GROUP if masked and hides_reason else why,
        "method": figure.method,
        "sentence": figure.sentence if exact and not figure.small else None,
    }


def _masks_figure(
    check: Check, figure: Figure, mask: Mask, bound: float | None, *, withheld: bool
) -> bool:
    """Whether neither a figure nor its bound is shown.

    Its columns' declaration decides first: what nobody declared is not shown. A withheld figure is masked if
    it is a bound, as the audit found that a bound reveals too much, or if it is exact but counts records of
    small classes. 0 counts nobody, and k is what the policy asks for.
    """
    if hides_figure(check, figure, mask):
        return True
    counts = figure.small and figure.value and check.measure.kind not in OF_ONE_CLASS
    return withheld and bool(bound is not None or counts)


def _collect_cautions(
    each: CheckResult, records: int, mask: Mask, hidden: Hidden, baseline: Baseline | None
) -> list[tuple[str, list[str], str]]:
    """Return the cautions of a check without small counts, each with its codes and its remedy.

    Of a group that is too small to be named, a status or remark could describe its few people.
    """
    closed = hidden.columns.get(each.table, frozenset())
    remarks = [*each.cautions]
    cautions = [
        (str(words), ["records_dropped"], "") for words in _dropped_caution(each, records, mask)
    ]
    for judgement in each.findings:
        figure = judgement.figure
        has_status = figure.status != OK and figure.value is not None
        if figure.group.values and mask.hides(figure.group.records):
            cautions += [(CAUTION_SMALL_GROUPS, ["small_groups"], "")] * has_status
        else:
            remarks += figure.remarks
            if has_status:
                words = str(mask.status(figure.status, small=figure.small))
                cautions.append((words, codes_of_status(figure.status), ""))
        if judgement.baseline is not None and baseline and baseline.caution:
            cautions.append((baseline.caution, ["other_policy"], ""))
    of_table = [(str(mask.sentence(each, closed)), [each.code], each.remedy) for each in remarks]
    return [*of_table, *cautions]


def _dropped_caution(each: CheckResult, records: int, mask: Mask) -> Iterator[Sentence]:
    """Yield how many records lack a value and were not measured.

    Their number, and that of the others, is shown where neither is small. It is rounded where a second count
    of dropped records, of another check, could be subtracted from it.
    """
    dropped = sum(judgement.figure.dropped for judgement in each.findings)
    if not dropped:
        return
    whole = Count(
        records, f"records lack a value of {', '.join(each.check.counted)} and were not measured"
    )
    if mask.hides(records - dropped):
        number: tuple[str | Count, ...] = (f"all but fewer than {mask.below:,} of ",)
    elif mask.hides(dropped) or all(judgement.figure.shows_dropped for judgement in each.findings):
        number = (Count(dropped, "of"), " ")
    else:
        bound = round(round_above(dropped / records, records, mask.below) * records)
        number = (f"fewer than {bound:,} of ",)
    yield mask.sentence(remark(*number, whole))
