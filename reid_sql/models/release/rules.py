"""Classes whose sensitive values break a criterion go, whole, as small ones do; round by round.

A criterion may hold a class against the table, which changes with what goes: so it is asked again of those
that stay, until all meet it. Source of the suppression: Prasser et al. 2014 (ARX), where classes that break
a criterion count as outliers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from reid_sql.models.release.criteria import Criterion, ValueCounts
from reid_sql.models.release.lattice import Folded, Lattice, Node, keyed
from reid_sql.models.release.requirement import Outcome, Requirement
from reid_sql.parameters import Floats

ROUNDS: Final = 8


@dataclass(frozen=True)
class Rule:
    """A criterion on the sensitive column of this place."""

    place: int
    criterion: Criterion


def places(beside: Lattice, node: Node, found: Folded, told: Folded) -> NDArray[np.int64]:
    """Give the class of the node of each distinct record that has other columns beside."""
    sizes = [level_codes.sizes[level] for level_codes, level in zip(beside.level_codes, node, strict=False)]
    own = keyed(list(found.codes), sizes)
    others = keyed(list(told.codes[: len(node)]), sizes)
    order = np.argsort(own)
    return order[np.searchsorted(own[order], others)]


class Rules:
    """Rules on the classes of a lattice; that of `beside` has the sensitive columns after the others."""

    def __init__(self, beside: Lattice, columns: int, rules: Sequence[Rule]) -> None:
        """Take the lattice with sensitive columns, how many others it has, and the rules."""
        self.beside, self.columns, self.rules = beside, columns, tuple(rules)

    def counts(self, node: Node, found: Folded) -> dict[int, ValueCounts]:
        """Count each sensitive column that a rule names within the classes of the node."""
        extra = len(self.beside.shape) - self.columns
        told = self.beside.folded((*node, *(0,) * extra))
        place = places(self.beside, node, found, told)
        return {
            at: _value_counts(place, told.codes[self.columns + at], told.counts, found)
            for at in {rule.place for rule in self.rules}
        }

    def of(self, node: Node, found: Folded, outcome: Outcome, asked: Requirement) -> Outcome:
        """Judge a node whose class sizes were judged: what goes beside, and whether that is too much."""
        counts, cut = self.counts(node, found), asked.k
        while True:
            gone, rounds = self._gone(found, counts, cut, ROUNDS)
            left, suppressed = found.counts[~gone], int(found.counts[gone].sum())
            if suppressed > asked.suppressible or rounds > ROUNDS or not len(left):
                break
            again = replace(asked, records=int(left.sum()), suppressible=asked.suppressible - suppressed)
            more = again.of(left)
            if more.cut is None:
                break
            if not more.suppressed:
                return Outcome(cut, suppressed, rounds=rounds)
            cut = more.cut
        return Outcome(None, hopeless=outcome.hopeless or self._hopeless(found, counts, asked))

    def gone(self, node: Node, found: Folded, outcome: Outcome) -> NDArray[np.bool_]:
        """Which classes go."""
        return self._gone(found, self.counts(node, found), outcome.cut or 1, outcome.rounds)[0]

    def _gone(
        self, found: Folded, counts: dict[int, ValueCounts], cut: int, rounds: int
    ) -> tuple[NDArray[np.bool_], int]:
        """Take away what breaks a rule, round by round; more rounds than allowed say that it does not end."""
        gone = np.zeros(len(found.counts), dtype=np.bool_)
        for number in range(rounds + 1):
            stays = found.counts >= cut
            for rule in self.rules:
                held = counts[rule.place]
                stays &= rule.criterion.met(held, held.shares(~gone))
            if not (~stays & ~gone).any():
                return gone, number
            if number < rounds:
                gone |= ~stays
        return gone, rounds + 1

    def doomed(self, node: Node, found: Folded, asked: Requirement) -> NDArray[np.bool_]:
        """Which classes have no record that could stay in any finer form."""
        return self._most(found, self.counts(node, found), asked) < 1

    def _most(self, found: Folded, counts: dict[int, ValueCounts], asked: Requirement) -> Floats:
        """Bound what finer forms keep of each class."""
        most = np.where(found.counts >= asked.k, found.counts, 0).astype(np.float64)
        everything = np.ones(len(found.counts), dtype=np.bool_)
        share = asked.suppressible / asked.records
        for rule in self.rules:
            held = counts[rule.place]
            np.minimum(most, rule.criterion.most(held, held.shares(everything), share), out=most)
        return most

    def _hopeless(self, found: Folded, counts: dict[int, ValueCounts], asked: Requirement) -> bool:
        """Whether more must go from every finer form than may."""
        kept = np.floor(self._most(found, counts, asked) * (1 + 1e-9) + 1e-9).sum()
        return bool(asked.records - kept > asked.suppressible)


def _value_counts(
    place: NDArray[np.int64], value: NDArray[np.int64], records: NDArray[np.int64], found: Folded
) -> ValueCounts:
    """Add up records by class and value."""
    many = int(value.max()) + 1
    pairs, inverse = np.unique(place * many + value, return_inverse=True)
    held = np.bincount(inverse, records, len(pairs)).astype(np.int64)
    return ValueCounts(pairs // many, pairs % many, held, found.counts)
