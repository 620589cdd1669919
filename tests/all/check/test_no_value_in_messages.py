"""Values of every type that make engines fail: no report, page or message repeats one."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import ibis
import polars as pl
import pymysql
import pytest

import reid_sql
import reid_sql.ibis as ri
import reid_sql.polars as rp
from reid_sql.cli import main
from reid_sql.engines.ibis.frames import collected
from reid_sql.engines.polars.frames import collected as collected_by_polars
from reid_sql.errors import ReidError
from tests.cells import each_cell
from tests.processes import environment
from tests.warehouses import connected

if TYPE_CHECKING:
    from collections.abc import Callable

MARK, NUMBER, DAY = "Zyxmark", "918273645", "1876-05-04"
USER = "root"  # of MariaDB
NOBODY = "00000000-0000-0000-0000-00000000000a"
AB = ["a.csv", "b.csv"]
MARKS = (MARK, NUMBER, DAY, DAY.replace("-", "/"))
# A column that fails on a marked value, in DuckDB's words and in PostgreSQL's, and its right values' column.
FAILING = {
    "text as number": f"CAST(CASE WHEN i = 7 THEN '{MARK} must be; {MARK}' ELSE '1' END AS INTEGER)",
    "text as date": f"CAST(CASE WHEN i = 7 THEN '{MARK}' ELSE '2020-01-01' END AS DATE)",
    "text as truth": f"CAST(CASE WHEN i = 7 THEN '{MARK}' ELSE 'true' END AS BOOLEAN)",
    "text as uuid": f"CAST(CASE WHEN i = 7 THEN '{MARK}' ELSE '{NOBODY}' END AS UUID)",
    "number too large": f"CAST(CASE WHEN i = 7 THEN {NUMBER} ELSE 1 END AS SMALLINT)",
    "decimal too large": f"CAST(CASE WHEN i = 7 THEN {NUMBER} ELSE 1 END AS DECIMAL(4, 2))",
    "date as number": f"CAST(CASE WHEN i = 7 THEN '{DAY}' ELSE '1' END AS INTEGER)",
}
DUCKDB_ALONE = {
    "text by format": f"strptime(CASE WHEN i = 7 THEN '{MARK}' ELSE '2020' END, '%Y')",
    "json": f"CAST(CASE WHEN i = 7 THEN '{{{MARK}' ELSE '{{}}' END AS JSON)::VARCHAR",
    "enumeration": f"CAST(CASE WHEN i = 7 THEN '{MARK}' ELSE 'a' END AS ENUM('a', 'b'))",
    "list": f"CAST(CASE WHEN i = 7 THEN '[{MARK}]' ELSE '[1]' END AS INTEGER[])",
    "error": f"CASE WHEN i = 7 THEN error('{MARK}') ELSE 1 END",
}
CHECKS = """
quasi_identifiers = ["x", "sex"]
population = 1e6
checks = [
  { measure = "k", at_least = 1 },
  { measure = "k", at_least = 1, by = ["x"], quasi_identifiers = ["sex"] },
  { measure = "population_uniqueness", at_most = 1 },
  { measure = "xi_share", at_most = 1 },
  { measure = "l_diversity", at_least = 1, sensitive = "x", quasi_identifiers = ["sex"] },
]
"""
REPORTS = {"--html": "r.html", "--junit": "r.xml", "--json-report": "r.json"}


def refuse_marks(*texts: str) -> None:
    for text in texts:
        assert not [mark for mark in MARKS if mark in text], text[:2000]


def check(folder: Path, sources: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Check each table with every report, in both policies of NULL; nothing printed or written has a mark."""
    files = {option: folder / name for option, name in REPORTS.items()}
    options = [word for option, file in files.items() for word in (option, str(file))]
    for nulls in ("value", "wildcard"):
        policy, report = folder / "p.toml", files["--json-report"]
        report.unlink(missing_ok=True)
        tables = [
            f'[[tables]]\nname = "t{place}"\n{source}\nnulls = "{nulls}"\n{CHECKS}'
            for place, source in enumerate(sources)
        ]
        policy.write_text("".join(tables), encoding="utf-8")
        assert main(["check", str(policy), *options]) == 2
        printed = capsys.readouterr()
        refuse_marks(
            printed.out,
            printed.err,
            *(file.read_text() for file in files.values() if file.exists()),
        )
        assert "Traceback" not in printed.err
        if len(sources) > 1:
            judged = json.loads(report.read_text(encoding="utf-8"))["checks"]
            verdicts = {
                (each["table"], group["verdict"]) for each in judged for group in each["groups"]
            }
            failed = {table for table, verdict in verdicts if verdict == "not judged"}
            assert failed == {f"t{place}" for place, _ in enumerate(sources)}


