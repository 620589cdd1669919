"""Tests in two tiers: what a newcomer runs, and all others, which have the mark `all`.

All that lies in tests/all/ is of the second tier, and so are tests that are marked `pytest.mark.all`. Of a
matrix the first tier asks the cells that a mark names: `pytest.mark.first(engine=["duckdb"], name=["compare"])`.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from reid_sql.function import Function
from reid_sql.reduction import DUCKDB, has_implementation
from reid_sql_udfs import declared

FIRST: Final = Path(__file__).parent
ALL: Final = FIRST / "all"
# What a test of the first tier must not need, by the name of a mark or a fixture.
ENGINES: Final = ("engine", "face", "asked")  # parameters of tests that name an engine
ASKED_OF_EACH: Final = ("test_it_answers_as_another_engine_does",)
BESIDE: Final = ("spark", "postgres", "mariadb", "real_data", "dbt", "serve", "workbenches")


@cache
def representatives() -> list[str]:
    """One function for each shape of answer of each family of reductions: the first by name."""
    found: dict[object, str] = {}
    for name, each in sorted(declared().items()):
        found.setdefault((each.answer, each.reduction.family if each.reduction else ""), name)
    return list(found.values())


def is_asked(item: pytest.Item) -> bool:
    """Whether a tier asks the cell here: a file may import tests with their fixtures, and asks none of them."""
    return not is_repeated(item) and not is_imported(item)


def is_of_second_tier(item: pytest.Item) -> bool:
    return item.path.is_relative_to(ALL) or not is_first(item)


def is_repeated(item: pytest.Item) -> bool:
    """Whether the cell asks DuckDB what another cell has asked it.

    What an engine does not count, DuckDB answers from what the engine reads. One function of each shape shows
    that all goes through; each other function is asked once, by ASKED_OF_EACH.
    """
    cell = _parameters(item)
    named = next((str(cell[name]) for name in ENGINES if name in cell), DUCKDB)
    engine = named.partition(" ")[0]  # of "ibis on duckdb"
    function = declared().get(cell.get("name", ""))
    if engine == DUCKDB or function is None or getattr(item, "originalname", "") in ASKED_OF_EACH:
        return False
    return not counts_itself(function, engine) and function.name not in left_to_duckdb(engine)


def counts_itself(function: Function, engine: str) -> bool:
    """Whether the engine answers, or counts what the function answers from."""
    reduction = function.reduction
    return function.answer.of_rows or (
        reduction is not None and has_implementation(reduction.family, engine)
    )


@cache
def left_to_duckdb(engine: str) -> list[str]:
    """One function for each shape of answer, of those that the engine leaves to DuckDB."""
    first: dict[object, str] = {}
    for name, each in sorted(declared().items()):
        if not counts_itself(each, engine):
            first.setdefault(each.answer, name)
    return list(first.values())


def is_first(item: pytest.Item) -> bool:
    """Whether it is no cell of a matrix, or one of the first."""
    cell = _parameters(item)
    return all(
        cell[name] in values
        for mark in item.iter_markers("first")
        for name, values in mark.kwargs.items()
        if name in cell
    )


def is_imported(item: pytest.Item) -> bool:
    function = getattr(item, "function", None)
    return getattr(function, "__module__", "") != getattr(
        getattr(item, "module", None), "__name__", ""
    )


def _parameters(item: pytest.Item) -> Mapping[str, Any]:
    found = getattr(item, "callspec", None)
    return found.params if found else {}
