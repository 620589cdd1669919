"""What databases count by Ibis is what Polars counts; those that have no windows by Ibis say so."""

from typing import Any

import polars as pl
import pytest

import reid_sql.ibis as ri
import reid_sql.polars as rp
from reid_sql.engines.ibis.frames import collected
from reid_sql.errors import UnavailableError
from tests.cells import each_cell
from tests.engines.asking import PEOPLE, same
from tests.warehouses import connected, put

pytestmark = pytest.mark.first(database=["sqlite"])

QI, TWO = ["age", "sex", "region"], ["age", "sex"]
FRAME = PEOPLE.with_row_index("row").cast({"row": pl.Int64})
COUNTED: list[tuple[str, list[Any], dict[str, Any]]] = [
    *(("class_size_histogram", [QI], {"nulls": nulls}) for nulls in ("value", "drop", "wildcard")),
    *(("equivalence_classes", [TWO], {"nulls": nulls}) for nulls in ("value", "drop", "wildcard")),
    *(("attribute_risk", [QI], {"nulls": nulls}) for nulls in ("value", "drop", "wildcard")),
    ("equivalence_classes", [TWO], {"entity": "region"}),
    ("risk_summary", [QI], {"threshold": 0.4}),
    ("pyc_forecast", [QI, [1e6]], {}),
    ("l_diversity", [["age"], "sex"], {}),
    ("l_diversity", [["age"], "sex"], {"entity": "id"}),
    ("l_diversity", [["age"], "region"], {"variant": "entropy"}),
    ("disclosing_classes", [["age"], "sex"], {"threshold": 2.5}),
    ("attribute_disclosure", [["age"], "region"], {}),
    ("disclosing_classes", [["age"], "region"], {"measure": "alpha_k_anonymity", "threshold": 0.3}),
    *(
        (
            "attribute_disclosure",
            [["age"], "region"],
            {"measure": "beta_likeness", "variant": variant},
        )
        for variant in ("basic", "enhanced")
    ),
    *(
        (
            "attribute_disclosure",
            [["age"], "region"],
            {"measure": "delta_disclosure", "variant": variant},
        )
        for variant in ("present", "all")
    ),
    (
        "disclosing_classes",
        [["age"], "region"],
        {"measure": "beta_likeness", "variant": "enhanced"},
    ),
    ("class_size_histogram", [["age"]], {"by": ["sex"]}),
    *(
        ("attribute_risk", [TWO], {"nulls": nulls, "entity": "region"})
        for nulls in ("value", "drop")
    ),
]
IN_WINDOWS: list[tuple[str, list[Any], dict[str, Any]]] = [
    ("class_size_histogram", [TWO], {"entity": "region"}),
    ("class_size_histogram", [["age"]], {"by": ["sex"], "nulls": "drop"}),
    ("risk_summary", [["age"]], {"by": ["sex"], "nulls": "drop", "entity": "region"}),
    ("pyc_fit", [TWO], {"entity": "region"}),
    ("l_diversity", [["age"], "region"], {"variant": "recursive", "c": 2}),
    ("t_closeness", [["age"], "region"], {}),
    ("disclosing_classes", [["age"], "region"], {"measure": "t_closeness", "threshold": 0.1}),
]
DATABASES = ("sqlite", "datafusion", "polars")
WITH_WINDOWS = ("sqlite", "datafusion")


@pytest.fixture(scope="module", params=DATABASES)
def database(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def table(database: str) -> Any:
    return put(connected(database), FRAME)


def rows(
    name: str, table: Any, arguments: list[Any], options: dict[str, Any]
) -> list[dict[str, Any]]:
    found = collected(getattr(ri, name)(table, *arguments, **options), "an answer")
    return found.to_pylist()  # type: ignore[no-any-return]


def expected(name: str, arguments: list[Any], options: dict[str, Any]) -> list[dict[str, Any]]:
    answer: pl.LazyFrame = getattr(rp, name)(FRAME.lazy(), *arguments, **options)
    return answer.collect().to_dicts()


@each_cell("name, arguments, options", COUNTED)
@pytest.mark.first(cells=8)
def test_a_database_counts_as_polars_does(
    table: Any, name: str, arguments: list[Any], options: dict[str, Any]
) -> None:
    same(rows(name, table, arguments, options), expected(name, arguments, options))


@each_cell("name, arguments, options", IN_WINDOWS)
def test_what_needs_windows_is_counted_or_refused(
    database: str, table: Any, name: str, arguments: list[Any], options: dict[str, Any]
) -> None:
    if database in WITH_WINDOWS:
        same(rows(name, table, arguments, options), expected(name, arguments, options))
        return
    with pytest.raises(
        UnavailableError, match=r"window must be asked .* pass the frame to reid_sql\.polars$"
    ):
        rows(name, table, arguments, options)


@each_cell("options", [{}, {"nulls": "drop"}, {"nulls": "wildcard"}])
def test_a_population_is_counted_as_polars_does(
    database: str, table: Any, options: dict[str, Any]
) -> None:
    half = FRAME.head(20)
    part = put(connected(database), half)
    for tables, frames in (((part, table), (half, FRAME)), ((table, part), (FRAME, half))):
        found = collected(ri.journalist_risk(*tables, QI, **options), "an answer").to_pylist()
        own, other = frames
        lazy = rp.journalist_risk(own.lazy(), other.lazy(), QI, **options)
        same(found, lazy.collect().to_dicts())


@pytest.mark.parametrize("database", WITH_WINDOWS)
def test_records_stand_beside_the_size_of_their_class(database: str) -> None:
    table = put(connected(database), FRAME)
    sized = ri.equivalence_class_size(table, *QI, name="k").select("row", "k")
    people = ri.equivalence_class_people(table, "region", *TWO, name="k").select("row", "k")
    reported = FRAME.select("row", k=rp.equivalence_class_size(*QI))
    same(collected(sized, "").to_pylist(), reported.to_dicts())
    reported = FRAME.select("row", k=rp.equivalence_class_people("region", *TWO))
    same(collected(people, "").to_pylist(), reported.to_dicts())
