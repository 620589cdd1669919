"""What `tbl` may be: every way in which people name a table, and every place from which they call."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tests.cells import each_cell
from tests.engines.asking import (
    FUNCTIONS,
    answer,
    ask,
    counted,
    create,
    empty,
    listed,
    literal,
    quoted,
    tidy,
)
from tests.tables import Row

COLUMNS = ["age", "sex"]
QI = listed(COLUMNS)
PEOPLE: list[Row] = [(34, "F"), (34, "F"), (51, "M"), (51, None), (51, "M"), (8, "F")]
OTHERS: list[Row] = [(1, "X"), (1, "X"), (1, "X")]
EVERY_FUNCTION = each_cell("function", FUNCTIONS, after=empty)


# Where the table is

# What is created or attached first, and how the table is then named in the call.
PLACES = {
    "table": ("TABLE people", "people"),
    "table in capitals": ("TABLE people", "PEOPLE"),
    "string": ("TABLE people", "'people'"),
    "view": ("VIEW people", "people"),
    "temporary table": ("TEMP TABLE people", "people"),
    "temporary table by its database": ("TEMP TABLE people", "temp.people"),
    "temporary view": ("TEMP VIEW people", "people"),
    "name with spaces and quotes": (
        """TABLE "the ""young"" people's" """,
        '''"the ""young"" people's"''',
    ),
    "the same as a string": (
        """TABLE "the ""young"" people's" """,
        """'"the ""young"" people''s"'""",
    ),
    "name with a dot, as a string": ("""TABLE "people.of.2024" """, """'"people.of.2024"'"""),
    "name with a slash": ("""TABLE "f/m" """, '"f/m"'),
    "name with a slash, quoted in a string": ("""TABLE "f/m" """, """'"f/m"'"""),
    "name with a backslash, quoted in a string": ("""TABLE "f\\m" """, """'"f\\m"'"""),
    "name that ends like a file, quoted in a string": (
        """TABLE "people.csv" """,
        """'"people.csv"'""",
    ),
    "schema": ("TABLE clinic.people", "clinic.people"),
    "schema that needs quotes": ("""TABLE "the clinic".people """, '"the clinic".people'),
    "schema, as a string": ("""TABLE "the clinic".people """, """'"the clinic".people'"""),
    "database": ("TABLE other.people", "other.people"),
    "database and schema": ("TABLE other.clinic.people", "other.clinic.people"),
    "all in quotes, as a string": (
        """TABLE "o'ther".main."the people" """,
        """'"o''ther"."main"."the people"'""",
    ),
    "own database and schema": ("TABLE people", "memory.main.people"),
}


def create_at(con: duckdb.DuckDBPyConnection, place: str) -> str:
    """Create the people there, and give the words that name them in the call."""
    con.execute("""ATTACH ':memory:' AS other; ATTACH ':memory:' AS "o'ther" """)
    con.execute("""CREATE SCHEMA clinic; CREATE SCHEMA "the clinic"; CREATE SCHEMA other.clinic""")
    what, table = PLACES[place]
    create(con, what, PEOPLE, COLUMNS)
    return table


@pytest.mark.newest
@each_cell("place", PLACES, after=empty)
def test_a_table_is_found_where_it_is(con: duckdb.DuckDBPyConnection, place: str) -> None:
    question = ask("risk_summary", create_at(con, place), QI)
    assert answer(con, question) == counted("risk_summary", PEOPLE, COLUMNS)


@EVERY_FUNCTION
@each_cell("place", ["view", "all in quotes, as a string"], after=empty)
def test_every_function_finds_it(con: duckdb.DuckDBPyConnection, function: str, place: str) -> None:
    question = ask(function, create_at(con, place), QI)
    assert answer(con, question) == counted(function, PEOPLE, COLUMNS)


@each_cell(
    "name",
    ["s", "t", "c", "i", "tbl", "qi", "columns", "nulls", "threshold", "max_size", "words", "body"],
    after=empty,
)
def test_a_table_may_have_a_name_that_our_macros_use(
    con: duckdb.DuckDBPyConnection, name: str
) -> None:
    create(con, f"TABLE {name}", PEOPLE, COLUMNS)
    assert answer(con, ask("attribute_risk", name, QI)) == counted(
        "attribute_risk", PEOPLE, COLUMNS
    )


@EVERY_FUNCTION
def test_a_common_table_expression_is_a_table(
    con: duckdb.DuckDBPyConnection, function: str
) -> None:
    create(con, "TABLE stored", PEOPLE, COLUMNS)
    asked = answer(
        con, f"WITH adults AS (FROM stored WHERE age >= 18) {ask(function, 'adults', QI)}"
    )
    assert asked == counted(function, PEOPLE[:-1], COLUMNS)


@EVERY_FUNCTION
def test_a_common_table_expression_hides_the_table_of_its_name(
    con: duckdb.DuckDBPyConnection, function: str
) -> None:
    create(con, "TABLE people", OTHERS, COLUMNS)
    create(con, "TABLE stored", PEOPLE, COLUMNS)
    asked = answer(con, f"WITH people AS (FROM stored) {ask(function, 'people', QI)}")
    assert asked == counted(function, PEOPLE, COLUMNS)


@pytest.mark.parametrize("how", ["MATERIALIZED", "NOT MATERIALIZED"])
def test_a_common_table_expression_may_be_materialized(
    con: duckdb.DuckDBPyConnection, how: str
) -> None:
    create(con, "TABLE stored", PEOPLE, COLUMNS)
    asked = answer(
        con,
        f"""WITH "the people" AS {how} (FROM stored) {ask("risk_summary", '"the people"', QI)}""",
    )
    assert asked == counted("risk_summary", PEOPLE, COLUMNS)


def test_a_temporary_table_hides_the_table_of_its_name(con: duckdb.DuckDBPyConnection) -> None:
    create(con, "TABLE people", OTHERS, COLUMNS)
    create(con, "TEMP TABLE people", PEOPLE, COLUMNS)
    assert answer(con, ask("risk_summary", "people", QI)) == counted(
        "risk_summary", PEOPLE, COLUMNS
    )
    assert answer(con, ask("risk_summary", "memory.people", QI)) == counted(
        "risk_summary", OTHERS, COLUMNS
    )


@EVERY_FUNCTION
def test_an_uncommitted_table_is_counted(con: duckdb.DuckDBPyConnection, function: str) -> None:
    con.execute("BEGIN")
    create(con, "TABLE people", PEOPLE[1:], COLUMNS)
    con.execute("INSERT INTO people VALUES (34, 'F')")
    assert answer(con, ask(function, "people", QI)) == counted(function, PEOPLE, COLUMNS)
    con.execute("ROLLBACK")
    with pytest.raises(duckdb.CatalogException, match="people does not exist"):
        con.execute(ask(function, "people", QI))


# Files

FILES = [
    "people.parquet",
    "people's files/the people.parquet",
    "people.csv",
    "people's files/the people.csv",
    "people.csv.gz",
]


@pytest.fixture
def folder(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> Path:
    """A folder with the people in files, and in two halves."""
    create(con, "TEMP TABLE source", PEOPLE, COLUMNS)
    (tmp_path / "people's files").mkdir()
    for name in FILES:
        con.execute(f"COPY source TO {literal(str(tmp_path / name))}")
    for half, rows in enumerate(["LIMIT 3", "OFFSET 3"]):
        con.execute(
            f"COPY (FROM source {rows}) TO {literal(str(tmp_path / f'half {half}.parquet'))}"
        )
    con.execute("DROP TABLE source")
    return tmp_path


@each_cell("name", FILES)
@each_cell("quote", [literal, quoted], after=empty)
def test_a_file_is_read_by_its_path(
    con: duckdb.DuckDBPyConnection, folder: Path, name: str, quote: Callable[[str], str]
) -> None:
    asked = answer(con, ask("risk_summary", quote(str(folder / name)), QI))
    assert asked == counted("risk_summary", PEOPLE, COLUMNS)


@pytest.mark.parametrize("function", ["journalist_risk", "attribute_risk"])
def test_several_files_are_read_by_a_pattern(
    con: duckdb.DuckDBPyConnection, folder: Path, function: str
) -> None:
    assert answer(con, ask(function, literal(f"{folder}/half *.parquet"), QI)) == counted(
        function, PEOPLE, COLUMNS
    )


def test_a_file_without_a_folder_is_read(
    con: duckdb.DuckDBPyConnection, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    for name in ("people.csv", "people.parquet"):
        assert answer(con, ask("risk_summary", literal(name), QI)) == counted(
            "risk_summary", PEOPLE, COLUMNS
        )


VERY_FILES = {
    "people[1].parquet": "people1.parquet",
    "people[1].csv.gz": "people1.csv.gz",
    "people?.csv": "peopleX.csv",
    "[a-z]/people.json": "b/people.json",
    "age=5/sex=F/people.parquet": "people.parquet",
    "age=5/sex=F/people.csv": "people.csv",
    "AGE=5/people.JSON": "people.json",
}


@EVERY_FUNCTION
@each_cell("name", VERY_FILES, after=empty)
def test_a_file_is_that_very_file(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, function: str, name: str
) -> None:
    """Another that a pattern would find lies beside it, and no folder's name is a column."""
    for place, rows in ((name, PEOPLE), (VERY_FILES[name], OTHERS)):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        create(con, "OR REPLACE TEMP TABLE source", rows, COLUMNS)
        how = " (FORMAT json)" if place.lower().endswith("json") else ""
        con.execute(f"COPY source TO {literal(str(tmp_path / place))}{how}")
    asked = answer(con, ask(function, literal(str(tmp_path / name)), QI))
    texts = [tuple(None if value is None else str(value) for value in row) for row in PEOPLE]
    assert asked == counted(function, PEOPLE if name.endswith("parquet") else texts, COLUMNS)


