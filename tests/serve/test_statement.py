"""A client's statement is read: an answer's SELECT passes as it is, and whatever else is refused."""

import re
from decimal import Decimal
from typing import Any

import pytest

from reid_sql.errors import ReidError
from reid_sql.serve.allowed import ALLOWED
from reid_sql.serve.catalogue import ServedColumn
from reid_sql.serve.statement import Reader
from tests.outputs import outputs
from tests.serve.hostile import HOSTILE, LISTED

# Their answers are masked, or have no such column: what answers them refuses them.
REFUSED_LATER = re.compile(r"by := |safe_table\(|SELECT people(\.name)? FROM reid")


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader(["people", "Other"])


ANSWERED: list[tuple[str, list[tuple[str, dict[str, Any]]], str]] = [
    (
        "FROM reid.risk_summary(people, ['age', 'sex'])",
        [("risk_summary", {"tbl": "people", "qi": ["age", "sex"]})],
        "SELECT * FROM reid_answer_1 AS risk_summary",
    ),
    (
        "select K from RISK_SUMMARY('PEOPLE', 'age', threshold := -0.5 * 2) as r where r.k > 1 limit 3",
        [("risk_summary", {"tbl": "people", "qi": "age", "threshold": Decimal("-1.00")})],
        "SELECT K FROM reid_answer_1 AS r WHERE (r.k > 1) LIMIT 3",
    ),
    (
        "FROM reid.compare(main.people, other, ['a;b''c'], seed := '1'::BIGINT) -- a remark",
        [("compare", {"original": "people", "released": "Other", "qi": ["a;b'c"], "seed": 1})],
        "SELECT * FROM reid_answer_1 AS compare",
    ),
    (
        "SELECT reid.pyc_share(entropy, tail, 1000, 'uniqueness') AS u FROM reid.pyc_fit(people, ['age'])",
        [("pyc_fit", {"tbl": "people", "qi": ["age"]})],
        "SELECT reid.pyc_share(entropy, tail, 1000, 'uniqueness') AS u FROM reid_answer_1 AS pyc_fit",
    ),
    (
        "FROM reid.fit_copula('m', people, ['age'])",
        [("fit_copula", {"name": "ann: m", "tbl": "people", "qi": ["age"]})],
        "SELECT * FROM reid_answer_1 AS fit_copula",
    ),
    ("SELECT 1 + 2", [], "SELECT (1 + 2)"),
]


@pytest.mark.parametrize(("sql", "calls", "select"), ANSWERED, ids=range(len(ANSWERED)))
def test_an_answer_is_selected(
    reader: Reader, sql: str, calls: list[tuple[str, dict[str, Any]]], select: str
) -> None:
    question = reader.read(sql, "ann")
    assert [(call.function.name, call.arguments) for call in question.calls] == calls
    assert question.select == select


@pytest.mark.parametrize(
    "sql",
    [
        "WITH a AS (FROM reid.risk_summary(people, 'age')) SELECT * EXCLUDE (k) FROM a JOIN a AS b USING (k)",
        """SELECT x.k FROM reid.risk_summary(people, 'age') x LEFT JOIN reid.risk_summary(other, 'sex') y ON
        x.k = y.k WHERE x.k IN (SELECT 1) OR y.k BETWEEN 1 AND 2 ORDER BY x.k DESC NULLS LAST""",
        "FROM reid.risk_summary(people, 'age') UNION ALL BY NAME FROM reid.risk_summary(people, 'sex')",
        """SELECT class_size % 2 AS odd, sum(records) FILTER (classes > 1), count(DISTINCT classes)
        FROM reid.class_size_histogram(people, 'age') GROUP BY GROUPING SETS ((odd), ()) HAVING sum(1) > 0""",
        """SELECT CASE WHEN k IS NULL THEN 0 ELSE round(k::DOUBLE, 1) END, coalesce(k, nullif(1, 2))
        FROM reid.risk_summary(people, 'age') AS r(records, k) ORDER BY ALL LIMIT 5 OFFSET 1""",
    ],
)
def test_an_answer_is_filtered_joined_and_added_up(reader: Reader, sql: str) -> None:
    question = reader.read(sql)
    assert question.calls
    assert "reid_answer_1" in question.select
    assert "people" not in question.select
    assert "'age'" not in question.shape


