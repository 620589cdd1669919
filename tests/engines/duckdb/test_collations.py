"""Texts within values: told apart by their bytes, or refused where a collation would make two of them one.

Every function is asked, in every role that a column can have.
"""

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any, Final

import duckdb
import polars as pl
import pytest

import reid_sql
from reid_sql.engines.duckdb.source import folded
from reid_sql.function import Answer, Function
from reid_sql.parameters import Choice, Table
from reid_sql.parameters.outputs import REQUIRED, Parameter
from reid_sql_udfs import declared
from tests.cells import each_cell
from tests.engines.asking import PEOPLE, listed, literal, refusal, same
from tests.matrices.engines import Sql
from tests.matrices.test_functions import MODEL_NAME, QI, question
from tests.tiers import representatives

pytestmark = pytest.mark.first(
    shape=["text", "struct of a map"],
    columns=[2],
    collation=["NOCASE"],
    name=representatives(),
    option=[""],
)

REFUSED: Final = "columns must distinguish texts that differ, got a collation of its own"
COLLATIONS: Final = ("NOCASE", "NOACCENT", "NOCASE.NOACCENT", "NFC", "de")
BY_BYTES: Final = ('"binary"', "C", "posix")
SHAPES: Final[dict[str, str]] = {
    "text": "{x}",
    "struct": "{{'v': {x}, 'n': 1}}",
    "row": "row({x}, 1)",
    "list": "[{x}, NULL]",
    "array": "array_value({x}, {x})",
    "map": "MAP {{1: {x}}}",
    "key": "MAP {{coalesce({x}, 'none'): 1}}",
    "union": "union_value(v := {x})",
    "lists": "[[{x}], []]",
    "structs": "[{{'v': [{x}]}}]",
    "struct of a map": "{{'m': MAP {{1: [{x}]}}}}",
    "struct of a union": "{{'u': union_value(v := {{'w': {x}}})}}",
    "list beside a blob": "{{'i': '\\x00'::BLOB, 'v': [{x}]}}",
    "list beside a variant": "{{'i': 1::VARIANT, 'v': [{x}]}}",
}
# Each is another text to whoever counts bytes; some are the same to a collation, some in writing.
TEXTS: Final = [
    *(
        "a",
        "A",
        "á",
        "é",
        "e\u0301",
        "a\u200b",
        "a\u00ad",
        "a\x01",
        "",
        " ",
        "a ",
        "NULL",
        "null",
        None,
    ),
    *("'a'", '"a"', "a, b", "[a]", "{'v': a}", "\\", "\\x61", "ß", "ss", "ı", "İ"),
]


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        reid_sql.register(connection)
        connection.execute("CREATE TABLE texts(x VARCHAR)")
        connection.executemany("INSERT INTO texts VALUES (?)", [[text] for text in TEXTS])
        yield connection


