"""Bare clients ask a server of a marked table: answers arrive as at home, and no marked value does."""

import json
import signal
import subprocess
import time
from pathlib import Path
from tempfile import gettempdir

import duckdb
import pytest

from reid_sql.function import Function, output_of
from reid_sql.parameters.outputs import REQUIRED
from reid_sql.serve.allowed import ALLOWED
from reid_sql_udfs import declared
from tests.all.serve.conftest import PYTHON, TOKEN, Client, Served
from tests.all.serve.marked import MARKS, ROWS
from tests.processes import environment
from tests.serve.hostile import HOSTILE

pytestmark = pytest.mark.serve
SCENARIO = '{"population": 1000, "groups": [{"columns": ["age", "sex"], "probability": 0.5}]}'
# A value for each parameter that a function requires.
GIVEN = {
    "tbl": "people", "population_tbl": "other", "original": "people", "synthetic": "other",
    "released": "other", "first": "people", "second": "other", "left": "people", "right": "other",
    "on": "'person'", "right_qi": "['age']", "name": "'m'", "model": "'m'",
    "qi": "['age', 'sex']", "columns": "['age', 'sex', 'disease']", "by": "['sex']", "sensitive": "'disease'",
    "household": "'person'", "entity": "'person'", "person": "'person'", "item": "'age'",
    "populations": "[10000]", "population": "10000", "sizes": "[10, 100]", "fractions": "[0.5]",
    "points": "[1]", "scenario": f"'{SCENARIO}'", "true_scores": "[0.9, 0.8]", "false_scores": "[0.1, 0.3]",
    "correctness": "[0.9, 0.8]", "p": "0.001", "n": "1000", "xi": "0.5", "entropy": "10", "tail": "0.5",
    "k": "2",
}  # fmt: skip


def call_of(name: str) -> str:
    """Call an output of a function by its key, with all that it requires."""
    output = output_of(name, declared())
    required = [each.name for each in output.parameters if each.default is REQUIRED]
    given = GIVEN | ({"columns": "['age', 'sex']"} if name == "unicity" else {})
    return _call(output, [given[each] for each in required])


def _call(output: Function, arguments: list[str]) -> str:
    arguments += [f"{selector} := '{word}'" for selector, word in output.preset.items()]
    return f"reid.{output.name}({', '.join(arguments)})"


def same(one: object, other: object) -> bool:
    """Whether two cells are the same; sums of doubles differ in their last digits."""
    if isinstance(one, float) and isinstance(other, float):
        return one == pytest.approx(other, rel=1e-9, nan_ok=True)
    return one == other


@pytest.mark.parametrize("name", ALLOWED["table_functions"].split())
def test_an_answer_is_that_of_home(
    client: Client, at_home: duckdb.DuckDBPyConnection, name: str
) -> None:
    """At home an answer is not masked, and a model has the name that was given."""
    if name.startswith("copula_"):
        assert "rows" in client.ask(f"FROM {call_of('fit_copula')}")
        at_home.sql(f"FROM {call_of('fit_copula')}").fetchall()
    answer = client.ask(f"FROM {call_of(name)}")
    assert "rows" in answer, answer
    if name == "safe_table":
        assert answer["rows"] == [
            ["F", [], 200, 200, None, 0, "value"],
            ["M", [], 200, 200, None, 0, "value"],
        ]
        return
    relation = at_home.sql(f"FROM {call_of(name)}")
    expected = json.loads(json.dumps(relation.fetchall(), default=str))
    assert answer["columns"] == relation.columns
    for row, due in zip(answer["rows"], expected, strict=True):
        pairs = zip(answer["columns"], row, due, strict=True)
        assert not [
            (column, a, b) for column, a, b in pairs if column != "model" and not same(a, b)
        ]


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        (
            "SELECT sex, count(*) AS n FROM people GROUP BY sex ORDER BY sex",
            [["F", 200], ["M", 200]],
        ),
        ("SELECT count(*) AS n FROM people WHERE sex = 'F'", [[200]]),
        (
            "SELECT table_name FROM information_schema.tables ORDER BY ALL",
            [["file"], ["other"], ["people"]],
        ),
    ],
)
def test_plain_sql_reaches_a_bare_client(
    client: Client, sql: str, rows: list[list[object]]
) -> None:
    assert client.ask(sql)["rows"] == rows


@pytest.mark.parametrize("name", ALLOWED["value_functions"].split())
def test_a_function_of_numbers_is_that_of_home(
    client: Client, at_home: duckdb.DuckDBPyConnection, name: str
) -> None:
    sql = f"SELECT {call_of(name)} AS x"
    assert same(client.ask(sql)["rows"][0][0], at_home.sql(sql).fetchall()[0][0])


@pytest.mark.parametrize("name", [*ALLOWED["refused"]])
def test_a_function_of_records_is_refused_with_another(client: Client, name: str) -> None:
    why, other = ALLOWED["refused"][name]
    output = output_of(name, declared())
    place = "SELECT" if output.answer.of_rows else "FROM"
    error = client.ask(f"{place} {_call(output, ['people'])}")["error"]
    assert (why in error and other in error) or place == "SELECT", error


