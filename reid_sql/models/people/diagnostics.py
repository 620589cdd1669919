"""What a fit misses, in numbers: interaction beyond pairs, divergence from the sample, predictive checks.

Sources: Rocher, Hendrickx & de Montjoye 2019, supplement 6 (interaction information) and figure 10
(divergence); Rocher, Hendrickx & de Montjoye 2025, figure 1 (posterior predictive checks); Chao & Shen 2003
(entropy where cells are unseen); Miller 1955 (bias of entropies).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Final

import numpy as np

from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.copula.copula_file import ModelSummary
from reid_sql.models.marginals.column import describe_few_records, join_status
from reid_sql.models.numerics.quantiles import NORMAL_95
from reid_sql.models.people import overdispersion
from reid_sql.models.people.evidence import (
    PeopleEvidence,
    order_columns,
    reorder_columns,
    row_keys,
)
from reid_sql.models.people.functional_dependencies import (
    Dependency,
    find_dependencies,
)
from reid_sql.models.people.model import PeopleModel
from reid_sql.models.people.overdispersion import REPEAT_DISPERSION
from reid_sql.models.people.tree import ROOT
from reid_sql.parameters import Floats, Integers

MAX_TRIPLES: Final = 120  # all of 10 columns
TRIPLE_RECORDS: Final = 3000  # of the sample, whose triples of values are counted
RECORDS_PER_COMBINATION: Final = 5  # that an entropy needs on average
MIN_REPEATED_SHARE: Final = 0.5  # of the records, for the entropy of all columns together
# In nats; a lower one is reported. 94 % of the triples of the 2019 supplement are above
MAX_SYNERGY: Final = -0.1
MAX_DEVIATIONS: Final = 3.0  # of a check, above which it is reported
CHECKED_SIZES: Final = (2, 3, 5, 10, 20)  # class sizes below which records are counted
STATUS_TRIPLE: Final = (
    "triple_dependence: {}, {} and {} share {:.2f} nats that no two of them share"
)
STATUS_CHECK: Final = (
    "predictive_check: {} of records are in classes below {}, and the model expects {} to {}"
)
STATUS_TREE_ONLY: Final = (
    "tree_only: no records to leave out, as with weights, marginals or a stored model"
)


@dataclass(frozen=True)
class Interaction:
    """Three columns by number, and their interaction information in nats; below 0 no pair shows it."""

    columns: tuple[int, int, int]
    nats: float


@dataclass(frozen=True)
class Check:
    """Share of the sample's records in classes smaller than `below`, and what the model expects."""

    below: int
    observed: float
    expected: float
    deviation: float

    @property
    def low(self) -> float:
        """Lower end of the model's 95 % interval."""
        return max(self.expected - NORMAL_95 * self.deviation, 0.0)

    @property
    def high(self) -> float:
        """Upper end of the model's 95 % interval."""
        return min(self.expected + NORMAL_95 * self.deviation, 1.0)

    @property
    def away(self) -> float:
        """Standard deviations between the sample and the model."""
        return (self.observed - self.expected) / self.deviation


@dataclass(frozen=True)
class Diagnostics:
    """What a fit misses: nats of dependence, of interaction and of divergence, and the predictive checks."""

    dependencies: Sequence[Dependency]
    total_correlation: float
    interaction: Interaction | None
    kl_divergence: float | None
    checks: Sequence[Check]

    @property
    def worst(self) -> Check:
        """The check of the greatest deviation."""
        return max(self.checks, key=lambda check: abs(check.away))

    def describe(self, columns: Sequence[str]) -> list[str]:
        """Statuses of what the model misses, of columns of these names."""
        notes = []
        if self.interaction is not None and self.interaction.nats < MAX_SYNERGY:
            a, b, c = (columns[j] for j in self.interaction.columns)
            nats = -self.interaction.nats
            notes.append(STATUS_TRIPLE.format(a, b, c, nats))
        worst = self.worst
        if abs(worst.away) > MAX_DEVIATIONS:
            shares = f"{worst.observed:.1%}", f"{worst.low:.1%}", f"{worst.high:.1%}"
            notes.append(STATUS_CHECK.format(shares[0], worst.below, *shares[1:]))
        return notes


