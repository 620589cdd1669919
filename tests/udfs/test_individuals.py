"""Where a sample is of people: who are all in one class, answers are those of a table of one row a person.

People of several classes are in test_one_meaning_of_entity.
"""

from collections import defaultdict
from typing import Any

import duckdb
import polars as pl
import pytest

import reid_sql.polars as rp
from reid_sql.errors import ReidError
from reid_sql.function import Answer, Function
from reid_sql.parameters import Table
from reid_sql.parameters.outputs import REQUIRED
from reid_sql_udfs import declared
from tests.all.reliability.test_entities import visits
from tests.cells import each_cell
from tests.tables import by_duckdb, by_polars
from tests.tiers import representatives

QI = ["age", "sex", "zip"]
ASKED: dict[str, dict[str, Any]] = {
    "pyc_fit": {},
    "pyc_forecast": {"populations": [1e3, 1e5]},
    "correctness_curve": {},
    "population_uniqueness": {"population": 1e4},
    "population_risk": {"populations": [13.0, 1e4]},
    "fit_people": {},
    "fit_copula": {},
    "individual_risk": {},
    "loglinear_risk": {"sampling_fraction": 0.1},
}
WEIGHED = {
    "individual_risk": {},
    "fit_people": {},
    "fit_copula": {},
    "population_risk": {"populations": [1e4]},
}
FUNCTIONS = [
    function
    for function in declared().values()
    if function.one_row_per_person
    or function.name in {"pyc_fit", "pyc_forecast", "correctness_curve"}
]
OF_VALUES = [
    f for f in FUNCTIONS if any(parameter.name == "sensitive" for parameter in f.parameters)
]
OF_PEOPLE = [function for function in FUNCTIONS if function not in OF_VALUES]
ANY: Any = rp


def individuals(frame: pl.DataFrame) -> pl.DataFrame:
    """A row for each person, by going through the classes from the smallest, then in order."""
    classes = defaultdict(set)
    for person, *values in frame.select("person", *QI).rows():
        classes[tuple(values)].add(person)

    def order(key: tuple[Any, ...]) -> tuple[Any, ...]:
        return (
            len(classes[key]),
            *(
                (value is not None, value or 0) if not isinstance(value, str) else value
                for value in key
            ),
        )

    found: dict[Any, tuple[Any, ...]] = {}
    for key in sorted(classes, key=order):
        for person in classes[key]:
            found.setdefault(person, key)
    rows = [(person, *values) for person, values in found.items()]
    return pl.DataFrame(
        rows, schema={name: frame.schema[name] for name in ("person", *QI)}, orient="row"
    )


def repeated(people: pl.DataFrame) -> pl.DataFrame:
    """The table with three rows of each person, all alike."""
    return pl.concat([people] * 3)


def named(function: Function) -> list[str]:
    return ["'m'"] if function.parameters[0].name == "name" else []


def asked(function: Function, table: str, entity: str = "") -> str:
    options = "".join(f", {name} := {value}" for name, value in ASKED[function.name].items())
    return f"FROM {function.name}({', '.join([*named(function), table])}, {QI}{options}{entity})"


def test_every_function_of_a_sample_of_people_is_asked() -> None:
    assert {function.name for function in OF_PEOPLE} == {*ASKED, "validate_risk"}


@pytest.mark.first(name=representatives(), seed=[0])
@each_cell("seed", range(3))
@each_cell("name", ASKED)
def test_people_are_counted_as_a_table_of_one_row_a_person_is(name: str, seed: int) -> None:
    function, people = declared()[name], individuals(visits(seed))
    frame = repeated(people)
    key = {"key": "person"} if function.answer is Answer.PER_RECORD else {}
    expected = by_duckdb(asked(function, "p", ", key := 'person'" if key else ""), p=people)
    assert by_duckdb(asked(function, "t", ", entity := 'person'"), t=frame) == approximately(
        expected
    )
    if named(function):
        return
    assert by_polars(
        function.name, frame, QI, **ASKED[function.name], entity="person"
    ) == approximately(by_polars(function.name, people, QI, **ASKED[function.name], **key))


def test_a_backtest_is_of_people() -> None:
    many = pl.concat(
        [visits(seed).with_columns(pl.col("person") + 13 * seed) for seed in range(20)]
    )
    asked = f"FROM validate_risk({{}}, {QI}, [0.5], 1, methods := ['bound'], nulls := 'value'{{}})"
    expected = by_duckdb(asked.format("p", ""), p=individuals(many))
    assert by_duckdb(asked.format("t", ", entity := 'person'"), t=many) == approximately(expected)
    options = {"methods": ["bound"], "entity": "person"}
    assert by_polars("validate_risk", many, QI, [0.5], 1, **options) == approximately(expected)


@pytest.mark.parametrize("name", WEIGHED)
def test_a_person_has_the_smallest_of_their_weights(name: str) -> None:
    rows = repeated(individuals(visits(3)))
    frame = rows.with_columns((pl.int_range(pl.len()) * 7 % 11 + 2.5).alias("w"))
    function, least = declared()[name], frame.group_by("person").agg(pl.col("w").min())
    people = individuals(frame).join(least, on="person", nulls_equal=True, how="left")
    more = (
        "".join(f", {option} := {value}" for option, value in WEIGHED[name].items())
        + ", weight := 'w'"
    )
    key = ", key := 'person'" if function.answer is Answer.PER_RECORD else ""
    reported = ", ".join([*named(function), "{}"])
    expected = by_duckdb(f"FROM {name}({reported.format('p')}, {QI}{more}{key})", p=people)
    found = by_duckdb(
        f"FROM {name}({reported.format('t')}, {QI}{more}, entity := 'person')", t=frame
    )
    assert found == approximately(expected)


