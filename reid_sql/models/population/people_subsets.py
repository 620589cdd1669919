"""Cell probabilities of subsets of the columns under a model of people: the other columns are summed over.

In the tree by messages from the leaves to the roots. Cells of fewer columns are less overdispersed: ln a
moves along the line of the sub-tables (`overdispersion`) with the entropy of the columns, that of the tree of
their pairs (Chow & Liu 1968). Scores are shrunk as those of all columns are; since fewer people are unique by
fewer columns, ξ errs upwards.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.models.fitted_model import doubts_at
from reid_sql.models.marginals.column import SEEN, WITHOUT_SHARE, describe_records, join_status
from reid_sql.models.people import overdispersion
from reid_sql.models.people.functional_dependencies import (
    DeterminedColumn,
    SourceEvidence,
    infer_sources,
)
from reid_sql.models.people.model import PeopleModel
from reid_sql.models.people.scores import shrink_correctness, shrink_scores
from reid_sql.models.people.tree import ROOT, Tree, maximum_spanning_tree
from reid_sql.parameters import Floats, Integers

MIN_CHANCE: Final = 1e-300
Subsets = npt.NDArray[np.bool_]  # (subsets, columns)


@dataclass(frozen=True)
class SubsetShapes:
    """Overdispersion of cells of subsets of the columns."""

    model: PeopleModel

    def log_shapes(self, subsets: Subsets, people: float) -> Floats:
        """Ln a of each subset for each of the model's shapes: (subsets, shapes)."""
        all_columns = np.ones((1, subsets.shape[1]), dtype=bool)
        moved = overdispersion.SLOPE[0] * (self._entropies(subsets) - self._entropies(all_columns))
        return np.asarray(self.model.overdispersion.log_shapes(people) + moved[:, None])

    def _entropies(self, subsets: Subsets) -> Floats:
        """Nats of each subset: Σ H(column) less the mutual information on the edges of a spanning tree."""
        column_entropies = np.array(
            [-float(column.mass @ column.log_share) for column in self.model.marginals]
        )
        entropies = subsets @ column_entropies
        for row, places in enumerate(map(np.flatnonzero, subsets)):
            shared = self._mutual_information[np.ix_(places, places)]
            entropies[row] -= sum(
                shared[edge] for edge in maximum_spanning_tree(shared) if edge[0] != ROOT
            )
        return np.asarray(entropies)

    @cached_property
    def _mutual_information(self) -> Floats:
        """Mutual information of every two columns under the model, in nats."""
        model, free, columns = self.model, self.model.free_columns, len(self.model.columns)
        shared = np.zeros((columns, columns))
        shared[np.ix_(free, free)] = tree_information(model.mixture.tree)
        if model.determined:
            of_tree = joint_distributions(model.mixture.tree)
            joints = {(free[a], free[b]): joint for (a, b), joint in of_tree.items()}
            for a, b in combinations(range(columns), 2):
                if a not in free or b not in free:
                    shared[a, b] = shared[b, a] = determined_information(model, joints, a, b)
        return shared


@dataclass(frozen=True)
class PeopleSubsets:
    """Scores by subsets of the columns under a model of people, for one person's codes."""

    model: PeopleModel
    codes: Integers  # (columns,)

    def status(self, subsets: Subsets, people: float) -> list[str]:
        """Status of each subset: the doubts on the model, and whether the sample contains its values."""
        doubts = doubts_at(self.model.doubts, people)
        statuses = describe_records(
            self.model.columns, np.where(subsets, self._cases, SEEN), self.model.records
        )
        return [join_status(*doubts, str(status)) for status in statuses]

    def scores(self, subsets: Subsets, people: float) -> tuple[Floats, Floats, Floats]:
        """q, ξ and κ by each subset."""
        q = np.minimum(np.exp(self._log_q(subsets)), 1.0)
        q[(subsets & (self._cases == WITHOUT_SHARE)).any(axis=1)] = 0.0
        shapes = np.exp(SubsetShapes(self.model).log_shapes(subsets, people))  # (subsets, shapes)
        xi, kappa = (
            score(q[:, None], shapes, people) @ self.model.shapes
            for score in (overdispersion.uniqueness, overdispersion.correctness)
        )
        unique, sampled = self.model.unique_share(people), self.model.records / people
        shrunk = shrink_scores(xi, unique, sampled)
        return q, shrunk, shrink_correctness(kappa, xi, shrunk)

    @property
    def _cases(self) -> Integers:
        """Whether the sample contains each value, (columns,)."""
        return np.asarray(self.model.unseen_cases(self.codes[None, :])[0])

    def _log_q(self, subsets: Subsets) -> Floats:
        model = self.model
        all_codes = model.replace_values_without_share(self.codes[None, :])
        place = {column: at for at, column in enumerate(model.free_columns)}
        evidence = [
            replace(one, source=place[one.source])
            for one in infer_sources(model.determined, model.marginals, all_codes, subsets)
        ]
        codes, free_subsets = all_codes[0, model.free_columns], subsets[:, model.free_columns]
        log_q = score_tree_subsets(model.mixture.tree, codes, free_subsets, evidence)
        for one in model.determined:
            both = subsets[:, one.column] & subsets[:, one.source]
            log_q = log_q + both * one.log_chance(model.marginals, all_codes)
        return np.asarray(log_q)


