"""What published sums give away of their largest contributors.

Somebody who knows all sums that are shown, that totals add up, and that no contribution is below 0, computes
an interval of each hidden sum. Less what this person contributes, its upper end is the most that the largest
contributor can have: by the rule of p %, the second largest contributor must not estimate the largest within
p %; by dominance, the n largest must not be known to have more than a share (Hundepool et al. 2012, chapter
4). Somebody who contributes to another hidden cell knows that its sum is not less than that, and knows the
sum itself if nobody else contributes to it.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Final

import numpy as np

from reid_sql.errors import OTHER_VALUE, OutOfDomainError, UnknownNameError, suggestion
from reid_sql.models.interruption import checkpoint
from reid_sql.models.tables.equations import (
    REFUSAL_CONTRADICTION,
    ContradictionError,
    Equations,
    LinkedCells,
    find_connected_variables,
    link_cells,
)
from reid_sql.models.tables.programmes import PRIMAL_SIMPLEX, Programme
from reid_sql.models.tables.published_tables import (
    MARKS,
    Cell,
    Key,
    PublishedRows,
    Reading,
    read_count,
    read_rows,
)
from reid_sql.parameters import Floats, Integers, fold_case

ANYONE, SECOND, OTHER = "anyone", "second_largest", "contributor_of_another_cell"
ROUNDING: Final = 1e-9  # share of a sum by which computers may round it
SOLVED: Final = 1e-6  # share of the shown sums of a programme, to which its bounds are exact
# of a hidden cell and a contributor of another one, each a linear programme
MAX_PAIRS: Final = 5000
RULE_CONTRIBUTIONS: Final = (
    "must be lists of the largest contributions to each sum, the largest first"
)


@dataclass(frozen=True)
class SumRules:
    """When the sum of a cell reveals its largest contributors."""

    contributors: int  # n of the rule of dominance
    share: float  # that the n largest may have
    p_percent: float

    def demands(self, largest: Floats) -> tuple[float, float]:
        """How large the sum must be possible, and the largest contribution less what others know."""
        return float(largest[: self.contributors].sum() / self.share), float(
            (1 + self.p_percent) * largest[0]
        )


@dataclass(frozen=True)
class Estimate:
    """What the attacker who comes nearest computes of the largest contribution to a sum."""

    attacker: str
    low: float
    high: float
    needed: float  # how large the rule asks it to be possible
    is_near: bool
    is_exact: bool
    other: Key | None = None  # the cell that the attacker contributes to


@dataclass(frozen=True)
class SumCell:
    """The sum of one cell: NULL where all tables hide it, and the contributions that the auditor knows."""

    value: float | None
    largest: Floats  # in absolute values, the largest first
    people: int | None  # that the tables show
    published: list[int]
    suppressed: list[int]


def read_sums(
    rows: PublishedRows, reading: Reading, *, nested: bool
) -> tuple[list[str], dict[Key, SumCell]]:
    """Read the sums of all tables, with the largest contributions."""
    columns, read = read_rows(rows, reading, nested=nested)
    cells: dict[Key, SumCell] = {}
    for number, key, row, is_hidden in read:
        for name, parameter in ((str(reading.value), "value"), (reading.largest, "largest")):
            if fold_case(name) not in row:
                raise UnknownNameError(
                    f"{parameter} must be a column of every table, got '{name}'; "
                    f"{suggestion(name, list(row))}"
                )
        value = None if is_hidden else _read_sum(row[fold_case(str(reading.value))])
        largest = _read_largest(row[fold_case(reading.largest)])
        if value is not None and largest.sum() > abs(value) * (1 + ROUNDING):
            raise OutOfDomainError(
                "value must be at least the sum of its largest contributions, got less in a cell; "
                "add up absolute values, sum(abs(value))"
            )
        count = read_count(row, reading, is_hidden=is_hidden).value
        people = None if count is None else int(count)
        cell = cells.setdefault(key, SumCell(value, largest, people, [], []))
        if (
            cell.value is not None
            and value is not None
            and abs(cell.value - value) > ROUNDING * abs(value)
        ):
            raise OutOfDomainError(
                "tables must add up the same people, got two sums of one cell; "
                "name what differs in a column, or audit each table"
            )
        longer = max(cell.largest, largest, key=len)
        shown = value if cell.value is None else cell.value
        cells[key] = SumCell(shown, longer, cell.people or people, cell.published, cell.suppressed)
        (cell.suppressed if value is None else cell.published).append(number)
    return columns, cells


def _read_sum(value: Any) -> float | None:  # noqa: ANN401 - as JSON has it
    if value is None or (isinstance(value, str) and value.strip().lower() in MARKS):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = inf
    if isinstance(value, bool) or not np.isfinite(number):
        raise OutOfDomainError(
            f"value must be numbers, NULL where hidden, got {OTHER_VALUE}; "
            "write sums as 12.5, and hidden ones as NULL or *"
        )
    return number


def _read_largest(value: Any) -> Floats:  # noqa: ANN401 - as JSON has it
    try:
        listed = json.loads(value) if isinstance(value, str) and value.strip() else value or []
        sizes = np.abs(np.array(listed, dtype=float))
    except (TypeError, ValueError):
        sizes = np.array([inf])
    if sizes.ndim != 1 or not np.isfinite(sizes).all() or (np.diff(sizes) > 0).any():
        raise OutOfDomainError(
            f"largest {RULE_CONTRIBUTIONS}, got {OTHER_VALUE}; write max(abs(value), 2) AS largest"
        )
    return np.asarray(sizes)


def estimate_contributors(
    columns: list[str], cells: Mapping[Key, SumCell], rules: SumRules
) -> dict[Key, Estimate]:
    """Judge each sum that has contributions: what the nearest attacker computes.

    >>> sums = {
    ...     ("N",): SumCell(100.0, np.array([80.0, 15.0]), 5, [1], []),
    ...     ("S",): SumCell(90.0, np.array([20.0, 15.0]), 9, [1], []),
    ... }
    >>> found = estimate_contributors(["region"], sums, SumRules(1, 0.9, 0.1))
    >>> [(each.attacker, each.high, each.is_near) for each in found.values()]
    [('second_largest', 85.0, True), ('second_largest', 75.0, False)]
    """
    listed = max((len(cell.largest) for cell in cells.values()), default=0)
    if listed < max(2, rules.contributors):
        raise OutOfDomainError(
            f"largest {RULE_CONTRIBUTIONS}, got at most {listed} of a cell; "
            f"list the {max(2, rules.contributors)} largest, as the rules ask"
        )
    return _SumAudit(columns, cells, rules).estimates()


class _SumAudit:
    """The hidden sums as variables of the equations of their totals."""

    def __init__(self, columns: list[str], cells: Mapping[Key, SumCell], rules: SumRules) -> None:
        self.cells, self.rules = cells, rules
        floor = (
            -inf
            if any(cell.value is not None and cell.value < 0 for cell in cells.values())
            else 0.0
        )
        of_equations = {
            key: Cell(floor, inf, cell.value, cell.published, cell.suppressed)
            for key, cell in cells.items()
        }
        self.linked: LinkedCells = link_cells(of_equations, columns, tolerance=ROUNDING)
        self.equations = self.linked.equations()
        self.equations.low[:] = floor
        self.floor = floor
        self.largest_sum = max((abs(cell.value or 0.0) for cell in cells.values()), default=0.0)
        self.pairs = 0

    def estimates(self) -> dict[Key, Estimate]:
        """The estimates of all sums that have contributions."""
        estimates = {}
        for key, cell in self.cells.items():
            if cell.value is not None and len(cell.largest):
                size = abs(cell.value)
                estimates[key] = self._nearest(cell, (size, size, True))
        numbers = self.linked.numbers
        names = {numbers[key]: key for key in self.cells if key in numbers}
        for part in find_connected_variables(self.equations):
            estimates |= dict(self._estimate_part(part, names))
        return {key: estimates[key] for key in self.cells if key in estimates}

    def _nearest(self, cell: SumCell, bounds: tuple[float, float, bool]) -> Estimate:
        """The attacker who knows nothing else, or the second largest contributor."""
        low, high, is_exact = bounds
        of_all, of_largest = self.rules.demands(cell.largest)
        second = float(cell.largest[1]) if len(cell.largest) > 1 else 0.0
        attackers = [(ANYONE, 0.0, of_all, 0), (SECOND, second, of_largest, 1)]
        candidates = []
        for attacker, contribution, needed, contributors in attackers:
            # the largest has at least as much as the mean
            people = (cell.people or 0) - contributors
            least = (
                max(0.0, low - contribution) / people
                if people > 0 and self.floor == 0
                else self.floor
            )
            most = high - contribution
            is_near = most < needed * (1 - (ROUNDING if cell.value is not None else SOLVED))
            candidates.append(Estimate(attacker, least, most, needed, is_near, is_exact))
        return min(candidates, key=lambda each: each.high / each.needed if each.needed else inf)

    def _estimate_part(
        self, part: Integers, names: Mapping[int, Key]
    ) -> Iterator[tuple[Key, Estimate]]:
        """The hidden sums of one part that equations connect."""
        programmes = _SumProgrammes(self.equations.among(part), self.largest_sum)
        keys = [names.get(int(variable)) for variable in part]
        hidden = {
            place: self.cells[key]
            for place, key in enumerate(keys)
            if key is not None and len(self.cells[key].largest)
        }
        bounds = {place: programmes.bound(place) for place in hidden}
        for place, cell in hidden.items():
            nearest = self._nearest(cell, bounds[place])
            if not nearest.is_near and self.floor == 0:
                nearest = self._compare_others(programmes, place, hidden, keys, nearest)
            yield keys[place], nearest  # type: ignore[misc]

    def _compare_others(
        self,
        programmes: "_SumProgrammes",
        place: int,
        hidden: Mapping[int, SumCell],
        keys: list[Key | None],
        nearest: Estimate,
    ) -> Estimate:
        """Look for a contributor of another hidden cell who comes too near."""
        _, needed = self.rules.demands(hidden[place].largest)
        for other, cell in hidden.items():
            if other == place or _overlap(keys[place], keys[other]):
                continue
            knows = (
                float(cell.largest[0]),
                float(cell.largest[0]) if len(cell.largest) == 1 else inf,
            )
            if programmes.has_reached(place, needed, other, knows):
                continue
            self.pairs += 1
            if self.pairs > MAX_PAIRS:
                return replace(nearest, is_exact=False)
            low, high, is_exact = programmes.bound(place, other, knows)
            if high < needed * (1 - SOLVED):
                people = hidden[place].people or 0
                least = low / people if people else 0.0
                return Estimate(
                    OTHER, least, high, needed, is_near=True, is_exact=is_exact, other=keys[other]
                )
        return nearest


def _overlap(one: Key | None, other: Key | None) -> bool:
    """Whether a cell is part of the other: who contributes to it contributes to both."""
    pairs = list(zip(one or (), other or (), strict=True))
    return all(a in {None, b} for a, b in pairs) or all(b in {None, a} for a, b in pairs)


class _SumProgrammes:
    """Linear programmes over the hidden sums of one part, in shares of the largest sum that is known."""

    def __init__(self, part: Equations, largest_sum: float) -> None:
        self.part = part
        self.scale = float(np.abs(part.right).max(initial=0.0)) or 1.0
        noise = np.full(len(part.right), 1e-14 * largest_sum / self.scale)
        right = part.right / self.scale
        self.programme = Programme(
            part.matrix(),
            (part.low, part.high),
            (right - noise, right + noise),
            np.zeros(part.variables),
            strategy=PRIMAL_SIMPLEX,
        )
        self.reached: list[Floats] = []

    def bound(
        self, place: int, other: int | None = None, knows: tuple[float, float] = (0.0, inf)
    ) -> tuple[float, float, bool]:
        """The smallest and largest sum of a cell, and whether HiGHS has solved both."""
        checkpoint()
        if other is not None:
            self.programme.bound_column(other, *(each / self.scale for each in knows))
        low, is_low = self._least(place, 1.0)
        high, is_high = self._least(place, -1.0)
        if other is not None:
            self.programme.bound_column(other, float(self.part.low[other]), inf)
        return low, -high, is_low and is_high

    def _least(self, place: int, sign: float) -> tuple[float, bool]:
        self.programme.cost_columns([place], sign)
        values = self.programme.solve()
        is_unbounded = values is None and self.programme.is_unbounded()
        is_infeasible = values is None and self.programme.is_infeasible()
        self.programme.cost_columns([place], 0.0)
        if is_infeasible:
            raise ContradictionError(REFUSAL_CONTRADICTION)
        # without an answer of HiGHS, the sum counts as known to be 0: the higher risk
        if values is None:
            return (-inf, True) if is_unbounded else (0.0, False)
        self.reached.append(values * self.scale)
        return float(sign * values[place] * self.scale), True

    def has_reached(
        self, place: int, needed: float, other: int, knows: tuple[float, float]
    ) -> bool:
        """Whether a solution shows that somebody who knows so much of another cell finds enough possible."""
        slack = SOLVED * self.scale
        return any(
            each[place] >= needed and knows[0] - slack <= each[other] <= knows[1] + slack
            for each in self.reached
        )
