"""The audit of published tables against every table that fits them, and against figures that are known."""

import json
from itertools import product
from typing import Any

import numpy as np
import pytest

from reid_sql.errors import OutOfDomainError, ReidError
from reid_sql.models.tables.audit import audit_tables
from reid_sql.models.tables.published_tables import PublishedRows, Reading
from tests.cells import each_cell
from tests.published import Atoms, Published, draw_case

SQUARE: Atoms = tuple({"a": a, "b": b} for a, b in product("xyz", "uvw"))
CUBE: Atoms = tuple({"a": a, "b": b, "c": c} for a, b, c in product("xy", "uv", "pq"))
TOWNS: Atoms = tuple(
    {"region": town[0], "town": town, "sex": sex}
    for town, sex in product(("N1", "N2", "S1", "S2"), "FM")
)
STEP: Atoms = tuple({"a": a, "part": part} for a, part in product("wxyz", ("in", "out")))
INSIDE = frozenset(place for place, atom in enumerate(STEP) if atom["part"] == "in")
FAMILIES: dict[str, tuple[Atoms, tuple[Published, ...]]] = {
    "margins": (
        SQUARE,
        (Published(("a", "b")), Published(("a",)), Published(("b",)), Published(())),
    ),
    "margins of one column": (SQUARE, (Published(("a", "b")), Published(("a",)), Published(()))),
    "three columns": (
        CUBE,
        tuple(
            Published(each) for each in (("a", "b", "c"), ("a", "b"), ("b", "c"), ("a", "c"), ())
        ),
    ),
    "linked tables": (
        CUBE,
        (Published(("a", "b")), Published(("a", "c")), Published(("b",)), Published(())),
    ),
    "common totals not shown": (
        CUBE,
        (Published(("a", "b")), Published(("b", "c")), Published(())),
    ),
    "a hierarchy": (
        TOWNS,
        (
            Published(("region", "town", "sex")),
            Published(("region", "sex")),
            Published(("region", "town")),
            Published(("sex",)),
            Published(()),
        ),
    ),
}


def interval(fitting: np.ndarray[Any, Any], members: np.ndarray[Any, Any]) -> tuple[int, int]:
    counts = fitting[:, members].sum(axis=1)
    return int(counts.min()), int(counts.max())


def word(low: float, high: float, k: int) -> str:
    return "recovered" if low == high else "below_k" if high < k else "protected"


@each_cell("family", FAMILIES)
@each_cell("lowest", [0, 1])
@pytest.mark.first(cells=4)
def test_every_interval_is_that_of_all_tables_that_fit(family: str, lowest: int) -> None:
    atoms, tables = FAMILIES[family]
    columns = list(atoms[0])
    for seed in range(20):
        people = 8 + seed % 4
        case = draw_case([seed, lowest], atoms, tables, people, lowest, (0.3, 0.5, 0.8)[seed % 3])
        found = audit_tables(case.rows, Reading(columns, lowest=lowest), 4)
        audited = {tuple(row.categories): row for row in found if row.kind == "suppressed"}
        assert len(audited) == len(case.hidden)
        for _, categories, members in case.hidden:
            row = audited[tuple(categories[name] or "(total)" for name in columns)]
            low, high = interval(case.fitting, members)
            assert (row.low, row.high) == (low, high)
            assert row.finding == word(low, high, 4)
            rests = row.finding not in {"protected", word(*interval(case.with_zeros, members), 4)}
            assert row.status.partition(":")[0] == ("zeros_excluded" if rests else "ok")
            assert (row.revealing_sum is not None) == (row.finding != "protected") or low < high


@pytest.mark.parametrize("as_column", [False, True])
def test_differences_between_all_and_all_but_some_are_found(as_column: bool) -> None:  # noqa: FBT001
    """Every group that is in the first table and not in the second, by name or by `nested`."""
    for seed in range(40):
        second = Published(("a",), INSIDE, ("part", "in") if as_column else None)
        every = (Published(("a",)), Published(()), second)
        case = draw_case([seed, 7], STEP, every, 12, 1, 0.2)
        numbers = np.where(case.rows.tbl == 3, 2, 1)
        texts = [
            json.dumps(
                {
                    name: value
                    for name, value in json.loads(text or "").items()
                    if as_column or name != "part"
                }
            )
            for text in case.rows.text
        ]
        reading = Reading(["a", "part"] if as_column else ["a"])
        found = audit_tables(PublishedRows(numbers, texts), reading, 4, nested=not as_column)
        groups = {
            row.categories[0]: (row.low, row.high) for row in found if row.kind == "difference"
        }
        expected = {}
        listed = {
            json.loads(text)["a"]
            for number, text in zip(numbers, texts, strict=True)
            if number == 2
        }
        for name in sorted(listed):
            outside = [atom == {"a": name, "part": "out"} for atom in STEP]
            low, high = interval(case.fitting, np.array(outside))
            if low >= 1 and high < 4:
                expected[name] = (low, high)
        low, high = interval(
            case.fitting, np.array([place not in INSIDE for place, _ in enumerate(STEP)])
        )
        assert {name: groups[name] for name in groups if name != "(total)"} == expected


