"""Share of a population that is unique by a subset of the columns, under a fitted model.

Ξ_S(N) is the mean of ξ over records drawn from the model, the columns outside S summed over. The same draws
serve every subset. Source: Rocher, Hendrickx & de Montjoye 2019, eq. 15.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, combinations
from math import comb
from typing import Annotated, Final

import numpy as np

from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes import uniqueness
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.copula import gaussian_copula
from reid_sql.models.copula.gaussian_copula import GaussianCopula
from reid_sql.models.fitted import KINDS
from reid_sql.models.fitted_model import FittedModel
from reid_sql.models.numerics.rectangle import Precision
from reid_sql.models.people import overdispersion
from reid_sql.models.people.functional_dependencies import UNKNOWN, SourceEvidence, infer_sources
from reid_sql.models.people.model import PeopleModel
from reid_sql.models.people.scores import MIN_WEIGHT
from reid_sql.models.people.tree import ROOT, Tree
from reid_sql.models.population.people_subsets import (
    MIN_CHANCE,
    PeopleSubsets,
    Subsets,
    SubsetShapes,
)
from reid_sql.parameters import PROBABILITY, Floats, Integers

DRAWS: Final = 1024  # records that represent the population
COPULA_ORDERS: Final = 4  # of the nominal columns of a copula, each with a part of the draws
# of integrals, whose errors nearly cancel in the mean
COPULA_PRECISION: Final = Precision(128, 256, 0.1)
UniqueShare = Callable[[Sequence[int]], float]  # Ξ by these columns, by their numbers from 0


def unique_share_by_subset(model: FittedModel, people: float) -> UniqueShare:
    """Give Ξ in so many people by any subset of the model's columns; by none, all people are equal."""
    if isinstance(model, PeopleModel):
        return PeoplePopulation(model, people).uniqueness
    if isinstance(model, GaussianCopula):
        return partial(_copula_uniqueness, model, people)
    raise OutOfDomainError(f"model must be {KINDS}, got {type(model).__name__}; pass its name")


def _copula_uniqueness(model: GaussianCopula, people: float, places: Sequence[int]) -> float:
    """Ξ by these columns: the mean over records drawn from the copula of these columns."""
    if not places:
        return float(people <= 1)
    precision, each = replace(COPULA_PRECISION, seed=model.seed), DRAWS // COPULA_ORDERS
    cells = gaussian_copula.draw_cells(model.select(places), precision, COPULA_ORDERS, each)
    q = np.minimum(np.concatenate([cell.probability for cell in cells]), 1.0)
    return float(uniqueness.uniqueness_from_probability(q, people).mean())


@dataclass(frozen=True)
class PeoplePopulation:
    """A population drawn from a model of people."""

    model: PeopleModel
    people: float

    def uniqueness(self, places: Sequence[int]) -> float:
        """Ξ by these columns: the mean over the draws and over the shapes of the residual."""
        if not places:
            return float(self.people <= 1)
        columns = sorted(places)
        subset = np.zeros((1, len(self.model.columns)), dtype=bool)
        subset[0, columns] = True
        relevant = self.model.shapes > MIN_WEIGHT
        weights = self.model.shapes[relevant]
        shapes = np.exp(self._shapes.log_shapes(subset, self.people)[0, relevant])
        q = np.exp(np.minimum(self._log_q(columns), 0.0))
        by_shape = overdispersion.uniqueness(q[:, None], shapes, self.people).mean(axis=0)
        return float(by_shape @ weights / weights.sum())

    def _log_q(self, places: list[int]) -> Floats:
        """Ln q of the draws on these columns, each value with a rarity of its own."""
        first, back = np.unique(
            self._drawn[:, places], axis=0, return_index=True, return_inverse=True
        )[1:]
        distinct, tree, free = self._drawn[first], self.model.mixture.tree, self.model.free_columns
        tree_places = [free.index(j) for j in places if j in free]
        # on sources outside these columns, by determined columns among them
        subset = np.isin(np.arange(len(self.model.columns)), places)[None, :]
        inferred = infer_sources(self.model.determined, self.model.marginals, distinct, subset)
        evidence = [replace(one, source=free.index(one.source)) for one in inferred]
        log_q = score_tree_columns(tree, distinct[:, free], tree_places, evidence)
        return np.asarray(log_q[back.ravel()] + self._rarity[:, places].sum(axis=1))

    @cached_property
    def _drawn(self) -> Integers:
        model, rng = self.model, np.random.default_rng([self.model.seed, 3])
        codes = np.zeros((DRAWS, len(model.columns)), dtype=np.int64)
        codes[:, model.free_columns] = model.mixture.draw(DRAWS, rng)
        for one in model.determined:
            code = one.code_of_source[codes[:, one.source]]
            codes[:, one.column] = np.where(
                code == UNKNOWN, model.marginals[one.column].other_code, code
            )
        return codes

    @cached_property
    def _rarity(self) -> Floats:
        """Ln of how rare each value of the draws is relative to its category's share."""
        rng = np.random.default_rng([self.model.seed, 4])
        columns = zip(self.model.marginals, self._drawn.T, strict=True)
        return np.stack(
            [column.draw_log_rarity(column_codes, rng) for column, column_codes in columns], axis=1
        )

    @cached_property
    def _shapes(self) -> SubsetShapes:
        return SubsetShapes(self.model)


