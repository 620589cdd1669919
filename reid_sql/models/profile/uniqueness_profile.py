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
from reid_sql.parameters import PROBABILITY

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
    scores = _score_subsets(model, values, subsets, float(population))
    rows = [_known(model.columns, subset, score) for subset, score in zip(known, scores, strict=False)]
    impacts = _impacts(model.columns, scores[len(known) - 1], scores[len(known) :])
    return [*rows, *impacts, _smallest(rows, max(sizes, default=columns), level)]


@dataclass(frozen=True)
class _SubsetScore:
    """Scores by one subset, and whether the sample contains the person's values of it."""

    cell_probability: float
    uniqueness_xi: float
    correctness_kappa: float
    status: str


def _score_subsets(
    model: FittedModel, values: Sequence[str | None], subsets: Subsets, people: float
) -> list[_SubsetScore]:
    if isinstance(model, PeopleModel):
        person = PeopleSubsets(model, model.codes([[value] for value in values])[0])
        scored = zip(*person.scores(subsets, people), person.status(subsets), strict=True)
        return [_SubsetScore(float(q), float(xi), float(kappa), status) for q, xi, kappa, status in scored]
    if not isinstance(model, GaussianCopula):
        raise OutOfDomainError(f"model must be {KINDS}, got {type(model).__name__}; pass its name")
    scores = []
    for subset in subsets:
        places = np.flatnonzero(subset).tolist()
        cell = copula_of_columns(model, places).cell_probability([[values[j]] for j in places])
        q, xi, kappa = cell.probability[0], cell.uniqueness(people)[0], cell.correctness(people)[0]
        scores.append(_SubsetScore(float(q), float(xi), float(kappa), str(cell.status[0])))
    return scores


def _known(columns: Sequence[str], known: Sequence[int], score: _SubsetScore) -> ProfileRow:
    scores = score.cell_probability, score.uniqueness_xi, score.correctness_kappa
    return ProfileRow("known", [columns[j] for j in known], len(known), *scores, None, score.status)


def _impacts(
    columns: Sequence[str], whole: _SubsetScore, without: Sequence[_SubsetScore]
) -> Iterator[ProfileRow]:
    """ξ by all attributes less ξ by all but one; the scores are those without it."""
    for column, score in zip(columns, without, strict=False):
        impact = whole.uniqueness_xi - score.uniqueness_xi
        scores = score.cell_probability, score.uniqueness_xi, score.correctness_kappa
        yield ProfileRow("impact", [column], 1, *scores, impact, whole.status)


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
    scores = best.cell_probability, best.uniqueness_xi, best.correctness_kappa
    return ProfileRow("smallest", best.attributes, best.size, *scores, None, status)
