"""`reid_sql.register(con)`: any connection, any order, any number of times, and nothing else is touched."""

import gc
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import reid_sql
from tests.engines.asking import literal, quoted
from tests.tables import Row

PEOPLE = "CREATE TABLE people AS SELECT * FROM (VALUES (34, 'F'), (34, NULL), (51, 'M')) people(age, sex)"
SUMMARY = "SELECT records, k FROM risk_summary(people, ['age', 'sex'])"  # a table function
# Python is inside.
WILDCARD = "SELECT class_size, records FROM class_size_histogram(people, ['age', 'sex'], nulls := 'wildcard')"
WINDOW = "SELECT equivalence_class_size(age) FROM people ORDER BY age"
CLOSED_FORM = "SELECT round(cell_risk(0.01, 101), 6)"
ANSWERS: dict[str, list[Row]] = {
    SUMMARY: [(3, 1)],
    WILDCARD: [(1, 1), (2, 2)],
    WINDOW: [(2,), (2,), (1,)],
    CLOSED_FORM: [(0.366032,)],
}
INVENTORY = """
SELECT 'function' AS kind, schema_name, function_name FROM duckdb_functions() WHERE NOT internal
UNION ALL SELECT 'schema', schema_name, NULL FROM duckdb_schemas() WHERE NOT internal
UNION ALL SELECT 'table', schema_name, table_name FROM duckdb_tables() WHERE NOT internal
UNION ALL SELECT 'view', schema_name, view_name FROM duckdb_views() WHERE NOT internal
UNION ALL SELECT 'type', schema_name, type_name FROM duckdb_types() WHERE NOT internal
UNION ALL SELECT 'sequence', schema_name, sequence_name FROM duckdb_sequences() ORDER BY ALL
"""
AWKWARD = ["select", "Größe, or size", """O'Neil's "people".db"""]
WAYS_OUT = ["COMMIT", "ROLLBACK"]

pytestmark = pytest.mark.threads


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that is not registered, with a table."""
    with duckdb.connect() as connection:
        connection.execute(PEOPLE)
        yield connection


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A database file that never saw reid-sql."""
    path = tmp_path / "people.db"
    with duckdb.connect(path) as connection:
        connection.execute(PEOPLE)
    return path


def check(con: duckdb.DuckDBPyConnection) -> None:
    """Every kind of function answers."""
    for question, expected in ANSWERS.items():
        assert con.execute(question).fetchall() == expected


def records(con: duckdb.DuckDBPyConnection) -> int:
    """Records as a table function counts them."""
    found: int = con.execute("SELECT records FROM risk_summary(people, ['age'])").fetchall()[0][0]
    return found


def catalogue(path: Path) -> list[Row]:
    """Everything that a database file holds, seen without reid-sql."""
    with duckdb.connect(path) as con:
        return con.execute(INVENTORY).fetchall()


# Any number of times, any connection, any order


def test_registering_again_is_harmless(con: duckdb.DuckDBPyConnection) -> None:
    for _ in range(3):
        reid_sql.register(con)
        check(con)


def test_connections_and_cursors_of_a_database_register_in_any_order(file: Path) -> None:
    with (
        duckdb.connect(file) as first,
        duckdb.connect(file) as second,
        second.cursor() as cursor,
        first.cursor() as other,
    ):
        for connection in (cursor, first, other, second):
            reid_sql.register(connection)
            assert records(connection) == 3
        for connection in (first, second, cursor, other):
            check(connection)


def test_a_cursor_of_a_registered_connection_registers_itself(
    con: duckdb.DuckDBPyConnection,
) -> None:
    reid_sql.register(con)
    cursor = con.cursor()
    with pytest.raises(duckdb.CatalogException, match="risk_summary does not exist"):
        cursor.execute(SUMMARY)
    reid_sql.register(cursor)
    check(cursor)


def test_connections_to_a_shared_database_in_memory_register() -> None:
    with (
        duckdb.connect(":memory:shared by two") as first,
        duckdb.connect(":memory:shared by two") as second,
    ):
        first.execute(PEOPLE)
        for connection in (first, second):
            reid_sql.register(connection)
        check(second)
        check(first)


def test_two_databases_in_one_process_each_have_the_functions(
    con: duckdb.DuckDBPyConnection, file: Path
) -> None:
    with duckdb.connect(file) as other:
        other.execute("INSERT INTO people VALUES (8, 'F')")
        reid_sql.register(con)
        reid_sql.register(other)
        assert (records(con), records(other)) == (3, 4)
    check(con)


# Whoever registered first may go


def test_a_forgotten_cursor_that_registered_first_breaks_nothing(
    con: duckdb.DuckDBPyConnection,
) -> None:
    reid_sql.register(con.cursor())
    gc.collect()
    reid_sql.register(con)
    for _ in range(3):
        check(con)


# Nothing is left behind


def test_a_read_only_file_registers(file: Path) -> None:
    before = file.read_bytes()
    with duckdb.connect(file, read_only=True) as connection, connection.cursor() as cursor:
        for reader in (connection, cursor):
            reid_sql.register(reader)
            check(reader)
    assert file.read_bytes() == before


