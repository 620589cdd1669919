"""The sizes of groups that a report masks: small ones, and others so that nobody can solve for them."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import combinations
from typing import Final

from reid_sql.check.audit import Unknowns
from reid_sql.check.masking import is_small

By = tuple[str, ...]  # the columns that make groups
Cell = tuple[str | None, ...]  # the values that name a group
Groupings = Mapping[By, Mapping[Cell, int]]  # sizes of groups
MAX_GROUPS_AUDITED: Final = 200  # of several groupings together; beyond, none of their sizes is shown


def groups_to_hide(tables: Groupings, below: int) -> dict[By, set[Cell]]:
    """Give, for every grouping of a table, the groups whose size is masked.

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
        for some in _small_sums(tables, below)
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
            ends = (
                (count, count)
                if group not in hidden[by]
                else (1, below - 1)
                if count < below
                else (below, None)
            )
            numbers[by, group] = reader.add(*ends)
        reader.show({numbers[by, group]: 1 for group in groups}, sum(groups.values()), sum(groups.values()))
    for one, other in combinations(tables, 2):
        shared = [name for name in one if name in other]
        parts = [_by_shared(by, tables[by], shared) for by in (one, other)]
        for value in parts[0]:
            left = {numbers[one, group]: 1 for group in parts[0][value]}
            right = {numbers[other, group]: -1 for group in parts[1].get(value, [])}
            reader.show({**left, **right}, 0, 0)
    return reader, numbers


def _small_sums(tables: Groupings, below: int) -> Iterator[list[tuple[By, Cell]]]:
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
    others = [count for count in counts if count >= below]
    most = sum(counts) - below * len(others)
    return not is_small(small, below) or most - 1 >= below or (most >= below - 1 and bool(others))


def _by_shared(
    by: tuple[str, ...], groups: Mapping[Cell, int], shared: Sequence[str]
) -> dict[Cell, list[Cell]]:
    """Give the groups by their values in some of the columns."""
    places = [by.index(name) for name in shared]
    groups_by_cells: dict[Cell, list[Cell]] = {}
    for group in groups:
        groups_by_cells.setdefault(tuple(group[place] for place in places), []).append(group)
    return groups_by_cells
