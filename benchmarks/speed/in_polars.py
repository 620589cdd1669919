"""One query in Polars, streaming from a Parquet file; our functions are imported for either side."""

import polars as pl

import reid_sql.polars as rp
from benchmarks.speed.stopwatch import Stopwatch


def run(file: str, columns: list[str], *, ours: bool) -> tuple[Stopwatch, dict[str, int]]:
    """Sum up the class sizes of the records, by our expression or by the engine's own window."""
    size = rp.equivalence_class_size(*columns) if ours else pl.len().over(columns)
    k = pl.col("k").cast(pl.Int64)
    sums = (
        pl.len().alias("records"),
        k.sum().alias("total"),
        k.max().alias("highest"),
        (k == 1).sum().alias("unique_records"),
    )
    query = pl.scan_parquet(file).select(size.alias("k")).select(sums)
    with Stopwatch() as took:
        found = query.collect(engine="streaming")
    return took, found.to_dicts()[0]