def diagnose(model: PeopleModel, evidence: PeopleEvidence) -> Diagnostics:
    """Compare a model with what it was fitted to."""
    return Diagnostics(
        find_dependencies(evidence),
        total_correlation(model),
        find_synergy(evidence, model.seed),
        kl_divergence(model),
        predictive_checks(model),
    )


def entropy(counts: Floats | Integers) -> float:
    """Entropy in nats of counts, corrected for small samples: H + (K − 1)/2n. Source: Miller 1955.

    >>> round(entropy(np.array([500, 500])), 3)
    0.694
    """
    some = counts[counts > 0]
    shares = some / some.sum()
    return float(-(shares @ np.log(shares)) + (len(some) - 1) / (2 * some.sum()))


def interaction_information(codes: Integers) -> float:
    """I(X; Y; Z) = I(X; Y) − I(X; Y | Z) of three columns of codes, (records, 3), in nats.

    Above 0 they are redundant; below 0, together they contain more information than any two of them.

    >>> x, y = np.repeat([0, 0, 1, 1], 250), np.repeat([0, 1, 0, 1], 250)
    >>> round(interaction_information(np.stack([x, y, x ^ y], axis=1)), 2)
    -0.69
    """
    total = 0.0
    for size, sign in ((1, 1), (2, -1), (3, 1)):
        for columns in combinations(range(3), size):
            total += sign * entropy(np.bincount(row_keys(codes[:, list(columns)])))
    return total


def find_synergy(evidence: PeopleEvidence, seed: int = 0) -> Interaction | None:
    """Find the three columns of the least interaction information; None if the sample is too small.

    The order of the columns changes neither the triples that are drawn nor their records.
    """
    order = order_columns(evidence)
    codes = reorder_columns(evidence, order).drawn[:TRIPLE_RECORDS]
    least: Interaction | None = None
    for columns in _choose_triples(codes.shape[1], seed):
        three = codes[:, list(columns)]
        if RECORDS_PER_COMBINATION * (int(row_keys(three).max()) + 1) > len(three):
            continue
        nats = interaction_information(three)
        if least is None or nats < least.nats:
            least = Interaction(columns, nats)
    if least is None:
        return None
    a, b, c = sorted(order[j] for j in least.columns)
    return Interaction((a, b, c), least.nats)


def _choose_triples(columns: int, seed: int) -> Sequence[tuple[int, int, int]]:
    if comb(columns, 3) <= MAX_TRIPLES:
        return list(combinations(range(columns), 3))
    rng = np.random.default_rng([seed, 3])
    drawn = {
        tuple(sorted(rng.choice(columns, 3, replace=False).tolist())) for _ in range(MAX_TRIPLES)
    }
    return [(a, b, c) for a, b, c in sorted(drawn)]


def sample_entropy(histogram: Histogram) -> float | None:
    """Entropy in nats of the law that class sizes were drawn from; None where most records are unique.

    H = −Σ p ln p / (1 − (1 − p)ⁿ) over the classes, p = (1 − s₁/n) f/n. Source: Chao & Shen 2003, eq. 9.

    >>> sizes = np.array([10])
    >>> round(sample_entropy(Histogram(sizes, np.array([8]), np.array([80]))), 3)
    2.079
    """
    records = float(histogram.records.sum())
    unique = float(histogram.records[histogram.class_size == 1].sum())
    if unique > (1 - MIN_REPEATED_SHARE) * records:
        return None
    p = (1 - unique / records) * histogram.class_size / records
    occurs = -np.expm1(records * np.log1p(-np.minimum(p, 1 - 1e-15)))
    return float(-(histogram.classes @ (p * np.log(p) / occurs)))


def kl_divergence(model: PeopleModel) -> float | None:
    """D(p ‖ q) in nats of the people from the model, each record left out once; None where not known.

    D(p ‖ q) = −E ln q − H, H by `sample_entropy`. Source: Rocher et al. 2019, supplementary figure 10.
    """
    of_sample = sample_entropy(model.histogram)
    if of_sample is None or model.sample is None:
        return None
    return float(-(model.sample.count @ model.sample.log_q) / model.sample.count.sum()) - of_sample


