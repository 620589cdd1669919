"""Tests in two tiers: what a newcomer runs, and all others, which have the mark `all`.

All that lies in tests/all/ is of the second tier, and so are tests that are marked `pytest.mark.all`. Of a
matrix the first tier asks the cells that a mark names, as `pytest.mark.first(engine=["duckdb"])` does, or as
many as `pytest.mark.first(cells=6)` says, from all over it. Cells that one case asks (tests/cells.py) are
divided alike: `[first]` asks those of the first tier and `[rest]` all others; `[every]` asks all, where no
mark divides them.
"""

from collections.abc import Callable, Iterator, Sequence
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
Cell = dict[str, Any]
TIER: Final = "tier"  # the parameter of a case that asks many cells
CELL: Final = "--cell"  # the option that chooses cells by a value
BESIDE: Final = ("spark", "postgres", "mariadb", "real_data", "dbt", "serve", "workbenches")


@cache
def representatives() -> list[str]:
    """One function for each shape of answer of each family of reductions: the first by name."""
    found: dict[object, str] = {}
    for name, each in sorted(declared().items()):
        found.setdefault((each.answer, each.reduction.family if each.reduction else ""), name)
    return list(found.values())


def is_asked(item: pytest.Item) -> bool:
    """Whether a tier asks the case here: of tests that a file imports with their fixtures it asks none."""
    return not is_imported(item) and bool(cells_of(item))


def cells_of(item: pytest.Item) -> list[Cell]:
    """The cells that a case asks; of a case that is a cell itself, this one."""
    parameters = _parameters(item)
    cells = _cells(item)
    if TIER in parameters:
        first = set(_first_of(item, cells))
        asked = {"first": first, "rest": {*range(len(cells))} - first}
        chosen = asked.get(parameters[TIER], {*range(len(cells))})
        value = item.config.getoption(CELL, "")
        cells = [
            cell
            for place, cell in enumerate(cells)
            if place in chosen and (not value or value in map(str, cell.values()))
        ]
    test = getattr(item, "originalname", "")
    return [cell for cell in cells if not is_repeated(test, parameters | cell)]


def tiers_of(definition: pytest.Item) -> list[Any]:
    """The cases of a test of many cells: one for each tier that asks some."""
    cells = _cells(definition)
    first = len(_first_of(definition, cells))
    if first == len(cells):
        return ["every"]
    rest = pytest.param("rest", marks=pytest.mark.all)
    return ["first", rest] if first else [rest]


def _cells(item: pytest.Item) -> list[Cell]:
    return getattr(getattr(item, "obj", None), "cells", [{}])


def _first_of(item: pytest.Item, cells: Sequence[Cell]) -> list[int]:
    """The places of the cells of the first tier, by the marks."""
    places = [place for place, cell in enumerate(cells) if all(map(_allows(cell), _marks(item)))]
    number = _number(item)
    if number and number < len(places):
        return [places[place * len(places) // number] for place in range(number)]
    return places


def _marks(item: pytest.Item) -> list[pytest.Mark]:
    return list(item.iter_markers("first"))


def _allows(cell: Cell) -> Callable[[pytest.Mark], bool]:
    return lambda mark: all(
        cell[name] in values for name, values in mark.kwargs.items() if name in cell
    )


def _number(item: pytest.Item) -> int:
    """How many cells the first tier asks, where a mark limits it."""
    return next((each.kwargs["cells"] for each in _marks(item) if "cells" in each.kwargs), 0)


def second_tier(items: Sequence[pytest.Item]) -> Iterator[pytest.Item]:
    """Find the tests that are not of the first tier, among all that were collected."""
    matrices: dict[tuple[Path, str], list[pytest.Item]] = {}
    for item in items:
        if item.path.is_relative_to(ALL) or not all(map(_allows(_parameters(item)), _marks(item))):
            yield item
        elif TIER not in _parameters(item):
            matrices.setdefault((item.path, getattr(item, "originalname", "")), []).append(item)
    for cells in matrices.values():
        if number := _number(cells[0]):
            chosen = {place * len(cells) // number for place in range(number)}
            yield from (cell for place, cell in enumerate(cells) if place not in chosen)


def is_repeated(test: str, cell: Cell) -> bool:
    """Whether the cell asks DuckDB what another cell has asked it.

    What an engine does not count, DuckDB answers from what the engine reads. One function of each shape shows
    that all goes through; each other function is asked once, by ASKED_OF_EACH.
    """
    named = next((str(cell[name]) for name in ENGINES if name in cell), DUCKDB)
    engine = named.partition(" ")[0]  # of "ibis on duckdb"
    function = declared().get(cell.get("name", ""))
    if engine == DUCKDB or function is None or test in ASKED_OF_EACH:
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


def is_imported(item: pytest.Item) -> bool:
    function = getattr(item, "function", None)
    return getattr(function, "__module__", "") != getattr(
        getattr(item, "module", None), "__name__", ""
    )


def _parameters(item: pytest.Item) -> Cell:
    found = getattr(item, "callspec", None)
    return found.params if found else {}
