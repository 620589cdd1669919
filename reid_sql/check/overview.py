"""What a report shows of a table beside checks: class sizes, each quasi-identifier, the forecast.

Of each quasi-identifier, what it does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from reid_sql.check.catalogue import MEASURES
from reid_sql.check.masking import (
    bin_classes,
    bound_of_share,
    has_few_gaps,
    has_small_counts,
    mask_bins,
    mask_counts_in_text,
    round_above,
)
from reid_sql.check.policy import Check, Policy
from reid_sql.check.release import INTERRUPTIONS, Release, TableEngine
from reid_sql.errors import ReidError
from reid_sql.models.classes.disclosure import Histogram, class_risk
from reid_sql.models.classes.uniqueness import rarefy
from reid_sql.models.numerics.quantiles import percent
from reid_sql.models.pyc.pitman_yor_forecast import forecast
from reid_sql.runner import sentence

POINTS: Final = 24  # of the curve

Page = dict[str, Any]


def table_page(release: Release[TableEngine], policy: Policy, *, risky: int = 0) -> Page:
    """Tell of a table; of its records only the `risky` rarest combinations that somebody asked for."""
    table, below = release.table, policy.mask_below
    page: Page = {
        "name": table.name,
        "file": table.source.given,
        "table": table.source.table,
        "sha256": release.evidence.sha256,
        "records": release.records,
        "records_dropped": 0,
        "nulls": table.nulls,
        "entity": table.entity,
        "quasi_identifiers": list(table.quasi_identifiers),
        "sensitive": list(table.sensitive),
        "population": table.population,
        "population_file": _population_file(release),
        "classes": None,
        "class_sizes": [],
        "columns": [],
        "population_risk": None,
        "forecast": None,
    }
    if not table.quasi_identifiers:
        return page
    try:
        histogram = release.histogram(table.quasi_identifiers)
    except ReidError:  # the checks by these columns say why they are not judged
        return page
    dropped = release.records - int(histogram.records.sum())
    page["records_dropped"] = None if 0 < dropped < below else dropped
    if len(histogram.class_size):
        small = has_small_counts(histogram, dropped, below)
        page["classes"] = None if small else int(histogram.classes.sum())
        page["class_sizes"] = class_size_bins(histogram, below, dropped)
        page["columns"] = column_pages(release, below, gaps=has_few_gaps(release, below))
        people = table.entity is not None  # of whom a histogram by their smallest class is no sample
        population = _largest_population(release)
        page["population_risk"] = population_risk(release, population, policy.seed, below=below, small=small)
        drawn = None if people else forecast_page(histogram, population)
        page["forecast"] = _round_forecast(drawn, release.records, below) if drawn and small else drawn
    return page | ({"risky_records": rarest_records(release, risky)} if risky else {})


def _round_forecast(forecast: Page, records: int, below: int) -> Page:
    """Round a forecast's shares up, where exact ones would tell how few records there are of a class size."""

    def up(share: float | None) -> float | None:
        return share if share is None or not 0 < share < 1 else min(1.0, round_above(share, records, below))

    coarse = {
        name: [
            {key: value if key == "people" else up(value) for key, value in point.items()}
            for point in forecast[name]
        ]
        for name in ("measured", "points")
    }
    return forecast | coarse | {"status": mask_counts_in_text(forecast["status"], below)}


def class_size_bins(histogram: Histogram, below: int, dropped: int = 0) -> list[Page]:
    """Count classes and records by bins of the class size, small counts masked.

    Where some are masked, classes are not told.
    """
    found = bin_classes(histogram)
    shown = mask_bins([records for _, _, records in found], [sizes for sizes, _, _ in found], below, dropped)
    masked = has_small_counts(histogram, dropped, below)
    return [
        {
            "from": low,
            "to": high,
            "classes": None if n is None or (masked and n and low != high) else classes,
            "records": n,
        }
        for ((low, high), classes, _), n in zip(found, shown, strict=True)
    ]


def column_pages(release: Release[TableEngine], below: int, *, gaps: bool = False) -> list[Page]:
    """Tell what each quasi-identifier does: its values, and the risk that stays where it is left out.

    Where few records lack the same values (`gaps`), exact figures would tell how many each set of columns
    dropped.
    """
    if release.table.nulls == "wildcard":
        return []
    named = release.table.quasi_identifiers
    return [
        _column_page(release, column, [c for c in named if c != column], below, gaps=gaps) for column in named
    ]


def _column_page(
    release: Release[TableEngine], column: str, others: Sequence[str], below: int, *, gaps: bool
) -> Page:
    alone = release.histogram([column])
    values = int(alone.classes.sum())
    few = has_small_counts(alone, 0, below) and (
        not others or values <= below
    )  # so few values tell what is hidden of them
    return {
        "column": column,
        "distinct_values": None if few else values,
        "alone": _risk_page(alone, release.records, below, gaps=gaps),
        "without": _risk_page(release.histogram(others), release.records, below, gaps=gaps)
        if others
        else None,
    }