def total_correlation(model: PeopleModel) -> float:
    """Nats that the columns share: Σ H(column) − H(model); 0 where they are independent."""
    of_columns = sum(float(-(column.mass @ column.log_share)) for column in model.marginals)
    return max(of_columns + float(model.drawn_log_q.mean()), 0.0)


def predictive_checks(model: PeopleModel) -> list[Check]:
    """Compare the sample's class sizes with those expected of a sample of as many records from the model.

    Source: Rocher, Hendrickx & de Montjoye 2025, figure 1 b to i, by class sizes in place of ranks.
    """
    n, q = model.records, np.exp(model.drawn_log_q)[:, None]
    shapes = np.exp(model.overdispersion.log_shapes(n))
    checks = []
    for size in CHECKED_SIZES:
        by_shape = overdispersion.below_k(q, shapes, n, size).mean(axis=0)
        expected = float(model.shapes @ by_shape)
        between_shapes = float(model.shapes @ (by_shape - expected) ** 2)
        sampling = REPEAT_DISPERSION * max(expected * (1 - expected), 1 / n) / n
        observed = int(model.histogram.records[model.histogram.class_size < size].sum())
        checks.append(
            Check(size, observed / n, expected, float(np.sqrt(between_shapes + sampling)))
        )
    return checks


@dataclass(frozen=True)
class PeopleSummary:
    """A model of people by its name: what it was fitted to, and what it is made of."""

    model: str
    records: int
    columns: list[str]
    ordered: list[str]
    values: int  # of all columns together
    tree: list[str]  # each column with the one that it depends on, or that determines it
    entropy: float  # nats
    shape: float  # a of the residual: the greater, the less overdispersion
    total_correlation: float  # nats that the columns share
    interaction_information: float | None  # nats, the least of three columns
    kl_divergence: float | None  # nats, of the people from the model
    predictive_check: float  # standard deviations
    status: str


def summarize(name: str, model: PeopleModel, diagnostics: Diagnostics) -> PeopleSummary:
    """Describe the model and its diagnostics."""
    tree = model.mixture.tree
    edges = [
        column.name if parent == ROOT else f"{column.name} on {tree.columns[parent].name}"
        for column, parent in zip(tree.columns, tree.parents, strict=True)
    ]
    edges += [
        f"{model.columns[one.column]} determined by {model.columns[one.source]}"
        for one in model.determined
    ]
    shape = float(np.exp(model.shapes @ model.overdispersion.log_shapes(model.records)))
    return PeopleSummary(
        name,
        model.records,
        list(model.columns),
        _ordered_columns(model),
        _count_values(model),
        edges,
        -float(model.drawn_log_q.mean()),
        shape,
        diagnostics.total_correlation,
        None if diagnostics.interaction is None else diagnostics.interaction.nats,
        diagnostics.kl_divergence,
        diagnostics.worst.away,
        _status(model),
    )


def summarize_model(name: str, model: PeopleModel) -> ModelSummary:
    """Describe the model in the columns of copulas; it has no correlation and no calibration."""
    ordered = _ordered_columns(model)
    kinds = f"{len(model.columns) - len(ordered)} nominal, {len(ordered)} ordered"
    values, status = _count_values(model), _status(model)
    parts = name, model.records, list(model.columns), ordered, values
    return ModelSummary(*parts, None, kinds, model.method, 1.0, status)


def _ordered_columns(model: PeopleModel) -> list[str]:
    return [column.name for column in model.marginals if column.ordered]


def _count_values(model: PeopleModel) -> int:
    return sum(len(column.seen) for column in model.marginals)


def _status(model: PeopleModel) -> str:
    notes = [*describe_few_records(model.records)] + [STATUS_TREE_ONLY] * (model.sample is None)
    return join_status(*notes, *(doubt.status for doubt in model.doubts), *model.notes)
