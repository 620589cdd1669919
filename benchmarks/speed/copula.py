"""The rectangle kernel and the scoring of real records, against scipy's rectangle by rectangle."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.speed.compare import Case
from benchmarks.speed.measure import Job

ROOT: Final = Path(__file__).parents[2]
FASTER: Final = {3: 30, 5: 50, 10: 50, 15: 50}  # times scipy's speed for a rectangle, by dimension
SCORED: Final = 100  # times scipy's speed for all records of adult, one after the other
COLUMNS: Final = """age workclass education_num marital_status occupation relationship race sex
    hours_per_week native_country"""
ORDERED: Final = ["age", "education_num", "hours_per_week"]


def cases(threads: int) -> Iterator[Case]:
    """Rectangles that share nothing, on one core each; the distinct records of adult through SQL."""
    for size, times in FASTER.items():
        ours, rival = (Job("rectangles", {"size": size, "ours": mine}) for mine in (True, False))
        yield Case("copula", f"{size} dimensions, one core / scipy", ours, rival, 1 / times)
    file = Path(os.environ.get("REID_SQL_DATA", ROOT.parent / "shared" / "data"), "adult.parquet")
    columns = COLUMNS.split()
    prepare = f"CREATE TEMP TABLE people AS SELECT {', '.join(columns)} FROM '{file}'"
    fit = f"CREATE TEMP TABLE fitted AS FROM fit_copula('adult', people, {columns}, ordered := {ORDERED})"
    sql = "SELECT count(*) FILTER (cell_probability > 0) AS records FROM score_records(people, 'adult', 1e6)"
    ours = Job(
        "in_duckdb",
        {"sql": sql, "settings": {"threads": str(threads)}, "prepare": f"{prepare}; {fit}"},
    )
    rival = Job("scipy_cells", {"file": str(file), "columns": columns, "ordered": ORDERED})
    skipped = (
        None if file.exists() else "no adult.parquet in the data folder; set REID_SQL_DATA to it"
    )
    yield Case(
        "copula",
        "27,515 records of adult, 10 columns / scipy",
        ours,
        rival,
        1 / SCORED,
        skipped=skipped,
    )
