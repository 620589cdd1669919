"""Search the node of least loss that meets the requirement: all others are counted, or shown to lose more.

A counted node bounds others: one that cannot meet the requirement rules out all finer ones; one that meets it
bounds the loss of finer ones, and each bounds the loss of coarser ones. The search ends when no remaining
node could lose less than the best, or when it is stopped.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Final

import numpy as np

from reid_sql.models.generalization.lattice import (
    Entropy,
    Lattice,
    Loss,
    Node,
    box,
)
from reid_sql.models.generalization.suppression import (
    Outcome,
    Requirement,
    SizeRules,
)
from reid_sql.models.interruption import checkpoint
from reid_sql.parameters import Floats

MAX_NODES: Final = 5_000_000  # nodes over which bounds are kept
LOSS_TOLERANCE: Final = 1e-12  # by which a loss must be less to be better


@dataclass(frozen=True)
class CountedNode:
    """A node that was counted: its loss, the cut and the records removed, and its small classes."""

    node: Node
    loss: float
    outcome: Outcome
    below_k: float  # share of the records in classes below k, at least 2, before any goes


@dataclass(frozen=True)
class Verdict:
    """Whether a node meets the other checks; `hopeless` if no finer form can either."""

    is_met: bool
    hopeless: bool = False


Judge = Callable[[CountedNode], Verdict]


@dataclass
class Result:
    """The best node, if any; whether no other loses less, and the least loss that another could have."""

    best: CountedNode | None = None
    optimal: bool = False
    bound: float = 0.0
    nodes: int = 0
    counted: list[CountedNode] = field(default_factory=list)


def accept_all(candidate: CountedNode) -> Verdict:  # noqa: ARG001 - as a judge
    """Judge by class sizes alone."""
    return Verdict(is_met=True)


class Search:
    """A search in a lattice for the least loss; `judge` checks each node that would be the best."""

    def __init__(
        self,
        lattice: Lattice,
        requirement: Requirement,
        loss: Loss,
        judge: Judge = accept_all,
        *,
        rules: SizeRules | None = None,
        stop: Callable[[], bool] = lambda: False,
        on_progress: Callable[[Result], None] = lambda _: None,
    ) -> None:
        """Take the lattice, the requirement and the loss; when to stop, and what to call on progress.

        `rules` are on sensitive values; classes that break one are taken away, too. Or they are on people.
        """
        self.lattice, self.requirement, self.loss, self.judge = lattice, requirement, loss, judge
        self.rules = rules or SizeRules()
        self.stop, self.on_progress = stop, on_progress
        self.result = Result(nodes=lattice.nodes)
        self._seen: set[Node] = set()
        self._met: set[Node] = set()
        self._order = Entropy(lattice)
        self._least: Floats | None = None

    def run(self) -> Result:
        """Search, from nothing left downwards, then among what the bounds leave."""
        if self.lattice.nodes <= MAX_NODES:
            self._least = self.loss.base.copy()
            self._is_counted = np.zeros(self.lattice.shape, dtype=np.bool_)
        self._descend(self.lattice.top)
        while self._least is not None and not self.stop():
            node = self._next(self._least)
            if node is None:
                self.result.optimal = True
                break
            if self._count(node) and self.judge is not accept_all:
                self._descend(node)
        self._set_bound()
        return self.result

    def _descend(self, node: Node) -> None:
        """Make columns finer one by one, the one that regains most first, while the node passes."""
        if not self._count(node):
            return
        moved, columns = True, self._order.columns
        while moved and not self.stop():
            below = [
                (*node[:at], level - 1, *node[at + 1 :]) for at, level in enumerate(node) if level
            ]
            below.sort(key=lambda each: sum(columns[at][level] for at, level in enumerate(each)))
            finer = next((each for each in below if self._count(each)), None)
            moved, node = finer is not None, finer or node

    def _next(self, least: Floats) -> Node | None:
        """A node that may lose less than the best: the most informative one, as far as is known.

        Where losses are known before a node is counted, it is the one that would lose most; else one halfway.
        """
        best = self.result.best.loss if self.result.best else np.inf
        open_ = np.flatnonzero((least < best * (1 - LOSS_TOLERANCE)) & ~self._is_counted)
        if not len(open_):
            return None
        order = self._order.base.ravel()[open_]
        place = (
            order.argmax()
            if self.loss.is_predictable and self.judge is accept_all
            else np.argpartition(order, len(order) // 2)[len(order) // 2]
        )
        return tuple(int(at) for at in np.unravel_index(int(open_[place]), least.shape))

    def _count(self, node: Node) -> bool:
        """Count a node, update the bounds, and return whether it passes."""
        checkpoint()
        if node in self._seen:
            return node in self._met
        self._seen.add(node)
        if self._least is not None:
            self._is_counted[node] = True
        folded = self.lattice.records_at(node)
        outcome = self.requirement.judge(folded.counts)
        if not outcome.hopeless:
            outcome = self.rules.judge(node, folded, outcome, self.requirement)
        loss = inf
        if outcome.cut is not None:
            loss = self.loss.of(node, folded, self.rules.gone(node, folded, outcome))
        small = self.rules.count_small(folded, self.requirement)
        counted_node = CountedNode(node, loss, outcome, small / self.lattice.records)
        self.result.counted.append(counted_node)
        is_met, hopeless = self._judge_node(counted_node)
        if self._least is not None:
            self._update_bounds(counted_node, hopeless=hopeless)
        if is_met:
            self._met.add(node)
        self.on_progress(self.result)
        return is_met

    def _judge_node(self, candidate: CountedNode) -> tuple[bool, bool]:
        """Whether the node passes, and whether no finer form can; updates the best."""
        best = self.result.best
        if candidate.outcome.cut is None:
            return False, candidate.outcome.hopeless
        if best is not None and candidate.loss >= best.loss * (1 - LOSS_TOLERANCE):
            return True, False  # no better, whatever else is asked
        judged = self.judge(candidate)
        if judged.is_met:
            self.result.best = candidate
        return judged.is_met, judged.hopeless

    def _update_bounds(self, candidate: CountedNode, *, hopeless: bool) -> None:
        """Raise what other nodes lose at least."""
        if self._least is None:
            return
        node, folded = candidate.node, self.lattice.records_at(candidate.node)
        below, above = box(node, above=False), box(node, above=True)
        if hopeless:
            self._least[below] = np.inf
        elif extra := self.loss.extra_loss(
            node, folded, self.rules.unsavable(node, folded, self.requirement)
        ):
            np.maximum(self._least[below], self.loss.base[below] + extra, out=self._least[below])
        if least := self.loss.bound_coarser(folded, self.requirement.suppressible):
            np.maximum(self._least[above], least, out=self._least[above])

    def _set_bound(self) -> None:
        """Set the least loss of the nodes that were not counted."""
        best = self.result.best.loss if self.result.best else float("inf")
        if self.result.optimal or self._least is None:
            self.result.bound = best if self.result.optimal else 0.0
            return
        self.result.bound = min(best, float(self._least.min(initial=best, where=~self._is_counted)))
