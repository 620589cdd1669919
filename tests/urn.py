"""Draw people from a Pitman–Yor urn, one by one."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reid_sql.models.classes.disclosure import Histogram

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Population:
    """The class of each person in the order of arrival, and the size of each class."""

    labels: Integers
    sizes: Integers


def population(d: float, alpha: float, people: int, seed: int) -> Population:
    """Seat the people: one opens a class with weight α + K d, or joins one of size s with weight s − d."""
    rng = np.random.default_rng(seed)
    labels, sizes = np.empty(people, dtype=np.int64), np.zeros(people, dtype=np.int64)
    classes = 0
    for person in range(people):
        if rng.random() * (alpha + person) < alpha + classes * d:
            labels[person] = classes
            classes += 1
        else:
            labels[person] = _joined(rng, labels, sizes, person, d)
        sizes[labels[person]] += 1
    return Population(labels, sizes[:classes])


def _joined(
    rng: np.random.Generator, labels: Integers, sizes: Integers, person: int, d: float
) -> int:
    """Pick a class with weight s − d: that of a random person, kept with the right chance."""
    most = 1.0 if d >= 0 else 1.0 - d
    while True:
        label = int(labels[rng.integers(person)])
        if rng.random() * most * sizes[label] < sizes[label] - d:
            return label


def histogram_of(sizes: Integers) -> Histogram:
    size, classes = np.unique(sizes[sizes > 0], return_counts=True)
    return Histogram(
        size.astype(np.int64), classes.astype(np.int64), (size * classes).astype(np.int64)
    )
