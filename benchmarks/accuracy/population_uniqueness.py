"""The figures of docs/population_uniqueness.md: all methods on random samples of real tables.

As in the supplement's Fig. 4, 12. python -m benchmarks.accuracy.population_uniqueness [tables of each corpus]
"""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import duckdb
import numpy as np
import numpy.typing as npt

from benchmarks.accuracy.corpora import CHOSEN, folder
from benchmarks.accuracy.trial import K
from reid_sql.errors import ReidError
from reid_sql.models.population import loglinear
from reid_sql.models.population.loglinear import FittedRecords, LoglinearRisk
from reid_sql.models.population.population_uniqueness import (
    METHODS,
    UniquenessEvidence,
    estimate_by_methods,
)
from reid_sql.models.pyc import pitman_yor_forecast
from reid_sql.parameters import Integers

CORPORA: Final = ("adult", "census_income_kdd", "cps_tax_units", "brfss2020_heart")
ALL_COLUMNS: Final = "COLUMNS(*)"
OF_CLASSES: Final = [name for name in METHODS if name not in {"people", "copula"}]
FRACTIONS: Final = (0.1, 0.05, 0.01, 0.001)
LEAST: Final = 100  # records of a sample
WITH_INTERACTIONS: Final = (0.1, 0.01)
MOST_COLUMNS: Final = 10
SEED: Final = 2019


@dataclass(frozen=True)
class Drawn:
    """A sample's distinct records: how many of the sample and of the population hold each, and codes."""

    records: Integers  # (distinct,)
    people: Integers  # (distinct,)
    codes: Integers  # (distinct, columns)

    @property
    def fitted(self) -> FittedRecords:
        """What the engines hand to the log-linear model."""
        total = self.records.sum()
        margins = [
            np.log(np.bincount(column, self.records)[column] / total) for column in self.codes.T
        ]
        return FittedRecords(self.records, np.log(total) + np.sum(margins, axis=0), self.codes)

    @property
    def evidence(self) -> UniquenessEvidence:
        """What the engines hand to all methods."""
        return UniquenessEvidence(
            self.records, self.fitted.log_expected, np.ones_like(self.records)
        )


@dataclass
class Figures:
    """What came out, by method or model and fraction."""

    errors: dict[tuple[str, float], list[float]] = field(
        default_factory=lambda: defaultdict(list)
    )  # estimate − truth
    failed: dict[tuple[str, float], int] = field(default_factory=lambda: defaultdict(int))
    sides: dict[tuple[str, float], list[int]] = field(
        default_factory=lambda: defaultdict(list)
    )  # where the truths lie: −1 below the interval, 1 above it
    brier: dict[tuple[str, float], list[float]] = field(default_factory=lambda: defaultdict(list))


def main() -> None:
    """Measure, and print the tables."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    figures = Figures()
    for corpus in CORPORA:
        measure(corpus, count, figures)
    told(
        "MAE, p.p. (bias; failures)", OF_CLASSES, lambda name, share: _errors(figures, name, share)
    )
    told(
        "95 % intervals that contain the true value; true values below, above",
        ["bound", "pitman", "loglinear_nb", "pyc", "pyc, κ", f"pyc, V_{K}"],
        lambda name, share: _held(figures, name, share),
    )
    models = sorted({name for name, _ in figures.brier})
    told("Brier score of sample uniques", models, lambda name, share: _brier(figures, name, share))


def measure(corpus: str, count: int, figures: Figures) -> None:
    """Draw samples of random columns of a corpus, and hold every method against what is counted."""
    rng = np.random.default_rng([SEED, CORPORA.index(corpus)])
    codes = coded(corpus)
    for columns in _subsets(codes.shape[1], count, rng):
        table = codes[:, columns]
        record = classes_of(table)
        people = np.bincount(record)
        for share in FRACTIONS:
            if share * len(table) >= LEAST:
                rows = rng.choice(len(table), int(share * len(table)), replace=False)
                distinct, first = np.unique(record[rows], return_index=True)
                drawn = Drawn(
                    np.bincount(record[rows])[distinct], people[distinct], table[rows[first]]
                )
                found = _methods(
                    drawn, len(table), float((people == 1).sum()) / len(table), share, figures
                )
                _forecast(drawn, people, share, figures)
                _models(drawn, found, share, figures)


def coded(corpus: str) -> Integers:
    """Codes of the values of the corpus's columns: (records, columns)."""
    chosen = CHOSEN.get(corpus, ALL_COLUMNS)
    names = chosen if chosen.startswith("COLUMNS") else ", ".join(chosen.split())
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE people AS SELECT {names} FROM '{folder() / corpus}.parquet'")
        columns = [str(row[0]) for row in con.execute("DESCRIBE people").fetchall()]
        ranks = ", ".join(
            f'dense_rank() OVER (ORDER BY "{name}") - 1 AS c{place}'
            for place, name in enumerate(columns)
        )
        found = con.execute(f"SELECT {ranks} FROM people").fetchnumpy()
        return np.stack(
            [np.asarray(found[f"c{place}"]).astype(np.int64) for place in range(len(columns))],
            axis=1,
        )


