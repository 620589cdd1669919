"""A name is data, never SQL: whatever it holds, it counts what has that name, or nothing happens.

What has the name is a column or table.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import reid_sql
from reid_sql.errors import ReidError
from tests.cells import Test, each_cell
from tests.engines.asking import (
    FUNCTIONS,
    OWN_NAMES,
    answer,
    ask,
    counted,
    listed,
    literal,
    quoted,
    tidy,
)
from tests.tables import NULLS, Row

CANARY = "what-the-file-holds"
ROWS: list[Row] = [(1, 1), (1, 1), (1, 2), (2, None)]

HOSTILE = [
    *("'", '"', "''", '""', '"\'"', '"."', "`", "\u2019", "\uff07", "\uff02"),
    *(
        ";",
        "--",
        "/*",
        "*/",
        "#",
        "\\",
        "\\'",
        '\\"',
        "%s",
        "{0}",
        "${columns}",
        "$$",
        "$1",
        "?",
        ":name",
    ),
    *("NULL", "None", "\\N", "*", "victim.*", "COLUMNS(*)", "(SELECT 1)", "[1]", "{'a': 1}"),
    *(
        "a\nb",
        "a\r\nb",
        "\x01",
        "\u202e",
        "e\u0301",
        "\U0001f469\u200d\U0001f4bb",
        "x" * 1000,
        '"' * 101,
    ),
    "'); DROP TABLE victim; --",
    "x'; DROP TABLE victim; SELECT '",
    '") FROM victim --',
    '", (SELECT max(secret) FROM victim) AS "x',
    "x FROM victim) UNION ALL SELECT 1, 1 FROM (SELECT 1",
    "'] || (SELECT error(secret) FROM victim) || ['",
    "' || error(getvariable('secret')) || '",
    '" IS NULL OR true OR "',
    "$$); DROP TABLE victim; $$",
    "E'\\'); DROP TABLE victim; --'",
    "read_csv('canary.csv')",
    "(FROM 'canary.csv')",
    "'canary.csv'",
    "canary.csv'--",
    "') UNION ALL FROM read_text('canary.csv') --",
    "x\" FROM read_csv('canary.csv') AS t(\"x",
    "query('DROP TABLE victim')",
    "victim\"') AS victim, query_table('victim",
    "'); COPY victim TO 'stolen.csv'; --",
    "'); ATTACH 'stolen.db'; --",
    "'); SET VARIABLE secret = 'changed'; --",
]

pytestmark = pytest.mark.first(function=["equivalence_classes"], name=HOSTILE[:8], first=[0, 3])

anything = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1)
sql_like = st.text(""" "'`;-/*\\.,()[]{}$?:=\nabAB""", min_size=1)
names = anything | sql_like
tables = st.lists(
    st.tuples(st.none() | st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=6
)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection in a folder with a file that nobody may read and a table that nobody may touch."""
    folder = tmp_path_factory.mktemp("scene")
    (folder / "canary.csv").write_text(f"{CANARY}\n{CANARY}\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch, duckdb.connect() as con:
        patch.chdir(folder)
        reid_sql.register(con)
        con.execute(
            "SET VARIABLE secret = 'kept'; CREATE TABLE victim (id INTEGER, secret VARCHAR)"
        )
        con.execute("INSERT INTO victim VALUES (1, 'kept'), (2, 'kept')")
        yield con


@pytest.fixture
def con(scene: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    """The connection of the scene, in which nothing else may have happened when the test is over."""
    yield scene
    assert_untouched(scene)


def assert_untouched(con: duckdb.DuckDBPyConnection) -> None:
    state = """SELECT (SELECT list([id::VARCHAR, secret] ORDER BY id) FROM victim), getvariable('secret'),
               (SELECT list(table_name) FROM duckdb_tables()),
               (SELECT list(database_name) FROM duckdb_databases()
                WHERE NOT internal AND database_name <> 'reid')"""
    assert con.execute(state).fetchall() == [
        ([["1", "kept"], ["2", "kept"]], "kept", ["victim"], ["memory"])
    ]
    assert [path.name for path in Path().iterdir()] == ["canary.csv"]


def each(names: str, values: Iterable[Any]) -> Callable[[Test], Test]:
    """Ask each value, after which nothing else may have happened."""
    return each_cell(names, values, after=assert_untouched)


def create(
    con: duckdb.DuckDBPyConnection, table: str, columns: list[str], rows: list[Row] = ROWS
) -> None:
    """Create the table by words that are not under test."""
    typed = ", ".join(f"{quoted(column)} INTEGER" for column in columns)
    con.execute(f"CREATE TABLE {quoted(table)} ({typed})")
    con.executemany(f"INSERT INTO {quoted(table)} VALUES ({', '.join('?' for _ in columns)})", rows)


def refusal(con: duckdb.DuckDBPyConnection, sql: str, parameters: Any = None) -> str:
    """The sentence with which the call is refused, which tells nothing of the file and of the victim."""
    with pytest.raises(duckdb.Error) as refused:
        con.execute(sql, parameters).fetchall()
    message = str(refused.value)
    assert CANARY not in message
    assert "kept" not in message
    return message


def folded(name: str) -> str:
    """The name as SQL compares names: by ASCII capitals alone."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in name)


# Names of columns


@each("function", FUNCTIONS)
@each("columns", [HOSTILE[:32], HOSTILE[32:]])
def test_columns_of_hostile_names_are_counted(
    con: duckdb.DuckDBPyConnection, function: str, columns: list[str]
) -> None:
    rows: list[Row] = [
        tuple(record % (1 + place) for place in range(len(columns))) for record in (0, 1, 1, 5, 17)
    ]
    create(con, "people", columns, rows)
    assert answer(con, ask(function, "people", listed(columns))) == counted(function, rows, columns)
    assert answer(con, ask(function, "people", "?"), [columns]) == counted(function, rows, columns)
    con.execute("DROP TABLE people")


@each("first", range(0, len(HOSTILE), 3))
def test_classes_are_listed_under_hostile_names(con: duckdb.DuckDBPyConnection, first: int) -> None:
    columns = ["other", *HOSTILE[first : first + 3]]
    rows = [
        row[: len(columns)]
        for row in [(1, 1, None, 2), (1, 1, None, 2), (1, 1, 3, 2), (2, 1, 3, 2)]
    ]
    create(con, "people", columns, rows)
    listing = con.execute(ask("equivalence_classes", "people", listed(columns)))
    assert [column[0] for column in listing.description or []] == [*columns, *OWN_NAMES]
    assert tidy(listing.fetchall()) == counted("equivalence_classes", rows, columns)
    con.execute("DROP TABLE people")


@each("name", HOSTILE)
def test_a_missing_column_of_a_hostile_name_is_refused(
    con: duckdb.DuckDBPyConnection, name: str
) -> None:
    message = refusal(con, ask("risk_summary", "victim", listed(["id", name])))
    assert (
        str(ReidError(f"quasi-identifiers must be columns of the table, got '{name}'; ")) in message
    )


@each("name", HOSTILE[::4])
def test_a_hostile_name_in_place_of_the_list_is_refused(
    con: duckdb.DuckDBPyConnection, name: str
) -> None:
    assert "quasi-identifiers must be" in refusal(con, ask("risk_summary", "victim", literal(name)))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_missing_columns_named_like_ours_are_refused(
    con: duckdb.DuckDBPyConnection, function: str
) -> None:
    ours = ["q1", "reid_source", "side", "classes", *OWN_NAMES]
    for name in [
        name for name in ours if function != "equivalence_classes" or name not in OWN_NAMES
    ]:
        message = refusal(con, ask(function, "victim", listed([name, "id"]), nulls="'drop'"))
        assert f"must be columns of the table, got '{name}'; " in message


# Names of tables


@pytest.mark.newest
@each("name", HOSTILE)
def test_a_table_of_a_hostile_name_is_counted(con: duckdb.DuckDBPyConnection, name: str) -> None:
    create(con, name, ["a", "b"])
    try:
        assert answer(con, ask("risk_summary", literal(quoted(name)), "['a', 'b']")) == counted(
            "risk_summary", ROWS, ["a", "b"]
        )
    finally:
        con.execute(f"DROP TABLE {quoted(name)}")


@each("name", HOSTILE)
def test_a_missing_table_of_a_hostile_name_is_refused(
    con: duckdb.DuckDBPyConnection, name: str
) -> None:
    refusal(con, f"FROM risk_summary({literal(name)}, ['id'])")


@each("name", HOSTILE[::4])
def test_a_missing_table_of_a_hostile_name_may_be_quoted(
    con: duckdb.DuckDBPyConnection, name: str
) -> None:
    refusal(con, f"FROM risk_summary({literal(quoted(name))}, ['id'])")


@each("name", HOSTILE[1::8])
def test_a_missing_table_may_be_an_identifier_or_the_population(
    con: duckdb.DuckDBPyConnection, name: str
) -> None:
    refusal(con, f"FROM risk_summary({quoted(name)}, ['id'])")
    refusal(con, "FROM journalist_risk(victim, ?, ['id'])", [name])


# Other arguments


@each("name", HOSTILE[2::4])
def test_a_hostile_word_for_nulls_is_refused(con: duckdb.DuckDBPyConnection, name: str) -> None:
    rule = "nulls must be one of 'value', 'wildcard', 'drop'"
    assert f"{rule}, got '{name}'" in refusal(
        con, ask("risk_summary", "victim", "['id']", nulls=literal(name))
    )


@pytest.mark.parametrize(
    "option",
    [
        "risk_summary(victim, ['id'], threshold := ?)",
        "attribute_risk(victim, ['id'], max_size := ?)",
    ],
)
def test_hostile_words_for_numbers_are_refused(con: duckdb.DuckDBPyConnection, option: str) -> None:
    for name in HOSTILE[3::8]:
        refusal(con, f"FROM {option}", [name])


# Any text at all


@given(names, tables)
def test_a_column_may_have_any_text_for_a_name(
    scene: duckdb.DuckDBPyConnection, name: str, rows: list[Row]
) -> None:
    assume(folded(name) != "other")
    create(scene, "people", [name, "other"], rows)
    try:
        expected = counted("class_size_histogram", rows, [name, "other"])
        for written in {name, folded(name)}:
            assert (
                answer(scene, ask("class_size_histogram", "people", listed([written, "other"])))
                == expected
            )
    finally:
        scene.execute("DROP TABLE people")


@pytest.mark.newest
@given(names, tables)
@example("a/b", [(1, 1)])
@example("a.b.c", [(1, 1)])
@example('"a"', [(1, 1)])
@example("people.csv", [(1, 1)])
def test_a_table_may_have_any_text_for_a_name(
    scene: duckdb.DuckDBPyConnection, name: str, rows: list[Row]
) -> None:
    assume(folded(name) != "victim")
    create(scene, name, ["a", "b"], rows)
    try:
        question = ask("class_size_histogram", literal(quoted(name)), "['a', 'b']")
        assert answer(scene, question) == counted("class_size_histogram", rows, ["a", "b"])
    finally:
        scene.execute(f"DROP TABLE {quoted(name)}")


@pytest.mark.newest
@settings(max_examples=20)
@given(names, tables)
def test_a_table_may_be_named_as_an_identifier(
    scene: duckdb.DuckDBPyConnection, name: str, rows: list[Row]
) -> None:
    # DuckDB hands an identifier over without its quotes: one with dots, or with quotes around it, is written
    # as a string.
    assume(
        folded(name) != "victim" and "." not in name and name.strip() and not name.startswith('"')
    )
    create(scene, name, ["a", "b"], rows)
    try:
        question = ask("class_size_histogram", quoted(name), "['a', 'b']")
        assert answer(scene, question) == counted("class_size_histogram", rows, ["a", "b"])
    finally:
        scene.execute(f"DROP TABLE {quoted(name)}")


@given(names, st.sampled_from(FUNCTIONS), st.sampled_from(NULLS))
@example("É", "risk_summary", "value")
@example("e\u0301", "risk_summary", "value")
@example("\u017fex", "journalist_risk", "drop")
@example("\u212a", "attribute_risk", "value")
@example("postal\u00a0code", "class_size_histogram", "wildcard")
@example("sex ", "equivalence_classes", "drop")
def test_any_text_that_is_no_column_is_refused_with_that_text(
    scene: duckdb.DuckDBPyConnection, name: str, function: str, nulls: str
) -> None:
    columns = ["Age", "sex", "é", "k", "postal code"]
    assume(folded(name) not in [folded(column) for column in columns])
    scene.execute(
        "CREATE OR REPLACE TEMP TABLE people "
        f"({', '.join(f'{quoted(column)} INTEGER' for column in columns)})"
    )
    words = "columns" if function == "attribute_risk" else "quasi-identifiers"
    message = refusal(scene, ask(function, "people", listed(["sex", name]), nulls=literal(nulls)))
    scene.execute("DROP TABLE people")
    assert_untouched(scene)
    assert f"{words} must be columns of the table, got '{name}'; " in message
