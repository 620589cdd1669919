"""What the first tier leaves of tests/engines/ibis/test_check.py."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import reid_sql
import reid_sql.ibis as ri
from reid_sql.check import gate
from reid_sql.check.html import render_html
from reid_sql.check.policy import read_policy
from reid_sql.check.report import render_junit, to_json
from reid_sql.cli import main
from reid_sql.sources.warehouse import warehouse
from tests.engines.ibis.test_check import *
from tests.warehouses import connected


def unjudged(folder: Path, where: str) -> str:
    """Why no check is judged of a table that cannot be counted: one reason for all."""
    page = reid_sql.check(written(folder, where, SIMPLE)).page
    assert page["verdict"] == "not judged"
    [why] = {group["why"] for check in page["checks"] for group in check["groups"]}
    assert "\n" not in why
    return str(why)


@pytest.mark.postgres
@pytest.mark.usefixtures("url")
def test_no_report_tells_a_secret(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = of_url(tmp_path, "env:WAREHOUSE_URL", SIMPLE)
    files = [tmp_path / name for name in ("r.html", "r.json", "r.xml")]
    options = [
        word
        for pair in zip(("--html", "--json-report", "--junit"), map(str, files), strict=True)
        for word in pair
    ]
    assert main(["check", str(asked), *options, "--risky-records", "3"]) == 1
    assert main(["check", str(asked), "--json"]) == 1
    report = reid_sql.check(asked)
    reported = [*(file.read_text(encoding="utf-8") for file in files), *capsys.readouterr()]
    reported += [str(report), repr(report), repr(read_policy(asked)), repr(report.findings)]
    reported += [function(report.page) for function in (to_json, render_html, render_junit)]
    assert all(reported[:4])
    assert not any(PIECES.search(each) for each in reported)


@pytest.mark.postgres
@pytest.mark.usefixtures("url")
def test_what_the_database_refuses_is_reported_without_a_secret(
    tmp_path: Path, postgres: str
) -> None:
    """A table that may not be read is not judged, and what the server says of it holds no secret."""
    server = connected("postgres", postgres)
    server.raw_sql(
        "DROP ROLE IF EXISTS guest; CREATE ROLE guest LOGIN; GRANT USAGE ON SCHEMA survey TO guest"
    ).close()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("WAREHOUSE_URL", f"postgres://guest:{QUOTED}@/postgres?host={postgres}")
            reported = unjudged(
                tmp_path, 'url = "env:WAREHOUSE_URL"\n[[tables]]\ntable = "survey.people"'
            )
    finally:
        server.raw_sql("REVOKE ALL ON SCHEMA survey FROM guest; DROP ROLE guest").close()
    assert "InsufficientPrivilege (this user lacks a right, such as GRANT SELECT)" in reported
    assert "row-level" not in reported
    assert not PIECES.search(reported)


ATTACKS = """
CREATE SCHEMA "Survey";
CREATE TABLE "Survey".people AS SELECT 1 AS age, 1 AS sex FROM generate_series(1, 100);
CREATE TABLE survey."People" AS SELECT * FROM "Survey".people;
CREATE TABLE public.people AS SELECT * FROM "Survey".people;
CREATE TABLE survey.cases AS SELECT 1 AS age, 1 AS sex, g AS "Age" FROM generate_series(1, 100) AS g;
CREATE TABLE survey.none (age int, sex int);
CREATE TABLE survey."a""; DROP SCHEMA survey CASCADE; --" AS
  SELECT g % 7 AS age, 1 AS sex FROM generate_series(1, 70) AS g;
