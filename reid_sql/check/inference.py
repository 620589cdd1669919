"""What a reader can work out from a report: the interval of a hidden count, by integer programmes (HiGHS).

Every figure that is shown is a constraint on the counts behind it. A count below the mask is protected if a
reader cannot bound it within less than the mask, or learns no more than that it is masked.

Rounding all counts to multiples of the mask does not replace the search. A rounded count is as open as the
multiple is wide, but the total and the sizes of classes narrow it: 7 records in classes of 3 or 4 are two of
them. In all tables of 24 records, with a mask of 5, 1,827 counts by class size are small. Rounded up to
multiples of 5, 583 of them have too few solutions; to multiples of 10, 186. Masked bins leave none to a
reader of the report, and 205 to one who also knows when the gate masks. And rounding takes the zeros, and
the exact figures of tables in which nothing is small, from every report.
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from reid_sql.check.masking import Bin, is_small
from reid_sql.models.tables.programmes import Programme
from reid_sql.parameters import ColumnNames, Floats

Terms = Mapping[int, float]  # unknowns with their coefficients
MAX_SUM_PARTS: Final = 6  # of so many small counts at most, sums are audited
MAX_NODES: Final = 2**31 - 1  # of a search: it is not cut off
TOLERANCE: Final = 1e-9  # relative, within which a shown figure equals the exact one


class Unknowns:
    """Whole numbers that a reader does not see, and linear constraints that a report shows."""

    def __init__(self, most: int) -> None:
        """No unknown is above `most`."""
        self._most = most
        self._ends: list[tuple[int, int]] = []
        self._rows: list[tuple[Terms, float, float]] = []
        self._fitting: list[Floats] = []  # solutions that fit all that is shown

    def add(self, low: int = 0, high: int | None = None) -> int:
        """Add an unknown between the ends, and return its number."""
        self._fitting.clear()
        self._ends.append((low, self._most if high is None else high))
        return len(self._ends) - 1

    def show(self, terms: Terms, low: float, high: float) -> None:
        """Add what a report shows: the sum lies within the ends."""
        self._fitting.clear()
        self._rows.append((terms, low, high))

    def protects(self, terms: Terms, least: int, below: int) -> bool:
        """Whether a sum of at least `least` is protected by the interval of the values that fit.

        The values in the solutions for other sums are within the interval. If they are far enough apart, its
        ends are not sought.
        """
        cost = self._row(terms)
        for ends in ((), (cost,), (-cost,)):  # the values that are known, the least, the greatest
            if not all(map(self._solve, ends)):
                return False
            values = [float(each @ cost) for each in self._fitting]
            if values and is_protected((min(values), max(values)), least, below):
                return True
        return False

    def _row(self, terms: Terms) -> Floats:
        row = np.zeros(len(self._ends))
        for place, coefficient in terms.items():
            row[place] += coefficient
        return row

    def _solve(self, cost: Floats) -> bool:
        """Seek what fits all that is shown at the least cost; whether anything does."""
        lows, highs = (np.array(each, dtype=float) for each in zip(*self._ends, strict=True))
        matrix = np.zeros((len(self._rows), len(lows)))
        for place, (terms, _, _) in enumerate(self._rows):
            matrix[place] = self._row(terms)
        least, most = (np.array([row[end] for row in self._rows], dtype=float) for end in (1, 2))
        values = Programme(
            matrix, (lows, highs), (least, most), cost, whole=True, nodes=MAX_NODES
        ).solve()
        if values is not None:
            self._fitting.append(np.round(values))
        return values is not None


def is_protected(interval: tuple[float, float], least: int, below: int) -> bool:
    """Whether a small count of at least `least` is open: by the mask, or to all that the mask itself says.

    >>> is_protected((2, 12), 1, 10), is_protected((1, 9), 1, 10), is_protected((2, 9), 1, 10)
    (True, True, False)
    """
    low, high = interval
    return high - low >= below or (low <= least and high >= below - 1)


@dataclass(frozen=True)
class Statement:
    """A figure of class sizes that a report shows, between the ends that a reader knows.

    It counts records or classes, those in classes of up to `largest`, or all if None.
    """

    what: str
    low: float
    high: float
    largest: int | None = None


@dataclass(frozen=True)
class ClassCounts:
    """Records and classes by class size, in parts that no figure divides; each is within a bin.

    Where people are counted, each is in the part of their smallest class: of other classes than the smallest
    ones of all, fewer than their size may be.
    """

    parts: Sequence[Bin]
    records: Sequence[int]
    classes: Sequence[int]
    bins: Sequence[Bin]
    dropped: int = 0
    are_products: bool = True  # whether the records are classes times sizes
    k: int = 0  # the size of the smallest class

    def least(self, place: int) -> int:
        """Return how many records a part has at least, if it has any."""
        low, high = self.parts[place]
        is_smallest = low <= self.k and (high is None or self.k <= high)
        return low if self.are_products else self.k if is_smallest else 1

    @property
    def bin_records(self) -> list[int]:
        """The records of each bin."""
        return [sum(self.records[at] for at in self.within(each)) for each in self.bins]

    def within(self, sizes: Bin) -> list[int]:
        """Return the places of the parts of a bin."""
        low, high = sizes
        return [
            at
            for at, part in enumerate(self.parts)
            if part[0] >= low and (high is None or part[0] <= high)
        ]


def bins_to_hide(
    counts: ClassCounts, statements: Sequence[Statement], below: int
) -> tuple[set[int], list[Statement]]:
    """Return the bins whose counts are masked, and the statements that may be shown with the others.

    The small bins are masked, and the next smallest until no small count, and no sum of some, can be bounded;
    then bins of no records, as that nobody is in a large class says how many are in small ones. Where all are
    masked, statements are withheld, the last first.
    """
    sizes = counts.bin_records
    hidden = {place for place, size in enumerate(sizes) if is_small(size, below)}
    others = {*range(len(sizes))} - hidden
    rest = sorted(others, key=lambda place: (sizes[place] == 0, sizes[place], place))
    left = list(statements)
    if not any(is_small(each, below) for each in (*counts.records, counts.dropped)):
        return hidden, left
    while not _is_hidden_well(counts, hidden, left, below) and (rest or left):
        if rest:
            hidden.add(rest.pop(0))
        else:
            left.pop()
    return hidden, left


def _is_hidden_well(
    counts: ClassCounts, hidden: set[int], statements: Sequence[Statement], below: int
) -> bool:
    reader, records = _reader_of_classes(counts, hidden, statements, below)
    targets = [
        (at, size)
        for at, size in zip(records, counts.records, strict=True)
        if is_small(size, below)
    ]
    least = {at: counts.least(place) for place, at in enumerate(records)}
    if is_small(counts.dropped, below):
        targets.append((len(records) * 2, counts.dropped))
        least[len(records) * 2] = 1
    return all(
        reader.protects(dict.fromkeys(some, 1), sum(least[at] for at in some), below)
        for some in _small_sums(targets, below)
    )


def _small_sums(targets: Sequence[tuple[int, int]], below: int) -> Iterator[tuple[int, ...]]:
    """Yield the unknowns of every sum of counts that is small itself."""
    for many in range(1, min(len(targets), MAX_SUM_PARTS) + 1):
        for some in combinations(targets, many):
            if sum(size for _, size in some) < below:
                yield tuple(at for at, _ in some)


def _reader_of_classes(
    counts: ClassCounts, hidden: set[int], statements: Sequence[Statement], below: int
) -> tuple[Unknowns, list[int]]:
    """Return what a reader knows: unknowns are records by part, then classes by part, then those dropped.

    The reader is the strongest that a report meets: one who knows all that it shows, the number of records,
    how reports are made, and so which bins would not be masked if they were empty.
    """
    total = sum(counts.records) + counts.dropped
    reader = Unknowns(total)
    sizes = counts.bin_records
    # An empty bin is masked only where small ones are not yet open by masking all others. If one is, a reader
    # cannot conclude that a masked bin has a record; if none is, each masked bin has at least one.
    empty = any(sizes[place] == 0 for place in hidden)
    may_be_filled = {at for place in hidden if empty for at in counts.within(counts.bins[place])}
    # A part without records is taken to be known as empty (its end is 0): that makes the reader stronger. But
    # a masked bin that is empty protects others by what might be in it: then masked parts have no end.
    ends = [None if size or at in may_be_filled else 0 for at, size in enumerate(counts.records)]
    records = [reader.add(0, end) for end in ends]
    classes = [reader.add(0, end if counts.are_products else 1) for end in ends]
    _add_dropped(reader, counts, below)
    add_sizes = _add_products if counts.are_products else _add_people
    add_sizes(reader, counts, records, classes)
    # a report shows the total
    reader.show({**dict.fromkeys(records, 1), len(records) * 2: 1}, total, total)
    for place, each in enumerate(counts.bins):
        shown = dict.fromkeys((records[at] for at in counts.within(each)), 1)
        if place in hidden:
            reader.show(shown, 0 if empty else 1, np.inf)
        else:
            reader.show(shown, sizes[place], sizes[place])
    for statement in statements:
        _add_statement(reader, statement, counts.parts, records, classes)
    return reader, records


def _add_dropped(reader: Unknowns, counts: ClassCounts, below: int) -> None:
    """Add the records that lack a value: their number is shown unless it is small, or 0.

    That some were dropped is a caution, which no report hides.
    """
    if not counts.dropped or is_small(counts.dropped, below):
        reader.add(1 if counts.dropped else 0, None if counts.dropped else 0)
    else:
        reader.add(counts.dropped, counts.dropped)


def _add_products(
    reader: Unknowns, counts: ClassCounts, records: Sequence[int], classes: Sequence[int]
) -> None:
    """Add that so many classes of sizes from low to high have from low to high times as many records."""
    total = sum(counts.records) + counts.dropped
    for at, (low, high) in enumerate(counts.parts):
        most = total if high is None else high
        reader.show({records[at]: 1, classes[at]: -low}, 0, np.inf)
        reader.show({records[at]: 1, classes[at]: -most}, -np.inf, 0)


def _add_people(
    reader: Unknowns, counts: ClassCounts, records: Sequence[int], classes: Sequence[int]
) -> None:
    """Add what is known of people by their smallest class; `classes` are 1 where a part has any, else 0.

    Nobody in a class is in a part of larger ones: up to a part with people, there are as many as its classes
    have. The policy asks for k, so that somebody is in a class of that size.
    """
    total = sum(counts.records) + counts.dropped
    for at, (low, _) in enumerate(counts.parts):
        reader.show({records[at]: 1, classes[at]: -total}, -np.inf, 0)
        reader.show({records[at]: 1, classes[at]: -1}, 0, np.inf)
        reader.show({**dict.fromkeys(records[: at + 1], 1), classes[at]: -low}, 0, np.inf)
        if low == counts.k:
            reader.show({classes[at]: 1}, 1, 1)


def _add_statement(
    reader: Unknowns,
    statement: Statement,
    parts: Sequence[Bin],
    records: Sequence[int],
    classes: Sequence[int],
) -> None:
    slack = TOLERANCE * max(1.0, abs(statement.high))
    low, high = statement.low - slack, statement.high + slack
    unknowns = records if statement.what == "records" else classes
    chosen = [
        at
        for at, part in zip(unknowns, parts, strict=True)
        if statement.largest is None or (part[1] is not None and part[1] <= statement.largest)
    ]
    reader.show(dict.fromkeys(chosen, 1), low, high)


# The sizes of groups that a report masks: small ones, and others so that nobody can solve for them.


By = tuple[str, ...]  # the columns that make groups
Cell = tuple[str | None, ...]  # the values that name a group
Groupings = Mapping[By, Mapping[Cell, int]]  # sizes of groups
# of several groupings together; beyond, none of their sizes is shown
MAX_GROUPS_AUDITED: Final = 200


def groups_to_hide(tables: Groupings, below: int) -> dict[By, set[Cell]]:
    """Return, for every grouping of a table, the groups whose size is masked.

    These are the small ones, and others so that no size follows from a total. Where a table is grouped in
    several ways, one way would reveal what another hides: only the grouping with the fewest groups then
    shows sizes, and only as far as the audit of all groupings allows it.

    >>> answer = groups_to_hide({("sex",): {("F",): 4, ("M",): 40, ("X",): 500}}, 10)
    >>> sorted(answer[("sex",)])
    [('F',), ('M',)]
    """
    small = {
        by: {group for group, count in groups.items() if is_small(count, below)}
        for by, groups in tables.items()
    }
    if not any(small.values()):
        return small
    shown_by = min(tables, key=lambda by: (len(tables[by]), by))
    hidden = {by: small[by] if by == shown_by else set(groups) for by, groups in tables.items()}
    shown = tables[shown_by]
    rest = sorted(set(shown) - hidden[shown_by], key=lambda group: (shown[group], repr(group)))
    while rest and not _are_open(tables, hidden, below):
        hidden[shown_by].add(rest.pop(0))
    return hidden


def _are_open(tables: Groupings, hidden: Mapping[By, AbstractSet[Cell]], below: int) -> bool:
    """Whether no small group, and no sum of small ones that is small, can be bounded."""
    if len(tables) == 1:
        ((by, groups),) = tables.items()
        return is_small_sum_open([groups[group] for group in hidden[by]], below)
    if sum(map(len, tables.values())) > MAX_GROUPS_AUDITED:
        return False
    reader, numbers = _reader_of_groups(tables, hidden, below)
    return all(
        reader.protects(dict.fromkeys((numbers[each] for each in some), 1), len(some), below)
        for some in _small_sums_of_groups(tables, below)
    )


def _reader_of_groups(
    tables: Groupings, hidden: Mapping[By, AbstractSet[Cell]], below: int
) -> tuple[Unknowns, dict[tuple[By, Cell], int]]:
    """Return what is known of groups: whether each is small, the sizes that are shown, and equal totals.

    Two groupings have the same records for the same values of the columns that both have.
    """
    reader = Unknowns(max(sum(groups.values()) for groups in tables.values()))
    numbers: dict[tuple[By, Cell], int] = {}
    for by, groups in tables.items():
        for group, count in groups.items():
            if group not in hidden[by]:
                numbers[by, group] = reader.add(count, count)
            elif count < below:
                numbers[by, group] = reader.add(1, below - 1)
            else:
                numbers[by, group] = reader.add(below)
        total = sum(groups.values())
        reader.show({numbers[by, group]: 1 for group in groups}, total, total)
    for one, other in combinations(tables, 2):
        shared = [name for name in one if name in other]
        parts = [_by_shared(by, tables[by], shared) for by in (one, other)]
        for value in parts[0]:
            left = {numbers[one, group]: 1 for group in parts[0][value]}
            right = {numbers[other, group]: -1 for group in parts[1].get(value, [])}
            reader.show({**left, **right}, 0, 0)
    return reader, numbers


def _small_sums_of_groups(tables: Groupings, below: int) -> Iterator[list[tuple[By, Cell]]]:
    """Yield each small group, and those together that have a value in common, where their sum is small."""
    for by, groups in tables.items():
        small = [group for group, count in groups.items() if is_small(count, below)]
        yield from ([(by, group)] for group in small)
        values = {(at, group[at]) for group in small for at in range(len(by))}
        alike = [[group for group in small if group[at] == value] for at, value in values]
        for some in (small, *alike):
            if len(some) > 1 and is_small(sum(groups[group] for group in some), below):
                yield [(by, group) for group in some]


def is_small_sum_open(counts: Sequence[int], below: int) -> bool:
    """Whether the sum of the small ones of some counts is open, where the sum of all is known.

    The others are each known to be at least the mask, so that the sum of the small ones is at most what
    remains; it is at least 1 if there are some. A sum of at least the mask is no small count.

    >>> [is_small_sum_open(counts, 10) for counts in ([1, 1], [6, 6], [3], [1, 10], [1, 19], [20, 30])]
    [False, True, False, False, True, True]
    """
    small = sum(count for count in counts if count < below)
    large = [count for count in counts if count >= below]
    most = sum(counts) - below * len(large)
    return not is_small(small, below) or most - 1 >= below or (most >= below - 1 and bool(large))


def _by_shared(
    by: tuple[str, ...], groups: Mapping[Cell, int], shared: ColumnNames
) -> dict[Cell, list[Cell]]:
    """Give the groups by their values in some of the columns."""
    places = [by.index(name) for name in shared]
    groups_by_cells: dict[Cell, list[Cell]] = {}
    for group in groups:
        groups_by_cells.setdefault(tuple(group[place] for place in places), []).append(group)
    return groups_by_cells