def rows(*tables: list[tuple[Any, ...]]) -> PublishedRows:
    """Tables of (a, b, count), NULL for a total or a hidden count."""
    every = [(number, row) for number, table in enumerate(tables, 1) for row in table]
    texts = [json.dumps(dict(zip(("a", "b", "records"), row, strict=True))) for _, row in every]
    return PublishedRows(np.array([number for number, _ in every]), texts)


HAVING = [
    ("N", "F", 20),
    ("N", "M", 8),
    ("S", "M", 31),
    ("N", None, 28),
    ("S", None, 33),
    (None, None, 61),
]


def test_rows_that_a_having_clause_left_out_are_differences() -> None:
    found = audit_tables(rows(HAVING), Reading(), 5)
    assert [(row.cell, row.kind, row.low, row.high, row.revealing_sum) for row in found] == [
        ("a = S, b not listed", "difference", 2, 2, "[a = S] - [a = S, b = M]")
    ]


def test_a_cell_hidden_in_one_table_and_shown_in_another_is_recovered_by_both() -> None:
    one = [("N", "F", None), ("N", "M", None), ("N", None, 12)]
    other = [("N", "F", 3)]
    found = {row.cell: row for row in audit_tables(rows(one, other), Reading(["a", "b"]), 5)}
    assert {(row.low, row.high, row.revealed_by) for row in found.values()} == {
        (3, 3, "several_tables"),
        (9, 9, "several_tables"),
    }
    assert found["a = N, b = F"].revealing_sum == "[a = N, b = F] in table 2"
    assert found["a = N, b = M"].revealing_sum == "[a = N] - [a = N, b = F]"
    assert {row.finding for row in audit_tables(rows(one), Reading(["a", "b"]), 5)} == {"protected"}


def test_a_count_without_any_total_has_no_upper_end() -> None:
    [found] = audit_tables(rows([("N", "F", None), ("N", "M", 9)]), Reading(["a", "b"]), 5)
    assert (found.low, found.high, found.width, found.finding) == (1, None, None, "protected")


def test_published_cells_below_k_and_marks_of_hidden_ones_are_read() -> None:
    table = [
        ("N", "F", "<5"),
        ("N", "M", "*"),
        ("N", "Total", "12"),
        ("S", "F", 2.0),
        ("S", None, 7),
    ]
    found = audit_tables(rows(table), Reading(total=("Total",)), 5)
    assert {(row.cell, row.kind, row.low, row.high, row.finding) for row in found} == {
        ("a = N, b = F", "suppressed", 1, 4, "below_k"),
        ("a = N, b = M", "suppressed", 8, 11, "protected"),
        ("a = S, b = F", "published", 2, 2, "published_below_k"),
    }
    assert [row.revealed_by for row in found if row.finding == "below_k"] == ["publishers_rule"]


@each_cell(
    "mark",
    ["[c]", "n.p.", "N/A", "..", ":", "(D)", "redacted", "/", "<5", "≤ 4", "Fewer than 5", "<=4"],
)
def test_marks_of_offices_hide_a_count(mark: str) -> None:
    table = [
        ("N", "F", "1\u202f234"),
        ("S", "F", mark),
        ("W", "F", "2 000"),
        ("Total", "F", "3’238"),
    ]
    [found] = audit_tables(rows(table), Reading(["a"], total=("Total",)), 5)
    assert (found.cell, found.kind, found.low, found.high) == ("a = S", "suppressed", 4, 4)


def test_rounded_tables_are_bounds_and_their_intervals_are_those_of_all_tables_that_fit() -> None:
    """Four cells and their margins, rounded to threes, one hidden, against all tables with cells up to 9."""
    every = np.array(list(product(range(10), repeat=4)))
    margins = {
        ("x", "u"): [0],
        ("x", "v"): [1],
        ("y", "u"): [2],
        ("y", "v"): [3],
        (None, None): [0, 1, 2, 3],
    }
    margins |= {("x", None): [0, 1], ("y", None): [2, 3], (None, "u"): [0, 2], (None, "v"): [1, 3]}
    findings = set()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        truth = rng.integers(1, 5, 4)
        hidden = list(margins)[int(rng.integers(4))]
        shown = {key: 3 * round(truth[cells].sum() / 3) for key, cells in margins.items()}
        fits = every[every[:, margins[hidden][0]] >= 1]
        for key, cells in margins.items():
            fits = (
                fits[abs(fits[:, cells].sum(axis=1) - shown[key]) <= 1] if key != hidden else fits
            )
        table = [(*key, None if key == hidden else count) for key, count in shown.items()]
        found = {row.cell: row for row in audit_tables(rows(table), Reading(["a", "b"], base=3), 4)}
        for key, cells in margins.items():
            low, high = interval(fits, np.array(cells))
            name = ", ".join(
                f"{column} = {each}" for column, each in zip("ab", key, strict=True) if each
            )
            row = found.get(name or "total")
            by_rule = key != hidden and (low, high) == (max(0, shown[key] - 1), shown[key] + 1)
            if key == hidden or (word(low, high, 4) != "protected" and low >= 1 and not by_rule):
                assert row is not None, (seed, key, low, high)
                assert (row.low, row.high, row.finding) == (low, high, word(low, high, 4)), (
                    seed,
                    key,
                )
                assert row.kind == ("suppressed" if key == hidden else "rounded")
                findings.add((row.kind, row.finding))
    assert {("rounded", "recovered"), ("rounded", "below_k"), ("suppressed", "below_k")} <= findings


