"""The gate in a warehouse as an administrator sees it: few statements, a named session, one snapshot."""

import json
import re
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import psycopg
import pymysql
import pytest

import reid_sql.ibis as ri
from reid_sql.check import gate
from reid_sql.check.duckdb_table import Calls
from reid_sql.cli import main
from reid_sql.engines.ibis.adapter import fetch_distinct
from reid_sql.engines.ibis.frames import collected
from reid_sql.models.population_risk import answer
from reid_sql.models.pyc import pitman_yor_forecast
from reid_sql.sources.warehouse import warehouse

USER = "root"
CHECKS = """
quasi_identifiers = ["age", "sex", "town"]
checks = [
  { measure = "k", at_least = 1 },
  { measure = "uniqueness", at_most = 1, quasi_identifiers = ["age", "sex"] },
  { measure = "records_at_risk", threshold = 0.2, at_most = 1, quasi_identifiers = ["age", "town"] },
  { measure = "unique_records", at_most = 1e6, quasi_identifiers = ["sex"] },
]
"""


@pytest.fixture
def server(postgres: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(f"host={postgres} user=reid dbname=postgres", autocommit=True) as con:
        con.execute("CREATE SCHEMA sessions")
        con.execute("""CREATE TABLE sessions.people AS
            SELECT i % 7 AS age, i % 2 AS sex, i % 11 AS town FROM generate_series(1, 500) t(i)""")
        yield con
        con.execute("DROP SCHEMA sessions CASCADE")


def policy(folder: Path, postgres: str, table: str, checks: str = CHECKS) -> Path:
    url = f"postgres://reid@/postgres?host={postgres}"
    path = folder / "p.toml"
    path.write_text(
        f'mask_below = 1\nurl = "{url}"\n[[tables]]\ntable = "{table}"\n{checks}', encoding="utf-8"
    )
    return path


@pytest.mark.postgres
def test_the_table_is_read_once_for_all_checks_of_class_sizes(
    tmp_path: Path, postgres: str, server: psycopg.Connection[Any]
) -> None:
    """The server counts its own scans; the figures are those of its own GROUP BY."""
    path = policy(tmp_path, postgres, "sessions.people")
    before = scans(server)
    page = gate.check(path)
    # the class sizes, the records, each column alone, a draw of rows, all columns that are released
    assert scans(server) - before <= 7
    assert [check["verdict"] for check in page["checks"]] == ["pass"] * 4
    for check in page["checks"]:
        named = ", ".join(check["quasi_identifiers"])
        sizes = f"SELECT count(*) AS n FROM sessions.people GROUP BY {named}"
        asked = {
            "k": f"SELECT min(n) FROM ({sizes}) s",
            "uniqueness": f"SELECT (count(*) FILTER (n = 1))::float8 / 500 FROM ({sizes}) s",
            "records_at_risk": f"SELECT sum(n) FILTER (WHERE n < 5)::float8 / 500 FROM ({sizes}) s",
            "unique_records": f"SELECT count(*) FILTER (WHERE n = 1) FROM ({sizes}) s",
        }[check["measure"]].replace("FILTER (n", "FILTER (WHERE n")
        assert check["groups"][0]["value"] == pytest.approx(
            server.execute(asked).fetchall()[0][0] or 0
        )


TEN_CHECKS = """
quasi_identifiers = ["age", "sex", "town"]
sensitive = ["town"]
population = 1e6
checks = [
  { measure = "k", at_least = 1 },
  { measure = "uniqueness", at_most = 1, quasi_identifiers = ["age", "sex"] },
  { measure = "records_at_risk", threshold = 0.2, at_most = 1, quasi_identifiers = ["age", "town"] },
  { measure = "unique_records", at_most = 1e6, quasi_identifiers = ["sex"] },
  { measure = "k", at_least = 1, by = ["town"], quasi_identifiers = ["age", "sex"] },
  { measure = "l_diversity", at_least = 1, quasi_identifiers = ["age", "sex"] },
  { measure = "t_closeness", at_most = 1, quasi_identifiers = ["age", "sex"] },
  { measure = "population_uniqueness", at_most = 1 },
  { measure = "population_correctness", at_most = 1 },
  { measure = "average_risk", at_most = 1 },
]
"""


@pytest.mark.postgres
def test_ten_checks_are_at_most_51_statements_in_the_log(
    tmp_path: Path, postgres: str, server: psycopg.Connection[Any]
) -> None:
    """The server writes down every statement that it gets, those around a transaction too."""
    log = Path(postgres) / "log"
    server.execute("ALTER ROLE reid SET log_statement = 'all'")
    try:
        before = len(log.read_text())
        page = gate.check(policy(tmp_path, postgres, "sessions.people", TEN_CHECKS))
    finally:
        server.execute("ALTER ROLE reid RESET log_statement")
    assert [each["verdict"] for each in page["checks"]] == ["pass"] * 10
    # Two of them draw rows for the structure, and look for values that are written alike. As one check needs
    # codes of a column and another its values, three more queries are asked, each in a savepoint.
    assert 10 < len(re.findall(r"LOG:  (?:statement|execute)", log.read_text()[before:])) <= 51


SESSIONS = """SELECT count(*) FROM pg_stat_activity WHERE application_name = 'reid-sql'
    AND backend_start > (SELECT backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid())"""


def scans(server: psycopg.Connection[Any]) -> int:
    """The scans of the people, when the sessions of the gate have ended: that is when they are counted."""
    until = time.monotonic() + 60
    while server.execute(SESSIONS).fetchall() != [(0,)]:
        assert time.monotonic() < until
        time.sleep(0.05)
    server.execute("SELECT pg_stat_clear_snapshot()")
    [[found]] = server.execute("""SELECT seq_scan FROM pg_stat_user_tables
        WHERE schemaname = 'sessions' AND relname = 'people'""").fetchall()
    return int(found)


@pytest.mark.postgres
def test_an_administrator_finds_the_session_by_its_name(
    tmp_path: Path, postgres: str, server: psycopg.Connection[Any]
) -> None:
    with warehouse("url", f"postgres://reid@/postgres?host={postgres}", tmp_path):
        named = server.execute("SELECT application_name FROM pg_stat_activity").fetchall()
    assert ("reid-sql",) in named


ROLE_ABROAD = """
CREATE ROLE abroad LOGIN;
ALTER ROLE abroad SET extra_float_digits = {digits};
ALTER ROLE abroad SET DateStyle = 'SQL, DMY';
ALTER ROLE abroad SET TimeZone = 'Asia/Kolkata';
CREATE TABLE sessions.readings (height float8, day date, hour timestamptz);
GRANT USAGE ON SCHEMA sessions TO abroad;
GRANT SELECT ON sessions.readings TO abroad
"""
READINGS = {
    (0.1 + 0.2, date(2020, 4, 5), datetime(2020, 4, 5, 23, tzinfo=UTC)),
    (0.3, date(2020, 5, 4), datetime(2020, 4, 5, 22, tzinfo=UTC)),
}


@pytest.mark.postgres
@pytest.mark.parametrize("digits", [0, -15])
def test_the_settings_of_a_role_change_no_value(
    tmp_path: Path, postgres: str, server: psycopg.Connection[Any], digits: int
) -> None:
    """Two heights that a server would round to one text stay two, and a day is no month."""
    server.execute(ROLE_ABROAD.format(digits=digits))
    try:
        server.cursor().executemany(
            "INSERT INTO sessions.readings VALUES (%s, %s, %s)", list(READINGS)
        )
        with warehouse("url", f"postgres://abroad@/postgres?host={postgres}", tmp_path) as members:
            table = members.table("table", "sessions.readings")
            rows = fetch_distinct(table, ["height", "day", "hour"]).rows.to_pylist()
            classes = collected(
                ri.equivalence_classes(table, ["height"]), "the classes"
            ).to_pylist()
    finally:
        server.execute("DROP OWNED BY abroad; DROP ROLE abroad")
    assert {tuple(row.values())[:3] for row in rows} == READINGS
    assert {row["height"] for row in classes} == {0.1 + 0.2, 0.3}


FAILING = {
    "a time limit": (
        "CASE WHEN i = 7 THEN (pg_sleep(20) IS NULL)::int ELSE i % 5 END",
        "QueryCanceled",
    ),
    "a lost connection": (
        "CASE WHEN i = 7 THEN pg_terminate_backend(pg_backend_pid())::int ELSE i % 5 END",
        "(OperationalError|AdminShutdown)",
    ),
}


@pytest.mark.postgres
@pytest.mark.parametrize("failing", FAILING)
def test_what_the_server_stops_is_not_judged_and_the_report_is_written(
    tmp_path: Path,
    postgres: str,
    failing: str,
    server: psycopg.Connection[Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    column, cause = FAILING[failing]
    server.execute(f"""CREATE VIEW sessions.slow AS
        SELECT i % 7 AS age, i % 2 AS sex, {column} AS town FROM generate_series(1, 500) t(i)""")
    server.execute("ALTER ROLE reid SET statement_timeout = '1s'")
    try:
        path = policy(tmp_path, postgres, "sessions.slow")
        report = tmp_path / "r.json"
        assert (
            main(
                [
                    "check",
                    str(path),
                    "--json-report",
                    str(report),
                    "--html",
                    str(tmp_path / "r.html"),
                ]
            )
            == 2
        )
    finally:
        server.execute("ALTER ROLE reid RESET statement_timeout")
    assert report.exists()
    assert (tmp_path / "r.html").exists()
    assert "Traceback" not in capsys.readouterr().err
    page = json.loads(report.read_text(encoding="utf-8"))
    first = page["checks"][0]["groups"][0]
    assert first["verdict"] == "not judged"
    assert re.search(cause, first["why"])


@pytest.mark.postgres
def test_a_plan_prints_the_statements_and_runs_none(
    tmp_path: Path,
    postgres: str,
    server: psycopg.Connection[Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Those that are printed are those that the server is sent, but for its cursors."""
    path = policy(tmp_path, postgres, "sessions.people")
    before = scans(server)
    assert main(["check", str(path), "--plan"]) == 0
    printed = capsys.readouterr().out
    assert scans(server) == before
    statements = [part for part in printed.split(";\n") if "SELECT" in part]
    assert f"-- {len(statements)} statements" in printed
    gate.check(path)
    assert scans(server) - before == len(statements)


def test_a_plan_is_for_warehouses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text("age,sex,town\n1,2,3\n", encoding="utf-8")
    (tmp_path / "p.toml").write_text(f'[[tables]]\nfile = "t.csv"\n{CHECKS}', encoding="utf-8")
    assert main(["check", str(tmp_path / "p.toml"), "--plan"]) == 2
    assert "--plan must be asked of a policy with a url" in capsys.readouterr().err


@pytest.mark.mariadb
# a server without names of zones
@pytest.mark.filterwarnings("ignore:Unable to set session timezone")
def test_mariadb_is_read_as_it_was_when_it_was_opened(tmp_path: Path, mariadb: str) -> None:
    pymysql.install_as_MySQLdb()
    with (
        pymysql.connect(unix_socket=mariadb, user=USER, autocommit=True) as con,
        con.cursor() as cursor,
    ):
        cursor.execute("CREATE OR REPLACE DATABASE sessions")
        cursor.execute(
            "CREATE TABLE sessions.people ENGINE = InnoDB AS SELECT 1 AS age UNION ALL SELECT 2"
        )
        url = f"mysql://{USER}@localhost/sessions?unix_socket={mariadb}"
        with warehouse("url", url, tmp_path) as opened:
            table = opened.table("table", "people")
            before = collected(ri.risk_summary(table, ["age"]), "").to_pylist()
            cursor.execute("INSERT INTO sessions.people VALUES (1), (2)")
            assert collected(ri.risk_summary(table, ["age"]), "").to_pylist() == before
        cursor.execute("DROP DATABASE sessions")


MODELS = """
quasi_identifiers = ["age", "sex", "town"]
population = 1e6
checks = [
  { measure = "population_uniqueness", at_most = 1 },
  { measure = "k", at_least = 1 },
  { measure = "xi_share", at_most = 1, quasi_identifiers = ["age", "sex"] },
  { measure = "k", at_least = 1, by = ["town"], quasi_identifiers = ["age", "sex"] },
  { measure = "kappa_share", at_most = 1, by = ["sex"], quasi_identifiers = ["age", "town"] },
]
"""
OPEN = "SELECT state, query FROM pg_stat_activity WHERE application_name = 'reid-sql' AND state <> 'idle'"


@pytest.mark.postgres
@pytest.mark.parametrize("more", ["", 'nulls = "wildcard"\n', 'nulls = "drop"\n', 'entity = "i"\n'])
def test_no_transaction_is_open_while_models_compute(
    tmp_path: Path,
    postgres: str,
    more: str,
    server: psycopg.Connection[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever looks at the server whenever the client's own DuckDB is asked finds the session idle."""
    seen: list[Any] = []
    ask = Calls.ask

    def watched(self: Calls, sql: str, *arguments: Any) -> Any:
        seen.append((sql, server.execute(OPEN).fetchall()))
        return ask(self, sql, *arguments)

    monkeypatch.setattr(Calls, "ask", watched)
    server.execute("ALTER TABLE sessions.people ADD COLUMN i int GENERATED ALWAYS AS IDENTITY")
    page = gate.check(policy(tmp_path, postgres, "sessions.people", more + MODELS))
    model = "not judged" if "wildcard" in more else "pass"  # overlapping classes have no shares
    assert [each["verdict"] for each in page["checks"]] == [model, "pass", model, "pass", model]
    assert seen
    assert [each for each in seen if each[1]] == []


@pytest.mark.postgres
def test_a_table_that_changes_between_two_transactions_is_not_judged(
    tmp_path: Path, postgres: str, server: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records come while a model computes, and the client asks for more after it."""
    ask = Calls.ask

    def changing(self: Calls, sql: str, *arguments: Any) -> Any:
        server.execute("INSERT INTO sessions.people VALUES (99, 1, 1)")
        return ask(self, sql, *arguments)

    monkeypatch.setattr(Calls, "ask", changing)
    path = policy(tmp_path, postgres, "sessions.people", MODELS)
    assert gate.check(path)["verdict"] == "pass"  # all is of the first transaction
    page = gate.check(path, risky=1)  # asked for after the models
    assert {each["verdict"] for each in page["checks"]} == {"not judged"}


@pytest.mark.postgres
@pytest.mark.usefixtures("server")
def test_columns_are_counted_only_for_a_report_that_describes_them(
    tmp_path: Path, postgres: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(policy(tmp_path, postgres, "sessions.people"))
    figures, sets = [], []
    for options in ([], ["--html", str(tmp_path / "r.html")]):
        assert main(["check", path, *options, "--format", "csv"]) == 0
        figures.append(capsys.readouterr().out)
        assert main(["check", path, *options, "--plan"]) == 0
        sets.append(len(re.findall(r"GROUP BY", capsys.readouterr().out)))
    assert figures[0] == figures[1]
    assert sets[0] < sets[1]


@pytest.mark.postgres
@pytest.mark.parametrize("command", ["risk", "risk --plot"])
@pytest.mark.parametrize("meanwhile", ["SELECT 1", "INSERT INTO sessions.people VALUES (99, 1, 1)"])
def test_a_command_leaves_no_transaction_open_while_models_compute(
    tmp_path: Path,
    *,
    postgres: str,
    command: str,
    meanwhile: str,
    server: psycopg.Connection[Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The session is idle whenever a model is fitted; records that come meanwhile are noticed."""
    seen: list[Any] = []

    def watch(module: Any, name: str) -> None:
        fit = getattr(module, name)

        def watched(*arguments: Any, **named: Any) -> Any:
            seen.append(server.execute(OPEN).fetchall())
            server.execute(meanwhile)
            return fit(*arguments, **named)

        monkeypatch.setattr(module, name, watched)

    watch(answer, "fit_sample")
    watch(pitman_yor_forecast, "forecast_pitman_yor")
    url = f"postgres://reid@/postgres?host={postgres}"
    words = command.replace("--plot", f"--plot {tmp_path / 'p.svg'}").split()
    of_table = ["--table", "sessions.people", "--qi", "age,sex,town", "--population", "100000"]
    status = main([words[0], url, *of_table, *words[1:]])
    assert seen
    assert [each for each in seen if each] == []
    error = capsys.readouterr().err
    asks_again = "INSERT" in meanwhile and command != "risk"
    assert (status, "the table must not change" in error) == (
        (2, True) if asks_again else (0, False)
    )