# Pairs that a reader of types would make one value of.
ALIKE = [
    ("01234", "1234"),
    ("1.0", "1.00"),
    ("1e2", "100"),
    ("2020-01-01", "2020-1-1"),
    ("12:00", "12:00:00"),
    ("true", "TRUE"),
    ("2020-01-01 00:00:00", "2020-01-01T00:00:00"),
    ("550E8400-E29B-41D4-A716-446655440000", "550e8400-e29b-41d4-a716-446655440000"),
    ("9007199254740993", "9007199254740992.0"),
]
OF_JSON = [
    *((json.dumps(one), json.dumps(other)) for one, other in ALIKE),
    ("9007199254740993", "9007199254740992.0"),
    ("123456789012345678901", "123456789012345678902"),
    ("1", '"1"'),
    ("true", '"true"'),
    ('"1"', r'"\"1\""'),
    ('"null"', "null"),
    ('{"a": 1}', '{"a": "1"}'),
    ('{"a": "2020-01-01"}', '{"a": "2020-1-1"}'),
    ("[1]", '"[1]"'),
]

pytestmark = pytest.mark.first(
    function=["equivalence_classes"], quote=[quoted], pair=[*ALIKE[:2], *OF_JSON[:2]]
)


@EVERY_FUNCTION
@each_cell("pair", ALIKE, after=empty)
def test_texts_of_csv_stay_texts(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, function: str, pair: tuple[str, str]
) -> None:
    rows = [(pair[0], "F"), (pair[1], "F"), (pair[1], "F")]
    (tmp_path / "people.csv").write_text("\n".join(["age,sex", *map(",".join, rows)]))
    asked = answer(con, ask(function, literal(str(tmp_path / "people.csv")), QI))
    assert asked == counted(function, rows, COLUMNS)


