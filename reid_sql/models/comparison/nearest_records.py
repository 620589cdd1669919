"""Attackers who measure distances between records, whatever was done to the values.

Distances are measured between numbers, between ranks, and between numbers in the units of the disturbances:
those of several columns can be correlated, and most of the disturbance then is in one direction. Source:
Domingo-Ferrer & Torra 2001; Torra, Abowd & Domingo-Ferrer 2006 for the covariances of the differences.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np

from reid_sql.models.comparison.disturbed_numbers import middle_ranks, weighted_moments
from reid_sql.models.comparison.paired_records import (
    CodedColumn,
    EqualRecords,
    PairedColumn,
    common_codes,
)
from reid_sql.parameters import Floats, Integers

Array = TypeVar("Array", Floats, Integers)
BY_NUMBERS: Final = "nearest numbers"
BY_RANKS: Final = "nearest ranks"
BY_AGREEMENT: Final = "most equal values, then nearest ranks"
BY_DIFFERENCES: Final = "nearest by the covariance of the differences"
# squared, in variances, on average; also of other and unknown values
DISTANCE_OF_TWO_PEOPLE: Final = 2.0
MAX_RANK_DISTANCE: Final = 12.0  # squared, of shares of ranks, whose variance is 1/12
MIN_VARIANCE: Final = 1e-9  # of a direction, in variances of the numbers


@dataclass(frozen=True)
class Nearness:
    """An attacker who takes the nearest record."""

    name: str
    numbers: tuple[Floats, Floats]  # (dimensions, classes) of the original and of the release
    codes: tuple[Integers, Integers]  # (columns, classes), of values that are the same or not
    penalty: float = DISTANCE_OF_TWO_PEOPLE  # of values that are not
    width: int = 1

    def scores(self, original: Integers, released: Integers) -> Floats:
        """Minus the squared distances of some classes, (original, released)."""
        total = np.zeros((len(original), len(released)))
        for mine, theirs in zip(*self.numbers, strict=True):
            distances = theirs[released] - mine[original][:, None]
            distances *= distances
            distances[np.isnan(distances)] = DISTANCE_OF_TWO_PEOPLE
            total -= distances
        for mine, theirs in zip(*self.codes, strict=True):
            total -= self.penalty * (theirs[released] != mine[original][:, None])
        return total


def nearest_attackers(
    columns: Sequence[PairedColumn],
    original: EqualRecords,
    released: EqualRecords,
    places: Sequence[int],
) -> Iterator[Nearness]:
    """Attackers who measure distances by the columns at these places; none if no column has numbers."""
    numbers = {at: each for at in places if (each := _standard_numbers(columns[at])) is not None}
    if not numbers:
        return
    tables = original, released
    codes = {at: common_codes(columns[at]) for at in places}
    texts = _look_up_values({at: codes[at] for at in places if at not in numbers}, tables)
    by_numbers = _look_up_values(numbers, tables)
    yield Nearness(BY_NUMBERS, by_numbers, texts)
    ranks = {at: (_ranks(columns[at].original), _ranks(columns[at].released)) for at in numbers}
    by_ranks = _look_up_values(ranks, tables)
    yield Nearness(BY_RANKS, by_ranks, texts)
    # No distance of ranks is as great as a value that differs.
    yield Nearness(
        BY_AGREEMENT,
        by_ranks,
        _look_up_values(codes, tables),
        MAX_RANK_DISTANCE * (1 + len(numbers)),
    )
    if len(numbers) > 1:
        directions, shift = _directions([columns[at] for at in numbers], list(numbers.values()))
        mine, theirs = map(np.nan_to_num, by_numbers)
        yield Nearness(BY_DIFFERENCES, (directions @ (mine + shift), directions @ theirs), texts)


def _look_up_values(
    of_codes: Mapping[int, tuple[Array, Array]], tables: tuple[EqualRecords, EqualRecords]
) -> tuple[Array, Array]:
    """What codes of some columns of both tables stand for, of each class, (columns, classes)."""
    original, released = (
        np.array([each[side][table.codes[at]] for at, each in of_codes.items()]).reshape(
            len(of_codes), len(table.sizes)
        )
        for side, table in enumerate(tables)
    )
    return original, released


def _standard_numbers(column: PairedColumn) -> tuple[Floats, Floats] | None:
    """Numbers of both tables' codes around the mean of the original, in its standard deviations."""
    original, released = column.original.numbers, column.released.numbers
    if original is None or released is None or np.isnan(original).all() or np.isnan(released).all():
        return None
    is_number = ~np.isnan(original)
    mean, deviation = weighted_moments(original[is_number], column.original.counts[is_number])
    return (original - mean) / deviation, (released - mean) / deviation


def _ranks(column: CodedColumn) -> Floats:
    """Middle ranks of the codes' numbers as shares of the records, in standard deviations of such a share."""
    numbers = np.asarray(column.numbers)
    ranks, is_number = np.full(len(numbers), np.nan), ~np.isnan(numbers)
    place = np.unique(numbers[is_number], return_inverse=True)[1]
    ranks[is_number] = middle_ranks(np.bincount(place, column.counts[is_number]))[place]
    ranks *= np.sqrt(MAX_RANK_DISTANCE)
    return ranks


def _directions(
    columns: Sequence[PairedColumn], numbers: Sequence[tuple[Floats, Floats]]
) -> tuple[Floats, Floats]:
    """Directions in which the differences are uncorrelated, in their standard deviations; and the mean."""
    both = (columns[0].original.codes >= 0) & (columns[0].released.codes >= 0)
    differences = np.stack(
        [
            theirs[column.released.codes[both]] - mine[column.original.codes[both]]
            for column, (mine, theirs) in zip(columns, numbers, strict=True)
        ]
    )
    are_numbers = ~np.isnan(differences).any(axis=0)
    differences = differences[:, are_numbers]
    weights = columns[0].records[both][are_numbers].astype(np.float64)
    if not weights.sum():
        return np.eye(len(columns)), np.zeros((len(columns), 1))
    mean = np.average(differences, axis=1, weights=weights)[:, None]
    centred = differences - mean
    variances, vectors = np.linalg.eigh(centred * weights @ centred.T / weights.sum())
    return (vectors / np.sqrt(np.maximum(variances, MIN_VARIANCE))).T, mean
