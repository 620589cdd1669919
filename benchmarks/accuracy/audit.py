"""How often audit_synthetic finds copies in a synthetic table, and how often it blames a table without any.

python -m benchmarks.accuracy.audit: needs adult.parquet in the folder that REID_SQL_DATA names. In each draw
the people are divided into those who are used and a holdout; every column of the synthetic table is drawn by
itself, or within the age, from the used ones, and a share of its records are copies.
"""

import os
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl

import reid_sql.polars as rp

QI = ["age", "education", "marital_status", "race", "sex", "native_country"]
SENSITIVE = ["occupation"]
DRAWS = 60
COPIES = (0.0, 0.001, 0.01, 0.05)


def draw_synthetic(used: pl.DataFrame, copied: float, rng: np.random.Generator) -> pl.DataFrame:
    """Draw each column by itself, then put copies of records in the place of a share of them."""
    records = used.height
    drawn = used.select(used[name].gather(rng.integers(0, records, records)) for name in used.columns)
    count = round(copied * records)
    return pl.concat([drawn.head(records - count), used[rng.choice(records, count, replace=False)]])


def count_found(people: pl.DataFrame, copied: float) -> Counter[str]:
    """Draws in which each attack's interval lies above 0."""
    found: Counter[str] = Counter()
    for draw in range(DRAWS):
        rng = np.random.default_rng([draw, round(copied * 1000)])
        order = rng.permutation(people.height)
        used, holdout = people[order[: people.height // 2]], people[order[people.height // 2 :]]
        synthetic = draw_synthetic(used, copied, rng)
        rows = rp.audit_synthetic(used, synthetic, QI, sensitive=SENSITIVE, holdout=holdout).collect()
        found.update({row["attack"]: row["low"] > 0 for row in rows.to_dicts()})
    return found


def main() -> None:
    """Print the share of draws in which each attack's interval lies above 0, by the share of copies."""
    people = pl.read_parquet(Path(os.environ["REID_SQL_DATA"]) / "adult.parquet").select(QI + SENSITIVE)
    for copied in COPIES:
        shares = {attack: hits / DRAWS for attack, hits in count_found(people, copied).items()}
        print(f"{copied:.1%} copied", shares, file=sys.stdout)


if __name__ == "__main__":
    main()
