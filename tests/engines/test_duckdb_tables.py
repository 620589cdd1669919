"""What `tbl` and the column lists may be: every way in which people write a table, and every name it may have."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import reid_sql
from tests.engines.asking import FUNCTIONS, OWN_NAMES, answer, ask, counted, listed, literal, quoted, tidy
from tests.tables import Row

COLUMNS = ["age", "sex"]
QI = listed(COLUMNS)
PEOPLE: list[Row] = [(34, "F"), (34, "F"), (51, "M"), (51, None), (51, "M"), (8, "F")]
OTHERS: list[Row] = [(1, "X"), (1, "X"), (1, "X")]
EVERY_FUNCTION = pytest.mark.parametrize("function", FUNCTIONS)


def create(con: duckdb.DuckDBPyConnection, what: str, rows: list[Row], columns: list[str] | None = None) -> None:
    """Create what is said, such as "TABLE people", with the rows."""
    names = ", ".join(f"#{place} AS {quoted(name)}" for place, name in enumerate(columns or COLUMNS, 1))
    con.execute(f"CREATE {what} AS SELECT {names} FROM (VALUES {', '.join(f'({spelled(row)})' for row in rows)})")


def spelled(row: Row) -> str:
    return ", ".join("NULL" if cell is None else literal(cell) if isinstance(cell, str) else str(cell) for cell in row)


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
    "name with spaces and quotes": ("""TABLE "the ""young"" people's" """, '''"the ""young"" people's"'''),
    "the same as a string": ("""TABLE "the ""young"" people's" """, """'"the ""young"" people''s"'"""),
    "name with a dot, as a string": ("""TABLE "people.of.2024" """, """'"people.of.2024"'"""),
    "name with a slash": ("""TABLE "f/m" """, '"f/m"'),
    "name with a slash, quoted in a string": ("""TABLE "f/m" """, """'"f/m"'"""),
    "name with a backslash, quoted in a string": ("""TABLE "f\\m" """, """'"f\\m"'"""),
    "name that ends like a file, quoted in a string": ("""TABLE "people.csv" """, """'"people.csv"'"""),
    "schema": ("TABLE clinic.people", "clinic.people"),
    "schema that needs quotes": ("""TABLE "the clinic".people """, '"the clinic".people'),
    "schema, as a string": ("""TABLE "the clinic".people """, """'"the clinic".people'"""),
    "database": ("TABLE other.people", "other.people"),
    "database and schema": ("TABLE other.clinic.people", "other.clinic.people"),
    "all in quotes, as a string": ("""TABLE "o'ther".main."the people" """, """'"o''ther"."main"."the people"'"""),
    "own database and schema": ("TABLE people", "memory.main.people"),
}


def create_at(con: duckdb.DuckDBPyConnection, place: str) -> str:
    """Create the people there, and give the words that name them in the call."""
    con.execute("""ATTACH ':memory:' AS other; ATTACH ':memory:' AS "o'ther" """)
    con.execute("""CREATE SCHEMA clinic; CREATE SCHEMA "the clinic"; CREATE SCHEMA other.clinic""")
    what, table = PLACES[place]
    create(con, what, PEOPLE)
    return table


@pytest.mark.parametrize("place", PLACES)
def test_a_table_is_found_where_it_is(con: duckdb.DuckDBPyConnection, place: str) -> None:
    question = ask("risk_summary", create_at(con, place), QI)
    assert answer(con, question) == counted("risk_summary", PEOPLE, COLUMNS)


@EVERY_FUNCTION
@pytest.mark.parametrize("place", ["view", "all in quotes, as a string"])
def test_every_function_finds_it(con: duckdb.DuckDBPyConnection, function: str, place: str) -> None:
    question = ask(function, create_at(con, place), QI)
    assert answer(con, question) == counted(function, PEOPLE, COLUMNS)


@pytest.mark.parametrize("name", ["s", "t", "c", "i", "tbl", "qi", "columns", "nulls", "threshold", "max_size", "words", "body"])
def test_a_table_may_have_a_name_that_our_macros_use(con: duckdb.DuckDBPyConnection, name: str) -> None:
    create(con, f"TABLE {name}", PEOPLE)
    assert answer(con, ask("attribute_risk", name, QI)) == counted("attribute_risk", PEOPLE, COLUMNS)


@EVERY_FUNCTION
def test_a_common_table_expression_is_a_table(con: duckdb.DuckDBPyConnection, function: str) -> None:
    create(con, "TABLE stored", PEOPLE)
    asked = answer(con, f"WITH adults AS (FROM stored WHERE age >= 18) {ask(function, 'adults', QI)}")
    assert asked == counted(function, PEOPLE[:-1], COLUMNS)


@EVERY_FUNCTION
def test_a_common_table_expression_hides_the_table_of_its_name(con: duckdb.DuckDBPyConnection, function: str) -> None:
    create(con, "TABLE people", OTHERS)
    create(con, "TABLE stored", PEOPLE)
    asked = answer(con, f"WITH people AS (FROM stored) {ask(function, 'people', QI)}")
    assert asked == counted(function, PEOPLE, COLUMNS)


@pytest.mark.parametrize("how", ["MATERIALIZED", "NOT MATERIALIZED"])
def test_a_common_table_expression_may_be_materialized(con: duckdb.DuckDBPyConnection, how: str) -> None:
    create(con, "TABLE stored", PEOPLE)
    asked = answer(con, f"""WITH "the people" AS {how} (FROM stored) {ask("risk_summary", '"the people"', QI)}""")
    assert asked == counted("risk_summary", PEOPLE, COLUMNS)


def test_a_temporary_table_hides_the_table_of_its_name(con: duckdb.DuckDBPyConnection) -> None:
    create(con, "TABLE people", OTHERS)
    create(con, "TEMP TABLE people", PEOPLE)
    assert answer(con, ask("risk_summary", "people", QI)) == counted("risk_summary", PEOPLE, COLUMNS)
    assert answer(con, ask("risk_summary", "memory.people", QI)) == counted("risk_summary", OTHERS, COLUMNS)


@EVERY_FUNCTION
def test_an_uncommitted_table_is_counted(con: duckdb.DuckDBPyConnection, function: str) -> None:
    con.execute("BEGIN")
    create(con, "TABLE people", PEOPLE[1:])
    con.execute("INSERT INTO people VALUES (34, 'F')")
    assert answer(con, ask(function, "people", QI)) == counted(function, PEOPLE, COLUMNS)
    con.execute("ROLLBACK")
    with pytest.raises(duckdb.CatalogException, match="people does not exist"):
        con.execute(ask(function, "people", QI))


# Files

FILES = ["people.parquet", "people's files/the people.parquet", "people.csv", "people's files/the people.csv", "people.csv.gz"]


@pytest.fixture
def folder(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> Path:
    """A folder with the people in files, and in two halves."""
    create(con, "TEMP TABLE source", PEOPLE)
    (tmp_path / "people's files").mkdir()
    for name in FILES:
        con.execute(f"COPY source TO {literal(str(tmp_path / name))}")
    for half, rows in enumerate(["LIMIT 3", "OFFSET 3"]):
        con.execute(f"COPY (FROM source {rows}) TO {literal(str(tmp_path / f'half {half}.parquet'))}")
    con.execute("DROP TABLE source")
    return tmp_path


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("quote", [literal, quoted])
def test_a_file_is_read_by_its_path(con: duckdb.DuckDBPyConnection, folder: Path, name: str, quote: Callable[[str], str]) -> None:
    asked = answer(con, ask("risk_summary", quote(str(folder / name)), QI))
    assert asked == counted("risk_summary", PEOPLE, COLUMNS)


@pytest.mark.parametrize("function", ["journalist_risk", "attribute_risk"])
def test_several_files_are_read_by_a_pattern(con: duckdb.DuckDBPyConnection, folder: Path, function: str) -> None:
    assert answer(con, ask(function, literal(f"{folder}/half *.parquet"), QI)) == counted(function, PEOPLE, COLUMNS)


def test_a_file_without_a_folder_is_read(con: duckdb.DuckDBPyConnection, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for name in ("people.csv", "people.parquet"):
        assert answer(con, ask("risk_summary", literal(name), QI)) == counted("risk_summary", PEOPLE, COLUMNS)


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


@pytest.mark.parametrize("function", ["equivalence_classes", "journalist_risk"])
def test_a_variable_that_holds_a_frame_is_a_table(con: duckdb.DuckDBPyConnection, function: str, frame: Any) -> None:
    people = frame
    asked = tidy(con.execute(ask(function, "people", QI)).fetchall())
    assert asked == counted(function, PEOPLE, COLUMNS)
    assert people is frame


@pytest.mark.parametrize("name", ["people", "the people's"])
def test_a_registered_frame_is_a_table(con: duckdb.DuckDBPyConnection, frame: Any, name: str) -> None:
    con.register(name, frame)
    assert answer(con, ask("risk_summary", quoted(name), QI)) == counted("risk_summary", PEOPLE, COLUMNS)


def test_a_relation_in_a_variable_is_a_table(con: duckdb.DuckDBPyConnection) -> None:
    create(con, "TABLE stored", PEOPLE)
    people = con.sql("FROM stored WHERE age >= 18")
    assert tidy(con.execute(ask("risk_summary", "people", QI)).fetchall()) == counted("risk_summary", PEOPLE[:-1], COLUMNS)
    assert people.columns == COLUMNS


# How the arguments are written


@EVERY_FUNCTION
def test_table_and_columns_may_be_prepared_parameters(con: duckdb.DuckDBPyConnection, function: str) -> None:
    create(con, "TABLE people", PEOPLE)
    tables = ["people"] * (2 if function == "journalist_risk" else 1)
    assert answer(con, ask(function, "?", "?"), [*tables, COLUMNS]) == counted(function, PEOPLE, COLUMNS)
    named = answer(con, ask(function, "$people", "$qi"), {"people": "people", "qi": COLUMNS})
    assert named == counted(function, PEOPLE, COLUMNS)


def test_a_prepared_statement_answers_for_each_table(con: duckdb.DuckDBPyConnection) -> None:
    create(con, "TABLE people", PEOPLE)
    create(con, "TABLE others", OTHERS)
    con.execute("PREPARE question AS FROM risk_summary($1, $2)")
    for table, rows in (("people", PEOPLE), ("others", OTHERS)):
        assert answer(con, f"EXECUTE question({literal(table)}, {QI})") == counted("risk_summary", rows, COLUMNS)
    con.execute("DEALLOCATE question")


@EVERY_FUNCTION
def test_table_and_columns_may_be_variables_of_sql(con: duckdb.DuckDBPyConnection, function: str) -> None:
    create(con, "TABLE people", PEOPLE)
    con.execute(f"SET VARIABLE my_table = 'people'; SET VARIABLE my_columns = {QI}")
    asked = answer(con, ask(function, "getvariable('my_table')", "getvariable('my_columns')"))
    assert asked == counted(function, PEOPLE, COLUMNS)


def test_the_options_may_be_prepared_parameters(con: duckdb.DuckDBPyConnection) -> None:
    create(con, "TABLE people", PEOPLE)
    question = f"SELECT records, records_at_risk, threshold, nulls FROM risk_summary(people, {QI}, threshold := ?, nulls := ?)"
    assert con.execute(question, [0.5, "drop"]).fetchall() == [(5, 0.2, 0.5, "drop")]
    subsets = con.execute(f"SELECT columns FROM attribute_risk(people, {QI}, max_size := ?)", [2]).fetchall()
    assert subsets == [(["age"],), (["sex"],), (["age", "sex"],)]


# Where the call is


@EVERY_FUNCTION
def test_a_view_over_a_function_follows_its_table(con: duckdb.DuckDBPyConnection, function: str) -> None:
    create(con, "TABLE people", PEOPLE[:4])
    con.execute(f"CREATE TEMP VIEW risk AS {ask(function, 'people', QI)}")
    assert answer(con, "FROM risk") == counted(function, PEOPLE[:4], COLUMNS)
    con.execute("INSERT INTO people VALUES (51, 'M'), (8, 'F')")
    assert answer(con, "FROM risk") == counted(function, PEOPLE, COLUMNS)


@EVERY_FUNCTION
def test_an_answer_may_be_stored_as_a_table(con: duckdb.DuckDBPyConnection, function: str) -> None:
    create(con, "TABLE people", PEOPLE)
    con.execute(f"CREATE TABLE risk AS {ask(function, 'people', QI)}")
    con.execute("DELETE FROM people")
    assert answer(con, "FROM risk") == counted(function, PEOPLE, COLUMNS)


def test_an_answer_may_be_inserted_and_joined(con: duckdb.DuckDBPyConnection) -> None:
    create(con, "TABLE people", PEOPLE)
    call = ask("equivalence_classes", "people", QI)
    con.execute(f"CREATE TABLE risk AS {call}")
    con.execute(f"INSERT INTO risk {call}")
    assert con.execute("SELECT count(*) FROM risk").fetchall() == [(2 * 4,)]
    assert con.execute(f"SELECT count(*) FROM ({call}) a, ({call}) b").fetchall() == [(4**2,)]


@EVERY_FUNCTION
def test_explain_plans_and_answers_nothing(con: duckdb.DuckDBPyConnection, function: str) -> None:
    create(con, "TABLE people", PEOPLE)
    ((kind, plan),) = con.execute(f"EXPLAIN {ask(function, 'people', QI)}").fetchall()
    assert kind == "physical_plan"
    assert "people" in plan


def test_classes_join_back_to_their_records(con: duckdb.DuckDBPyConnection) -> None:
    create(con, "TABLE people", PEOPLE)
    joined = """SELECT p.age, p.sex, class_size FROM people p JOIN equivalence_classes('people', ['age', 'sex']) c
                ON p.age IS NOT DISTINCT FROM c.age AND p.sex IS NOT DISTINCT FROM c.sex"""
    assert answer(con, joined) == tidy([(*row, PEOPLE.count(row)) for row in PEOPLE])


def test_two_functions_answer_in_one_query(con: duckdb.DuckDBPyConnection) -> None:
    create(con, "TABLE people", PEOPLE)
    create(con, "TABLE others", OTHERS)
    both = f"SELECT a.records, b.records FROM risk_summary(people, {QI}) a, risk_summary(others, {QI}) b"
    assert con.execute(both).fetchall() == [(6, 3)]
    union = f"SELECT records FROM risk_summary(people, {QI}) UNION ALL SELECT records FROM risk_summary(others, {QI})"
    assert con.execute(union).fetchall() == [(6,), (3,)]


def test_the_population_is_another_table_of_any_kind(con: duckdb.DuckDBPyConnection, folder: Path) -> None:
    create(con, "TABLE sample", [(34, "F"), (8, "F"), (99, None)])
    population = pl.DataFrame(PEOPLE, schema=COLUMNS, orient="row")
    for table in ("population", literal(str(folder / FILES[1]))):
        question = f"SELECT records, k, average_risk, uncovered_records FROM journalist_risk(sample, {table}, {QI})"
        assert con.execute(question).fetchall() == [(3, 1, (1 / 2 + 1 + 1) / 3, 1)]
    assert population.height == len(PEOPLE)


def test_a_relation_of_the_python_api_holds_a_function(con: duckdb.DuckDBPyConnection) -> None:
    create(con, "TABLE people", PEOPLE)
    relation = con.sql(ask("class_size_histogram", "people", QI))
    assert relation.filter("class_size = 2").project("classes, records").fetchall() == [(2, 4)]


# What the columns are called

EVERYDAY = ["postal code", 'the "real" age', "mother's age", "Age", "ALTER", "select", "from", "group", "Größe", "年齢", "🎂"]
EMPTY_ISH = [" ", "  ", "\t", "\n", "_", "-", ".", "..", "''", '""', "NULL", "nan", "0", "\u200b", "\u00a0", "\ufeff"]
OURS = [
    *(
        "reid_source",
        "reid_rows",
        "reid_fallback",
        "reid_result",
        "reid_names_1",
        "reid_names_2",
        "reid_distinct",
        "reid_matched",
    ),
    *(
        "q1",
        "q2",
        "q3",
        "v1",
        "code1",
        "side",
        "id",
        "codes",
        "sizes",
        "own",
        "found",
        "s",
        "p",
        "c",
        "i",
        "subset",
        "column_name",
    ),
]
PARAMETERS = ["tbl", "population_tbl", "qi", "columns", "nulls", "threshold", "max_size", "names"]
RESULTS = ["class_size", "classes", "records", "records_dropped", "uncovered", "pairs_alike", "status"]
SQL_VALUES = ["user", "current_date", "current_timestamp", "rowid", "true"]
NAMES = [*EVERYDAY, *EMPTY_ISH, *OURS, *PARAMETERS, *RESULTS, *SQL_VALUES]


@pytest.mark.parametrize("first", range(0, len(NAMES), 2))
def test_columns_may_have_any_name(con: duckdb.DuckDBPyConnection, first: int) -> None:
    columns = [*NAMES[first : first + 2], "other"]
    rows = [row[: len(columns)] for row in [(1, 1, None), (1, 1, None), (1, 2, 3), (2, 2, 3)]]
    create(con, "TABLE people", rows, columns)
    assert answer(con, ask("journalist_risk", "people", listed(columns))) == counted("journalist_risk", rows, columns)


@EVERY_FUNCTION
@pytest.mark.parametrize("names", [NAMES[:32], NAMES[32:]], ids=["first half", "second half"])
def test_columns_of_many_names_count_together(con: duckdb.DuckDBPyConnection, function: str, names: list[str]) -> None:
    if function == "equivalence_classes":
        names = [name for name in names if name not in OWN_NAMES]
    rows: list[Row] = [tuple(record % (1 + place) for place in range(len(names))) for record in (0, 1, 1, 5, 17)]
    create(con, "TABLE people", rows, names)
    assert answer(con, ask(function, "people", listed(names))) == counted(function, rows, names)


@pytest.mark.parametrize("nulls", ["drop", "wildcard"])
@pytest.mark.parametrize("name", ["q1", "id", "codes", "records", "nulls", "records_dropped"])
def test_a_column_may_have_any_name_however_nulls_are_treated(con: duckdb.DuckDBPyConnection, name: str, nulls: str) -> None:
    create(con, "TABLE people", PEOPLE, ["other", name])
    create(con, "TABLE plain", PEOPLE)
    named = answer(con, ask("journalist_risk", "people", listed(["other", name]), nulls=literal(nulls)))
    assert named == answer(con, ask("journalist_risk", "plain", QI, nulls=literal(nulls)))


def test_classes_are_listed_under_the_columns_own_names(con: duckdb.DuckDBPyConnection) -> None:
    names = [name for name in NAMES if name not in OWN_NAMES][-64:]
    create(con, "TABLE people", [tuple(range(len(names)))], names)
    listing = con.execute(ask("equivalence_classes", "people", listed(names)))
    assert [column[0] for column in listing.description or []] == [*names, *OWN_NAMES]
    assert listing.fetchall() == [(*range(len(names)), 1, 1, 0, "value")]


@pytest.mark.parametrize("name", [*OWN_NAMES, "Class_Size", "RECORDS"])
def test_classes_refuse_a_column_named_like_their_own(con: duckdb.DuckDBPyConnection, name: str) -> None:
    create(con, "TABLE people", PEOPLE, [name, "other"])
    with pytest.raises(duckdb.Error, match=f"got '{name}'; rename the column in a view"):
        con.execute(ask("equivalence_classes", "people", listed([name])))


@EVERY_FUNCTION
def test_capitals_of_a_name_do_not_matter_as_everywhere_in_sql(con: duckdb.DuckDBPyConnection, function: str) -> None:
    create(con, "TABLE people", PEOPLE, ["Age", "SEX"])
    asked = answer(con, ask(function, "people", listed(["aGE", "sex"])))
    assert asked == counted(function, PEOPLE, ["aGE", "sex"])


def test_capitals_beyond_ascii_do_matter_as_everywhere_in_sql(con: duckdb.DuckDBPyConnection) -> None:
    create(con, "TABLE people", [(1, 1), (1, 2)], ["größe", "GRÖSSE"])
    create(con, "TABLE others", [(1, 1), (1, 2)], ["é", "É"])
    for column, k in (("é", 2), ("É", 1)):
        assert con.execute(f"SELECT k FROM risk_summary(others, [{literal(column)}])").fetchall() == [(k,)]
    with pytest.raises(duckdb.Error, match="got 'GRÖẞE'"):
        con.execute("FROM risk_summary(people, ['GRÖẞE'])")


@pytest.mark.parametrize("names", [["c2", "c1"], ["c1", "x"], ["c", "d", "c1", "c2", "x"], ["x", "c5", "c4", "c3", "c2", "c1"]])
def test_the_window_counts_by_the_columns_it_was_given(con: duckdb.DuckDBPyConnection, names: list[str]) -> None:
    all_names = ["c1", "c2", "c3", "c4", "c5", "c", "d", "x"]
    rows: list[Row] = [tuple(i % (2 + place) for place in range(8)) for i in range(30)]
    create(con, "TABLE people", rows, all_names)
    values = [tuple(row[all_names.index(name)] for name in names) for row in rows]
    sizes = con.execute(f"SELECT equivalence_class_size({', '.join(names)}) FROM people ORDER BY rowid").fetchall()
    assert sizes == [(values.count(value),) for value in values]


def test_the_closed_forms_take_the_columns_they_were_given(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE TABLE swapped AS SELECT 0.01 AS n, 101.0 AS p, 0.01 AS x")
    for function in ("uniqueness_from_probability", "correctness_from_probability", "correctness_from_uniqueness"):
        ((swapped, plain),) = con.execute(f"SELECT {function}(n, p), {function}(0.01, 101) FROM swapped").fetchall()
        assert swapped == plain


# How many columns


@pytest.fixture(scope="module")
def wide() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection with a table of 65 columns and 24 records, 12 different."""
    with duckdb.connect() as con:
        reid_sql.register(con)
        columns = ", ".join(f"i % {1 + place % 4} AS w{place}" for place in range(65))
        con.execute(f"CREATE TABLE wide AS SELECT {columns} FROM range(24) people(i)")
        yield con


@EVERY_FUNCTION
@pytest.mark.parametrize("count", [5, 64])
def test_up_to_64_quasi_identifiers(wide: duckdb.DuckDBPyConnection, function: str, count: int) -> None:
    columns = [f"w{place}" for place in range(count)]
    rows: list[Row] = [tuple(i % (1 + place % 4) for place in range(count)) for i in range(24)]
    assert answer(wide, ask(function, "wide", listed(columns))) == counted(function, rows, columns)


@EVERY_FUNCTION
def test_65_quasi_identifiers_are_refused(wide: duckdb.DuckDBPyConnection, function: str) -> None:
    with pytest.raises(duckdb.Error, match="must name 1 to 64 columns, got 65"):
        wide.execute(ask(function, "wide", listed([f"w{place}" for place in range(65)])))


def test_a_bare_name_that_ends_like_a_file_is_looked_for_as_one_and_refused(con: duckdb.DuckDBPyConnection) -> None:
    con.execute('CREATE TABLE "people.csv" AS SELECT 1 AS age')
    with pytest.raises(duckdb.Error, match="No files found that match the pattern"):
        con.execute("""FROM risk_summary("people.csv", ['age'])""")
