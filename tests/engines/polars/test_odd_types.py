"""Types of Polars that few tables have: durations, dates too far away to be written, Python objects."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

import polars as pl
import polars.selectors as cs
import pytest

import reid_sql.polars as rp
from reid_sql.engines.polars.records import texts_of
from reid_sql.errors import ReidError
from reid_sql.function import Answer
from reid_sql_udfs import declared
from tests.cells import each_cell
from tests.engines.asking import PEOPLE, given, same
from tests.matrices.engines import Frames
from tests.tiers import representatives

POLARS = Frames("polars")
AGES = PEOPLE["age"]
ODD: Mapping[str, pl.Series] = {
    "duration": AGES.cast(pl.Duration("us")),
    "far duration": (AGES + 2**62).cast(pl.Duration("ms")),
    "last dates": (2**31 - 1 - AGES).cast(pl.Int32).cast(pl.Date),
    "first dates": (AGES - 2**31).cast(pl.Int32).cast(pl.Date),
    "dates near and far": pl.Series(
        [dt.date(2020, 1, 1 + age % 28) if age % 2 else None for age in AGES], dtype=pl.Date
    ).zip_with(AGES % 2 == 1, (2**31 - AGES - 1).cast(pl.Int32).cast(pl.Date)),
    "last instants": pl.Series([2**63 - 1 - age for age in AGES]).cast(pl.Datetime("us")),
    "first instants": pl.Series([age - 2**63 for age in AGES]).cast(pl.Datetime("ms")),
    "instants of a zone": pl.Series([2**63 - 1 - age for age in AGES]).cast(
        pl.Datetime("us", "Europe/Paris")
    ),
}
FUNCTIONS = [
    name
    for name, function in declared().items()
    if not function.answer.of_rows
    and "tbl" in {p.name for p in function.parameters}
    and name not in {"load_model", "profile"}
]
PAIRED = ["compare"]


def asked(name: str, frame: pl.DataFrame) -> Any:
    function = declared()[name]
    if function.answer is Answer.SCORED_TABLE or "model" in given(function):
        rp.fit_copula("region", frame, ["age", "sex"]).collect()
    tables = {p.name: frame for p in function.parameters if p.name in {"tbl", "population_tbl"}}
    tables = tables or {"original": frame, "released": frame}
    if name == "journalist_risk":
        tables["population_tbl"] = frame
    return getattr(rp, name)(**tables, **given(function)).collect()


VALUES = ("age", "first_value", "second_value")
OF_TYPES = ("ordered", "earth_movers", "status")  # texts have no distance
# reductions of which a model draws in the order of the texts
MODELS = ("people", "evidence", "texts")
COUNTED = cs.by_name("population", "records", "records_dropped", "nulls", require_all=False)


def figures(name: str, ages: pl.Series) -> list[dict[str, Any]]:
    """What is counted of people of these ages, without the ages themselves; of an estimate what it is of."""
    function = declared()[name]
    answer: pl.DataFrame = asked(name, PEOPLE.with_columns(age=ages)).drop(
        *VALUES, *OF_TYPES, strict=False
    )
    if getattr(function.reduction, "name", "") in MODELS or "model" in given(function):
        return answer.select(COUNTED).unique().to_dicts()
    return answer.to_dicts()


@pytest.mark.first(name=representatives(), kind=["far duration"])
@each_cell("kind", ["far duration", "dates near and far", "first instants"])
@each_cell("name", [*FUNCTIONS, *PAIRED])
def test_every_function_answers_of_them(name: str, kind: str) -> None:
    """As of texts in the same order: Polars panics where a far date becomes a text or a Python value."""
    same(
        figures(name, ODD[kind]),
        figures(name, ODD[kind].rank("dense").cast(pl.String).str.zfill(2)),
    )


@each_cell("kind", ODD)
def test_each_value_has_a_text_of_its_own(kind: str) -> None:
    values = ODD[kind]
    texts = texts_of(values)
    assert texts.null_count() == values.null_count()
    assert (
        texts.n_unique()
        == values.n_unique()
        == pl.DataFrame([values, texts.alias("text")]).n_unique()
    )


@pytest.mark.first(name=representatives(), kind=["far duration"])
@each_cell("name", [*FUNCTIONS, *PAIRED])
def test_objects_are_refused_by_every_function(name: str) -> None:
    """Polars compares Python objects as Python does: 1 and 1.0 are one."""
    frame = PEOPLE.with_columns(
        pl.Series("age", [(1, "1", 1.0)[n % 3] for n in range(40)], dtype=pl.Object)
    )
    if "age" not in str(given(declared()[name])):
        return
    with pytest.raises(
        ReidError, match="must be of types that Polars compares, got 'age' of type Object"
    ):
        asked(name, frame)