def run(table: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Run each command that reads a table; a refusal is one line without a mark."""
    for command in (
        ["profile", *table],
        ["risk", *table, "--qi", "x,sex", "--population", "1e6"],
        ["risk", *table, "--qi", "x,sex", "--validate"],
    ):
        code = main(command)
        assert code in {0, 2}, command
        printed = capsys.readouterr()
        refuse_marks(printed.err, *([printed.out] if code == 2 else []))
        assert "Traceback" not in printed.err


def test_views_of_duckdb_that_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    views = {f"v{place}": column for place, column in enumerate((FAILING | DUCKDB_ALONE).values())}
    with duckdb.connect("t.duckdb") as con:
        con.execute("CREATE TABLE raw AS SELECT i, i % 2 AS sex FROM range(20) t(i)")
        reid_sql.register(con)
        for view, column in views.items():
            con.execute(f"CREATE VIEW {view} AS SELECT {column} AS x, sex FROM raw")
            for sql in (f"FROM risk_summary({view}, ['x', 'sex'])", f"FROM profile({view}, ['x'])"):
                with pytest.raises(duckdb.Error):
                    con.execute(sql).fetchall()
    check(tmp_path, [f'file = "t.duckdb"\ntable = "{view}"' for view in views], capsys)
    # as a warehouse: a view that fails in each third
    by_type = list(views)[:: len(DUCKDB_ALONE) - 1]
    check(tmp_path, [f'url = "duckdb://t.duckdb"\ntable = "{view}"' for view in by_type], capsys)
    for view in by_type:
        Path("q.sql").write_text(f"FROM risk_summary({view}, ['x', 'sex'])", encoding="utf-8")
        assert main(["query", "q.sql", "--database", "t.duckdb"]) == 2
        refuse_marks(*capsys.readouterr())


@pytest.mark.postgres
@each_cell("failing", FAILING)
def test_a_view_of_postgresql_that_fails(
    tmp_path: Path, failing: str, postgres: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server = connected("postgres", postgres)
    server.raw_sql("CREATE SCHEMA marked").close()
    server.con.commit()
    try:
        server.raw_sql(
            "CREATE TABLE marked.raw AS SELECT i, i % 2 AS sex FROM generate_series(1, 20) t(i)"
        ).close()
        server.raw_sql(
            f"CREATE VIEW marked.people AS SELECT {FAILING[failing]} AS x, sex FROM marked.raw"
        ).close()
        server.con.commit()
        url = f"postgres://reid@/postgres?host={postgres}"
        check(tmp_path, [f'url = "{url}"\ntable = "marked.people"'], capsys)
        run([url, "--table", "marked.people"], capsys)
        table = server.table("people", database="marked")
        calls: list[Callable[[], Any]] = [
            lambda: ri.risk_summary(table, ["x", "sex"]),
            lambda: ri.risk_summary(table, ["x", "sex"], nulls="wildcard"),
            lambda: ri.risk_summary(table, ["sex"], by=["x"]),
            lambda: ri.population_risk(table, ["x", "sex"], [1e6]),
        ]
        for call in calls:
            with pytest.raises(ReidError) as refused:
                collected(call(), "an answer")
            refuse_marks(str(refused.value))
    finally:
        server.raw_sql("DROP SCHEMA marked CASCADE").close()
        server.con.commit()


@each_cell("kind", ["INTEGER", "REAL", "DATE", "TIMESTAMP", "BOOLEAN", "DECIMAL(4,2)", "BLOB"])
@each_cell("value", [f"{MARK} must be; {MARK}", int(NUMBER), DAY])
def test_values_of_sqlite_that_are_of_no_type(
    tmp_path: Path,
    kind: str,
    value: Any,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with sqlite3.connect("t.db") as con:
        con.execute(f"CREATE TABLE people (x {kind}, sex INTEGER)")
        con.executemany(
            "INSERT INTO people VALUES (?, ?)", [(1, i % 2) for i in range(20)] + [(value, 0)]
        )
    con.close()
    policy = f'[[tables]]\nurl = "sqlite://t.db"\ntable = "people"\n{CHECKS}'
    (tmp_path / "p.toml").write_text(policy, encoding="utf-8")
    files = [word for option, name in REPORTS.items() for word in (option, name)]
    assert main(["check", "p.toml", *files]) in {0, 1, 2}
    page = json.loads(Path("r.json").read_text(encoding="utf-8"))
    messages = [group["why"] for each in page["checks"] for group in each["groups"]]
    refuse_marks(*messages, *capsys.readouterr().err)


OF_MARIADB = {
    "below zero": f"CASE WHEN i = 7 THEN CAST(1 AS UNSIGNED) - {NUMBER} ELSE 1 END",
    "beyond doubles": f"CASE WHEN i = 7 THEN exp({NUMBER}) ELSE 1 END",
}


@pytest.mark.mariadb
# a server without names of zones
@pytest.mark.filterwarnings("ignore:Unable to set session timezone")
@pytest.mark.parametrize("failing", OF_MARIADB)
def test_a_view_of_mariadb_that_fails(
    tmp_path: Path, failing: str, mariadb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pymysql.install_as_MySQLdb()
    with (
        pymysql.connect(unix_socket=mariadb, user=USER, autocommit=True) as con,
        con.cursor() as cursor,
    ):
        cursor.execute("CREATE OR REPLACE DATABASE marked")
        cursor.execute(
            "CREATE TABLE marked.raw AS SELECT seq AS i, seq % 2 AS sex FROM mysql.seq_1_to_20"
        )
        cursor.execute(
            f"CREATE VIEW marked.people AS SELECT {OF_MARIADB[failing]} AS x, sex FROM marked.raw"
        )
        with pytest.raises(pymysql.Error, match=NUMBER):  # the server's own words
            cursor.execute("SELECT x FROM marked.people")
        url = f"mysql://{USER}@localhost/marked?unix_socket={mariadb}"
        check(tmp_path, [f'url = "{url}"\ntable = "people"'], capsys)
        run([url, "--table", "people"], capsys)
        cursor.execute("DROP DATABASE marked")


LINES = [f"{i},{20 + i % 9},{'MF'[i % 2]},1" for i in range(60)]
ODD = {
    "a rare value": [*LINES, f"70,30,{MARK},{NUMBER}"],
    "a key that repeats": [*LINES, f"{MARK},30,M,1", f"{MARK},31,F,1"],
    "a text among numbers": [*LINES, f"71,{MARK} {DAY},M,-{NUMBER}"],
    "a record": [f"{MARK},{NUMBER},{MARK},{DAY}"],
}
SCENARIOS = {
    "misspelt": "{ M = 0.1, F = 0.2, Zyxmar = 0.3 }",
    "incomplete": "{ M = 0.1 }",
    "of nobody": "{ Q = 0.1 }",
}
HIERARCHIES = ("age = [{ bands = 10 }]", "sex = [{ bands = 10 }]", 'age = ["year"]', "")
SQL = (
    "FROM fit_copula('m', 'a.csv', ['age', 'sex'], weight := 'w')",
    "FROM fit_people('m', 'a.csv', ['age', 'sex'], weight := 'w')",
    "FROM fit_copula('m', 'a.csv', ['sex'], marginals := 'marginals.csv')",
    "FROM fit_people('m', 'a.csv', ['sex'], marginals := 'marginals.csv')",
    "FROM fit_copula('m', 'a.csv', ['sex'], marginals := 'few.csv')",
    "FROM load_model('m', 'models.csv')",
    "FROM t_closeness('a.csv', ['sex'], 'age', variant := 'numeric')",
    "FROM compare('a.csv', 'a.csv', ['age'], key := 'id')",
    "SELECT sex::INTEGER FROM 'a.csv'",
    "SELECT strptime(sex, '%Y') FROM 'a.csv'",
    "SELECT equivalence_class_size(sex::INTEGER) FROM 'a.csv'",
)
# The command prints an error in one way: each statement is tried in it on one table, all tables in each way.
QUERIED = {odd: range(place, len(SQL), len(ODD)) for place, odd in enumerate(ODD)}


@pytest.mark.parametrize("odd", ODD)
def test_sql_that_is_refused_names_no_value(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, odd: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in tables(odd).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    refused = 0
    for sql in SQL:
        try:
            con.execute(sql).fetchall()
        except duckdb.Error as error:
            # DuckDB's own words name what it could not cast; the command leaves them out
            refuse_marks(*([str(error)] if sql.startswith("FROM") else []))
            refused += 1
    assert refused > 5


def tables(odd: str) -> dict[str, str]:
    return {
        "a.csv": "\n".join(["id,age,sex,w", *ODD[odd]]) + "\n",
        "b.csv": "\n".join(["id,age,sex,w", *LINES]) + "\n",
        "marginals.csv": f"column_name,value,share\n{MARK},M,1\nsex,F,1\n",
        "few.csv": "column_name,value,share\nsex,F,1\n",
        "models.csv": f"model,json\n{MARK},{NUMBER}\n",
    }


@pytest.mark.parametrize("odd", ODD)
def test_commands_that_refuse_name_no_value(
    tmp_path: Path, odd: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = tables(odd)
    policy = '[[tables]]\nfile = "a.csv"\nquasi_identifiers = ["age", "sex"]\nsensitive = ["w"]\n'
    policy += "checks = [{ measure = 'k', at_least = 5 }]\n"
    for place, hierarchy in enumerate(HIERARCHIES):
        files[f"p{place}.toml"] = f"[prepare.hierarchies]\n{hierarchy}\n{policy}"
    for name, chances in SCENARIOS.items():
        group = f'columns = ["age", "sex"]\nby = "sex"\nprobabilities = {chances}'
        files[f"{name}.toml"] = f"population = 1000\n[[groups]]\n{group}\n"
    for place, sql in enumerate(SQL):
        files[f"q{place}.sql"] = sql
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    commands = [
        *(["risk", "a.csv", "--scenario", f"{name}.toml"] for name in SCENARIOS),
        *(["prepare", f"p{place}.toml", "--out", f"o{place}"] for place in range(len(HIERARCHIES))),
        *(["query", f"q{place}.sql"] for place in QUERIED[odd]),
        *(["compare", *names, "--columns", "age,sex", "--key", "id"] for names in (AB, AB[::-1])),
        *(["init", "a.csv"], ["risk", "a.csv", "--qi", "age,agee"]),
    ]
    refused = 0
    for command in commands:
        code = main(command)
        printed = capsys.readouterr()
        refuse_marks(printed.err, *([printed.out] if code == 2 else []))
        assert "Traceback" not in printed.err, command
        refused += code == 2
    assert refused > len(SCENARIOS)


TEXTS = {
    "quote.csv": f'x,sex\n1,0\n"{MARK},1\n2,0\n',
    "fields.csv": f"x,sex\n1,0\n{MARK},1,{MARK},{NUMBER}\n2,0\n",
    "lines.ndjson": f'{{"x": 1, "sex": 0}}\n{{"x": "{MARK}", "sex": {{}}\n',
    "list.json": f'[{{"x": 1, "sex": 0}}, {{"x": {MARK}}}]',
    "not.parquet": f"{MARK} {NUMBER}",
    "not.duckdb": f"{MARK} {NUMBER}",
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_damaged_file(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(TEXTS[name], encoding="utf-8")
    more = '\ntable = "people"' if name.endswith("duckdb") else ""
    check(tmp_path, [f'file = "{name}"{more}'], capsys)
    run([name, *(["--table", "people"] if more else [])], capsys)


def test_a_frame_of_polars_that_fails() -> None:
    frame = pl.LazyFrame({"x": ["1", MARK], "sex": [0, 1]}).with_columns(pl.col("x").cast(pl.Int64))
    calls: list[Callable[[], Any]] = [
        lambda: rp.risk_summary(frame, ["x", "sex"]),
        lambda: rp.fit_people("m", frame, ["x", "sex"]),
    ]
    for call in calls:
        with pytest.raises(ReidError) as refused:
            collected_by_polars(call(), "")
        refuse_marks(str(refused.value))


SPARK = """
import sys
from tests.spark_session import local
from reid_sql.cli import main
local().sql(sys.argv[1])
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.spark
def test_a_view_of_spark_that_fails(tmp_path: Path) -> None:
    """In a process of its own: what Spark's Java writes is searched, too."""
    column = FAILING["text as number"]
    view = f"CREATE TEMP VIEW marked AS SELECT {column} AS x, i % 2 AS sex FROM (SELECT id AS i FROM range(20))"
    policy, report = tmp_path / "p.toml", tmp_path / "r.json"
    policy.write_text(f'[[tables]]\nfile = "marked"\n{CHECKS}', encoding="utf-8")
    command = ["check", str(policy), "--engine", "spark", "--json-report", str(report)]
    done = subprocess.run(
        [sys.executable, "-c", SPARK, view, *command],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment(),
        check=False,
    )
    assert done.returncode == 2, done.stderr[-500:]
    refuse_marks(done.stdout, done.stderr, report.read_text(encoding="utf-8"))
    assert "NumberFormatException" in report.read_text(encoding="utf-8")


def test_a_type_that_lists_its_values_is_not_repeated() -> None:
    with duckdb.connect() as con:
        reid_sql.register(con)
        con.execute(
            f"CREATE TABLE a AS SELECT 'a'::ENUM('a', '{MARK}') AS x; CREATE TABLE b AS SELECT 1 AS x"
        )
        with pytest.raises(duckdb.Error) as raised:
            con.execute("FROM journalist_risk(a, b, ['x'])").fetchall()
        refuse_marks(str(raised.value))
        with pytest.raises(duckdb.Error) as raised:
            con.execute("FROM journalist_risk(b, a, ['x'])").fetchall()
        refuse_marks(str(raised.value))
        table = ibis.duckdb.from_connection(con)
        with pytest.raises(ReidError) as refused:
            ri.journalist_risk(table.table("a"), table.table("b"), ["x"])
        refuse_marks(str(refused.value))
