"""u(S), how likely who is alone in a sample is alone in the population: three estimates beside the truth.

Samples of adult, whose 32,561 records are the population; the attacker knows random sets of its columns.
Prints the mean absolute error and the mean error of u(S) by Pitman's model and by fitted models, over sets in
which somebody is alone in the sample.

    python -m benchmarks.accuracy.adversary_unique --data ../shared/data
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

import reid_sql.polars as rp
from reid_sql.engines import registry
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.population import pitman
from reid_sql.models.population.subset_uniqueness import unique_share_by_subset
from reid_sql.parameters import Integers

COLUMNS: Final = [
    *("age", "workclass", "education", "marital_status", "occupation"),
    *("relationship", "race", "sex", "hours_per_week", "native_country"),
]
FRACTIONS: Final = (0.1, 0.03, 0.01)
SAMPLES: Final = 4
SETS: Final = 40  # of columns, for each sample
KINDS: Final = ("Pitman", "people", "copula")


def main() -> None:
    """Print a row for each fraction and estimate."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    people = pl.read_parquet(parser.parse_args().data / "adult.parquet").select(COLUMNS)
    codes = people.select(pl.all().rank("dense")).to_numpy().astype(np.int64)
    print(
        "| sample | sets | mean u(S) | estimate | mean absolute error | mean error |\n"
        + "| --- " * 6
        + "|"
    )
    for fraction in FRACTIONS:
        found = np.array(
            [row for seed in range(SAMPLES) for row in _sample(people, codes, fraction, seed)]
        )
        for place, kind in enumerate(KINDS, 1):
            off = found[:, place] - found[:, 0]
            figures = f"{np.abs(off).mean():.3f} | {off.mean():+.3f}"
            print(
                f"| {fraction:.0%} | {len(found)} | {found[:, 0].mean():.3f} | {kind} | {figures} |"
            )


def _sample(
    people: pl.DataFrame, codes: Integers, fraction: float, seed: int
) -> Iterator[tuple[float, ...]]:
    """u(S) in the population and by each estimate, for random sets of columns."""
    rng, size = np.random.default_rng(seed), len(people)
    taken = np.sort(rng.choice(size, round(fraction * size), replace=False))
    own = people[taken]
    rp.fit_people("people", own, COLUMNS).collect()
    rp.fit_copula("copula", own, COLUMNS).collect()
    by_model = [unique_share_by_subset(registry.known(name), size) for name in KINDS[1:]]
    for _ in range(SETS):
        places = np.sort(rng.choice(len(COLUMNS), rng.integers(2, len(COLUMNS) + 1), replace=False))
        _, back, alike = np.unique(
            codes[:, places], axis=0, return_inverse=True, return_counts=True
        )
        held = np.bincount(back.ravel()[taken])
        sizes, classes = np.unique(held[held > 0], return_counts=True)
        if sizes[0] != 1:
            continue
        alone = taken[held[back.ravel()[taken]] == 1]
        truth = float((alike[back.ravel()[alone]] == 1).mean())
        histogram = Histogram(sizes, classes, sizes * classes)
        by_pitman = pitman.pitman_uniqueness(histogram, size).uniqueness
        shares = [
            1.0 if by_pitman is None else by_pitman,
            *(unique(places.tolist()) for unique in by_model),
        ]
        yield truth, *(min(1.0, share * len(taken) / len(alone)) for share in shares)


if __name__ == "__main__":
    main()
