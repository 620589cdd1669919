"""What a refusal says: rule, value, remedy in one sentence, the same in DuckDB and in Polars."""

from collections.abc import Callable, Iterator
from math import comb, inf, nan
from typing import Any, Literal, get_args

import duckdb
import polars as pl
import pytest

import reid_sql
import reid_sql.polars as rp
from reid_sql.errors import (
    OTHER_VALUE,
    NoRecordsError,
    OutOfDomainError,
    ReidError,
    UnknownNameError,
)
from tests.cells import each_cell
from tests.engines.asking import FUNCTIONS, ask, listed, literal

PEOPLE = pl.DataFrame({"age": [34, 34, 51], "sex": ["F", "F", "M"], "postal code": [1, 2, 2]})
WIDE = pl.DataFrame({f"w{place}": [1, 2] for place in range(65)})
W64 = WIDE.columns[:64]
TABLES = {
    "people": PEOPLE,
    "nobody": PEOPLE.clear(),
    "wide": WIDE,
    "odd": pl.DataFrame({"it's": [1], 'the "age"': [2], "größe": [3]}),
}

LIST = "{} must be a list of column names, got {}; write ['age', 'sex']"
ONE_TO_64 = (
    "{} must name 1 to 64 columns, got {}; pass the columns by which "
    "people can be distinguished, such as ['age', 'sex']"
)
DISTINCT = "{} must be distinct, got '{}' twice; name each column once"
KNOWN = "{} must be columns of the table, got '{}'; {}"
NULLS = "nulls must be one of 'value', 'wildcard', 'drop', got '{}'; {}"
CHOICES = "the choices are value, wildcard, drop"
THRESHOLD = (
    "threshold must be a risk between 0 and 1, got {}; "
    "pass the risk above which a record counts as at risk, such as 0.2 for classes of fewer than 5"
)
MAX_SIZE = (
    "max_size must be a whole number of columns from 1 to 64, got {}; "
    "pass how many columns to combine at most"
)
SUBSETS = (
    "the number of subsets of the columns must be at most 10000000, got {}; "
    "pass fewer columns or a smaller max_size"
)
EMPTY = (
    "the table must contain at least one record, got 0 (those that nulls := 'drop' leaves out do not count); "
    "pass a table with records"
)
PROBABILITY = "{} must be a probability between 0 and 1, got {}; pass a share, such as 0.01 for 1 %"
COUNT = (
    "n must be a number of people of at least 1 and at most 1e+15, got {}; "
    "pass the size of the population that the record is looked for in"
)
EVERY_FUNCTION = each_cell("function", FUNCTIONS)


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    """A registered connection that holds the tables."""
    with duckdb.connect() as con:
        reid_sql.register(con)
        for name, frame in TABLES.items():
            con.register("frame", frame.to_arrow())
            con.execute(f"CREATE TABLE {name} AS FROM frame")
        con.unregister("frame")
        yield con


def in_duckdb(duck: duckdb.DuckDBPyConnection, sql: str, parameters: Any = None) -> str:
    """What DuckDB says; it puts the kind of error before our sentence, and the place of the call after it."""
    with pytest.raises(duckdb.Error) as refused:
        duck.execute(sql, parameters).fetchall()
    return str(refused.value)


def in_polars(call: Callable[[], Any], kind: type[ReidError]) -> str:
    """What Polars says; where it happens while collecting, Polars puts the expression after our sentence."""
    with pytest.raises(kind) as refused:
        call().lazy().collect()
    return str(refused.value)


def asked(function: str, table: str, columns: Any, **options: Any) -> Callable[[], Any]:
    """The question in Polars."""
    tables = [TABLES[table]] * (2 if function == "journalist_risk" else 1)
    return lambda: getattr(rp, function)(*tables, columns, **options)


def words(function: str) -> str:
    return "columns" if function == "attribute_risk" else "quasi-identifiers"


# The columns


