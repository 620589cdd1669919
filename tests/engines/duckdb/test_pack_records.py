"""Without Python: individual risk, and unicity of one point. Sums are equal to Python's but for rounding."""

from typing import Any

import duckdb
import mpmath
import pytest

from tests.cells import each_cell
from tests.engines.duckdb.test_pack import TABLES, alone, answer_or_refusal, python

__all__ = ["alone", "python"]
pytestmark = pytest.mark.first(table=["people"], alone=["script"])
# Columns of Python's answer that need a log-linear model
OF_MODEL = ("expected_reidentifications", "status")
WEIGHTED = "SELECT *, 1 + abs(hash(age, sex)::DOUBLE / 1.8e19) * 40 AS weight FROM {}"
CALLS = [
    "individual_risk({}, ['age', 'sex'])",
    "individual_risk({}, ['half', 'age', 'sex'], form := 'approximate')",
    "individual_risk(weighted, ['age', 'sex'], weight := 'weight')",
    "individual_risk(weighted, 'half', 'weight', 'approximate')",
    "individual_risk(weighted, ['half', 'weight'], weight := 'weight')",
    "unicity({}, 'half', ['age', 'sex'], points := 1)",
    "unicity({}, 'half', ['age', 'sex'], points := [1])",
    "unicity({}, 'age', 'sex', 1)",
    "unicity({}, 'sex', ['age'], 1)",
]


def rows(con: duckdb.DuckDBPyConnection, query: str) -> list[dict[str, Any]]:
    done = con.execute(query)
    names = [column[0] for column in done.description or ()]
    found = (dict(zip(names, row, strict=True)) for row in done.fetchall())
    return sorted(found, key=lambda row: row.get("record", 0))


def near(row: dict[str, Any], rel: float) -> dict[str, Any]:
    return {
        name: pytest.approx(value, rel=rel) if isinstance(value, float) else value
        for name, value in row.items()
    }


@each_cell("nulls", ["value", "drop"])
@each_cell("call", CALLS)
@each_cell("table", TABLES)
def test_answers_are_those_of_python(
    python: duckdb.DuckDBPyConnection,
    alone: duckdb.DuckDBPyConnection,
    table: str,
    call: str,
    nulls: str,
) -> None:
    for con in (python, alone):
        con.execute(f"CREATE OR REPLACE VIEW weighted AS {WEIGHTED.format(table)}")
    query = f"FROM {call[:-1].format(table)}, nulls := '{nulls}')"
    columns, refused = answer_or_refusal(python, query)
    if not columns:  # nobody is left, or somebody has no identifier
        assert answer_or_refusal(alone, query) == (columns, refused)
        return
    assert answer_or_refusal(alone, query)[0] == columns
    for here, there in zip(rows(alone, query), rows(python, query), strict=True):
        if "weighted" in call and here["status"].startswith("no_expected_number: plain SQL"):
            assert here["expected_reidentifications"] is None
            there |= {name: here[name] for name in OF_MODEL}
        assert here == near(there, 1e-12)


def test_the_mean_of_one_over_the_people_of_a_class(alone: duckdb.DuckDBPyConnection) -> None:
    """By mpmath: the mean of 1/F, of F negative binomial, is (1/f) 2F1(1, f; f + 1; 1 - 1/p)."""
    sizes = [*range(1, 24), 60, 400]
    weights = [1, 1 + 1e-9, 1.0003, 1.3, 1.999, 2, 2.0001, 2.7, 10, 333.25, 1e5, 1e9]
    chosen = ", ".join(f"({size}, {weight!r})" for size in sizes for weight in weights)
    alone.execute(f"""CREATE OR REPLACE TABLE classes AS SELECT size, weight FROM (
        SELECT col0::BIGINT AS size, col1::DOUBLE AS weight, unnest(range(size)) FROM (VALUES {chosen}))""")
    found = alone.execute("""SELECT DISTINCT class_size, population_class_size, risk
        FROM individual_risk(classes, ['size', 'weight'], 'weight')""").fetchall()
    assert len(found) == len(sizes) * len(weights)
    for size, people, risk in found:
        with mpmath.workdps(60):
            odds = mpmath.mpf(people) / size - 1  # (1 - p) / p
            assert risk == pytest.approx(
                float(mpmath.hyp2f1(1, size, size + 1, -odds) / size), rel=2e-13
            )


def test_unicity_by_hand(alone: duckdb.DuckDBPyConnection) -> None:
    """Of three people one is alone with one of two different rows; the other rows are of two people each."""
    alone.execute("""CREATE OR REPLACE TABLE visits AS FROM (VALUES ('a', 1), ('a', 2), ('a', 2), ('b', 2),
        ('c', 3), ('d', 3), ('d', 3)) AS t(person, place)""")
    [found] = rows(alone, "FROM unicity(visits, 'person', 'place', 1)")
    assert (found["people"], found["median_matches"]) == (4, 2)
    assert found["uniqueness"] == pytest.approx((1 / 2) / 4)
    assert found["correctness"] == pytest.approx((1 / 2 + 1 / 4 + 1 / 2 + 1 / 2 + 1 / 2) / 4)


