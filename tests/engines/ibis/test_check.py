"""The release gate through Ibis: figures and verdicts as on DuckDB, no secret told, no false pass."""

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import duckdb
import ibis
import jsonschema
import polars as pl
import pytest

import reid_sql
from reid_sql.check import gate
from reid_sql.check.html import render_html
from reid_sql.check.policy import read_policy
from reid_sql.cli import main
from reid_sql.errors import ReidError
from reid_sql.sources.warehouse import warehouse
from tests.cells import each_cell
from tests.check.towns import PEOPLE
from tests.warehouses import connected

SECRET = "Tr0ub4dor/and@3:horses"  # noqa: S105 - of nobody
QUOTED = quote(SECRET, safe="")
CHECKS = """
quasi_identifiers = ["age", "sex", "postcode"]
population = 1e6
sensitive = ["diagnosis"]
checks = [
  { measure = "k", at_least = 5 },
  { measure = "unique_records", at_most = 100, by = ["education"] },
  { measure = "k", at_least = 2, by = ["sex", "education"], quasi_identifiers = ["postcode"] },
  { measure = "uniqueness", at_most = 0.4, quasi_identifiers = ["age", "sex"] },
  { measure = "records_at_risk", threshold = 0.2, at_most = 0.9 },
  { measure = "forecast_correctness", at_most = 0.05 },
  { measure = "forecast_uniqueness", population = 100, at_most = 0.5 },
  { measure = "entropy", at_most = 9 },
  { measure = "separation", at_most = 0.5 },
  { measure = "separation", at_most = 0.999, by = ["sex"] },
  { measure = "l_diversity", at_least = 2 },
  { measure = "l_diversity", at_least = 2, by = ["sex"], quasi_identifiers = ["age"] },
  { measure = "t_closeness_offending", t = 0.3, at_most = 0.9 },
  { measure = "alpha_k_anonymity", at_most = 0.9 },
  { measure = "beta_likeness", at_most = 0.9 },
  { measure = "delta_disclosure", at_most = 0.9 },
  { measure = "journalist_average_risk", at_most = 0.9 },
]
"""
AT_CLIENT = """
quasi_identifiers = ["age", "sex", "postcode"]
population = 1e6
checks = [
  { measure = "k", at_least = 1 },
  { measure = "population_uniqueness", at_most = 0.01 },
  { measure = "population_uniqueness", method = "zayatz", at_most = 0.9 },
  { measure = "population_correctness", at_most = 1 },
  { measure = "population_below_k", k = 3, at_most = 0.9, by = ["sex"], quasi_identifiers = ["age"] },
  { measure = "xi_share", at_most = 0.5 },
  { measure = "kappa_share", threshold = 0.5, at_most = 0.5, by = ["sex"], quasi_identifiers = ["age"] },
  { measure = "t_closeness", sensitive = "diagnosis", variant = "ordered", at_most = 0.1, by = ["sex"] },
  { measure = "qar", p = 2, alpha = 0.05, tail = 0.6, at_most = 0.9, quasi_identifiers = [
    "age", "sex", "postcode", "marital_status", "education", "diagnosis" ] },
]
"""
ATTACKER = """
checks = [
  { measure = "adversary_average", at_most = 0.9, scenario = { population = 1000000.0, groups = [
    { columns = ["age", "sex"], probability = 0.5 }, { columns = ["postcode"], probability = 0.2 } ] } },
  { measure = "adversary_highest", at_most = 0.1, scenario = { population = 1000000.0, groups = [
    { columns = ["age", "sex"], probability = 0.5 } ] } },
]
"""
KNOWN_ROWS = """
entity = "person"
checks = [
  { measure = "sparse_correctness", quasi_identifiers = ["education"], at_most = 0.9 },
]
"""
NOT_HERE = """
quasi_identifiers = ["age", "sex"]
population = 1e6
checks = [
  { measure = "k", at_least = 1 },
  { measure = "population_uniqueness", at_most = 1 },
]
"""
DATABASES = ["duckdb", "sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    """Some of the made-up town as texts, every seventh diagnosis and fifth postcode missing."""
    frame = pl.read_csv(PEOPLE, infer_schema=False).head(600).with_row_index("row")
    for name, every in (("diagnosis", 7), ("postcode", 5)):
        frame = frame.with_columns(
            pl.when(pl.col("row") % every > 0).then(pl.col(name)).alias(name)
        )
    return frame.with_columns(person=(pl.col("row") // 2).cast(pl.String)).drop("row")


@pytest.fixture
def url(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    people: pl.DataFrame,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[str]:
    """A warehouse of this kind with the people in `survey.people`; its URL, whose password is a secret."""
    kind = getattr(request, "param", "postgres")
    if kind == "duckdb":
        with duckdb.connect(tmp_path / "town.duckdb") as con:
            con.execute("CREATE SCHEMA survey; CREATE TABLE survey.people AS FROM people")
        yield "duckdb://town.duckdb"
        return
    if kind == "sqlite":
        made = ibis.sqlite.connect(tmp_path / "town.sqlite")
        made.create_table("people", people.to_arrow())
        made.disconnect()
        yield "sqlite://town.sqlite"
        return
    folder = request.getfixturevalue("postgres")
    server = connected("postgres", folder)
    server.raw_sql("DROP SCHEMA IF EXISTS survey CASCADE; CREATE SCHEMA survey").close()
    server.create_table("people", people.to_arrow(), database="survey")
    monkeypatch.setenv("WAREHOUSE_URL", f"postgres://reid:{QUOTED}@/postgres?host={folder}")
    yield "env:WAREHOUSE_URL"
    server.raw_sql("DROP SCHEMA IF EXISTS survey CASCADE").close()


def written(folder: Path, where: str, checks: str = CHECKS, name: str = "policy") -> Path:
    file = folder / f"{name}.toml"
    file.write_text(f'{where}\nname = "people"\n{checks}', encoding="utf-8")
    return file


def named(url: str) -> str:
    return "people" if url.startswith("sqlite") else "survey.people"


def of_url(folder: Path, url: str, checks: str = CHECKS) -> Path:
    where = f'url = "{url}"\n[[tables]]\ntable = "{named(url)}"\npopulation_table = "{named(url)}"'
    return written(folder, where, checks)


def of_file(folder: Path, frame: pl.DataFrame, checks: str = CHECKS) -> Path:
    frame.write_parquet(folder / "people.parquet")
    where = '[[tables]]\nfile = "people.parquet"\npopulation_file = "people.parquet"'
    return written(folder, where, checks, "files")


@pytest.fixture(scope="module")
def on_file(tmp_path_factory: pytest.TempPathFactory, people: pl.DataFrame) -> Callable[[str], Any]:
    """The report on the same people in a file, as DuckDB judges it."""

    @cache
    def judged(how: str) -> Any:
        return gate.check(
            of_file(tmp_path_factory.mktemp("file"), people, f"{how}\n{CHECKS}"), risky=5
        )

    return judged


def figures(page: Any) -> list[Any]:
    """Everything that is said of the checks, and what is told of the table itself."""
    own = ("records", "records_dropped", "classes", "class_sizes", "columns", "forecast")
    return [
        page["verdict"],
        page["checks"],
        *({name: table[name] for name in own} for table in page["tables"]),
    ]


@pytest.mark.first(url=["sqlite"])
@pytest.mark.parametrize("url", DATABASES, indirect=True)
@pytest.mark.parametrize("how", ['nulls = "value"', 'nulls = "drop"', 'entity = "person"'])
@pytest.mark.first(cells=1)
def test_verdicts_and_figures_are_those_of_duckdb_on_the_file(
    tmp_path: Path, on_file: Callable[[str], Any], url: str, how: str
) -> None:
    expected = on_file(how)
    found = gate.check(of_url(tmp_path, url, f"{how}\n{CHECKS}"), risky=5)
    assert {group["verdict"] for each in expected["checks"] for group in each["groups"]} >= {
        "pass",
        "fail",
    }
    assert figures(found) == figures(expected)
    assert found["tables"][0]["risky_records"] == expected["tables"][0]["risky_records"]
    assert (found["tables"][0]["file"], found["tables"][0]["sha256"]) == (url, None)
    assert "ibis-framework" in found["versions"]
    assert "no hash" in render_html(found)


@pytest.mark.first(url=["sqlite"])
@pytest.mark.parametrize("url", DATABASES, indirect=True)
@pytest.mark.parametrize("how", ['nulls = "value"', 'nulls = "drop"', 'entity = "person"'])
@pytest.mark.first(cells=1)
def test_models_judge_what_the_warehouse_counted_as_they_judge_a_file(
    tmp_path: Path, people: pl.DataFrame, url: str, how: str
) -> None:
    checks = f"{how}\n{AT_CLIENT}"
    expected, found = (
        gate.check(of_file(tmp_path, people, checks)),
        gate.check(of_url(tmp_path, url, checks)),
    )
    judged = {each["measure"] for each in expected["checks"] if each["verdict"] in {"pass", "fail"}}
    assert judged >= {"population_uniqueness", "xi_share", "qar"}
    assert figures(found) == figures(expected)
    assert found["tables"][0]["population_risk"] == expected["tables"][0]["population_risk"]


@pytest.mark.first(url=["sqlite"])
@pytest.mark.parametrize("url", DATABASES, indirect=True)
def test_an_attacker_finds_in_a_warehouse_what_he_finds_in_a_file(
    tmp_path: Path, people: pl.DataFrame, url: str
) -> None:
    for checks, verdicts in ((ATTACKER, {"pass", "fail"}), (KNOWN_ROWS, {"pass"})):
        expected = gate.check(of_file(tmp_path, people, checks))
        assert {each["verdict"] for each in expected["checks"]} == verdicts
        assert figures(gate.check(of_url(tmp_path, url, checks))) == figures(expected)


@pytest.mark.first(url=["sqlite"])
@pytest.mark.parametrize("url", DATABASES, indirect=True)
def test_missing_values_may_be_any_value(tmp_path: Path, people: pl.DataFrame, url: str) -> None:
    checks = """nulls = "wildcard"
    quasi_identifiers = ["sex", "postcode"]
    checks = [{ measure = "k", at_least = 5 },
      { measure = "average_risk", at_most = 0.1, by = ["education"] }]
    """
    expected, found = (
        gate.check(of_file(tmp_path, people, checks)),
        gate.check(of_url(tmp_path, url, checks)),
    )
    assert figures(found) == figures(expected)


@pytest.mark.first(url=["sqlite"])
@pytest.mark.parametrize("url", DATABASES, indirect=True)
def test_what_is_too_much_for_the_client_is_not_judged(
    tmp_path: Path, url: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REID_SQL_MAX_COLLECTED_VALUES", "200")
    page = gate.check(of_url(tmp_path, url, NOT_HERE))
    verdicts = [each["verdict"] for each in page["checks"]]
    assert (verdicts, page["verdict"], page["exit_code"]) == (
        ["pass", "not judged"],
        "not judged",
        2,
    )
    assert (
        "must be at most 66 rows, as they come to the client"
        in page["checks"][1]["groups"][0]["why"]
    )
    schema = (root / "reid_sql" / "check" / "report.schema.json").read_text(encoding="utf-8")
    jsonschema.validate(page, json.loads(schema))


@pytest.mark.first(url=["sqlite"])
@pytest.mark.parametrize("url", DATABASES, indirect=True)
def test_tables_may_be_handed_over(tmp_path: Path, url: str, on_file: Callable[[str], Any]) -> None:
    asked = written(tmp_path, '[[tables]]\npopulation_table = "register"')
    with warehouse("URL", url, tmp_path) as members:
        table = members.table("table", named(url))
        report = reid_sql.check.run(asked, tables={"people": table, "register": table})
    assert figures(report.page) == figures(on_file('nulls = "value"'))
    assert report.page["tables"][0]["file"] == "a table passed in Python"


SIMPLE = """
quasi_identifiers = ["age", "sex", "postcode"]
checks = [{ measure = "k", at_least = 2 }]
"""


def refused(folder: Path, where: str, checks: str = SIMPLE, **more: Any) -> str:
    """What is said of a policy that cannot be followed, in one sentence."""
    with pytest.raises(ReidError) as found:
        reid_sql.check(written(folder, where, checks), **more)
    assert "\n" not in str(found.value)
    return str(found.value)


@pytest.mark.first(url=["sqlite"])
@pytest.mark.parametrize("url", DATABASES, indirect=True)
def test_a_table_or_column_that_is_not_there_is_offered_the_nearest(
    tmp_path: Path, url: str
) -> None:
    for wrong, near in {
        **(
            {"peopel": "did you mean 'people'?"}
            if "sqlite" in url
            else {"people": "mean 'survey.people'?"}
        ),
        "survey.peopel": "did you mean 'people'?",
        "survay.people": "did you mean 'survey.people'?",
        "survay.peopel": "did you mean 'survey'?",
    }.items():
        if "sqlite" not in url or "." not in wrong:
            reported = refused(tmp_path, f'url = "{url}"\n[[tables]]\ntable = "{wrong}"')
            assert (
                f"policy tables[1].table must be a table of the database, got '{wrong}'; "
                in reported
            )
            assert near in reported
    where = f'url = "{url}"\n[[tables]]\ntable = "{named(url)}"'
    reported = refused(tmp_path, where, SIMPLE.replace('"age", "sex", "postcode"', '"Age", "sex"'))
    assert (
        reported
        == "columns of the policy must be columns of the table, got 'Age'; did you mean 'age'?"
    )


T = '[[tables]]\ntable = "t"'
FILE = 'url = "duckdb://t.duckdb"'
REFUSED = {
    f'url = "postgre://host/db"\n{T}': "got 'postgre://'; did you mean 'postgres'?",
    f'url = "people.duckdb"\n{T}': "policy url must be a URL of a warehouse, got 'people.duckdb'",
    f'url = "s3://bucket/people"\n{T}': "policy url must be a URL of a warehouse",
    f'url = "env:REID_NOT_SET"\n{T}': "must name a variable of the environment that is set",
    f'url = "duckdb://nowhere.duckdb"\n{T}': "must lead to an existing file",
    f'url = "snowflake://account/db"\n{T}': "pip install 'ibis-framework[snowflake]'",
    f'url = "postgres://localhost:1/db"\n{T}': "must lead to a database that answers",
    f"{FILE}\n[[tables]]": "policy tables[1].table must name the table of the warehouse, got none",
    f'{FILE}\n[[tables]]\nfile = "t.csv"': "policy tables[1].file must not come with url, got both",
    '[[tables]]\nurl = "duckdb://t.duckdb"\nheader = true\ntable = "t"': "header must not come with url",
    'engine = "ibis"\n[[tables]]\nfile = "t.csv"': "engine must be 'duckdb' for tables in files, got 'ibis'",
    f'engine = "spark"\n{FILE}\n{T}': "must be 'ibis' for tables of a warehouse",
    'engine = "ibiz"\n[[tables]]\nfile = "t.csv"': "got 'ibiz'; did you mean 'ibis'?",
    f'{FILE}\n[[tables]]\ntable = "a..b"': "must be a name like people or schema.people",
}


def test_a_limit_of_memory_is_for_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = written(tmp_path, f"{FILE}\n{T}", SIMPLE)
    assert main(["check", str(asked), "--memory-limit", "1GB"]) == 2
    assert "--memory-limit must not be given for a warehouse, got '1GB'" in capsys.readouterr().err


@each_cell("where", REFUSED)
def test_what_cannot_be_opened_is_refused_in_one_sentence(tmp_path: Path, where: str) -> None:
    with duckdb.connect(tmp_path / "t.duckdb") as con:
        con.execute("CREATE TABLE t (age INT)")
    assert REFUSED[where] in refused(tmp_path, where)
    assert not (tmp_path / "nowhere.duckdb").exists()


def test_a_file_beside_a_warehouse_is_counted_as_alone(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "t.duckdb") as con:
        con.execute("CREATE TABLE t AS SELECT 1 AS age, 2 AS sex, 3 AS postcode FROM range(70)")
    first = f'[[tables]]\nname = "first"\nfile = "{PEOPLE}"\n{SIMPLE}'
    asked = written(
        tmp_path, f'{first}\n[[tables]]\nurl = "duckdb://t.duckdb"\ntable = "t"', SIMPLE
    )
    page = reid_sql.check(asked).page
    assert [each["records"] for each in page["tables"]] == [3000, 70]
    assert [each["groups"][0]["value"] for each in page["checks"]] == [1, 70]


def test_tables_are_handed_over_by_their_names(tmp_path: Path, people: pl.DataFrame) -> None:
    table = ibis.memtable(people)
    reported = refused(
        tmp_path, "[[tables]]", tables={"peple": table, "people": table}, checks=NOT_HERE
    )
    assert (
        reported
        == "tables must be named as the policy names them, got 'peple'; did you mean 'people'?"
    )
    reported = refused(tmp_path, "[[tables]]", tables={"people": people}, checks=NOT_HERE)
    assert (
        reported
        == "tables['people'] must be an Ibis table, got DataFrame; pass connection.table('name')"
    )
    reported = refused(
        tmp_path, '[[tables]]\npopulation_table = "register"', tables={"people": table}
    )
    assert (
        "tables must contain the population 'register' of policy tables[1] too, got ['people']"
        in reported
    )


@pytest.mark.parametrize(
    "url",
    [
        f"postgres://reid:{SECRET}@localhost:1/db",
        "postgres://reid@localhost/db?password=Tr0ub4dor",
        "databricks://host?access_token=Tr0ub4dor",
        "snowflake://u:Tr0ub4dor@account/db",
    ],
)
def test_a_secret_in_a_policy_is_refused_and_not_repeated(tmp_path: Path, url: str) -> None:
    reported = refused(tmp_path, f'url = "{url}"\n[[tables]]\ntable = "t"')
    assert "policy url must contain no password, got one in" in reported
    assert "env:WAREHOUSE_URL" in reported
    assert "Tr0ub4dor" not in reported
    assert "horses" not in reported


PIECES = re.compile("Tr0ub4dor|and@3|horses")
BROKEN = [
    f"postgres://reid:{SECRET}@localhost:1/db",
    f"postgre://reid:{SECRET}@localhost:1/db",
    f"mysql://reid:{SECRET}@localhost:1/db",
    f"snowflake://reid:{SECRET}@account/db",
    f"postgres://reid:{SECRET}@no-such-host.invalid/db",
    "postgres://reid:Tr0ub4dor:horses@localhost:1/db",
    "postgres://reid:Tr0ub4dor%2Fhorses@localhost:1/db?sslmode=Tr0ub4dor/horses",
    "postgres://localhost:1/db?password=Tr0ub4dor&nonsense=1",
    "Tr0ub4dor",
    "duckdb://Tr0ub4dor:horses@nowhere.duckdb",
]


@each_cell("value", BROKEN)
def test_no_error_tells_a_secret(
    tmp_path: Path,
    value: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("WAREHOUSE_URL", value)
    asked = written(tmp_path, 'url = "env:WAREHOUSE_URL"\n[[tables]]\ntable = "t"')
    assert main(["check", str(asked)]) == 2
    reported = capsys.readouterr()
    assert not PIECES.search(reported.out + reported.err)
    assert reported.err.count("\n") == 1
    assert "Traceback" not in reported.err


def k_of(folder: Path, url: str, table: str, qi: str = '"age", "sex"') -> Any:
    measured = '{ measure = "k", at_least = 2 }, { measure = "uniqueness", at_most = 1 }'
    checks = f"quasi_identifiers = [{qi}]\nchecks = [{measured}]"
    page = gate.check(
        written(folder, f'mask_below = 1\nurl = "{url}"\n[[tables]]\ntable = {table}', checks)
    )
    return [page["tables"][0]["records"], *(each["groups"][0]["value"] for each in page["checks"])]


def test_macros_of_a_database_file_are_not_ours(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "t.duckdb") as con:
        con.execute("CREATE TABLE t AS SELECT range AS age, 1 AS sex FROM range(50)")
        con.execute(
            "CREATE MACRO sum(x) AS 1000; CREATE MACRO count(x) AS 1000; CREATE MACRO min(x) AS 1000"
        )
    assert k_of(tmp_path, "duckdb://t.duckdb", "'t'") == [50, 1, 1]
    assert k_of(tmp_path, "duckdb://t.duckdb", "'T'") == [50, 1, 1]


def test_a_table_that_changes_meanwhile_is_not_judged(tmp_path: Path, people: pl.DataFrame) -> None:
    made = ibis.sqlite.connect(tmp_path / "town.sqlite")
    table = made.create_table("people", people.to_arrow())
    policy = read_policy(written(tmp_path, "[[tables]]", NOT_HERE), ["people"])
    with gate.open_with_engine(None, policy, tables={"people": table}) as releases:
        made.raw_sql("DELETE FROM people WHERE sex = 'F'").close()
        page = gate.measure_policy(policy, releases, None)
    made.disconnect()
    assert {each["verdict"] for each in page["checks"]} == {"not judged"}
    assert page["checks"][0]["groups"][0]["why"] == "the file changed while it was measured"


def test_no_query_takes_distinct_rows_by_ibis() -> None:
    """They are grouped, as the test before this one tells why."""
    root = Path(reid_sql.__file__).parent
    files = [
        path for path in root.rglob("*.py") if "import ibis" in path.read_text(encoding="utf-8")
    ]
    assert len(files) > 10
    assert [path for path in files if ".distinct()" in path.read_text(encoding="utf-8")] == []
