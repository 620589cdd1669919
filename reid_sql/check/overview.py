"""What a report shows of a table: class sizes, what is masked of them, quasi-identifiers, population risk."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any, Final

import numpy as np

from reid_sql.charts.risk_charts import EDGES
from reid_sql.check.audit import ClassCounts, Statement, bins_to_hide
from reid_sql.check.catalogue import MEASURES
from reid_sql.check.masking import Bin, Mask, Node, Setting, has_few_gaps, round_between, settings
from reid_sql.check.measure import Measure
from reid_sql.check.policy_model import Check, Policy, largest_population
from reid_sql.check.release import INTERRUPTIONS, Release
from reid_sql.check.report import bound_of_figure
from reid_sql.check.sources import ROLES
from reid_sql.check.verdicts import CheckResult
from reid_sql.errors import ReidError
from reid_sql.models.classes.disclosure import Histogram, class_risk
from reid_sql.models.classes.uniqueness import rarefy
from reid_sql.models.numerics.quantiles import percent
from reid_sql.models.pyc.pitman_yor_forecast import forecast_pitman_yor
from reid_sql.runner import sentence

BINS: Final[tuple[Bin, ...]] = tuple(
    (low, None if high is None else high - 1) for low, high in zip(EDGES, (*EDGES[1:], None), strict=True)
)
SLACK: Final = 1e-6  # of a count that a share gives
OF_UNIQUE: Final = ("unique_records", "uniqueness")


@dataclass(frozen=True)
class MaskedClasses:
    """Records and classes by bins of the class size, the bins that are masked, and the checks withheld."""

    counts: ClassCounts | None = None
    hidden: frozenset[int] = frozenset()
    withheld: frozenset[int] = field(
        default=frozenset()
    )  # places of checks whose rounded figures reveal more
    small: bool = False  # whether some class size, or those dropped, are few records

    def pages(self, mask: Mask) -> list[dict[str, Node]]:
        """Return the bins of a report; where some are masked, classes are too."""
        if self.counts is None:
            return []
        pages: list[dict[str, Node]] = []
        for place, (low, high) in enumerate(BINS):
            inside = self.counts.within((low, high))
            records, classes = (
                sum(each[at] for at in inside) for each in (self.counts.records, self.counts.classes)
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


def mask_classes(release: Release, judged: Sequence[CheckResult], mask: Mask) -> MaskedClasses:
    """Return what is masked of a table's class sizes, next to the figures of checks on the same classes.

    A rounded figure is withheld unless the audit knows it. Where no class size is masked, one of those that
    compare a class with the table is shown: two of the same values could reveal the count of a rare one.
    """
    named, every = release.table.quasi_identifiers, frozenset(range(len(judged)))
    if not named:
        return MaskedClasses(withheld=every)
    try:
        histogram = release.histogram(named)
    except ReidError:  # the checks by these columns say why they are not judged
        return MaskedClasses(withheld=every)
    if not len(histogram.class_size):
        return MaskedClasses(withheld=every)
    places = [
        place
        for place, each in enumerate(judged)
        if not each.check.by and set(each.check.counted) == set(named) and not each.check.coarser
    ]
    stated = [(place, each) for place in places for each in state_figures(judged[place], release, mask)]
    cuts = {int(histogram.class_size.min())} | {
        each.largest + 1 for _, each in stated if each.largest is not None
    }
    dropped, people = release.records - int(histogram.records.sum()), release.table.entity is not None
    counts = count_parts(histogram, cuts, dropped, are_products=not people)
    small = any(mask.hides(each) for each in (*counts.records, counts.dropped))
    missing = release.table.nulls != "value" and (small or has_few_gaps(release, mask.below))
    if missing or any(_masks_groups(each, named, mask) for each in judged):  # which the audit does not know
        return MaskedClasses(counts, frozenset(range(len(BINS))), every, small=True)
    hidden, left = bins_to_hide(counts, [each for _, each in stated], mask.below)
    shown = {place for place, _ in stated} - {place for place, _ in stated[len(left) :]}
    shown |= set() if small else _first_of_values(judged)
    return MaskedClasses(counts, frozenset(hidden), every - shown, small)


def _first_of_values(judged: Sequence[CheckResult]) -> set[int]:
    """Return the place of the first check of each sensitive column that compares a class with the table."""
    first: dict[str | None, int] = {}
    for place, each in enumerate(judged):
        if each.check.measure.relative is not None and not each.check.by:
            first.setdefault(each.check.sensitive, place)
    return set(first.values())


def _masks_groups(each: CheckResult, named: Sequence[str], mask: Mask) -> bool:
    """Whether a check divides the same classes by groups, and masks figures that count a group's records."""
    check = each.check
    counts = bool(check.by) and not check.measure.extreme and {*check.by, *check.counted} == set(named)
    return counts and any(
        found.figure.small or mask.hides(found.figure.group.records) for found in each.findings
    )


