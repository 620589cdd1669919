"""What cannot change an answer in DuckDB: crafted values, settings, a user's macros, what is selected.

The settings are those of the connection.
"""

from collections.abc import Iterator

import duckdb
import pytest

import reid_sql

pytestmark = pytest.mark.first(collation=["NOCASE"], shape=["[{}]"])

REFUSED_WHEN_EMPTY = [
    "SELECT unique_records FROM risk_summary(nobody, ['age'])",
    "SELECT status FROM attribute_risk(nobody, ['age'])",
    "SELECT count(*) FROM risk_summary(nobody, ['age'])",
    "SELECT offending_records, status FROM t_closeness(nobody, ['age'], 'sex')",
    "SELECT k FROM risk_summary(people, ['age'], threshold := 5)",
    "SELECT count(*) FROM score_records(people, 'no model', 1000)",
]
ASKED = [
    "SELECT average_risk, uniqueness FROM risk_summary(people, ['age', 'sex'])",
    "SELECT value FROM t_closeness(people, ['sex'], 'age', variant := 'ordered')",
    "SELECT value FROM l_diversity(people, ['sex'], 'age', variant := 'recursive')",
    "SELECT separation FROM attribute_risk(people, ['age', 'sex'])",
    "SELECT unique_records FROM risk_summary(people, ['age', 'sex'], nulls := 'wildcard')",
    "SELECT equivalence_class_size(age, sex) AS k FROM people ORDER BY k ASC",
    "SELECT equivalence_class_people(age, sex) AS k FROM people ORDER BY k ASC",
]
SETTINGS = [
    "integer_division = true",
    "default_order = 'DESC'",
    "default_null_order = 'NULLS FIRST'",
    "arrow_large_buffer_size = true",
]
MACROS = [
    "min(a) AS 100",
    "sum(a) AS 1",
    "list_filter(a, b) AS []",
    "error(a) AS NULL",
    "count_if(a) AS 0",
    "typeof(a) AS 'BLOB'",
]


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i % 7 AS age, CASE WHEN i % 5 > "
            "0 THEN i % 3 END AS sex FROM range(61) t(i)"
        )
        connection.execute("CREATE TABLE nobody AS FROM people WHERE false")
        reid_sql.register(connection)
        yield connection


