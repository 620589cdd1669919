"""Every plan writes the query that its fixture shows; `python -m tools.plans` writes the fixtures anew."""

from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import duckdb
import pytest

import reid_sql
from reid_sql.reduction import reductions
from tools.plans import files, renewed


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        reid_sql.register(connection)
        yield connection


@pytest.mark.parametrize("path", files(), ids=lambda path: path.stem)
def test_a_plan_writes_the_query_that_its_fixture_shows(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert renewed(con, text) == text


@pytest.mark.parametrize("name", reductions())
def test_every_reduction_with_a_plan_has_a_fixture(name: str) -> None:
    reduction = reductions()[name]
    spelled = resources.files(reduction.room).joinpath("duckdb.sql")
    if not reduction.arguments:  # counted by a window, not by a plan
        assert name == "class_size"
        return
    assert f"PLAN reid_plan_{name}(" in spelled.read_text(encoding="utf-8")
    family = reduction.room.rpartition(".")[2]
    assert any(path.stem.startswith(name) and path.parts[-3] == family for path in files())
