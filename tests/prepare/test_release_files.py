"""The release in a file has the rows of the SQL, in no order of the source; nothing else is ever written."""

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from reid_sql.cli import main

PEOPLE = 400
POLICY = """
{head}
[[tables]]
name = "visits"
file = "visits.csv"
quasi_identifiers = ["age", "sex"]
left_out = ["id"]
{lines}
[[tables.checks]]
measure = "k"
at_least = {least}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table in which texts are empty, missing, or have quotes and line breaks."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(5)
    rows = [
        (i, int(draw.integers(18, 90)), "fm"[i % 2], ["", None, 'a "b", c', "x\ny", "NULL"][i % 5])
        for i in range(PEOPLE)
    ]
    frame = pl.DataFrame(rows, ["id", "age", "sex", "note"], orient="row")
    frame.write_csv("visits.csv")
    policy()
    return tmp_path


def policy(least: int = 5, lines: str = "", head: str = "prepare = {keep = ['note']}") -> None:
    Path("p.toml").write_text(POLICY.format(least=least, lines=lines, head=head), encoding="utf-8")


def rows_of_sql(table: str = "visits") -> Counter[Any]:
    assert main(["prepare", "p.toml", "--sql", "r.sql"]) == 0
    with duckdb.connect() as con:
        con.execute(Path("r.sql").read_text(encoding="utf-8"))
        return Counter(con.execute(f"FROM {table}_released").fetchall())


def test_parquet_has_the_rows_of_the_sql_in_the_order_of_their_values(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["prepare", "p.toml", "--release", "safe.parquet"]) == 0
    said = capsys.readouterr().out
    assert "safe.parquet: written, and read again: it has the rows that were checked." in said
    frame = pl.read_parquet("safe.parquet")
    assert Counter(frame.rows()) == rows_of_sql()
    assert frame.height == PEOPLE
    ordered = duckdb.execute("FROM 'safe.parquet' ORDER BY ALL").fetchall()
    assert frame.rows() == ordered


def test_csv_has_the_rows_of_the_sql() -> None:
    assert main(["prepare", "p.toml", "--release", "safe.csv"]) == 0
    with Path("safe.csv").open(encoding="utf-8", newline="") as content:
        names, *found = csv.reader(content)
    assert names == ["age", "sex", "note"]
    written = ([value or "" for value in row] for row in rows_of_sql().elements())
    assert sorted(found) == sorted(written)


@pytest.mark.parametrize("name", ["safe.parquet", "safe.csv"])
def test_the_gate_passes_the_file_that_it_wrote(name: str) -> None:
    assert main(["prepare", "p.toml", "--release", name]) == 0
    text = Path("p.toml").read_text(encoding="utf-8")
    again = text.replace('"visits.csv"', f'"{name}"').replace('left_out = ["id"]', "")
    Path("again.toml").write_text(again, encoding="utf-8")
    assert main(["check", "again.toml"]) == 0


def test_people_have_random_numbers_in_the_file() -> None:
    policy(lines='entity = "id"', head="")
    text = Path("p.toml").read_text(encoding="utf-8").replace('left_out = ["id"]', "")
    Path("p.toml").write_text(text, encoding="utf-8")
    firsts = []
    for name in ("one.parquet", "two.parquet"):
        assert main(["prepare", "p.toml", "--release", name]) == 0
        frame = pl.read_parquet(name)
        assert sorted(frame["id"]) == list(range(1, PEOPLE + 1))
        firsts.append(dict(frame.select("id", "age").iter_rows()))
    assert firsts[0] != firsts[1]


def test_a_folder_has_a_file_of_each_table(capsys: pytest.CaptureFixture[str]) -> None:
    text = Path("p.toml").read_text(encoding="utf-8")
    second = text.partition("[[tables]]")[2].replace('name = "visits"', 'name = "again"')
    Path("p.toml").write_text(f"{text}\n[[tables]]{second}", encoding="utf-8")
    assert main(["prepare", "p.toml", "--release", "safe.parquet"]) == 2
    assert "must be a folder for 2 tables" in capsys.readouterr().err
    assert main(["prepare", "p.toml", "--release", "out"]) == 0
    assert sorted(each.name for each in Path("out").iterdir()) == [
        "again.parquet",
        "visits.parquet",
    ]
    assert Counter(pl.read_parquet("out/again.parquet").rows()) == rows_of_sql("again")
    capsys.readouterr()
    assert main(["prepare", "p.toml", "--release", "out"]) == 2
    assert "must be a new file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("visits.csv", "must not be a file that the run reads"),
        ("taken.csv", "must be a new file, got 'taken.csv', which exists"),
        ("taken.csv/in", "must be in an existing folder"),
        ("nowhere/safe.parquet", "must be in an existing folder"),
        ("safe.xlsx", "must end in .parquet or .csv, or be a folder"),
        ("", "must name a file"),
    ],
)
def test_a_target_that_cannot_be_is_refused_before_anything_is_counted(
    target: str, words: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("taken.csv").write_text("of somebody", encoding="utf-8")
    before = {each.name: each.read_bytes() for each in folder.iterdir()}
    assert main(["prepare", "p.toml", "--release", target]) == 2
    assert words in capsys.readouterr().err
    assert {each.name: each.read_bytes() for each in folder.iterdir()} == before


def test_without_a_release_no_file_is_written(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy(least=PEOPLE + 1)
    before = sorted(each.name for each in folder.iterdir())
    assert main(["prepare", "p.toml", "--release", "safe.parquet"]) == 1
    assert "'safe.parquet' is not written, as no release was found" in capsys.readouterr().err
    assert sorted(each.name for each in folder.iterdir()) == before


def test_rows_that_read_otherwise_leave_no_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(each.name for each in folder.iterdir())
    monkeypatch.setattr("reid_sql.prepare.release_files.CSV_FORM", "header = false")
    assert main(["prepare", "p.toml", "--release", "safe.csv"]) == 2
    assert "must have the rows that were checked once it is read again" in capsys.readouterr().err
    assert sorted(each.name for each in folder.iterdir()) == before


def test_without_options_the_page_ends_with_the_command_that_writes_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["prepare", "p.toml"]) == 0
    last = capsys.readouterr().out.rstrip().splitlines()[-1]
    command = last.removesuffix(" writes this release.")
    assert command == "reid-sql prepare p.toml --release visits_released.parquet"
    assert main(command.split()[1:]) == 0
    assert pl.read_parquet("visits_released.parquet").height == PEOPLE


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no file here that is always full")
def test_a_full_disk_names_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("--json-report", "--html"):
        assert main(["check", "p.toml", option, "/dev/full"]) == 2
        assert "a report must have space to be written, got none for '/dev/full'" in (
            capsys.readouterr().err
        )
