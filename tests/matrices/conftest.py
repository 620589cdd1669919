"""One fixture for every engine: a new one joins by its adapter's folder.

Spark's cases share the one session of all tests, and those of PostgreSQL one server.
"""

from functools import cache
from typing import Any

import pytest

from reid_sql.engines.public_api import GROUND
from tests.matrices.engines import ENGINES, Engine, Remembered, engine_named

named = cache(engine_named)
remembered = cache(lambda name: Remembered(named(name)))

MARKS = {"spark": pytest.mark.spark, "ibis on postgres": pytest.mark.postgres}


def params(engines: list[str]) -> list[Any]:
    return [pytest.param(each, marks=MARKS[each]) if each in MARKS else each for each in engines]


def started(request: pytest.FixtureRequest) -> Engine:
    if request.param == "spark":
        request.getfixturevalue("spark")
    if request.param == "ibis on postgres":
        return named(request.param, request.getfixturevalue("postgres"))
    return named(request.param)


@pytest.fixture(params=params(ENGINES))
def engine(request: pytest.FixtureRequest) -> Engine:
    return started(request)


@pytest.fixture
def other(engine: Engine) -> Engine:
    """The engine that the answers are held against: none is its own judge."""
    return remembered("polars" if engine.name == GROUND else GROUND)


@pytest.fixture(params=params([each for each in ENGINES if each != GROUND]))
def face(request: pytest.FixtureRequest) -> Engine:
    """An engine of dataframes."""
    return started(request)