CREATE VIEW survey.seen AS SELECT age, sex FROM survey.people WHERE sex = 'F';
CREATE FUNCTION public.count(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 99::bigint';
CREATE AGGREGATE public.sum(bigint) (SFUNC = int8larger, STYPE = bigint, INITCOND = '1000000');
"""
GONE = """
DROP SCHEMA IF EXISTS "Survey" CASCADE; DROP TABLE IF EXISTS public.people;
DROP FUNCTION IF EXISTS public.count(bigint); DROP AGGREGATE IF EXISTS public.sum(bigint);
ALTER ROLE reid RESET search_path
"""


@pytest.fixture
def attacked(postgres: str, url: str) -> Iterator[str]:
    """The town's warehouse, with tables and functions beside it that would make it look safe."""
    server = connected("postgres", postgres)
    server.raw_sql(GONE).close()
    server.raw_sql(ATTACKS).close()
    server.raw_sql("ALTER ROLE reid SET search_path = public, pg_catalog").close()
    yield url
    server.raw_sql(GONE).close()


@pytest.mark.postgres
def test_another_table_or_function_gives_no_false_pass(
    tmp_path: Path, people: pl.DataFrame, attacked: str
) -> None:
    sizes = people.group_by("age", "sex").len()["len"].to_list()
    women = people.filter(sex="F").group_by("age").len()["len"].to_list()
    real = [people.height, min(sizes), sizes.count(1) / people.height]
    assert k_of(tmp_path, attacked, "'survey.people'") == pytest.approx(real)
    assert k_of(tmp_path, attacked, "'survey.People'") == [100, 100, 0]
    assert k_of(tmp_path, attacked, "'Survey.people'") == [100, 100, 0]
    assert k_of(tmp_path, attacked, "'people'") == [100, 100, 0]
    assert k_of(tmp_path, attacked, "'survey.cases'") == [100, 100, 0]
    assert k_of(tmp_path, attacked, "'survey.cases'", '"Age", "sex"') == [100, 1, 1]
    assert k_of(tmp_path, attacked, '\'survey."a""; DROP SCHEMA survey CASCADE; --"\'') == [
        70,
        10,
        0,
    ]
    seen = k_of(tmp_path, attacked, "'survey.seen'")
    assert seen == pytest.approx([sum(women), min(women), women.count(1) / sum(women)])
    assert k_of(tmp_path, attacked, "'survey.people'") == pytest.approx(real)


@pytest.mark.postgres
def test_all_questions_see_the_table_as_it_was_when_the_first_was_asked(
    tmp_path: Path, url: str, postgres: str
) -> None:
    """Who doubles every record meanwhile makes nobody look safer; what comes in batches ends nothing."""
    server = connected("postgres", postgres)
    with warehouse("url", url, tmp_path) as members:
        table = members.table("table", "survey.people")
        answers = []
        for _ in range(3):
            found = ri.risk_summary(table, ["age", "sex"]).to_pyarrow().to_pylist()
            modelled = ri.pyc_forecast(table, ["age", "sex"], [1e6]).to_pyarrow().to_pylist()
            answered = ri.population_risk(table, ["age", "sex"], [1e6]).to_pyarrow().to_pylist()
            answers.append((found, modelled, answered))
            server.raw_sql("INSERT INTO survey.people SELECT * FROM survey.people").close()
    assert answers == [answers[0]] * 3
    assert (
        server.raw_sql("SELECT count(*) FROM survey.people").fetchall()[0][0]
        == 8 * found[0]["records"]
    )


@pytest.mark.postgres
def test_a_table_without_records_is_not_judged(tmp_path: Path, attacked: str) -> None:
    assert k_of(tmp_path, attacked, "'survey.none'") == [0, None, None]


@pytest.mark.postgres
def test_rows_that_the_database_hides_are_an_error(
    tmp_path: Path, url: str, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row-level security would show this user the safe rows alone."""
    server = connected("postgres", postgres)
    server.raw_sql("""DROP ROLE IF EXISTS guest; CREATE ROLE guest LOGIN;
        GRANT USAGE ON SCHEMA survey TO guest; GRANT SELECT ON survey.people TO guest;
        ALTER TABLE survey.people ENABLE ROW LEVEL SECURITY;
        CREATE POLICY safe ON survey.people TO guest USING (age = '40')""").close()
    monkeypatch.setenv("WAREHOUSE_URL", f"postgres://guest@/postgres?host={postgres}")
    try:
        reported = unjudged(tmp_path, f'url = "{url}"\n[[tables]]\ntable = "survey.people"')
    finally:
        server.raw_sql(
            "DROP TABLE survey.people; REVOKE ALL ON SCHEMA survey FROM guest; DROP ROLE guest"
        ).close()
    assert "row-level security" in reported


@pytest.mark.postgres
def test_nothing_is_changed_in_the_warehouse(tmp_path: Path, url: str, postgres: str) -> None:
    server = connected("postgres", postgres)
    before = server.raw_sql("SELECT oid, relname FROM pg_class ORDER BY oid").fetchall()
    gate.check(of_url(tmp_path, url, NOT_HERE))
    assert server.raw_sql("SELECT oid, relname FROM pg_class ORDER BY oid").fetchall() == before
    with (
        warehouse("URL", url, tmp_path) as members,
        pytest.raises(Exception, match="read-only transaction"),
    ):
        members.backend.raw_sql("DROP TABLE survey.people")


@pytest.mark.postgres
def test_postgresql_is_read_as_it_was_when_it_was_opened(
    tmp_path: Path, url: str, postgres: str
) -> None:
    policy = read_policy(of_url(tmp_path, url, SIMPLE))
    with gate.open_with_engine(None, policy) as releases:
        before = releases[0].histogram(["age"])
        connected("postgres", postgres).raw_sql("DELETE FROM survey.people WHERE sex = 'F'").close()
        page = gate.measure_policy(policy, releases, None)
    assert page["tables"][0]["records"] == before.records.sum()
    assert page["verdict"] == "fail"


@pytest.mark.postgres
def test_a_table_in_any_order_is_counted_alike(tmp_path: Path, postgres: str) -> None:
    """Of ordered rows, Ibis makes DISTINCT values those together with what they are ordered by."""
    frame = pl.DataFrame({"row": range(6), "person": [1, 1, 2, 2, 3, 3], "age": [1, 1, 1, 2, 2, 2]})
    frame = frame.with_columns(sex=pl.col("person") % 2, town=pl.lit("x"))
    server = connected("postgres", postgres)
    table = server.create_table("in_any_order", frame.to_arrow(), overwrite=True)
    checks = """quasi_identifiers = ["age", "sex"]
        checks = [
          { measure = "k", at_least = 1 },
          { measure = "uniqueness", at_most = 1 },
          { measure = "k", at_least = 1, by = ["sex", "town"], quasi_identifiers = ["age"] } ]"""
    for entity in ("", 'entity = "person"\n'):
        path = written(tmp_path, f"mask_below = 1\n[[tables]]\n{entity}", checks)
        pages = [
            gate.run(path, tables={"people": each}).page for each in (table, table.order_by("row"))
        ]
        shown = [
            [page["tables"][0]["records"], [each["groups"] for each in page["checks"]]]
            for page in pages
        ]
        assert shown[0] == shown[1]
        assert shown[0][0] == (3 if entity else 6)
    server.drop_table("in_any_order")


@pytest.mark.postgres
def test_a_group_is_the_same_however_its_value_is_written(tmp_path: Path, postgres: str) -> None:
    """Equal decimals may be written with other final zeros, and each query may send another row's."""
    server = connected("postgres", postgres)
    server.raw_sql("CREATE TABLE written_so (x numeric, age int)").close()
    values = "('1', 1), ('1.0', 1), ('1.00', 2), ('NaN', 1), ('Infinity', 2), ('1e3', 1), ('1000', 1), (NULL, 2)"
    server.raw_sql(f"INSERT INTO written_so VALUES {values}").close()
    checks = """quasi_identifiers = ["age"]
        checks = [
          { measure = "k", at_least = 1, by = ["x", "age"] },
          { measure = "k", at_least = 1, by = ["x"] } ]"""
    path = written(tmp_path, "mask_below = 1\n[[tables]]", checks)
    page = gate.run(path, tables={"people": server.table("written_so")}).page
    assert [each["verdict"] for each in page["checks"]] == ["pass", "pass"]
    groups = {each["group"]["x"]: each["records"] for each in page["checks"][1]["groups"]}
    assert groups == {None: 1, "1": 3, "1000": 2, "Infinity": 1, "NaN": 1}
    server.raw_sql("DROP TABLE written_so").close()