@EVERY_FUNCTION
def test_a_misspelt_column_is_refused_with_the_nearest(
    duck: duckdb.DuckDBPyConnection, function: str
) -> None:
    sentence = KNOWN.format(words(function), "sxe", "did you mean 'sex'?")
    assert sentence in in_duckdb(duck, ask(function, "people", "['age', 'sxe']"))
    assert in_polars(asked(function, "people", ["age", "sxe"]), UnknownNameError) == sentence


NEAREST = [
    ("people", "agee", "did you mean 'age'?"),
    ("people", "ages", "did you mean 'age'?"),
    ("people", "SEXX", "did you mean 'sex'?"),
    ("people", "postal_code", "did you mean 'postal code'?"),
    ("people", "postcode", "did you mean 'postal code'?"),
    ("people", "income", "the columns are age, sex, postal code"),
    ("people", "sex; DROP TABLE people", "the columns are age, sex, postal code"),
    ("odd", "its", "did you mean 'it's'?"),
    ("odd", "the age", """did you mean 'the "age"'?"""),
    ("odd", "grösse", "did you mean 'größe'?"),
    ("odd", "profession", """the columns are it's, the "age", größe"""),
    ("wide", "profession", f"the columns are {', '.join(WIDE.columns[:12])}, …"),
    ("wide", "w65", "did you mean 'w5'?"),
]


@each_cell("table, name, remedy", NEAREST)
def test_the_nearest_column_or_else_the_columns_are_offered(
    duck: duckdb.DuckDBPyConnection, table: str, name: str, remedy: str
) -> None:
    sentence = KNOWN.format("quasi-identifiers", name, remedy)
    assert sentence in in_duckdb(duck, ask("risk_summary", table, listed([name])))
    assert in_polars(asked("risk_summary", table, [name]), UnknownNameError) == sentence


def test_a_column_that_the_population_alone_lacks_is_refused(
    duck: duckdb.DuckDBPyConnection,
) -> None:
    known = KNOWN.replace("of the table", "of the population table")
    sentence = known.format(
        "quasi-identifiers", "sex", """the columns are it's, the "age", größe"""
    )
    assert sentence in in_duckdb(duck, "FROM journalist_risk(people, odd, ['sex'])")
    assert (
        in_polars(lambda: rp.journalist_risk(PEOPLE, TABLES["odd"], ["sex"]), UnknownNameError)
        == sentence
    )


def test_a_column_with_an_empty_name_is_refused(duck: duckdb.DuckDBPyConnection) -> None:
    sentence = KNOWN.format("quasi-identifiers", "", "the columns are age, sex, postal code")
    assert sentence in in_duckdb(duck, ask("risk_summary", "people", "['']"))
    assert in_polars(asked("risk_summary", "people", [""]), UnknownNameError) == sentence


@EVERY_FUNCTION
def test_a_repeated_column_is_refused(duck: duckdb.DuckDBPyConnection, function: str) -> None:
    sentence = DISTINCT.format(words(function), "age")
    assert sentence in in_duckdb(duck, ask(function, "people", "['age', 'sex', 'age']"))
    assert in_polars(asked(function, "people", ["age", "sex", "age"]), OutOfDomainError) == sentence


def test_a_column_repeated_in_capitals_is_refused_where_capitals_do_not_matter(
    duck: duckdb.DuckDBPyConnection,
) -> None:
    assert DISTINCT.format("quasi-identifiers", "AGE") in in_duckdb(
        duck, ask("risk_summary", "people", "['age', 'AGE']")
    )
    sentence = KNOWN.format("quasi-identifiers", "AGE", "did you mean 'age'?")
    assert in_polars(asked("risk_summary", "people", ["age", "AGE"]), UnknownNameError) == sentence


@EVERY_FUNCTION
@each_cell("columns", [[], WIDE.columns])
def test_no_column_and_65_columns_are_refused(
    duck: duckdb.DuckDBPyConnection, function: str, columns: list[str]
) -> None:
    sentence = ONE_TO_64.format(words(function), len(columns))
    assert sentence in in_duckdb(duck, ask(function, "wide", listed(columns)))
    assert in_polars(asked(function, "wide", columns), OutOfDomainError) == sentence


