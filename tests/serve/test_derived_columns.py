"""Bands and conditions of one column are counted as columns of their own, and linked with one another."""

from pathlib import Path

import duckdb
import pytest

import reid_sql
from reid_sql.errors import ReidError
from reid_sql.serve.catalogue import read_columns
from reid_sql.serve.derived_columns import DerivedColumn
from reid_sql.serve.statement import Reader
from tests.serve.door import Door

pytestmark = pytest.mark.filterwarnings("ignore:Arrow output")
NEAR = "with those before"
BANDS = [  # statements, each answered alone, of which all together give a group of three people
    ["SELECT count(*) FROM people WHERE age >= 40", "SELECT count(*) FROM people WHERE age >= 41"],
    [
        "SELECT age // 10, count(*) FROM people GROUP BY 1",
        "SELECT age > 40, count(*) FROM people WHERE age NOT BETWEEN 35 AND 40 GROUP BY 1",
    ],
    [
        "SELECT count(*) FROM people WHERE age BETWEEN 30 AND 40",
        "SELECT count(*) FROM people WHERE age BETWEEN 40 AND 50",
        "SELECT count(*) FROM people WHERE age BETWEEN 30 AND 50",
    ],
    [
        "SELECT sex, count(*) FROM people WHERE age >= 40 GROUP BY sex",
        "SELECT sex, count(*) FROM people WHERE age > 40 GROUP BY sex",
    ],
    [
        "SELECT age, count(*) FROM people GROUP BY age",
        "SELECT age // 10, count(*) FROM people WHERE age NOT BETWEEN 35 AND 40 GROUP BY 1",
    ],
]


@pytest.fixture
def con() -> duckdb.DuckDBPyConnection:
    """People of ages 20 to 59, twenty of each, but three women of each age from 40 to 44."""
    con = duckdb.connect()
    reid_sql.register(con)
    con.execute(
        """CREATE TABLE people AS SELECT age, CASE WHEN n % 2 = 0 THEN 'F' ELSE 'M' END AS sex, n AS number,
        (CASE WHEN n % 3 = 0 THEN 'rare' ELSE 'often' END)::ENUM ('often', 'rare', 'nobody') AS kind
        FROM range(20, 60) a(age), range(20) b(n) WHERE age NOT BETWEEN 40 AND 44 OR n IN (0, 2, 4)"""
    )
    return con


def test_a_range_is_counted_although_one_of_its_values_is_hidden(
    con: duckdb.DuckDBPyConnection,
) -> None:
    door = Door(con)
    assert door.ask("SELECT age, count(*) FROM people GROUP BY age")[-1] == (None, None)
    for sql in (
        "SELECT age // 10 AS decade, count(*) FROM people GROUP BY 1",
        "SELECT sex, count(*) FROM people WHERE age >= 30 AND age < 45 GROUP BY sex",
        "SELECT count(*) FROM people WHERE age BETWEEN 35 AND 45",
    ):
        assert sorted(door.ask(sql)) == sorted(con.execute(sql).fetchall())


def test_whole_cells_answer_each_expression_of_their_columns(
    con: duckdb.DuckDBPyConnection,
) -> None:
    """What follows from them is no secret: it is computed from them, and nothing new is recorded."""
    con.execute("CREATE TABLE whole AS SELECT age, sex FROM people WHERE age NOT BETWEEN 40 AND 44")
    door = Door(con, ["whole"])
    door.ask("SELECT age, sex, count(*) FROM whole GROUP BY age, sex")
    answers = door.server.answerer.mask.record
    before = answers.list_published("whole", (None, "value"), ["age", "sex"])
    for sql in (
        "SELECT age % 7, count(*) FROM whole GROUP BY 1",
        "SELECT (age + 3) // 7 AS band, sex, count(*) FROM whole WHERE age <> 21 GROUP BY ALL",
        "SELECT sex, count(*) FROM whole WHERE age >= 21 AND age < 999 GROUP BY sex",
        "SELECT count(*) FROM whole WHERE age > 57",
        "SELECT sex, count(*) FROM whole WHERE left(age::VARCHAR, 1) = '3' GROUP BY sex",
    ):
        assert sorted(door.ask(sql)) == sorted(con.sql(sql).fetchall()), sql
    assert answers.list_published("whole", (None, "value"), ["age", "sex"]) == before
    hidden = Door(con)
    hidden.ask("SELECT age, sex, count(*) FROM people GROUP BY age, sex")
    answer = hidden.ask("SELECT age % 7, count(*) FROM people GROUP BY 1")
    assert {count for _, count in answer} == {None}


