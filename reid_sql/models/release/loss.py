"""What a coarser form loses: non-uniform entropy, discernibility, average class size.

Each is the loss of what stays, with records that are taken away counted as having lost all.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from reid_sql.models.release.lattice import Folded, Lattice, Node, outer_sum
from reid_sql.parameters import Choice, Floats, Integers

WORDS: Final = {
    "entropy": "non-uniform entropy",
    "discernibility": "discernibility",
    "class_size": "average class size",
}
LOSS: Final = Choice(tuple(WORDS))


class Loss(ABC):
    """A loss on a lattice; `base` is what every form of the table loses at least, for every node.

    `foreseen` says that a node loses its base, but for what is taken away.
    """

    foreseen = False

    def __init__(self, lattice: Lattice) -> None:
        """Take the lattice on which forms lose."""
        self.lattice = lattice

    @property
    @abstractmethod
    def base(self) -> NDArray[np.float64]:
        """The least loss of each node, whatever is taken away."""

    @abstractmethod
    def of(self, node: Node, found: Folded, gone: NDArray[np.bool_]) -> float:
        """The loss of a node without the classes that go."""

    def above(self, found: Folded, suppressible: int) -> float:  # noqa: ARG002 - not every loss has a bound
        """Give what every coarser form of the node loses at least."""
        return 0.0

    def beside(self, node: Node, found: Folded, doomed: NDArray[np.bool_]) -> float:  # noqa: ARG002 - same
        """Give what every finer form loses beside its base, where no record of these classes can stay."""
        return 0.0


class Entropy(Loss):
    """Bits that a record's value told and its coarser form no longer tells, as a share of all of them.

    Σ log2(N(coarse)/N(value)) over columns and records, by the records N that hold each; a record that is
    taken away loses log2(N/N(value)) in every column. 0 is the table as it is, 1 nothing left. Source: De
    Waal & Willenborg 1999 (entropy); Gionis & Tassa 2009 (non-uniform).
    """

    foreseen = True

    @cached_property
    def columns(self) -> tuple[Floats, ...]:
        """The bits that each column loses at each of its levels."""
        return tuple(
            np.array(
                [_bits(column.held(0)) - _bits(column.held(level)) for level in range(len(column.codes))]
            )
            for column in self.lattice.level_codes
        )

    @cached_property
    def whole(self) -> float:
        """All bits of the columns."""
        return float(sum(each[-1] for each in self.columns)) or 1.0

    @cached_property
    def base(self) -> NDArray[np.float64]:
        """The least loss of each node: nothing taken away."""
        return outer_sum(self.columns) / self.whole

    def of(self, node: Node, found: Folded, gone: NDArray[np.bool_]) -> float:
        """The loss of a node without the classes that go."""
        return float(self.base[node]) + self.beside(node, found, gone)

    def beside(self, node: Node, found: Folded, doomed: NDArray[np.bool_]) -> float:
        """Give what is left to lose in these classes; a finer form has more to lose in their records."""
        cells = np.broadcast_to(doomed, found.codes.shape)
        return self.of_cells(node, found, cells) if doomed.any() else 0.0

    def of_cells(self, node: Node, found: Folded, blank: NDArray[np.bool_]) -> float:
        """Give what is left to lose in these cells of the classes."""
        left = np.zeros(len(found.counts))
        for column, level, codes, lost in zip(
            self.lattice.level_codes, node, found.codes, blank, strict=True
        ):
            held = np.maximum(column.held(level), 1)
            left[lost] += np.log2(self.lattice.records / held)[codes[lost]]
        return float(found.counts @ left) / self.whole


def _bits(held: Integers) -> float:
    """Bits that the codes tell of all records: Σ n log2(N/n)."""
    present = held[held > 0].astype(np.float64)
    return float(present @ np.log2(present.sum() / present))


class Discernibility(Loss):
    """Pairs of records that are alike, Σ n² over classes; one that is taken away is like all N others.

    As a share of N². Source: Bayardo & Agrawal 2005, eq. 1.
    """

    @cached_property
    def base(self) -> NDArray[np.float64]:
        """Nothing is known before a node is counted."""
        return np.zeros(self.lattice.shape)

    def of(self, node: Node, found: Folded, gone: NDArray[np.bool_]) -> float:  # noqa: ARG002 - as all
        """The loss of a node without the classes that go."""
        kept = found.counts[~gone].astype(np.float64)
        suppressed = self.lattice.records - kept.sum()
        return float(kept @ kept + suppressed * self.lattice.records) / self.lattice.records**2

    def beside(self, node: Node, found: Folded, doomed: NDArray[np.bool_]) -> float:  # noqa: ARG002 - as all
        """Give what every finer form loses by what is taken away: as much, or more."""
        return float(found.counts[doomed].sum()) / self.lattice.records

    def above(self, found: Folded, suppressible: int) -> float:  # noqa: ARG002 - as every loss
        """Give what every coarser form loses: classes only grow, and none is larger than the table."""
        counts = found.counts.astype(np.float64)
        return float(counts @ counts) / self.lattice.records**2


class ClassSize(Loss):
    """Records per class among those that stay, as a share of all records. Source: LeFevre et al. 2006."""

    @cached_property
    def base(self) -> NDArray[np.float64]:
        """Nothing is known before a node is counted."""
        return np.zeros(self.lattice.shape)

    def of(self, node: Node, found: Folded, gone: NDArray[np.bool_]) -> float:  # noqa: ARG002 - as all
        """The loss of a node without the classes that go."""
        return float(found.counts[~gone].mean()) / self.lattice.records

    def above(self, found: Folded, suppressible: int) -> float:
        """Give what every coarser form loses: it has no more classes, of hardly fewer records."""
        return (self.lattice.records - suppressible) / len(found.counts) / self.lattice.records


LOSSES: Final[dict[str, Callable[[Lattice], Loss]]] = dict(
    zip(WORDS, (Entropy, Discernibility, ClassSize), strict=True)
)


def loss_of(word: str, lattice: Lattice) -> Loss:
    """Give the loss of this name on the lattice."""
    return LOSSES[LOSS.check("loss", word)](lattice)
