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

from reid_sql.models.classes.disclosure import Histogram, Integers
from reid_sql.models.numerics.quantiles import NORMAL_95
from reid_sql.models.people import following, residual
from reid_sql.models.people.following import Dependence
from reid_sql.models.people.people_evidence import PeopleEvidence
from reid_sql.models.people.people_model import PeopleModel
from reid_sql.models.people.shape import OVERDISPERSED, row_keys
from reid_sql.parameters import Floats

TRIPLES: Final = 120  # looked at; all of 10 columns
RECORDS: Final = 3000  # whose triples are counted
A_COMBINATION: Final = 5  # records that an entropy needs on average for each combination that occurs
LEAST_REPEATED: Final = 0.5  # of the records, for the entropy of all columns together
SYNERGY: Final = -0.1  # nats; 94 % of the triples of the 2019 supplement lie above
FAR: Final = 3.0  # standard deviations that a check may lie away before it is told
CHECKED: Final = (2, 3, 5, 10, 20)  # class sizes below which records are counted


@dataclass(frozen=True)
class Interaction:
    """Three columns by number, and their interaction information in nats; below 0 is told by no pair."""

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
        """Lower end of what the model expects."""
        return max(self.expected - NORMAL_95 * self.deviation, 0.0)

    @property
    def high(self) -> float:
        """Upper end of what the model expects."""
        return min(self.expected + NORMAL_95 * self.deviation, 1.0)

    @property
    def away(self) -> float:
        """Standard deviations by which the sample lies away from the model."""
        return (self.observed - self.expected) / self.deviation


@dataclass(frozen=True)
class Diagnostics:
    """What a fit misses: nats of dependence, of interaction and of divergence, and the predictive checks."""

    dependences: Sequence[Dependence]
    total_correlation: float
    interaction: Interaction | None
    kl_divergence: float | None
    checks: Sequence[Check]

    @property
    def worst(self) -> Check:
        """The check that lies farthest away."""
        return max(self.checks, key=lambda check: abs(check.away))

    def told(self, columns: Sequence[str]) -> list[str]:
        """Say what a reader of the model has to know, of columns of these names."""
        found = following.told(self.dependences, columns)
        if self.interaction is not None and self.interaction.nats < SYNERGY:
            a, b, c = (columns[j] for j in self.interaction.columns)
            nats = -self.interaction.nats
            found.append(f"{a}, {b} and {c} tell {nats:.2f} nats together that no two of them tell")
        far = self.worst
        if abs(far.away) > FAR:
            held = f"{far.observed:.1%} of the records are in classes smaller than {far.below}"
            found.append(f"predictive check: {held}, the model expects {far.low:.1%} to {far.high:.1%}")
        return found


def diagnose(model: PeopleModel, evidence: PeopleEvidence) -> Diagnostics:
    """Work all of it out for a model and what it was fitted to."""
    return Diagnostics(
        following.dependences(evidence),
        total_correlation(model),
        synergy(evidence, model.seed),
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

    Above 0 they are redundant; below 0 they tell more together than any two of them.

    >>> x, y = np.repeat([0, 0, 1, 1], 250), np.repeat([0, 1, 0, 1], 250)
    >>> round(interaction_information(np.stack([x, y, x ^ y], axis=1)), 2)
    -0.69
    """
    total = 0.0
    for size, sign in ((1, 1), (2, -1), (3, 1)):
        for columns in combinations(range(3), size):
            total += sign * entropy(np.bincount(row_keys(codes[:, list(columns)])))
    return total


def synergy(evidence: PeopleEvidence, seed: int = 0) -> Interaction | None:
    """Find the three columns that tell the most beyond pairs; None where the sample tells of none."""
    codes = evidence.drawn[:RECORDS]
    found: Interaction | None = None
    for columns in _triples(codes.shape[1], seed):
        three = codes[:, list(columns)]
        if A_COMBINATION * (int(row_keys(three).max()) + 1) > len(three):
            continue
        nats = interaction_information(three)
        if found is None or nats < found.nats:
            found = Interaction(columns, nats)
    return found


def _triples(wide: int, seed: int) -> Sequence[tuple[int, int, int]]:
    if comb(wide, 3) <= TRIPLES:
        return list(combinations(range(wide), 3))
    rng = np.random.default_rng([seed, 3])
    drawn = {tuple(sorted(rng.choice(wide, 3, replace=False).tolist())) for _ in range(TRIPLES)}
    return [(a, b, c) for a, b, c in sorted(drawn)]


def sample_entropy(histogram: Histogram) -> float | None:
    """Entropy in nats of what a histogram of class sizes was drawn from; None where most records are unique.

    H = −Σ p ln p / (1 − (1 − p)ⁿ) over the classes, p = (1 − s₁/n) f/n. Source: Chao & Shen 2003, eq. 9.

    >>> sizes = np.array([10])
    >>> round(sample_entropy(Histogram(sizes, np.array([8]), np.array([80]))), 3)
    2.079
    """
    records = float(histogram.records.sum())
    unique = float(histogram.records[histogram.class_size == 1].sum())
    if unique > (1 - LEAST_REPEATED) * records:
        return None
    p = (1 - unique / records) * histogram.class_size / records
    there = -np.expm1(records * np.log1p(-np.minimum(p, 1 - 1e-15)))
    return float(-(histogram.classes @ (p * np.log(p) / there)))


def kl_divergence(model: PeopleModel) -> float | None:
    """D(p ‖ q) in nats of the people from the model, each record left out once; None where not known.

    −E ln q − H, H by `sample_entropy`. Source: Rocher et al. 2019, supplementary figure 10.
    """
    told = sample_entropy(model.histogram)
    if told is None or model.seen is None:
        return None
    return float(-(model.seen.count @ model.seen.log_q) / model.seen.count.sum()) - told


def total_correlation(model: PeopleModel) -> float:
    """How much columns tell of each other, in nats: Σ H(column) − H(model); 0 where independent."""
    alone = sum(float(-(column.mass @ column.log_share)) for column in model.marginals)
    return max(alone + float(model.drawn_log_q.mean()), 0.0)


def predictive_checks(model: PeopleModel) -> list[Check]:
    """Hold the sample's class sizes against what the model expects of a sample of as many records.

    Source: Rocher, Hendrickx & de Montjoye 2025, figure 1 b to i, by class sizes in place of ranks.
    """
    n, q = model.records, np.exp(model.drawn_log_q)[:, None]
    shapes = np.exp(model.scatter.log_shapes(n))
    found = []
    for below in CHECKED:
        by_shape = residual.below(q, shapes, n, below).mean(axis=0)
        expected = float(model.shapes @ by_shape)
        scatter = float(model.shapes @ (by_shape - expected) ** 2)
        chance = OVERDISPERSED * max(expected * (1 - expected), 1 / n) / n
        held = int(model.histogram.records[model.histogram.class_size < below].sum())
        found.append(Check(below, held / n, expected, float(np.sqrt(scatter + chance))))
    return found