@EVERY_FUNCTION
def test_a_single_column_may_be_a_name(duck: duckdb.DuckDBPyConnection, function: str) -> None:
    rows = sorted(duck.execute(ask(function, "people", "['age']")).fetchall(), key=str)
    for name in ("'age'", "age"):
        assert sorted(duck.execute(ask(function, "people", name)).fetchall(), key=str) == rows
    listed_one, named_one = (
        asked(function, "people", given)().lazy().collect() for given in (["age"], "age")
    )
    assert sorted(named_one.rows(), key=str) == sorted(listed_one.rows(), key=str)


NO_LISTS = [
    ("42", 42, "42"),
    ("1.5", 1.5, "1.5"),
    ("NULL", None, "NULL"),
    ("{'age': 1}", {"age": 1}, "{'age': 1}"),
]


@pytest.mark.parametrize(("sql", "python", "shown"), NO_LISTS, ids=repr)
def test_what_is_no_list_is_refused(
    duck: duckdb.DuckDBPyConnection, sql: str, python: object, shown: str
) -> None:
    assert LIST.format("quasi-identifiers", sql) in in_duckdb(
        duck, ask("risk_summary", "people", sql)
    )
    assert in_polars(asked("risk_summary", "people", python), OutOfDomainError) == LIST.format(
        "quasi-identifiers", shown
    )


@EVERY_FUNCTION
def test_null_in_the_list_is_refused(duck: duckdb.DuckDBPyConnection, function: str) -> None:
    assert LIST.format(words(function), "[age, NULL]") in in_duckdb(
        duck, ask(function, "people", "['age', NULL]")
    )
    message = in_polars(asked(function, "people", ["age", None]), OutOfDomainError)
    assert message == LIST.format(words(function), "[age, NULL]")


# The table


@pytest.mark.parametrize("name", ["''", "' '", "NULL"])
def test_a_table_without_a_name_is_refused(duck: duckdb.DuckDBPyConnection, name: str) -> None:
    sentence = "tbl must be a table, view or file, got an empty name; pass its name or path"
    assert sentence in in_duckdb(duck, f"FROM risk_summary({name}, ['age'])")


def test_a_misspelt_table_is_named(duck: duckdb.DuckDBPyConnection) -> None:
    message = in_duckdb(duck, "FROM risk_summary(poeple, ['age'])")
    assert "poeple does not exist" in message
    assert 'Did you mean "people"?' in message


@pytest.mark.parametrize("function", ["risk_summary", "journalist_risk", "attribute_risk"])
def test_an_empty_table_is_refused(duck: duckdb.DuckDBPyConnection, function: str) -> None:
    assert EMPTY in in_duckdb(duck, ask(function, "nobody", "['age']"))
    assert in_polars(asked(function, "nobody", ["age"]), NoRecordsError).startswith(EMPTY)


@pytest.mark.parametrize("function", ["equivalence_classes", "class_size_histogram"])
def test_an_empty_table_has_no_classes(duck: duckdb.DuckDBPyConnection, function: str) -> None:
    assert duck.execute(ask(function, "nobody", "['age']")).fetchall() == []
    assert asked(function, "nobody", ["age"])().collect().rows() == []


# How NULLs are treated


@EVERY_FUNCTION
@each_cell("word, remedy", [("wildcards", "did you mean 'wildcard'?"), ("ignore", CHOICES)])
def test_a_misspelt_treatment_of_nulls_is_refused(
    duck: duckdb.DuckDBPyConnection, function: str, word: str, remedy: str
) -> None:
    sentence = NULLS.format(word, remedy)
    assert sentence in in_duckdb(duck, ask(function, "people", "['age']", nulls=literal(word)))
    assert in_polars(asked(function, "people", ["age"], nulls=word), UnknownNameError) == sentence


