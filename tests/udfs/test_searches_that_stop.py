"""Searches of sets of columns that stop before the whole table: each says so, also where it found nothing."""

from itertools import product
from typing import Any

import polars as pl
import pytest

from tests.cells import each_cell
from tests.tables import by_both

OUTPUTS = {name: {"output": name} for name in ("scores", "subsets", "columns")}
FUNCTIONS = (*OUTPUTS, "unsafe_combinations", "attribute_risk")
# Every combination of five values of two kinds, once: a record is unique by all five columns, and by no four.
FIVE = pl.DataFrame(list(product((0, 1), repeat=5)), schema=["a", "b", "c", "d", "e"], orient="row")
STOPPED = "incomplete: sets of more than {} of the 5 columns were not searched"


def answers(name: str, frame: pl.DataFrame, **options: Any) -> list[list[dict[str, Any]]]:
    """Ask a function, or an output of suda_scores, about the five columns."""
    function = "suda_scores" if name in OUTPUTS else name
    return by_both(function, {"t": frame}, FIVE.columns, **OUTPUTS.get(name, {}), **options)


@each_cell("function", FUNCTIONS)
@each_cell("size", [1, 4, 5, 7])
def test_every_row_says_whether_larger_sets_were_searched(function: str, size: int) -> None:
    k = {"k": 2} if function == "unsafe_combinations" else {}
    for answer in answers(function, FIVE, max_size=size, **k):
        assert {row["status"] for row in answer} == {STOPPED.format(size) if size < 5 else "ok"}
        if function != "attribute_risk":
            found = [row for row in answer if row.get("record") is not None or row.get("columns")]
            assert len(answer) == max(1, len(found))
            assert bool(found) == (size >= 5)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_default_says_so_too(function: str) -> None:
    default = 4 if function in OUTPUTS else 3
    for answer in answers(function, FIVE):
        assert {row["status"] for row in answer} == {STOPPED.format(default)}


@pytest.mark.parametrize("function", OUTPUTS)
def test_a_complete_search_that_finds_nobody_has_no_row(function: str) -> None:
    twice = pl.concat([FIVE, FIVE])
    assert answers(function, twice, max_size=5) == [[], []]
    for answer in answers(function, FIVE.with_row_index("id"), key="id"):
        assert [row["record"] for row in answer] == [None]
    for answer in answers(function, FIVE.with_row_index("id"), entity="id"):
        assert [row["record"] for row in answer] == [None]
