"""What a table gives away about a sensitive column, by five measures of its classes.

l-diversity, t-closeness, (α, k)-anonymity, β-likeness and δ-disclosure. The engine measures each class; here
the worst class is found, and the classes that offend a threshold are added up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, Literal

import numpy as np

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.numerics.quantiles import ROUNDING_TOLERANCE
from reid_sql.parameters import (
    PROBABILITY,
    Choice,
    Column,
    Columns,
    Flags,
    Floats,
    Integers,
    Number,
)

COLUMNS_LABEL: Final = "quasi-identifiers and sensitive"
REFUSAL_BY_SENSITIVE: Final = (
    "by must not be the sensitive column, got '{}', of which each group would have one value; "
    "group by other columns"
)
QI: Final = Columns(COLUMNS_LABEL)
SENSITIVE: Final = Column(COLUMNS_LABEL)
DIVERSITIES: Final = Choice(("distinct", "entropy", "recursive"))
DISTANCES: Final = Choice(("equal", "ordered", "numeric"))
LIKENESSES: Final = Choice(("basic", "enhanced"))
PRESENCES: Final = Choice(("present", "all"))
DIVERSITY: Final = Number(
    "a number of values from 1 to 1e+9",
    "pass how many values a class must contain at the least, such as 2",
    1.0,
    1e9,
)
CONCENTRATION: Final = Number(
    "a number from 1e-9 to 1e+9",
    "pass how many times the rarer values the most frequent one may be, such as 3",
    1e-9,
    1e9,
)
CLOSENESS: Final = Number(
    "a distance from 0 to 1", "pass how far a class may be from the table, such as 0.2", 0.0, 1.0
)
GAIN: Final = Number(
    "a number from 0 to 1e+9", "pass how much an attacker may gain on a value, such as 1", 0.0, 1e9
)
MIN_K: Final = Number(
    "a whole number of records from 1 to 1e+15",
    "pass how many records a class must contain at the least, such as 5",
    1,
    1e15,
    whole=True,
)
MEASURE_TOLERANCE: Final = ROUNDING_TOLERANCE  # what rounding may add to a measure, and no more
STATUS_NO_ORDER: Final = (
    "no_order: a sensitive value is NULL or not finite, so values have no order"
)
STATUS_NO_BETA: Final = (
    "infinite_beta: in some class, a value is more frequent than any beta allows"
)
STATUS_NO_DELTA: Final = (
    "infinite_delta: some class lacks a sensitive value, so an attacker can rule it out"
)

Diversity = Annotated[float, DIVERSITY]
Concentration = Annotated[float, CONCENTRATION]
Closeness = Annotated[float, CLOSENESS]
Gain = Annotated[float, GAIN]
Alpha = Annotated[float, PROBABILITY]
MinK = Annotated[int, MIN_K]
DiversityVariant = Annotated[Literal["distinct", "entropy", "recursive"], DIVERSITIES]
Distance = Annotated[Literal["equal", "ordered", "numeric"], DISTANCES]
Likeness = Annotated[Literal["basic", "enhanced"], LIKENESSES]
Presence = Annotated[Literal["present", "all"], PRESENCES]


def refuse_sensitive_groups(by: Sequence[str], sensitive: str) -> None:
    """Refuse groups by the sensitive column itself: each group has one value, and every class would pass."""
    if sensitive.lower() in (column.lower() for column in by):
        raise OutOfDomainError(REFUSAL_BY_SENSITIVE.format(sensitive))


@dataclass(frozen=True)
class ClassValues:
    """How many classes, and records, have each size and each value of a measure; NaN where it has no answer.

    Where people are counted, they are in place of the records: each by the size of the smallest, and the
    value of the worst, of their classes.
    """

    class_size: Integers  # (kinds,)
    value: Floats  # (kinds,)
    classes: Integers  # (kinds,)
    records: Integers | None = None  # (kinds,); None for class_size × classes


@dataclass(frozen=True)
class OffendingClasses:
    """The classes that offend a threshold: quasi-identifiers by column, records, value of the measure."""

    values: Mapping[str, Sequence[Any]]
    class_size: Sequence[int]
    value: Sequence[float | None]


@dataclass(frozen=True)
class Disclosure:
    """A measure of the worst class, and how many classes and records offend the threshold."""

    variant: str
    value: float | None
    records: int
    classes: int
    k: int
    offending_classes: int | None
    offending_records: int | None
    offending_share: float | None
    threshold: float
    status: str


@dataclass(frozen=True)
class DiversityDisclosure(Disclosure):
    """The same, with the c of the recursive variant."""

    c: float | None


@dataclass(frozen=True)
class AlphaDisclosure(Disclosure):
    """The same, with the least size of a class."""

    threshold_k: int


def summarize_lowest(classes: ClassValues, threshold: float, variant: str) -> Disclosure:
    """Summarise a measure whose lowest value is the worst; a class offends below the threshold.

    >>> classes = ClassValues(np.array([1, 4]), np.array([1.0, 3.0]), np.array([2, 1]))
    >>> summarize_lowest(classes, 2, "distinct").offending_classes
    2
    """
    return _summarize(
        classes, classes.value < threshold * (1 - MEASURE_TOLERANCE), 0, threshold, variant
    )


def summarize_highest(
    classes: ClassValues, threshold: float, variant: str, *, k: int = 1, infinite: str = OK
) -> Disclosure:
    """Summarise a measure whose highest value is the worst: above the threshold, or below k, a class offends.

    >>> classes = ClassValues(np.array([1, 4]), np.array([0.7, 0.1]), np.array([2, 1]))
    >>> summarize_highest(classes, 0.2, "equal").offending_records
    2
    """
    offending = (classes.value > threshold * (1 + MEASURE_TOLERANCE)) | (classes.class_size < k)
    shown = _summarize(classes, offending, -1, threshold, variant)
    return replace(shown, status=infinite) if shown.value == np.inf else shown


def _summarize(
    class_values: ClassValues,
    offending: Flags,
    worst: int,
    threshold: float,
    variant: str,
) -> Disclosure:
    if not len(class_values.classes):
        raise NoRecordsError
    available = not np.isnan(class_values.value).any()
    value = float(np.sort(class_values.value)[worst]) if available else None
    counts = (
        class_values.class_size * class_values.classes
        if class_values.records is None
        else class_values.records
    )
    records, at_fault = int(counts.sum()), int(counts[offending].sum())
    return Disclosure(
        variant=variant,
        value=value,
        records=records,
        classes=int(class_values.classes.sum()),
        k=int(class_values.class_size.min()),
        offending_classes=int(class_values.classes[offending].sum()) if available else None,
        offending_records=at_fault if available else None,
        offending_share=at_fault / records if available else None,
        threshold=float(threshold),
        status=STATUS_NO_ORDER if value is None else OK,
    )
