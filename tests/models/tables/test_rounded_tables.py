"""The audit of rounded tables against every table of people that fits them, by enumeration."""

import json
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest

from reid_sql.errors import OutOfDomainError
from reid_sql.models.tables.audit import AuditedCell, audit_tables
from reid_sql.models.tables.published_tables import PublishedRows, Reading
from reid_sql.models.tables.rounding import round_cells

Key = tuple[str | None, str | None]
MARGINS: Mapping[Key, list[int]] = {
    ("x", "u"): [0],
    ("x", "v"): [1],
    ("y", "u"): [2],
    ("y", "v"): [3],
    ("x", None): [0, 1],
    ("y", None): [2, 3],
    (None, "u"): [0, 2],
    (None, "v"): [1, 3],
    (None, None): [0, 1, 2, 3],
}
EVERY = np.array(list(product(range(13), repeat=4)))
BASE = 3


def read(shown: Mapping[Key, int]) -> PublishedRows:
    texts = [json.dumps({"a": a, "b": b, "records": count}) for (a, b), count in shown.items()]
    return PublishedRows(np.ones(len(texts), dtype=int), texts)


def name(key: Key) -> str:
    return (
        ", ".join(f"{column} = {each}" for column, each in zip("ab", key, strict=True) if each)
        or "total"
    )


def by_cell(rows: list[AuditedCell]) -> dict[str, AuditedCell]:
    return {row.cell: row for row in rows}


def fitting(shown: Mapping[Key, int], within: int, absent: int) -> np.ndarray[Any, Any]:
    """All tables near what is shown; a cell that is not shown has at most so many people."""
    fits = EVERY
    for key, cells in MARGINS.items():
        counts = fits[:, cells].sum(axis=1)
        near = abs(counts - shown[key]) <= within if key in shown else counts <= absent
        fits = fits[near]
    return fits


@pytest.mark.parametrize("zeros", ["listed", "left out"])
@pytest.mark.parametrize("how", ["nearest", "controlled"])
def test_each_cell_has_the_interval_of_all_tables_that_fit(how: str, zeros: str) -> None:
    """Where zeros are left out, a cell that is not listed may have people, and some must have."""
    within = BASE // 2 if how == "nearest" else BASE - 1
    codes = np.array(
        [[0 if each is None else 1 + "xyuv".index(each) % 2 for each in key] for key in MARGINS]
    )
    findings = set()
    for seed in range(25):
        truth = np.random.default_rng(seed).integers(0, 5, 4)
        counts = np.array([truth[cells].sum() for cells in MARGINS.values()])
        rounded = (
            BASE * np.round(counts / BASE) if how == "nearest" else round_cells(codes, counts, BASE)
        )
        shown = {key: int(count) for key, count in zip(MARGINS, rounded, strict=True)}
        if zeros == "left out":
            shown = {key: count for key, count in shown.items() if count}
        if {key[0] for key in shown} | {key[1] for key in shown} != {*"xyuv", None}:
            continue  # see the next test
        fits = fitting(shown, within, within if zeros == "left out" else 0)
        found = by_cell(audit_tables(read(shown), Reading(["a", "b"], base=BASE, within=within), 4))
        for key, cells in MARGINS.items():
            sums = fits[:, cells].sum(axis=1)
            low, high, row = int(sums.min()), int(sums.max()), found.get(name(key))
            assert low <= truth[cells].sum() <= high
            if key in shown or low == high or (low > 0 and high < 4):
                assert row is not None, (seed, key)
                assert (row.low, row.high, row.kind) == (low, high, "rounded"), (seed, key)
                findings.add((row.finding, key in shown))
    assert ("protected", True) in findings
    assert how == "controlled" or {("recovered", True), ("below_k", True)} <= findings
    assert (how, zeros) != ("nearest", "left out") or {
        ("below_k", False),
        ("recovered", False),
    } & findings


def test_a_category_that_is_left_out_everywhere_is_no_contradiction() -> None:
    """Of 4 and 1 people in x, and 0 and 1 in y: y is rounded to 0 in each row, and v to 3 in the totals."""
    shown = {("x", "u"): 3, ("x", None): 6, (None, "u"): 3, (None, "v"): 3, (None, None): 6}
    found = by_cell(audit_tables(read(shown), Reading(["a", "b"], base=3), 4))
    for cell, count in {"a = x, b = u": 4, "a = x": 5, "b = u": 4, "b = v": 2, "total": 6}.items():
        row = found[cell]
        assert (row.low or 0) <= count <= (row.high or 0)