def count_parts(
    histogram: Histogram, cuts: set[int], dropped: int = 0, *, are_products: bool = True
) -> ClassCounts:
    """Count records and classes in the bins, divided where some figure divides them."""
    edges = sorted({*EDGES, *cuts})
    parts: list[Bin] = [(low, high - 1) for low, high in pairwise(edges)] + [(edges[-1], None)]
    place = np.searchsorted(edges, histogram.class_size, side="right") - 1
    records, classes = (
        np.bincount(place, each, len(parts)).astype(np.int64).tolist()
        for each in (histogram.records, histogram.classes)
    )
    smallest = int(histogram.class_size.min())
    return ClassCounts(parts, records, classes, BINS, dropped, are_products, smallest)


def state_figures(each: CheckResult, release: Release, mask: Mask) -> Iterator[Statement]:
    """Yield what the figure of a check on the whole table reveals of its class sizes."""
    name, judgement = each.check.measure.name, each.findings[0]
    value, records = judgement.figure.value, release.records
    if value is None or not records:
        return
    unit, counted = each.check.measure.unit, records - judgement.figure.dropped
    scale = 1 if unit == "count" else counted
    bound = bound_of_figure(each.check, judgement, records, mask)
    low, high = (value, value) if bound is None else _around(value, each.check.measure, records, mask)
    least, most = low * scale, high * scale
    if bound is not None:  # the figure is below its bound, and counts are whole
        least, most = math.ceil(least - SLACK), math.ceil(most - SLACK) - 1
    if name in OF_UNIQUE:
        yield Statement("records", least, most, 1)
    elif name == "records_at_risk" and each.check.parameters["threshold"]:
        yield Statement("records", least, most, math.ceil(1 / each.check.parameters["threshold"]) - 1)
    elif name == "average_risk" and release.table.entity is None:  # of people, it counts no classes
        yield Statement("classes", least, most)


def _around(value: float, measure: Measure, records: int, mask: Mask) -> tuple[float, float]:
    """Return the ends between which a masked figure lies, as its bound shows.

    Of all but few records 1 is shown, unless they are few themselves: then the mask is.
    """
    scale = records if measure.unit == "count" else 1
    low, high = round_between(value / scale, records, mask.below)
    if measure.of_records and mask.bound_of(value / scale, records) == 1.0:
        low, high = max(1 - (mask.below - 1) / records, mask.below / records), 1.0
    return low * scale, high * scale


POINTS: Final = 24  # of the curve
STATUS_WITHHELD: Final = "not shown, as it could reveal how few records are of some class size"

Page = dict[str, Node]


def table_page(release: Release, policy: Policy, classes: MaskedClasses, *, risky: int = 0) -> Page:
    """Describe a table; of its records, only the `risky` rarest combinations that the user asked for.

    `classes` are its class sizes, masked together with the figures of the checks.
    """
    table, mask = release.table, Mask(policy.mask_below)
    page: Page = {
        "name": table.name,
        "file": table.source.given,
        "table": table.source.table,
        "sha256": release.evidence.sha256,
        "records": mask.show(release.records),
        "records_dropped": mask.count(0),
        "nulls": table.nulls,
        "entity": table.entity,
        "quasi_identifiers": list(table.quasi_identifiers),
        "sensitive": list(table.sensitive),
        "population": settings(table.population),
        **{f"{role}_file": _other_file(release, role) for role in ROLES},
        "classes": None,
        "class_sizes": [],
        "columns": [],
        "population_risk": None,
        "forecast": None,
    }
    if table.quasi_identifiers and release.records:
        with suppress(ReidError):  # the checks by these columns say why they are not judged
            page |= _class_pages(release, release.histogram(table.quasi_identifiers), policy, classes)
            page |= {"risky_records": rarest_records(release, risky, mask)} if risky else {}
    return page


def _class_pages(
    release: Release, histogram: Histogram, policy: Policy, classes: MaskedClasses
) -> Mapping[str, Node]:
    """Describe the class sizes, the columns and the risk in a population."""
    mask = Mask(policy.mask_below)
    dropped = release.records - int(histogram.records.sum())
    few = mask.hides(dropped) or mask.hides(release.records - dropped)
    if not len(histogram.class_size):
        return {"records_dropped": mask.show(dropped, when=not few)}
    small = classes.small
    counted: dict[str, Node] = {
        "records_dropped": mask.show(dropped, when=not few),
        "classes": mask.show(int(histogram.classes.sum()), when=not small),
        "class_sizes": classes.pages(mask),
    }
    if not release.engine.counts_overview:
        return counted
    population = largest_population(release.table)
    people = release.table.entity is not None  # a histogram by their smallest class is no sample of them
    return counted | {
        "columns": column_pages(release, mask, small=small),
        "population_risk": population_risk(release, population, policy.seed, mask, small=small),
        "forecast": None if people else forecast_page(histogram, population, mask, small=small),
    }