def test_a_count_that_is_not_rounded_is_refused_with_the_base() -> None:
    table = rows([("N", "F", 10), ("N", "M", 7), ("N", None, 15)])
    with pytest.raises(
        OutOfDomainError, match="count must be multiples of 5, as base says"
    ) as refused:
        audit_tables(table, Reading(["a", "b"], base=5), 5)
    assert "7" not in str(refused.value)


@each_cell(
    "given, words",
    [
        (rows([("N", "F", 3), ("N", "F", 4)]), "got two in table 1"),
        (rows([("N", "F", 3)], [("N", "F", 4)]), "got two counts of one cell in tables 1 and 2"),
        (rows([("N", "F", 30), ("N", None, 12)]), "got totals that no such table has"),
        (rows([("N", "F", 3.5)]), "got another value in 'records'"),
        (rows([("N", "F", -1)]), "got another value in 'records'"),
        (rows([("N", "F", "Alice")]), "got another value in 'records'"),
        (rows([]), "at least one record, got 0"),
    ],
)
def test_tables_that_no_people_make_are_refused_without_their_values(
    given: Any, words: str
) -> None:
    with pytest.raises(ReidError) as refused:
        audit_tables(given, Reading(["a", "b"]), 5)
    assert words in str(refused.value)
    assert "Alice" not in str(refused.value)


@pytest.mark.parametrize("marked", ["Total", "total", "All"])
def test_totals_that_are_not_marked_are_refused(marked: str) -> None:
    """As a category, a total would link nothing, and every hidden cell would seem protected."""
    table = rows([("N", "F", None), ("N", "M", 9), ("N", marked, 11)])
    with pytest.raises(OutOfDomainError, match=f"pass total := '{marked}'"):
        audit_tables(table, Reading(["a", "b"]), 5)
    assert audit_tables(table, Reading(["a", "b"], total=(marked,)), 5)[0].finding == "recovered"


def test_a_column_of_figures_is_no_category() -> None:
    """Each of its values would be a category, and no total the sum of its parts."""
    ages = [("x", 3.5, None, "near 3"), ("y", 4.0, 9, "about 4"), (None, 3.9, 11, "near 4")]
    names = ("a", "mean", "records", "note")
    mean = [json.dumps(dict(zip(names, each, strict=True)) | {"note": None}) for each in ages]
    table = PublishedRows(np.ones(3, dtype=int), mean)
    for columns in (None, ["a"]):
        found = audit_tables(table, Reading(columns), 5)
        assert [each.finding for each in found] == ["recovered", "not_audited"]
    noted = [json.dumps(dict(zip(names, each, strict=True))) for each in ages]
    with pytest.raises(OutOfDomainError, match="got 'note', of which totals have other values"):
        audit_tables(PublishedRows(np.ones(3, dtype=int), noted), Reading(), 5)


def test_misspelt_columns_are_refused_with_the_nearest() -> None:
    with pytest.raises(ReidError, match="got 'record'; did you mean 'records'"):
        audit_tables(rows(HAVING), Reading(count="record"), 5)
    with pytest.raises(ReidError, match="got 'c'"):
        audit_tables(rows(HAVING), Reading(["a", "c"]), 5)
    with pytest.raises(OutOfDomainError, match="got none"):
        audit_tables(PublishedRows(np.array([1]), ['{"records": 3}']), Reading(), 5)


@pytest.mark.parametrize("written", ["fm", "FX"])
def test_tables_that_write_categories_otherwise_are_refused(written: str) -> None:
    """Nothing would link their cells: the audit found nothing, and a gate passed."""
    own, others = (
        [json.dumps({"sex": sex, "records": 9}) for sex in each] for each in ("FM", written)
    )
    tables = PublishedRows(np.array([1, 1, 2, 2]), [*own, *others])
    if written == "FX":
        assert audit_tables(tables, Reading(), 5) == []
        return
    with pytest.raises(
        OutOfDomainError, match="categories alike, got two of 'sex' in tables 1 and 2"
    ):
        audit_tables(tables, Reading(), 5)


def test_tables_of_two_regions_have_no_town_in_common() -> None:
    texts = [
        json.dumps({"region": town[0], "town": town, "records": 9})
        for town in ("N1", "N2", "S1", "S2")
    ]
    assert audit_tables(PublishedRows(np.array([1, 1, 2, 2]), texts), Reading(), 5) == []