@pytest.mark.first(cells=190)
@pytest.mark.parametrize("sql", [each for each in LISTED if not REFUSED_LATER.search(each)])
def test_what_is_no_select_of_answers_is_refused_in_one_sentence(reader: Reader, sql: str) -> None:
    with pytest.raises(ReidError, match=r"must .*, got .*; \w+") as refused:
        reader.read(sql)
    assert "\n" not in str(refused.value)


def test_families_of_hostile_statements_are_refused_in_one_sentence_each() -> None:
    """Also where plain SQL of their columns is answered."""
    columns = {"people": dict.fromkeys(("name", "age", "sex", "income"), ServedColumn("VARCHAR"))}
    reader = Reader(["people", "other"], columns=columns)
    families = HOSTILE[len(set(LISTED)) :]
    assert len(families) >= 500
    for sql in families:
        with pytest.raises(ReidError, match=r"must .*, got .*; \w+") as refused:
            reader.read(sql)
        assert "\n" not in str(refused.value), sql


# in a SELECT list, where the function is allowed with all of its outputs
OF_VALUES = {each.key for each in outputs().values() if each.word and each.answer.of_rows}


def test_every_function_is_allowed_or_refused_with_a_reason() -> None:
    """A new one is refused until somebody puts it on a list."""
    allowed = ALLOWED["table_functions"].split() + ALLOWED["value_functions"].split()
    assert sorted([*allowed, *ALLOWED["refused"]]) == sorted({*outputs()} - OF_VALUES)
    assert {other for _, other in ALLOWED["refused"].values()} <= set(
        ALLOWED["table_functions"].split()
    )


def test_no_answer_has_a_record_or_a_column_of_the_table() -> None:
    """By their declarations; safe_table and groups are masked."""
    for name in ALLOWED["table_functions"].split():
        assert outputs()[name].answer.name in {"ROW", "ROWS", "REDUCTION"}, name
        assert "record" not in outputs()[name].answer_columns, name


def test_an_output_that_returns_records_is_refused(reader: Reader) -> None:
    """Of a function whose other outputs are answered, and the other way round."""
    records = "a function must return no records, got "
    for call, sentence in (
        ("unicity(people, 'name', ['age'], output := 'people')", "unicity(output := 'people') ("),
        (
            "qar_risk(people, ['age', 'name'], output := 'contributions')",
            "qar_risk(output := 'contributions') (",
        ),
    ):
        with pytest.raises(ReidError, match=re.escape(records + sentence)):
            reader.read(f"FROM reid.{call}")
    for call in (
        "unicity(people, 'name', ['age'])",
        "qar_risk(people, ['age', 'name'], output := 'proxies')",
    ):
        assert reader.read(f"FROM reid.{call}").calls


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT " + "(" * 5000 + "1" + ")" * 5000,
        "SELECT " + "-" * 15000 + "1",
        "SELECT " + " + ".join(["1"] * 6000),
        "SELECT " + "NOT " * 4000 + "true",
        "SELECT 1" + " UNION ALL SELECT 1" * 1000,
        "x" * 1_000_000,
        "\0",
        "SELECT '\ud800'",
        "",
    ],
    ids=range(9),
)
def test_a_monstrous_statement_is_refused_or_plain(reader: Reader, sql: str) -> None:
    """DuckDB leaves out parentheses and adds up signs."""
    try:
        question = reader.read(sql)
    except ReidError:
        return
    assert not question.calls
    assert len(question.select) < 100


def test_joins_that_duckdb_would_write_in_another_order_are_refused_or_kept(reader: Reader) -> None:
    """`a CROSS JOIN b FULL JOIN c` is no `a, (b FULL JOIN c)`: what runs is what was checked, or nothing."""
    one, two = "(SELECT 1 AS x)", "(SELECT 2 AS x)"
    sql = f"SELECT 3 FROM {one} a CROSS JOIN {one} b FULL JOIN {two} c ON a.x = c.x"
    refusals, selects = [], []
    try:
        selects.append(reader.read(sql).select)
    except ReidError as refused:
        refusals.append(str(refused))
    assert all("joins" in each for each in refusals)
    assert all(re.search(r"CROSS JOIN.*\) FULL", each) for each in selects)
