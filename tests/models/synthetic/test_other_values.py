"""Tables that write values differently, columns in another order, and the risk next to the excess."""

import random
import unicodedata
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from tests.tables import by_polars

COLUMNS = ["age", "town", "job"]


def people(rng: random.Random, records: int) -> pl.DataFrame:
    rows = [
        (rng.randrange(20, 80), f"Orléans{rng.randrange(40)}", f"j{rng.randrange(30)}")
        for _ in range(records)
    ]
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


WRITTEN: dict[str, Callable[[str], str]] = {
    "in capitals": str.upper,
    "with a space": lambda text: f"{text} ",
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "one in forty in capitals": lambda text: text.upper() if text.endswith("s7") else text,
    "one in forty with a zero": lambda text: (
        text.replace("s7", "s 7") if text.endswith("s7") else text
    ),
    "one in three in capitals": lambda text: text.upper() if text[-1] in "036" else text,
}


MARKED: dict[str, Callable[[int], str]] = {
    "thousands": lambda number: f"{number:,}",
    "points between thousands": lambda number: f"{number:,}".replace(",", "."),
    "spaces between thousands": lambda number: f"{number:,}".replace(",", " "),
    "a point and zeros": lambda number: f"{number}.00",
    "a decimal comma": lambda number: f"{number},0",
}


@pytest.mark.parametrize("how", MARKED)
def test_a_copy_with_other_marks_of_numbers_is_not_judged(how: str) -> None:
    """Of incomes up to 100,000 one in a hundred is below 1,000, so that some are written alike."""
    rng = random.Random(7)  # noqa: S311 - no secret
    incomes = [[rng.randrange(100_000) for _ in range(400)] for _ in range(2)]
    original, holdout = (
        pl.DataFrame({"sex": [rng.choice("fm") for _ in each], "income": list(map(str, each))})
        for each in incomes
    )
    copies = {False: map(MARKED[how], incomes[0]), True: map(str, incomes[0])}
    for is_judged, written in copies.items():
        copy = original.with_columns(pl.Series("income", list(written)))
        rows = by_polars("audit_synthetic", original, copy, ["sex", "income"], holdout=holdout)
        assert any(row["status"] == "ok" for row in rows) is is_judged


@pytest.mark.parametrize("how", WRITTEN)
@pytest.mark.first(cells=2)
def test_a_copy_that_is_written_differently_is_not_judged(how: str) -> None:
    rng = random.Random(1)  # noqa: S311 - no secret
    original, holdout = people(rng, 300), people(rng, 300)
    towns = [WRITTEN[how](town) for town in original["town"]]
    copy = original.with_columns(pl.Series("town", towns))
    for other, expected in ((copy, False), (original, True), (people(rng, 300), True)):
        rows = by_polars("audit_synthetic", original, other, COLUMNS, holdout=holdout)
        assert any(row["status"] == "ok" for row in rows) is expected, how
        if not expected:
            assert any(
                "_comparable: " in row["status"] and "'town'" in row["status"] for row in rows
            )


def test_numbers_in_another_unit_are_not_compared() -> None:
    rng = random.Random(2)  # noqa: S311 - no secret
    original, holdout = people(rng, 200), people(rng, 200)
    months = original.with_columns(pl.col("age") * 12)
    rows = by_polars("audit_synthetic", original, months, COLUMNS, holdout=holdout)
    assert not any(row["status"] == "ok" for row in rows)


def test_no_figure_depends_on_the_order_of_columns() -> None:
    rng = random.Random(3)  # noqa: S311 - no secret
    original, synthetic, holdout = (people(rng, 60) for _ in range(3))

    def figures(columns: list[str]) -> list[Any]:
        rows = by_polars("audit_synthetic", original, synthetic, columns, holdout=holdout)
        return sorted(tuple(map(str, row.values())) for row in rows)

    assert figures(COLUMNS) == figures(COLUMNS[::-1]) == figures(["town", "age", "job"])


def test_risk_is_the_excess_of_those_whom_nothing_else_betrays() -> None:
    rng = random.Random(4)  # noqa: S311 - no secret
    original, holdout = people(rng, 100), people(rng, 100)
    rows = by_polars("audit_synthetic", original, original, COLUMNS, holdout=holdout)
    shares = [row for row in rows if row["figure"] == "share" and row["holdout"] < 1]
    assert shares
    for row in shares:
        assert row["risk"] == pytest.approx(
            (row["original"] - row["holdout"]) / (1 - row["holdout"])
        )


def test_copies_that_rest_on_values_of_one_person_have_a_status() -> None:
    rng = random.Random(5)  # noqa: S311 - no secret

    def table(first: int) -> pl.DataFrame:  # two of three people have a number of their own
        rows = [(first + n if n % 3 else 0, rng.randrange(3), rng.randrange(4)) for n in range(400)]
        return pl.DataFrame(rows, schema=["number", "town", "job"], orient="row")

    original, holdout = table(1000), table(5000)
    columns = [rng.choices(original[name].to_list(), k=400) for name in original.columns]
    marginals = pl.DataFrame(dict(zip(original.columns, columns, strict=True)))
    common = [
        pl.DataFrame([[rng.randrange(60) for _ in range(400)] for _ in range(4)]) for _ in range(2)
    ]
    asked = (
        ((original, marginals, holdout), "rare_values"),
        ((common[0], common[0], common[1]), "ok"),
    )
    for (used, synthetic, others), code in asked:
        rows = by_polars("audit_synthetic", used, synthetic, used.columns, holdout=others)
        copied = next(row for row in rows if row["attack"] == "copied_records")
        assert copied["low"] > 0
        assert copied["status"].split(":")[0] == code
