"""What a report shows of a table: class sizes, each quasi-identifier, the risk in a population."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Final

from reid_sql.check.catalogue import MEASURES
from reid_sql.check.class_sizes import MaskedClasses
from reid_sql.check.figures import Node, Setting, settings
from reid_sql.check.masking import Mask, has_few_gaps
from reid_sql.check.policy_model import Check, Policy
from reid_sql.check.release import INTERRUPTIONS, Release
from reid_sql.errors import ReidError
from reid_sql.models.classes.disclosure import Histogram, class_risk
from reid_sql.models.classes.uniqueness import rarefy
from reid_sql.models.numerics.quantiles import percent
from reid_sql.models.pyc.pitman_yor_forecast import forecast_pitman_yor
from reid_sql.runner import sentence

POINTS: Final = 24  # of the curve

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
        "population_file": _population_file(release),
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
    if not len(histogram.class_size):
        return {"records_dropped": mask.count(dropped)}
    small = classes.small
    counted: dict[str, Node] = {
        "records_dropped": mask.count(dropped),
        "classes": mask.show(int(histogram.classes.sum()), when=not small),
        "class_sizes": classes.pages(mask),
    }
    if not release.engine.counts_overview:
        return counted
    population = _largest_population(release)
    people = release.table.entity is not None  # a histogram by their smallest class is no sample of them
    return counted | {
        "columns": column_pages(release, mask, whole=None if small else class_risk(histogram).average_risk),
        "population_risk": population_risk(release, population, policy.seed, mask, small=small),
        "forecast": None if people else forecast_page(release, histogram, population, mask, small=small),
    }


def column_pages(release: Release, mask: Mask, *, whole: float | None = None) -> list[Page]:
    """Describe each quasi-identifier: its values, and the risk that remains where it is left out.

    Where few records lack the same values (gaps), exact figures would reveal how many each set of columns
    dropped. The average risk of fewer columns is at most that of all, `whole`, where that is shown.
    """
    if release.table.nulls == "wildcard":
        return []
    named, gaps = release.table.quasi_identifiers, has_few_gaps(release, mask.below)
    cap = None if release.table.nulls == "drop" else whole
    pages: list[Page] = []
    for column in named:
        others = [each for each in named if each != column]
        alone = release.histogram([column])
        values = int(alone.classes.sum())
        few = not others or values <= mask.below  # so few values reveal what is hidden of them
        left = release.histogram(others) if others else None
        pages.append(
            {
                "column": column,
                "distinct_values": mask.show(values, when=not (few and mask.has_small_counts(alone))),
                "alone": _risk_page(alone, release.records, mask, gaps=gaps, cap=cap),
                "without": None
                if left is None
                else _risk_page(left, release.records, mask, gaps=gaps, cap=cap),
            }
        )
    return pages


def _risk_page(
    histogram: Histogram, records: int, mask: Mask, *, gaps: bool, cap: float | None
) -> Page | None:
    """Describe the risk of some columns; where few records are of a class size, no figure reveals how few.

    Bounds are shares of all records of the table: shares of the counted ones would reveal how many were
    dropped.
    """
    if not len(histogram.class_size):
        return None
    risk = class_risk(histogram)
    small = gaps or mask.has_small_counts(histogram)
    bound = mask.bound_of(risk.uniqueness, records)
    if bound is None and small and 0 < risk.uniqueness < 1:
        bound = mask.round_share(risk.uniqueness, records)
    above = mask.round_share(risk.average_risk, records) if small and risk.average_risk < 1 else None
    return {
        "k": mask.show(risk.k, when=not (small and mask.hides(risk.k))),
        "uniqueness": mask.show(risk.uniqueness, when=not bound),
        "uniqueness_below": mask.show(bound),
        "average_risk": mask.show(risk.average_risk, when=above is None),
        "average_risk_at_most": mask.show(None if above is None else min(above, cap or above)),
    }


def _largest_population(release: Release) -> float | None:
    asked = [check.parameters.get("population") for check in release.table.checks]
    return max((float(size) for size in (*asked, release.table.population) if size), default=None)


def forecast_page(
    release: Release,
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
    sizes = [records * (population / records) ** (step / POINTS) for step in range(POINTS)] + [population]
    try:
        curve = [{"people": point.n, "correctness": point.correctness} for point in rarefy(histogram, None)]
        rows = [asdict(row) for row in forecast_pitman_yor(histogram, sizes)]
    except ReidError as error:
        status = mask.text(str(error)) if small else str(error)
        return {"measured": [], "points": [], "status": status}
    ends = ("correctness", "correctness_low", "correctness_high")

    def shown(point: Mapping[str, Any]) -> Page:
        """Return a point; of a small count only the bound above it."""
        high = point["correctness_high"]
        bound = mask.show(None if high is None else mask.round_share(high, release.records))
        exact: Page = {name: mask.show(point[name], when=not small) for name in ends}
        return {"people": Setting(point["people"])} | (
            exact | {"correctness_high": bound} if small else exact
        )

    status = rows[-1]["status"]
    return {
        "measured": [
            {"people": Setting(point["people"]), "correctness": mask.show(point["correctness"])}
            for point in ([] if small else curve)
        ],
        "points": [shown({"people": row["population"]} | row) for row in rows],
        "status": mask.text(status) if small else status,
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


def _population_file(release: Release) -> Page | None:
    source = release.table.population_source
    if source is None:
        return None
    return {"file": source.given, "table": source.table, "sha256": release.evidence.population_sha256}


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
    check = _check(release, population, seed)
    try:
        row = release.answer(check)[0]
    except INTERRUPTIONS:
        raise
    except release.errors as error:
        status = mask.text(sentence(error))
        none = {"method": None, "status": status, "assumptions": None, "sentence": None}
        return {"population": Setting(population), **none}
    shares = {
        name: mask.show_share(row[name], release.records, round_up=small)
        if name.endswith("_high")
        else mask.show(row[name], when=not small)
        for name in _columns()
    }
    return {
        "population": Setting(row["population"]),
        **shares,
        "k": settings(check.parameters["k"]),
        "rounded": small,
        "method": row["method"],
        "status": mask.text(row["status"]),
        "assumptions": row["assumptions"],
        "sentence": None if small else row["sentence"],
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
    """Give the shares in words, each with its interval; of rounded ones the upper end alone.

    >>> shares = dict.fromkeys(("correctness", "correctness_low", "correctness_high"), 0.5)
    >>> shares |= dict.fromkeys(("below_k", "below_k_low", "below_k_high"), 0.7)
    >>> page = {"uniqueness": 0.2, "uniqueness_low": 0.1, "uniqueness_high": 0.3} | shares
    >>> page |= {"k": 5, "rounded": False}
    >>> bounded = page | {"rounded": True, "uniqueness": None, "uniqueness_low": None}
    >>> describe_shares(page)["unique people"], describe_shares(bounded)["unique people"]
    ('20.0 % (10.0 % to 30.0 %)', 'at most 30.0 %')
    """
    described = {}
    for name, words in SHARES.items():
        middle, low, high = (answer[f"{name}{end}"] for end in ("", "_low", "_high"))
        described[words.format(k=answer["k"])] = (
            f"at most {percent(high)}"
            if answer["rounded"]
            else f"{percent(middle)} ({percent(low)} to {percent(high)})"
        )
    return described
