"""A source that draws its rows anew (random(), a sample, uuid(), nextval()) is read once by each call.

A sequence counts the rows that DuckDB reads: the view's filter takes a number of it for each. A second read
would take as many again. Rows that a call drops may be left out before.
"""

from typing import Any

import duckdb
import pytest

import reid_sql
from reid_sql.function import Function, output_of
from reid_sql.parameters import Choice, OptionalTable, Table
from reid_sql.parameters.outputs import Parameter
from reid_sql_udfs import declared
from tests.cells import each_cell
from tests.engines.asking import PEOPLE
from tests.matrices.engines import Sql
from tests.matrices.test_functions import QI, question
from tests.outputs import outputs
from tests.tiers import representatives

MEASURES_OF_ONE_FUNCTION = {
    "alpha_k_anonymity": "attribute_disclosure",
    "beta_likeness": "attribute_disclosure_beta_likeness",
    "delta_disclosure": "attribute_disclosure_delta_disclosure",
}
pytestmark = pytest.mark.first(name=representatives(), option=[""])


def _is_optional(parameter: Parameter) -> bool:
    return parameter.name in OPTIONS and not isinstance(parameter.domain, Choice)


TABLES = {
    key: output
    for key, output in outputs().items()
    if not output.answer.of_rows and any(isinstance(p.domain, Table) for p in output.parameters)
}
OPTIONS: dict[str, Any] = {"by": ["age"], "entity": "id", "weight": "id"}
CASES = [
    (name, option, word)
    for name, output in TABLES.items()
    for option, word in [
        ("", None),
        *((p.name, OPTIONS[p.name]) for p in output.parameters if _is_optional(p)),
        *(
            (p.name, w)
            for p in output.parameters
            if isinstance(p.domain, Choice)
            for w in p.domain.words
        ),
    ]
]


def measures_with_variants() -> list[str]:
    """The measures of disclosing_classes that have variants of their own."""
    measure = next(p for p in declared()["disclosing_classes"].parameters if p.name == "measure")
    assert isinstance(measure.domain, Choice)
    return [each for each in measure.domain.words if _variants(each)]


def _variants(name: str) -> tuple[str, ...]:
    output = output_of(MEASURES_OF_ONE_FUNCTION.get(name, name), declared())
    found = (p.domain for p in output.parameters if p.name == "variant")
    return next((domain.words for domain in found if isinstance(domain, Choice)), ())


@pytest.fixture(scope="module")
def con() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    reid_sql.register(con)
    con.register("people_frame", PEOPLE.to_arrow())
    con.execute("CREATE TABLE people AS SELECT * REPLACE (id + 1 AS id) FROM people_frame")
    con.execute(f"FROM fit_copula('region', people, {QI})").fetchall()
    con.execute("CREATE TABLE models AS FROM model_json('region')")
    return con


def times_read(
    con: duckdb.DuckDBPyConnection, function: Function, given: dict[str, Any]
) -> dict[str, float]:
    """How often the call reads each table, which is behind a view that counts the rows."""
    sql, tables = Sql().sql(function, given), {}
    for p in function.parameters:
        if not isinstance(p.domain, Table | OptionalTable) or p.name not in given:
            continue
        table = "models" if function.name == "load_model" else "people"
        con.execute(f"CREATE OR REPLACE SEQUENCE seen_{p.name}")
        con.execute(
            f"CREATE OR REPLACE VIEW \"{p.name}\" AS SELECT * FROM {table} WHERE nextval('seen_{p.name}') > 0"
        )
        tables[p.name] = con.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0]
    con.execute(sql).fetchall()
    found = con.execute(
        "SELECT sequence_name, coalesce(last_value, 0) FROM duckdb_sequences()"
    ).fetchall()
    taken = {name.removeprefix("seen_"): number for name, number in found}
    return {name: taken[name] / rows for name, rows in tables.items()}


@each_cell("name, option, word", CASES)
def test_a_call_reads_each_table_once(
    con: duckdb.DuckDBPyConnection, name: str, option: str, word: Any
) -> None:
    output = TABLES[name]
    given = question(Sql(), output) | output.preset | ({option: word} if option else {})
    if name == "disclosing_classes" and option == "variant":
        given["measure"] = next(
            each for each in measures_with_variants() if word in _variants(each)
        )
    if option == "output" and name == "safe_table":  # of a table that hides what is unsafe
        given["suppress"] = "secondary"
    if option == "entity":  # who is then the key, and neither known nor sensitive
        given.pop("key", None)
        given |= {"sensitive": "region", "qi": ["age", "sex"]} if "sensitive" in given else {}
    try:
        read = times_read(con, declared()[output.name], given)
    except duckdb.Error as error:
        assert "needs classes that do not overlap" in str(error)  # noqa: PT017 - the one that may refuse
        return
    assert {table: 0.5 < times <= 1 for table, times in read.items()} == dict.fromkeys(read, True)