def score_tree_columns(
    tree: Tree, codes: Integers, places: Sequence[int], evidence: Sequence[SourceEvidence] = ()
) -> Floats:
    """Ln q of many records on these columns of a tree, the others summed over from the leaves to the roots.

    As `score_tree_subsets`, for one subset: only unknown columns above known ones need messages. `evidence`
    is on unknown sources, by columns that they determine.
    """
    log_q, beliefs, ends = np.zeros(len(codes)), dict[int, Floats](), {ROOT, *places}
    for one in evidence:
        column = tree.columns[one.source]
        belief = beliefs.setdefault(one.source, np.ones((len(codes), len(column.bin_mass))))
        belief[one.rows] *= one.by_bin(column)
    for j in reversed(tree.order):
        if j not in places and j not in beliefs:
            continue  # nothing below is known: its chances add up to 1
        column, parent = tree.columns[j], tree.parents[j]
        chance = column.bin_mass[None, :] if parent == ROOT else np.exp(tree.chances[j].log_chance)
        if j in places:
            log_q += column.log_within[codes[:, j]]
            message = chance[:, column.bins[codes[:, j]]].T  # (records, parent's bins)
        else:
            message = beliefs.pop(j) @ chance.T
        if parent in ends:
            at = 0 if parent == ROOT else tree.columns[parent].bins[codes[:, parent]]
            log_q += np.log(np.maximum(message[np.arange(len(codes)), at], MIN_CHANCE))
        else:
            product = message * beliefs[parent] if parent in beliefs else message
            top = np.maximum(product.max(axis=1), MIN_CHANCE)
            beliefs[parent] = product / top[:, None]
            log_q += np.log(top)
    return log_q


# ξ of one person by subsets of the attributes, what each attribute adds, and the fewest that suffice.
#
# Source: Rocher, Hendrickx & de Montjoye 2019, figure 3.

MAX_SUBSETS: Final = 1024  # of attributes: all of 10
Level = Annotated[float, PROBABILITY]
STATUS_NONE_SUFFICES: Final = (
    "none_suffices: no subset of up to {} attributes has ξ of {:g}, and all have {:.3g}"
)
STATUS_ALL_NEEDED: Final = (
    "all_needed: no subset of up to {} attributes is enough, and larger ones were not computed"
)


@dataclass(frozen=True)
class ProfileRow:
    """A subset of attributes (`known`), what one adds (`impact`), or the fewest that suffice (`smallest`)."""

    kind: str
    attributes: list[str]
    size: int
    cell_probability: float | None
    uniqueness_xi: float | None
    correctness_kappa: float | None
    impact: float | None
    status: str


