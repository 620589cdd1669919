"""A fitted model of people: a tree, perhaps with latent classes, overdispersion and determined columns.

It scores any record, draws new ones, and has what population shares are predicted from.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.classes.repeats import is_below_chance
from reid_sql.models.fitted_model import Doubt, draw_places, encode_columns
from reid_sql.models.interruption import checkpoint
from reid_sql.models.marginals.column import NEW, SEEN, WITHOUT_SHARE, Column, describe_records
from reid_sql.models.people.functional_dependencies import UNKNOWN, DeterminedColumn
from reid_sql.models.people.overdispersion import (
    LOG_SHAPES,
    correctness,
    excess_overdispersion,
    min_log_shape,
)
from reid_sql.models.people.repeated_people import (
    NO_GROUPS,
    NO_REPEATED_PEOPLE,
    DrawnGroups,
    RepeatedPeople,
)
from reid_sql.models.people.scores import LeftOut, Overdispersion, PeopleCells
from reid_sql.models.people.tree import LatentClasses, Tree, draw_log_rarity
from reid_sql.parameters import Floats, Integers

EM_ROUNDS: Final = 100
MIN_WEIGHT: Final = 1e-4  # of tree and of latent classes, so that no logarithm is infinite
POPULATION_DRAWS: Final = 3000  # records that represent the population


@dataclass(frozen=True)
class Mixture:
    """q = v q_class + (1 − v) q_tree, where there are latent classes."""

    tree: Tree
    classes: LatentClasses | None = None  # of a list of columns of few values
    class_weight: float = 0.0  # v

    def log_q(self, codes: Integers) -> Floats:
        """Ln q of records of codes."""
        log_q = self.tree.log_q(codes)
        if self.classes is not None:
            log_q = mix_logs(self.class_weight, self.classes.log_q(codes), log_q)
        return log_q

    def log_q_left_out(self, codes: Integers) -> Floats:
        """Ln q of records of the sample, each without itself."""
        log_q = self.tree.log_q_left_out(codes)
        if self.classes is not None:
            log_q = mix_logs(self.class_weight, self.classes.log_q_left_out(codes), log_q)
        return log_q

    def log_q_without_class(self, codes: Integers, size: Integers, records: int) -> Floats:
        """Ln q of classes of the sample, each without its records."""
        log_q = self.tree.log_q_left_out(codes, size)
        if self.classes is not None:
            # records of the class among the fitted ones
            fitted = size * (self.classes.records / records)
            log_q = mix_logs(self.class_weight, self.classes.log_q_left_out(codes, fitted), log_q)
        return log_q

    def draw(self, count: int, rng: np.random.Generator) -> Integers:
        """Draw codes of records: those of the classes, then of the tree."""
        if self.classes is None:
            return self.tree.draw(count, rng)
        of_classes = round(self.class_weight * count)
        return np.concatenate(
            [self.classes.draw(of_classes, rng), self.tree.draw(count - of_classes, rng)]
        )

    def draw_log_q(self, count: int, rng: np.random.Generator) -> Floats:
        """Draw ln q of records; that of values without a category includes a drawn rarity."""
        codes = self.draw(count, rng)
        return self.log_q(codes) + draw_log_rarity(self.tree.columns, codes, rng)

    def population_log_q(self, seed: int) -> Floats:
        """Ln q of records that represent the population, drawn once for each seed."""
        if seed not in self._drawn:
            self._drawn[seed] = self.draw_log_q(POPULATION_DRAWS, np.random.default_rng([seed, 1]))
        return self._drawn[seed]

    @cached_property
    def _drawn(self) -> dict[int, Floats]:
        return {}


def mix_logs(weight: float, one: Floats, other: Floats) -> Floats:
    """Ln of the mixture of two densities, of which the first has this weight.

    >>> mix_logs(0.5, np.log([0.2]), np.log([0.4])).round(3).tolist()
    [-1.204]
    """
    return np.asarray(np.logaddexp(np.log(weight) + one, np.log(1 - weight) + other))


def mix_classes(tree: Tree, classes: LatentClasses, codes: Integers, count: Floats) -> Mixture:
    """Mix tree and classes by the likelihood of distinct records, each left out. Source: Yao et al. 2018."""
    weight = fit_weight(classes.log_q_left_out(codes), tree.log_q_left_out(codes), count)
    return Mixture(tree, classes, weight)


def fit_weight(one: Floats, other: Floats, count: Floats) -> float:
    """Weight ω of the likeliest mixture of two densities of the same records, by EM.

    Each round, ω becomes the mean over records of ω q₁ / (ω q₁ + (1 − ω) q₂).

    >>> round(fit_weight(np.log([0.2, 0.2]), np.log([0.1, 0.4]), np.array([1.0, 1.0])), 3)
    0.5
    """
    weight = 0.5
    ratio = np.exp(np.clip(other - one, -700, 700))
    for _ in range(EM_ROUNDS):
        checkpoint()
        weight = float(count @ (weight / (weight + (1 - weight) * ratio)) / count.sum())
    return min(max(weight, MIN_WEIGHT), 1 - MIN_WEIGHT)


@dataclass(frozen=True)
class SampleRecords:
    """Distinct records of the sample: ln q without one of each, class sizes, and how many were drawn."""

    log_q: Floats  # (records,)
    size: Integers  # (records,)
    count: Floats  # (records,)


@dataclass(frozen=True)
class PeopleModel:
    """The tree with its latent classes, the weights of the residual's shapes, and the sample's class sizes.

    `shapes` are for the mixture; `tree_shapes` for the tree alone, which is all that a file contains.
    """

    columns: tuple[str, ...]
    marginals: tuple[Column, ...]
    mixture: Mixture
    shapes: Floats  # weights of LOG_SHAPES
    tree_shapes: Floats
    histogram: Histogram
    seed: int
    method: str = "people"
    sample: SampleRecords | None = None  # a file has none
    notes: tuple[str, ...] = ()  # of the diagnostics
    effective_records: float | None = None  # of records with weights
    doubts: tuple[Doubt, ...] = ()  # on every score, by size of population
    repeated_people: RepeatedPeople = NO_REPEATED_PEOPLE
    groups: DrawnGroups = NO_GROUPS
    determined: tuple[DeterminedColumn, ...] = ()  # columns that the mixture leaves out
    # of the mixture, in its order: all that no other one determines
    free_columns: tuple[int, ...] = ()
    log_agreement: float = 0.0  # ln λ of `thin`

    @property
    def records(self) -> int:
        """Number of records of the sample."""
        return int(self.histogram.records.sum())

    @property
    def order(self) -> list[int]:
        """Columns in an order in which records that begin alike are scored together."""
        return list(range(len(self.columns)))

    def codes(self, values: Sequence[Sequence[Any]]) -> Integers:
        """Codes of records given by column, as text or None: (records, columns)."""
        return encode_columns(self, values)

    def column_codes(self, column: int, values: Sequence[str | None]) -> Integers:
        """Codes of the values of one column, by its number from 0."""
        return self.marginals[column].codes(values)

    def texts(self, codes: Integers) -> list[list[str | None]]:
        """Values of records of codes, by column."""
        return [
            column.texts(column_codes)
            for column, column_codes in zip(self.marginals, codes.T, strict=True)
        ]

    def cell_probability(self, values: Sequence[Sequence[Any]]) -> PeopleCells:
        """Probability q(x) that a person has exactly these values; it is exact: standard errors are 0."""
        return self.scored(self.codes(values))

    def scored(self, codes: Integers) -> PeopleCells:
        """Cell probabilities of records of codes."""
        cases = self.unseen_cases(codes)
        codes = self.replace_values_without_share(codes)
        log_q = self.mixture.log_q(codes[:, self.free_columns])
        for one in self.determined:
            log_q = log_q + one.log_chance(self.marginals, codes)
        impossible = (cases == WITHOUT_SHARE).any(axis=1)
        cells = np.where(impossible, 0.0, np.clip(np.exp(log_q), np.finfo(float).tiny, 1.0))
        status = describe_records(self.columns, cases, self.records)
        left_out = None
        if self.sample is not None:

            def leave_out(rows: Integers) -> Floats:
                # those of the sample each without itself
                some = log_q[rows]
                in_sample = (cases[rows] == SEEN).all(axis=1)
                sampled = codes[rows[in_sample]][:, self.free_columns]
                some[in_sample] += self.mixture.log_q_left_out(sampled) - self.mixture.log_q(
                    sampled
                )
                return np.clip(np.exp(some), np.finfo(float).tiny, 1.0)

            left_out = LeftOut(np.arange(len(codes)), leave_out)
        parts = status, self.overdispersion, self.unique_share, left_out
        return PeopleCells(cells, np.zeros(len(cells)), *parts, doubts=self.doubts)

    def unseen_cases(self, codes: Integers) -> Integers:
        """Whether the sample contains each value, (records, columns)."""
        seen = [len(column.seen) for column in self.marginals]
        other = [column.other_code for column in self.marginals]
        return np.asarray(
            np.where(codes < seen, SEEN, np.where(codes <= other, NEW, WITHOUT_SHARE))
        )

    def replace_values_without_share(self, codes: Integers) -> Integers:
        """Replace values unlike the sample's by other values, which have bins."""
        return np.minimum(codes, [column.other_code for column in self.marginals])

    def unique_share(self, people: float) -> float:
        """Share of so many people who are unique by the model alone; cached."""
        if people not in self._unique_shares:
            of_drawn = self.overdispersion.uniqueness(np.exp(self.drawn_log_q), people)
            self._unique_shares[people] = float(of_drawn.mean())
        return self._unique_shares[people]

    @cached_property
    def _unique_shares(self) -> dict[float, float]:
        return {}

    @cached_property
    def has_fewer_repeats(self) -> bool:
        """Whether fewer records repeat than by chance, under the shape that lets the fewest repeat."""
        alone = correctness(np.exp(self.drawn_log_q), np.exp(LOG_SHAPES[-1]), self.records)
        repeats = self.records - float(self.histogram.classes.sum())
        return is_below_chance(repeats, self.records * (1 - float(alone.mean())))

    @cached_property
    def excess_overdispersion(self) -> float:
        """Nats of overdispersion beyond nearly all tables of people; at most 0 in those."""
        return excess_overdispersion(-float(self.drawn_log_q.mean()), self.shapes)

    @property
    def chance_of_overdispersion(self) -> float:
        """Posterior chance of a shape below those of nearly all tables of people."""
        limit = min_log_shape(-float(self.drawn_log_q.mean()))
        return float(self.shapes[limit > LOG_SHAPES].sum())

    @property
    def overdispersion(self) -> Overdispersion:
        """Overdispersion of real cells around the model's."""
        return Overdispersion(self.shapes, self.records)

    def light(self) -> "PeopleModel":
        """The model without cached scores; it caches none."""
        return self

    @property
    def drawn_log_q(self) -> Floats:
        """Ln q of records drawn from the model, to which determined columns add nothing."""
        return self.mixture.population_log_q(self.seed) + self.log_agreement

    def thin(self, agreement: float) -> "PeopleModel":
        """The model of a table in which only this share λ of chance agreements can occur: λ q for each q."""
        log, sample = float(np.log(agreement)), self.sample
        if sample is not None:
            sample = replace(sample, log_q=sample.log_q + log)
        return replace(self, sample=sample, log_agreement=log)


def sample_codes(model: PeopleModel, places: Integers, seed: int) -> Integers:
    """Codes of the records at these places of an endless sample of the tree, the same in every call.

    Values without a text take no part.
    """

    def draw(count: int, rng: np.random.Generator) -> Integers:
        drawn = np.zeros((count, len(model.columns)), dtype=np.int64)
        drawn[:, model.free_columns] = model.mixture.tree.draw(count, rng)
        for j in model.free_columns:
            drawn[:, j] = _replace_other_values(model.marginals[j], drawn[:, j], rng)
        for one in model.determined:
            column, code = model.marginals[one.column], one.code_of_source[drawn[:, one.source]]
            code = np.where(code == UNKNOWN, column.other_code, code)
            drawn[:, one.column] = _replace_other_values(column, code, rng)
        return drawn

    return draw_places(model, places, seed, draw)


def _replace_other_values(column: Column, codes: Integers, rng: np.random.Generator) -> Integers:
    """Replace values of no category of their own by values of the sample, drawn by their shares."""
    seen = column.mass[: len(column.seen)]
    drawn = rng.choice(len(seen), len(codes), p=seen / seen.sum())
    return np.where(codes == column.other_code, drawn, codes)