def wide(
    con: duckdb.DuckDBPyConnection, shape: str, collation: str, columns: int
) -> list[tuple[Any, ...]]:
    """Make the table t of columns c1, c2, …, each a text in the shape; the texts row by row."""
    draw = Random(f"{shape} {columns}")  # noqa: S311 - a table to test by
    rows = [tuple(draw.choice(TEXTS) for _ in range(columns)) for _ in range(60 // columns)]
    rows += draw.choices(rows, k=20)
    names = [f"c{place}" for place in range(1, columns + 1)]
    words = f" COLLATE {collation}" if collation else ""
    con.execute(
        f"CREATE OR REPLACE TABLE written({', '.join(f'{name} VARCHAR{words}' for name in names)})"
    )
    con.executemany(f"INSERT INTO written VALUES ({', '.join('?' * columns)})", rows)
    members = ", ".join(f"{SHAPES[shape].format(x=name)} AS {name}" for name in names)
    con.execute(f"CREATE OR REPLACE TABLE t AS SELECT {members} FROM written")
    return rows


def counted(rows: list[tuple[Any, ...]], shape: str) -> list[int]:
    """Each row's class size, by the bytes of its texts."""
    message = [
        tuple("none" if text is None and shape == "key" else text for text in row) for row in rows
    ]
    sizes = Counter(message)
    return sorted(sizes[row] for row in message)


@each_cell("columns", [1, 2, 5, 10])
@each_cell("shape", SHAPES)
def test_texts_within_values_are_distinguished_by_their_bytes(
    con: duckdb.DuckDBPyConnection, shape: str, columns: int
) -> None:
    rows = wide(con, shape, "", columns)
    sizes = counted(rows, shape)
    names = [f"c{place}" for place in range(1, columns + 1)]
    asked = f"SELECT equivalence_class_size({', '.join(names)}) FROM t"
    assert sorted(size for (size,) in con.execute(asked).fetchall()) == sizes
    asked = f"SELECT class_size, records FROM class_size_histogram(t, {listed(names)})"
    assert sorted(con.execute(asked).fetchall()) == sorted(Counter(sizes).items())


@each_cell("columns", [1, 2, 5, 10])
@each_cell("shape", SHAPES)
def test_a_collation_at_any_depth_is_refused(
    con: duckdb.DuckDBPyConnection, shape: str, columns: int
) -> None:
    wide(con, shape, "NOCASE", columns)
    con.execute("CREATE OR REPLACE VIEW v AS SELECT *, 1 AS one FROM t")
    names = [f"c{place}" for place in range(1, columns + 1)]
    # else they identify nobody, which is refused, too
    named = f"c1 IS NOT NULL AND {names[-1]} IS NOT NULL"
    con.execute(f"CREATE OR REPLACE VIEW people AS FROM v WHERE {named}")
    for asked in (
        f"SELECT equivalence_class_size({', '.join(names)}) FROM t",
        f"SELECT equivalence_class_people({', '.join(names)}, one) FROM people",
        f"FROM risk_summary(t, {listed(names)})",
        f"FROM class_size_histogram(people, ['one'], entity := {literal(names[-1])})",
        f"FROM risk_summary(v, ['one'], by := {listed(names)})",
        f"FROM l_diversity(v, ['one'], {literal(names[-1])})",
    ):
        with pytest.raises(duckdb.Error, match=f"{REFUSED}|of type VARIANT; cast it"):
            con.execute(asked).fetchall()
    assert folded(lambda sql: con.execute(sql).fetchall(), "v", [*names, "one"]) == set(names)


@pytest.mark.newest
@pytest.mark.parametrize("collation", COLLATIONS)
def test_every_collation_is_refused(con: duckdb.DuckDBPyConnection, collation: str) -> None:
    for shape in SHAPES:
        wide(con, shape, collation, 1)
        with pytest.raises(duckdb.Error, match=REFUSED):
            con.execute("FROM risk_summary(t, ['c1'])").fetchall()


@each_cell("shape", SHAPES)
@each_cell("collation", BY_BYTES)
def test_a_collation_that_compares_bytes_is_counted(
    con: duckdb.DuckDBPyConnection, collation: str, shape: str
) -> None:
    rows = wide(con, shape, collation, 2)
    con.execute("CREATE OR REPLACE VIEW v AS SELECT c1, c2, 'x' AS plain FROM t")
    found = con.execute("SELECT equivalence_class_size(c1, plain, c2) FROM v").fetchall()
    assert sorted(size for (size,) in found) == counted(rows, shape)
    assert folded(lambda sql: con.execute(sql).fetchall(), "v", ["c1", "plain"]) == set()


@each_cell("shape", SHAPES)
def test_what_the_refusal_says_to_pass_is_counted_by_bytes(
    con: duckdb.DuckDBPyConnection, shape: str
) -> None:
    rows = wide(con, shape, "NOCASE.NOACCENT", 2)
    remedy = "decode(encode({}))" if shape == "text" else "create_sort_key({}, 'ASC NULLS LAST')"
    reported = remedy.format("c1"), remedy.format("c2")
    found = con.execute(f"SELECT equivalence_class_size({', '.join(reported)}) FROM t").fetchall()
    assert sorted(size for (size,) in found) == counted(rows, shape)


def test_types_of_every_kind_are_not_taken_for_a_collation(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE OR REPLACE TABLE every AS FROM test_all_types()")
    described = con.execute("DESCRIBE every").fetchall()
    names = [row[0] for row in described if "INTERVAL" not in row[1]]  # which is refused
    assert len(names) > 50
    assert folded(lambda sql: con.execute(sql).fetchall(), "every", names) == set()
    found = [
        con.execute(f"FROM risk_summary(every, [{literal(name)}])").fetchall() for name in names
    ]
    assert all(found)


OPTIONS: Final[dict[str, Any]] = {
    "": None,
    "entity": "person",
    "by": ["area"],
    "columns": ["age", "sex"],
}


def optional(parameter: Parameter) -> bool:
    """Whether columns may be left out of a call, or named."""
    return parameter.default is not REQUIRED and not isinstance(parameter.domain, Choice)


ROLES: Final = [
    (name, option)
    for name, function in declared().items()
    if function.answer is not Answer.SCALAR and name != "load_model"  # whose table is a model's
    if function.answer.of_rows or any(isinstance(p.domain, Table) for p in function.parameters)
    for option in OPTIONS
    if not option or any(p.name == option and optional(p) for p in function.parameters)
]
# The columns as values that hold texts; of all but `id` two that differ may be one to a collation.
HELD: Final = {
    "id": "[id::VARCHAR{}]",
    "age": "{{'v': chr((65 + age % 3 + 32 * (id % 2))::INTEGER){}}}",
    "sex": "[{{'v': CASE WHEN id % 3 = 0 THEN lower(sex) ELSE sex END{}}}]",
    "region": "row(CASE WHEN id % 2 = 0 THEN upper(region) ELSE region END{})",
    "person": "{{'v': chr((65 + id % 20 + 32 * (id // 20))::INTEGER){}}}",
    "area": "[CASE WHEN id % 4 < 2 THEN 'n' ELSE 'N' END{}]",
}


def hold(con: duckdb.DuckDBPyConnection, view: str, collated: str = "") -> None:
    members = (
        f"{text.format(' COLLATE NOCASE' * (name == collated))} AS {name}"
        for name, text in HELD.items()
    )
    con.execute(
        f'CREATE OR REPLACE TEMP VIEW "{view}" AS SELECT id AS row, {", ".join(members)} FROM people'
    )


@pytest.fixture(scope="module")
def people() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        reid_sql.register(connection)
        connection.register("given", PEOPLE.to_arrow())
        connection.execute("CREATE TABLE people AS FROM given")
        hold(connection, "tbl")
        connection.execute(f"FROM fit_copula({literal(MODEL_NAME)}, tbl, {listed(QI)})").fetchall()
        yield connection


def given(function: Function, option: str) -> dict[str, Any]:
    asked = question(Sql(), function)
    if option == "entity":
        asked.pop("key", None)
        asked |= {"sensitive": "sex", "qi": ["age", "region"]} if "sensitive" in asked else {}
    return asked | ({option: OPTIONS[option]} if option else {})


def named(asked: dict[str, Any]) -> set[str]:
    """The columns that a question speaks of; a model's are those it was fitted to."""
    words = [
        word for value in asked.values() for word in (value if isinstance(value, list) else [value])
    ]
    spoken = {word for word in words if isinstance(word, str) and word in HELD}
    return spoken | {column for column in HELD if f'"{column}"' in str(asked.get("scenario"))}


def answered(con: duckdb.DuckDBPyConnection, sql: str) -> list[dict[str, Any]] | str:
    try:
        found = con.execute(sql)
        names = [each[0] for each in found.description or []]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    except duckdb.Error as error:
        return refusal(error)


@each_cell("name, option", ROLES)
@pytest.mark.first(cells=8)
def test_every_function_refuses_it_in_every_role_or_is_not_moved_by_it(
    people: duckdb.DuckDBPyConnection, name: str, option: str
) -> None:
    asked = given(declared()[name], option)
    tables = [each for each, value in asked.items() if isinstance(value, pl.DataFrame)]
    sql = Sql().sql(declared()[name], asked)
    for table in tables:
        hold(people, table)
    exact = answered(people, sql)
    assert isinstance(exact, list), exact
    # a model's are those that it was fitted to, a profile's are all
    columns = named(asked) or set(HELD)
    for table in tables:
        for column in columns:
            hold(people, table, column)
            found = answered(people, sql)
            if isinstance(found, str):
                assert REFUSED in found
            else:
                unread = (
                    name == "join_risk"
                    and column not in asked[{"left": "qi", "right": "right_qi"}[table]]
                )
                assert unread or distinguished(name, option, table) or column == asked.get("key")
                same(found, exact)
        hold(people, table)


def distinguished(name: str, option: str, table: str) -> bool:
    """Whether a function compares bytes itself, or asks nothing of some columns of the table."""
    scored = declared()[name].answer is Answer.MODEL_SCORE or "model" in given(
        declared()[name], option
    )
    every = name in {"profile", "quasi_identifiers", "unsafe_combinations"} and option != "columns"
    return scored or every or (table == "population_tbl" and option == "by")
