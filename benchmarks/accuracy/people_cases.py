"""Samples of tables whose people are all known, and what population_risk answers for each (protocol B).

A case is a table under some of its columns and a random sample of at least 100 records. What its intervals
are made of is kept, so that other constants can be tried without fitting anew.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import polars as pl

from benchmarks.accuracy.copulas import CORPORA as CHOSEN
from benchmarks.accuracy.corpora import WEIGHTED, folder
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.people.diagnostics import predictive_checks
from reid_sql.models.people.evidence import PeopleEvidence, count_records, row_keys
from reid_sql.models.people.model import PeopleModel
from reid_sql.models.population.population_uniqueness import UniquenessEvidence, estimate_by_methods
from reid_sql.models.population_risk.answer import FittedSample, answer_by_fit, fit_sample
from reid_sql.models.population_risk.crowded_classes import CrowdedClasses
from reid_sql.models.population_risk.doubts import (
    ONLY_BOUND,
    STATUS_FEWER_REPEATS,
    compare,
    list_doubts,
)
from reid_sql.models.population_risk.intervals import Comparison, Share
from reid_sql.models.population_risk.shares import (
    KINDS,
    Shares,
    count_kinds,
    predict_by_shape,
    predict_shares,
)
from reid_sql.models.pyc import pitman_yor_forecast
from reid_sql.parameters import Integers

SHARES: Final = tuple(KINDS)
MIN_RECORDS: Final = 100  # of a sample
MAX_RECORDS: Final = 40_000
MAX_COLUMNS: Final = 10
K: Final = 5
RIVALS: Final = ("loglinear_nb", "pitman")


@dataclass(frozen=True)
class Coded:
    """A table as codes, with the values of each column and whether it has an order."""

    columns: list[str]
    codes: Integers  # (records, columns)
    values: list[list[str | None]]
    ordered: list[bool]

    def under(self, columns: Sequence[int]) -> "Coded":
        """The table under some of its columns."""
        names, values = [self.columns[j] for j in columns], [self.values[j] for j in columns]
        return Coded(names, self.codes[:, columns], values, [self.ordered[j] for j in columns])

    def sampled(self, columns: Sequence[int], rows: Integers) -> tuple[Integers, PeopleEvidence]:
        """Count some rows under some columns, with the values that they have."""
        codes, values = [], []
        for j in columns:
            seen, inverse = np.unique(self.codes[rows, j], return_inverse=True)
            codes.append(inverse)
            values.append([self.values[j][code] for code in seen.tolist()])
        names = [self.columns[j] for j in columns]
        stacked = np.stack(codes, axis=1)
        return stacked, count_records(stacked, names, values, [self.ordered[j] for j in columns])


@dataclass
class Case:
    """What a sample says of its population, and the truth."""

    name: str
    columns: int
    seed: int
    records: int
    people: int
    truth: dict[str, float]
    answer: dict[str, list[float]] = field(default_factory=dict)  # estimate, low and high by share
    status: str = ""
    rivals: dict[str, list[float | None]] = field(default_factory=dict)
    weights: list[float] = field(default_factory=list)  # of the shapes
    values: dict[str, list[float]] = field(default_factory=dict)  # of each share by shape
    variance: dict[str, float] = field(default_factory=dict)
    distance: dict[str, float] = field(default_factory=dict)
    counted: dict[str, float] = field(default_factory=dict)
    comparison: dict[str, Any] = field(default_factory=dict)
    share_left: dict[str, float] = field(default_factory=dict)  # by repeated people, of lower ends
    high_once: dict[str, float] = field(default_factory=dict)  # upper ends of each person once
    only_bound: bool = False
    counted_all: dict[str, float] = field(default_factory=dict)  # with crowded classes
    fewer_repeats: bool = False
    key: bool | None = None  # whether columns look like a key: surely, perhaps, or not
    # class size, observed, expected, deviation
    checks: list[list[float]] = field(default_factory=list)
    # records and people outside of crowded classes
    others: list[float] = field(default_factory=list)
    # shares of the others, then of the crowd
    crowd: dict[str, list[float]] = field(default_factory=dict)


def code_frame(frame: pl.DataFrame) -> Coded:
    """Encode a table; columns of numbers have an order."""
    codes, values = [], []
    for name in frame.columns:
        texts = frame[name].cast(pl.String)
        known = texts.unique(maintain_order=True)
        place = pl.DataFrame({"t": known, "c": np.arange(len(known))})
        found = pl.DataFrame({"t": texts}).join(
            place, on="t", how="left", nulls_equal=True, maintain_order="left"
        )
        codes.append(found["c"].to_numpy().astype(np.int64))
        values.append(known.to_list())
    ordered = [kind.is_numeric() for kind in frame.schema.values()]
    return Coded(frame.columns, np.stack(codes, axis=1), values, ordered)


def table(corpus: str, seed: int = 0) -> Coded:
    """Read a corpus; rows of one with weights are drawn by them."""
    frame = pl.read_parquet(folder() / f"{corpus}.parquet")
    if corpus in WEIGHTED:
        weight = frame[WEIGHTED[corpus]].to_numpy()
        rows = np.random.default_rng([seed, 77]).choice(
            len(weight), len(weight), p=weight / weight.sum()
        )
        frame = frame[rows].drop(WEIGHTED[corpus])
    chosen = CHOSEN.get(corpus)
    return code_frame(frame.select(chosen.split()) if chosen else frame.drop("poids", strict=False))


def cases_of_table(
    name: str, whole: Coded, count: int, seed: int, fractions: Sequence[float]
) -> Iterator[Case]:
    """Draw choices of columns and nested samples of a table, and measure each."""
    rng = np.random.default_rng([99, seed, *name.encode()])
    for place in range(count):
        size = int(rng.integers(2, min(len(whole.columns), MAX_COLUMNS) + 1))
        some = whole.under(np.sort(rng.choice(len(whole.columns), size, replace=False)).tolist())
        order = rng.permutation(len(whole.codes))
        sizes = [round(fraction * len(order)) for fraction in fractions]
        yield from cases_of_samples(name, some, order, sizes, place)


def cases_of_samples(
    name: str, people: Coded, order: Integers, sizes: Sequence[int], seed: int
) -> Iterator[Case]:
    """Measure nested samples of a population in this order, of at most half of it."""
    truth = count_truth(people.codes)
    for records in sizes:
        if MIN_RECORDS <= records <= min(MAX_RECORDS, len(order) // 2):
            codes, evidence = people.sampled(range(len(people.columns)), order[:records])
            case = Case(name, len(people.columns), seed, records, len(order), truth)
            yield measure(case, codes, evidence)


def measure(case: Case, codes: Integers, evidence: PeopleEvidence) -> Case:
    """Ask population_risk and its rivals, and keep what the intervals are made of."""
    fitted = fit_sample(evidence, case.people)
    row = answer_by_fit(fitted, evidence, [case.people], K)[0]
    case.status = row.status
    case.answer = {
        name: [getattr(row, name + end) for end in ("", "_low", "_high")] for name in SHARES
    }
    case.rivals = ask_rivals(codes, evidence, case.people)
    assert fitted.model is not None
    case.counted_all = count_kinds(evidence.histogram, K)
    keep_parts(case, fitted, fitted.model)
    return case


def keep_parts(case: Case, fitted: FittedSample, model: PeopleModel) -> None:
    """Keep what the intervals are made of."""
    everybody, crowd = case.people, fitted.crowd
    people = everybody if crowd is None else crowd.count_others(everybody)
    doubts = list(list_doubts(fitted.evidence, model, people, Comparison()))
    case.fewer_repeats = STATUS_FEWER_REPEATS in doubts
    case.key = None if fitted.key is None else fitted.key.is_likely
    checks = predictive_checks(model)
    case.checks = [[one.below, one.observed, one.expected, one.deviation] for one in checks]
    case.only_bound = not ONLY_BOUND.isdisjoint(doubts)
    case.comparison = vars(compare(model, fitted.evidence, people, K))
    case.counted = count_kinds(model.histogram, K)
    case.weights = _rounded(model.shapes)
    case.others = [model.records, people]
    if fitted.once is not None:
        once = predict_shares(fitted.once, people, K, random=False).parts()
        case.high_once = {name: share.high for name, share in once.items()}
    for name in SHARES:
        by_shape = predict_by_shape(model, name, people, K)
        case.values[name] = _rounded(by_shape.values)
        case.variance[name], case.distance[name] = by_shape.variance, by_shape.distance
        left = model.repeated_people.min_share_left(name, model.records / people, K)
        case.share_left[name] = left
    if crowd is not None:
        case.crowd = mix_crowd(crowd, everybody)


def mix_crowd(crowd: CrowdedClasses, people: float) -> dict[str, list[float]]:
    """Lower end, estimate and upper end of the others' part, then what the crowd adds to each, by share."""
    alone, everyone = (Shares(*[Share(x, x, x)] * 3) for x in (0.0, 1.0))
    added, total = (crowd.include(each, people, K).parts() for each in (alone, everyone))
    ends = ("low", "estimate", "high")
    return {
        name: [getattr(total[name], end) - getattr(one, end) for end in ends]
        + [getattr(one, end) for end in ends]
        for name, one in added.items()
    }


