"""Every choice of columns of real tables: targets in processor time, next to what HPIValid takes for keys."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.speed.compare import Case
from benchmarks.speed.measure import Job

ROOT: Final = Path(__file__).parents[2]
ALL: Final = 64  # columns that a set may have
SLOWER: Final = 3  # times HPIValid's seconds that minimal keys may take


@dataclass(frozen=True)
class Keys:
    """A table whose minimal keys are listed, and HPIValid's seconds for it, reading and searching."""

    file: str
    hpivalid: float


KEYS: Final = (
    Keys("adult", 0.10),
    Keys("cps_tax_units", 0.18),
    Keys("covid19_mx", 0.28),
    Keys("census_income_kdd", 2.91),
)


def cases(threads: int) -> Iterator[Case]:
    """All subsets, minimal sets at 5 %, pairs, and keys."""
    every = "SELECT count(*) AS sets, sum(classes) AS n FROM attribute_risk({}, getvariable('names'), {})"
    yield _case(
        "adult",
        "adult, all 32,767 subsets",
        every.format("people", f"max_size := {ALL}"),
        threads,
        4.0,
    )
    yield _case(
        "census_income_kdd",
        "census, 41 columns, all pairs",
        every.format("people", "max_size := 2"),
        threads,
        3.0,
    )
    minimal = "SELECT count(*) AS sets, sum(unique_records) AS n FROM quasi_identifiers(people, {})"
    yield _case(
        "adult", "adult, minimal sets at 5 %", minimal.format(f"max_size := {ALL}"), threads, 1.0
    )
    yield _case(
        "census_income_kdd",
        "census, 43 columns, minimal sets at 5 %, up to 3",
        minimal.format("max_size := 3"),
        threads,
        20.0,
    )
    keys = "SELECT count(*) AS sets FROM quasi_identifiers(people, at_least := 1)"
    for table in KEYS:
        words = f"{table.file}, minimal keys (HPIValid {table.hpivalid:g} s)"
        yield _case(table.file, words, keys, threads, SLOWER * table.hpivalid)


def _case(name: str, words: str, sql: str, threads: int, seconds: float) -> Case:
    file = Path(os.environ.get("REID_SQL_DATA", ROOT.parent / "shared" / "data"), f"{name}.parquet")
    left_out = " EXCLUDE (instance_weight, split)" if "41 columns" in words else ""
    prepare = f"CREATE TEMP TABLE people AS SELECT DISTINCT *{left_out} FROM '{file}'"
    names = "SET VARIABLE names = (SELECT array_agg(column_name) FROM (DESCRIBE people))"
    given = {"settings": {"threads": str(threads)}, "prepare": f"{prepare}; {names}"}
    skipped = (
        None if file.exists() else f"no {name}.parquet in the data folder; set REID_SQL_DATA to it"
    )
    return Case(
        "column_sets",
        words,
        Job("in_duckdb", {"sql": sql, **given}),
        cpu_target=seconds,
        skipped=skipped,
    )
