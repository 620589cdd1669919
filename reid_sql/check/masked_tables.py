"""What a report shows of a table: class sizes, what is masked of them, quasi-identifiers, population risk."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from reid_sql.charts.risk_charts import EDGES
from reid_sql.check.exact_figures import MeasuredTable, Overview
from reid_sql.check.inference import ClassCounts, Statement, bins_to_hide
from reid_sql.check.masked_figures import OF_ONE_CLASS, bound_of_figure, ends_around
from reid_sql.check.masking import Bin, Mask, Node, Page, Setting, settings
from reid_sql.check.policy_model import Policy
from reid_sql.check.sources import ROLES
from reid_sql.check.verdicts import CheckResult
from reid_sql.models.classes.disclosure import Histogram, class_risk
from reid_sql.models.numerics.quantiles import percent
from reid_sql.parameters import ColumnNames, Row

BINS: Final[tuple[Bin, ...]] = tuple(
    (low, None if high is None else high - 1)
    for low, high in zip(EDGES, (*EDGES[1:], None), strict=True)
)
SLACK: Final = 1e-6  # of a count that a share gives
OF_UNIQUE: Final = ("unique_records", "uniqueness")
SHOWS_K: Final = ("k", "highest_risk")  # measures from which the size of the smallest class follows


@dataclass(frozen=True)
class MaskedClasses:
    """Records and classes by bins of the class size, the bins that are masked, and the checks withheld."""

    counts: ClassCounts | None = None
    hidden: frozenset[int] = frozenset()
    withheld: frozenset[int] = frozenset()  # places of checks whose rounded figures reveal more
    small: bool = False  # whether some class size, or those dropped, are few records

    def pages(self, mask: Mask) -> list[dict[str, Node]]:
        """Return the bins of a report; where some are masked, classes are too."""
        if self.counts is None:
            return []
        pages: list[dict[str, Node]] = []
        for place, (low, high) in enumerate(BINS):
            inside = self.counts.within((low, high))
            records, classes = (
                sum(each[at] for at in inside)
                for each in (self.counts.records, self.counts.classes)
            )
            shown = place not in self.hidden
            is_open = not self.counts.are_products or (records and low != high)
            pages.append(
                {
                    "from": Setting(low),
                    "to": settings(high),
                    "classes": mask.show(classes, when=shown and not (self.small and is_open)),
                    "records": mask.show(records, when=shown),
                }
            )
        return pages


def mask_classes(
    measured: MeasuredTable, judged: Sequence[CheckResult], mask: Mask
) -> MaskedClasses:
    """Return what is masked of a table's class sizes, next to the figures of checks on the same classes.

    A rounded figure is withheld unless the audit knows it. Where no class size is masked, one of those that
    compare a class with the table is shown: two of the same values could reveal the count of a rare one.
    """
    named, histogram = measured.table.quasi_identifiers, measured.classes
    all_places = frozenset(range(len(judged)))
    if measured.uncounted:  # there is no figure to withhold
        return MaskedClasses()
    if histogram is None or not len(histogram.class_size):
        return MaskedClasses(withheld=all_places)
    # Those that count the classes of the whole table, as its report does.
    places = [
        place
        for place, each in enumerate(judged)
        if not each.check.by and set(each.check.counted) == set(named)
    ]
    statements: list[Statement] = []
    owners: list[int] = []  # the check of each
    for place in places:
        stated = list(state_figures(judged[place], measured, mask))
        statements += stated
        owners += [place] * len(stated)
    # A check for k shows the size of the smallest class, which the policy wants. Where none does, the class
    # would follow from the total and the other bins: the audit then protects it as any other count.
    shows_k = any(judged[place].check.measure.name in SHOWS_K for place in places)
    k = int(histogram.class_size.min()) if shows_k else 0
    counts = count_parts(measured, histogram, statements, k)
    small = any(mask.hides(each) for each in (*counts.records, counts.dropped))
    # The audit has one total and one way to count classes. It knows neither the records that other checks
    # drop, nor those of masked groups, which are classes of the same records: then all bins are masked.
    missing = measured.table.nulls != "value" and (small or measured.few_gaps)
    if missing or any(_masks_groups(each, named, mask) for each in judged):
        return MaskedClasses(counts, frozenset(range(len(BINS))), all_places, small=True)
    hidden, left = bins_to_hide(counts, statements, mask.below)
    shown = {*owners} - {*owners[len(left) :]}
    shown |= set() if small else _first_of_values(judged)
    return MaskedClasses(counts, frozenset(hidden), all_places - shown, small)


def _first_of_values(judged: Sequence[CheckResult]) -> set[int]:
    """Return the place of the first check of each sensitive column that compares a class with the table."""
    first: dict[str | None, int] = {}
    for place, each in enumerate(judged):
        if each.check.measure.relative is not None and not each.check.by:
            first.setdefault(each.check.sensitive, place)
    return set(first.values())


def _masks_groups(each: CheckResult, named: ColumnNames, mask: Mask) -> bool:
    """Whether a check divides the same classes by groups, and masks figures that count a group's records."""
    check = each.check
    if not check.by or check.measure.kind in OF_ONE_CLASS:
        return False
    if {*check.by, *check.counted} != set(named):
        return False
    figures = [judgement.figure for judgement in each.findings]
    return any(figure.small or mask.hides(figure.group.records) for figure in figures)


