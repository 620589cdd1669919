"""Who knows the functions by which name, and that no name of the user's changes its meaning.

`reid.name` is known to every connection of a database, a bare name to those that registered. What the user
has under a name of ours never answers in its place.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import reid_sql
from reid_sql.engines.duckdb.catalogue import script
from reid_sql_udfs import declared

PEOPLE = "CREATE TABLE people AS SELECT * FROM (VALUES (34, 'F'), (34, NULL), (51, 'M')) people(age, sex)"
SUMMARY = "SELECT records FROM {}risk_summary(people, ['age'])"
SIZES = "SELECT {}equivalence_class_size(age) FROM people ORDER BY age"
THEIRS = [  # each says that nobody is at risk
    "CREATE {} MACRO {}risk_summary(tbl, qi) AS TABLE SELECT 1000 AS records",
    "CREATE {} MACRO {}equivalence_class_size(age) AS 1000",
]
FORMS = {"bare": "", "of the catalogue": "reid.", "whole": "reid.main."}


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(PEOPLE)
        yield connection


def theirs(con: duckdb.DuckDBPyConnection, temporary: str = "", place: str = "") -> None:
    """Macros of the user's, named like ours."""
    for statement in THEIRS:
        con.execute(statement.format(temporary, place))


def check(con: duckdb.DuckDBPyConnection, form: str = "") -> None:
    """Ours answer, of a table and of a record."""
    assert con.execute(SUMMARY.format(form)).fetchall() == [(3,)]
    assert con.execute(SIZES.format(form)).fetchall() == [(2,), (2,), (1,)]


def test_every_cursor_and_connection_knows_them_by_the_catalogue(tmp_path: Path) -> None:
    path = tmp_path / "people.db"
    with duckdb.connect(path) as con, duckdb.connect(path) as other:
        con.execute(PEOPLE)
        reid_sql.register(con)
        for connection in (con.cursor(), other, other.cursor()):
            check(connection, "reid.")
            connection.execute("ATTACH IF NOT EXISTS ':memory:' AS elsewhere; USE elsewhere")
            connection.execute(f"CREATE OR REPLACE TEMP {PEOPLE.removeprefix('CREATE ')}")
            check(connection, "reid.")


def test_a_cursor_that_registers_makes_nothing(con: duckdb.DuckDBPyConnection) -> None:
    reid_sql.register(con)
    entries = "SELECT count(*) FROM duckdb_functions() WHERE NOT internal"
    before = con.execute(entries).fetchall()
    cursor = con.cursor()
    reid_sql.register(cursor)
    check(cursor)
    assert cursor.execute(entries).fetchall() == before


def test_a_cursor_that_did_not_register_learns_the_name_with_its_catalogue(
    con: duckdb.DuckDBPyConnection,
) -> None:
    reid_sql.register(con)
    cursor = con.cursor()
    for question in (SUMMARY, SIZES):
        with pytest.raises(duckdb.CatalogException, match=r'Did you mean "reid\.\w+"'):
            cursor.execute(question.format(""))
    check(cursor, "reid.")
    con.execute("CREATE SCHEMA inner_one; USE inner_one")
    check(con)


def test_a_macro_of_the_users_made_later_does_not_answer(con: duckdb.DuckDBPyConnection) -> None:
    reid_sql.register(con)
    con.execute("CREATE MACRO risk_summary(tbl, qi) AS TABLE SELECT 'theirs' AS records")
    check(con)


def test_one_setting_makes_bare_names_known_without_python(con: duckdb.DuckDBPyConnection) -> None:
    reid_sql.register(con)
    cursor = con.cursor()
    cursor.execute("SET search_path = 'memory.main,reid.main'")
    check(cursor)


# What the user makes goes, and is found, where it was before


def test_what_is_made_is_the_users(con: duckdb.DuckDBPyConnection) -> None:
    reid_sql.register(con)
    con.execute(
        "CREATE TABLE t AS SELECT 1 AS a; CREATE TABLE main.u AS SELECT 1 AS a; CREATE SCHEMA s"
    )
    con.execute(
        "CREATE VIEW v AS FROM t; CREATE MACRO m(a) AS a; CREATE SEQUENCE q; CREATE TYPE e AS ENUM ('a')"
    )
    found = con.execute("""SELECT database_name, table_name FROM duckdb_tables()
        UNION ALL SELECT database_name, view_name FROM duckdb_views() WHERE NOT internal
        UNION ALL SELECT database_name, function_name FROM duckdb_functions()
            WHERE NOT internal AND function_name IN ('m', 't')
        UNION ALL SELECT database_name, sequence_name FROM duckdb_sequences()
        UNION ALL SELECT database_name, type_name FROM duckdb_types() WHERE NOT internal
        UNION ALL SELECT database_name, schema_name FROM duckdb_schemas() WHERE schema_name = 's'
        ORDER BY ALL""").fetchall()
    assert found == [("memory", name) for name in ("e", "m", "people", "q", "s", "t", "u", "v")]
    assert con.execute("SHOW TABLES").fetchall() == [("people",), ("t",), ("u",), ("v",)]
    assert con.execute("SELECT current_database(), current_schema()").fetchall() == [
        ("memory", "main")
    ]