def test_a_row_of_zero_beside_cells_that_are_no_rows_has_people() -> None:
    """GROUP BY lists only cells of people: that which is rounded to 0 has one or two of them."""
    shown = {
        ("x", "u"): 0,
        ("x", "v"): 9,
        ("y", "v"): 12,
        ("x", None): 9,
        ("y", None): 12,
        (None, None): 21,
    }
    row = by_cell(audit_tables(read(shown), Reading(["a", "b"], base=5 - 2), 5))["a = x, b = u"]
    assert (row.low, row.high, row.finding, row.status.split(":")[0]) == (
        1,
        1,
        "recovered",
        "zeros_excluded",
    )


def test_the_base_is_guessed_where_chance_does_not_explain_it_and_the_status_says_so() -> None:
    counts: dict[Key, int] = {
        ("x", "u"): 10,
        ("x", "v"): 25,
        ("y", "u"): 15,
        ("y", "v"): 5,
        ("z", "u"): 35,
        ("z", "v"): 20,
    }
    guessed = audit_tables(read(counts), Reading(["a", "b"], base=0), 5)
    assert {(row.high or 0) - (row.low or 0) for row in guessed} == {4}
    assert {row.status.split(":")[0] for row in guessed} == {"base_guessed"}
    assert not audit_tables(read(counts), Reading(["a", "b"], base=1), 5)
    few = dict(list(counts.items())[:4])
    assert not audit_tables(read(few), Reading(["a", "b"], base=0), 5)
    assert not audit_tables(read(counts | {("z", "v"): 21}), Reading(["a", "b"], base=0), 5)


def test_a_guessed_base_that_is_not_of_the_nearest_multiple_is_that_of_a_neighbour() -> None:
    """12 cells of 10 and a total of 90: each count is less than 10 from the true one, and not within 5."""
    shown: dict[Key, int] = {(f"x{place}", None): 10 for place in range(12)} | {(None, None): 40}
    rows = audit_tables(read(shown), Reading(["a", "b"], base=0), 5)
    total = by_cell(rows)["total"]
    assert (total.low, total.high) == (31, 49)
    assert {(row.low, row.high) for row in rows if row.cell != "total"} == {(1, 19)}


def test_cells_of_other_regions_are_no_cells_of_a_hierarchy() -> None:
    """A town is in one region: an audit that took other pairs for cells would find wider intervals."""
    towns: dict[Key, int] = {
        ("N", "N1"): 10,
        ("N", "N2"): 5,
        ("S", "S1"): 10,
        ("S", "S2"): 15,
        ("N", None): 15,
        ("S", None): 20,
    }
    found = by_cell(audit_tables(read(towns), Reading(["a", "b"], base=5), 5))
    assert (found["a = S"].low, found["a = S"].high) == (21, 22)
    assert (found["a = N"].low, found["a = N"].high) == (13, 17)


def publish(count: int) -> int:
    """The rule of OpenSAFELY, for a count of people."""
    return 0 if count <= 7 else 5 * round(count / 5)


def test_redacted_counts_have_the_interval_of_all_tables_that_fit() -> None:
    """Every table of four cells of at most 20 people is published by the rule, and compared."""
    every = np.array(list(product(range(21), repeat=4)))
    sums = {key: every[:, cells].sum(axis=1) for key, cells in MARGINS.items()}
    shown_of = {key: np.where(n <= 7, 0, 5 * np.round(n / 5)) for key, n in sums.items()}
    findings = set()
    for seed in range(12):
        truth = np.random.default_rng(seed).integers(0, 13, 4)
        shown = {key: publish(int(truth[cells].sum())) for key, cells in MARGINS.items()}
        fits = np.logical_and.reduce([shown_of[key] == count for key, count in shown.items()])
        reading = Reading(["a", "b"], base=5, redacted=7)
        found = by_cell(audit_tables(read(shown), reading, 5))
        for key in MARGINS:
            low, high, row = (
                int(sums[key][fits].min()),
                int(sums[key][fits].max()),
                found[name(key)],
            )
            assert (row.low, row.high) == (low, high), (seed, key)
            findings.add(row.finding)
    assert {"protected", "below_k"} <= findings


def test_a_count_that_the_rule_would_have_redacted_is_refused() -> None:
    with pytest.raises(OutOfDomainError, match="count must be 0 where a cell has at most 7 people"):
        audit_tables(
            read({("x", "u"): 5, ("x", "v"): 20, ("x", None): 25}),
            Reading(["a", "b"], base=5, redacted=7),
            5,
        )
