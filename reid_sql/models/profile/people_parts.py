"""Cell probabilities of some columns alone under a model of people: the other columns are summed over.

In the tree by passing messages from the leaves to the roots; donors are a product over columns, of which the
others add up to 1. Fewer columns scatter less: ln a moves along the law by which sub-tables speak of it, with
the entropy of the columns, which is that of the tree that their pairs span (Chow & Liu 1968).
Scores are drawn in as those of all columns are; fewer columns, by which fewer are unique, would ask for more:
ξ errs upwards.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.people import caution, residual, shape
from reid_sql.models.people.donors import Donors
from reid_sql.models.people.likeness import likeness
from reid_sql.models.people.people_model import PeopleModel
from reid_sql.models.people.ties import Clue, Tie, clues
from reid_sql.models.people.tree import ROOT, Tree, spanned
from reid_sql.parameters import Floats

TINY: Final = 1e-300
Chosen = npt.NDArray[np.bool_]  # (subsets, columns)


@dataclass(frozen=True)
class PartShapes:
    """How far real cells of some columns alone scatter around a model's."""

    model: PeopleModel

    def log_shapes(self, chosen: Chosen, people: float) -> Floats:
        """Ln a of each choice of columns for each of the model's shapes: (subsets, shapes)."""
        whole = np.ones((1, chosen.shape[1]), dtype=bool)
        moved = shape.SLOPE[0] * (self._entropies(chosen) - self._entropies(whole))
        return np.asarray(self.model.scatter.log_shapes(people) + moved[:, None])

    def _entropies(self, chosen: Chosen) -> Floats:
        """Nats of each choice of columns: those of each column, less what a tree of pairs shares.

        A column that follows shares all that it has with its source.
        """
        own = np.array([-float(column.mass @ column.log_share) for column in self.model.marginals])
        found = chosen @ own
        for row, places in enumerate(map(np.flatnonzero, chosen)):
            shared = self._shared[np.ix_(places, places)]
            found[row] -= sum(shared[edge] for edge in spanned(shared) if edge[0] != ROOT)
        return np.asarray(found)

    @cached_property
    def _shared(self) -> Floats:
        """Mutual information of every two columns under the model, in nats."""
        model, kept, wide = self.model, self.model.kept, len(self.model.columns)
        found = np.zeros((wide, wide))
        found[np.ix_(kept, kept)] = mutual_information(model.stack.tree)
        if model.ties:
            law = {(kept[a], kept[b]): both for (a, b), both in joint_laws(model.stack.tree).items()}
            for a, b in combinations(range(wide), 2):
                if a not in kept or b not in kept:
                    found[a, b] = found[b, a] = tied_information(model, law, a, b)
        return found


@dataclass(frozen=True)
class PeopleParts:
    """The sub-models of a model of people, for one person's codes."""

    model: PeopleModel
    codes: Integers  # (columns,)

    def scores(self, chosen: Chosen, people: float) -> tuple[Floats, Floats, Floats]:
        """q, ξ and κ of each choice of columns."""
        q = np.minimum(np.exp(self._log_q(chosen)), 1.0)
        shapes = np.exp(PartShapes(self.model).log_shapes(chosen, people))  # (subsets, shapes)
        xi, kappa = (
            score(q[:, None], shapes, people) @ self.model.shapes
            for score in (residual.uniqueness, residual.correctness)
        )
        unique, sampled = self.model.unique_share(people), self.model.records / people
        return q, caution.cautious(xi, unique, sampled), kappa

    def _log_q(self, chosen: Chosen) -> Floats:
        model, stack = self.model, self.model.stack
        place = {column: at for at, column in enumerate(model.kept)}
        told = [
            replace(clue, source=place[clue.source])
            for clue in clues(model.ties, model.marginals, self.codes[None, :], chosen)
        ]
        codes, own = self.codes[model.kept], chosen[:, model.kept]
        found = log_q_of_tree(stack.tree, codes, own, told)
        if stack.donors is not None:
            donors = log_q_of_donors(stack.donors, codes, own, told)
            found = np.logaddexp(np.log(stack.weight) + found, np.log(1 - stack.weight) + donors)
        for tie in model.ties:
            both = chosen[:, tie.column] & chosen[:, tie.source]
            found = found + both * tie.log_chance(model.marginals, self.codes[None, :])
        return np.asarray(found)


