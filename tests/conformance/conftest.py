"""One fixture for every engine: a new one joins by its kit's folder. Spark's cases share the one session of all tests."""

from functools import cache

import pytest

from tests.conformance.engines import ENGINES, Engine, engine_named

named = cache(engine_named)


@pytest.fixture(
    params=[pytest.param(each, marks=pytest.mark.spark) if each == "spark" else each for each in ENGINES]
)
def engine(request: pytest.FixtureRequest) -> Engine:
    if request.param == "spark":
        request.getfixturevalue("spark")
    return named(request.param)


@pytest.fixture
def other(engine: Engine) -> Engine:
    """The engine that the answers are held against: none is its own judge."""
    return named("polars" if engine.name == "duckdb" else "duckdb")
