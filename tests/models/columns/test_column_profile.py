import random
from collections import Counter
from datetime import date, timedelta

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reid_sql.polars as rp
from reid_sql.models.columns.missing_value_codes import (
    MissingValueCode,
    NumberRange,
    find_missing_value_codes,
)
from tests.cells import each_cell
from tests.coded_columns import BELOW, HIGH, beyond_gaps

# Marks for missing values, held against a loop over the numbers of small columns.


def found(values: list[float]) -> set[float]:
    """What the rule gives, from the figures that an engine counts."""
    counts = Counter(values)
    others = sorted({value for value in values if value not in HIGH | BELOW})
    numbers = NumberRange(len(others), others[0], others[-1]) if others else NumberRange(0, 0, 0)
    candidates = [MissingValueCode(f"{v:g}", n) for v, n in counts.items() if v in HIGH | BELOW]
    return {float(mark.text) for mark in find_missing_value_codes(candidates, numbers)}


@given(
    st.lists(
        st.sampled_from([0, 1, 2, 3, 5, 8, 9, 10, 40, 96, 97, 98, 99, 999, -1, -9, -3]), max_size=25
    )
)
def test_numbers_beyond_a_gap_are_those_that_a_loop_finds(values: list[int]) -> None:
    numbers = [float(value) for value in values]
    assert found(numbers) == beyond_gaps(Counter(numbers))


@given(st.lists(st.integers(0, 99), min_size=60, max_size=90))
def test_among_many_numbers_a_mark_is_repeated(values: list[int]) -> None:
    numbers = [float(value) for value in values]
    assert found(numbers) == beyond_gaps(Counter(numbers))


@each_cell(
    "values, marks",
    [
        ([1, 2, 3, 4, 5, 9], {9}),  # codes, and one for unknown
        ([*range(1, 10)], set()),  # 9 ends no gap
        ([1, 3, 5, 7, 9], set()),  # nor here, where all are two apart
        ([*range(1, 100)], set()),  # hours of a week
        ([*range(17, 91), 99, 99], {99}),  # ages, and a code
        ([1, 2, 97, 98, 99], {97, 98, 99}),  # yes, no, and why there is no answer
        ([1, 2, 3, -1], {-1}),
        ([-3, 1, 2, -1], set()),  # numbers below zero are usual
        ([9, 99], set()),  # nothing that they would be marks beside
    ],
)
def test_figures_by_hand(values: list[int], marks: set[int]) -> None:
    assert found([float(value) for value in values]) == marks


@each_cell("text", ["?", "N/A", " unknown ", "", "  ", "NaN", "9999-99-99", "1900-01-01 00:00:00"])
def test_words_and_dates_are_reported_by_themselves(text: str) -> None:
    assert find_missing_value_codes([MissingValueCode(text, 3)], None) == [
        MissingValueCode(text, 3)
    ]


# What columns of usual kinds look like.

RNG = random.Random(7)  # noqa: S311 - tables, no secrets
RECORDS = 400
COLUMNS: dict[str, tuple[str, list[object]]] = {
    "record": ("identifier", [f"r{number:05}" for number in range(RECORDS)]),
    "number": ("identifier", list(range(1000, 1000 + RECORDS))),
    "visitor_id": ("repeated identifier", [number // 5 for number in range(RECORDS)]),
    "born": (
        "date",
        [date(1950, 1, 1) + timedelta(days=RNG.randrange(9000)) for _ in range(RECORDS)],
    ),
    "seen": ("date", [f"{RNG.randint(1, 28)}.{RNG.randint(1, 12)}.2020" for _ in range(RECORDS)]),
    "zip_code": ("code", [RNG.randint(10_000, 99_999) for _ in range(RECORDS)]),
    "area": ("code", [f"0{RNG.randint(1000, 9999)}" for _ in range(RECORDS)]),
    "icd10": ("code", [f"{RNG.choice('ABCDEFGH')}{RNG.randint(10, 99)}" for _ in range(RECORDS)]),
    # of which each record has another
    "dx": ("code", [f"{letter}{number}" for letter in "ABCDEFGH" for number in range(10, 60)]),
    "postal_code": ("code", [f"{number:05}A" for number in RNG.sample(range(99_999), RECORDS)]),
    "age": ("number", [RNG.randint(0, 99) for _ in range(RECORDS)]),
    "weight": ("number", [RNG.randint(40, 180) for _ in range(RECORDS)]),  # of a body
    "fnlwgt": ("survey weight", [RNG.randint(10_000, 99_999) for _ in range(RECORDS)]),
    "sampling_weight": ("survey weight", [RNG.random() for _ in range(RECORDS)]),
    "poids": ("survey weight", [RNG.randint(100, 31_092) for _ in range(RECORDS)]),
    "income": ("number", [RNG.gauss(30_000, 9_000) for _ in range(RECORDS)]),
    "written": ("number", [str(RNG.randint(0, 500) / 10) for _ in range(RECORDS)]),
    "sex": ("category", [RNG.choice("FM") for _ in range(RECORDS)]),
    "grade": ("category", [RNG.randint(1, 6) for _ in range(RECORDS)]),
    "smokes": ("category", [RNG.random() < 0.3 for _ in range(RECORDS)]),
    "town": ("category", [f"town {RNG.randint(1, 40)}" for _ in range(RECORDS)]),
    "note": (
        "free text",
        [f"patient {n} came in with a cough and a headache of {n} days" for n in range(RECORDS)],
    ),
    "release": ("constant", ["2026"] * RECORDS),
    "deceased": ("category", ["yes" if n % 50 == 0 else None for n in range(RECORDS)]),
    "nothing": ("empty", [None] * RECORDS),
    "marked": ("empty", ["?"] * RECORDS),
    "parts": ("other", [[number] for number in range(RECORDS)]),
}


@pytest.fixture(scope="module")
def profiled() -> dict[str, dict[str, object]]:
    table = pl.DataFrame({name: values for name, (_, values) in COLUMNS.items()}, strict=False)
    return {row["column_name"]: row for row in rp.profile(table).collect().to_dicts()}


@each_cell("name", COLUMNS)
def test_a_column_looks_like_what_it_is(profiled: dict[str, dict[str, object]], name: str) -> None:
    assert profiled[name]["looks_like"] == COLUMNS[name][0]


def test_no_value_of_the_table_is_reported(
    profiled: dict[str, dict[str, object]],
) -> None:
    for name in ("record", "visitor_id", "note", "zip_code", "icd10"):
        reported = " ".join(
            str(value)
            for key, value in profiled[name].items()
            if key not in ("records", "distinct_values")
        )
        words = {str(value) for value in COLUMNS[name][1] if len(str(value)) > 2}
        assert not any(word in reported.split() for word in words), name
    assert profiled["marked"]["sentinels"] == ["?"]