@each_cell("name", ["people.json", "people.ndjson", "people.jsonl.gz"])
@each_cell("pair", OF_JSON, after=empty)
def test_values_of_json_stay_apart(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, name: str, pair: tuple[str, str]
) -> None:
    rows = [f'{{"age": {value}, "sex": "F"}}' for value in (pair[0], pair[1], pair[1])]
    text = f"[{', '.join(rows)}]" if name == "people.json" else "\n".join(rows)
    packed = gzip.compress(text.encode()) if name.endswith("gz") else text.encode()
    (tmp_path / name).write_bytes(packed)
    path = literal(str(tmp_path / name))
    asked = con.execute(
        f"SELECT class_size FROM class_size_histogram({path}, ['age', 'sex'])"
    ).fetchall()
    assert asked == [(1,), (2,)]
    reported = con.execute(
        f"SELECT DISTINCT sex FROM equivalence_classes({path}, ['age', 'sex'])"
    ).fetchall()
    assert reported == [("F",)]


@EVERY_FUNCTION
def test_no_line_of_a_file_is_a_comment(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, function: str
) -> None:
    rows = [("#1", "F"), ("3", "F"), ("#5", "M"), ("7", "M"), ("7", "M")]
    lines = [",".join(COLUMNS), *(",".join(row) for row in rows)]
    (tmp_path / "people.csv").write_text("\n".join(lines))
    asked = answer(con, ask(function, literal(str(tmp_path / "people.csv")), QI))
    assert asked == counted(function, rows, COLUMNS)