def log_q_of_tree(tree: Tree, codes: Integers, chosen: Chosen, told: Sequence[Clue] = ()) -> Floats:
    """Ln q of one person's values of each choice of columns, the others summed over.

    `told` is what columns that follow from unknown ones say of them.
    """
    found = np.zeros(len(chosen))
    waiting = [np.ones((len(chosen), len(column.bin_mass))) for column in tree.columns]
    for clue in told:
        waiting[clue.source][clue.rows] *= clue.of_bins(tree.columns[clue.source])
    for j in reversed(tree.order):
        column, own = tree.columns[j], waiting[j]
        rows, place = chosen[:, j], column.bins[codes[j]]
        alone = own[rows, place] * np.exp(column.log_within[codes[j]])
        own[rows] = 0.0
        own[rows, place] = alone
        top = np.maximum(own.max(axis=1), TINY)
        found += np.log(top)
        own /= top[:, None]
        if tree.parents[j] == ROOT:
            found += np.log(np.maximum(own @ column.bin_mass, TINY))
        else:
            waiting[tree.parents[j]] *= own @ np.exp(tree.chances[j].log_chance).T
    return found


def log_q_of_donors(donors: Donors, codes: Integers, chosen: Chosen, told: Sequence[Clue] = ()) -> Floats:
    """Ln q of one person's values of each choice of columns; the other columns of a donor add up to 1."""
    logs = np.empty((len(donors.columns), len(donors.codes)))
    for j, column in enumerate(donors.columns):
        alike = likeness(column, codes[j : j + 1], donors.codes[:, j], column.log_share)
        logs[j] = np.log(alike.mixed(donors.kept[j], donors.near[j])[0]) + column.log_share[codes[j]]
    terms = chosen.astype(np.float64) @ logs + np.log(donors.count / donors.count.sum())  # (subsets, donors)
    for clue in told:
        terms[clue.rows] += donors.log_chance(clue.source, clue.chance)
    top = terms.max(axis=1)
    return np.asarray(np.log(np.exp(terms - top[:, None]).sum(axis=1)) + top)


def joint_laws(tree: Tree) -> dict[tuple[int, int], Floats]:
    """Law of the bins of every two columns; none where no path joins them."""
    joints: dict[tuple[int, int], Floats] = {}
    reached: list[int] = []
    for k in tree.order:
        parent = tree.parents[k]
        if parent == ROOT:
            joints[k, k] = np.diag(tree.columns[k].bin_mass)
        else:
            chance = np.exp(tree.chances[k].log_chance)
            for j in [other for other in reached if (other, parent) in joints]:
                joints[j, k] = joints[j, parent] @ chance
                joints[k, j] = joints[j, k].T
            joints[k, k] = np.diag(joints[parent, k].sum(axis=0))
        reached.append(k)
    return joints


def mutual_information(tree: Tree) -> Floats:
    """Mutual information of the bins of every two columns: 0 where no path joins them."""
    found = np.zeros((len(tree.columns), len(tree.columns)))
    for (one, other), joint in joint_laws(tree).items():
        found[one, other] = _information(joint) if one != other else 0.0
    return found


def tied_information(
    model: PeopleModel, law: Mapping[tuple[int, int], Floats], one: int, other: int
) -> float:
    """Mutual information of two columns, each told by its own bins or by those of its source."""
    tie = {tie.column: tie for tie in model.ties}
    sources = [tie[j].source if j in tie else j for j in (one, other)]
    if sources[0] == sources[1]:
        return _information(_joint_of_source(model, one, other, sources[0]))
    if (sources[0], sources[1]) not in law:
        return 0.0
    left, right = (
        _by_bin(tie[j], model) if j in tie else np.eye(len(model.marginals[j].bin_mass)) for j in (one, other)
    )
    return _information(left.T @ law[sources[0], sources[1]] @ right)


def _by_bin(tie: Tie, model: PeopleModel) -> Floats:
    """P(value of a column that follows | bin of its source): (bins, values and what is not told)."""
    column = model.marginals[tie.source]
    found = np.zeros((len(column.bin_mass), len(model.marginals[tie.column].mass)))
    np.add.at(found, (column.bins, tie.goes), column.mass)  # UNTOLD is the last: what fits nowhere else
    return np.asarray(found / column.bin_mass[:, None])


def _joint_of_source(model: PeopleModel, one: int, other: int, source: int) -> Floats:
    """Law of two columns that follow from one, or of one and its source's categories."""
    mass = model.marginals[source].mass
    goes = {tie.column: tie.goes for tie in model.ties} | {source: np.arange(len(mass))}
    found, place = np.unique(np.stack([goes[one], goes[other]]), axis=1, return_inverse=True)
    codes = [np.unique(own, return_inverse=True)[1] for own in found]
    joint = np.zeros((int(codes[0].max()) + 1, int(codes[1].max()) + 1))
    joint[codes[0], codes[1]] = np.bincount(place.ravel(), mass)
    return joint


def _information(joint: Floats) -> float:
    """Σ p ln(p / (p₁ p₂)).

    >>> round(_information(np.diag([0.5, 0.5])), 4)
    0.6931
    """
    independent = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    some = joint > TINY
    return max(float(joint[some] @ np.log(joint[some] / np.maximum(independent[some], TINY))), 0.0)