@pytest.mark.parametrize("statements", BANDS)
@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.first(cells=3)
def test_bands_that_subtract_to_few_people_are_refused(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, statements: list[str], *, restarts: bool
) -> None:
    """The last statement at the latest, which three may be needed for."""
    record = tmp_path / "record.duckdb"
    door = Door(con, record=record)
    first, *others = statements
    assert None not in door.ask(first)[0]
    answers = []
    for sql in others:
        if restarts:
            del door
            door = Door(con, record=record)
        try:
            answers.append(door.ask(sql)[-1])
        except ReidError as error:
            assert NEAR in str(error)  # noqa: PT017 - one of two ways
    assert len(answers) < len(others) or None in answers[-1]


def test_each_of_these_statements_is_answered_alone(con: duckdb.DuckDBPyConnection) -> None:
    for sql in {sql for statements in BANDS for sql in statements}:
        assert Door(con).ask(sql)


def answer_of(con: duckdb.DuckDBPyConnection, sql: str) -> object:
    """The rows of the answer, or its refusal."""
    try:
        return Door(con).ask(sql)
    except ReidError as error:
        return str(error)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM people WHERE age <> {}",
        "SELECT sex, count(*) FROM people WHERE age < {} OR age > {} GROUP BY sex",
        "SELECT count(*) FROM people WHERE (age = {}) = false",
        "SELECT age = {}, count(*) FROM people GROUP BY 1",
        "SELECT CASE WHEN age = {} THEN 1 WHEN age < 30 THEN 2 ELSE 3 END, count(*) FROM people GROUP BY 1",
        "SELECT CASE WHEN age = {} THEN CAST('x' AS INTEGER) ELSE 1 END, count(*) FROM people GROUP BY 1",
        "SELECT (age + {}) % 1000 // 999, count(*) FROM people GROUP BY 1",
        "SELECT nullif(age, {}) > 0, count(*) FROM people GROUP BY 1",
        "SELECT CAST(age - {} AS BOOLEAN), count(*) FROM people GROUP BY 1",
        "SELECT abs(age - {}) > 0, count(*) FROM people GROUP BY 1",
        "SELECT (age = {} AND NULL) OR age > 50, count(*) FROM people GROUP BY 1",
        "SELECT (age = {} AND age // 0 > 1) OR age > 50, count(*) FROM people GROUP BY 1",
        "SELECT CASE WHEN age = {} THEN NULL WHEN age > 50 THEN 1 ELSE 2 END = 1, count(*) FROM people GROUP BY 1",
    ],
)
@pytest.mark.first(cells=3)
def test_whether_somebody_has_a_value_is_not_told(con: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Three people have the first value, and nobody the second."""
    con.execute("DELETE FROM people WHERE age = 42")
    for some, nobody in ((40, 42), (999 - 40, 999 - 42)):
        assert answer_of(con, sql.replace("{}", str(some))) == answer_of(
            con, sql.replace("{}", str(nobody))
        )


def test_the_oldest_is_not_found_by_conditions(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("INSERT INTO people SELECT 97, 'F', 1, 'often'")
    sql = "SELECT count(*) FROM people WHERE age < {}"
    assert len({str(answer_of(con, sql.format(age))) for age in (60, 97, 98, 200)}) == 1


@pytest.mark.first(cells=2)
@pytest.mark.parametrize(
    "expression",
    [
        "CASE WHEN age * 95000000000000000 // 2 > 39 * 95000000000000000 / 2 THEN 1 ELSE 2 END",
        "age * 95000000000000000 // 2 > 39 * 95000000000000000 / 2",
        "TRY_CAST(age + 30 AS TINYINT) > 69",
    ],
)
def test_what_fails_for_the_oldest_is_no_group(
    con: duckdb.DuckDBPyConnection, expression: str
) -> None:
    """Else whoever chooses the factor finds who is oldest: there is a hidden group, or none."""
    con.execute("INSERT INTO people SELECT 98, 'F', 1, 'often'")
    rows = Door(con).ask(f"SELECT {expression}, count(*) FROM people GROUP BY 1")
    assert sorted(count for _, count in rows) == [315, 401]


def test_a_column_may_be_a_condition(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("DELETE FROM people WHERE age BETWEEN 40 AND 44")
    sql = "SELECT count(*) FROM people WHERE age"
    assert Door(con).ask(sql) == con.execute(sql).fetchall() == [(700,)]


def test_what_an_enum_lists_is_not_told(con: duckdb.DuckDBPyConnection) -> None:
    for condition in ("kind <> '{}'", "kind = '{}' OR kind = 'rare'"):
        sql = f"SELECT count(*) FROM people WHERE {condition}"
        assert answer_of(con, sql.format("x")) == answer_of(con, sql.format("nobody"))


def test_a_condition_that_fails_for_values_does_not_hold_for_them(
    con: duckdb.DuckDBPyConnection,
) -> None:
    sql = "SELECT count(*) FROM people WHERE age * 200000000000000000 // 2 > 0"
    with pytest.raises(duckdb.Error):
        con.execute(sql)
    assert Door(con).ask(sql) == [(455,)]  # to the age of 46


def test_columns_without_null_may_be_asked_to_have_none(con: duckdb.DuckDBPyConnection) -> None:
    sql = "SELECT sex, count(*) FROM people WHERE age IS NOT NULL GROUP BY sex ORDER BY sex"
    assert Door(con).ask(sql) == con.execute(sql).fetchall()


def test_the_log_has_the_column_and_no_constant(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    log = tmp_path / "log.jsonl"
    Door(con, log=log).ask("SELECT count(*) FROM people WHERE age < 37")
    line = log.read_text()
    assert '"people: cells with their categories of age"' in line
    assert "37" not in line.split('"time"')[0] + line.split('"statement"')[1].split('"reason"')[0]


def test_figures_of_a_column_are_refused_beside_its_bands(con: duckdb.DuckDBPyConnection) -> None:
    door = Door(con)
    door.ask("SELECT age // 10, count(*) FROM people GROUP BY 1")
    with pytest.raises(ReidError, match="must not subtract"):
        door.ask("FROM reid.risk_summary(people, ['age', 'sex'])")


def test_sums_are_of_cells_and_not_of_bands(con: duckdb.DuckDBPyConnection) -> None:
    sql = "SELECT age > 40, sum(number) FROM people GROUP BY 1"
    with pytest.raises(ReidError, match="sums must be of groups that hide nothing"):
        Door(con).ask(sql)


def test_a_policy_names_the_columns_of_expressions(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    (tmp_path / "people.csv").write_text("age,sex\n1,F\n")
    (tmp_path / "policy.toml").write_text(
        "[[tables]]\nname = 'people'\nfile = 'people.csv'\nquasi_identifiers = ['age', 'sex']\n"
        "[[tables.checks]]\nmeasure = 'k'\nat_least = 2\n"
    )
    door = Door(con, policy=tmp_path / "policy.toml")
    assert (
        sum(row[1] for row in door.ask("SELECT age // 10, count(*) FROM people GROUP BY 1")) == 715
    )
    with pytest.raises(ReidError, match="by must be columns that the policy names"):
        door.ask("SELECT count(*) FROM people WHERE number < 10")


def test_two_expressions_have_two_names() -> None:
    """Names of cells have no case."""
    names = {
        DerivedColumn("town", f"left(town, 1) = '{letter}'").name.casefold() for letter in "aA"
    }
    assert len(names) == 2


def test_a_band_that_was_refused_first_is_linked_after_a_restart(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    """Three women are 40 to 44, and all men: by sex the second band is refused, and answered alone."""
    con.execute("INSERT INTO people SELECT 40, 'M', n, 'often' FROM range(12) t(n)")
    record = tmp_path / "record.duckdb"
    door = Door(con, record=record)
    by_sex = "SELECT sex, count(*) FROM people WHERE age >= {} GROUP BY sex"
    door.ask(by_sex.format(40))
    with pytest.raises(ReidError, match=NEAR):
        door.ask(by_sex.format(41))
    assert door.ask("SELECT count(*) FROM people WHERE age >= 41") == [(312,)]
    del door
    with pytest.raises(ReidError, match=NEAR):
        Door(con, record=record).ask("SELECT count(*) FROM people WHERE age >= 42")


def test_a_record_of_bands_of_another_column_is_refused_in_one_sentence(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    record = tmp_path / "record.duckdb"
    Door(con, record=record).ask("SELECT count(*) FROM people WHERE age >= 47")
    for change in ("ALTER age TYPE VARCHAR", "RENAME age TO years"):
        con.execute(f"ALTER TABLE people {change}")
        with pytest.raises(ReidError, match="ask the owner for a new record"):
            Door(con, record=record).ask("SELECT sex, count(*) FROM people GROUP BY sex")


@pytest.mark.parametrize(
    ("expression", "is_band"),
    [
        ("age // 10", True),
        ("age // 10 * 10 + 5", True),
        ("floor(age / 2.5)", True),
        ("floor((age - 20) / 10)", False),
        ("age // 97", False),
        ("(age + 3) // 10", False),
        ("age // 2 // 5", False),
        ("(age // 2 + 7) // 10", False),
        ("CAST((age // 2 + 7) * 0.02 AS INTEGER)", False),
        ("age * 3 // 10", False),
        ("age + 1", False),
        ("round(age, -1)", True),
        ("left(sex, 1)", True),
        ("CAST(floor(age / 10) AS BIGINT)", True),
        ("CAST(age AS TINYINT)", False),
        ("CAST(floor(age / 2e-17) AS BIGINT)", False),
        ("floor(age / 2e-307)", False),
        ("substring(CAST(age / 2e-17 AS VARCHAR), 17, 1)", False),
        ("CAST(substring(sex, 1, 1) AS DOUBLE)", False),
        ("CAST(sex AS DATE)", False),
        ("CASE WHEN age + 3 > 40 THEN 1 ELSE 2 END", True),
    ],
)
@pytest.mark.first(cells=2)
def test_the_ends_of_bands_are_round(
    con: duckdb.DuckDBPyConnection, expression: str, *, is_band: bool
) -> None:
    """Whoever shifts the last band until it is hidden finds the largest value."""
    question = Reader(["people"], columns=read_columns(con, ["people"])).read(
        f"SELECT {expression}, count(*) FROM people GROUP BY 1"
    )
    assert bool(question.calls[0].derived) is is_band


@pytest.mark.first(cells=1)
@pytest.mark.parametrize("second", ["age BETWEEN 30 AND 39", "sex = 'F'"])
def test_bands_of_two_tables_of_the_same_people_are_not_overlaid(
    con: duckdb.DuckDBPyConnection, second: str
) -> None:
    """People from 30 on less those from 30 to 39 in a view of them could be a few."""
    con.execute("CREATE VIEW twin AS FROM people WHERE true")
    for tables in (["people", "twin"], ["twin", "people"]):
        door = Door(con, ["people", "twin"])
        door.ask(f"SELECT count(*) FROM {tables[0]} WHERE age >= 30")
        door.ask(f"SELECT count(*) FROM {tables[1]}")
        with pytest.raises(ReidError, match="bands must be of one table"):
            door.ask(f"SELECT count(*) FROM {tables[1]} WHERE {second}")
