"""Random columns of tables of people, samples of them, and what each says of the whole (protocol B).

The choices of columns are random. A case is a table under 2 to 10 of its columns and a random sample of at
least 100 records. The curves of the model on all shapes are kept, so that constants can be chosen on some
corpora and judged on others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Final

import numpy as np
import polars as pl

from benchmarks.accuracy.copulas import CORPORA as CHOSEN
from benchmarks.accuracy.corpora import WEIGHTED, folder
from reid_sql.models.classes.disclosure import Histogram, Integers
from reid_sql.models.classes.uniqueness import correctness_curve, default_subset_sizes
from reid_sql.models.people import overdispersion
from reid_sql.models.people.evidence import PeopleEvidence, count_records, row_keys
from reid_sql.models.people.fit import fit
from reid_sql.models.people.functional_dependencies import (
    choose_dependencies,
    drop_columns,
    find_dependencies,
)
from reid_sql.models.people.model import PeopleModel
from reid_sql.models.population.evidence import UniquenessEvidence
from reid_sql.models.population.population_uniqueness import estimate_by_methods
from reid_sql.models.population_risk.answer import loglinear_uniqueness
from reid_sql.models.population_risk.shares import KINDS, ShareKind, predict_by_sample
from reid_sql.models.pyc import extrapolation, pitman_yor_forecast
from reid_sql.parameters import Floats

OF_PEOPLE: Final = (
    *("adult", "census_income_kdd", "cps_tax_units", "hdv2003", "brfss2020_heart", "covid19_mx"),
)
FOREIGN: Final = ("browser_user_agents",)
FRACTIONS: Final = {"hdv2003": (0.1, 0.05)}
USUAL: Final = (0.1, 0.01, 0.001)
LEAST: Final = 100  # records of a sample
WIDEST: Final = 10
K: Final = 5
RIVALS: Final = ("loglinear_nb", "pitman", "ewens")


@dataclass(frozen=True)
class Coded:
    """A table as codes, with the values of each column and whether it has an order."""

    columns: list[str]
    codes: Integers  # (records, columns)
    values: list[list[str | None]]
    ordered: list[bool]

    def sampled(self, columns: Sequence[int], rows: Integers) -> tuple[Integers, PeopleEvidence]:
        """Count some rows under some columns, with the values that they have."""
        codes, values = [], []
        for j in columns:
            seen, inverse = np.unique(self.codes[rows, j], return_inverse=True)
            codes.append(inverse)
            values.append([self.values[j][code] for code in seen.tolist()])
        names = [self.columns[j] for j in columns]
        fit_mixture = np.stack(codes, axis=1)
        return fit_mixture, count_records(fit_mixture, names, values, [self.ordered[j] for j in columns])


@dataclass
class Case:
    """What a sample says of its population, and the truth."""

    corpus: str
    columns: list[str]
    seed: int
    fraction: float
    records: int
    people: int
    seconds: float = 0.0
    sure: bool = True  # that columns left out follow from others
    twins: list[float] = field(default_factory=lambda: [0.0, 0.0])  # ends of the chance of a twin
    grouped: list[float] = field(default_factory=lambda: [0.0, 0.0])  # least τ of groups, of how many records
    entropy: float = 0.0
    own: list[float] = field(default_factory=list)  # log-likelihood of shapes by the table's own repeats
    others: list[tuple[float, list[float]]] = field(
        default_factory=list
    )  # entropy and likelihood of sub-tables
    truth: dict[str, float] = field(default_factory=dict)
    sample: dict[str, float] = field(default_factory=dict)
    of_model: dict[str, list[float]] = field(default_factory=dict)  # on LOG_SHAPES
    of_sample: dict[str, list[float]] = field(default_factory=dict)
    variances: dict[str, list[float]] = field(default_factory=dict)
    rivals: dict[str, list[float | None]] = field(default_factory=dict)


def table(corpus: str, seed: int = 0) -> Coded:
    """Read a corpus; rows of one with weights are drawn by them."""
    frame = pl.read_parquet(folder() / f"{corpus}.parquet")
    if corpus in WEIGHTED:
        weight = frame[WEIGHTED[corpus]].to_numpy()
        rows = np.random.default_rng([seed, 77]).choice(len(weight), len(weight), p=weight / weight.sum())
        frame = frame[rows].drop(WEIGHTED[corpus])
    chosen = CHOSEN.get(corpus)
    frame = frame.select(chosen.split()) if chosen else frame.drop("poids", strict=False)
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


def cases(corpus: str, count: int, seed: int) -> Iterator[Case]:
    """Draw choices of columns and nested samples, and measure each."""
    whole = table(corpus)
    rng = np.random.default_rng([4243, seed, *corpus.encode()])
    seen: set[tuple[int, ...]] = set()
    while len(seen) < count:
        size = rng.integers(2, min(len(whole.columns), WIDEST) + 1)
        columns = tuple(np.sort(rng.choice(len(whole.columns), size, replace=False)).tolist())
        if columns in seen:
            continue
        seen.add(columns)
        order = rng.permutation(len(whole.codes))
        truth = Histogram(*_sizes(whole.codes[:, columns]))
        for fraction in FRACTIONS.get(corpus, USUAL):
            rows = order[: round(fraction * len(order))]
            if len(rows) >= LEAST:
                case = Case(
                    corpus, [whole.columns[j] for j in columns], seed, fraction, len(rows), len(order)
                )
                case.truth = shares(truth)
                codes, evidence = whole.sampled(columns, rows)
                yield measured(case, codes, evidence)


def measured(case: Case, codes: Integers, evidence: PeopleEvidence) -> Case:
    """Fit the model and its rivals, as population_risk does."""
    start = perf_counter()
    left = choose_dependencies(find_dependencies(evidence), [len(own) for own in evidence.values])
    kept = drop_columns(evidence, [one.determined for one in left])
    model = fit(kept)
    case.sure = all(one.is_certain for one in left)
    case.seconds, case.twins = perf_counter() - start, [model.repeated_people.low, model.repeated_people.high]
    case.grouped = [model.groups.low, model.groups.records]
    case.sample = shares(evidence.histogram)
    case.entropy, case.own = model.likelihoods[0].entropy, _rounded(model.likelihoods[0].log_likelihood)
    case.others = [(one.entropy, _rounded(one.log_likelihood)) for one in model.likelihoods[1:]]
    for name, share in KINDS.items():
        of_model, variance, by_sample = _on_shapes(share, model, case.people)
        case.of_model[name], case.of_sample[name] = _rounded(of_model), _rounded(by_sample)
        case.variances[name] = _rounded(variance)
    case.rivals = rivals(codes, evidence, case.people)
    case.rivals["main_effects"] = [loglinear_uniqueness(kept, case.people), None, None]
    return case


def shares(histogram: Histogram) -> dict[str, float]:
    """Uniqueness, correctness and the share in small classes, counted."""
    records = histogram.records.sum()
    return {
        "uniqueness": float(histogram.records[histogram.class_size == 1].sum() / records),
        "correctness": float(histogram.classes.sum() / records),
        "below_k": float(histogram.records[histogram.class_size < K].sum() / records),
    }


def rivals(codes: Integers, evidence: PeopleEvidence, people: int) -> dict[str, list[float | None]]:
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
    found["pyc_correctness"] = [pyc.correctness, pyc.correctness_low, pyc.correctness_high]
    found["pyc_below_k"] = [pyc.k_violation, pyc.k_violation_low, pyc.k_violation_high]
    return found | tilted(evidence.histogram, people)


def tilted(histogram: Histogram, people: int) -> dict[str, list[float | None]]:
    """Extrapolate the sample's own curve, as `correctness_curve` gives it, to the population."""
    sizes = default_subset_sizes(int(histogram.records.sum()))[1:].astype(np.float64)
    found = extrapolation.extrapolate(sizes, correctness_curve(histogram, sizes), [people], k=K)
    row = extrapolation.list_forecasts(found, [people])[0]
    return {
        "tilted": [row.uniqueness, row.uniqueness_low, row.uniqueness_high],
        "tilted_correctness": [row.correctness, row.correctness_low, row.correctness_high],
        "tilted_below_k": [row.k_violation, row.k_violation_low, row.k_violation_high],
    }


def _on_shapes(share: ShareKind, model: PeopleModel, people: int) -> tuple[Floats, Floats, Floats]:
    """The share by persons of the model on LOG_SHAPES, its variance, and that by persons of the sample.

    The variance is over them.
    """
    shapes = np.exp(overdispersion.LOG_SHAPES)
    terms = share.by_model(np.exp(model.drawn_log_q)[:, None], shapes, people, K)
    assert model.sample is not None
    by_sample = predict_by_sample(share, model.sample, shapes, (model.histogram, people), K)
    return terms.mean(axis=0), terms.var(axis=0), by_sample


def _sizes(codes: Integers) -> tuple[Integers, Integers, Integers]:
    sizes = np.bincount(row_keys(codes))
    found, classes = np.unique(sizes, return_counts=True)
    return found, classes, found * classes


def _rounded(values: Floats) -> list[float]:
    return [float(f"{value:.7g}") for value in values]
