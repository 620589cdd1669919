"""The release gate, from the file to the verdicts, against the bare GROUP BYs that it cannot do without."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from benchmarks.speed.compare import Case
from benchmarks.speed.measure import Job
from benchmarks.speed.shapes import Shape

SHAPE: Final = Shape(10, "integer", "unique")
LIMIT: Final = "4GB"
LEFT_OUT: Final = ("", "date_of_birth", "postcode", "employer", "income")  # of five checks, one each
GROUPED: Final = "household"
CHECK: Final = "[[tables.checks]]\nmeasure = 'unique_records'\nat_most = 0\nquasi_identifiers = {}"
OTHERS: Final = {
    "forecasts": """[[tables.checks]]
measure = 'forecast_correctness'
at_most = 1
[[tables.checks]]
measure = 'forecast_uniqueness'
at_most = 1
[[tables.checks]]
measure = 'forecast_k_violation'
at_most = 1
[[tables.checks]]
measure = 'uniqueness'
at_most = 1
by = ['sex']""",
    "l, t and QaR": """[[tables.checks]]
measure = 'l_diversity'
at_least = 1
quasi_identifiers = ['date_of_birth', 'postcode', 'sex']
[[tables.checks]]
measure = 't_closeness'
at_most = 1
quasi_identifiers = ['date_of_birth', 'postcode', 'sex']
[[tables.checks]]
measure = 'qar'
p = 2
at_most = 1
[[tables.checks]]
measure = 'uniqueness'
at_most = 1
by = ['sex']""",
}


def cases(folder: Path, threads: int) -> Iterator[Case]:
    """Ten checks on ten columns: six of classes, and four others."""
    chosen = [[name for name in SHAPE.columns if name != left] for left in LEFT_OUT]
    alone = [f"SELECT count(*) FILTER (n = 1) FROM ({_sizes(names)})" for names in chosen]
    alone.append(f"SELECT min(n) FROM ({_alone_by(SHAPE.columns[:2])})")
    figures = ", ".join(f"({query}) AS figure_{place}" for place, query in enumerate(alone))
    settings = {"threads": str(threads), "memory_limit": LIMIT}
    database = str(folder / "people.duckdb")
    rival = Job("in_duckdb", {"sql": f"SELECT {figures}", "settings": settings, "database": database})
    for words, others in OTHERS.items():
        policy = _policy(folder / f"{SHAPE.table}.parquet", chosen, others)
        ours = Job("in_gate", {"policy": policy, "measure": "unique_records"})
        yield Case("gate", f"10 checks, {words} among them", ours, rival, 1.5, table=SHAPE.table)


def _policy(file: Path, chosen: Sequence[Sequence[str]], others: str) -> str:
    grouped = f"{CHECK.format(SHAPE.columns[:2])}\nby = ['{GROUPED}']"
    head = f"""name = 'bench'
memory_limit = '{LIMIT}'
mask_below = 1
[[tables]]
name = 'people'
file = '{file}'
quasi_identifiers = {SHAPE.columns}
sensitive = ['height']
population = 67_000_000"""
    checks = [CHECK.format(list(names)) for names in chosen]
    return "\n".join([head, *checks, grouped, others])


def _sizes(names: Sequence[str]) -> str:
    return f"SELECT count(*) AS n FROM {SHAPE.table} GROUP BY {', '.join(names)}"


def _alone_by(names: Sequence[str]) -> str:
    """Records alone within each group."""
    sizes = f"SELECT {GROUPED}, count(*) AS k FROM {SHAPE.table} GROUP BY {', '.join([*names, GROUPED])}"
    return f"SELECT count(*) FILTER (k = 1) AS n FROM ({sizes}) GROUP BY {GROUPED}"
