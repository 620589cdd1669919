"""The command itself: it prints an address, answers there, and leaves nothing behind."""

import json
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import duckdb
import pytest

from tests.explorations import people


def current_folders() -> Iterator[str]:
    """The current folders of the processes of this machine."""
    for each in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):  # of one that has ended
            yield str(each.readlink())


@pytest.mark.parametrize("is_searching", [False, True])
@pytest.mark.parametrize(("stop", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_it_answers_until_it_is_stopped(
    tmp_path: Path, stop: int, code: int, *, is_searching: bool
) -> None:
    """A search that runs ends with it."""
    people().write_csv(tmp_path / "people.csv")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    call = [sys.executable, "-m", "reid_sql", "explore", "people.csv", "--json", "--mask", "10"]
    with subprocess.Popen(
        call,
        cwd=tmp_path,
        env={"TMPDIR": str(temporary), "PYTHONPATH": ":".join(sys.path), "PATH": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        lines = ""
        while not lines.rstrip().endswith("}"):
            lines += process.stdout.readline()
        address = urlsplit(json.loads(lines)["address"])
        connection = HTTPConnection(address.netloc)
        connection.request("GET", address.path)
        answer = connection.getresponse()
        assert answer.status == 200
        assert "Who can be identified in people.csv?" in answer.read().decode()
        if is_searching:
            origin = {"Origin": f"http://{address.netloc}"}
            connection.request("POST", f"{address.path}choose", "from=0&search=1", origin)
            answer = connection.getresponse()
            assert answer.status == 303
            assert any(each.startswith(str(temporary)) for each in current_folders())
        connection.close()
        process.send_signal(stop)
        assert process.wait(30) == code
        assert process.stderr is not None
        assert process.stderr.read() == "reid-sql: stopped\n"
    assert not any(each.startswith(str(temporary)) for each in current_folders())
    assert list(temporary.iterdir()) == []
    assert [each.name for each in tmp_path.glob("*.*")] == ["people.csv"]


@pytest.mark.parametrize(("stop", "code"), [(signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_a_table_of_a_warehouse_is_copied_until_the_page_ends(
    tmp_path: Path, stop: int, code: int
) -> None:
    """It ends by Ctrl-C, or with its terminal."""
    with duckdb.connect(tmp_path / "town.duckdb") as con:
        people().write_parquet(tmp_path / "people.parquet")
        con.execute(f"CREATE TABLE people AS FROM '{tmp_path}/people.parquet'")
        con.execute("CREATE SCHEMA ward; CREATE TABLE ward.people AS FROM people")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    # under nohup a process is begun that ignores the signal of a closed terminal
    begin = "import signal, sys; signal.signal(signal.SIGHUP, signal.SIG_DFL); from reid_sql.cli import main; sys.exit(main())"
    call = [sys.executable, "-c", begin, "explore", "duckdb://town.duckdb"]
    environment = {"TMPDIR": str(temporary), "PYTHONPATH": ":".join(sys.path), "PATH": ""}
    with subprocess.Popen(
        [*call, "--table", "ward.people"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(2)]
        assert lines[0].startswith("All rows of ward.people were copied to this machine")
        with urllib.request.urlopen(lines[1].strip()) as answer:  # noqa: S310 - of this machine
            assert "Who can be identified in ward_people.parquet?" in answer.read().decode()
        with urllib.request.urlopen(f"{lines[1].strip()}0/release.sql") as answer:  # noqa: S310
            assert "FROM ward.people" in answer.read().decode()
        assert [*temporary.rglob("ward_people.parquet")]
        process.send_signal(stop)
        try:
            assert process.wait(30) == code
        finally:
            process.kill()
    assert list(temporary.iterdir()) == []
    for table, words in (("peopl", "did you mean 'people'?"), (None, "write --table")):
        named = [] if table is None else ["--table", table]
        refused = subprocess.run(
            [*call, *named],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert refused.returncode == 2
        assert words in refused.stderr