@pytest.mark.parametrize("kind", ["TABLE", "VIEW", "TEMP TABLE", "TEMP VIEW"])
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_a_table_named_like_ours_stays_the_users(
    con: duckdb.DuckDBPyConnection, kind: str, *, before: bool
) -> None:
    if not before:
        reid_sql.register(con)
    con.execute(f"CREATE {kind} risk_summary AS FROM people; CREATE {kind} reid AS SELECT 7 AS age")
    reid_sql.register(con)
    assert con.execute("SELECT count(*) FROM risk_summary").fetchall() == [(3,)]
    assert con.execute("FROM reid").fetchall() == [(7,)]
    assert con.execute("SELECT records FROM risk_summary(risk_summary, ['age'])").fetchall() == [
        (3,)
    ]
    assert con.execute("SELECT records FROM reid.risk_summary(reid, ['age'])").fetchall() == [(1,)]
    check(con)


def test_a_frame_of_the_callers_stays_the_users(con: duckdb.DuckDBPyConnection) -> None:
    import polars as pl  # noqa: PLC0415 - a frame alone needs it

    reid_sql.register(con)
    profile = pl.DataFrame({"age": [1, 1, 2]})
    assert con.execute("SELECT count(*) FROM profile").fetchall() == [(profile.height,)]
    assert con.execute("SELECT records FROM risk_summary(profile, ['age'])").fetchall() == [(3,)]


# No macro of the user's answers in the place of ours


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("temporary", ["", "TEMP"])
def test_a_macro_named_like_ours_does_not_answer_for_it(
    con: duckdb.DuckDBPyConnection, form: str, temporary: str
) -> None:
    theirs(con, temporary)
    reid_sql.register(con)
    check(con, FORMS[form])
    cursor = con.cursor()
    reid_sql.register(cursor)
    check(cursor, FORMS[form])
    if not temporary:
        assert con.execute(SUMMARY.format("memory.main.")).fetchall() == [(1000,)], (
            "theirs is still there"
        )


def test_macros_in_a_file_do_not_answer_for_ours(tmp_path: Path) -> None:
    path = tmp_path / "people.db"
    with duckdb.connect(path) as con:
        con.execute(PEOPLE)
        theirs(con)
    for read_only in (True, False):
        with duckdb.connect(path, read_only=read_only) as con:
            reid_sql.register(con)
            for form in FORMS.values():
                check(con, form)