def column_pages(release: Release, mask: Mask, *, small: bool = False) -> list[Page]:
    """Describe each quasi-identifier: its values, and the risk that remains where it is left out.

    Columns that decide little, such as a constant, have the classes of all. So no figure of columns is shown
    where some class size of the table is few records (`small`), nor where some is of these columns alone.
    """
    if release.table.nulls == "wildcard":
        return []
    named = release.table.quasi_identifiers
    small = small or has_few_gaps(release, mask.below)
    pages: list[Page] = []
    for column in named:
        others = [each for each in named if each != column]
        alone = release.histogram([column])
        left = release.histogram(others) if others else None
        values = int(alone.classes.sum())
        pages.append(
            {
                "column": column,
                "distinct_values": mask.show(values, when=not (small or mask.has_small_counts(alone))),
                "alone": _risk_page(alone, mask, small=small),
                "without": None if left is None else _risk_page(left, mask, small=small),
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


def forecast_page(
    histogram: Histogram,
    population: float | None,
    mask: Mask,
    *,
    small: bool,
) -> Page | None:
    """Return the measured curve, and the forecast with its band up to the population; else a status."""
    records = int(histogram.records.sum())
    if population is None or population <= records:
        return None
    if small:
        return {"measured": [], "points": [], "status": STATUS_WITHHELD}
    sizes = [records * (population / records) ** (step / POINTS) for step in range(POINTS)] + [population]
    try:
        curve = [{"people": point.n, "correctness": point.correctness} for point in rarefy(histogram, None)]
        rows = [asdict(row) for row in forecast_pitman_yor(histogram, sizes, k=1)]  # no k is shown
    except ReidError as error:
        return {"measured": [], "points": [], "status": str(error)}
    ends = ("correctness", "correctness_low", "correctness_high")
    return {
        "measured": [
            {"people": Setting(point["people"]), "correctness": mask.show(point["correctness"])}
            for point in curve
        ],
        "points": [
            {"people": Setting(row["population"])} | {name: mask.show(row[name]) for name in ends}
            for row in rows
        ],
        "status": rows[-1]["status"],
    }


def rarest_records(release: Release, count: int, mask: Mask) -> list[Page]:
    """List the rarest combinations of values as they are in the table: the user asked for them."""
    named = release.table.quasi_identifiers
    return [
        {
            "class_size": mask.show(row[0]),
            "values": {name: None if v is None else str(v) for name, v in zip(named, row[1:], strict=True)},
        }
        for row in release.engine.rarest(count)
    ]


def _other_file(release: Release, role: str) -> Page | None:
    source = release.table.others.get(role)
    if source is None:
        return None
    return {"file": source.given, "table": source.table, "sha256": release.evidence.others[role]}


MEASURE: Final = "population_below_k"
SHARES: Final = {
    "uniqueness": "unique people",
    "correctness": "right matches",
    "below_k": "people in classes smaller than {k}",
}


def population_risk(
    release: Release, population: float | None, seed: int, mask: Mask, *, small: bool
) -> Page | None:
    """Estimate the risk in a population: nothing where none is named, else shares or a status."""
    if population is None or population <= release.records or not release.table.quasi_identifiers:
        return None
    none = {"method": None, "assumptions": None, "sentence": None}
    if small:
        return {"population": Setting(population), "status": STATUS_WITHHELD, **none}
    check = _check(release, population, seed)
    try:
        row = release.answer(check)[0]
    except INTERRUPTIONS:
        raise
    except release.errors as error:
        return {"population": Setting(population), "status": mask.text(sentence(error)), **none}
    return {
        "population": Setting(row["population"]),
        **{name: mask.show(row[name]) for name in _columns()},
        "k": settings(check.parameters["k"]),
        "method": row["method"],
        "status": mask.text(row["status"]),
        "assumptions": row["assumptions"],
        "sentence": row["sentence"],
    }


def _columns() -> list[str]:
    return [f"{name}{end}" for name in SHARES for end in ("", "_low", "_high")]


def _check(release: Release, population: float, seed: int) -> Check:
    """The check that a policy would write for it, so that its answer is asked for once."""
    measure = MEASURES[MEASURE]
    defaults = {name: each.default for name, each in measure.parameters.items()}
    return Check(
        measure=measure,
        parameters=defaults | {"population": population, "seed": seed},
        quasi_identifiers=release.table.quasi_identifiers,
        sensitive=None,
        limit=None,
        no_worse=False,
        by=(),
        judge_by="interval",
    )


def describe_shares(answer: Mapping[str, Any]) -> dict[str, str]:
    """Give the shares in words, each with its interval.

    >>> shares = dict.fromkeys(("correctness", "correctness_low", "correctness_high"), 0.5)
    >>> shares |= dict.fromkeys(("below_k", "below_k_low", "below_k_high"), 0.7)
    >>> page = {"uniqueness": 0.2, "uniqueness_low": 0.1, "uniqueness_high": 0.3, "k": 5} | shares
    >>> describe_shares(page)["unique people"]
    '20.0 % (10.0 % to 30.0 %)'
    """
    described = {}
    for name, words in SHARES.items():
        middle, low, high = (percent(answer[f"{name}{end}"]) for end in ("", "_low", "_high"))
        described[words.format(k=answer["k"])] = f"{middle} ({low} to {high})"
    return described