BAD_WEIGHT = (
    "weight must be a number above 0 for every record, and add up to at most 1e15, got another;"
)


@each_cell(
    "call, words",
    [
        ("individual_risk(weights, ['age'], 'none')", BAD_WEIGHT),
        ("individual_risk(weights, ['age'], 'zero')", BAD_WEIGHT),
        ("individual_risk(weights, ['age'], 'less')", BAD_WEIGHT),
        ("individual_risk(weights, ['age'], 'endless')", BAD_WEIGHT),
        ("individual_risk(weights, ['age'], 'heavy')", BAD_WEIGHT),
        ("individual_risk(weights, ['age'], 'words')", BAD_WEIGHT),
        ("individual_risk(weights, ['age'], 'commas')", BAD_WEIGHT),
        ("individual_risk(weights, ['age'], 'wieght')", 'does not have a column named "wieght"'),
        ("individual_risk(weights, ['age'], 7)", 'does not have a column named "7"'),
        (
            "individual_risk(people, ['age'], form := 'fast')",
            "form must be exact or approximate in plain SQL, got fast",
        ),
        (
            "individual_risk(people, ['age'], nulls := 'wildcard')",
            "nulls must be value or drop in plain SQL",
        ),
        (
            "individual_risk(people, ['age', 'AGE'])",
            "quasi-identifiers must be a list of 1 to 64 different column names",
        ),
        (
            "individual_risk(people, ['age'], household := 'half')",
            "does not support the supplied arguments",
        ),
        (
            "unicity(people, 'half', ['age'])",
            "points must be 1 in plain SQL, got [1, 2, 3, 4]; pass that, or use the Python package",
        ),
        ("unicity(people, 'half', ['age'], NULL)", "points must be 1 in plain SQL, got NULL"),
        (
            "unicity(people, 'sex', ['age'], 1)",
            "entity must have a value in every row, got one without",
        ),
        (
            "unicity(people, 'half', ['age', 'Half'], 1)",
            "entity and columns must be a list of 1 to 64",
        ),
        (
            "unicity(people, 'half', [], 1)",
            "columns must be a list of 1 to 64 different column names",
        ),
        ("unicity(people, 'half', ['sx'], 1)", 'does not have a column named "sx"'),
    ],
)
@each_cell("selected", ["*", "1"])
def test_what_it_cannot_answer_is_refused(
    alone: duckdb.DuckDBPyConnection, selected: str, call: str, words: str
) -> None:
    alone.execute("""CREATE OR REPLACE VIEW weights AS SELECT i % 3 AS age, nullif(i, 5) + 1 AS none, i AS zero,
        i - 3.5 AS less, CASE WHEN i < 9 THEN 1 ELSE 'inf'::DOUBLE END AS endless, 2e14 AS heavy, 'two' AS words,
        '1,5' AS commas FROM range(10) t(i)""")
    with pytest.raises(duckdb.Error) as refused:
        alone.execute(f"SELECT {selected} FROM {call}").fetchall()
    assert words in str(refused.value)


@each_cell("selected", ["*", "count(*)", "status", "1"])
@each_cell("call", ["individual_risk({}, ['age'])", "unicity({}, 'half', 'age', 1)"])
def test_an_empty_table_is_refused(
    alone: duckdb.DuckDBPyConnection, call: str, selected: str
) -> None:
    alone.execute("CREATE OR REPLACE VIEW nobody AS FROM people WHERE age > 100")
    with pytest.raises(duckdb.Error, match="the table must contain at least one record, got 0"):
        alone.execute(f"SELECT {selected} FROM {call.format('nobody')}").fetchall()


@pytest.mark.all
@pytest.mark.real_data
@each_cell("nulls", ["value", "drop"])
@each_cell(
    "call",
    [
        "individual_risk(adult, {qi})",
        "individual_risk(adult, {qi}, 'fnlwgt')",
        "individual_risk(adult, {qi}, 'fnlwgt', 'approximate')",
        "unicity(adult, 'occupation', ['age', 'sex'], 1)",
        "unicity(adult, 'fnlwgt', {qi}, 1)",
    ],
)
def test_answers_of_adult_are_those_of_python(
    python: duckdb.DuckDBPyConnection,
    alone: duckdb.DuckDBPyConnection,
    adult: str,
    call: str,
    nulls: str,
) -> None:
    qi = ["age", "sex", "race", "native_country"]
    for con in (python, alone):
        con.execute(
            f"CREATE OR REPLACE VIEW adult AS SELECT * FROM '{adult}' WHERE occupation <> ''"
        )
    query = f"FROM {call[:-1].format(qi=qi)}, nulls := '{nulls}')"
    here, there = rows(alone, query), rows(python, query)
    assert len(here) == len(there)
    for one, other in list(zip(here, there, strict=True))[::97]:
        assert one == near(other | {name: one[name] for name in OF_MODEL if name in other}, 1e-9)