def score_tree_subsets(
    tree: Tree, codes: Integers, subsets: Subsets, evidence: Sequence[SourceEvidence] = ()
) -> Floats:
    """Ln q of one person's values by each subset, the other columns summed over.

    Belief propagation (Pearl 1988): λ_j(y) is the chance of what is known below column j, given its bin y.
    `evidence` is on unknown sources, by columns that they determine.
    """
    log_q = np.zeros(len(subsets))
    beliefs = [np.ones((len(subsets), len(column.bin_mass))) for column in tree.columns]  # λ_j
    for one in evidence:
        beliefs[one.source][one.rows] *= one.by_bin(tree.columns[one.source])
    for j in reversed(tree.order):
        column, belief = tree.columns[j], beliefs[j]
        rows, place = subsets[:, j], column.bins[codes[j]]
        of_value = belief[rows, place] * np.exp(column.log_within[codes[j]])
        belief[rows] = 0.0
        belief[rows, place] = of_value
        top = np.maximum(
            belief.max(axis=1), MIN_CHANCE
        )  # out of the product, which would underflow
        log_q += np.log(top)
        belief /= top[:, None]
        if tree.parents[j] == ROOT:
            log_q += np.log(np.maximum(belief @ column.bin_mass, MIN_CHANCE))
        else:
            beliefs[tree.parents[j]] *= belief @ np.exp(tree.chances[j].log_chance).T
    return log_q


def joint_distributions(tree: Tree) -> dict[tuple[int, int], Floats]:
    """Joint distribution of the bins of every two connected columns: P(j, k) = P(j, parent) P(k | parent)."""
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


def tree_information(tree: Tree) -> Floats:
    """Mutual information of the bins of every two columns: 0 where no path joins them."""
    shared = np.zeros((len(tree.columns), len(tree.columns)))
    for (one, other), joint in joint_distributions(tree).items():
        shared[one, other] = _information(joint) if one != other else 0.0
    return shared


def determined_information(
    model: PeopleModel, joints: Mapping[tuple[int, int], Floats], one: int, other: int
) -> float:
    """Mutual information of two columns, each by its own bins or by those of its source."""
    determined = {each.column: each for each in model.determined}
    sources = [determined[j].source if j in determined else j for j in (one, other)]
    if sources[0] == sources[1]:
        # two columns of one source, or one and its source's categories
        mass = model.marginals[sources[0]].mass
        code = {each.column: each.code_of_source for each in model.determined}
        code[sources[0]] = np.arange(len(mass))
        pairs, place = np.unique(np.stack([code[one], code[other]]), axis=1, return_inverse=True)
        codes = [np.unique(pair_codes, return_inverse=True)[1] for pair_codes in pairs]
        joint = np.zeros((int(codes[0].max()) + 1, int(codes[1].max()) + 1))
        joint[codes[0], codes[1]] = np.bincount(place.ravel(), mass)
        return _information(joint)
    if (sources[0], sources[1]) not in joints:
        return 0.0
    left, right = (
        _chance_by_bin(determined[j], model)
        if j in determined
        else np.eye(len(model.marginals[j].bin_mass))
        for j in (one, other)
    )
    return _information(left.T @ joints[sources[0], sources[1]] @ right)


def _chance_by_bin(determined: DeterminedColumn, model: PeopleModel) -> Floats:
    """P(value of a determined column | bin of its source): (bins, values, the last of them unknown)."""
    column = model.marginals[determined.source]
    chance = np.zeros((len(column.bin_mass), len(model.marginals[determined.column].mass)))
    # UNKNOWN, −1, is the last
    np.add.at(chance, (column.bins, determined.code_of_source), column.mass)
    return np.asarray(chance / column.bin_mass[:, None])


def _information(joint: Floats) -> float:
    """Σ p ln(p / (p₁ p₂)).

    >>> round(_information(np.diag([0.5, 0.5])), 4)
    0.6931
    """
    independent = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    some = joint > MIN_CHANCE
    return max(
        float(joint[some] @ np.log(joint[some] / np.maximum(independent[some], MIN_CHANCE))), 0.0
    )