def count_truth(codes: Integers) -> dict[str, float]:
    """Count the shares of a population."""
    found, classes = np.unique(np.bincount(row_keys(codes)), return_counts=True)
    counts = count_kinds(Histogram(found, classes, found * classes), K)
    return {name: count / len(codes) for name, count in counts.items()}


def ask_rivals(
    codes: Integers, evidence: PeopleEvidence, people: int
) -> dict[str, list[float | None]]:
    """What other methods say: estimates with their intervals."""
    key = row_keys(codes)
    _, first, size = np.unique(key, return_index=True, return_counts=True)
    logs = [np.log(n / len(codes))[c] for n, c in zip(evidence.counts, codes[first].T, strict=True)]
    held = UniquenessEvidence(size, np.log(len(codes)) + np.sum(logs, axis=0), np.ones_like(size))
    found: dict[str, list[float | None]] = {}
    for name in RIVALS:
        row = estimate_by_methods(held, people, name)[0]
        found[name] = [row.uniqueness, row.uniqueness_low, row.uniqueness_high]
    pyc = pitman_yor_forecast.forecast_pitman_yor(evidence.histogram, [people], K)[0]
    found["pyc"] = [pyc.uniqueness, pyc.uniqueness_low, pyc.uniqueness_high]
    return found


def _rounded(values: np.ndarray) -> list[float]:
    return [float(f"{value:.7g}") for value in values]