@pytest.mark.parametrize(
    ("word", "remedy"),
    [("VALUE", "did you mean 'value'?"), ("", CHOICES), ("va'lue", "did you mean 'value'?")],
)
def test_other_words_for_nulls_are_refused(
    duck: duckdb.DuckDBPyConnection, word: str, remedy: str
) -> None:
    sentence = NULLS.format(word, remedy)
    assert sentence in in_duckdb(
        duck, ask("risk_summary", "people", "['age']", nulls=literal(word))
    )
    assert (
        in_polars(asked("risk_summary", "people", ["age"], nulls=word), UnknownNameError)
        == sentence
    )


def test_null_for_nulls_is_refused(duck: duckdb.DuckDBPyConnection) -> None:
    assert NULLS.format("NULL", CHOICES) in in_duckdb(
        duck, ask("risk_summary", "people", "['age']", nulls="NULL")
    )
    message = in_polars(asked("risk_summary", "people", ["age"], nulls=None), UnknownNameError)
    assert message == NULLS.format("None", CHOICES)


# Numbers

RISKS = [
    (1.5, "1.5"),
    (2, "2"),
    (-0.1, "-0.1"),
    (-1e-300, "-1e-300"),
    (1 + 2**-52, "1.0000000000000002"),
    (inf, "inf"),
    (nan, "nan"),
]


@each_cell("value, shown", RISKS)
@each_cell("function", ["risk_summary", "journalist_risk"])
def test_a_threshold_outside_its_range_is_refused(
    duck: duckdb.DuckDBPyConnection, function: str, value: float, shown: str
) -> None:
    sentence = THRESHOLD.format(shown)
    assert sentence in in_duckdb(duck, ask(function, "people", "['age']", threshold="?"), [value])
    assert (
        in_polars(asked(function, "people", ["age"], threshold=value), OutOfDomainError) == sentence
    )


def test_a_threshold_in_digits_is_refused_as_written(duck: duckdb.DuckDBPyConnection) -> None:
    for written in ("1.5", "1.5::FLOAT", "'1.5'", "15e-1"):
        assert THRESHOLD.format("1.5") in in_duckdb(
            duck, ask("risk_summary", "people", "['age']", threshold=written)
        )


SIZES = [(0, "0"), (-1, "-1"), (1.5, "1.5"), (65, "65"), (nan, "nan"), (1e300, "1e+300")]


@pytest.mark.parametrize(("value", "shown"), SIZES)
def test_a_size_that_is_no_number_of_columns_is_refused(
    duck: duckdb.DuckDBPyConnection, value: float, shown: str
) -> None:
    sentence = MAX_SIZE.format(shown)
    assert sentence in in_duckdb(
        duck, ask("attribute_risk", "people", "['age']", max_size="?"), [value]
    )
    assert (
        in_polars(asked("attribute_risk", "people", ["age"], max_size=value), OutOfDomainError)
        == sentence
    )


@pytest.mark.parametrize(
    ("function", "option", "sentence"),
    [("risk_summary", "threshold", THRESHOLD), ("attribute_risk", "max_size", MAX_SIZE)],
)
def test_no_number_at_all_is_refused(
    duck: duckdb.DuckDBPyConnection, function: str, option: str, sentence: str
) -> None:
    assert sentence.format("NULL") in in_duckdb(
        duck, ask(function, "people", "['age']", **{option: "NULL"})
    )
    rule, remedy = sentence.split("{}")
    message = in_polars(asked(function, "people", ["age"], **{option: None}), OutOfDomainError)
    assert message.startswith(rule)
    assert message.endswith(remedy)


def test_a_whole_size_may_be_written_with_a_point(duck: duckdb.DuckDBPyConnection) -> None:
    columns = ["age", "sex", "postal code"]
    assert (
        len(
            duck.execute(
                ask("attribute_risk", "people", listed(columns), max_size="2.0")
            ).fetchall()
        )
        == 6
    )
    assert rp.attribute_risk(PEOPLE, columns, max_size=2.0).collect().height == 6  # type: ignore[arg-type]


