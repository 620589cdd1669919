"""ξ of one person by number and choice of attributes, what each attribute adds, and the fewest that suffice.

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
from reid_sql.models.people.people_model import PeopleModel
from reid_sql.models.profile.copula_parts import CopulaParts
from reid_sql.models.profile.people_parts import Chosen, PeopleParts
from reid_sql.parameters import PROBABILITY, Floats

MOST: Final = 1024  # choices of attributes: all of 10
Level = Annotated[float, PROBABILITY]
NONE_SUFFICES: Final = "no choice of up to {} attributes brings ξ to {:g}; all of them: {:.3g}"


@dataclass(frozen=True)
class ProfileRow:
    """A choice of attributes (`known`), what one adds (`impact`), or the fewest that suffice (`smallest`)."""

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
    """Profile a person of these values, by column of the model; refuses more than 1,024 choices."""
    wide = len(model.columns)
    if len(values) != wide:
        rule = f"values must be the {wide} of the model's columns ({', '.join(model.columns)})"
        raise OutOfDomainError(f"{rule}, got {len(values)}; pass them as texts, in this order")
    sizes = [size for size in range(1, min(max_size, wide) + 1) if size < wide]
    count = sum(comb(wide, size) for size in sizes)
    if count > MOST:
        rule = f"the number of choices of attributes must be at most {MOST}"
        raise OutOfDomainError(f"{rule}, got {count}; pass a smaller max_size")
    known = [chosen for size in sizes for chosen in combinations(range(wide), size)] + [tuple(range(wide))]
    without = [tuple(j for j in range(wide) if j != left) for left in range(wide)] if wide > 1 else []
    every = [*known, *without]
    mask = np.zeros((len(every), wide), dtype=bool)
    for row, chosen in enumerate(every):
        mask[row, list(chosen)] = True
    scores = np.stack(_scores(model, values, mask, float(population)), axis=1)  # (choices, 3)
    rows = list(_known(model.columns, known, scores[: len(known)]))
    suffices = _smallest(rows, max(sizes, default=wide), level)
    return [*rows, *_impacts(model.columns, scores[len(known) - 1], scores[len(known) :]), suffices]


def _scores(
    model: FittedModel, values: Sequence[str | None], chosen: Chosen, people: float
) -> tuple[Floats, Floats, Floats]:
    if isinstance(model, PeopleModel):
        return PeopleParts(model, model.codes([[value] for value in values])[0]).scores(chosen, people)
    if isinstance(model, GaussianCopula):
        return CopulaParts(model, values).scores(chosen, people)
    raise OutOfDomainError(f"model must be {KINDS}, got {type(model).__name__}; pass its name")


def _known(columns: Sequence[str], known: Sequence[tuple[int, ...]], scores: Floats) -> Iterator[ProfileRow]:
    for chosen, (q, xi, kappa) in zip(known, scores.tolist(), strict=True):
        yield ProfileRow("known", [columns[j] for j in chosen], len(chosen), q, xi, kappa, None, OK)


def _impacts(columns: Sequence[str], whole: Floats, without: Floats) -> Iterator[ProfileRow]:
    """What ξ of all attributes is above ξ of all but one; the scores are those without it."""
    for column, (q, xi, kappa) in zip(columns, without.tolist(), strict=False):
        yield ProfileRow("impact", [column], 1, q, xi, kappa, float(whole[1]) - xi, OK)


def _smallest(rows: Sequence[ProfileRow], most: int, level: float) -> ProfileRow:
    """The fewest attributes that bring ξ to the level, those of the highest ξ among as many."""
    enough = [row for row in rows if row.uniqueness_xi is not None and row.uniqueness_xi >= level]
    if not enough:
        said = NONE_SUFFICES.format(most, level, rows[-1].uniqueness_xi or 0.0)
        return ProfileRow("smallest", [], 0, None, None, None, None, said)
    best = min(enough, key=lambda row: (row.size, -(row.uniqueness_xi or 0.0)))
    if best.size > most:
        told = f"all attributes: no choice of up to {most} does, and sizes between were not asked for"
        return _of(best, told)
    return _of(best, OK)


def _of(row: ProfileRow, status: str) -> ProfileRow:
    scores = row.cell_probability, row.uniqueness_xi, row.correctness_kappa
    return ProfileRow("smallest", row.attributes, row.size, *scores, None, status)