def test_a_read_only_file_registers_inside_a_transaction(file: Path) -> None:
    with duckdb.connect(file, read_only=True) as connection:
        connection.execute("BEGIN")
        reid_sql.register(connection)
        assert records(connection) == 3
        connection.execute("ROLLBACK")
        check(connection)


@pytest.mark.parametrize(
    "way_out", ["", *WAYS_OUT], ids=lambda word: word or "outside a transaction"
)
def test_a_database_file_is_left_without_a_trace(file: Path, way_out: str) -> None:
    with duckdb.connect(file) as connection:
        connection.execute("BEGIN" if way_out else "CHECKPOINT")
        reid_sql.register(connection)
        assert records(connection) == 3
        connection.execute(way_out or "CHECKPOINT")
        check(connection)
    assert catalogue(file) == [("table", "main", "people")]


def test_a_database_file_named_like_ours_is_left_without_a_trace(tmp_path: Path) -> None:
    path = tmp_path / "reid_sql_functions.db"
    with duckdb.connect(path) as connection:
        connection.execute(PEOPLE)
        connection.execute("BEGIN")
        reid_sql.register(connection)
        connection.execute("COMMIT")
    assert catalogue(path) == [("table", "main", "people")]


def test_a_database_file_named_like_ours_has_the_functions_in_a_transaction(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "reid_sql_functions.db") as connection:
        connection.execute(PEOPLE)
        connection.execute("BEGIN")
        reid_sql.register(connection)
        assert records(connection) == 3


def test_a_schema_named_like_ours_is_left_without_a_trace(file: Path) -> None:
    with duckdb.connect(file) as connection:
        connection.execute("CREATE SCHEMA reid_sql_functions")
        connection.execute("BEGIN")
        reid_sql.register(connection)
        connection.execute("COMMIT")
    assert catalogue(file) == [("schema", "reid_sql_functions", None), ("table", "main", "people")]


