"""The figures of docs/adversary.md: adult under the shipped scenarios.

As in Tables 3 and 4 of Xia et al. 2021. python -m benchmarks.accuracy.adversary [folder of the data]
"""

import os
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

import reid_sql.polars as rp
from reid_sql.scenarios import scenario

SCENARIOS: Final = {"social media": "adult_social_media", "voter register": "adult_voter_register"}
SIZES: Final = (1_000, 4_000, 7_000, 20_000, 30_000)
QUARTILES: Final = ("lower_quartile", "median", "upper_quartile")
SETS: Final = 10


def by_size(adult: pl.DataFrame) -> None:
    """Reduction of each measure by the size of the sample."""
    print(
        "| scenario | records | journalist Q1 | prosecutor Q1 | marketer Q1 | median | Q3 |\n"
        + "| --- " * 7
        + "|"
    )
    for name, file in SCENARIOS.items():
        for size in SIZES:
            sample = adult.sample(size, seed=size, shuffle=True)
            rows = {
                row["measure"]: row
                for row in rp.adversary_summary(sample, file).collect().to_dicts()
            }
            found = [
                rows[measure]["reduction_lower_quartile"]
                for measure in ("journalist", "prosecutor")
            ]
            found += [rows["marketer"][f"reduction_{quartile}"] for quartile in QUARTILES]
            print(
                f"| {name} | {size:,} | {' | '.join(f'{100 * share:.2f} %' for share in found)} |"
            )


def by_setting(adult: pl.DataFrame) -> None:
    """Overall risk and its reduction over all settings and sets of 1,000 subjects.

    Averages and standard deviations.
    """
    found: dict[str, list[Any]] = {}
    for seed in range(SETS):
        sample = adult.sample(1_000, seed=seed, shuffle=True)
        for name, file in {"worst case": "adult_worst_case", **SCENARIOS}.items():
            rows = rp.adversary_summary(sample, file, output="sensitivity")
            prefix = "" if name == "worst case" else "reduction_"
            found.setdefault(name, []).append(
                rows.select(f"{prefix}{quartile}" for quartile in QUARTILES).collect().to_numpy()
            )
    for name, runs in found.items():
        table = np.array(runs)  # (sets, settings, quartiles)
        settings = table.mean(axis=0)
        print(
            name,
            "average",
            settings.mean(axis=0).round(4),
            "SD over settings",
            settings.std(axis=0, ddof=1).round(4),
        )
        print(name, "average SD over sets", table.std(axis=0, ddof=1).mean(axis=0).round(4))


def main() -> None:
    """Print both tables."""
    folder = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("REID_SQL_DATA", "../shared/data")
    adult = pl.read_parquet(Path(folder, "adult.parquet")).select(
        scenario("adult_worst_case").columns
    )
    by_size(adult)
    by_setting(adult)


if __name__ == "__main__":
    main()
