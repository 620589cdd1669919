"""Somebody who knows how a report is made tries to solve for what it hides, and must find many answers.

For each number that it hides, several.
"""

import itertools
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from reid_sql.check.gate import check
from reid_sql.check.inference import Cell, Groupings, groups_to_hide, is_small_sum_open
from reid_sql.check.masking import mask_counts_in_text, round_above, round_between
from tests.cells import each_cell


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
            domains.append(
                list(range(least, below)) if count < below else list(range(below, total + 1))
            )
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
            if left == 0 and all(
                sum(values[i] for i in inside) in reported for inside, reported in margins
            ):
                yield tuple(values)
            return
        rest = sum(domain[0] for domain in domains[place + 1 :])
        for value in domains[place]:
            if value + rest > left:
                break
            yield from go(place + 1, [*values, value], left - value)

    yield from go(0, [], total)


@each_cell("seed", range(80))
def test_no_hidden_group_can_be_solved_for_from_any_grouping(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - a table, not a secret
    below = 3
    rows, columns = draw.choice([(1, 4), (2, 2), (2, 3), (3, 2)])
    cells: dict[Cell, int] = {
        (f"a{i}", f"b{j}"): draw.choice([1, 2, 3, 4, 6])
        for i in range(rows)
        for j in range(columns)
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
        cell in hidden[by]
        for by, groups in tables.items()
        for cell, count in groups.items()
        if count < below
    )
    found = answers(tables, ("a", "b"), below)
    # else there is nothing more to hide
    if any(set(groups) != hidden[by] for by, groups in tables.items()):
        assert all(len(values) > 1 for cell, values in found.items() if cells[cell] < below), (
            tables,
            found,
        )


@each_cell("counts", list(itertools.combinations_with_replacement([1, 2, 3, 4, 5, 7, 9], 3)))
def test_the_sum_of_small_groups_is_open_where_trying_all_finds_it_so(
    counts: tuple[int, ...],
) -> None:
    """A reader sees groups of at least the mask without sizes, a line for all smaller ones, and the sum."""
    below, total = 4, sum(counts)
    large = sum(count >= below for count in counts)
    small = sum(count for count in counts if count < below)
    sums = {
        total - sum(each)
        for each in itertools.product(range(below, total + 1), repeat=large)
        if sum(each) < total
    }
    is_open = max(sums, default=0) - min(sums, default=0) >= below or (
        min(sums, default=0) <= 1 and max(sums, default=0) >= below - 1
    )
    assert is_small_sum_open(counts, below) == (is_open or not 0 < small < below)


@pytest.mark.parametrize("records", [50, 443, 32561])
def test_a_rounded_share_is_open_to_at_least_the_mask(records: int) -> None:
    bounds = defaultdict(list)
    for count in range(1, min(records, 3000)):
        bound = round_above(count / records, records, 10)
        assert count / records < bound
        bounds[bound].append(count)
    assert min(len(counts) for counts in list(bounds.values())[:-1]) >= 5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("3 records are not covered", "fewer than 10 records are not covered"),
        ("1 record is not covered", "fewer than 10 records is not covered"),
        ("13 records", "13 records"),
        ("1,003 records", "1,003 records"),
        ("0.5 records", "0.5 records"),
        ("7 people of 20 classes", "fewer than 10 people of 20 classes"),
    ],
)
def test_sentences_hold_no_small_counts(words: str, message: str) -> None:
    assert mask_counts_in_text(words, 10) == message


@pytest.mark.parametrize(("columns", "rounded"), [(["a"], False), (["b", "c"], True)])
def test_a_figure_is_rounded_for_groups_of_the_same_classes_alone(
    tmp_path: Path, columns: list[str], *, rounded: bool
) -> None:
    """Groups of c by b are classes of b and c, some of them small; of a there are two large classes."""
    rows = [f"{i % 2},{i % 3},{'rare' if i < 3 else i % 4}" for i in range(120)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c", *rows]) + "\n", encoding="utf-8")
    checks = [
        {"measure": "average_risk", "at_most": 1, "quasi_identifiers": columns},
        {"measure": "average_risk", "at_most": 1, "quasi_identifiers": ["b"], "by": ["c"]},
    ]
    table = {"file": "t.csv", "quasi_identifiers": ["a", "b", "c"], "checks": checks}
    (tmp_path / "p.json").write_text(
        json.dumps({"mask_below": 5, "tables": [table]}), encoding="utf-8"
    )
    found = check(tmp_path / "p.json")["checks"][0]["groups"][0]
    classes = len({tuple(row.split(",")["abc".index(name)] for name in columns) for row in rows})
    assert (found["value"] is None) == rounded
    assert rounded or found["value"] == pytest.approx(classes / 120)


def test_a_share_of_fewer_records_than_the_mask_is_between_one_record_and_the_mask() -> None:
    assert {round_between(records / 50, 50, 10) for records in range(1, 10)} == {(1 / 50, 10 / 50)}