def test_a_schema_named_like_ours_is_no_hindrance(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE SCHEMA reid_sql_functions")
    con.execute("BEGIN")
    reid_sql.register(con)
    assert records(con) == 3


def test_new_tables_still_go_where_they_went_before(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("BEGIN")
    reid_sql.register(con)
    con.execute("CREATE TABLE mine AS SELECT 1 AS a")
    con.execute("COMMIT")
    here = con.execute("SELECT current_database(), current_schema()").fetchall()
    assert (
        here
        == con.execute(
            "SELECT database_name, schema_name FROM duckdb_tables() WHERE table_name = 'mine'"
        ).fetchall()
    )
    assert here == [("memory", "main")]


# An open transaction stays as it is


@pytest.mark.parametrize("way_out", WAYS_OUT)
def test_an_open_transaction_is_not_disturbed(con: duckdb.DuckDBPyConnection, way_out: str) -> None:
    con.execute("BEGIN")
    con.execute("INSERT INTO people VALUES (8, 'F'), (9, 'F')")
    reid_sql.register(con)
    assert records(con) == 5
    assert con.execute(WINDOW).fetchall() == [(1,), (1,), (2,), (2,), (1,)]
    assert con.execute(CLOSED_FORM).fetchall() == ANSWERS[CLOSED_FORM]
    con.execute(way_out)
    assert con.execute("SELECT count(*) FROM people").fetchall() == [
        (5 if way_out == "COMMIT" else 3,)
    ]
    assert records(con) == (5 if way_out == "COMMIT" else 3)


@pytest.mark.parametrize("way_out", WAYS_OUT)
def test_functions_with_python_inside_answer_inside_the_transaction_and_after_it(
    con: duckdb.DuckDBPyConnection, way_out: str
) -> None:
    con.execute("BEGIN")
    con.execute("INSERT INTO people VALUES (51, 'M')")
    reid_sql.register(con)
    assert con.execute(WILDCARD).fetchall() == [(2, 4)]
    con.execute(way_out)
    assert con.execute(WILDCARD).fetchall() == (
        [(2, 4)] if way_out == "COMMIT" else ANSWERS[WILDCARD]
    )


def test_uncommitted_rows_stay_unseen_by_others(con: duckdb.DuckDBPyConnection) -> None:
    other = con.cursor()
    con.execute("BEGIN")
    con.execute("INSERT INTO people VALUES (8, 'F')")
    reid_sql.register(con)
    reid_sql.register(other)
    assert (records(con), records(other)) == (4, 3)
    con.execute("ROLLBACK")
    assert (records(con), records(other)) == (3, 3)


def test_a_transaction_that_already_called_functions_is_not_disturbed(
    con: duckdb.DuckDBPyConnection,
) -> None:
    con.execute("BEGIN")
    con.execute("INSERT INTO people SELECT 8 + abs(i), upper('f') FROM range(4) t(i)")
    assert con.execute("SELECT count(*) FROM people").fetchall() == [(7,)]
    with pytest.raises(
        ValueError, match=r"register before its transaction .*; register before BEGIN"
    ):
        reid_sql.register(con)
    assert con.execute("SELECT count(*) FROM people").fetchall() == [(7,)]
    con.execute("ROLLBACK")
    reid_sql.register(con)
    check(con)


def test_registering_in_one_transaction_after_another_and_then_outside(
    con: duckdb.DuckDBPyConnection,
) -> None:
    for way_out in ("ROLLBACK", "COMMIT", "ROLLBACK"):
        con.execute("BEGIN")
        reid_sql.register(con)
        assert records(con) == 3
        con.execute(way_out)
        assert records(con) == 3
    reid_sql.register(con)
    check(con)


def test_registering_inside_a_transaction_after_registering_outside(
    con: duckdb.DuckDBPyConnection,
) -> None:
    reid_sql.register(con)
    con.execute("BEGIN")
    reid_sql.register(con)
    check(con)
    con.execute("ROLLBACK")
    check(con)


def test_a_transaction_that_already_failed_stays_the_users_to_end(
    con: duckdb.DuckDBPyConnection,
) -> None:
    con.execute("BEGIN")
    with pytest.raises(duckdb.InvalidInputException, match="failed"):
        con.execute("SELECT error('failed')").fetchall()
    with pytest.raises(duckdb.TransactionException, match="ROLLBACK"):
        reid_sql.register(con)
    con.execute("ROLLBACK")
    reid_sql.register(con)
    check(con)


# Wherever the user stands


def test_the_functions_follow_into_another_database_or_schema(
    con: duckdb.DuckDBPyConnection,
) -> None:
    reid_sql.register(con)
    con.execute("ATTACH ':memory:' AS other; CREATE SCHEMA other.inner; CREATE SCHEMA memory.inner")
    for place in ("other", "other.inner", "memory.inner"):
        con.execute(f"USE {place}")
        con.execute(PEOPLE)
        con.execute("INSERT INTO people VALUES (8, 'F')")
        assert records(con) == 4
    con.execute("USE memory.main")
    check(con)


def test_a_search_path_of_the_users_own_is_kept(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(
        "CREATE SCHEMA empty; CREATE SCHEMA filled; CREATE TABLE filled.others AS FROM people"
    )
    con.execute("SET search_path = 'empty,filled'")
    con.execute("BEGIN")
    reid_sql.register(con)
    assert con.execute("SELECT records FROM risk_summary(others, ['age'])").fetchall() == [(3,)]
    con.execute("COMMIT")
    assert con.execute("SELECT records FROM risk_summary(others, ['age'])").fetchall() == [(3,)]


@pytest.mark.parametrize("name", AWKWARD)
def test_names_that_need_quotes_may_be_where_the_transaction_is(
    con: duckdb.DuckDBPyConnection, name: str
) -> None:
    con.execute(f"ATTACH ':memory:' AS {quoted(name)}")
    con.execute(f"CREATE SCHEMA {quoted(name)}.{quoted(name)}")
    con.execute(f"USE {quoted(name)}.{quoted(name)}")
    con.execute(PEOPLE)
    con.execute("BEGIN")
    con.execute("INSERT INTO people VALUES (8, 'F')")
    reid_sql.register(con)
    assert records(con) == 4
    assert con.execute("SELECT current_database(), current_schema()").fetchall() == [(name, name)]
    con.execute("ROLLBACK")
    check(con)


@pytest.mark.parametrize("name", ["my_reid_sql_functions", "x,reid_sql_functions.main"])
def test_a_database_whose_name_holds_ours_is_no_hindrance(
    con: duckdb.DuckDBPyConnection, name: str
) -> None:
    con.execute(f"ATTACH ':memory:' AS {quoted(name)}; USE {quoted(name)}")
    con.execute(PEOPLE)
    con.execute("BEGIN")
    reid_sql.register(con)
    assert records(con) == 3
    con.execute("ROLLBACK")
    check(con)


def test_registering_again_finds_the_functions_after_going_elsewhere(
    con: duckdb.DuckDBPyConnection,
) -> None:
    con.execute("ATTACH ':memory:' AS other")
    con.execute("BEGIN")
    reid_sql.register(con)
    con.execute("USE other")
    reid_sql.register(con)
    con.execute(PEOPLE)
    assert records(con) == 3
    con.execute("COMMIT")
    con.execute("USE memory")
    reid_sql.register(con)
    check(con)


@pytest.mark.parametrize(
    "begin", [False, True], ids=["outside a transaction", "inside a transaction"]
)
def test_a_connection_with_locked_settings_and_no_files_registers(*, begin: bool) -> None:
    with duckdb.connect(
        config={"enable_external_access": "false", "lock_configuration": "true"}
    ) as connection:
        connection.execute(PEOPLE)
        if begin:
            connection.execute("BEGIN")
        reid_sql.register(connection)
        assert records(connection) == 3


def test_the_users_variables_and_settings_stay(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("SET VARIABLE mine = 'kept'")
    settings = f"SELECT name, value FROM duckdb_settings() WHERE name <> {literal('search_path')} ORDER BY ALL"
    before = con.execute(settings).fetchall()
    reid_sql.register(con)
    assert con.execute(settings).fetchall() == before
    assert con.execute("SELECT getvariable('mine')").fetchall() == [("kept",)]