def count_parts(
    measured: MeasuredTable, histogram: Histogram, stated: Sequence[Statement], k: int
) -> ClassCounts:
    """Count records and classes in the bins, divided where some figure divides them.

    `k` is the size of the smallest class, where a check asks for it, so that a reader knows it; else 0.
    """
    cuts = {each.largest + 1 for each in stated if each.largest is not None}
    edges = sorted({*EDGES, *cuts, k or 1})
    parts: list[Bin] = [(low, high - 1) for low, high in pairwise(edges)] + [(edges[-1], None)]
    place = np.searchsorted(edges, histogram.class_size, side="right") - 1
    records, classes = (
        np.bincount(place, each, len(parts)).astype(np.int64).tolist()
        for each in (histogram.records, histogram.classes)
    )
    dropped = measured.records - int(histogram.records.sum())
    are_products = measured.table.entity is None
    return ClassCounts(parts, records, classes, BINS, dropped, are_products, k)


def state_figures(each: CheckResult, measured: MeasuredTable, mask: Mask) -> Iterator[Statement]:
    """Yield what the figure of a check on the whole table reveals of its class sizes."""
    name, judgement = each.check.measure.name, each.findings[0]
    value, records = judgement.figure.value, measured.records
    if value is None or not records:
        return
    unit, counted = each.check.measure.unit, records - judgement.figure.dropped
    scale = 1 if unit == "count" else counted
    bound = bound_of_figure(each.check, judgement, records, mask)
    least = most = value * scale
    # A reader of "below" knows more than the bound: the round number before it, which the figure reached.
    if bound is not None:  # the figure is below its bound, and counts are whole
        low, high = ends_around(value, each.check.measure, records, mask)
        least, most = math.ceil(low * scale - SLACK), math.ceil(high * scale - SLACK) - 1
    if name in OF_UNIQUE:
        yield Statement("records", least, most, 1)
    elif name == "records_at_risk" and each.check.parameters["threshold"]:
        yield Statement(
            "records", least, most, math.ceil(1 / each.check.parameters["threshold"]) - 1
        )
    # of people, it counts no classes
    elif name == "average_risk" and measured.table.entity is None:
        yield Statement("classes", least, most)


STATUS_WITHHELD: Final = "not shown, as it could reveal how few records are of some class size"


def table_page(measured: MeasuredTable, policy: Policy, classes: MaskedClasses) -> Page:
    """Describe a table; of its records, only the rarest combinations that the user asked for.

    `classes` are its class sizes, masked together with the figures of the checks.
    """
    table, mask = measured.table, Mask(policy.mask_below)
    page: Page = {
        "name": table.name,
        "file": table.source.location,
        "table": table.source.table,
        "sha256": measured.evidence.sha256,
        "records": None if measured.uncounted else mask.show(measured.records),
        "records_dropped": None if measured.uncounted else mask.count(0),
        "nulls": table.nulls,
        "entity": table.entity,
        "quasi_identifiers": list(table.quasi_identifiers),
        "sensitive": list(table.sensitive),
        "population": settings(table.population),
        **dict.fromkeys(f"{role}_file" for role in ROLES),
        "classes": None,
        "average_risk": None,
        "class_sizes": [],
        "columns": [],
        "population_risk": None,
        "forecast": None,
    }
    for role, source in table.role_sources.items():
        sha256 = measured.evidence.role_hashes[role]
        page[f"{role}_file"] = {"file": source.location, "table": source.table, "sha256": sha256}
    if measured.classes is not None:
        page |= _class_pages(measured, measured.classes, policy, classes)
    if measured.rarest is not None:
        page |= {"risky_records": _rarest_records(measured, mask)}
    return page


def _class_pages(
    measured: MeasuredTable, histogram: Histogram, policy: Policy, classes: MaskedClasses
) -> Mapping[str, Node]:
    """Describe the class sizes, the columns and the risk in a population."""
    mask = Mask(policy.mask_below)
    dropped = measured.records - int(histogram.records.sum())
    few = mask.hides(dropped) or mask.hides(measured.records - dropped)
    drops = measured.table.nulls == "drop"  # else nothing is dropped, whatever the table
    if not len(histogram.class_size):
        return {"records_dropped": mask.show(dropped, when=not (few and drops))}
    small = classes.small
    risk = class_risk(histogram)
    counted: dict[str, Node] = {
        "records_dropped": mask.show(dropped, when=not (few and drops)),
        "classes": mask.show(risk.classes, when=not small),
        # by entity the classes are of rows: their number divided by the people is no risk
        "average_risk": mask.show(risk.average_risk, when=not (small or (few and drops))),
        "class_sizes": classes.pages(mask),
    }
    if measured.overview is None:
        return counted
    return counted | {
        "columns": _column_pages(measured, measured.overview, mask, small=small),
        "population_risk": _population_page(measured, measured.overview, mask, small=small),
        "forecast": None
        if measured.table.entity is not None
        else _forecast_page(measured.overview, histogram, mask, small=small),
    }


