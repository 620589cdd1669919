"""The script and the file of plain macros answer what Python answers, wherever they answer at all."""

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

import duckdb
import pytest

import reid_sql
from reid_sql.engines.duckdb.catalogue import pack, script, write_file
from reid_sql.errors import NO_RECORDS
from reid_sql_udfs import declared
from tests.cells import each_cell

pytestmark = pytest.mark.first(table=["people"], nulls=["drop"], alone=["script"])

TABLES = {
    "people": """SELECT i % 2 AS half, i % 7 AS age, CASE WHEN i % 5 > 0 THEN i % 3 END AS sex
        FROM range(50) t(i)""",
    "one": "SELECT 1 AS half, NULL::INTEGER AS age, 'F' AS sex",
    "alike": "SELECT 1 AS half, 2 AS age, 3 AS sex FROM range(4)",
    "floats": """SELECT unnest([1, 1, 1, 2, 2]) AS half,
        unnest(['NaN'::DOUBLE, 'NaN'::DOUBLE, -0.0, 0.0, NULL]) AS age,
        unnest(['inf'::DOUBLE, 1, 1, NULL, NULL]) AS sex""",
    "texts": """SELECT unnest(['', ' ', NULL, 'a', 'A', 'á', 'it''s', '"', ';']) AS half,
        unnest(['x', 'x', 'x', 'y', 'y', 'y', NULL, NULL, NULL]) AS age, unnest(range(9)) % 4 AS sex""",
    "nested": """SELECT i % 2 AS half, [i % 3, NULL] AS age, {'a': i % 2, 'b': 'x'} AS sex
        FROM range(20) t(i)""",
}
CALLS = [
    "class_size_histogram({}, ['age', 'sex'])",
    "equivalence_classes({}, ['sex', 'age'])",
    "risk_summary({}, ['age', 'sex'])",
    "risk_summary({}, 'age', 0.34)",
    "journalist_risk({}, {}, ['age', 'sex'], threshold := 1)",
    "l_diversity({}, ['age'], 'sex')",
    "l_diversity({}, ['age'], 'sex', 'entropy', l := 1.5)",
    "l_diversity({}, ['age'], 'sex', 'distinct', 3, 1)",
    "t_closeness({}, ['age'], 'sex')",
    "t_closeness({}, ['age', 'half'], 'sex', t := 0.05)",
    "attribute_disclosure({}, ['age'], 'sex')",
    "attribute_disclosure({}, ['age', 'half'], 'sex', threshold := 0.2, k := 3)",
    "attribute_disclosure({}, ['age'], 'sex', 'beta_likeness')",
    "attribute_disclosure({}, ['age'], 'sex', 'delta_disclosure', threshold := 0.1)",
    "disclosing_classes({}, ['age', 'half'], 'sex')",
    "disclosing_classes({}, ['half'], 'sex', threshold := 3)",
    "disclosing_classes({}, ['age', 'half'], 'sex', 't_closeness')",
    "disclosing_classes({}, ['age'], 'sex', 'alpha_k_anonymity', threshold := 1, k := 3)",
    "disclosing_classes({}, 'half', 'sex', 'beta_likeness', threshold := 0.3)",
    "disclosing_classes({}, ['half', 'age'], 'sex', 'delta_disclosure', threshold := 0.2)",
    "household_risk({}, 'half', ['age', 'sex'])",
    "household_risk({}, 'age', 'sex', threshold := 0.6)",
    "suda_scores({}, ['age', 'sex', 'half'], 3)",
    "suda_scores({}, ['age', 'half', 'sex'], 2, 0.5)",
    "suda_scores({}, 'age', max_size := 1)",
    "safe_table({}, ['age', 'sex', 'half'])",
    "safe_table({}, ['sex', 'half'], k := 3)",
    "safe_table({}, 'age', k := 9)",
    "attribute_risk({}, ['age', 'sex', 'half'])",
    "attribute_risk({}, ['half', 'age', 'sex'], 2)",
]
NAMES = [
    "a b",
    'say "hi"',
    "it's",
    "reid_source",
    "q1",
    "select",
    "class size",
    "naïve",
    ";",
    "%s",
    "records_",
]


@pytest.fixture(scope="module")
def python() -> Iterator[duckdb.DuckDBPyConnection]:
    with tables() as con:
        reid_sql.register(con)
        yield con


