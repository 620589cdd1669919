"""Sparse matching: real baskets, how well some of the people tell the correctness among all of them."""

from dataclasses import dataclass
from typing import Final

import duckdb

import reid_sql
from benchmarks.accuracy.corpora import folder
from benchmarks.accuracy.published import METHODS
from reid_sql.models.classes.uniqueness import default_subset_sizes
from reid_sql.models.pyc import extrapolation

FILES: Final = ("baskets_groceries", "baskets_epub")
POINTS: Final = (1, 2, 3, 4, 5)
SPARSE_FRACTIONS: Final = (0.01, 0.05, 0.1, 1.0)
SPARSE_TENTH: Final = 0.036  # Table 1, row "Sparse", 10 %


@dataclass(frozen=True)
class Sparse:
    """Errors of κ among all people, by method, from galleries of up to a fraction of them."""

    file: str
    points: int
    fraction: float
    errors: dict[str, float]


def measure_sparse(file: str, points: int) -> list[Sparse]:
    """Extrapolate one curve from each fraction of it."""
    with duckdb.connect() as con:
        reid_sql.register(con)
        con.execute(f"CREATE TABLE baskets AS FROM '{folder() / file}.parquet'")
        people = con.execute("SELECT count(DISTINCT basket) FROM baskets").fetchall()[0][0]
        return [_from(con, file, points, people, fraction) for fraction in SPARSE_FRACTIONS]


def _from(
    con: duckdb.DuckDBPyConnection, file: str, points: int, people: int, fraction: float
) -> Sparse:
    sizes = default_subset_sizes(round(people * fraction)).tolist()
    call = (
        "unicity(baskets, 'basket', ['item'], output := 'curve', "
        f"points := {points}, sizes := {[*sizes, people]})"
    )
    found = [
        float(row[0])
        for row in con.execute(f"SELECT correctness FROM {call} ORDER BY n").fetchall()
    ]
    curve, truth = found[: len(sizes)], found[-1]
    answers = {
        name: float(extrapolation.extrapolate(sizes, curve, people, name).correctness)
        for name in METHODS
    }
    return Sparse(
        file, points, fraction, {name: answer - truth for name, answer in answers.items()}
    )