def _column_pages(
    measured: MeasuredTable, overview: Overview, mask: Mask, *, small: bool = False
) -> list[Page]:
    """Describe each quasi-identifier: its values, and the risk that remains where it is left out.

    Columns that decide little, such as a constant, have the classes of all. So no figure of columns is shown
    where some class size of the table is few records (`small`), nor where some is of these columns alone.
    """
    small = small or measured.few_gaps
    pages: list[Page] = []
    for each in overview.columns:
        values = int(each.alone.classes.sum())
        pages.append(
            {
                "column": each.column,
                "distinct_values": mask.show(
                    values, when=not (small or mask.has_small_counts(each.alone))
                ),
                "alone": _risk_page(each.alone, mask, small=small),
                "without": None
                if each.without is None
                else _risk_page(each.without, mask, small=small),
            }
        )
    return pages


def _risk_page(histogram: Histogram, mask: Mask, *, small: bool) -> Page | None:
    """Describe the risk of some columns; nothing where few records are of a class size."""
    if small or not len(histogram.class_size) or mask.has_small_counts(histogram):
        return None
    risk = class_risk(histogram)
    return {
        "k": mask.show(risk.k),
        "uniqueness": mask.show(risk.uniqueness),
        "average_risk": mask.show(risk.average_risk),
    }


def _forecast_page(
    overview: Overview, histogram: Histogram, mask: Mask, *, small: bool
) -> Page | None:
    """Return the measured curve, and the forecast with its band up to the population; else a status."""
    forecast, population = overview.forecast, overview.population
    if population is None or population <= int(histogram.records.sum()):
        return None
    if small or forecast is None:
        return {"measured": [], "points": [], "status": STATUS_WITHHELD}
    ends = ("correctness", "correctness_low", "correctness_high")
    return {
        "measured": [
            {"people": Setting(people), "correctness": mask.show(share)}
            for people, share in forecast.measured
        ],
        "points": [
            {"people": Setting(row["population"])} | {name: mask.show(row[name]) for name in ends}
            for row in forecast.rows
        ],
        "status": forecast.status,
    }


def _rarest_records(measured: MeasuredTable, mask: Mask) -> list[Page]:
    """List the rarest combinations of values as they are in the table: the user asked for them."""
    named = measured.table.quasi_identifiers
    return [
        {
            "class_size": mask.show(row[0]),
            "values": {
                name: None if v is None else str(v) for name, v in zip(named, row[1:], strict=True)
            },
        }
        for row in measured.rarest or ()
    ]


SHARES: Final = {
    "uniqueness": "unique people",
    "correctness": "right matches",
    "below_k": "people in classes smaller than {k}",
}


def _population_page(
    measured: MeasuredTable, overview: Overview, mask: Mask, *, small: bool
) -> Page | None:
    """Show the risk in a population: nothing where none is named, else shares or a status."""
    population, estimate = overview.population, overview.estimate
    if population is None or population <= measured.records:
        return None
    none = {"method": None, "assumptions": None, "sentence": None}
    if small or estimate is None:
        return {"population": Setting(population), "status": STATUS_WITHHELD, **none}
    row = estimate.row
    if row is None:
        return {"population": Setting(population), "status": mask.status(estimate.status), **none}
    ends = [f"{name}{end}" for name in SHARES for end in ("", "_low", "_high")]
    return {
        "population": Setting(row["population"]),
        **{name: mask.show(row[name]) for name in ends},
        "k": settings(estimate.k),
        "method": row["method"],
        "status": mask.status(row["status"]),
        "assumptions": row["assumptions"],
        "sentence": row["sentence"],
    }


def describe_shares(answer: Row) -> dict[str, str]:
    """Give the shares in words, each with its interval.

    >>> shares = dict.fromkeys(("correctness", "correctness_low", "correctness_high"), 0.5)
    >>> shares |= dict.fromkeys(("below_k", "below_k_low", "below_k_high"), 0.7)
    >>> page = {"uniqueness": 0.2, "uniqueness_low": 0.1, "uniqueness_high": 0.3, "k": 5} | shares
    >>> describe_shares(page)["unique people"]
    '20.0 % (10.0 % to 30.0 %)'
    >>> describe_shares(page | {"uniqueness": None})["unique people"]
    'no estimate (10.0 % to 30.0 %)'
    """
    described = {}
    for name, words in SHARES.items():
        low, high = (percent(answer[f"{name}{end}"]) for end in ("_low", "_high"))
        middle = "no estimate" if answer[name] is None else percent(answer[name])
        described[words.format(k=answer["k"])] = f"{middle} ({low} to {high})"
    return described
