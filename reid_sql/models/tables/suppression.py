"""Which further cells must be hidden so that nobody computes an unsafe one from the totals.

An attacker knows the published cells, that the totals add up, and that a listed cell has at least one person.
A hidden cell is protected if the interval that follows is at least as wide as asked. Greedy: for each cell
that is not protected, the cheapest change that makes it so (of hypercubes, and a linear programme; Kelly,
Golden & Assad 1992), of which every cell is hidden. Then each secondary cell, the largest first, is shown
again if others that cost less do instead. Small tables are solved optimally by an integer programme
(Fischetti & Salazar 2001). A change of whole numbers proves the protection of each cell. Adding people to a
cell and to all of its totals is one that is always possible: no unsafe cell stays unprotected, and the search
can be cut off.

Totals that no table shows are hidden cells at no cost: a person who is added may change them. What an earlier
table shows is known; an unsafe cell that follows from it stays unprotected, and its status says so.

A rule of dominance, or of p %, asks for an upper protection of a sum: an attacker must find it possible that
the sum is larger by as much (Hundepool et al. 2012, section 4.2). An attacker knows the sums that are shown,
that totals add up, and that no sum is below 0, unless one is.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Final

import numpy as np

from reid_sql.errors import OutOfDomainError
from reid_sql.models.interruption import checkpoint
from reid_sql.models.tables.bounds import bound_variables
from reid_sql.models.tables.changes import (
    FREE_COST,
    HYPERCUBES,
    MAX_CELLS,
    MAX_WORK,
    Change,
    Changes,
)
from reid_sql.models.tables.equations import Equations, Rest, link_codes
from reid_sql.models.tables.programmes import Programme
from reid_sql.models.tables.published_tables import (
    NULL,
    Key,
    PublishedRows,
    Reading,
    read_cells,
    text_of,
)
from reid_sql.parameters import Flags, Floats, Integers, fold_case

PUBLISHED, PRIMARY, SECONDARY, UNPROTECTED = range(4)
NOT_BEFORE, SHOWN_BEFORE, HIDDEN_BEFORE = range(3)  # what earlier tables did with a cell
LEAST_LISTED: Final = 1.0  # people of a cell that is listed
MAX_OPTIMAL: Final = 600  # cells x unsafe cells up to which the optimum is sought
MAX_NODES: Final = 2000  # of the search for it
MAX_REPLACEMENTS: Final = 300  # programmes by which cells are replaced by cheaper ones
MAX_TERMS: Final = 30_000  # of the equations, up to which a bound on the loss is sought

# of the protection, by which more is hidden than the rule asks: solutions are not exact
MARGIN: Final = 1e-4
MAX_LOSS: Final = (
    100.0  # times the largest protection, by which a sum may be lower: larger numbers lose digits
)


@dataclass(frozen=True)
class Suppression:
    """What is hidden: the status of each cell, and whether nothing less would do.

    `loss` is the sum of the counts of hidden cells, totals among them, and `least` a bound below which no
    choice protects the counts; NaN where none is sought.
    """

    statuses: Integers  # (cells,)
    is_optimal: bool
    loss: float
    least: float


@dataclass(frozen=True)
class CellSums:
    """The sum of each cell, and by how much an attacker must find it possible that it is larger."""

    values: Floats  # (cells,)
    protections: Floats  # (cells,): 0 for a safe sum


def suppress_cells(
    codes: Integers,
    counts: Integers,
    is_primary: Flags,
    width: int,
    sums: CellSums | None = None,
    *,
    hierarchies: Sequence[Sequence[int]] = (),
    before: Integers | None = None,
) -> Suppression:
    """Choose the cells to hide besides the unsafe ones; `codes` are the categories of each, 0 for a total.

    The counts are protected first, then the sums by hiding more. `hierarchies` are columns that are levels of
    one, the coarsest first; `before` is what earlier tables did with each cell.

    >>> codes = np.array([[1, 1], [1, 2], [2, 1], [2, 2], [1, 0], [2, 0], [0, 1], [0, 2], [0, 0]])
    >>> counts = np.array([2, 9, 8, 30, 11, 38, 10, 39, 49])
    >>> suppress_cells(codes, counts, counts < 5, 5).statuses.tolist()
    [1, 2, 2, 2, 0, 0, 0, 0, 0]
    """
    order = np.lexsort(codes.T[::-1])
    earlier = np.zeros(len(counts), dtype=np.int64) if before is None else before
    problem = _Problem(
        codes[order],
        counts[order].astype(float),
        is_primary[order],
        width,
        hierarchies,
        earlier[order],
    )
    hidden, is_optimal = problem.solve()
    if sums is not None and problem.is_linked and (sums.protections > 0).any():
        first = hidden
        hidden = problem.hide_for_sums(first, CellSums(sums.values[order], sums.protections[order]))
        is_optimal = is_optimal and np.array_equal(first, hidden)
    statuses = np.where(hidden, SECONDARY, PUBLISHED)
    statuses[problem.is_unsafe] = PRIMARY
    statuses[list(problem.unprotected)] = UNPROTECTED
    answer = np.empty(len(counts), dtype=np.int64)
    answer[order] = statuses[: len(counts)]
    loss = float(problem.costs[hidden & np.isfinite(problem.costs)].sum())
    return Suppression(answer, is_optimal, loss, loss if is_optimal else problem.bound_loss())


class _Problem:
    """The cells as variables of the equations of their totals; behind them, totals that no table shows."""

    def __init__(  # noqa: PLR0917 - what is known of the cells
        self,
        codes: Integers,
        counts: Floats,
        is_unsafe: Flags,
        width: int,
        hierarchies: Sequence[Sequence[int]],
        before: Integers,
    ) -> None:
        linked = link_codes(codes, LEAST_LISTED)
        cells = linked.cells
        self.equations: Equations = linked.equations()
        totals = [key for key in linked.numbers if not isinstance(key, Rest) and key not in cells]
        more = np.array([[int(code or 0) for code in key] for key in totals], dtype=np.int64)
        self.listed, self.more = codes, more.reshape(-1, codes.shape[1])
        self.counts, self.codes = self._with_totals(counts), np.concatenate([codes, self.more])
        nothing = np.zeros(len(more), dtype=bool)
        self.is_unsafe = np.concatenate([is_unsafe, nothing])
        self.is_fixed = np.concatenate([before == SHOWN_BEFORE, nothing])
        self.is_primary = self.is_unsafe & ~self.is_fixed
        self.is_kept = self.is_primary | np.concatenate([before == HIDDEN_BEFORE, ~nothing])
        self.unprotected = {int(cell) for cell in np.flatnonzero(self.is_unsafe & self.is_fixed)}
        self.costs = np.where(self.is_fixed, inf, np.concatenate([counts, np.zeros(len(more))]))
        self.width, self.hierarchies = width, hierarchies
        self.cells = np.array([linked.numbers[key] for key in [*cells, *totals]], dtype=np.int64)
        self.is_linked = len(self.equations.right) > 0
        self.matrix = self.equations.matrix()[:, self.cells]

    def _with_totals(self, figures: Floats) -> Floats:
        """The figures of the cells, and those of each total that no table shows."""
        layouts, of = np.unique(self.listed > 0, axis=0, return_inverse=True)
        sums = []
        for total in self.more:
            finer = np.flatnonzero((layouts | (total == 0)).all(axis=1))
            coarsest = finer[np.argmin(layouts[finer].sum(axis=1))]
            is_part = ((self.listed == total) | (total == 0)).all(axis=1)
            sums.append(figures[is_part & (of.ravel() == coarsest)].sum())
        return np.concatenate([figures, sums])

    def solve(self) -> tuple[Flags, bool]:
        """The cells to hide, and whether this is the least."""
        if not self.is_linked:
            return self.is_kept.copy(), True
        # Hide what makes one unsafe cell after another wide enough, then show what others can replace.
        losses = np.where(self.is_fixed, 0.0, self.counts - LEAST_LISTED)
        changes = Changes(self.codes, self.matrix, losses, self.hierarchies, is_whole=True)
        greedy = GreedyChoice(changes, self.costs, self.is_kept)
        unsafe = np.flatnonzero(self.is_primary)
        order = np.lexsort((unsafe, self.counts[unsafe]))  # the smallest first
        greedy.protect(unsafe[order], np.full(len(unsafe), float(self.width)))
        greedy.replace_dearest()
        # what is hidden for others may protect a cell for which no change was found
        left = np.array(sorted(greedy.unprotected), dtype=np.int64)
        if len(left):
            left = left[~self._are_protected(greedy.is_hidden, left)]
        self.unprotected |= set(left.tolist())
        is_least = np.array_equal(greedy.is_hidden, self.is_kept) and not self.unprotected
        if is_least or self.unprotected or len(self.counts) * self.is_primary.sum() > MAX_OPTIMAL:
            return greedy.is_hidden, is_least
        best = self._hide_optimally()
        is_best = best is not None and bool(self._are_protected(best, unsafe).all())
        return (best, True) if best is not None and is_best else (greedy.is_hidden, False)

    def _are_protected(self, hidden: Flags, cells: Integers) -> Flags:
        """Whether the audit proves of each cell that its interval is wide enough."""
        low, high = self.equations.low.copy(), self.equations.high.copy()
        shown = self.cells[~hidden]
        low[shown] = high[shown] = self.counts[~hidden]
        bounds = bound_variables(self.equations.with_bounds(low, high), self.cells[cells])
        return np.asarray((bounds.high - bounds.low >= self.width) & bounds.is_exact)

    def bound_loss(self) -> float:
        """A bound on what any choice hides, by a linear programme.

        A hidden cell that is the only one in an equation follows from the others: shown, it would reveal no
        more. So in a choice that hides no more than it must, each equation of a hidden cell has another one:
        y <= the sum of the others, for shares y of cells that are hidden.
        """
        from scipy.sparse import coo_array, eye_array, hstack, vstack  # noqa: PLC0415 - as above

        is_used = np.diff(self.matrix.tocsr().indptr) > 0
        terms = coo_array(abs(self.matrix.tocsr()[np.flatnonzero(is_used)]))
        if terms.nnz > MAX_TERMS:
            return float("nan")
        cells, number = len(self.counts), np.arange(terms.nnz)
        is_asked = (~self.is_kept | self.is_primary)[terms.col]
        of_equations = coo_array(
            (np.ones(terms.nnz), (number, terms.row)), shape=(terms.nnz, terms.shape[0])
        )
        of_cells = coo_array(
            (np.full(terms.nnz, -2.0), (number, terms.col)), shape=(terms.nnz, cells)
        )
        sums = hstack([terms, -eye_array(terms.shape[0])])
        matrix = vstack([sums, hstack([of_cells, of_equations]).tocsr()[is_asked]])
        least = np.zeros(matrix.shape[0])
        most = np.concatenate([np.zeros(terms.shape[0]), np.full(int(is_asked.sum()), inf)])
        free = np.full(terms.shape[0], inf)
        bounds = (
            np.concatenate([self.is_kept, np.zeros(terms.shape[0])]),
            np.concatenate([~self.is_fixed, free]),
        )
        costs = np.concatenate([np.where(self.is_fixed, 0.0, self.costs), np.zeros(terms.shape[0])])
        values = Programme(matrix, bounds, (least, most), costs).solve()
        return float("nan") if values is None else float(costs @ values)

    def hide_for_sums(self, hidden: Flags, sums: CellSums) -> Flags:
        """Hide more cells until each sum has its protection."""
        scale = sums.protections.max()
        losses = np.where(
            self.is_fixed, 0.0, np.minimum(self._with_totals(sums.values) / scale, MAX_LOSS)
        )
        if (sums.values < 0).any():
            losses = np.full(len(losses), np.inf)
        changes = Changes(self.codes, self.matrix, losses, self.hierarchies, is_whole=False)
        greedy = GreedyChoice(changes, self.costs, hidden)
        unsafe = np.flatnonzero((sums.protections > 0) & ~self.is_fixed[: len(sums.values)])
        needs = np.maximum(sums.protections[unsafe] / scale, MARGIN) * (1 + MARGIN)
        order = np.lexsort((unsafe, -needs))
        greedy.protect(unsafe[order], needs[order])
        self.unprotected |= greedy.unprotected
        return greedy.is_hidden

    def _hide_optimally(self) -> Flags | None:
        """The cells of fewest people that protect all; None where the search is cut off or finds none.

        Two differences for each unsafe cell, in which only hidden cells differ.
        """
        from scipy.sparse import coo_array, diags_array, eye_array, hstack, kron, vstack  # noqa: PLC0415

        unsafe, cells = np.flatnonzero(self.is_primary), len(self.counts)
        tables = 2 * len(unsafe)
        size = tables * cells  # variables of the differences, before the flags of hidden cells
        totals = kron(eye_array(tables), self.matrix)
        pairs = np.arange(len(unsafe))
        first = 2 * pairs * cells + unsafe  # in the one table of an unsafe cell, and in the other
        at = np.concatenate([first, first + cells])
        signs = np.repeat([1.0, -1.0], len(unsafe))
        differs = coo_array((signs, (np.tile(pairs, 2), at)), shape=(len(unsafe), size + cells))

        def limit(amounts: Floats) -> Any:  # noqa: ANN401 - a matrix of scipy
            """Each difference less the amount of its cell if that is hidden."""
            return hstack([eye_array(size), -kron(np.ones((tables, 1)), diags_array(amounts))])

        most = np.full(cells, 2.0 * self.width)
        least = -np.minimum(self.counts - LEAST_LISTED, 2.0 * self.width)
        free = np.full(size, inf)
        costs = np.where(self.is_fixed, 0.0, self.costs)
        rows = [
            hstack([totals, coo_array((totals.shape[0], cells))]),
            differs,
            limit(most),
            limit(least),
        ]
        ends = [(0.0, 0.0), (self.width, inf), (-inf, 0.0), (0.0, inf)]
        low, high = (
            np.concatenate(
                [np.full(each.shape[0], end[at]) for each, end in zip(rows, ends, strict=True)]
            )
            for at in (0, 1)
        )
        values = Programme(
            vstack(rows),
            (np.concatenate([-free, self.is_kept]), np.concatenate([free, ~self.is_fixed])),
            (low, high),
            np.concatenate([np.zeros(size), costs]),
            whole=np.repeat([False, True], [size, cells]),
            nodes=MAX_NODES,
        ).solve()
        return None if values is None else values[-cells:] > 0.5  # noqa: PLR2004


class GreedyChoice:
    """The choice of cells to hide for the unsafe ones; each has a change that proves its protection."""

    def __init__(self, changes: Changes, costs: Floats, is_hidden: Flags) -> None:
        """`costs` are those of hiding each cell, infinite for one that cannot be hidden."""
        self.changes, self.costs, self.is_hidden = changes, costs, is_hidden.copy()
        self.is_kept, self.unprotected = is_hidden.copy(), set[int]()
        self.proofs: dict[int, Change] = {}
        self.needs: dict[int, float] = {}
        self.replacements = 0  # of proofs, by others without a cell that is dear

    def protect(self, cells: Integers, needs: Floats) -> None:
        """Hide what gives one unsafe cell after another what it needs."""
        self.is_hidden[cells] = True
        for cell, need in zip(cells.tolist(), needs.tolist(), strict=True):
            checkpoint()
            self.needs[cell] = need
            hidden = np.where(self.is_hidden, 1.0, inf)
            corners = self.changes.compare_hypercubes(cell, hidden)
            proof = self.changes.find_hypercube(cell, need, corners)
            if proof is None:
                proof = self._find_cheapest(cell)
            if proof is None:
                self.unprotected.add(cell)
                continue
            self.proofs[cell] = proof
            self.is_hidden[proof.cells] = True

    def _find_cheapest(self, cell: int) -> Change | None:
        changes, need = self.changes, self.needs[cell]
        costs = np.where(self.is_hidden, FREE_COST, self.costs)
        corners = changes.compare_hypercubes(cell, costs)
        changed = [changes.find_hypercube(cell, need, corners), changes.add_people(cell, costs)]
        if changes.work < MAX_WORK:
            # of all cells, or of those of the cheapest hypercubes and the nearest hidden ones
            cells = np.flatnonzero(np.isfinite(self.costs))
            if len(self.costs) > MAX_CELLS:
                near = np.array([cell])
                if corners is not None:
                    near = np.union1d(near, corners.near(HYPERCUBES, need))
                hidden = np.setdiff1d(np.flatnonzero(self.is_hidden), near)
                distance = (changes.codes[hidden] != changes.codes[cell]).sum(axis=1)
                nearest = hidden[np.argsort(distance, kind="stable")]
                cells = np.union1d(near, nearest[: max(0, MAX_CELLS - len(near))])
            changed.append(changes.find_cheapest(cell, need, cells, costs))
        possible = [each for each in changed if each is not None]
        return min(possible, key=lambda each: float(costs[each.cells].sum()), default=None)

    def replace_dearest(self) -> None:
        """Show each secondary cell again, the largest first, where others that cost less, or none, do."""
        secondary = np.flatnonzero(self.is_hidden & ~self.is_kept)
        for cell in secondary[np.lexsort((secondary, -self.costs[secondary]))].tolist():
            if self.changes.work > MAX_WORK:
                break
            unsafe = [each for each, proof in self.proofs.items() if cell in proof.cells]
            if self.replacements + len(unsafe) > MAX_REPLACEMENTS:
                continue
            before, cost = (self.is_hidden.copy(), dict(self.proofs)), self.costs[cell]
            self.is_hidden[cell], self.costs[cell] = False, inf
            if not self._protect_for_less(unsafe, cost):
                self.is_hidden, self.proofs = before
            self.costs[cell] = cost

    def _protect_for_less(self, unsafe: list[int], most: float) -> bool:
        """Protect cells again; false where that hides as much as `most` or more."""
        for cell in unsafe:
            checkpoint()
            self.replacements += 1
            proof = self._find_cheapest(cell)
            if proof is None:
                return False
            most -= float(self.costs[proof.cells[~self.is_hidden[proof.cells]]].sum())
            if most <= 0:
                return False
            self.is_hidden[proof.cells], self.proofs[cell] = True, proof
        return True


# Earlier tables: what they show of a new table's cells is known, and what they hide stays hidden.

REFUSAL_OTHER_PEOPLE: Final = (
    "published must count the same people as tbl, got cells that differ; pass tables of the same people, or "
    "compare them by audit_tables(…, people := 'nested')"
)
REFUSAL_TOTALS: Final = (
    "published must have no totals that the new table lacks, got some; pass totals := 'margins', or list "
    "their columns in tables"
)


def find_earlier(
    rows: PublishedRows,
    columns: Sequence[str],
    labels: Sequence[str],
    codes: Integers,
    counts: Integers,
) -> Integers:
    """Say of each cell what the earlier tables did with it; `labels` are its categories, as JSON lists.

    >>> texts = ['{"a": "x", "records": 7}', '{"a": "y", "records": null}']
    >>> rows = PublishedRows(np.ones(2, dtype=int), texts)
    >>> find_earlier(rows, ["a"], ['["x"]', '["y"]', '["z"]'], np.array([[1], [2], [3]]), np.array([7, 3, 9]))
    array([1, 2, 0])
    """
    names, cells = read_cells(rows, Reading())
    by = list(map(fold_case, columns))
    published = list(map(fold_case, names))
    for name, folded in zip(names, published, strict=True):
        if folded not in by:
            raise OutOfDomainError(
                f"published must have columns of by, got '{name}'; "
                "name it in by, and the columns of the new table in tables"
            )
    keys = map(_key_of, map(json.loads, labels), codes)
    number = dict(zip(keys, range(len(counts)), strict=True))
    layouts = set(map(tuple, (codes > 0).tolist()))
    answer = np.full(len(counts), NOT_BEFORE)
    for categories, cell in cells.items():
        key = tuple(map(dict(zip(published, categories, strict=True)).get, by))
        if tuple(each is not None for each in key) not in layouts:
            raise OutOfDomainError(REFUSAL_TOTALS)
        match = number.get(key)
        # what is not listed has nobody; what was hidden may have any count
        if cell.value not in ((0,) if match is None else (None, counts[match])):
            raise OutOfDomainError(REFUSAL_OTHER_PEOPLE)
        if match is not None:
            answer[match] = HIDDEN_BEFORE if cell.value is None else SHOWN_BEFORE
    return answer


def _key_of(categories: Sequence[object], code: Integers) -> Key:
    return tuple(
        (NULL if category is None else text_of(category)) if is_shown else None
        for category, is_shown in zip(categories, code > 0, strict=True)
    )