def test_records_made_to_share_two_hashes_are_distinguished(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE TABLE crafted(a BIGINT, b BIGINT, c BIGINT, d BIGINT, e BIGINT)")
    con.execute("""INSERT INTO crafted VALUES (1, 7167268656950457403, 3, -66769464799270020, 5),
        (1, -1184124331870797319, 3, 996336190962521147, 5)""")
    assert con.execute("SELECT equivalence_class_size(a, b, c, d, e) FROM crafted").fetchall() == [
        (1,),
        (1,),
    ]
    found = con.execute(
        "SELECT unique_records FROM risk_summary(crafted, ['a', 'b', 'c', 'd', 'e'])"
    )
    assert found.fetchall() == [(2,)]


@pytest.mark.parametrize("question", REFUSED_WHEN_EMPTY)
def test_a_refusal_is_reached_from_every_column(
    con: duckdb.DuckDBPyConnection, question: str
) -> None:
    with pytest.raises(duckdb.Error, match="must"):
        con.execute(question).fetchall()


@pytest.mark.parametrize(
    "change",
    [*(f"SET {setting}" for setting in SETTINGS), *(f"CREATE MACRO {macro}" for macro in MACROS)],
)
def test_neither_settings_nor_macros_change_an_answer(
    con: duckdb.DuckDBPyConnection, change: str
) -> None:
    before = [con.execute(question).fetchall() for question in ASKED]
    con.execute(change)
    assert [con.execute(question).fetchall() for question in ASKED] == before


@pytest.mark.parametrize("given", ["'age', 'sex'", "['age', 'sex']", "1", "age, 'sex'"])
def test_what_is_no_column_is_refused(con: duckdb.DuckDBPyConnection, given: str) -> None:
    with pytest.raises(
        duckdb.ConversionException, match="equivalence_class_size must be given columns, got"
    ):
        con.execute(f"SELECT equivalence_class_size({given}) FROM people").fetchall()


def test_every_cursor_knows_the_functions_in_their_catalogue(
    con: duckdb.DuckDBPyConnection,
) -> None:
    found = (
        con.cursor().execute("SELECT records FROM reid.risk_summary(people, ['age'])").fetchall()
    )
    assert found == [(61,)]


def test_a_column_named_like_a_score_is_refused_beside_scores(
    con: duckdb.DuckDBPyConnection,
) -> None:
    con.execute("CREATE TABLE shadowed AS SELECT *, 0.0 AS uniqueness_xi FROM people")
    con.execute("FROM fit_copula('m', shadowed, ['age', 'sex'])").fetchall()
    with pytest.raises(
        duckdb.Error, match="must not be named like the columns of the scores, got 'uniqueness_xi'"
    ):
        con.execute("SELECT max(uniqueness_xi) FROM score_records(shadowed, 'm', 100)").fetchall()


@pytest.mark.parametrize(
    "asked",
    [
        "",
        ", entity := 'id'",
        ", by := ['id']",
        ", entity := 'id', by := ['g']",
        ", nulls := 'wildcard'",
    ],
)
def test_types_that_do_not_compare_exactly_are_refused_across_tables(
    con: duckdb.DuckDBPyConnection, asked: str
) -> None:
    con.execute(
        "CREATE OR REPLACE TABLE s AS SELECT 9007199254740993 AS x, 1 AS id, 1 AS g; "
        "CREATE OR REPLACE TABLE p AS SELECT 9007199254740992::DOUBLE AS x, 1 AS id, 1 AS g"
    )
    with pytest.raises(
        duckdb.Error, match="must have the same types in both tables, got 'x' as BIGINT and DOUBLE"
    ):
        con.execute(f"SELECT k FROM journalist_risk(s, p, ['x']{asked})").fetchall()


@pytest.mark.parametrize("columns", ["a", "a, b", "a, b, a, b, a", "a, b, a, b, a, b, a, b, a, b"])
def test_a_class_size_may_be_filtered_and_ordered_by_its_name(columns: str) -> None:
    with duckdb.connect() as con:
        reid_sql.register(con)
        con.execute("CREATE TABLE t AS SELECT unnest([1, 1, 2]) AS a, 'x' AS b")
        asked = f"SELECT a, equivalence_class_size({columns}) AS k FROM t QUALIFY k = 1 ORDER BY k, a LIMIT 5"
        assert con.execute(asked).fetchall() == [(2, 1)]
        people = asked.replace(f"size({columns})", f"people(b, {columns.replace('b', '0 * a')})")
        assert [row[0] for row in con.execute(people.replace("k = 1 ", "k < 2 ")).fetchall()] == [
            1,
            1,
            2,
        ]


@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT", "NOCASE.NOACCENT", "NFC"])
def test_a_default_collation_that_makes_texts_alike_is_refused(collation: str) -> None:
    with duckdb.connect() as con:
        reid_sql.register(con)
        con.execute("CREATE TABLE t AS SELECT unnest(['a', 'A', 'á']) AS a, 'x' AS b")
        con.execute(f"SET default_collation = '{collation}'")
        for asked in (
            "SELECT equivalence_class_size(a) FROM t",
            "FROM risk_summary(t, ['a'])",
            "FROM l_diversity(t, ['a'], 'b')",
        ):
            with pytest.raises(duckdb.Error, match="default_collation must be unset"):
                con.execute(asked).fetchall()


@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT", "NOCASE.NOACCENT", "NFC"])
@pytest.mark.parametrize(
    "asked",
    [
        "SELECT equivalence_class_size(a, b) FROM t",
        "SELECT equivalence_class_size(a, b, n, a, b, n) FROM t",
        "FROM risk_summary(t, ['b', 'a'])",
        "FROM attribute_risk(t, ['b', 'a', 'n'], max_size := 2)",
        "FROM class_size_histogram(t, ['b'], entity := 'a')",
        "FROM journalist_risk(t, t, ['a'])",
        "FROM l_diversity(t, ['b'], 'a')",
        "FROM qar_risk(t, ['a', 'b'], p := 1)",
        "FROM individual_risk(t, ['a'])",
        "FROM fit_copula('m', t, ['a', 'b'])",
        "FROM unicity(t, 'b', 'a', output := 'curve')",
        "FROM adversary_risk(t, {'population': 9, 'groups': [{'columns': ['a'], 'probability': 0.5}]})",
    ],
)
def test_a_column_with_a_collation_of_its_own_is_refused(collation: str, asked: str) -> None:
    with duckdb.connect() as con:
        reid_sql.register(con)
        con.execute(f"CREATE TABLE t(a VARCHAR COLLATE {collation}, b VARCHAR, n INTEGER)")
        con.execute("INSERT INTO t VALUES ('a', 'x', 1), ('A', 'x', 1), ('á', 'x', 2)")
        with pytest.raises(
            duckdb.Error, match="must distinguish texts that differ, got a collation of its own"
        ):
            con.execute(asked).fetchall()
        con.execute("CREATE VIEW v AS SELECT * REPLACE (decode(encode(a)) AS a) FROM t")
        assert con.execute("SELECT k, classes FROM risk_summary(v, ['b', 'a'])").fetchall() == [
            (1, 3)
        ]


@pytest.mark.parametrize(
    "shape", ["{}", "{{'x': {}}}", "[{}]", "MAP {{'k': {}}}", "[{{'x': [{}]}}]"]
)
@pytest.mark.parametrize(
    "pair",
    [
        ("0.0::DOUBLE", "-0.0::DOUBLE"),
        ("'nan'::DOUBLE", "-'nan'::DOUBLE"),
        ("NULL", "0"),
    ],
)
@pytest.mark.parametrize("columns", [1, 7])
def test_values_within_values_are_alike_as_in_group_by(
    con: duckdb.DuckDBPyConnection, shape: str, pair: tuple[str, str], columns: int
) -> None:
    one, other = (shape.format(value) for value in pair)
    con.execute(f"CREATE TABLE t AS SELECT {one} AS a, 1 AS b UNION ALL SELECT {other}, 1")
    classes = con.execute("SELECT count(*) FROM (SELECT DISTINCT a FROM t)").fetchall()[0][0]
    more = ", b" * (columns - 1)
    found = con.execute(f"SELECT equivalence_class_size(a{more}) FROM t").fetchall()
    assert found == [(3 - classes,)] * 2
    con.execute(
        f"CREATE TABLE wide AS SELECT a, {', '.join(f'b AS b{n}' for n in range(columns))} FROM t"
    )
    names = ["a", *(f"b{n}" for n in range(columns))]
    assert con.execute(f"SELECT classes FROM risk_summary(wide, {names})").fetchall() == [
        (classes,)
    ]
