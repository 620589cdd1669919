"""The audit of published sums against integer programmes over the sums of the finest cells."""

import json
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, milp

from reid_sql.errors import ReidError
from reid_sql.models.tables.audit import AuditedCell, audit_tables
from reid_sql.models.tables.published_tables import PublishedRows, Reading
from reid_sql.models.tables.sums import SumRules

Key = tuple[int | None, ...]
Contributions = dict[Key, list[int]]
P, N, SHARE = 0.4, 2, 0.8
RULES = SumRules(1, 0.5, 0.1)


def draw_contributions(seed: int, shape: tuple[int, ...]) -> Contributions:
    """The contributions to each cell and total, whole numbers, the largest first."""
    rng = np.random.default_rng(seed)
    inner = {
        place: (rng.pareto(1.2, rng.integers(1, 6)) * 10 + 1).astype(int)
        for place in np.ndindex(shape)
    }
    cells: Contributions = {}
    for place, values in inner.items():
        for totalled in product((False, True), repeat=len(shape)):
            key = tuple(
                None if is_total else code for code, is_total in zip(place, totalled, strict=True)
            )
            cells.setdefault(key, []).extend(int(value) for value in values)
    return {key: sorted(values, reverse=True) for key, values in cells.items()}


def publish(cells: Contributions, hidden: set[Key]) -> PublishedRows:
    rows = []
    for key, values in cells.items():
        figures = [None, None] if key in hidden else [len(values), float(sum(values))]
        named = {f"c{place}": code for place, code in enumerate(key)}
        rows.append(
            json.dumps(
                {
                    **named,
                    "records": figures[0],
                    "total": figures[1],
                    "largest": values[: max(2, N)],
                }
            )
        )
    return PublishedRows(np.ones(len(rows), dtype=np.int64), rows)


def most(
    cells: Contributions, hidden: set[Key], key: Key, knows: dict[Key, tuple[int, float]]
) -> float:
    """The largest sum of a cell that fits all that an attacker knows, over whole sums of the finest cells."""
    inner = [each for each in cells if None not in each]

    def members(of: Key) -> Any:
        return np.array(
            [all(a in {None, b} for a, b in zip(of, o, strict=True)) for o in inner], dtype=float
        )

    shown = {
        each: (sum(values), sum(values)) for each, values in cells.items() if each not in hidden
    }
    known = [*shown.items(), *knows.items()]
    limits = LinearConstraint(
        np.array([members(each) for each, _ in known]),
        [e[0] for _, e in known],
        [e[1] for _, e in known],
    )
    is_whole = np.full(len(inner), int(len(key) == 2))
    found = milp(-members(key), constraints=limits, integrality=is_whole, bounds=(0, np.inf))
    return np.inf if found.x is None else -float(found.fun)


def expected(cells: Contributions, hidden: set[Key], key: Key) -> tuple[bool, float]:
    """Whether anybody comes too near, and how high the second largest contributor estimates the largest."""
    values = cells[key]
    second = values[1] if len(values) > 1 else 0
    high = sum(values) if key not in hidden else most(cells, hidden, key, {})
    is_near = high < sum(values[:N]) / SHARE or high - second < (1 + P) * values[0]
    for other, own in cells.items():
        is_part = any(
            all(a in {None, b} for a, b in zip(*pair, strict=True))
            for pair in ((key, other), (other, key))
        )
        if key in hidden and other in hidden and not is_part:
            knows = {other: (own[0], float(own[0]) if len(own) == 1 else np.inf)}
            is_near = is_near or most(cells, hidden, key, knows) < (1 + P) * values[0]
    return is_near, high - second


def audit(cells: Contributions, hidden: set[Key]) -> dict[Key, AuditedCell]:
    reading = Reading(columns=None, value="total")
    found = audit_tables(publish(cells, hidden), reading, 1, rules=SumRules(N, SHARE, P))
    return {
        tuple(None if each == "(total)" else int(each) for each in row.categories): row
        for row in found
        if row.kind == "sum"
    }


@pytest.mark.parametrize(("shape", "seeds"), [((3, 4), 8), ((2, 3, 2), 4)], ids=str)
def test_every_attacker_is_found_who_comes_too_near(shape: tuple[int, ...], seeds: int) -> None:
    words: set[str | None] = set()
    for seed in range(seeds):
        cells = draw_contributions(seed, shape)
        rng = np.random.default_rng([seed, 1])
        hidden = {key for key in cells if rng.random() < (0.55 if None not in key else 0.3)}
        found = audit(cells, hidden)
        for key in cells:
            is_near, estimate = expected(cells, hidden, key)
            assert (key in found and found[key].finding == "estimated") == is_near
            if key in hidden:
                row = found[key]
                words.add(row.revealed_by)
                needed = row.needed or 0.0
                assert (
                    needed == pytest.approx((1 + P) * cells[key][0])
                    or row.revealed_by != "second_largest"
                )
                if row.revealed_by == "second_largest":
                    assert row.largest_high == pytest.approx(estimate)
                    assert (
                        (row.largest_low or 0)
                        <= cells[key][0]
                        <= (row.largest_high or 0) * (1 + 1e-9)
                    )
    assert len(words) > 2


def test_the_only_contributor_of_a_cell_computes_the_one_next_to_it() -> None:
    parts: Contributions = {(0,): [70], (1,): [60, 5], (2,): [9, 9, 9, 9]}
    total = sorted((value for each in parts.values() for value in each), reverse=True)
    found = audit(parts | {(None,): total}, {(0,), (1,)})
    assert found[1,].revealed_by == "contributor_of_another_cell"
    assert found[1,].largest_high == pytest.approx(65)
    assert found[1,].revealing_sum == "contributor of [c0 = 0]"


def test_a_sum_that_computers_round_adds_up() -> None:
    texts = [
        '{"c0": "a", "records": 5, "total": 0.1, "largest": [0.04, 0.02]}',
        '{"c0": "b", "records": 5, "total": 0.2, "largest": [0.05, 0.05]}',
        '{"c0": null, "records": 10, "total": 0.3, "largest": [0.05, 0.05]}',
    ]
    rows = PublishedRows(np.ones(3, dtype=int), texts)
    assert audit_tables(rows, Reading(value="total"), 5, rules=RULES) == []


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"total": "many"}, "value must be numbers"),
        ({"largest": "[3, 4]"}, "largest must be lists of the largest contributions"),
        ({"largest": ["x"]}, "largest must be lists"),
        ({"largest": [5.0]}, "list the 2 largest"),
        ({"largest": [9.0, 8.0]}, "value must be at least the sum of its largest contributions"),
    ],
    ids=str,
)
def test_what_is_no_sum_is_refused(row: dict[str, Any], words: str) -> None:
    text = json.dumps({"c0": "a", "records": 9, "total": 9.0, "largest": [4.0, 3.0]} | row)
    with pytest.raises(ReidError, match=words):
        audit_tables(
            PublishedRows(np.ones(1, dtype=int), [text]),
            Reading(value="total"),
            5,
            rules=RULES,
        )


def test_a_table_without_its_sums_is_refused() -> None:
    rows = PublishedRows(np.ones(1, dtype=int), ['{"c0": "a", "records": 9}'])
    with pytest.raises(ReidError, match="value must be a column of every table, got 'total'"):
        audit_tables(rows, Reading(value="total"), 5, rules=RULES)
