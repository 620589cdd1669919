"""Plain SQL of a served table: what is shown is the true count, and what may be small is hidden."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

import reid_sql
from reid_sql.errors import ReidError
from reid_sql.serve.audited_counts import RevealingError
from reid_sql.serve.catalogue import read_columns
from reid_sql.serve.filters import Filter
from reid_sql.serve.statement import Reader
from tests.serve.door import Door

pytestmark = pytest.mark.filterwarnings("ignore:Arrow output")
MASK = 10
SESSIONS = duckdb.extract_statements(
    Path(__file__).with_name("sessions.sql").read_text(encoding="utf-8")
)


WHERE = [
    "",
    "WHERE sex = 'F'",
    "WHERE age IN (20, 21)",
    "WHERE age BETWEEN 20 AND 22",
    "WHERE age >= 21 AND 23 > age",
    "WHERE age > 27",
    "WHERE seen BETWEEN DATE '2026-01-01' AND DATE '2026-01-02'",
    "WHERE region <> 'north'",
    "WHERE region IN ('north', 'nowhere')",
    "WHERE sex = 'F' AND age = 20",
    "WHERE note IS NULL",
    "WHERE sex = 'F' OR age = 20",
    "WHERE pid = 17",
    "WHERE false",
]
GROUPS = ["", "sex", "region", "sex, region", "age", "age // 5", "seen"]


@pytest.mark.first(groups=["", "age"])
@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.first(cells=8)
def test_a_shown_count_is_true_and_a_small_one_is_hidden(
    con: duckdb.DuckDBPyConnection, groups: str, where: str
) -> None:
    listed = f"{groups}, " if groups else ""
    sql = (
        f"SELECT {listed}count(*) AS n FROM people {where} {'GROUP BY ' + groups if groups else ''}"
    )
    due = {row[:-1]: row[-1] for row in con.execute(sql).fetchall()}
    try:
        answer = Door(con).ask(sql)
    except ReidError as error:
        assert " must " in str(error)  # noqa: PT017 - of too many cells, or of people that are too few
        assert "pid" in where or "false" in where
        return
    shown = {row[:-1]: row[-1] for row in answer if row[-1] is not None}
    assert shown.items() <= due.items()
    assert all(count == 0 or count >= MASK for count in shown.values())
    hidden = due.keys() - shown.keys()
    # whoever is not shown is stood for by a NULL in their row, or by the last row
    assert not hidden or any(row[-1] is None for row in answer)


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT count(*) FROM people", [(600,)]),
        ("SELECT count(1), count(sex) FROM people", [(600, 600)]),
        ("SELECT count(*) FROM people WHERE sex = 'X'", [(0,)]),  # sexes hide nothing
        ("SELECT sex, count(*) AS n FROM people GROUP BY sex HAVING n > 10000", []),
        ("SELECT count(*) FROM people LIMIT 0", []),
        ("SELECT count(*) FROM people WHERE age = 41", [(None,)]),  # of ages, some are hidden
        ("SELECT age, count(*) FROM people GROUP BY 1 HAVING count(*) > 10000", [(None, None)]),
        ("SELECT count(DISTINCT pid) FROM people", [(600,)]),
        (
            "SELECT age, count(*) FROM people GROUP BY age HAVING count(*) > 10000 OR count(*) IS NULL",
            [(None, None)],
        ),
    ],
)
def test_none_is_told_from_hidden_where_nothing_is_hidden(
    con: duckdb.DuckDBPyConnection, sql: str, rows: list[tuple[Any, ...]]
) -> None:
    assert Door(con).ask(sql) == rows


@pytest.mark.parametrize(
    ("where", "number"),
    [
        ("age = 20", 1),
        ("20 = age", 1),
        ("age = '20'", 1),
        ("age IN (20, 21, 21)", 2),
        ("age BETWEEN 20 AND 24", None),
        ("age >= 20 AND age < 25", None),
        ("age IN (20, 21) AND age > 20", None),
        ("age = 20 AND age = 21", 0),
        ("sex = 'F' AND age IN (20, 21)", 2),
        ("seen IN (DATE '2026-01-30', '2026-01-30')", 1),
        ("note IS NULL", 1),
        ("age > 20", None),
        ("age = 20 OR age = 21", 2),
        ("(age = 20 OR age IN (21, 22) OR age IS NULL) AND age <> 21", None),
        ("(age = 20 OR age IN (21, 22) OR age = 20) AND age = 21", 1),
        ("note IS NULL OR note = 'a'", 2),
        ("age = 20 OR age > 21", None),
        ("age = 20 OR sex = 'F'", None),
        ("age = 20 OR age = NULL", None),
        ("age = 20 OR age = 21 AND age = 22", None),
        ("age = 20.5", None),
        ("sex = 1", None),
        ("sex BETWEEN 'F' AND 'M'", None),
        ("age IN (20, NULL)", None),
        ("age + 1 = 21", None),
        ("upper(sex) = 'F'", None),
        ("age = pid", None),
    ],
)
def test_a_filter_names_so_many_values_one_by_one(
    con: duckdb.DuckDBPyConnection, where: str, number: int | None
) -> None:
    columns = read_columns(con, ["people"])
    reader = Reader(["people"], columns=columns)
    tree = reader.parse(f"SELECT 1 FROM people WHERE {where}")["where_clause"]
    assert Filter(columns["people"], reader.compute).number_of_cells(tree, []) == number


@pytest.mark.first(cells=1)
@pytest.mark.parametrize(
    "where",
    ["age IN (20, 21)", "age BETWEEN 20 AND 22", "age = 20", "age = 20 OR age = 22 OR age = 20"],
)
def test_a_range_is_shown_where_each_of_its_values_is(
    con: duckdb.DuckDBPyConnection, where: str
) -> None:
    """Older ages are hidden, so that not all of the table is shown."""
    sql = f"SELECT count(*) FROM people WHERE {where}"
    assert Door(con).ask(sql) == con.execute(sql).fetchall()


def test_names_of_an_answer_are_those_that_duckdb_gives(con: duckdb.DuckDBPyConnection) -> None:
    door, sql = (
        Door(con),
        "SELECT sex, count(*), count(*) * 2 AS twice, sum(pay) FROM people GROUP BY sex",
    )
    answer = door.server.answerer.public.execute(door.server.ask(sql, "ann", "1"))
    due = con.execute(sql)
    assert [each[0] for each in answer.description] == ["sex", "count_star()", "twice", "sum(pay)"]
    assert sorted(answer.fetchall()) == sorted(due.fetchall())


def test_sums_and_means_are_true_and_those_of_few_are_hidden(
    con: duckdb.DuckDBPyConnection,
) -> None:
    """The four oldest ages are few people each, and 30 together."""
    sql = "SELECT {0}, sum(pay), avg(pay), count(*) FROM people GROUP BY {0} ORDER BY {0}"
    for column, hidden in (("sex", []), ("age", [(None, None, None, None)])):
        due = con.execute(sql.format(column)).fetchall()
        shown = [
            (value, total, pytest.approx(mean), count)
            for value, total, mean, count in due
            if count >= 10
        ]
        assert Door(con).ask(sql.format(column)) == shown + hidden
    with pytest.raises(ReidError, match="sums must be of groups that hide nothing"):
        Door(con).ask(sql.format("region, sex"))


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ("SELECT * FROM people", "must count the records of a table"),
        ("SELECT sex FROM people", "must count the records of a table"),
        ("SELECT DISTINCT region FROM people", "values must be counted, got DISTINCT"),
        ("SELECT max(age) FROM people", 'count the values: SELECT "age"'),
        ("SELECT sex, median(age) FROM people GROUP BY sex", "must be count"),
        ("SELECT sex, sum(age * 2) FROM people GROUP BY sex", "got an expression; name the column"),
        ("SELECT sum(DISTINCT pay) FROM people", "omit DISTINCT"),
        ("SELECT count(note) FROM people", "GROUP BY note IS NULL"),
        ("SELECT sex, avg(note) FROM people GROUP BY sex", "must be of a column with a value"),
        ("SELECT count(*) FILTER (sex = 'F') FROM people", "write the condition after WHERE"),
        ("SELECT count(CASE WHEN sex = 'F' THEN 1 END) FROM people", "the condition after WHERE"),
        ("SELECT count(nullif(sex, 'F')) FROM people", "got an expression that may have no value"),
        ("SELECT count(sex = 'F' OR NULL) FROM people", "got an expression that may have no value"),
        ("SELECT count(NULL) FROM people", "got an expression that may have no value"),
        ("SELECT sex, age, count(*) FROM people GROUP BY sex", "got 'age'; add it to GROUP BY"),
        ("SELECT agee, count(*) FROM people GROUP BY agee", "did you mean 'age'"),
        ("SELECT sex, count(*) FROM people GROUP BY CUBE (sex, age)", "got several sets of them"),
        (
            "SELECT sum(n) FROM (SELECT sex, count(*) n FROM people GROUP BY sex)",
            "must not be added up",
        ),
        (
            "WITH a AS (SELECT age, count(*) n FROM people GROUP BY age) SELECT sum(n) FROM a",
            "added up",
        ),
        ("SELECT count(*) FROM people WHERE pid IN (SELECT 1)", "got a subquery"),
        (
            "SELECT count(*) FROM people JOIN people AS p USING (pid)",
            "must count groups of one table",
        ),
        ("SELECT count(*) FROM people, duckdb_tables()", "must"),
        ("SELECT count(*) FROM nobody", "got 'nobody'"),
        ("SELECT sum(pid % 2) FROM people GROUP BY sex", "name the column"),
        (
            "SELECT age, count(*) FROM people AS p(sex, age) GROUP BY age",
            "must count groups of one table",
        ),
        (
            "SELECT age, count(*) FROM (SELECT * FROM people) AS p(sex, age) GROUP BY age",
            "must count",
        ),
        ("SELECT sex, count(*) FROM people TABLESAMPLE 10 % GROUP BY sex", "got the part 'sample'"),
        ("SELECT count(*) FROM (SELECT * FROM people) TABLESAMPLE 10 %", "got the part 'sample'"),
        (
            "WITH a AS (FROM people) SELECT count(*) FROM a TABLESAMPLE 10 %",
            "got the part 'sample'",
        ),
        ("SELECT count(*) FROM (SELECT sex FROM people GROUP BY ALL)", "added up"),
        ("WITH a AS (SELECT sex FROM people GROUP BY ALL) SELECT count(*) FROM a", "added up"),
        (
            "WITH a(sex, age) AS (FROM people) SELECT sex, count(*) FROM a GROUP BY sex",
            "must count",
        ),
        ("SUMMARIZE people", "show ref"),
        ("SELECT * FROM duckdb_settings()", "must call functions of reid-sql"),
        ("SELECT current_setting('threads') FROM duckdb_tables()", "must"),
        ("SELECT * FROM duckdb_tables(), people", "must"),
        ("SELECT * FROM people LIMIT 1", "must count"),
        ("SELECT count(DISTINCT sex) FROM people", "got fewer by sex; write count(*)"),
    ],
)
def test_what_no_count_answers_is_refused_with_the_question_that_is(
    con: duckdb.DuckDBPyConnection, sql: str, sentence: str
) -> None:
    with pytest.raises(ReidError) as refused:
        Door(con).ask(sql)
    assert sentence in str(refused.value)


@pytest.mark.first(cells=1)
@pytest.mark.parametrize(
    "source",
    [
        "(SELECT sex, region FROM (SELECT * FROM people WHERE age = 20))",
        "(FROM (SELECT * FROM people WHERE age = 20) WHERE region = 'north') AS x",
        "(FROM (FROM (FROM people WHERE age = 20) AS p WHERE p.region = 'north') AS q WHERE q.sex = 'F')",
    ],
)
def test_each_condition_of_selects_within_selects_holds(
    con: duckdb.DuckDBPyConnection, source: str
) -> None:
    statements = [
        f"SELECT sex, count(*) FROM {source} GROUP BY sex",
        f"WITH p AS (SELECT * FROM {source}) SELECT sex, count(*) FROM P AS q GROUP BY q.sex",
        f"WITH p AS (FROM {source}), q AS (SELECT sex FROM p) SELECT sex, count(*) FROM q GROUP BY ALL",
    ]
    door = Door(con)
    for sql in statements:
        shown = [row for row in door.ask(sql) if row != (None, None)]
        assert sorted(shown) == sorted(con.sql(sql).fetchall()), sql


def test_the_mean_of_everybody_is_answered(con: duckdb.DuckDBPyConnection) -> None:
    sql = "SELECT avg(pay), sum(pay), count(*), avg(pay) / 2 AS half FROM people"
    [answer], [true] = Door(con).ask(sql), con.sql(sql).fetchall()
    assert answer == pytest.approx(true)
    con.execute(
        "CREATE TABLE rich AS SELECT pid % 2 AS ill, if(pid = 0, 1e7, pay) AS pay FROM people"
    )
    for refused in ("avg(pay)", "sum(ill)", "sum(pay), count(*)"):
        with pytest.raises(
            ReidError, match=r"^(sums must be of groups that|a sum must be of at least)"
        ):
            Door(con, ["rich"]).ask(f"SELECT {refused} FROM rich")


def test_a_mean_of_everybody_is_compared_with_earlier_ones(con: duckdb.DuckDBPyConnection) -> None:
    """Pay less basic pay is the bonus of one person."""
    con.execute(
        "CREATE TABLE paid AS SELECT pay + if(pid = 0, 500, 0) AS pay, pay AS basic FROM people"
    )
    door = Door(con, ["paid"])
    door.ask("SELECT avg(pay) FROM paid")
    with pytest.raises(ReidError, match="a sum must not give another one of few people"):
        door.ask("SELECT sum(basic) FROM paid")


def test_a_sum_of_ones_and_zeros_is_a_count_and_is_refused(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE OR REPLACE TABLE ills AS SELECT sex, (pid < 3)::INT AS ill FROM people")
    with pytest.raises(
        ReidError, match="at least 10 different values in each cell, got fewer of ill"
    ):
        Door(con, ["ills"]).ask("SELECT sex, sum(ill) FROM ills GROUP BY sex")


def test_a_sum_of_which_one_person_has_most_is_refused(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(
        "CREATE OR REPLACE TABLE rich AS SELECT sex, CASE WHEN pid = 0 THEN 1e7 ELSE pay END AS pay FROM people"
    )
    with pytest.raises(ReidError, match="sums must be of groups that hide nothing"):
        Door(con, ["rich"]).ask("SELECT sex, sum(pay) FROM rich GROUP BY sex")


@pytest.mark.first(cells=3)
@pytest.mark.parametrize(
    ("where", "figure"),
    [
        ("WHERE age IN (20, 21)", "count(*)"),
        ("WHERE age BETWEEN 20 AND 22", "count(*)"),
        ("WHERE age = 20", "count(*)"),
        ("", "count(*)"),
        ("WHERE age IN (20, 21)", "count(DISTINCT person)"),
        ("", "count(DISTINCT person)"),
    ],
)
def test_people_of_several_rows_are_counted_once_or_not(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, where: str, figure: str
) -> None:
    """The policy counts people; each has a row at one age and a row at the next."""
    con.execute(
        """CREATE OR REPLACE TABLE visits AS SELECT pid AS person, sex, 20 + (pid + i) % 3 AS age
        FROM people, range(2) t(i)"""
    )
    (tmp_path / "visits.csv").write_text("person,sex,age\n1,F,20\n", encoding="utf-8")
    (tmp_path / "policy.toml").write_text(
        """[[tables]]
        name = "visits"
        file = "visits.csv"
        entity = "person"
        quasi_identifiers = ["sex", "age"]
        checks = [{measure = "k", at_least = 2}]
        """,
        encoding="utf-8",
    )
    door = Door(con, ["visits"], tmp_path / "policy.toml")
    for groups in ("", "sex", "age"):
        sql = f"SELECT {groups + ', ' if groups else ''}{{}} FROM visits {where}"
        sql += f" GROUP BY {groups}" if groups else ""
        due = {
            row[:-1]: row[-1]
            for row in con.execute(sql.format("count(DISTINCT person)")).fetchall()
        }
        try:
            answer = door.ask(sql.format(figure))
        except (
            ReidError
        ) as error:  # of cells of other columns, in which people are as often as there
            assert "must count the people of the answers before" in str(error)  # noqa: PT017
            continue
        shown = {row[:-1]: row[-1] for row in answer if row[-1] is not None}
        assert shown.items() <= due.items(), (sql, shown, due)
        assert answer[-1][-1] is None or not groups
    with pytest.raises(ReidError, match="person"):
        door.ask("SELECT person, count(*) FROM visits GROUP BY person")


def test_a_policy_that_leaves_records_out_counts_no_plain_sql(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    """Who has no note would be counted as nobody."""
    (tmp_path / "people.csv").write_text("sex,note\nF,a\n", encoding="utf-8")
    (tmp_path / "policy.toml").write_text(
        '[[tables]]\nfile = "people.csv"\nquasi_identifiers = ["sex", "note"]\nnulls = "drop"\n'
        'checks = [{measure = "k", at_least = 2}]\n',
        encoding="utf-8",
    )
    with pytest.raises(ReidError, match="plain SQL must count records with NULL"):
        Door(con, policy=tmp_path / "policy.toml").ask(
            "SELECT count(*) FROM people WHERE note IS NULL"
        )


def test_how_many_cells_there_are_is_not_told(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE OR REPLACE TABLE wide AS SELECT i % 2417 AS code FROM range(30000) t(i)")
    with pytest.raises(ReidError, match="must be at most 2,000, got more") as refused:
        Door(con, ["wide"]).ask("SELECT code, count(*) FROM wide GROUP BY code")
    assert "417" not in str(refused.value)


def test_sums_of_the_function_follow_the_rules_of_plain_ones(
    con: duckdb.DuckDBPyConnection,
) -> None:
    """Of several columns no cell may be hidden, and nobody may have most of a sum."""
    con.execute(
        "CREATE OR REPLACE TABLE rich AS SELECT *, pay + 1e7 * (pid = 0)::INT AS all_pay FROM people"
    )
    door = Door(con, ["people", "rich"])
    for sql in (
        "FROM reid.safe_table(people, ['age', 'sex'], value := 'pay')",
        "SELECT age, sex, sum(pay) FROM people GROUP BY age, sex",
        "FROM reid.safe_table(rich, ['sex'], value := 'all_pay')",
    ):
        with pytest.raises(ReidError, match="sums must be of groups that hide nothing"):
            door.ask(sql)
    assert len(door.ask("FROM reid.safe_table(people, ['sex'], value := 'pay')")) == 2


def test_a_statement_whose_types_do_not_fit_is_not_recorded(con: duckdb.DuckDBPyConnection) -> None:
    door = Door(con)
    with pytest.raises(duckdb.Error, match="Binder Error"):
        door.ask("SELECT count(*) FROM people WHERE sex + 1 = 2")
    assert door.ask("SELECT sex, count(*) FROM people GROUP BY sex")
    assert door.server.answerer.mask.record._counts().keys() == {"people"}  # noqa: SLF001


@pytest.mark.first(cells=1)
@pytest.mark.parametrize(
    "sql",
    [
        "FROM (SELECT 'F' AS sex) people, LATERAL (SELECT count(*) FROM people AS q WHERE q.sex = people.sex)",
        """FROM (SELECT 'F' AS sex) u,
        LATERAL (SELECT count(*) FROM (SELECT * FROM people AS u) v WHERE v.sex = u.sex)""",
        "SELECT (SELECT count(*) FROM people q WHERE q.sex = people.sex) FROM (SELECT 'F' AS sex) people",
        """SELECT (SELECT count(*) FROM people q WHERE q.age = people.k)
        FROM reid.risk_summary(people, ['sex']) AS people""",
    ],
)
def test_a_count_that_hangs_on_another_place_of_its_statement_is_refused(
    con: duckdb.DuckDBPyConnection, sql: str
) -> None:
    """DuckDB counts 279 of the first three: a name of another place was taken for the table's."""
    door = Door(con)
    with pytest.raises((ReidError, duckdb.BinderException)):
        door.ask(sql)
    assert not door.server.answerer.mask.record._counts()  # noqa: SLF001


