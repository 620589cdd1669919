"""A test of many cells as one case: it asks each cell, and its failure names every cell that failed.

`@each_cell("name", names)` is written where `@pytest.mark.parametrize` would make a case of each value. A
matrix then costs one case and sets up its fixtures once. tests/tiers.py chooses the cells that a tier asks.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import wraps
from inspect import Parameter, Signature, signature
from itertools import product
from typing import Any, Final

import pytest

from tests.tiers import TIER, Cell, cells_of

Test = Callable[..., None]
FAILURES: Final = (Exception, pytest.fail.Exception)
LONGEST: Final = 80  # letters of a value, or of an error, in the list of failures


def each_cell(
    names: str, values: Iterable[Any], *, after: Callable[[Any], object] | None = None
) -> Callable[[Test], Test]:
    """Ask the test each value in one case; several of these ask each combination, the lowest first.

    `after` is called with the fixture `con`, where the test has it, once a cell is over.
    """
    parameters = [name.strip() for name in names.split(",")]
    values = list(values)
    assert not any(isinstance(each, type(pytest.param())) for each in values), (
        "a cell has no marks of its own"
    )
    rows = [tuple(each) if len(parameters) > 1 else (each,) for each in values]
    added: list[Cell] = [dict(zip(parameters, row, strict=True)) for row in rows]

    def decorate(test: Test) -> Test:
        inner: list[Cell] = getattr(test, "cells", [{}])
        cells = [{**outer, **cell} for outer, cell in product(added, inner)]
        loop = _loop(getattr(test, "body", test), cells, after or getattr(test, "after", None))
        loop.__dict__["pytestmark"] = [*getattr(test, "pytestmark", [])]
        return loop

    return decorate


def _loop(body: Test, cells: list[Cell], after: Callable[[Any], object] | None) -> Test:
    named = {name for cell in cells for name in cell}
    fixtures = [each for name, each in signature(body).parameters.items() if name not in named]
    added = [name for name in ("request", TIER) if name not in signature(body).parameters]

    @wraps(body)
    def ask(**given: Any) -> None:
        chosen = cells_of(given["request"].node)
        own = {each.name: given[each.name] for each in fixtures}
        failures: list[BaseException] = []
        told: list[str] = []
        for number, cell in enumerate(chosen):
            try:
                with _isolate(own, number, after) as isolated:
                    body(**isolated, **cell)
            except FAILURES as error:
                failures.append(error)
                told.append(f"{_describe(cell)}: {type(error).__name__}: {_shorten(str(error))}")
        if failures:
            head = f"{len(failures)} of {len(chosen)} cells failed"
            raise BaseExceptionGroup("\n  ".join([head, *told]), failures)

    keyword = Parameter.KEYWORD_ONLY
    wanted = [Parameter(name, keyword) for name in added]
    ask.__signature__ = Signature([*(each.replace(kind=keyword) for each in fixtures), *wanted])  # type: ignore[attr-defined]
    ask.__dict__ |= {"cells": cells, "body": body, "after": after}
    return ask


@contextmanager
def _isolate(
    fixtures: Mapping[str, Any], number: int, after: Callable[[Any], object] | None
) -> Iterator[dict[str, Any]]:
    """Give each cell a folder of its own, take its patches back, and restore the connection."""
    given = dict(fixtures)
    with ExitStack() as stack:
        if after and "con" in given:
            stack.callback(after, given["con"])
        if "tmp_path" in given:
            given["tmp_path"] = given["tmp_path"] / str(number)
            given["tmp_path"].mkdir()
        if "monkeypatch" in given:
            given["monkeypatch"] = stack.enter_context(given["monkeypatch"].context())
        yield given


def _describe(cell: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_shorten(_name(value))}" for name, value in cell.items())


def _name(value: Any) -> str:
    return getattr(value, "__name__", "") or repr(value)


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"
