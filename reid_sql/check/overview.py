"""What a report shows of a table: class sizes, each quasi-identifier, the risk in a population."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Final

from reid_sql.check.catalogue import MEASURES
from reid_sql.check.class_sizes import MaskedClasses
from reid_sql.check.figures import Node, Setting, settings
from reid_sql.check.masking import Mask, has_few_gaps
from reid_sql.check.policy_model import Check, Policy, largest_population
from reid_sql.check.release import INTERRUPTIONS, Release
from reid_sql.check.sources import ROLES
from reid_sql.errors import ReidError
from reid_sql.models.classes.disclosure import Histogram, class_risk
from reid_sql.models.classes.uniqueness import rarefy
from reid_sql.models.numerics.quantiles import percent
from reid_sql.models.pyc.pitman_yor_forecast import forecast_pitman_yor
from reid_sql.runner import sentence

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
