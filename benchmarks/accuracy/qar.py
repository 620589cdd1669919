"""QaR on real tables, the paper's comparisons and open questions: `python -m benchmarks.accuracy.qar`.

Tables of 12,129 records, the size of the paper's, drawn by a fixed seed; words become the ranks of their
spelling.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from benchmarks.accuracy.corpora import folder
from reid_sql.models.classes.quasi_identifiers import (
    Codes,
    QuasiIdentifiers,
    choose_quasi_identifiers,
)
from reid_sql.models.extreme.extreme_risk import Level, count_distinct_values
from reid_sql.models.extreme.record_contributions import compare_proxies, measure_contributions
from reid_sql.models.extreme.removal import select_deciding, unique_record_bits
from reid_sql.models.extreme.removal_path import BY, remove_records

RECORDS: Final = 12_129
SHARE: Final = 2500 / RECORDS
LEFT_OUT: Final = {
    "cps_tax_units": [
        "weight_x100",
        "wages",
        "unemployment_comp",
        "social_security",
        "snap_ben",
        "filing_year",
    ],
    "brfss2020_heart": ["race"],
    "covid19_mx": ["date_died"],
    "hdv2003": ["poids"],
    "census_income_kdd": ["instance_weight", "split"],
}
WIDEST: Final = 20
LEVEL: Final = Level()
EARLY: Final = 100


def main() -> None:
    """Print correlations, what explains the contributions, and falls of the risk."""
    names = (
        "table",
        "T",
        "unique for none",
        "Pearson U⁺",
        "Kendall U⁺",
        "R² of U⁺",
        "R² of U⁺, threshold",
        "R² of the deciding",
    )
    records, falls = Table(*names), Table("table", "records", *BY.words, "bound")
    for name, chosen in tables(folder()):
        whole = remove_records(chosen, LEVEL, 1)[0].risk
        records.add_row(name, f"{whole:.4f}", *(f"{value:.3f}" for value in explained(chosen)))
        for row in fallen(chosen, round(SHARE * chosen.records)):
            falls.add_row(name, *row)
    Console(width=180).print(records, falls)


def tables(data: Path) -> Iterator[tuple[str, QuasiIdentifiers]]:
    """Give the tables with all their triples."""
    for name, left_out in LEFT_OUT.items():
        table = pl.read_parquet(data / f"{name}.parquet").drop(left_out)
        table = table.select(table.columns[:WIDEST]).with_columns(
            pl.col(pl.String).rank("dense"), pl.col(pl.Float64).round(0)
        )
        table = table.fill_null(0).sample(min(RECORDS, table.height), seed=1)
        codes = [table[column].rank("dense").cast(pl.Int32).to_numpy() for column in table.columns]
        yield (
            name,
            choose_quasi_identifiers(
                Codes(table.columns, [True] * len(codes), codes, np.arange(table.height)), 3
            ),
        )


def explained(chosen: QuasiIdentifiers) -> list[float]:
    """Share of records unique for nothing; correlations of U⁺; how much of DT a line explains.

    Of ever more of U.
    """
    found, distinct = measure_contributions(chosen, LEVEL), count_distinct_values(chosen)
    only = select_deciding(distinct, LEVEL)
    ascending = only[np.argsort(distinct[only], kind="stable")]
    alone = np.unpackbits(unique_record_bits(chosen, ascending), axis=1)[
        :, : chosen.records
    ].T.astype(float)
    first = compare_proxies(chosen, LEVEL)[0]
    at_threshold = np.column_stack([found.u_plus, alone[:, :2]])
    fits = [explains(x, found.contribution) for x in (found.u_plus[:, None], at_threshold, alone)]
    return [float((found.unique == 0).mean()), first.pearson or 0.0, first.kendall or 0.0, *fits]


def explains(
    columns: np.ndarray[tuple[int, int], np.dtype[np.float64]],
    response: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> float:
    """R² of the line through all columns."""
    known = np.column_stack([np.ones(len(response)), columns])
    rest = response - known @ np.linalg.lstsq(known, response, rcond=None)[0]
    return float(1 - rest.var() / response.var())


def fallen(chosen: QuasiIdentifiers, steps: int) -> Iterator[list[str]]:
    """Falls of the risk early, and at the end, by every order; and what no order passes."""
    paths = {
        by: remove_records(chosen, LEVEL, steps, by)
        for by in ("exact", "dt", "u_plus", "u_star", "entropy", "pls")
    }
    for step in (min(EARLY, steps), steps):
        cells = [
            f"{1 - (rows[step].risk or np.nan) / (rows[0].risk or np.nan):.1%}"
            for rows in paths.values()
        ]
        bound = paths["exact"][step].bound or np.nan
        yield [str(step), *cells, f"{1 - bound / (paths['exact'][0].risk or np.nan):.1%}"]


if __name__ == "__main__":
    main()
