"""What columns of usual kinds look like."""

import random
from datetime import date, timedelta

import polars as pl
import pytest

import reid_sql.polars as rp

RNG = random.Random(7)  # noqa: S311 - tables, no secrets
RECORDS = 400
COLUMNS: dict[str, tuple[str, list[object]]] = {
    "record": ("identifier", [f"r{number:05}" for number in range(RECORDS)]),
    "number": ("identifier", list(range(1000, 1000 + RECORDS))),
    "visitor_id": ("repeated identifier", [number // 5 for number in range(RECORDS)]),
    "born": ("date", [date(1950, 1, 1) + timedelta(days=RNG.randrange(9000)) for _ in range(RECORDS)]),
    "seen": ("date", [f"{RNG.randint(1, 28)}.{RNG.randint(1, 12)}.2020" for _ in range(RECORDS)]),
    "zip_code": ("code", [RNG.randint(10_000, 99_999) for _ in range(RECORDS)]),
    "area": ("code", [f"0{RNG.randint(1000, 9999)}" for _ in range(RECORDS)]),
    "icd10": ("code", [f"{RNG.choice('ABCDEFGH')}{RNG.randint(10, 99)}" for _ in range(RECORDS)]),
    "age": ("number", [RNG.randint(0, 99) for _ in range(RECORDS)]),
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
    "nothing": ("empty", [None] * RECORDS),
    "marked": ("empty", ["?"] * RECORDS),
    "parts": ("other", [[number] for number in range(RECORDS)]),
}


@pytest.fixture(scope="module")
def profiled() -> dict[str, dict[str, object]]:
    table = pl.DataFrame({name: values for name, (_, values) in COLUMNS.items()}, strict=False)
    return {row["column_name"]: row for row in rp.profile(table).collect().to_dicts()}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_looks_like_what_it_is(profiled: dict[str, dict[str, object]], name: str) -> None:
    assert profiled[name]["looks_like"] == COLUMNS[name][0]


def test_no_value_of_the_table_is_told_but_marks(profiled: dict[str, dict[str, object]]) -> None:
    for name in ("record", "visitor_id", "note", "zip_code", "icd10"):
        told = " ".join(
            str(value) for key, value in profiled[name].items() if key not in ("records", "distinct_values")
        )
        words = {str(value) for value in COLUMNS[name][1] if len(str(value)) > 2}
        assert not any(word in told.split() for word in words), name
    assert profiled["marked"]["sentinels"] == ["?"]