def _risk_page(histogram: Histogram, records: int, below: int, *, gaps: bool) -> Page | None:
    """Tell the risk of some columns; where few records are of a class size, no figure tells how few.

    Bounds are shares of all records of the table: those of the counted ones would tell how many were dropped.
    """
    if not len(histogram.class_size):
        return None
    risk = class_risk(histogram)
    small = gaps or has_small_counts(histogram, 0, below)
    masked = bound_of_share(risk.uniqueness, records, below)
    if masked is None and small and 0 < risk.uniqueness < 1:
        masked = min(1.0, round_above(risk.uniqueness, records, below))
    average = risk.average_risk
    return {
        "k": None if small and risk.k < below else risk.k,
        "uniqueness": None if masked else risk.uniqueness,
        "uniqueness_below": masked,
        "average_risk": min(1.0, round_above(average, records, below)) if small and average < 1 else average,
    }


def _largest_population(release: Release[TableEngine]) -> float | None:
    asked = [check.parameters.get("population") for check in release.table.checks]
    return max((float(size) for size in (*asked, release.table.population) if size), default=None)


def forecast_page(histogram: Histogram, population: float | None) -> Page | None:
    """Tell the measured curve, and the forecast with its band to the population; else a status."""
    records = int(histogram.records.sum())
    if population is None or population <= records:
        return None
    sizes = [records * (population / records) ** (step / POINTS) for step in range(POINTS)] + [population]
    try:
        measured = [
            {"people": point.n, "correctness": point.correctness} for point in rarefy(histogram, None)
        ]
        rows = [asdict(row) for row in forecast(histogram, sizes)]
    except ReidError as error:
        return {"measured": [], "points": [], "status": str(error)}
    named = ("correctness", "correctness_low", "correctness_high")
    points = [{"people": row["population"]} | {name: row[name] for name in named} for row in rows]
    return {"measured": measured, "points": points, "status": rows[-1]["status"]}


def rarest_records(release: Release[TableEngine], count: int) -> list[Mapping[str, Any]]:
    """List the rarest combinations of values, as they stand in the table."""
    named = release.table.quasi_identifiers
    return [
        {
            "class_size": row[0],
            "values": {name: None if v is None else str(v) for name, v in zip(named, row[1:], strict=True)},
        }
        for row in release.engine.rarest(count)
    ]


def _population_file(release: Release[TableEngine]) -> Page | None:
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
    release: Release[TableEngine], population: float | None, seed: int, *, below: int, small: bool
) -> Page | None:
    """Ask what becomes of the table in a population: nothing where none is named, else shares or a status."""
    if population is None or population <= release.records or not release.table.quasi_identifiers:
        return None
    check = _check(release, population, seed)
    try:
        row = release.answer(check)[0]
    except INTERRUPTIONS:
        raise
    except release.errors as error:
        told = mask_counts_in_text(sentence(error), below)
        return {"population": population, "method": None, "status": told, "sentence": None}
    found = {name: row[name] for name in ("population", *_columns())} | {"k": check.parameters["k"]}
    if small:
        found |= {name: _round_up(row[name], release.records, below) for name in _columns()}
    said = {
        "rounded": small,
        "method": row["method"],
        "status": mask_counts_in_text(row["status"], below),
        "sentence": None if small else row["sentence"],
    }
    return found | said


def _columns() -> list[str]:
    return [f"{name}{end}" for name in SHARES for end in ("", "_low", "_high")]


def _check(release: Release[TableEngine], population: float, seed: int) -> Check:
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


def _round_up(share: float, records: int, below: int) -> float:
    """Round a share up, where an exact one would tell how few records there are of a class size."""
    return share if not 0 < share < 1 else min(1.0, round_above(share, records, below))


def describe_shares(answer: Mapping[str, Any]) -> dict[str, str]:
    """Give the shares in words, each with its interval; of rounded ones the upper end alone.

    >>> shares = dict.fromkeys(("correctness", "correctness_low", "correctness_high"), 0.5)
    >>> shares |= dict.fromkeys(("below_k", "below_k_low", "below_k_high"), 0.7)
    >>> page = {"uniqueness": 0.2, "uniqueness_low": 0.1, "uniqueness_high": 0.3} | shares
    >>> page |= {"k": 5, "rounded": False}
    >>> told(page)["unique people"], told(page | {"rounded": True})["unique people"]
    ('20.0 % (10.0 % to 30.0 %)', 'at most 30.0 %')
    """
    found = {}
    for name, words in SHARES.items():
        middle, low, high = (answer[f"{name}{end}"] for end in ("", "_low", "_high"))
        interval = f"{percent(middle)} ({percent(low)} to {percent(high)})"
        found[words.format(k=answer["k"])] = f"at most {percent(high)}" if answer["rounded"] else interval
    return found