@pytest.mark.parametrize("sql", HOSTILE)
def test_a_hostile_statement_gets_nothing(client: Client, sql: str) -> None:
    answer = client.ask(sql)
    assert "rows" not in answer
    assert " must " in answer["error"] or "not found" in answer["error"], answer
    assert not any(mark in answer["error"].replace(sql, "") for mark in MARKS) or "MARK1" in sql


def test_hostile_statements_left_no_trace(client: Client, folder: Path, served: Served) -> None:
    """The tables are as they were, no file appeared, and the server has its settings."""
    files = {each.name for each in folder.iterdir()}
    logs = {each for each in files if each.startswith("questions")}
    assert files - logs <= {"data.duckdb", "file.parquet"}, files
    assert not [*Path(gettempdir()).glob("reid_hostile*")]
    assert client.ask("SELECT records FROM reid.risk_summary(people, ['age'])")["rows"] == [[ROWS]]
    assert client.ask("FROM people")["error"].startswith(
        "a statement must count the records of a table"
    )
    assert {line["verdict"] for line in served.lines()} == {"answered", "refused"}


def test_groups_of_few_people_are_refused(client: Client) -> None:
    assert len(client.ask("FROM reid.risk_summary(people, ['age'], by := 'sex')")["rows"]) == 2
    error = client.ask("FROM reid.risk_summary(people, ['age'], by := 'name')")["error"]
    assert error.startswith("an answer must reveal no group of fewer than 10")
    # 400 people in 200 pairs: rows are many, people are few
    error = client.ask("FROM reid.risk_summary(people, ['age'], by := 'person', entity := 'name')")[
        "error"
    ]
    assert error.startswith("an answer must reveal no group of fewer than 10")


def test_clients_share_a_record_without_a_policy(folder: Path) -> None:
    """One asks for the rows of each sex, and another for its people, and sees nothing of either (LIMIT 0)."""
    (folder / "clients.toml").write_text(
        'ann = "a-token-of-a-test"\nbob = "another-token-of-one"\n'
    )
    served = Served(folder, "data.duckdb", "--clients", "clients.toml", tokens=False)
    ann, bob = Client(served.port), Client(served.port, "another-token-of-one")
    halves = "SELECT count(*) FROM reid.risk_summary(people, ['age'], by := 'sex'{}) LIMIT 0"
    assert ann.ask(halves.format(""))["rows"] == []
    error = bob.ask(halves.format(", entity := 'person'"))["error"]
    assert error.startswith("an answer must count the people of the answers before")
    assert bob.ask(halves.format(""))["rows"] == []
    assert [(line["client"], line["verdict"]) for line in served.lines()[-3:]] == [
        ("ann", "answered"), ("bob", "refused"), ("bob", "answered"),
    ]  # fmt: skip
    assert "a-token" not in served.log.read_text() + "".join(served.printed)
    for each in (ann, bob):
        each.close()
    said = served.stop()[1]  # at its start, to whoever started it
    assert "reid-sql: without --policy, summaries of a whole table show small counts" in said
    assert "reid-sql: in other, each row counts as a person. Column 'person' looks like an" in said


def test_a_log_has_no_value(served: Served, client: Client) -> None:
    client.ask("SELECT k FROM reid.risk_summary(people, ['age']) WHERE k > 424242")
    text = served.log.read_text(encoding="utf-8")
    assert "424242" not in text
    last = served.lines()[-1]
    assert (last["client"], last["functions"], last["tables"]) == (
        "client",
        ["risk_summary"],
        ["people"],
    )
    call = "reid.risk_summary(people, main.list_value(constant))"
    assert last["statement"] == f"SELECT k FROM {call} WHERE (k > constant)"


def test_a_wrong_token_is_refused(served: Served) -> None:
    stranger = Client(served.port, "another-token-of-a-test")
    assert "Authentication failed" in stranger.ask("SELECT 1")["error"]
    stranger.close()


def test_two_clients_at_once_and_one_that_drops(served: Served, client: Client) -> None:
    dropped, other = Client(served.port), Client(served.port)
    long = "FROM reid.validate_risk(people, ['age', 'sex', 'name', 'income'], fractions := [0.5])"
    dropped.send(long)
    time.sleep(0.3)
    dropped.close()
    client.send("SELECT k FROM reid.risk_summary(people, ['age'])")
    assert other.ask("SELECT records FROM reid.risk_summary(other, ['age'])")["rows"] == [[ROWS]]
    assert client.receive()["rows"] == [[57]]
    other.close()


