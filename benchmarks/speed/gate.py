"""The release gate, from the file to the verdicts, against the bare GROUP BYs that it cannot do without."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from benchmarks.speed.compare import Case
from benchmarks.speed.measure import Job
from benchmarks.speed.shapes import Shape

SHAPE: Final = Shape(10, "integer", "unique")
LIMIT: Final = "4GB"
# of five checks, one each
LEFT_OUT: Final = ("", "date_of_birth", "postcode", "employer", "income")
GROUPED: Final = "household"
DIVIDING: Final = "sex"
CHECK: Final = "[[tables.checks]]\nmeasure = 'unique_records'\nat_most = 0\nquasi_identifiers = {}"
CLASSES: Final = """[[tables.checks]]
measure = 'k'
at_least = 1
[[tables.checks]]
measure = 'records_at_risk'
threshold = 0.2
at_most = 1"""
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
    """Ten checks on ten columns: six of classes, and four others; and ten of classes alone."""
    chosen = [[name for name in SHAPE.columns if name != left] for left in LEFT_OUT]
    shared = [f"SELECT count(*) FILTER (n = 1) FROM ({_sizes(names)})" for names in chosen]
    shared.append(f"SELECT min(n) FROM ({_alone_by(GROUPED, SHAPE.columns[:2])})")
    beside = [name for name in SHAPE.columns if name != DIVIDING]
    alone = [
        f"SELECT count(*) FILTER (n = 1) FROM ({_sizes(SHAPE.columns[:3])})",
        f"SELECT min(n) FROM ({_alone_by(DIVIDING, beside)})",
    ]
    more = [
        CHECK.format(SHAPE.columns[:3]),
        f"{CHECK.format(beside)}\nby = ['{DIVIDING}']",
        CLASSES,
    ]
    settings = {"threads": str(threads), "memory_limit": LIMIT}
    database = str(folder / "people.duckdb")
    file = folder / f"{SHAPE.table}.parquet"
    policies = {
        f"10 checks, {words} among them": (_policy(file, chosen, others), shared)
        for words, others in OTHERS.items()
    }
    of_classes = _policy(file, chosen, "\n".join(more), population=False)
    policies["10 checks of classes"] = of_classes, shared + alone
    for words, (policy, queries) in policies.items():
        figures = ", ".join(f"({query}) AS figure_{place}" for place, query in enumerate(queries))
        rival = Job(
            "in_duckdb", {"sql": f"SELECT {figures}", "settings": settings, "database": database}
        )
        ours = Job("in_gate", {"policy": policy, "measure": "unique_records"})
        yield Case("gate", words, ours, rival, 1.5, table=SHAPE.table)


def _policy(
    file: Path, chosen: Sequence[Sequence[str]], others: str, *, population: bool = True
) -> str:
    grouped = f"{CHECK.format(SHAPE.columns[:2])}\nby = ['{GROUPED}']"
    head = f"""name = 'bench'
memory_limit = '{LIMIT}'
mask_below = 1
[[tables]]
name = 'people'
file = '{file}'
quasi_identifiers = {SHAPE.columns}
sensitive = ['height']
{"population = 67_000_000" if population else ""}"""
    checks = [CHECK.format(list(names)) for names in chosen]
    return "\n".join([head, *checks, grouped, others])


def _sizes(names: Sequence[str]) -> str:
    return f"SELECT count(*) AS n FROM {SHAPE.table} GROUP BY {', '.join(names)}"


def _alone_by(by: str, names: Sequence[str]) -> str:
    """Records alone within each group."""
    sizes = f"SELECT {by}, count(*) AS k FROM {SHAPE.table} GROUP BY {', '.join([*names, by])}"
    return f"SELECT count(*) FILTER (k = 1) AS n FROM ({sizes}) GROUP BY {by}"
