"""What a report shows of a table beside its checks: class sizes, what each quasi-identifier does, the forecast."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from reid_sql.check.judging.masking import mask_of_share, masked_counts
from reid_sql.check.measures.answers import Answers
from reid_sql.check.policy.policy import Policy, Source
from reid_sql.errors import ReidError
from reid_sql.models.classes.disclosure import Histogram, class_risk
from reid_sql.models.classes.rarefaction import curve
from reid_sql.models.pyc.pitman_yor_forecast import forecast
from reid_sql.screen import BINS, ENDLESS

POINTS: Final = 24  # of the curve
CHUNK: Final = 2**20

Page = dict[str, Any]


def overview(release: Answers, policy: Policy, *, risky: int = 0) -> Page:
    """Tell of a table; of its records only the `risky` rarest combinations that somebody asked for."""
    table, below = release.table, policy.mask_below
    page: Page = {
        "name": table.name,
        "file": table.source.given,
        "table": table.source.table,
        "sha256": _hash(table.source),
        "records": release.records,
        "records_dropped": 0,
        "nulls": table.nulls,
        "quasi_identifiers": list(table.quasi_identifiers),
        "sensitive": list(table.sensitive),
        "population": table.population,
        "population_file": _population(table.population_source),
        "classes": None,
        "class_sizes": [],
        "columns": [],
        "forecast": None,
    }
    if not table.quasi_identifiers:
        return page
    histogram = release.histogram(table.quasi_identifiers)
    page["records_dropped"] = release.records - int(histogram.records.sum())
    if len(histogram.class_size):
        page["classes"] = int(histogram.classes.sum())
        page["class_sizes"] = class_sizes(histogram, below)
        page["columns"] = columns(release, below)
        page["forecast"] = forecast_curve(histogram, _largest_population(release))
    return page | ({"risky_records": risky_records(release, risky)} if risky else {})


def class_sizes(histogram: Histogram, below: int) -> list[Page]:
    """Count classes and records by bins of the class size, small counts masked."""
    pages, counts = [], []
    for low, high in zip(BINS, (*BINS[1:], ENDLESS), strict=True):
        inside = (histogram.class_size >= low) & (histogram.class_size < high)
        counts.append(int(histogram.records[inside].sum()))
        pages.append(
            {
                "from": low,
                "to": None if high == ENDLESS else high - 1,
                "classes": int(histogram.classes[inside].sum()),
            }
        )
    shown = masked_counts(counts, below)
    return [
        page | {"classes": page["classes"] if n is not None else None, "records": n}
        for page, n in zip(pages, shown, strict=True)
    ]


def columns(release: Answers, below: int) -> list[Page]:
    """Tell what each quasi-identifier does: its values, and the risk that stays where it is left out."""
    if release.table.nulls == "wildcard":
        return []
    named = release.table.quasi_identifiers
    return [
        {
            "column": column,
            "distinct_values": int(release.histogram([column]).classes.sum()),
            "alone": _risk(release.histogram([column]), below),
            "without": _risk(release.histogram([c for c in named if c != column]), below)
            if len(named) > 1
            else None,
        }
        for column in named
    ]


def _risk(histogram: Histogram, below: int) -> Page | None:
    if not len(histogram.class_size):
        return None
    risk = class_risk(histogram)
    masked = mask_of_share(risk.uniqueness, risk.records, below)
    return {
        "k": risk.k,
        "uniqueness": None if masked else risk.uniqueness,
        "uniqueness_below": masked,
        "average_risk": risk.average_risk,
    }


def _largest_population(release: Answers) -> float | None:
    asked = [check.parameters.get("population") for check in release.table.checks]
    return max((float(size) for size in (*asked, release.table.population) if size), default=None)


def forecast_curve(histogram: Histogram, population: float | None) -> Page | None:
    """Tell the measured curve, and the forecast with its band up to the population; a status where there is none."""
    records = int(histogram.records.sum())
    if population is None or population <= records:
        return None
    sizes = [records * (population / records) ** (step / POINTS) for step in range(POINTS)] + [population]
    try:
        measured = [{"people": point.n, "correctness": point.correctness} for point in curve(histogram, None)]
        rows = [asdict(row) for row in forecast(histogram, sizes)]
    except ReidError as error:
        return {"measured": [], "points": [], "status": str(error)}
    named = ("correctness", "correctness_low", "correctness_high")
    points = [{"people": row["population"]} | {name: row[name] for name in named} for row in rows]
    return {"measured": measured, "points": points, "status": rows[-1]["status"]}


def risky_records(release: Answers, count: int) -> list[Mapping[str, Any]]:
    """List the rarest combinations of values, as they stand in the table."""
    named = release.table.quasi_identifiers
    return [
        {
            "class_size": row[0],
            "values": {name: None if v is None else str(v) for name, v in zip(named, row[1:], strict=True)},
        }
        for row in release.rarest(count)
    ]


def _population(source: Source | None) -> Page | None:
    return None if source is None else {"file": source.given, "table": source.table, "sha256": _hash(source)}


def _hash(source: Source) -> str | None:
    """Give the hash of the file; none of a table or folder of many files, which Spark reads."""
    if not source.path.is_file():
        return None
    with source.path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