def test_people_are_counted_in_that_very_file(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    file = tmp_path / "age=5" / "visits[1].parquet"
    file.parent.mkdir()
    con.execute(
        f"COPY (SELECT i % 60 AS id, i % 25 AS age FROM range(99) t(i)) TO {literal(str(file))}"
    )
    con.execute(
        f"CREATE VIEW visits AS FROM read_parquet('{file.parent}/*', hive_partitioning := false)"
    )
    for function in ("risk_summary", "pyc_fit"):  # which count people, and take one row for each
        asked = f"FROM {function}({{}}, ['age'], entity := 'id')"
        found = con.execute(asked.format(literal(str(file)))).fetchall()
        assert found == con.execute(asked.format("visits")).fetchall()


def test_a_path_in_quotes_of_its_own_is_no_pattern(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    con.execute(f"COPY (SELECT 34 AS age, 'F' AS sex) TO '{tmp_path}/people1.parquet'")
    path = literal(quoted(f"{tmp_path}/people[1].parquet"))
    with pytest.raises(duckdb.Error, match="tbl must be a path without quotes around it"):
        con.execute(ask("risk_summary", path, QI))


# Frames

FRAMES: dict[str, Callable[[pl.DataFrame], Any]] = {
    "pandas": lambda frame: pd.DataFrame(frame.to_dict(as_series=False)),
    "Polars": lambda frame: frame,
    "lazy Polars": lambda frame: frame.lazy(),
    "Arrow": lambda frame: pa.table(frame.to_dict(as_series=False)),
}


@pytest.fixture(params=FRAMES)
def frame(request: pytest.FixtureRequest) -> Any:
    return FRAMES[request.param](pl.DataFrame(PEOPLE, schema=COLUMNS, orient="row"))


@each_cell("function", ["equivalence_classes", "journalist_risk"], after=empty)
def test_a_variable_that_holds_a_frame_is_a_table(
    con: duckdb.DuckDBPyConnection, function: str, frame: Any
) -> None:
    people = frame
    asked = tidy(con.execute(ask(function, "people", QI)).fetchall())
    assert asked == counted(function, PEOPLE, COLUMNS)
    assert people is frame


@each_cell("name", ["people", "the people's"], after=empty)
def test_a_registered_frame_is_a_table(
    con: duckdb.DuckDBPyConnection, frame: Any, name: str
) -> None:
    con.register(name, frame)
    assert answer(con, ask("risk_summary", quoted(name), QI)) == counted(
        "risk_summary", PEOPLE, COLUMNS
    )


def test_a_relation_in_a_variable_is_a_table(con: duckdb.DuckDBPyConnection) -> None:
    create(con, "TABLE stored", PEOPLE, COLUMNS)
    people = con.sql("FROM stored WHERE age >= 18")
    assert tidy(con.execute(ask("risk_summary", "people", QI)).fetchall()) == counted(
        "risk_summary", PEOPLE[:-1], COLUMNS
    )
    assert people.columns == COLUMNS


# How the arguments are written


@EVERY_FUNCTION
def test_table_and_columns_may_be_prepared_parameters(
    con: duckdb.DuckDBPyConnection, function: str
) -> None:
    create(con, "TABLE people", PEOPLE, COLUMNS)
    tables = ["people"] * (2 if function == "journalist_risk" else 1)
    assert answer(con, ask(function, "?", "?"), [*tables, COLUMNS]) == counted(
        function, PEOPLE, COLUMNS
    )
    named = answer(con, ask(function, "$people", "$qi"), {"people": "people", "qi": COLUMNS})
    assert named == counted(function, PEOPLE, COLUMNS)


def test_a_prepared_statement_answers_for_each_table(con: duckdb.DuckDBPyConnection) -> None:
    create(con, "TABLE people", PEOPLE, COLUMNS)
    create(con, "TABLE others", OTHERS, COLUMNS)
    con.execute("PREPARE question AS FROM risk_summary($1, $2)")
    for table, rows in (("people", PEOPLE), ("others", OTHERS)):
        assert answer(con, f"EXECUTE question({literal(table)}, {QI})") == counted(
            "risk_summary", rows, COLUMNS
        )
    con.execute("DEALLOCATE question")


@EVERY_FUNCTION
def test_table_and_columns_may_be_variables_of_sql(
    con: duckdb.DuckDBPyConnection, function: str
) -> None:
    create(con, "TABLE people", PEOPLE, COLUMNS)
    con.execute(f"SET VARIABLE my_table = 'people'; SET VARIABLE my_columns = {QI}")
    asked = answer(con, ask(function, "getvariable('my_table')", "getvariable('my_columns')"))
    assert asked == counted(function, PEOPLE, COLUMNS)


def test_the_options_may_be_prepared_parameters(con: duckdb.DuckDBPyConnection) -> None:
    create(con, "TABLE people", PEOPLE, COLUMNS)
    question = (
        "SELECT records, records_at_risk, threshold, nulls FROM risk_summary(people, "
        f"{QI}, threshold := ?, nulls := ?)"
    )
    assert con.execute(question, [0.5, "drop"]).fetchall() == [(5, 0.2, 0.5, "drop")]
    subsets = con.execute(
        f"SELECT columns FROM attribute_risk(people, {QI}, max_size := ?)", [2]
    ).fetchall()
    assert subsets == [(["age"],), (["sex"],), (["age", "sex"],)]


# Where the call is


@EVERY_FUNCTION
def test_a_view_over_a_function_follows_its_table(
    con: duckdb.DuckDBPyConnection, function: str
) -> None:
    create(con, "TABLE people", PEOPLE[:4], COLUMNS)
    con.execute(f"CREATE TEMP VIEW risk AS {ask(function, 'people', QI)}")
    assert answer(con, "FROM risk") == counted(function, PEOPLE[:4], COLUMNS)
    con.execute("INSERT INTO people VALUES (51, 'M'), (8, 'F')")
    assert answer(con, "FROM risk") == counted(function, PEOPLE, COLUMNS)


@EVERY_FUNCTION
def test_an_answer_may_be_stored_as_a_table(con: duckdb.DuckDBPyConnection, function: str) -> None:
    create(con, "TABLE people", PEOPLE, COLUMNS)
    con.execute(f"CREATE TABLE risk AS {ask(function, 'people', QI)}")
    con.execute("DELETE FROM people")
    assert answer(con, "FROM risk") == counted(function, PEOPLE, COLUMNS)


def test_an_answer_may_be_inserted_and_joined(con: duckdb.DuckDBPyConnection) -> None:
    create(con, "TABLE people", PEOPLE, COLUMNS)
    call = ask("equivalence_classes", "people", QI)
    con.execute(f"CREATE TABLE risk AS {call}")
    con.execute(f"INSERT INTO risk {call}")
    assert con.execute("SELECT count(*) FROM risk").fetchall() == [(2 * 4,)]
    assert con.execute(f"SELECT count(*) FROM ({call}) a, ({call}) b").fetchall() == [(4**2,)]


@EVERY_FUNCTION
def test_explain_plans_and_answers_nothing(con: duckdb.DuckDBPyConnection, function: str) -> None:
    create(con, "TABLE people", PEOPLE, COLUMNS)
    ((kind, plan),) = con.execute(f"EXPLAIN {ask(function, 'people', QI)}").fetchall()
    assert kind == "physical_plan"
    assert "people" in plan


def test_classes_join_back_to_their_records(con: duckdb.DuckDBPyConnection) -> None:
    create(con, "TABLE people", PEOPLE, COLUMNS)
    joined = """SELECT p.age, p.sex, class_size FROM people p
                JOIN equivalence_classes('people', ['age', 'sex']) c
                ON p.age IS NOT DISTINCT FROM c.age AND p.sex IS NOT DISTINCT FROM c.sex"""
    assert answer(con, joined) == tidy([(*row, PEOPLE.count(row)) for row in PEOPLE])


def test_two_functions_answer_in_one_query(con: duckdb.DuckDBPyConnection) -> None:
    create(con, "TABLE people", PEOPLE, COLUMNS)
    create(con, "TABLE others", OTHERS, COLUMNS)
    both = f"SELECT a.records, b.records FROM risk_summary(people, {QI}) a, risk_summary(others, {QI}) b"
    assert con.execute(both).fetchall() == [(6, 3)]
    union = (
        f"SELECT records FROM risk_summary(people, {QI}) UNION ALL SELECT "
        f"records FROM risk_summary(others, {QI})"
    )
    assert con.execute(union).fetchall() == [(6,), (3,)]


def test_the_population_is_another_table_of_any_kind(
    con: duckdb.DuckDBPyConnection, folder: Path
) -> None:
    create(con, "TABLE sample", [(34, "F"), (8, "F"), (99, None)], COLUMNS)
    population = pl.DataFrame(PEOPLE, schema=COLUMNS, orient="row")
    for table in ("population", literal(str(folder / FILES[1]))):
        question = f"SELECT records, k, average_risk, uncovered_records FROM journalist_risk(sample, {table}, {QI})"
        assert con.execute(question).fetchall() == [(3, 1, (1 / 2 + 1 + 1) / 3, 1)]
    assert population.height == len(PEOPLE)


def test_a_relation_of_the_python_api_holds_a_function(con: duckdb.DuckDBPyConnection) -> None:
    create(con, "TABLE people", PEOPLE, COLUMNS)
    relation = con.sql(ask("class_size_histogram", "people", QI))
    assert relation.filter("class_size = 2").project("classes, records").fetchall() == [(2, 4)]


def test_a_bare_name_that_ends_like_a_file_is_looked_for_as_one_and_refused(
    con: duckdb.DuckDBPyConnection,
) -> None:
    con.execute('CREATE TABLE "people.csv" AS SELECT 1 AS age')
    with pytest.raises(duckdb.Error, match="No files found that match the pattern"):
        con.execute("""FROM risk_summary("people.csv", ['age'])""")
