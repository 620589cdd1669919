"""A fitted model of people: what it needs to score or draw any record, and to foretell populations.

What it draws is new records.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes.disclosure import Histogram, Integers
from reid_sql.models.marginals.column import Column
from reid_sql.models.people.curves import Seen
from reid_sql.models.people.scatter import PeopleCells, Scatter
from reid_sql.models.people.shape import Repeats
from reid_sql.models.people.stack import Stack
from reid_sql.models.people.ties import Tie
from reid_sql.models.people.twins import NO_GROUPS, NONE, Groups, Twins
from reid_sql.parameters import Floats

DRAWS: Final = 3000  # records that stand for the population
CHUNK: Final = 2048


@dataclass(frozen=True)
class PeopleModel:
    """The stack of tree and donors, the weights of the residual's shapes, and the sample's class sizes.

    `shapes` are for the stack as it is; `tree_shapes` for the tree alone, which is all that a kept file
    holds.
    """

    columns: tuple[str, ...]
    marginals: tuple[Column, ...]
    stack: Stack
    shapes: Floats  # weights of LOG_SHAPES
    tree_shapes: Floats
    histogram: Histogram
    seed: int
    method: str = "people"
    seen: Seen | None = None  # records of the sample, left out one by one; a kept file has none
    notes: tuple[str, ...] = ()  # what diagnostics say of the fit
    told: tuple[Repeats, ...] = ()  # of the shapes, by the table itself and then by its sub-tables
    twins: Twins = NONE  # records that repeat beyond chance
    groups: Groups = NO_GROUPS  # parts of records that do, as where households were sampled whole
    ties: tuple[Tie, ...] = ()  # columns that follow from others, which the stack goes without

    @property
    def records(self) -> int:
        """How many records the sample had."""
        return int(self.histogram.records.sum())

    @property
    def donors(self) -> int:
        """How many distinct records of the sample the model holds."""
        return 0 if self.stack.donors is None else len(self.stack.donors.codes)

    @property
    def kept(self) -> list[int]:
        """Columns of the stack: all that do not follow from others."""
        gone = {tie.column for tie in self.ties}
        return [j for j in range(len(self.columns)) if j not in gone]

    @property
    def order(self) -> list[int]:
        """Columns in an order in which records that begin alike are scored together."""
        return list(range(len(self.columns)))

    def codes(self, values: Sequence[Sequence[Any]]) -> Integers:
        """Codes of records given by column, as text or None: (records, columns)."""
        if len(values) != len(self.columns):
            rule = f"the columns must be the {len(self.columns)} of the model ({', '.join(self.columns)})"
            raise OutOfDomainError(f"{rule}, got {len(values)}; pass them in this order")
        return np.stack([self.column_codes(j, some) for j, some in enumerate(values)], axis=1)

    def column_codes(self, column: int, values: Sequence[str | None]) -> Integers:
        """Codes of the values of one column, by its number from 0."""
        return self.marginals[column].codes(values)

    def texts(self, codes: Integers) -> list[list[str | None]]:
        """Values of records of codes, by column."""
        return [column.texts(own) for column, own in zip(self.marginals, codes.T, strict=True)]

    def cell_probability(self, values: Sequence[Sequence[Any]]) -> PeopleCells:
        """Probability q(x) that a person has exactly these values; nothing is integrated: errors are 0."""
        return self.scored(self.codes(values))

    def scored(self, codes: Integers) -> PeopleCells:
        """Cell probabilities of records of codes."""
        log_q = self.stack.log_q(codes[:, self.kept])
        for tie in self.ties:
            log_q = log_q + tie.log_chance(self.marginals, codes)
        q = np.minimum(np.exp(log_q), 1.0)
        cells = np.maximum(q, np.finfo(float).tiny)
        return PeopleCells(cells, np.zeros(len(q)), self.scatter, self.unique_share)

    def unique_share(self, people: float) -> float:
        """Share of so many people who are unique by the model alone, worked out once."""
        if people not in self._unique:
            of_drawn = self.scatter.uniqueness(np.exp(self.drawn_log_q), people)
            self._unique[people] = float(of_drawn.mean())
        return self._unique[people]

    @cached_property
    def _unique(self) -> dict[float, float]:
        return {}

    @property
    def scatter(self) -> Scatter:
        """How far real cells scatter around the model's."""
        return Scatter(self.shapes, self.records)

    def light(self) -> "PeopleModel":
        """The model without what it remembers; it remembers nothing."""
        return self

    @cached_property
    def drawn_log_q(self) -> Floats:
        """Ln q of records drawn from the model, to which columns that follow add nothing."""
        return self.stack.drawn_log_q(DRAWS, np.random.default_rng([self.seed, 1]))