def test_a_question_ends_within_its_time(folder: Path) -> None:
    """Of a call, and of what selects from answers: 400 million pairs, and again."""
    served = Served(folder, "data.duckdb", "--time-limit", "2")
    client = Client(served.port)
    client.ask("SELECT 1")
    cross = ", ".join(f"reid.demo_people() t{place}" for place in range(4))
    for sql in (
        f"SELECT count(*) FROM {cross} WHERE t0.age + t1.age + t2.age + t3.age = 7",
        "FROM reid.validate_risk(people, ['age', 'sex', 'name', 'income'], samples := 1000)",
    ):
        answer = client.ask(sql)
        assert answer["error"].startswith("a question must be answered within 2 seconds"), answer
        assert answer["seconds"] < 10
    client.close()
    served.stop()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_server_at_once(folder: Path, number: signal.Signals, code: int) -> None:
    served = Served(folder, "file.parquet", "--rows", tokens=False)
    assert "a-token" not in "".join(served.printed)
    client = Client(served.port, served.printed[1].split("token := '")[1].split("'")[0])
    assert client.ask("SELECT max(name) FROM file")["rows"] == [["MARK1399"]]
    client.send("SELECT count(*) FROM file a, file b, file c, file d, file e, file f")
    time.sleep(0.5)
    started = time.monotonic()
    ended, errors = served.stop(number)
    assert (ended, time.monotonic() - started < 5) == (code, True)
    assert errors.splitlines() == [
        "reid-sql: --rows is set: every client reads every row of every table that is served.",
        "reid-sql: stopped",
    ]
    client.close()


def test_a_client_may_attach(served: Served) -> None:
    code = f"""
import duckdb, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
con = duckdb.connect()
import pathlib, duckdb_extension_httpfs, duckdb_extension_quack
for module in (duckdb_extension_httpfs, duckdb_extension_quack):
    con.execute(f"LOAD '{{next(pathlib.Path(module.__file__).parent.rglob('*.duckdb_extension'))}}'")
con.execute("ATTACH 'quack:localhost:{served.port}' AS r (TYPE quack, TOKEN '{TOKEN}')")
print(con.execute("FROM r.query('SELECT k FROM reid.risk_summary(people, [''age''])')").fetchall())
for sql in ("FROM r.people", "INSERT INTO r.people VALUES (1)", "CREATE TABLE r.t(a INT)",
            "FROM r.query('FROM people')"):
    try:
        print(con.execute(sql).fetchall())
    except duckdb.Error as error:
        print("refused")
"""
    printed = subprocess.run(
        [PYTHON, "-I", "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert printed.splitlines() == ["[(57,)]", *["refused"] * 4]


def test_a_policy_holds_for_every_client(folder: Path) -> None:
    """Functions outside it, other entities, small counts, and the second half of a difference."""
    (folder / "policy.toml").write_text(
        """mask_below = 10
[[tables]]
name = "people"
file = "file.parquet"
quasi_identifiers = ["age", "sex"]
entity = "person"
[[tables.checks]]
measure = "k"
at_least = 2
"""
    )
    served = Served(folder, "--table", "people=file.parquet", "--policy", "policy.toml")
    client = Client(served.port)
    people = client.ask("SELECT records, k FROM reid.risk_summary(people, ['age'])")
    assert people["rows"] == [[ROWS // 2, 57]]
    error = client.ask("SELECT k FROM reid.risk_summary(people, ['name'])")["error"]
    assert error.startswith("qi must be columns that the policy names for it")
    assert "that the policy uses" in client.ask("FROM reid.pyc_fit(people, ['age'])")["error"]
    assert (
        "entity must be"
        in client.ask("FROM reid.risk_summary(people, ['age'], entity := NULL)")["error"]
    )
    assert len(client.ask("FROM reid.safe_table(people, ['sex'])")["rows"]) == 2
    client.close()
    served.stop()
    with duckdb.connect(str(folder / "policy.record.duckdb"), read_only=True) as owner:
        cells = owner.execute("SELECT tbl, records FROM published ORDER BY ALL").fetchall()
    ages = [57] * 6 + [58]  # classes of enough people are recorded as if their cells were shown
    counted = sorted([*ages, 200, 200, 400])
    assert cells == [("people (entity := person)", count) for count in counted]


def test_a_record_outlives_a_server_that_is_killed_and_no_two_share_it(folder: Path) -> None:
    """Of a question whose answer arrived before kill -9, the next server knows."""
    sexes, record = "SELECT sex, count(*) FROM people GROUP BY sex ORDER BY sex", "killed.duckdb"
    served = Served(folder, "data.duckdb", "--record", record)
    client = Client(served.port)
    assert client.ask(sexes)["rows"] == [["F", 200], ["M", 200]]
    arguments = ["serve", "data.duckdb", "--record", record, "--port", "1024"]
    second = subprocess.run(
        [PYTHON, "-m", "reid_sql.cli", *arguments],
        env=environment(),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert second.returncode == 2
    assert "the record must be a DuckDB file that no other server uses" in second.stderr
    served.process.kill()
    served.process.communicate()
    client.close()
    again = Served(folder, "data.duckdb", "--record", record)
    client = Client(again.port)
    people = "FROM reid.risk_summary(people, ['age'], by := 'sex', entity := 'person')"
    assert client.ask(people)["error"].startswith(
        "an answer must count the people of the answers before"
    )
    assert client.ask(sexes)["rows"] == [["F", 200], ["M", 200]]
    client.close()
    again.stop()
    # the file lies in the folder of all servers of this module
    (folder / record).unlink()