def classes_of(codes: Integers) -> npt.NDArray[np.int64]:
    """Number of the class of each record."""
    found = np.zeros(len(codes), dtype=np.int64)
    for column in codes.T:
        found = np.unique(found * (column.max() + 1) + column, return_inverse=True)[1].ravel()
    return found


def _subsets(columns: int, count: int, rng: np.random.Generator) -> Iterator[list[int]]:
    for _ in range(count):
        some = rng.choice(columns, rng.integers(2, min(columns, MOST_COLUMNS) + 1), replace=False)
        yield sorted(some.tolist())


def _methods(
    drawn: Drawn, population: int, truth: float, share: float, figures: Figures
) -> dict[str, float | None]:
    rows = estimate_by_methods(drawn.evidence, population)
    for row in rows:
        if row.uniqueness is None:
            figures.failed[row.method, share] += 1
            continue
        figures.errors[row.method, share].append(row.uniqueness - truth)
        if row.uniqueness_high is not None:
            side = _side(truth, row.uniqueness_low or 0.0, row.uniqueness_high)
            figures.sides[row.method, share].append(side)
    return {row.method: row.uniqueness for row in rows}


def _forecast(drawn: Drawn, people: Integers, share: float, figures: Figures) -> None:
    """The same of what `pyc_forecast` says beside Ξ."""
    row = pitman_yor_forecast.forecast_pitman_yor(drawn.evidence.histogram, [people.sum()], K)[0]
    matched, few = len(people) / people.sum(), people[people < K].sum() / people.sum()
    for name, truth, low, high in (
        ("pyc, κ", matched, row.correctness_low, row.correctness_high),
        (f"pyc, V_{K}", few, row.k_violation_low, row.k_violation_high),
    ):
        figures.sides[name, share].append(_side(float(truth), low, high))


def _side(truth: float, low: float, high: float) -> int:
    """−1 where the truth lies below the interval, 1 above it."""
    return int(truth > high) - int(truth < low)


def _models(drawn: Drawn, rows: Mapping[str, float | None], share: float, figures: Figures) -> None:
    alone = drawn.records == 1
    if not alone.any():
        return
    truth = (drawn.people == 1)[alone].astype(float)
    found = {"best constant": np.full(len(truth), truth.mean())}
    for method in ("zayatz", "pitman"):
        certain = rows[method] is None
        chance = (
            1.0 if certain else min(1.0, (rows[method] or 0.0) * drawn.records.sum() / alone.sum())
        )
        found[f"{method}, the same for all"] = np.full(len(truth), chance)
    for interactions in (0, 2):
        scored = _scored(drawn, share, interactions)
        if scored is None:
            figures.failed[f"{interactions} interactions", share] += (
                share in WITH_INTERACTIONS or interactions == 0
            )
            continue
        found[f"poisson, interactions {interactions}"] = scored.uniqueness[alone]
        found[f"negative binomial, interactions {interactions}"] = scored.nb_uniqueness[alone]
    for name, chance in found.items():
        figures.brier[name, share].append(float(np.mean((chance - truth) ** 2)))


def _scored(drawn: Drawn, share: float, interactions: int) -> LoglinearRisk | None:
    if interactions and share not in WITH_INTERACTIONS:
        return None
    try:
        return loglinear.score_fitted_records(drawn.fitted, share, interactions)
    except ReidError:
        return None


def told(title: str, names: Sequence[str], cell: Callable[[str, float], str]) -> None:
    """Print one table in Markdown."""
    heads = [f"{100 * share:g} %" for share in FRACTIONS]
    print(f"\n| {title} | {' | '.join(heads)} |\n" + "| --- " * (len(heads) + 1) + "|")
    for name in names:
        print(f"| {name} | {' | '.join(cell(name, share) for share in FRACTIONS)} |")


def _errors(figures: Figures, name: str, share: float) -> str:
    found = 100 * np.array(figures.errors[name, share])
    failures = figures.failed[name, share]
    return (
        f"{np.abs(found).mean():.2f} ({found.mean():+.2f}; {failures})"
        if len(found)
        else f"({failures})"
    )


def _held(figures: Figures, name: str, share: float) -> str:
    found = figures.sides[name, share]
    return f"{found.count(0)} of {len(found)}; {found.count(-1)}, {found.count(1)}" if found else ""


def _brier(figures: Figures, name: str, share: float) -> str:
    found = figures.brier[name, share]
    return f"{np.mean(found):.4f} of {len(found)}" if found else ""


if __name__ == "__main__":
    main()
