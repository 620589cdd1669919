"""Share of a population that is unique on some columns alone, under a fitted model.

Ξ_S(N) is the mean of ξ over records drawn from the model, the columns that are not in S summed over. The same
draws serve every choice of columns. Source: Rocher, Hendrickx & de Montjoye 2019, eq. 15.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from reid_sql.errors import OutOfDomainError
from reid_sql.fitted_model import FittedModel
from reid_sql.models.classes import uniqueness
from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.copula import copula_population
from reid_sql.models.copula.gaussian_copula import GaussianCopula
from reid_sql.models.fitted import KINDS
from reid_sql.models.numerics.rectangle import Precision
from reid_sql.models.people import residual
from reid_sql.models.people.donors import Donors
from reid_sql.models.people.people_model import PeopleModel
from reid_sql.models.people.scatter import NEGLIGIBLE
from reid_sql.models.people.ties import UNTOLD, Clue, clues
from reid_sql.models.people.tree import ROOT, Tree
from reid_sql.models.profile.copula_parts import part
from reid_sql.models.profile.people_parts import TINY, PartShapes
from reid_sql.parameters import Floats

DRAWS: Final = 1024  # records that stand for the population
ORDERS: Final = 4  # of the nominal columns of a copula, with as many records each
POINTS: Final = Precision(128, 256, 0.1)  # of a copula's integrals: their errors nearly cancel in the mean
Share = Callable[[Sequence[int]], float]  # Ξ on these columns, by their numbers from 0


def part_uniqueness(model: FittedModel, people: float) -> Share:
    """Give Ξ in so many people on any choice of the model's columns; on none, nobody is told apart."""
    if isinstance(model, PeopleModel):
        return PeoplePopulation(model, people).uniqueness
    if isinstance(model, GaussianCopula):
        return CopulaPopulation(model, people).uniqueness
    raise OutOfDomainError(f"model must be {KINDS}, got {type(model).__name__}; pass its name")


@dataclass(frozen=True)
class CopulaPopulation:
    """Populations of the parts of a copula, which are copulas too."""

    model: GaussianCopula
    people: float

    def uniqueness(self, places: Sequence[int]) -> float:
        """Ξ on these columns: the mean over records drawn from their part of the copula."""
        if not places:
            return float(self.people <= 1)
        cells = copula_population.drawn_cells(
            part(self.model, places), replace(POINTS, seed=self.model.seed), ORDERS, DRAWS // ORDERS
        )
        q = np.minimum(np.concatenate([cell.probability for cell in cells]), 1.0)
        return float(uniqueness.uniqueness_from_probability(q, self.people).mean())


@dataclass(frozen=True)
class PeoplePopulation:
    """Records drawn from a model of people, and what it says of them on some of their columns."""

    model: PeopleModel
    people: float

    def uniqueness(self, places: Sequence[int]) -> float:
        """Ξ on these columns: the mean over the draws and over the shapes of the residual."""
        if not places:
            return float(self.people <= 1)
        own = sorted(places)
        chosen = np.zeros((1, len(self.model.columns)), dtype=bool)
        chosen[0, own] = True
        kept = self.model.shapes > NEGLIGIBLE
        shapes = np.exp(self._shapes.log_shapes(chosen, self.people)[0, kept])
        q = np.exp(np.minimum(self._log_q(own), 0.0))
        of_shapes = residual.uniqueness(q[:, None], shapes, self.people).mean(axis=0)
        return float(of_shapes @ self.model.shapes[kept] / self.model.shapes[kept].sum())

    def _log_q(self, places: list[int]) -> Floats:
        """Ln q of the draws on these columns, each of a rarity of its own."""
        first, back = np.unique(self._drawn[:, places], axis=0, return_index=True, return_inverse=True)[1:]
        distinct, stack, kept = self._drawn[first], self.model.stack, self.model.kept
        own, told = [kept.index(j) for j in places if j in kept], self._told(distinct, places)
        found = log_q_on(stack.tree, distinct[:, kept], own, told)
        if stack.donors is not None:
            beside = np.zeros((len(distinct), len(stack.donors.codes)))
            for clue in told:
                beside[clue.rows] += stack.donors.log_chance(clue.source, clue.chance)
            near = donors_on(stack.donors, own).log_q(distinct[:, kept][:, own], beside if told else None)
            found = np.logaddexp(np.log(stack.weight) + found, np.log(1 - stack.weight) + near)
        return np.asarray(found[back.ravel()] + self._rarity[:, places].sum(axis=1))

    def _told(self, codes: Integers, places: list[int]) -> list[Clue]:
        """What columns that follow say of sources that are not among these places."""
        model, kept = self.model, self.model.kept
        chosen = np.isin(np.arange(len(model.columns)), places)[None, :]
        found = clues(model.ties, model.marginals, codes, chosen)
        return [replace(clue, source=kept.index(clue.source)) for clue in found]

    @cached_property
    def _drawn(self) -> Integers:
        model, rng = self.model, np.random.default_rng([self.model.seed, 3])
        found = np.zeros((DRAWS, len(model.columns)), dtype=np.int64)
        found[:, model.kept] = model.stack.draw(DRAWS, rng)
        for tie in model.ties:
            goes = tie.goes[found[:, tie.source]]
            found[:, tie.column] = np.where(goes == UNTOLD, model.marginals[tie.column].elsewhere, goes)
        return found

    @cached_property
    def _rarity(self) -> Floats:
        """How rare each value of the draws is beside its category's share, as a logarithm."""
        rng = np.random.default_rng([self.model.seed, 4])
        of_columns = [
            column.log_rarity(own, rng)
            for column, own in zip(self.model.marginals, self._drawn.T, strict=True)
        ]
        return np.stack(of_columns, axis=1)

    @cached_property
    def _shapes(self) -> PartShapes:
        return PartShapes(self.model)


def log_q_on(tree: Tree, codes: Integers, places: Sequence[int], told: Sequence[Clue] = ()) -> Floats:
    """Ln q of records on these columns of a tree, the others summed over from the leaves to the roots.

    `told` is what columns that follow from unknown ones say of them.
    """
    found, waiting = np.zeros(len(codes)), dict[int, Floats]()
    for clue in told:
        column = tree.columns[clue.source]
        known = waiting.setdefault(clue.source, np.ones((len(codes), len(column.bin_mass))))
        known[clue.rows] *= clue.of_bins(column)
    for j in reversed(tree.order):
        if j not in places and j not in waiting:
            continue  # nothing below is known: its chances add up to 1
        column, parent = tree.columns[j], tree.parents[j]
        chance = column.bin_mass[None, :] if parent == ROOT else np.exp(tree.chances[j].log_chance)
        if j in places:
            found += column.log_within[codes[:, j]]
            of_parent = chance[:, column.bins[codes[:, j]]].T  # (records, parent's bins)
        else:
            of_parent = waiting.pop(j) @ chance.T
        if parent in places or parent == ROOT:
            at = 0 if parent == ROOT else tree.columns[parent].bins[codes[:, parent]]
            found += np.log(np.maximum(of_parent[np.arange(len(codes)), at], TINY))
        else:
            both = of_parent * waiting[parent] if parent in waiting else of_parent
            top = np.maximum(both.max(axis=1), TINY)
            waiting[parent] = both / top[:, None]
            found += np.log(top)
    return found


def donors_on(donors: Donors, places: Sequence[int]) -> Donors:
    """The donors on these columns alone, of which they are a product."""
    own = list(places)
    columns = tuple(donors.columns[place] for place in own)
    return Donors(columns, donors.codes[:, own], donors.count, donors.kept[own], donors.near[own])
