"""Real microdata: which columns of which file, and the class sizes of random subsets of them."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import duckdb
import numpy as np
import pyarrow as pa

import reid_sql
from reid_sql.models.classes.disclosure import Histogram

ROOT: Final = Path(__file__).parents[2]
# The columns of each file, said by what they are not where that is shorter. A weight is resampled by, never a
# column.
CHOSEN: Final = {
    "adult": """age workclass education_num marital_status occupation relationship race sex
        hours_per_week native_country""",
    "census_income_kdd": """age class_of_worker education enrolled_in_edu marital_status major_industry
        major_occupation race hispanic_origin sex employment_status tax_filer_status prev_state
        household_detail household_summary family_members_under18 father_birth_country mother_birth_country
        self_birth_country citizenship weeks_worked""",
    "hdv2003": "COLUMNS(* EXCLUDE poids)",
    "cps_tax_units": "COLUMNS(* EXCLUDE weight_x100)",
    "browser_user_agents": "COLUMNS(* EXCLUDE weight)",
}
# Drawn from only where they are named.
FURTHER: Final = {"brfss2020_heart": "COLUMNS(*)", "covid19_mx": "COLUMNS(*)"}
WEIGHTED: Final = {"browser_user_agents": "weight"}


@dataclass(frozen=True)
class Dataset:
    """One table under one choice of quasi-identifiers: all that matters is its class sizes."""

    corpus: str
    name: str
    histogram: Histogram

    @property
    def records(self) -> int:
        return int(self.histogram.records.sum())

    @property
    def correctness(self) -> float:
        return int(self.histogram.classes.sum()) / self.records


def folder() -> Path:
    """Find the folder of real microdata; leave with one sentence where it lacks a file."""
    found = Path(os.environ.get("REID_SQL_DATA", ROOT.parent / "shared" / "data"))
    missing = [f"{name}.parquet" for name in CHOSEN if not (found / f"{name}.parquet").exists()]
    if missing:
        raise SystemExit(
            f"the accuracy benchmark needs {', '.join(missing)} in {found}; set REID_SQL_DATA to their folder"
        )
    return found


def real(corpus: str, count: int, seed: int) -> list[Dataset]:
    """Count the classes of `count` random subsets of the columns of a corpus."""
    rng = np.random.default_rng([seed, list(CHOSEN | FURTHER).index(corpus)])
    with duckdb.connect() as con:
        reid_sql.register(con)
        _load(con, corpus, rng)
        columns = [str(row[0]) for row in con.execute("DESCRIBE people").fetchall()]
        return [
            Dataset(corpus, " ".join(some), _counted(con, some))
            for some in _subsets(columns, count, rng)
        ]


def _load(con: duckdb.DuckDBPyConnection, corpus: str, rng: np.random.Generator) -> None:
    """Make the table of people, resampled with replacement where the corpus has weights."""
    file, chosen = folder() / f"{corpus}.parquet", (CHOSEN | FURTHER)[corpus]
    names = chosen if chosen.startswith("COLUMNS") else ", ".join(chosen.split())
    source = f"read_parquet('{file}', file_row_number = true)"
    if corpus in WEIGHTED:
        weight = con.execute(
            f"SELECT {WEIGHTED[corpus]} AS w FROM {source} ORDER BY file_row_number"
        ).fetchnumpy()["w"]
        rows = rng.choice(weight.size, weight.size, p=weight / weight.sum())
        con.register("drawn", pa.table({"drawn_row": rows}))
        source = f"drawn JOIN {source} ON drawn_row = file_row_number"
    con.execute(f"CREATE TABLE people AS SELECT {names} FROM {source}")
    for extra in ("file_row_number", "drawn_row"):
        con.execute(f"ALTER TABLE people DROP COLUMN IF EXISTS {extra}")


def _subsets(columns: Sequence[str], count: int, rng: np.random.Generator) -> Iterator[list[str]]:
    """Draw distinct subsets: how many columns, then which, each uniformly."""
    seen: set[tuple[int, ...]] = set()
    while len(seen) < count:
        some = tuple(
            sorted(
                rng.choice(len(columns), rng.integers(1, len(columns) + 1), replace=False).tolist()
            )
        )
        if some not in seen:
            seen.add(some)
            yield [columns[place] for place in some]


def _counted(con: duckdb.DuckDBPyConnection, columns: Sequence[str]) -> Histogram:
    sql = f"SELECT class_size, classes, records FROM class_size_histogram(people, {list(columns)})"
    found = con.execute(sql).fetchnumpy()
    return Histogram(
        *(np.asarray(found[name]).astype(np.int64) for name in ("class_size", "classes", "records"))
    )