@pytest.mark.parametrize("max_size", [6, 7, 32, 64])
def test_too_many_subsets_are_refused(duck: duckdb.DuckDBPyConnection, max_size: int) -> None:
    sentence = SUBSETS.format(sum(comb(64, size) for size in range(1, max_size + 1)))
    assert sentence in in_duckdb(
        duck, ask("attribute_risk", "wide", listed(W64), max_size=str(max_size))
    )
    assert (
        in_polars(asked("attribute_risk", "wide", W64, max_size=max_size), OutOfDomainError)
        == sentence
    )


# Row functions

CellRisk = Literal["uniqueness", "correctness", "correctness_of_uniqueness"]
EVERY_MEASURE = each_cell("measure", get_args(CellRisk))


@EVERY_MEASURE
@each_cell(
    "value, shown",
    [(1.5, "1.5"), (-0.1, "-0.1"), (2, "2"), (-inf, "-1e1000"), (nan, "'nan'::DOUBLE")],
)
def test_a_probability_outside_its_range_is_refused(
    duck: duckdb.DuckDBPyConnection, measure: CellRisk, value: float, shown: str
) -> None:
    sentence = PROBABILITY.format("p", shown)
    assert sentence in in_duckdb(duck, f"SELECT cell_risk(?, 10, '{measure}')", [value])
    rows = pl.LazyFrame({"value": [0.5, float(value)]})
    assert in_polars(
        lambda: rows.select(rp.cell_risk("value", 10, measure)), OutOfDomainError
    ).startswith(PROBABILITY.format("p", OTHER_VALUE))


@EVERY_MEASURE
@each_cell(
    "value, shown",
    [(0, "0"), (0.5, "0.5"), (-3, "-3"), (1e16, "1e+16"), (inf, "1e1000"), (nan, "'nan'::DOUBLE")],
)
def test_a_number_of_people_outside_its_range_is_refused(
    duck: duckdb.DuckDBPyConnection, measure: CellRisk, value: float, shown: str
) -> None:
    sentence = COUNT.format(shown)
    assert sentence in in_duckdb(duck, f"SELECT cell_risk(0.5, ?, '{measure}')", [value])
    rows = pl.LazyFrame({"value": [10.0, float(value)]})
    assert in_polars(
        lambda: rows.select(rp.cell_risk(0.5, "value", measure)), OutOfDomainError
    ).startswith(COUNT.format(OTHER_VALUE))


@EVERY_MEASURE
def test_one_bad_row_among_many_is_refused(
    duck: duckdb.DuckDBPyConnection, measure: CellRisk
) -> None:
    sentence = PROBABILITY.format("p", "p")  # the column, never its value
    rows = "SELECT CASE WHEN i = 4321 THEN 1.25 ELSE i / 10000 END AS p FROM range(10000) t(i)"
    assert sentence in in_duckdb(duck, f"SELECT sum(cell_risk(p, 100, '{measure}')) FROM ({rows})")
    frame = pl.LazyFrame({"p": [1.25 if i == 4321 else i / 10_000 for i in range(10_000)]})
    assert in_polars(
        lambda: frame.select(rp.cell_risk("p", 100, measure).sum()), OutOfDomainError
    ).startswith(PROBABILITY.format("p", OTHER_VALUE))


@EVERY_MEASURE
@each_cell("arguments", [(None, 10.0), (0.5, None), (None, None)])
def test_null_is_no_refusal_and_gives_null(
    duck: duckdb.DuckDBPyConnection, measure: CellRisk, arguments: tuple[float | None, float | None]
) -> None:
    assert duck.execute(
        f"SELECT cell_risk(?::DOUBLE, ?::DOUBLE, '{measure}')", list(arguments)
    ).fetchall() == [(None,)]
    rows = pl.LazyFrame([arguments], schema={"x": pl.Float64, "n": pl.Float64}, orient="row")
    assert rows.select(rp.cell_risk("x", "n", measure)).collect().rows() == [(None,)]