def profile(
    model: FittedModel,
    values: Sequence[str | None],
    population: float,
    max_size: int = 3,
    level: float = 0.95,
) -> list[ProfileRow]:
    """Profile a person of these values, by column of the model; refuses more than 1,024 subsets."""
    columns = len(model.columns)
    if len(values) != columns:
        raise OutOfDomainError(
            f"values must be the {columns} of the model's columns ({', '.join(model.columns)}), got {len(values)}; pass them as texts, in this order"
        )
    sizes = range(1, min(max_size, columns - 1) + 1)
    count = sum(comb(columns, size) for size in sizes)
    if count > MAX_SUBSETS:
        raise OutOfDomainError(
            f"the number of choices of attributes must be at most {MAX_SUBSETS}, got {count}; pass a smaller max_size"
        )
    places = range(columns)
    attribute_sets = [*chain(*(combinations(places, size) for size in sizes)), tuple(places)]
    # each left out in turn, the first one first
    without = [*combinations(places, columns - 1)][::-1] if columns > 1 else []
    subsets = np.zeros((len(attribute_sets) + len(without), columns), dtype=bool)
    for row, subset in enumerate([*attribute_sets, *without]):
        subsets[row, list(subset)] = True
    scores = raise_to_subsets(subsets, _score_subsets(model, values, subsets, float(population)))
    rows = [
        _profile_row("known", [model.columns[j] for j in subset], score)
        for subset, score in zip(attribute_sets, scores, strict=False)
    ]
    whole = scores[len(attribute_sets) - 1]
    # ξ by all attributes less ξ by all but one; the scores are those without it
    impacts = [
        replace(
            _profile_row("impact", [column], score),
            impact=whole.uniqueness_xi - score.uniqueness_xi,
            status=whole.status,
        )
        for column, score in zip(model.columns, scores[len(attribute_sets) :], strict=False)
    ]
    return [*rows, *impacts, _smallest(rows, max(sizes, default=columns), level)]


SCORES: Final = ("uniqueness_xi", "correctness_kappa")


@dataclass(frozen=True)
class SubsetScore:
    """Scores by one subset, and whether the sample contains the person's values of it."""

    cell_probability: float
    uniqueness_xi: float
    correctness_kappa: float
    status: str


def _score_subsets(
    model: FittedModel, values: Sequence[str | None], subsets: Subsets, people: float
) -> list[SubsetScore]:
    if isinstance(model, PeopleModel):
        person = PeopleSubsets(model, model.codes([[value] for value in values])[0])
        scored = zip(*person.scores(subsets, people), person.status(subsets, people), strict=True)
        return [
            SubsetScore(float(q), float(xi), float(kappa), status)
            for q, xi, kappa, status in scored
        ]
    if not isinstance(model, GaussianCopula):
        raise OutOfDomainError(f"model must be {KINDS}, got {type(model).__name__}; pass its name")
    scores = []
    for subset in subsets:
        places = np.flatnonzero(subset).tolist()
        cell = model.select(places).cell_probability([[values[j]] for j in places])
        q, xi, kappa = cell.probability[0], cell.uniqueness(people)[0], cell.correctness(people)[0]
        status = str(cell.status_at(people)[0])
        scores.append(SubsetScore(float(q), float(xi), float(kappa), status))
    return scores


def raise_to_subsets(subsets: Subsets, scores: Sequence[SubsetScore]) -> list[SubsetScore]:
    """Raise the scores of each subset to the highest of those within it: whoever knows more finds no fewer.

    The residual of a model of people is fitted for each subset, so that its scores may fall by one more.
    """
    sizes, raised = subsets.sum(axis=1), list(scores)
    xi, kappa = (np.array([getattr(each, name) for each in scores]) for name in SCORES)
    for place in np.argsort(sizes, kind="stable"):
        within = ~(subsets & ~subsets[place]).any(axis=1)
        xi[place], kappa[place] = xi[within].max(), kappa[within].max()
        highest = dict(zip(SCORES, (float(xi[place]), float(kappa[place])), strict=True))
        raised[place] = replace(scores[place], **highest)
    return raised


def _profile_row(kind: str, attributes: list[str], score: SubsetScore) -> ProfileRow:
    scores = score.cell_probability, score.uniqueness_xi, score.correctness_kappa
    return ProfileRow(kind, attributes, len(attributes), *scores, None, score.status)


def _smallest(rows: Sequence[ProfileRow], max_size: int, level: float) -> ProfileRow:
    """The fewest attributes by which ξ reaches the level; of several such subsets, that of the highest ξ."""
    enough = [row for row in rows if row.uniqueness_xi is not None and row.uniqueness_xi >= level]
    if not enough:
        status = STATUS_NONE_SUFFICES.format(max_size, level, rows[-1].uniqueness_xi or 0.0)
        return ProfileRow("smallest", [], 0, None, None, None, None, status)
    best = min(enough, key=lambda row: (row.size, -(row.uniqueness_xi or 0.0)))
    status = best.status
    if best.size > max_size:
        larger = STATUS_ALL_NEEDED.format(max_size)
        status = larger if status == OK else f"{larger}; {status}"
    return replace(best, kind="smallest", status=status)
