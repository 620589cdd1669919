"""Somebody who knows how a report is made tries to solve for what it hides, and must find many answers.

For each number that it hides, several.
"""

import itertools
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence

import pytest

from reid_sql.check.masking import (
    Cell,
    Groupings,
    groups_to_hide,
    is_ambiguous,
    mask_bins,
    mask_counts_in_text,
    round_above,
)

BINS = [(1, 1), (2, 2), (3, 4), (5, 9), (10, 19)]


def feasible(sizes: tuple[int, int], most: int) -> list[int]:
    """Every number of records, up to one, that some classes of these sizes can hold: counted, not derived."""
    reached = {0}
    for total in range(1, most + 1):
        if any(total - size in reached for size in range(sizes[0], sizes[1] + 1)):
            reached.add(total)
    return sorted(reached - {0})


def bin_answers(counts: list[int], shown: list[int | None]) -> list[set[int]]:
    """What each hidden count may be, by trying all."""
    places = [place for place, count in enumerate(shown) if count is None]
    total = sum(counts[place] for place in places)
    ways = [feasible(BINS[place], total) for place in places]
    found: list[set[int]] = [set() for _ in places]
    for first in itertools.product(*ways[:-1]):
        rest = total - sum(first)
        if rest in ways[-1]:
            for place, value in enumerate((*first, rest)):
                found[place].add(value)
    return found


@pytest.mark.parametrize("seed", range(60))
def test_no_hidden_class_size_can_be_solved_for(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - a table, not a secret
    classes = [draw.choice([0, 0, 1, 2, 3, 8]) for _ in BINS]
    counts = [sum(draw.randint(*sizes) for _ in range(n)) for sizes, n in zip(BINS, classes, strict=True)]
    shown = mask_bins(counts, BINS, 10)
    assert all(count is None for count, true in zip(shown, counts, strict=True) if 0 < true < 10)
    assert all(count in (None, true) for count, true in zip(shown, counts, strict=True))
    left = [count for count in shown if count]
    if None in shown and left:  # else there is nothing more to hide
        assert min(len(answers) for answers in bin_answers(counts, shown)) > 1


def answers(tables: Groupings, names: tuple[str, ...], below: int) -> dict[Cell, set[int]]:
    """What each group by all columns may be, given all sizes told and that unnamed groups are small."""
    hidden = groups_to_hide(tables, below)
    cells = tables[names]
    total = sum(cells.values())
    domains: list[Sequence[int]] = []
    least = (
        0 if set(cells) == hidden[names] else 1
    )  # of a grouping without sizes a report has one line for all that is small
    for cell, count in cells.items():
        if cell not in hidden[names]:
            domains.append([count])
        else:
            domains.append(list(range(least, below)) if count < below else list(range(below, total + 1)))
    found: dict[Cell, set[int]] = defaultdict(set)
    for values in _fitting(domains, tables, hidden, names, below):
        for cell, value in zip(cells, values, strict=True):
            found[cell].add(value)
    return {cell: found[cell] for cell in hidden[names]}


def _fitting(
    domains: Sequence[Sequence[int]],
    tables: Groupings,
    hidden: dict[tuple[str, ...], set[Cell]],
    names: tuple[str, ...],
    below: int,
) -> Iterator[tuple[int, ...]]:
    cells = list(tables[names])
    total = sum(tables[names].values())
    margins: list[tuple[list[int], Sequence[int]]] = []
    for by, groups in ((by, groups) for by, groups in tables.items() if by != names):
        places = [names.index(name) for name in by]
        for group, count in groups.items():
            inside = [i for i, cell in enumerate(cells) if tuple(cell[p] for p in places) == group]
            small = count < below
            margins.append(
                (
                    inside,
                    [count]
                    if group not in hidden[by]
                    else range(1, below)
                    if small
                    else range(below, total + 1),
                )
            )

    def go(place: int, values: list[int], left: int) -> Iterator[tuple[int, ...]]:
        if place == len(cells):
            if left == 0 and all(sum(values[i] for i in inside) in told for inside, told in margins):
                yield tuple(values)
            return
        rest = sum(domain[0] for domain in domains[place + 1 :])
        for value in domains[place]:
            if value + rest > left:
                break
            yield from go(place + 1, [*values, value], left - value)

    yield from go(0, [], total)


@pytest.mark.parametrize("seed", range(80))
def test_no_hidden_group_can_be_solved_for_from_any_grouping(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - a table, not a secret
    below = 3
    rows, columns = draw.choice([(1, 4), (2, 2), (2, 3), (3, 2)])
    cells: dict[Cell, int] = {
        (f"a{i}", f"b{j}"): draw.choice([1, 2, 3, 4, 6]) for i in range(rows) for j in range(columns)
    }
    tables: dict[tuple[str, ...], dict[Cell, int]] = {("a", "b"): cells}
    for place, name in enumerate(("a", "b")):
        if draw.random() < 0.7:
            sums: dict[Cell, int] = defaultdict(int)
            for cell, count in cells.items():
                sums[(cell[place],)] += count
            tables[(name,)] = dict(sums)
    hidden = groups_to_hide(tables, below)
    assert all(
        cell in hidden[by] for by, groups in tables.items() for cell, count in groups.items() if count < below
    )
    found = answers(tables, ("a", "b"), below)
    if any(set(groups) != hidden[by] for by, groups in tables.items()):  # else there is nothing more to hide
        assert all(len(values) > 1 for values in found.values()), (cells, tables, hidden, found)


@pytest.mark.parametrize("counts", list(itertools.combinations_with_replacement([1, 2, 3, 4, 5, 7], 3)))
def test_several_answers_are_those_that_trying_all_finds(counts: tuple[int, ...]) -> None:
    below, total = 4, sum(counts)
    ways = [range(1, below) if count < below else range(below, total + 1) for count in counts]
    fits = [each for each in itertools.product(*ways) if sum(each) == total]
    assert is_ambiguous(counts, below) == all(
        len({each[place] for each in fits}) > 1 for place in range(len(counts))
    )


@pytest.mark.parametrize("records", [50, 443, 32561])
def test_a_rounded_share_is_open_to_at_least_the_mask(records: int) -> None:
    bounds = defaultdict(list)
    for count in range(1, min(records, 3000)):
        bound = round_above(count / records, records, 10)
        assert count / records < bound
        bounds[bound].append(count)
    assert min(len(counts) for counts in list(bounds.values())[:-1]) >= 5


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("3 records are not covered", "fewer than 10 records are not covered"),
        ("1 record is not covered", "fewer than 10 records is not covered"),
        ("13 records", "13 records"),
        ("1,003 records", "1,003 records"),
        ("0.5 records", "0.5 records"),
        ("7 people of 20 classes", "fewer than 10 people of 20 classes"),
    ],
)
def test_sentences_hold_no_small_counts(words: str, told: str) -> None:
    assert mask_counts_in_text(words, 10) == told
