"""QaR: counting every quasi-identifier, contributions and eliminations, against doing each of them anew."""

import os
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Final

from benchmarks.speed.compare import Case
from benchmarks.speed.measure import Job

ROOT: Final = Path(__file__).parents[2]
LEVELS: Final = (
    2,
    3,
    5,
    8,
    10,
    12,
    16,
    20,
    25,
    30,
    40,
    50,
    60,
    75,
    90,
    100,
    2,
    5,
    10,
    50,
)  # of a million records
# of 12,000: scales, age
SURVEY: Final = (2, 3, 4, 5, 5, 6, 7, 10, 11, 11, 11, 11, 11, 11, 11, 7, 14, 80)
PEOPLE: Final = 12_000
REMOVED: Final = 2500
CENSUS: Final = 40  # columns


def cases(threads: int) -> Iterator[Case]:
    """Distinct values of all triples, the contributions of all records, and the removal of a fifth."""
    yield _counted("1,000,000 × 20, p = 3, few values", 1_000_000, LEVELS, threads)
    yield _counted(
        "1,000,000 × 8, p = 3, up to 100,000 values",
        1_000_000,
        (*LEVELS[:5], 1000, 10_000, 100_000),
        threads,
    )
    yield _census(threads)
    prepare = table(PEOPLE, SURVEY)
    columns = _names(SURVEY)
    risk = f"SELECT records FROM qar_risk(people, {columns})"
    every = f"SELECT count(contribution) AS records FROM qar_risk(people, {columns}, output := 'contributions')"
    again = _job(risk, threads, prepare, PEOPLE + 1)
    yield Case(
        "qar",
        "contributions of 12,000 × 18 / 12,001 risks anew",
        _job(every, threads, prepare),
        again,
        1e-3,
    )
    path = f"qar_risk(people, {columns}, remove := {REMOVED}, output := 'elimination')"
    steps = f"SELECT {PEOPLE} AS records FROM {path} HAVING count(risk) = {REMOVED + 1}"
    naive = sum(PEOPLE - step for step in range(REMOVED))
    again = _job(risk, threads, prepare, naive)
    yield Case(
        "qar",
        f"2,500 removals of 12,000 × 18 / {naive:,} risks anew",
        _job(steps, threads, prepare),
        again,
        1e-4,
    )


def _counted(words: str, records: int, levels: tuple[int, ...], threads: int) -> Case:
    prepare, columns = table(records, levels), _names(levels)
    ours = (
        "SELECT count(*) AS choices, sum(distinct_values) AS found FROM "
        f"qar_risk(people, {columns}, output := 'quasi_identifiers')"
    )
    each = " UNION ALL ".join(
        f"SELECT count(*) AS n FROM (SELECT 1 FROM people GROUP BY {', '.join(chosen)})"
        for chosen in combinations(columns, 3)
    )
    rival = f"SELECT count(*) AS choices, sum(n) AS found FROM ({each})"
    return Case(
        "qar",
        f"{words} / GROUP BY",
        _job(ours, threads, prepare),
        _job(rival, threads, prepare),
        0.5,
    )


def _census(threads: int) -> Case:
    file = Path(
        os.environ.get("REID_SQL_DATA", ROOT.parent / "shared" / "data"),
        "census_income_kdd.parquet",
    )
    prepare = (
        f"CREATE TEMP TABLE census AS SELECT * EXCLUDE (instance_weight, split, year) FROM '{file}'"
    )
    skipped = (
        None
        if file.exists()
        else "no census_income_kdd.parquet in the data folder; set REID_SQL_DATA to it"
    )
    listed = (
        "list_transform((SELECT array_agg(column_name) FROM (DESCRIBE census)), lambda name: name)"
    )
    ask = f"SET VARIABLE all_columns = {listed}"
    sql = "SELECT quasi_identifiers, exceedances FROM qar_risk(census, getvariable('all_columns'))"
    return Case(
        "qar",
        f"census, {CENSUS} columns, p = 3",
        _job(sql, threads, f"{prepare}; {ask}"),
        target="completes",
        skipped=skipped,
    )


def _job(sql: str, threads: int, prepare: str, times: int = 1) -> Job:
    return Job(
        "in_duckdb",
        {"sql": sql, "settings": {"threads": str(threads)}, "prepare": prepare, "times": times},
    )


def _names(levels: tuple[int, ...]) -> list[str]:
    return [f"c{place}" for place in range(len(levels))]


def table(records: int, levels: tuple[int, ...]) -> str:
    """A table of skewed values: floor(levels * u^1.5), u from the hash of the record and the column."""
    draws = ", ".join(
        f"floor({count} * pow((hash(i + {place} * 100_000_000_000) >> 11) / "
        f"9007199254740992, 1.5))::INTEGER AS c{place}"
        for place, count in enumerate(levels)
    )
    return f"CREATE TEMP TABLE people AS SELECT {draws} FROM range({records}) AS people(i)"
