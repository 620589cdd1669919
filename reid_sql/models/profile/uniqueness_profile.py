"""ξ of one person by subsets of the attributes, what each attribute adds, and the fewest that suffice.

Source: Rocher, Hendrickx & de Montjoye 2019, figure 3.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Annotated, Final

import numpy as np

from reid_sql.errors import OutOfDomainError
from reid_sql.fitted_model import FittedModel
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.copula.gaussian_copula import GaussianCopula
from reid_sql.models.fitted import KINDS
from reid_sql.models.people.model import PeopleModel
from reid_sql.models.profile.people_subsets import PeopleSubsets, Subsets
from reid_sql.models.profile.subset_uniqueness import copula_of_columns
from reid_sql.parameters import PROBABILITY, Floats

MAX_SUBSETS: Final = 1024  # of attributes: all of 10
Level = Annotated[float, PROBABILITY]
STATUS_NONE_SUFFICES: Final = (
    "no subset of up to {} attributes has ξ of at least {:g}: all of them have {:.3g}"
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
        rule = f"values must be the {columns} of the model's columns ({', '.join(model.columns)})"
        raise OutOfDomainError(f"{rule}, got {len(values)}; pass them as texts, in this order")
    sizes = [size for size in range(1, min(max_size, columns) + 1) if size < columns]
    count = sum(comb(columns, size) for size in sizes)
    if count > MAX_SUBSETS:
        rule = f"the number of choices of attributes must be at most {MAX_SUBSETS}"
        raise OutOfDomainError(f"{rule}, got {count}; pass a smaller max_size")
    known = [subset for size in sizes for subset in combinations(range(columns), size)]
    known.append(tuple(range(columns)))
    without = (
        [tuple(j for j in range(columns) if j != left) for left in range(columns)] if columns > 1 else []
    )
    subsets = np.zeros((len(known) + len(without), columns), dtype=bool)
    for row, subset in enumerate([*known, *without]):
        subsets[row, list(subset)] = True
    scores = np.stack(_score_subsets(model, values, subsets, float(population)), axis=1)  # (subsets, 3)
    rows = list(_known(model.columns, known, scores[: len(known)]))
    smallest = _smallest(rows, max(sizes, default=columns), level)
    return [*rows, *_impacts(model.columns, scores[len(known) - 1], scores[len(known) :]), smallest]


def _score_subsets(
    model: FittedModel, values: Sequence[str | None], subsets: Subsets, people: float
) -> tuple[Floats, Floats, Floats]:
    """q, ξ and κ by each subset."""
    if isinstance(model, PeopleModel):
        return PeopleSubsets(model, model.codes([[value] for value in values])[0]).scores(subsets, people)
    if not isinstance(model, GaussianCopula):
        raise OutOfDomainError(f"model must be {KINDS}, got {type(model).__name__}; pass its name")
    scores = np.empty((3, len(subsets)))
    for row, subset in enumerate(subsets):
        places = np.flatnonzero(subset).tolist()
        cell = copula_of_columns(model, places).cell_probability([[values[j]] for j in places])
        scores[:, row] = cell.probability[0], cell.uniqueness(people)[0], cell.correctness(people)[0]
    return scores[0], scores[1], scores[2]


def _known(columns: Sequence[str], known: Sequence[tuple[int, ...]], scores: Floats) -> Iterator[ProfileRow]:
    for subset, (q, xi, kappa) in zip(known, scores.tolist(), strict=True):
        yield ProfileRow("known", [columns[j] for j in subset], len(subset), q, xi, kappa, None, OK)


def _impacts(columns: Sequence[str], whole: Floats, without: Floats) -> Iterator[ProfileRow]:
    """ξ by all attributes less ξ by all but one; the scores are those without it."""
    for column, (q, xi, kappa) in zip(columns, without.tolist(), strict=False):
        yield ProfileRow("impact", [column], 1, q, xi, kappa, float(whole[1]) - xi, OK)


def _smallest(rows: Sequence[ProfileRow], max_size: int, level: float) -> ProfileRow:
    """The fewest attributes by which ξ reaches the level; of several such subsets, that of the highest ξ."""
    enough = [row for row in rows if row.uniqueness_xi is not None and row.uniqueness_xi >= level]
    if not enough:
        status = STATUS_NONE_SUFFICES.format(max_size, level, rows[-1].uniqueness_xi or 0.0)
        return ProfileRow("smallest", [], 0, None, None, None, None, status)
    best = min(enough, key=lambda row: (row.size, -(row.uniqueness_xi or 0.0)))
    status = OK
    if best.size > max_size:
        status = f"all attributes: no subset of up to {max_size} is enough, and larger ones were not computed"
    scores = best.cell_probability, best.uniqueness_xi, best.correctness_kappa
    return ProfileRow("smallest", best.attributes, best.size, *scores, None, status)
