"""A adapter gives what the contract asks of it, by name and by parameters."""

import inspect

import polars as pl
import pytest

from reid_sql.client.calls import Place
from reid_sql.engines.contract import Adapter, RecordAdapter
from reid_sql.engines.polars import adapter
from reid_sql.function import ABSENT, Answer
from reid_sql.reduction import has_implementation, implementation, reductions
from tests.cells import each_cell
from tests.matrices.engines import Frames

pytestmark = pytest.mark.first(face=["polars"])


# What binds each kind of answer that an engine may lack.
BINDERS = {Answer.SCALAR: "value", Answer.MODEL_SCORE: "score", Answer.SCORED_TABLE: "scored_table"}

# Held by the type checker.
KIT: RecordAdapter[pl.LazyFrame, pl.Expr] = adapter


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


def parameters_of(member: object) -> list[str]:
    return [each for each in inspect.signature(member).parameters if each != "self"]  # type: ignore[arg-type]


def test_a_place_reads_what_duckdb_answers_from(face: Frames) -> None:
    """Where codes take the place of values, that is a class of a call."""
    place = getattr(face.adapter, "CodedRecords", face.adapter)
    for name, member in members(Place).items():
        assert parameters_of(getattr(place, name)) == parameters_of(member)


@each_cell("name", reductions())
def test_an_engine_counts_each_reduction_of_a_family_or_none(face: Frames, name: str) -> None:
    reduction = reductions()[name]
    if has_implementation(reduction.family, face.name) and not reduction.absences.get(face.name):
        assert callable(implementation(reduction, face.name))