@pytest.mark.parametrize("sql", [each.query.strip().removesuffix(";") for each in SESSIONS])
@pytest.mark.first(cells=8)
def test_what_known_clients_send_is_answered(con: duckdb.DuckDBPyConnection, sql: str) -> None:
    Door(con).ask(sql)


def test_the_catalogue_has_names_and_types_and_no_value(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE TYPE mood AS ENUM ('secret one', 'other')")
    con.execute("CREATE TABLE moods AS SELECT 'other'::mood AS mood FROM people")
    door = Door(con, ["moods"])
    assert ("mood", "VARCHAR") in [row[:2] for row in door.ask("DESCRIBE moods")]
    for sql in ("FROM duckdb_columns()", "FROM duckdb_types()", "FROM duckdb_tables()"):
        found = door.ask(sql)
        assert found
        assert "secret one" not in str(found)
    [row] = door.ask("SELECT estimated_size FROM duckdb_tables()")
    assert row == (0,)


@pytest.mark.first(cells=2)
@pytest.mark.parametrize(
    "kind",
    [
        "['24:00:00', '00:00:00', '12:00:00']::TIME[]",
        "['12:00:00+01', '12:00:00+02', '13:00:00+02']::TIMETZ[]",
        "['infinity', '-infinity', '12026-01-01', '0044-03-15 (BC)']::DATE[]",
        "['infinity', '290000-01-01 00:00:00']::TIMESTAMP[]",
        "['a', 'NULL', NULL, '']",
        "[0.1, 0.1::FLOAT::DOUBLE, 'nan']::DOUBLE[]",
    ],
)
def test_what_left_is_recorded_where_python_lacks_a_value(kind: str) -> None:
    """Each group has its count in the record, as DuckDB counts them: none stands for two."""
    with duckdb.connect(config={"arrow_lossless_conversion": True}) as con:
        reid_sql.register(con)
        con.execute(
            f"CREATE TABLE people AS SELECT value, i % 2 AS sex FROM (SELECT unnest({kind}) AS value), range(20) r(i)"
        )
        con.execute("INSERT INTO people SELECT value, 1 FROM people USING SAMPLE 20 ROWS")
        due = con.execute("SELECT count(*) FROM people GROUP BY value").fetchall()
        for sql in (
            "SELECT value, count(*) FROM people GROUP BY value",
            "FROM reid.class_size_histogram(people, ['sex'], by := 'value')",
        ):
            door = Door(con)
            door.ask(sql)
            [counts] = door.server.answerer.mask.record._counts().values()  # noqa: SLF001
            del counts["{}"]
            assert sorted(map(str, counts.values())) == sorted(str(row[0]) for row in due)


def test_groups_that_are_written_alike_are_refused() -> None:
    with duckdb.connect() as con:
        reid_sql.register(con)
        con.execute(
            """CREATE TABLE people AS SELECT CASE WHEN i < 40 THEN union_value(k := 1)::UNION(k INT, m INT)
            ELSE union_value(m := 1)::UNION(k INT, m INT) END AS value FROM range(100) r(i)"""
        )
        with pytest.raises(ReidError, match="must have values whose texts differ"):
            Door(con).ask("SELECT value, count(*) FROM people GROUP BY value")


def test_that_a_group_of_by_is_small_is_not_told(con: duckdb.DuckDBPyConnection) -> None:
    """Of regions, one is small; the refusal is that of any answer that reveals something with others."""
    with pytest.raises(RevealingError, match="an answer must reveal no group of fewer than 10"):
        Door(con).ask("FROM reid.risk_summary(people, ['sex'], by := 'age')")


def test_a_question_that_is_refused_again_is_not_audited_again(
    con: duckdb.DuckDBPyConnection,
) -> None:
    door, refusals = Door(con), []
    for filtered in ("", "WHERE pid > 5"):
        with pytest.raises(RevealingError) as refused:
            door.ask(f"SELECT pid, count(*) FROM people {filtered} GROUP BY pid")
        refusals.append(refused.value)
    assert refusals[0] is refusals[1]


def test_one_output_of_a_function_is_answered_again(con: duckdb.DuckDBPyConnection) -> None:
    """Its selector is an argument of the call, and no parameter of the output."""
    door = Door(con)
    sql = "FROM reid.compare(people, people, ['age', 'sex'], output := 'columns')"
    assert door.ask(sql) == door.ask(sql) != []


def test_each_example_of_the_help_is_answered_or_names_no_table(
    con: duckdb.DuckDBPyConnection,
) -> None:
    door = Door(con)
    listed = door.ask("FROM reid.help()")
    plain = [example for _, example in listed if "reid." not in example]
    assert len(plain) == 5
    assert all(door.ask(example) for example in plain)
    assert len(listed) > len(plain)


@pytest.mark.first(cells=1)
@pytest.mark.parametrize(
    "call", ["safe_table()", "safe_table(k := 10)", "safe_table(by := ['sex'])", "risk_summary()"]
)
def test_a_call_without_its_table_is_an_error_of_sql(
    con: duckdb.DuckDBPyConnection, call: str
) -> None:
    with pytest.raises(duckdb.BinderException, match="does not support the supplied arguments"):
        Door(con).ask(f"FROM {call}")


@pytest.mark.first(cells=1)
@pytest.mark.parametrize("names", [("straße", "STRASSE"), ("ö", "Ö"), ("age", "Reid_Value_0")])
def test_names_that_would_be_taken_for_others_are_not_served(names: tuple[str, str]) -> None:
    """A count by the second column would be one by the first, or a sum of its values."""
    con = duckdb.connect()
    con.execute(
        f'CREATE TABLE people AS SELECT i % 2 AS "{names[0]}", i % 3 AS "{names[1]}" FROM range(99) r(i)'
    )
    with pytest.raises(ReidError, match="serve a view with other names"):
        Door(con)


@pytest.mark.first(cells=1)
@pytest.mark.parametrize("has_policy", [False, True])
def test_a_cell_of_all_people_but_a_few_is_hidden(tmp_path: Path, *, has_policy: bool) -> None:
    """Three of 500 people, who have several rows each, are in no cell of b."""
    con = duckdb.connect()
    reid_sql.register(con)
    con.execute(
        """CREATE TABLE people AS SELECT person, kind FROM range(500) p(person), (VALUES ('a'), ('b'), ('c')) k(kind)
        WHERE NOT (kind = 'b' AND person < 3) AND NOT (kind = 'a' AND person % 4 = 0)"""
    )
    (tmp_path / "people.csv").write_text("person,kind\n1,a\n")
    (tmp_path / "policy.toml").write_text(
        "mask_below = 10\n[[tables]]\nname = 'people'\nfile = 'people.csv'\nentity = 'person'\n"
        "quasi_identifiers = ['kind']\n[[tables.checks]]\nmeasure = 'k'\nat_least = 2\n"
    )
    door = Door(con, policy=tmp_path / "policy.toml" if has_policy else None)
    rows = door.ask("SELECT kind, count(DISTINCT person) FROM people GROUP BY kind")
    assert sorted(rows, key=str) == [("a", 375), ("c", 500), (None, None)]
    cells = door.ask("FROM reid.safe_table(people, by := ['kind'], entity := 'person')")
    assert "497" not in str(cells)


def test_the_numbers_of_all_people_of_two_tables_do_not_subtract_to_a_few(
    con: duckdb.DuckDBPyConnection,
) -> None:
    """A view lacks four people. The number of rows does not hinder counts of people."""
    con.execute("CREATE OR REPLACE VIEW memory.main.most AS FROM people WHERE pid > 3")
    door = Door(con, tables=("people", "most"))
    assert door.ask("SELECT count(*) FROM people") == [(600,)]
    with pytest.raises(RevealingError, match="must differ from that of another table"):
        door.ask("SELECT count(*) FROM most")
    assert door.ask("SELECT count(*), count(DISTINCT pid) FROM people") == [(600, 600)]
    assert len(door.ask("SELECT sex, count(DISTINCT pid) FROM people GROUP BY sex")) == 3


def test_the_sizes_of_households_are_figures_of_their_column(
    con: duckdb.DuckDBPyConnection,
) -> None:
    """The mean risk of all households gives the sizes of two that are hidden, as their sum is known."""
    door = Door(con)
    assert door.ask("SELECT age, count(*) FROM people GROUP BY age")[-1] == (None, None)
    with pytest.raises(RevealingError, match="must not subtract"):
        door.ask("FROM reid.household_risk(people, household := 'age', columns := ['sex'])")
