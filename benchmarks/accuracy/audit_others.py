"""How well audit_synthetic ranks people who were used, beside attacks of others that need no training.

python -m benchmarks.accuracy.audit_others [DRAWS]: needs adult.parquet in the folder that REID_SQL_DATA
names. The package registry has no Synth-MIA. Attacks of its kind are re-implemented here, over columns that
are one-hot or scaled from 0 to 1: the distance to the closest record, the same less that to the closest of
other people, and the number of synthetic records within the median distance (Hilprecht et al. 2019).
"""

import os
import sys
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
from scipy.spatial.distance import cdist

from benchmarks.accuracy.audit import FEW, MANY, attack, draw_marginals, leak
from reid_sql.parameters import Floats

RECORDS: Final = 2000
SHARES: Final = (0.05, 0.2)  # of records copied


def encode(tables: list[pl.DataFrame]) -> list[Floats]:
    """Scale numbers from 0 to 1, and write other values one-hot."""
    together = pl.concat(tables)
    numbers = [name for name in together.columns if together[name].dtype.is_numeric()]
    scaled = together.with_columns(
        (pl.col(name) - pl.col(name).min()) / (pl.col(name).max() - pl.col(name).min())
        for name in numbers
    )
    wide = scaled.to_dummies([name for name in together.columns if name not in numbers]).to_numpy()
    ends = np.cumsum([table.height for table in tables])[:-1]
    return np.split(wide.astype(np.float64), ends)


def measure_area(used: Floats, unused: Floats) -> float:
    """The area under the ROC curve of scores, by ranks of equal scores in the middle."""
    both = np.concatenate([used, unused])
    ordered = np.sort(both)
    ranks = (
        np.searchsorted(ordered, used, "left") + np.searchsorted(ordered, used, "right") + 1
    ) / 2
    return float((ranks.sum() - len(used) * (len(used) + 1) / 2) / (len(used) * len(unused)))


def score_others(tables: list[pl.DataFrame]) -> dict[str, float]:
    """Areas of the re-implemented attacks: tables of used and unused people, synthetic, and of others."""
    used, unused, synthetic, reference = encode(tables)
    people = np.concatenate([used, unused])
    to_synthetic, to_reference = cdist(people, synthetic), cdist(people, reference)
    closest = to_synthetic.min(axis=1)
    scores = {
        "closest record": -closest,
        "closest record less closest other": to_reference.min(axis=1) - closest,
        "records within the median": (to_synthetic <= np.median(closest))
        .sum(axis=1)
        .astype(np.float64),
    }
    return {
        name: measure_area(each[: len(used)], each[len(used) :]) for name, each in scores.items()
    }


def main() -> None:
    """Print the mean area of each attack, of the draws."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    people = pl.read_parquet(Path(os.environ["REID_SQL_DATA"]) / "adult.parquet")
    for columns in (FEW, MANY):
        for copied in SHARES:
            areas: dict[str, list[float]] = {}
            for draw in range(draws):
                rng = np.random.default_rng([draw, len(columns), round(copied * 100)])
                parts = rng.permutation(people.height)[: 4 * RECORDS].reshape(4, RECORDS)
                used, unused, others, reference = (people.select(columns)[part] for part in parts)
                copies = used[rng.choice(RECORDS, round(copied * RECORDS), replace=False)]
                synthetic = leak(used, draw_marginals(others, rng), copies)
                for row in attack(used, synthetic, unused, rng):
                    if row.figure == "auc" and row.original is not None:
                        areas.setdefault(row.attack, []).append(row.original)
                for name, area in score_others([used, unused, synthetic, reference]).items():
                    areas.setdefault(f"re-implemented: {name}", []).append(area)
            means = {name: round(float(np.mean(each)), 4) for name, each in areas.items()}
            print(
                len(columns), "columns", f"{copied:.0%} copied", means, file=sys.stdout, flush=True
            )


if __name__ == "__main__":
    main()
