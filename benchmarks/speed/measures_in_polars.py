"""A measure of a sensitive column in Polars, or the bare GROUP BY of the quasi-identifiers, from a file."""

from typing import Any

import polars as pl

import reid_sql.polars as rp
from benchmarks.speed.stopwatch import Stopwatch


def run(
    file: str,
    columns: list[str],
    sensitive: str,
    measure: str,
    options: dict[str, Any],
    *,
    ours: bool,
) -> tuple[Stopwatch, dict[str, int]]:
    """Measure the classes, or count them; either way say how many there are, and of how many records."""
    people = pl.scan_parquet(file)
    sizes = people.group_by(columns).agg(n=pl.len().cast(pl.Int64))
    query = sizes.select(records=pl.col("n").sum(), classes=pl.len(), k=pl.col("n").min())
    if ours:
        query = getattr(rp, measure)(people, columns, sensitive, **options).select(
            "records", "classes", "k"
        )
    with Stopwatch() as took:
        found = query.collect(engine="streaming")
    return took, found.to_dicts()[0]
