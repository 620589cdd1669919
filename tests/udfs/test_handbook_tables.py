"""The examples of the handbook of the makers of τ-ARGUS, by safe_table and audit_tables.

Handbook on Statistical Disclosure Control (sdctools.github.io/HandbookSDC), chapters 4 and 5: figures alone.
"""

from typing import Any

import polars as pl
import pytest

import reid_sql.polars as rp


def cell(contributions: list[float], **rules: Any) -> list[str]:
    """The rules that a cell of these contributions breaks."""
    frame = pl.DataFrame({"cell": "x", "turnover": contributions})
    [row] = rp.safe_table(frame, ["cell"], value="turnover", **rules).collect().to_dicts()
    return list(row["unsafe"])


def test_the_second_largest_contributor_estimates_the_largest_within_two_percent() -> None:
    """Chapter 4, example 1: 100,000 with 50,000 and 49,000 is safe by (1, 90), and not by the p % rule."""
    contributions = [50_000.0, 49_000.0, *[100.0] * 10]
    # 51,000 is 2 % above 50,000
    assert cell(contributions, dominance=[1, 0.9], p_percent=0.02) == []
    assert cell(contributions, dominance=[1, 0.9], p_percent=0.03) == ["p_percent"]
    assert cell(contributions, dominance=[2, 0.9], p_percent=0.0) == ["dominance"]


def test_three_contributions_of_which_one_dominates() -> None:
    """Chapter 4, example 4: 330 of 300, 20 and 10 is unsafe by (1, 85), as 300 is 91 % of it."""
    assert cell([300.0, 20.0, 10.0], dominance=[1, 0.85], p_percent=0.0, k=3) == ["dominance"]
    assert cell([300.0, 20.0, 10.0], dominance=[1, 0.92], p_percent=0.0, k=3) == []


def test_the_feasibility_intervals_of_four_hidden_cells() -> None:
    """Chapter 4, example 3, of Geurts 1992, table 10: the first cell is from 3 to 6."""
    rows = [
        *[(row, column, None) for row in (1, 2) for column in (1, 2)],
        *[(1, None, 7), (2, None, 3), (3, 1, 3), (3, 2, 3), (3, None, 6)],
        *[(None, 1, 9), (None, 2, 7), (None, None, 16)],
    ]
    table = pl.DataFrame(rows, schema=["row", "column", "records"], orient="row")
    found = rp.audit_tables([table], lowest=0).collect()
    hidden = found.filter(pl.col("kind") == "suppressed").to_dicts()
    intervals = {row["cell"]: (row["low"], row["high"]) for row in hidden}
    assert intervals == {
        "row = 1, column = 1": (3, 6),
        "row = 1, column = 2": (1, 4),
        "row = 2, column = 1": (0, 3),
        "row = 2, column = 2": (0, 3),
    }


def repeated(columns: list[str], counts: dict[tuple[str, str], int]) -> pl.DataFrame:
    return pl.DataFrame(
        [key for key, count in counts.items() for _ in range(count)], schema=columns, orient="row"
    )


MARITAL = {
    ("married", "M"): 38,
    ("married", "F"): 17,
    ("divorced", "M"): 7,
    ("divorced", "F"): 4,
    ("single", "M"): 3,
    ("single", "F"): 1,
}


def test_a_woman_who_is_single_is_alone() -> None:
    """Chapter 5, marital status by sex: with totals of 48 and 22, 70 in all, one cell is 1."""
    frame = repeated(["marital", "sex"], MARITAL)
    table = rp.safe_table(frame, ["marital", "sex"], k=2, totals="margins").collect()
    few = table.filter(pl.col("unsafe").list.contains("few_people"))
    assert few.select("marital", "sex", "records").rows() == [("single", "F", 1)]
    totals = table.filter(pl.col("total_over") == ["marital"]).sort("sex")
    assert totals["records"].to_list() == [22, 48]
    hidden = rp.safe_table(frame, ["marital", "sex"], k=2, totals="margins", suppress="primary")
    [found] = rp.audit_tables([hidden], k=2).collect().to_dicts()
    assert (found["finding"], found["low"]) == ("recovered", 1)


def test_everybody_who_is_married_works_full_time() -> None:
    """Chapter 5, marital status by hours: group disclosure, by a row that is all in one cell."""
    hours = {
        ("married", "full"): 6,
        ("divorced", "full"): 5,
        ("divorced", "part"): 1,
        ("single", "full"): 2,
        ("single", "part"): 2,
    }
    frame = repeated(["marital", "hours"], hours)
    table = rp.safe_table(frame, ["marital", "hours"], k=1, zeros="list").collect()
    rules = {(row["marital"], row["hours"]): row["unsafe"] for row in table.to_dicts()}
    assert rules["married", "full"] == ["all_in_one_cell"]
    assert rules["married", "part"] == ["nobody"]
    assert sum(bool(each) for each in rules.values()) == 2


def test_two_definitions_of_an_area_differ_by_five_people() -> None:
    """Chapter 5, geographical differencing: five people live in the one and not in the other."""
    newer = {">30": (50, 54), "16-30": (128, 140), "<=15": (39, 49)}
    older = {">30": (52, 55), "16-30": (130, 140), "<=15": (39, 49)}
    tables = [
        pl.DataFrame(
            [
                (hours, sex, n)
                for hours, counts in area.items()
                for sex, n in zip("MF", counts, strict=True)
            ],
            schema=["hours", "sex", "records"],
            orient="row",
        )
        for area in (older, newer)
    ]
    found = rp.audit_tables(tables, people="nested", k=5).collect()
    groups = found.filter(pl.col("kind") == "difference", pl.col("low") == pl.col("high"))
    by_cell = {tuple(row["categories"][:2]): row["low"] for row in groups.to_dicts()}
    assert {cell: n for cell, n in by_cell.items() if "(total)" not in cell} == {
        (">30", "M"): 2,
        (">30", "F"): 1,
        ("16-30", "M"): 2,
    }


@pytest.mark.parametrize("k", [3, 5])
def test_the_minimum_frequency_is_of_people(k: int) -> None:
    """Chapter 4, table of rules: a cell is unsafe below the minimum frequency, and safe at it."""
    assert ("few_people" in cell([1.0] * (k - 1), k=k), "few_people" in cell([1.0] * k, k=k)) == (
        True,
        False,
    )