@pytest.mark.parametrize("weight", [None, -1.0, float("nan"), float("inf"), 0.0])
def test_a_person_of_one_bad_weight_is_refused(weight: float | None) -> None:
    frame = visits(3).with_columns(
        pl.when(pl.int_range(pl.len()) == 7).then(weight).otherwise(2.0).alias("w")
    )
    reported = "weight must be a number above 0 for every record"
    with pytest.raises(duckdb.Error, match=reported):
        by_duckdb(f"FROM individual_risk(t, {QI}, weight := 'w', entity := 'person')", t=frame)
    lazy = ANY.individual_risk(frame, QI, weight="w", entity="person")
    with pytest.raises(Exception, match=reported):
        lazy.collect()


def approximately(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            name: pytest.approx(value, rel=1e-9) if isinstance(value, float) else value
            for name, value in row.items()
        }
        for row in rows
    ]


@pytest.mark.parametrize("function", OF_VALUES, ids=lambda function: function.name)
def test_people_of_several_sensitive_values_are_refused(function: Function) -> None:
    frame = pl.DataFrame({"a": [1, 1, 1], "diagnosis": ["x", "y", "y"], "person": [1, 1, 2]})
    shares = declared()[function.name].name.split("_")[0] in {"t", "beta", "delta"}
    where = (
        "where a class is compared with the table's people" if shares else "in a class where people"
    )
    reported = f"sensitive must have one value for each person {where}"
    with pytest.raises(duckdb.Error, match=reported):
        by_duckdb(f"FROM {function.name}(t, ['a'], 'diagnosis', entity := 'person')", t=frame)
    with pytest.raises(Exception, match=reported):
        getattr(rp, function.name)(frame, ["a"], "diagnosis", entity="person").collect()


def test_a_lone_person_of_many_visits_is_no_diverse_class(con: duckdb.DuckDBPyConnection) -> None:
    columns = "i // 5 AS person, i // 5 AS age, 'd' || i // 5 AS diagnosis"
    con.execute(f"CREATE TABLE v AS SELECT {columns} FROM range(50) r(i)")
    asked = "SELECT records, k, value FROM attribute_disclosure(v, ['age'], 'diagnosis', entity := 'person', measure := 'alpha_k_anonymity')"
    assert con.execute(asked).fetchall() == [(10, 1, 1.0)]


def test_five_visits_are_forecast_as_one_person(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(
        "CREATE TABLE visits AS SELECT i // 5 AS person, i // 10 AS age FROM range(500) r(i)"
    )
    rows = con.execute("SELECT records FROM pyc_fit(visits, ['age'])").fetchall()
    people = con.execute(
        "SELECT records FROM pyc_fit(visits, ['age'], entity := 'person')"
    ).fetchall()
    assert (rows, people) == ([(500,)], [(100,)])


REFUSED = {
    "nulls := 'drop', entity := 'person'": "entity must be used with nulls := 'value' where people are a "
    "sample, got 'drop'",
    "entity := 'age'": "entity must not be a quasi-identifier, got 'age'",
    "entity := 'persn'": "quasi-identifiers and entity must be columns of the table, got 'persn'; did "
    "you mean 'person'?",
}


@pytest.mark.parametrize("options", REFUSED)
def test_what_cannot_tell_people_apart_is_refused(options: str) -> None:
    frame = visits(1)
    with pytest.raises(duckdb.Error) as refused:
        by_duckdb(f"FROM population_risk(t, {QI}, [100], {options})", t=frame)
    assert REFUSED[options] in str(refused.value)
    given = dict(option.split(" := ") for option in options.split(", "))
    with pytest.raises(ReidError) as refused_in_polars:
        ANY.population_risk(
            frame, QI, [100], **{n: value.strip("'") for n, value in given.items()}
        ).collect()
    assert REFUSED[options] in str(refused_in_polars.value)


@pytest.mark.parametrize(
    "name", ["system.main.query_table('t')", "system.main.read_csv('t')", "query(reid"]
)
def test_a_name_that_holds_words_of_a_plan_is_a_name(name: str) -> None:
    frame = pl.DataFrame({name: [1, 1, 2, 3], "age": [1, 1, 2, 3], "person": [1, 1, 2, 3]})
    quoted = name.replace("'", "''")
    found = by_duckdb(f"FROM pyc_fit(t, ['{quoted}'], entity := 'person')", t=frame)
    assert found == by_duckdb("FROM pyc_fit(t, ['age'], entity := 'person')", t=frame)


def test_every_function_of_a_table_counts_people_or_says_that_it_counts_rows() -> None:
    scored = {"load_model", "score_records"}  # which count nothing
    for function in declared().values():
        tables = any(isinstance(parameter.domain, Table) for parameter in function.parameters)
        reported = " ".join((function.body.__doc__ or "").split())
        of_people = any(
            p.name in {"person", "entity", "on"} and p.default is REQUIRED
            for p in function.parameters
        )
        if tables and function.name not in scored and not of_people:
            assert "ne row per person is assumed" in reported, function.name