@pytest.fixture(scope="module", params=["script", "file"])
def alone(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Without Python: after the script, or with the file attached."""
    with tables() as con:
        if request.param == "script":
            con.execute(script())
        else:
            file = tmp_path_factory.mktemp("file") / "reid.duckdb"
            write_file(file, declared())
            con.execute(f"ATTACH '{file}' (READ_ONLY)")
            con.execute("SET search_path = 'memory.main,reid.main'")
        yield con


def tables() -> duckdb.DuckDBPyConnection:
    """One thread, so that sums of the same numbers are the same to the last digit."""
    con = duckdb.connect(config={"threads": 1})
    for name, query in TABLES.items():
        con.execute(f"CREATE TABLE {name} AS {query}")
    columns = ", ".join(
        f'i % {place + 2} AS "{name.replace(chr(34), chr(34) * 2)}"'
        for place, name in enumerate(NAMES)
    )
    con.execute(f'CREATE TABLE "it\'s a ""table""" AS SELECT {columns} FROM range(30) t(i)')
    return con


def answer(con: duckdb.DuckDBPyConnection, query: str) -> tuple[list[Any], list[Any]]:
    """The columns with their types, and the rows as texts, in which NaN is itself."""
    done = con.execute(query)
    columns = [str(column[:2]) for column in done.description or ()]
    return columns, sorted(map(repr, done.fetchall()))


def answer_or_refusal(con: duckdb.DuckDBPyConnection, query: str) -> tuple[list[Any], list[Any]]:
    """The same, or that there is no record left, which both refuse."""
    try:
        return answer(con, query)
    except duckdb.InvalidInputException as error:
        return [], [NO_RECORDS in str(error)]


@cache
def expected(python: duckdb.DuckDBPyConnection, query: str) -> tuple[list[Any], list[Any]]:
    """What Python answers, asked once for the script and the file."""
    return answer_or_refusal(python, query)


@each_cell("nulls", ["value", "drop"])
@each_cell("call", CALLS)
@each_cell("table", TABLES)
def test_the_script_answers_what_python_answers(
    python: duckdb.DuckDBPyConnection,
    alone: duckdb.DuckDBPyConnection,
    table: str,
    call: str,
    nulls: str,
) -> None:
    query = f"FROM {call[:-1].format(table, table)}, nulls := '{nulls}')"
    assert answer_or_refusal(alone, query) == expected(python, query)


@pytest.mark.newest
@pytest.mark.first(cells=3)
@each_cell(
    "call",
    [
        "risk_summary({table}, {columns})",
        "equivalence_classes({table}, {columns})",
        "l_diversity({table}, {columns}[2:], {columns}[1])",
        "t_closeness({table}, {columns}[2:4], {columns}[6])",
        "attribute_risk({table}, {columns})",
        "disclosing_classes({table}, {columns}[2:], {columns}[1], threshold := 3)",
        "household_risk({table}, {columns}[1], {columns}[2:])",
        "suda_scores({table}, {columns}, 3)",
        "journalist_risk({table}, {table}, {columns})",
    ],
)
def test_hostile_names_are_quoted(
    python: duckdb.DuckDBPyConnection, alone: duckdb.DuckDBPyConnection, call: str
) -> None:
    listed = ", ".join("'" + name.replace("'", "''") + "'" for name in NAMES)
    query = "FROM " + call.format(table='"it\'s a ""table"""', columns=f"[{listed}]")
    assert answer(alone, query) == answer(python, query)


@each_cell("table", TABLES)
def test_class_sizes_of_records(
    python: duckdb.DuckDBPyConnection, alone: duckdb.DuckDBPyConnection, table: str
) -> None:
    for number in range(1, 9):
        columns = ", ".join((["age", "sex", "half"] * 3)[:number])
        query = f"SELECT *, equivalence_class_size({columns}) AS k FROM {table} QUALIFY k < 4"
        assert answer(alone, query) == answer(python, query)
        rows = f"(SELECT *, row_number() OVER () // 3 AS id FROM {table})"
        query = f"SELECT *, equivalence_class_people(id, {columns}) AS k FROM {rows}"
        assert answer(alone, query) == answer(python, query)


@pytest.mark.parametrize(
    "measure",
    ["uniqueness", "correctness", "correctness_of_uniqueness"],
)
def test_closed_forms(
    python: duckdb.DuckDBPyConnection, alone: duckdb.DuckDBPyConnection, measure: str
) -> None:
    query = f"""SELECT cell_risk(p, n, '{measure}')
        FROM (SELECT unnest([0, 1e-300, 1e-12, 0.01, 0.5, 0.999999, 1, NULL]) AS p),
            (SELECT unnest([1, 1.5, 2, 101, 54805, 1e15, NULL]) AS n)"""
    assert answer(alone, query) == answer(python, query)


def test_tables_are_found_where_the_query_finds_them(alone: duckdb.DuckDBPyConnection) -> None:
    three = "SELECT unnest([1, 1, 2]) AS age"
    assert alone.execute(
        f"WITH mine AS ({three}) SELECT k FROM risk_summary(mine, ['age'])"
    ).fetchall() == [(1,)]
    alone.execute(f"CREATE OR REPLACE TEMP VIEW ours AS {three}")
    assert alone.execute("SELECT records FROM risk_summary(ours, ?)", [["age"]]).fetchall() == [
        (3,)
    ]
    assert alone.execute(
        "SELECT records FROM risk_summary(memory.main.people, ['AGE'])"
    ).fetchall() == [(50,)]


@each_cell(
    "call, words",
    [
        ("risk_summary(people, ['age', 'sx'])", 'does not have a column named "sx"'),
        (
            "range(3) AS other(sx), LATERAL (FROM risk_summary(people, ['sx']))",
            'Referenced table "reid_source" not',
        ),
        (
            "risk_summary(people, ['age', 'AGE'])",
            "must be a list of 1 to 64 different column names, got [age",
        ),
        (
            "risk_summary(people, [])",
            "quasi-identifiers must be a list of 1 to 64 different column names",
        ),
        (
            "risk_summary(people, ['age', NULL])",
            "must be a list of 1 to 64 different column names, got [age, N",
        ),
        (
            "risk_summary(people, NULL)",
            "must be a list of 1 to 64 different column names, got NULL",
        ),
        (
            "l_diversity(people, ['age', 'sex'], 'age')",
            "quasi-identifiers and sensitive must be a list of 1",
        ),
        (
            "risk_summary(people, ['age'], threshold := 3)",
            "threshold must be a number from 0 to 1, got 3;",
        ),
        (
            "l_diversity(people, ['age'], 'sex', 'recursive')",
            "variant must be distinct or entropy in plain SQL",
        ),
        (
            "t_closeness(people, ['age'], 'sex', 'ordered')",
            "variant must be equal in plain SQL, got ordered;",
        ),
        (
            "risk_summary(people, ['age'], nulls := 'wildcard')",
            "nulls must be value or drop in plain SQL, got w",
        ),
        (
            "attribute_disclosure(people, ['age'], 'sex', k := 1.5)",
            "k must be a whole number from 1 to ",
        ),
        (
            "attribute_disclosure(people, ['age'], 'sex', 'beta_likeness', k := 2)",
            "k must be used with measure := 'alpha_k_anonymity', got beta_likeness; leave it out",
        ),
        (
            "disclosing_classes(people, ['age'], 'sex', 't_closeness', threshold := 2)",
            "threshold must be a number from 0 to 1, got 2",
        ),
        (
            "disclosing_classes(people, ['age'], 'sex', 'l-diversity')",
            "measure must be l_diversity or t_closeness or",
        ),
        (
            "disclosing_classes(people, ['Value'], 'sex')",
            "quasi-identifiers must differ from columns of the result, got class_size or value",
        ),
        (
            "suda_scores(people, ['age', 'sex'], 4)",
            "max_size must be a whole number from 1 to 3, got 4",
        ),
        (
            "suda_scores(people, ['age', 'sex'], dis := 2)",
            "dis must be a number from 0 to 1, got 2",
        ),
        (
            "household_risk(people, 'age', ['sex', 'AGE'])",
            "household and columns must be a list of 1 to 64 different column names",
        ),
        (
            "household_risk(people, 'half', ['age'], threshold := -1)",
            "threshold must be a number from 0 to 1, got -1",
        ),
        (
            "attribute_risk(people, ['age'], 4)",
            "max_size must be a whole number from 1 to 3, got 4;",
        ),
        (
            "risk_summary(people, ['age'], entity := 'sex')",
            "does not support the supplied arguments",
        ),
        ("risk_summary(' ', ['age'])", "tbl must be a table, view or file, got an empty name"),
        (
            "risk_summary('x.json', ['age'])",
            "tbl must be a table, a Parquet or a CSV file, got x.json",
        ),
        (
            "risk_summary(collated, ['age'])",
            "columns must distinguish texts that differ, got one with a coll",
        ),
        (
            "risk_summary(collated, ['pair'])",
            "columns must distinguish texts that differ, got one with a coll",
        ),
        (
            "journalist_risk(people, collated, ['half'])",
            "must have the same types in both tables; cast one",
        ),
        (
            "(SELECT equivalence_class_size('age') FROM people)",
            "must be given columns, got a constant;",
        ),
        (
            "(SELECT equivalence_class_size(['age']) FROM people)",
            "must be given columns, got a constant;",
        ),
        (
            "(SELECT equivalence_class_size(age, 1) FROM people)",
            "must be given columns, got a constant;",
        ),
        (
            "(SELECT equivalence_class_size(age) FROM collated)",
            "columns must distinguish texts that differ",
        ),
        (
            "(SELECT cell_risk(1.5, 10))",
            "p must be a number from 0 to 1, got 1.5;",
        ),
        (
            "(SELECT cell_risk(0.5, 0, 'correctness_of_uniqueness'))",
            "n must be a number from 1 to ",
        ),
    ],
)
def test_what_it_cannot_answer_is_refused(
    alone: duckdb.DuckDBPyConnection, call: str, words: str
) -> None:
    alone.execute(
        "CREATE OR REPLACE TABLE texts_in_any_case (age VARCHAR COLLATE NOCASE, half VARCHAR)"
    )
    alone.execute("INSERT INTO texts_in_any_case VALUES ('a', '1'), ('A', '0')")
    alone.execute(
        "CREATE OR REPLACE VIEW collated AS SELECT *, {'a': age} AS pair FROM texts_in_any_case"
    )
    with pytest.raises(duckdb.Error) as refused:
        alone.execute(f"FROM {call}").fetchall()
    assert words in str(refused.value)


@each_cell("selected", ["*", "count(*)", "records", "nulls", "1"])
@each_cell(
    "call",
    [
        "risk_summary({}, ['age'])",
        "journalist_risk({}, people, ['age'])",
        "l_diversity({}, ['age'], 'sex')",
        "t_closeness({}, ['age'], 'sex')",
        "attribute_disclosure({}, ['age'], 'sex')",
        "attribute_risk({}, ['age', 'sex'])",
    ],
)
def test_an_empty_table_is_refused_whatever_is_selected(
    alone: duckdb.DuckDBPyConnection, call: str, selected: str
) -> None:
    alone.execute("CREATE OR REPLACE VIEW nobody AS FROM people WHERE age > 100")
    with pytest.raises(duckdb.Error, match="the table must contain at least one record, got 0"):
        alone.execute(f"SELECT {selected} FROM {call.format('nobody')}").fetchall()


def test_a_default_collation_is_refused(alone: duckdb.DuckDBPyConnection) -> None:
    cursor = alone.cursor()
    cursor.execute("SET default_collation = 'NOCASE'")
    with pytest.raises(duckdb.Error, match="columns must distinguish texts that differ"):
        cursor.execute("FROM reid.risk_summary(texts, ['half'])").fetchall()
    cursor.execute("RESET default_collation")


@pytest.mark.parametrize("temporary", ["", "TEMP"])
def test_a_macro_with_the_name_of_a_function_does_not_answer(temporary: str) -> None:
    with tables() as con:
        expected = con.execute(script()) and answer(
            con, "FROM risk_summary(people, ['age', 'sex'])"
        )
        diversity = answer(con, "FROM l_diversity(people, ['age'], 'sex', 'entropy')")
    with tables() as con:
        for name in (
            "count",
            "min",
            "max",
            "sum",
            "ln",
            "exp",
            "len",
            "replace",
            "range",
            "array_to_string",
        ):
            con.execute(f"CREATE {temporary} MACRO {name}(a) AS 1000")
        for name in ("query", "query_table"):
            con.execute(f"CREATE {temporary} MACRO {name}(a) AS TABLE SELECT 1000 AS class_size")
        con.execute(script())
        assert answer(con, "FROM risk_summary(people, ['age', 'sex'])") == expected
        assert answer(con, "FROM l_diversity(people, ['age'], 'sex', 'entropy')") == diversity


def test_the_script_can_be_read_at_once() -> None:
    chapters = [*(files("reid_sql") / "pack").iterdir()]
    assert all(len(each.read_text(encoding="utf-8").splitlines()) <= 300 for each in chapters)
    assert all(len(line) <= 110 for line in pack().splitlines())
    with duckdb.connect() as con:
        con.execute(pack())
        con.execute("CREATE TABLE people AS SELECT 1 AS age")
        assert con.execute("SELECT k FROM risk_summary(people, ['age'])").fetchall() == [(1,)]


def test_what_needs_python_says_so_and_python_s_own_stays() -> None:
    with duckdb.connect() as con:
        con.execute(script(declared()))
        con.execute("CREATE TABLE people AS SELECT 1 AS age")
        for call in (
            "profile(people)",
            "profile('f.csv', columns := ['age'])",
            "reid.profile(people)",
        ):
            with pytest.raises(
                duckdb.Error, match="profile must be called where Python is, got a script"
            ):
                con.sql(f"FROM {call}").fetchall()
    with duckdb.connect() as con:
        reid_sql.register(con)
        con.execute(script(declared()))
        con.execute("CREATE TABLE people AS SELECT 1 AS age")
        assert con.sql("SELECT records FROM profile(people)").fetchall() == [(1,)]
