"""A adapter gives what the contract asks of it, by name and by parameters."""

import inspect
from importlib import import_module
from importlib.util import find_spec

import polars as pl
import pytest

from reid_sql.engines.contract import Adapter, Primitives, RecordAdapter
from reid_sql.engines.polars import adapter, frames
from reid_sql.function import ABSENT, Answer
from reid_sql.reduction import reductions
from tests.conformance.engines import Frames

pytestmark = pytest.mark.first(face=["polars"])

HANDING = ("ibis", "spark")  # engines that hand distinct records to DuckDB, where these suffice

# What binds each kind of answer that an engine may lack.
BINDERS = {Answer.SCALAR: "value", Answer.MODEL_SCORE: "score", Answer.SCORED_TABLE: "scored_table"}

# Held by the type checker.
KIT: RecordAdapter[pl.LazyFrame, pl.Expr] = adapter
RELATIONS: Primitives[pl.LazyFrame] = frames


def members(protocol: type) -> dict[str, object]:
    found = {**protocol.__annotations__, **vars(protocol)}
    return {name: member for name, member in found.items() if not name.startswith("_")}


def test_a_kit_gives_what_the_contract_asks(face: Frames) -> None:
    assert face.name == face.adapter.ENGINE
    lacked = {BINDERS[shape] for shape in ABSENT.get(face.name, {}) if shape in BINDERS}
    asked_of = members(Adapter) | members(RecordAdapter)
    assert all(hasattr(face.adapter, name) != (name in lacked) for name in asked_of)
    for name, member in asked_of.items():
        if name in lacked:
            continue
        given = getattr(face.adapter, name)
        if inspect.isfunction(member):
            asked = len(inspect.signature(member).parameters) - 1
            assert callable(given)
            assert len(inspect.signature(given).parameters) == asked


def test_the_relations_of_polars_are_those_of_the_contract() -> None:
    for name, member in members(Primitives).items():
        asked = [p for p in inspect.signature(member).parameters if p != "self"]  # type: ignore[arg-type]
        assert [*inspect.signature(getattr(RELATIONS, name)).parameters][: len(asked)] == asked


@pytest.mark.parametrize("name", reductions())
def test_an_engine_says_a_reduction_or_why_it_does_not(face: Frames, name: str) -> None:
    reduction = reductions()[name]
    message = find_spec(f"{reduction.package}.{face.name}") is not None and hasattr(
        import_module(f"{reduction.package}.{face.name}"), name
    )
    handed = face.name in HANDING and reduction.distinct and not message
    assert [message, bool(reduction.absences.get(face.name)), handed].count(True) == 1
