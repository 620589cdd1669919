"""Tests in two tiers: tests/ is what a newcomer runs, tests/all/ has all others.

Of a matrix tests/ asks the cells that a mark names: `pytest.mark.first(engine=["duckdb"], name=["compare"])`.
The file of the same name in tests/all/ imports the tests, and asks all other cells.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from reid_sql_udfs import declared

FIRST: Final = Path(__file__).parent
ALL: Final = FIRST / "all"
# What a test of the first tier must not need, by the name of a mark or a fixture.
BESIDE: Final = ("spark", "postgres", "mariadb", "real_data", "dbt", "serve", "workbenches")


def representatives() -> list[str]:
    """One function for each shape of answer of each family of reductions: the first by name."""
    found: dict[object, str] = {}
    for name, each in sorted(declared().items()):
        found.setdefault((each.answer, each.reduction.family if each.reduction else ""), name)
    return list(found.values())


def is_chosen(item: pytest.Item) -> bool:
    """Whether the tier of the test's file asks it."""
    if not item.path.is_relative_to(ALL):
        return is_first(item)
    return not is_imported(item) or not is_first(item)


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