def test_macros_of_another_database_do_not_answer_after_use(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("ATTACH ':memory:' AS other")
    theirs(con, place="other.main.")
    reid_sql.register(con)
    con.execute("USE other")
    con.execute(PEOPLE)
    check(con)


@pytest.mark.parametrize("cursor", [False, True])
def test_a_database_attached_later_is_seen_by_registering_again(
    con: duckdb.DuckDBPyConnection, *, cursor: bool
) -> None:
    reid_sql.register(con)
    con.execute("ATTACH ':memory:' AS other")
    theirs(con, place="other.main.")
    con.execute("USE other")
    con.execute(PEOPLE)
    asked = con.cursor() if cursor else con
    asked.execute("USE other")
    reid_sql.register(asked)
    check(asked)


def test_a_schema_named_like_our_catalogue_makes_the_name_ambiguous(
    con: duckdb.DuckDBPyConnection,
) -> None:
    reid_sql.register(con)
    con.execute("CREATE SCHEMA reid")
    theirs(con, place="memory.reid.")
    for question in (SUMMARY, SIZES):
        with pytest.raises(
            duckdb.BinderException, match="Ambiguous reference to catalog or schema"
        ):
            con.execute(question.format("reid."))
    check(con)
    check(con, "reid.main.")


def test_a_schema_of_that_name_before_leaves_bare_names_ours(
    con: duckdb.DuckDBPyConnection,
) -> None:
    con.execute("CREATE SCHEMA reid")
    theirs(con, place="memory.reid.")
    reid_sql.register(con)
    check(con)


def test_a_transaction_refuses_what_a_rollback_would_uncover(
    con: duckdb.DuckDBPyConnection,
) -> None:
    theirs(con)
    con.execute("BEGIN")
    with pytest.raises(
        ValueError,
        match=r"must have no macros .* like ours, got equivalence_class_size, risk_summary; register before",
    ):
        reid_sql.register(con)
    check(con, "reid.")
    con.execute("ROLLBACK")
    reid_sql.register(con)
    check(con)


@pytest.mark.parametrize("before", [True, False], ids=["made before it", "made in it"])
def test_a_transaction_refuses_macros_made_after_another_connection_registered(
    con: duckdb.DuckDBPyConnection, *, before: bool
) -> None:
    reid_sql.register(con)
    cursor = con.cursor()
    if before:
        theirs(cursor)
    cursor.execute("BEGIN")
    if not before:
        theirs(cursor)
    with pytest.raises(
        ValueError, match="got equivalence_class_size, risk_summary; register before"
    ):
        reid_sql.register(cursor)


# Words for those who browse


def test_every_function_has_words_in_the_catalogue(con: duckdb.DuckDBPyConnection) -> None:
    reid_sql.register(con)
    found = dict(
        con.execute(
            "SELECT DISTINCT function_name, comment FROM duckdb_functions() WHERE database_name = 'reid' "
            "AND comment IS NOT NULL"
        ).fetchall()
    )
    functions = declared()
    assert found.keys() == functions.keys()
    for name, declaration in functions.items():
        first = declaration.words.replace(";", ",")
        assert found[name].startswith(f"{first} {name}("), found[name]


# The script: the same without Python, and for tools that split at every semicolon


@pytest.mark.parametrize(
    "remaining", [{}, {"permanent": True}, {"permanent": True, "database": "my functions"}]
)
def test_no_semicolon_of_the_script_stands_but_at_an_end(remaining: dict[str, Any]) -> None:
    text = script(**remaining)
    with duckdb.connect() as con:
        con.execute("ATTACH ':memory:' AS \"my functions\"")
        assert len(con.extract_statements(text)) == text.count(";")
        for statement in text.split(";"):
            if statement.strip():
                con.execute(statement)


def test_the_script_serves_every_connection(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(script())
    check(con)
    check(con.cursor(), "reid.")


@pytest.mark.parametrize("temporary", ["", "TEMP"])
def test_a_macro_named_like_ours_does_not_answer_for_the_script(
    con: duckdb.DuckDBPyConnection, temporary: str
) -> None:
    theirs(con, temporary)
    con.execute(script())
    for form in FORMS.values():
        check(con, form)


def test_the_script_leaves_what_python_registered(con: duckdb.DuckDBPyConnection) -> None:
    reid_sql.register(con)
    con.cursor().execute(script())
    for connection in (con, con.cursor()):
        found = connection.execute(
            "SELECT method FROM reid.population_uniqueness(people, ['age'], 100)"
        ).fetchall()
        assert len(found) > 1


def test_python_registers_over_the_script(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(script())
    cursor = con.cursor()
    reid_sql.register(cursor)
    for connection in (con, cursor, con.cursor()):
        found = connection.execute(
            "SELECT k FROM reid.risk_summary(people, ['age'], by := ['sex'])"
        ).fetchall()
        assert found == [(1,)] * 3
    check(con)


@pytest.mark.parametrize("name", ["people", "reid"])
def test_the_script_leaves_no_trace_in_a_file(tmp_path: Path, name: str) -> None:
    """Of a file named like our catalogue it is refused as a whole."""
    path = tmp_path / f"{name}.db"
    with duckdb.connect(path) as con:
        con.execute(PEOPLE)
        if name == "reid":
            with pytest.raises(
                duckdb.Error, match="reid must be a database in memory, got a database file"
            ):
                con.execute(script())
            con.execute("ROLLBACK")
        else:
            con.execute(script())
            check(con)
    with duckdb.connect(path) as con:
        assert con.execute(
            "SELECT count(*) FROM duckdb_functions() WHERE NOT internal"
        ).fetchall() == [(0,)]


# What stands for a connection


def test_the_default_connection_registers_by_its_module() -> None:
    reid_sql.register(duckdb)  # type: ignore[arg-type] # as a notebook does that never names a connection
    with duckdb.default_connection().cursor() as cursor:
        cursor.execute("CREATE TEMP " + PEOPLE.removeprefix("CREATE "))
        check(cursor, "reid.")
    found = duckdb.execute("SELECT round(cell_risk(0.01, 101), 6)").fetchall()
    assert found == [(0.366032,)]


def test_what_is_no_connection_is_refused() -> None:
    with pytest.raises(ValueError, match=r"con must be a connection of DuckDB, got str; pass what"):
        reid_sql.register("people.duckdb")  # type: ignore[arg-type]


def test_a_call_without_a_connection_is_refused_for_that() -> None:
    with duckdb.connect() as con:
        for table in ("people.csv", con.sql("SELECT 1 AS age"), con.sql("SELECT 1 AS age").pl()):
            with pytest.raises(TypeError, match="con must be a connection of DuckDB, got "):
                reid_sql.risk_summary(table, ["age"])  # type: ignore[arg-type, call-arg]
