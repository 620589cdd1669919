"""What columns may be called, and how many there may be."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import ibis
import polars as pl
import pytest

import reid_sql
import reid_sql.ibis as ri
from reid_sql.errors import ReidError
from reid_sql.sources.files import open_source
from tests.cells import each_cell
from tests.engines.asking import (
    FUNCTIONS,
    OWN_NAMES,
    answer,
    ask,
    counted,
    create,
    empty,
    listed,
    literal,
)
from tests.tables import Row

pytestmark = pytest.mark.first(function=["equivalence_classes"])

COLUMNS = ["age", "sex"]
QI = listed(COLUMNS)
PEOPLE: list[Row] = [(34, "F"), (34, "F"), (51, "M"), (51, None), (51, "M"), (8, "F")]
EVERY_FUNCTION = each_cell("function", FUNCTIONS, after=empty)

# What the columns are called

EVERYDAY = [
    "postal code",
    'the "real" age',
    "mother's age",
    "Age",
    "ALTER",
    "select",
    "from",
    "group",
    "Größe",
    "年齢",
    "🎂",
]
EMPTY_ISH = [
    " ",
    "  ",
    "\t",
    "\n",
    "_",
    "-",
    ".",
    "..",
    "''",
    '""',
    "NULL",
    "nan",
    "0",
    "\u200b",
    "\u00a0",
    "\ufeff",
]
OURS = [
    *(
        "reid_source",
        "reid_rows",
        "reid_fallback",
        "reid_result",
        "reid_names",
        "reid_missing",
        "reid_one",
        "reid_compared",
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
RESULTS = [
    "class_size",
    "classes",
    "records",
    "records_dropped",
    "uncovered",
    "pairs_alike",
    "status",
]
SQL_VALUES = ["user", "current_date", "current_timestamp", "rowid", "true"]
NAMES = [*EVERYDAY, *EMPTY_ISH, *OURS, *PARAMETERS, *RESULTS, *SQL_VALUES]


@each_cell("first", range(0, len(NAMES), 2), after=empty)
def test_columns_may_have_any_name(con: duckdb.DuckDBPyConnection, first: int) -> None:
    columns = [*NAMES[first : first + 2], "other"]
    rows = [row[: len(columns)] for row in [(1, 1, None), (1, 1, None), (1, 2, 3), (2, 2, 3)]]
    create(con, "TABLE people", rows, columns)
    assert answer(con, ask("journalist_risk", "people", listed(columns))) == counted(
        "journalist_risk", rows, columns
    )


@EVERY_FUNCTION
@each_cell("names", [NAMES[:32], NAMES[32:]], after=empty)
def test_columns_of_many_names_count_together(
    con: duckdb.DuckDBPyConnection, function: str, names: list[str]
) -> None:
    if function == "equivalence_classes":
        names = [name for name in names if name not in OWN_NAMES]
    rows: list[Row] = [
        tuple(record % (1 + place) for place in range(len(names))) for record in (0, 1, 1, 5, 17)
    ]
    create(con, "TABLE people", rows, names)
    assert answer(con, ask(function, "people", listed(names))) == counted(function, rows, names)


@each_cell("nulls", ["drop", "wildcard"])
@each_cell("name", ["q1", "id", "codes", "records", "nulls", "records_dropped"], after=empty)
def test_a_column_may_have_any_name_however_nulls_are_treated(
    con: duckdb.DuckDBPyConnection, name: str, nulls: str
) -> None:
    create(con, "TABLE people", PEOPLE, ["other", name])
    create(con, "TABLE plain", PEOPLE, COLUMNS)
    named = answer(
        con, ask("journalist_risk", "people", listed(["other", name]), nulls=literal(nulls))
    )
    assert named == answer(con, ask("journalist_risk", "plain", QI, nulls=literal(nulls)))


def test_classes_are_listed_under_the_columns_own_names(con: duckdb.DuckDBPyConnection) -> None:
    names = [name for name in NAMES if name not in OWN_NAMES][-64:]
    create(con, "TABLE people", [tuple(range(len(names)))], names)
    listing = con.execute(ask("equivalence_classes", "people", listed(names)))
    assert [column[0] for column in listing.description or []] == [*names, *OWN_NAMES]
    assert listing.fetchall() == [(*range(len(names)), 1, 1, 0, "value")]


@pytest.mark.parametrize("name", [*OWN_NAMES, "Class_Size", "RECORDS"])
def test_classes_refuse_a_column_named_like_their_own(
    con: duckdb.DuckDBPyConnection, name: str
) -> None:
    create(con, "TABLE people", PEOPLE, [name, "other"])
    with pytest.raises(duckdb.Error, match=f"got '{name}'; rename the column in a view"):
        con.execute(ask("equivalence_classes", "people", listed([name])))


@EVERY_FUNCTION
def test_capitals_of_a_name_do_not_matter_as_everywhere_in_sql(
    con: duckdb.DuckDBPyConnection, function: str
) -> None:
    create(con, "TABLE people", PEOPLE, ["Age", "SEX"])
    asked = answer(con, ask(function, "people", listed(["aGE", "sex"])))
    assert asked == counted(function, PEOPLE, ["aGE", "sex"])


def test_columns_that_differ_by_capitals_are_refused_where_duckdb_renames_one(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    frame = pl.DataFrame({"Age": [30] * 4, "age": range(4), "sex": [1] * 4, "sex_1": range(4)})
    frame.write_parquet(tmp_path / "people.parquet")
    con.register("people", frame.to_arrow())
    for table in ("people", f"'{tmp_path}/people.parquet'"):
        for column in ("age", "AGE"):
            with pytest.raises(duckdb.Error, match="must differ by more than capitals"):
                con.execute(f"FROM risk_summary({table}, ['{column}'])")
        for column, k in (("Age", 4), ("sex", 4), ("SEX", 4), ("sex_1", 1)):
            assert con.execute(f"SELECT k FROM risk_summary({table}, ['{column}'])").fetchall() == [
                (k,)
            ]
    with pytest.raises(ReidError, match="must name each column once, whatever the case"):
        open_source(str(tmp_path / "people.parquet"))
    memtable = ibis.memtable(frame.to_arrow())
    with pytest.raises(ReidError, match="must differ by more than capitals"):
        ri.risk_summary(memtable, ["age"])


def test_capitals_beyond_ascii_do_matter_as_everywhere_in_sql(
    con: duckdb.DuckDBPyConnection,
) -> None:
    create(con, "TABLE people", [(1, 1), (1, 2)], ["größe", "GRÖSSE"])
    create(con, "TABLE others", [(1, 1), (1, 2)], ["é", "É"])
    for column, k in (("é", 2), ("É", 1)):
        assert con.execute(
            f"SELECT k FROM risk_summary(others, [{literal(column)}])"
        ).fetchall() == [(k,)]
    with pytest.raises(duckdb.Error, match="got 'GRÖẞE'"):
        con.execute("FROM risk_summary(people, ['GRÖẞE'])")


@pytest.mark.parametrize(
    "names",
    [["c2", "c1"], ["c1", "x"], ["c", "d", "c1", "c2", "x"], ["x", "c5", "c4", "c3", "c2", "c1"]],
)
def test_the_window_counts_by_the_columns_it_was_given(
    con: duckdb.DuckDBPyConnection, names: list[str]
) -> None:
    all_names = ["c1", "c2", "c3", "c4", "c5", "c", "d", "x"]
    rows: list[Row] = [tuple(i % (2 + place) for place in range(8)) for i in range(30)]
    create(con, "TABLE people", rows, all_names)
    values = [tuple(row[all_names.index(name)] for name in names) for row in rows]
    sizes = con.execute(
        f"SELECT equivalence_class_size({', '.join(names)}) FROM people ORDER BY rowid"
    ).fetchall()
    assert sizes == [(values.count(value),) for value in values]


def test_the_closed_forms_take_the_columns_they_were_given(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE TABLE swapped AS SELECT 0.01 AS n, 101.0 AS p, 0.01 AS x")
    for measure in (
        "uniqueness",
        "correctness",
        "correctness_of_uniqueness",
    ):
        ((swapped, plain),) = con.execute(
            f"SELECT cell_risk(n, p, '{measure}'), cell_risk(0.01, 101, '{measure}') FROM swapped"
        ).fetchall()
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
@each_cell("count", [5, 64])
def test_up_to_64_quasi_identifiers(
    wide: duckdb.DuckDBPyConnection, function: str, count: int
) -> None:
    columns = [f"w{place}" for place in range(count)]
    rows: list[Row] = [tuple(i % (1 + place % 4) for place in range(count)) for i in range(24)]
    assert answer(wide, ask(function, "wide", listed(columns))) == counted(function, rows, columns)


@EVERY_FUNCTION
def test_65_quasi_identifiers_are_refused(wide: duckdb.DuckDBPyConnection, function: str) -> None:
    with pytest.raises(duckdb.Error, match="must name 1 to 64 columns, got 65"):
        wide.execute(ask(function, "wide", listed([f"w{place}" for place in range(65)])))


@pytest.mark.parametrize("number", [1, 4, 5, 9])
def test_a_record_of_any_number_of_columns_is_scored_as_its_table_is(
    con: duckdb.DuckDBPyConnection, number: int
) -> None:
    """Records repeat as often as by chance, since a score without a status is refused where they do not."""
    columns = [f"c{place}" for place in range(number)]
    cells = ", ".join(
        f"hash(i * {number} + {place}) % {2 + place} AS c{place}" for place in range(number)
    )
    con.execute(f"CREATE OR REPLACE TABLE scored AS SELECT {cells} FROM range(60) AS r(i)")
    con.execute(f"FROM fit_copula('of_columns', scored, {columns})").fetchall()
    listed = ", ".join(columns)
    table = f"SELECT {listed}, uniqueness_xi FROM score_records(scored, 'of_columns', 100)"
    for name in ("uniqueness_xi", "reid.uniqueness_xi"):
        record = f"SELECT {listed}, {name}('of_columns', 100, {listed}) FROM scored"
        assert sorted(con.execute(record).fetchall()) == sorted(con.execute(table).fetchall())
