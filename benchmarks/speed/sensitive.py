"""Measures of a sensitive column of very many values, in classes of which nearly all are one record."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.speed.compare import Case
from benchmarks.speed.measure import Job
from benchmarks.speed.shapes import Shape

SHAPE: Final = Shape(3, "integer", "unique")
SENSITIVE: Final = "employer"  # of 200,000 values
TARGET: Final = 4.0
MEASURES: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    *(("l_diversity", {"variant": variant}) for variant in ("distinct", "entropy", "recursive")),
    *(("t_closeness", {"variant": variant}) for variant in ("equal", "ordered", "numeric")),
    ("attribute_disclosure", {}),
    *(
        ("attribute_disclosure", {"measure": measure, "variant": variant})
        for measure, variant in (
            ("beta_likeness", "basic"),
            ("beta_likeness", "enhanced"),
            ("delta_disclosure", "present"),
            ("delta_disclosure", "all"),
        )
    ),
)


def cases(folder: Path, threads: int) -> Iterator[Case]:
    """Each measure in DuckDB and in Polars, against the engine's bare GROUP BY of the quasi-identifiers."""
    settings = {"threads": str(threads)}
    database = str(folder / "people.duckdb")
    grouped = f"SELECT count(*) AS n FROM {SHAPE.table} GROUP BY {', '.join(SHAPE.columns)}"
    bare = f"SELECT sum(n)::BIGINT AS records, count(*) AS classes, min(n) AS k FROM ({grouped})"
    for measure, options in MEASURES:
        told = "".join(f", {name} := '{value}'" for name, value in options.items())
        call = f"{measure}({SHAPE.table}, {SHAPE.columns}, '{SENSITIVE}'{told})"
        sides = (f"SELECT records, classes, k FROM {call}", bare)
        ours, rival = (
            Job("in_duckdb", {"sql": sql, "settings": settings, "database": database})
            for sql in sides
        )
        yield Case("sensitive", f"DuckDB, {measure}{told}", ours, rival, TARGET, table=SHAPE.table)
    read = {
        "file": str(folder / f"{SHAPE.table}.parquet"),
        "columns": SHAPE.columns,
        "sensitive": SENSITIVE,
    }
    for measure, options in MEASURES:
        told = "".join(f", {value}" for value in options.values())
        job = read | {"measure": measure, "options": options}
        ours, rival = (Job("measures_in_polars", job | {"ours": mine}) for mine in (True, False))
        yield Case("sensitive", f"Polars, {measure}{told}", ours, rival, TARGET, table=SHAPE.table)
