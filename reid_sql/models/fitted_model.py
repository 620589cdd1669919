"""What every fitted model can do, whatever its law: code, score, draw and foretell.

Functions know it by its name.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Annotated, Any, Final, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from reid_sql.errors import OutOfDomainError
from reid_sql.models.interruption import checkpoint
from reid_sql.parameters import MODEL, Floats, Integers, ModelName, TextColumn


@dataclass(frozen=True)
class Doubt:
    """A status of a fit, which holds for each of its scores in populations of these sizes."""

    status: str
    least: float = 0.0  # people
    most: float = inf
    understates: bool = False  # whether scores are far too low with it


def doubts_at(doubts: Iterable[Doubt], people: float) -> list[str]:
    """Statuses of the doubts in a population of this size.

    >>> doubts_at([Doubt("a: always"), Doubt("b: in large populations", 1e6)], 1000)
    ['a: always']
    """
    return [doubt.status for doubt in doubts if doubt.least <= people <= doubt.most]


class Values(Protocol):
    """The values of a column as text, by their codes."""

    @property
    def values(self) -> Sequence[str | None]:
        """Text of each code; None is NULL."""


class Scores(Protocol):
    """What a model says of records: the probabilities of their values, and by them ξ and κ."""

    @property
    def probability(self) -> Floats:
        """Probability q(x) of each record's values, never 0."""

    @property
    def standard_error(self) -> Floats:
        """Standard errors of the probabilities, from their integration."""

    @property
    def status(self) -> TextColumn:
        """Whether each record has values that the sample does not contain."""

    def status_at(self, population: npt.ArrayLike) -> TextColumn:
        """The same, after what casts doubt on the model in a population of this size."""

    def refuse_doubts(self, population: npt.ArrayLike) -> None:
        """Refuse scores without a status where the model understates them."""

    def taken(self, rows: Integers) -> Self:
        """Give the scores of these records alone."""

    def uniqueness(self, population: npt.ArrayLike) -> Floats:
        """Chance ξ that a person of these values is the only one in a population of this size."""

    def correctness(self, population: npt.ArrayLike) -> Floats:
        """Mean κ of 1/F for a person of these values."""

    def known(self, class_size: Integers, population: npt.ArrayLike) -> tuple[Floats, Floats]:
        """ξ and κ for records of the sample, by their class size."""


@runtime_checkable
class FittedModel(Protocol):
    """A model of a table's columns, in order; codes are (records, columns).

    Values are text or None by column.
    """

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns, in the order of the values of a record."""

    @property
    def records(self) -> int:
        """How many records the sample had."""

    @property
    def seed(self) -> int:
        """Seed of all that is drawn."""

    @property
    def method(self) -> str:
        """Which law it is."""

    @property
    def doubts(self) -> Sequence[Doubt]:
        """What casts doubt on all of its scores."""

    @property
    def marginals(self) -> Sequence[Values]:
        """The values of each column, a code for each."""

    @property
    def order(self) -> list[int]:
        """Columns in an order in which records that begin alike are best scored together."""

    def codes(self, values: Sequence[Sequence[Any]]) -> Integers:
        """Codes of records given by column."""

    def column_codes(self, column: int, values: Sequence[str | None]) -> Integers:
        """Codes of the values of one column, by its number from 0."""

    def texts(self, codes: Integers) -> list[list[str | None]]:
        """Values of records of codes, by column."""

    def cell_probability(self, values: Sequence[Sequence[Any]]) -> Scores:
        """Probability q(x) of records given by column."""

    def scored(self, codes: Integers) -> Scores:
        """Probability q(x) of records of codes, which say ξ and κ of them too."""

    def light(self) -> "FittedModel":
        """The model without the scores that it remembers, to be sent elsewhere."""


def encode_columns(model: FittedModel, values: Sequence[Sequence[Any]]) -> Integers:
    """Codes of records given by column: (records, columns); refuses another number of columns."""
    columns = model.columns
    if len(values) != len(columns):
        raise OutOfDomainError(
            f"the columns must be the {len(columns)} of the model ({', '.join(columns)}), got {len(values)}; pass them in this order"
        )
    return np.stack([model.column_codes(j, some) for j, some in enumerate(values)], axis=1)


RECORDS_PER_STREAM: Final = 2048  # records that are drawn from one stream of random numbers


def draw_places(
    model: FittedModel,
    places: Integers,
    seed: int,
    draw: "Callable[[int, np.random.Generator], Integers]",  # in quotes, else it imports numpy.random
) -> Integers:
    """Codes at these places of an endless sample of the model: a place has the same record in every call."""
    codes = np.empty((len(places), len(model.columns)), dtype=np.int64)
    streams = places // RECORDS_PER_STREAM
    for stream in np.unique(streams).tolist():
        checkpoint()
        rows = streams == stream
        drawn = draw(RECORDS_PER_STREAM, np.random.default_rng([seed, 1, stream]))
        codes[rows] = drawn[places[rows] % RECORDS_PER_STREAM]
    return codes


@dataclass(frozen=True)
class ModelOrNull(ModelName):
    """The name of a fitted model, or NULL; in Python the model itself too."""

    def from_python(self, name: str, value: Any) -> Any:  # noqa: ANN401 - as it may be
        """Check the name; a model is what it is."""
        return value if isinstance(value, FittedModel) else super().from_python(name, value)


OPTIONAL_MODEL: Final = ModelOrNull(MODEL.rule, MODEL.remedy, optional=True)
OptionalModel = Annotated[str | None, OPTIONAL_MODEL]
