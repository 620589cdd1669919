"""The log of a server: questions by their shapes, chained, without a value; who came near a hidden group."""

import json
from pathlib import Path

import duckdb
import pytest

from reid_sql.cli import main
from reid_sql.errors import OutOfDomainError, ReidError
from reid_sql.serve.log import Log, is_log, read_log, summarize_clients
from tests.serve.door import Door

pytestmark = pytest.mark.filterwarnings("ignore:Arrow output")
ASKED = [  # client, statement, as the log has it
    (
        "ann",
        "SELECT age, count(*) AS mine FROM people WHERE region = 'north' GROUP BY age",
        "SELECT age, count_star() AS _ FROM people WHERE (region = constant) GROUP BY age",
    ),
    (
        "bob",
        "SELECT max(age) FROM people WHERE sex = 'secret'",
        "SELECT max(age) FROM people WHERE (sex = constant)",
    ),
    (
        "bob",
        "SELECT count(*) FROM people WHERE mallory = 17",
        "SELECT count_star() FROM people WHERE (_ = constant)",
    ),
    ("bob", "DESCRIBE people", "DESCRIBE TABLE people"),
    ("bob", "no SQL of '17'", ""),
]


@pytest.fixture
def log(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> Path:
    door = Door(con, log=tmp_path / "questions.jsonl")
    for client, sql, _ in ASKED:
        try:
            door.ask(sql, client)
        except ReidError:
            continue
    return tmp_path / "questions.jsonl"


def test_each_question_is_told_by_its_shape_and_without_a_value(log: Path) -> None:
    lines = read_log(log.read_text("utf-8").splitlines())
    assert [line["client"] for line in lines] == [client for client, _, _ in ASKED]
    assert [line["verdict"] for line in lines] == [
        "answered", "refused", "refused", "answered", "refused",
    ]  # fmt: skip
    shapes = [" ".join(line["statement"].split()) for line in lines]
    assert shapes[:3] == [shape for _, _, shape in ASKED][:3]
    assert lines[0]["columns"] == ["age", "region"]
    assert all(line["reason"] for line in lines if line["verdict"] == "refused")
    for line in lines:
        for name in ("time", "session", "seconds", "digest"):
            del line[name]
    text = json.dumps(lines)
    assert not any(value in text for value in ("north", "secret", "mallory", "17", "max_"))


def test_a_changed_or_missing_line_breaks_the_chain(log: Path) -> None:
    lines = log.read_text("utf-8").splitlines()
    for place in range(len(lines)):
        changed = lines[place].replace("answered", "refusal").replace("refused", "answered")
        with pytest.raises(OutOfDomainError, match=f"got line {place + 1}, which does not"):
            read_log([*lines[:place], changed, *lines[place + 1 :]])
    for place in range(len(lines) - 1):
        with pytest.raises(OutOfDomainError, match=f"got line {place + 1}, which does not"):
            read_log([*lines[:place], *lines[place + 1 :]])


def test_the_chain_goes_on_after_a_restart(con: duckdb.DuckDBPyConnection, log: Path) -> None:
    Door(con, log=log).ask("SHOW TABLES", "eve")
    assert len(read_log(log.read_text("utf-8").splitlines())) == len(ASKED) + 1


def test_a_file_that_is_no_log_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("my notes\n", encoding="utf-8")
    with pytest.raises(OutOfDomainError, match="must be a file of reid-sql serve"):
        Log(str(tmp_path / "notes.txt"))
    assert (tmp_path / "notes.txt").read_text("utf-8") == "my notes\n"
    assert not is_log(str(tmp_path / "notes.txt"))


def test_who_came_near_a_hidden_group_is_named(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """9 of 600 people are left out of the second table: the difference of both totals would be these 9."""
    con.execute("CREATE OR REPLACE TABLE fewer AS FROM people WHERE pid >= 9")
    file = tmp_path / "questions.jsonl"
    door = Door(con, ["people", "fewer"], log=file)
    door.ask("SELECT age, count(*) FROM people GROUP BY age", "ann")
    with pytest.raises(ReidError, match="must differ from that of another table"):
        door.ask("SELECT sex, count(*) FROM fewer GROUP BY sex", "eve")
    rows = summarize_clients(read_log(file.read_text("utf-8").splitlines()))
    assert [(row["client"], row["near_hidden"], row["with_hidden_cells"]) for row in rows] == [
        ("eve", 1, 0),
        ("ann", 0, 1),
    ]
    assert main(["audit", str(file), "--format", "json"]) == 0
    page = json.loads(capsys.readouterr().out)
    assert page["clients"] == rows
    assert page["lines"] == 2


def test_a_repeated_question_tells_the_same_of_its_answer(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    door = Door(con, log=tmp_path / "questions.jsonl")
    for client in ("ann", "bob"):
        door.ask("SELECT age, count(*) FROM people GROUP BY age", client)
    first, second = read_log((tmp_path / "questions.jsonl").read_text("utf-8").splitlines())
    assert first["hides"]
    assert first["recorded"]
    assert [second[name] for name in ("hides", "recorded")] == [
        first[name] for name in ("hides", "recorded")
    ]
    other = Door(con, log=tmp_path / "questions.jsonl")  # a second server on one file
    other.ask("SELECT sex, count(*) FROM people GROUP BY sex")
    with pytest.raises(ReidError, match="must be written by one server"):
        door.ask("SELECT age, count(*) FROM people GROUP BY age")
    assert len(read_log((tmp_path / "questions.jsonl").read_text("utf-8").splitlines())) == 3
