"""One column of a model: its values, those the sample may have missed, and the bins of pairs.

Pairs of values are counted in the bins.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np

from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.copula.marginals import number
from reid_sql.models.marginals import scale
from reid_sql.parameters import Floats

SMALLEST: Final = 1e-300


@dataclass(frozen=True)
class Rarity:
    """How shares of values that fit nowhere scatter around their category's, over those who have them."""

    weight: Floats  # (classes,), adds up to 1
    log_ratio: Floats  # (classes,), of the share to the category's


ALIKE: Final = Rarity(np.ones(1), np.zeros(1))


@dataclass(frozen=True)
class Column:
    """Categories of a column: first the values seen, in the order of their codes, then what was not seen.

    A category stands for `multiplicity` values that are alike to the model and share its `mass`; masses add
    up to 1. The last category is any value that fits nowhere else. `unseen_places` are where the other unseen
    ones lie on the scale, ascending.
    """

    name: str
    seen: tuple[str | None, ...]
    ordered: bool
    mass: Floats  # (categories,)
    multiplicity: Floats  # (categories,)
    bins: Integers  # (categories,)
    kernel: Floats | None  # (bins, bins), rows add up to 1; None where the column has no order
    left_out: Floats  # (values,), the share of a value to a record that has it, if that record were not there
    unseen_places: Floats = field(default_factory=lambda: np.empty(0))
    rarity: Rarity = ALIKE  # of the last category

    def log_rarity(self, codes: Integers, rng: np.random.Generator) -> Floats:
        """Draw how rare the values of codes are beside their category's share, as a logarithm."""
        found = np.zeros(len(codes))
        if len(self.rarity.weight) > 1:
            rows = codes == self.elsewhere
            found[rows] = rng.choice(self.rarity.log_ratio, int(rows.sum()), p=self.rarity.weight)
        return found

    @property
    def elsewhere(self) -> int:
        """Code of a value that fits nowhere else."""
        return len(self.mass) - 1

    @cached_property
    def bin_mass(self) -> Floats:
        """Share of each bin."""
        return np.bincount(self.bins, self.mass).astype(np.float64)

    @cached_property
    def log_share(self) -> Floats:
        """Logarithm of the share of one value of each category."""
        return np.log(self.mass / self.multiplicity)

    @cached_property
    def log_within(self) -> Floats:
        """Logarithm of the chance of one value of the category, given its bin."""
        return self.log_share - np.log(self.bin_mass[self.bins])

    @cached_property
    def log_left_out(self) -> Floats:
        """Logarithm of the share of a value to a record that has it, if that record were not there."""
        return np.log(np.maximum(self.left_out, SMALLEST))

    @cached_property
    def bin_left_out(self) -> Floats:
        """The same of bins, the mean over a bin's values."""
        own, known = np.zeros(len(self.bin_mass)), self.bins[: len(self.seen)]
        np.add.at(own, known, self.mass[: len(self.seen)] - self.left_out)
        values = np.maximum(np.bincount(known, minlength=len(own)), 1)
        return np.asarray(np.maximum(self.bin_mass - own / values, SMALLEST))

    @cached_property
    def log_within_left_out(self) -> Floats:
        """Logarithm of the chance of a value given its bin, to a record that has it, itself left out."""
        return np.minimum(self.log_left_out - np.log(self.bin_left_out[self.bins[: len(self.seen)]]), 0.0)

    @cached_property
    def _codes(self) -> dict[str | None, int]:
        return {value: code for code, value in enumerate(self.seen)}

    @cached_property
    def _numbers(self) -> dict[float, int]:
        found = ((scale.place(value), code) for code, value in reversed(list(enumerate(self.seen))))
        return {place: code for place, code in found if place is not None}

    def codes(self, values: Sequence[str | None]) -> Integers:
        """Codes of values given as text or None."""
        known = self._codes
        return np.array([known[v] if v in known else self._unknown(v) for v in values], dtype=np.int64)

    def _unknown(self, value: str | None) -> int:
        """Code of another spelling of a number, of the nearest unseen place of the scale, or of none."""
        place = scale.place(value) if self.ordered else number(value)
        if place is None:
            return self.elsewhere
        if place in self._numbers:
            return self._numbers[place]
        if not len(self.unseen_places):
            return self.elsewhere
        return len(self.seen) + int(np.abs(self.unseen_places - place).argmin())

    @cached_property
    def values(self) -> tuple[str | None, ...]:
        """Text of each category: a value seen, a place on the scale, and None for what fits nowhere else."""
        unseen = (scale.spelled(place, self.seen) for place in self.unseen_places.tolist())
        return (*self.seen, *unseen, None)

    def texts(self, codes: Integers) -> list[str | None]:
        """Values of codes; unseen ones by their place on the scale."""
        return list(np.array(self.values, dtype=object)[codes])

    @cached_property
    def _by_bin(self) -> tuple[Integers, Floats, Floats, Integers, Integers]:
        """Categories bin by bin, their cumulated mass, and by bin the mass before it and its ends.

        The ends are its first and last category.
        """
        order = np.argsort(self.bins, kind="stable")
        first = np.searchsorted(self.bins[order], np.arange(len(self.bin_mass)))
        before = np.cumsum(self.bin_mass) - self.bin_mass
        return order, np.cumsum(self.mass[order]), before, first, np.append(first[1:], len(order)) - 1

    def of_bins(self, bins: Integers, rng: np.random.Generator) -> Integers:
        """Draw a category of each of these bins."""
        order, levels, before, first, last = self._by_bin
        found = np.searchsorted(
            levels, before[bins] + rng.random(len(bins)) * self.bin_mass[bins], side="right"
        )
        return np.asarray(order[np.clip(found, first[bins], last[bins])])
