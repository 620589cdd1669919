"""A server in a process of its own, and bare clients in theirs."""

import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import reid_sql
from tests.all.serve.marked import MARKED
from tests.processes import environment

PYTHON = os.environ.get("REID_SQL_SERVE_PYTHON", "")
TOKEN = "a-token-of-a-test"  # noqa: S105 - of a server that ends with its test


class Client:
    """A process that asks."""

    def __init__(self, port: int, token: str = TOKEN) -> None:
        here = Path(__file__).parent / "client.py"
        self.process = subprocess.Popen(
            [PYTHON, "-I", str(here), f"quack:localhost:{port}", token],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def send(self, sql: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(sql) + "\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def ask(self, sql: str) -> dict[str, Any]:
        self.send(sql)
        return self.receive()

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


class Served:
    """A process that serves; its log is a file."""

    def __init__(self, folder: Path, *options: str, tokens: bool = True) -> None:
        with socket.socket() as free:
            free.bind(("localhost", 0))
            self.port = int(free.getsockname()[1])
        self.log = folder / "questions.jsonl"
        if self.log.exists():  # that of another server, which alone writes it
            self.log = folder / f"questions_{self.port}.jsonl"
        self.process = subprocess.Popen(
            [
                PYTHON,
                "-m",
                "reid_sql.cli",
                "serve",
                *options,
                "--port",
                str(self.port),
                "--log",
                str(self.log),
            ],
            env=environment() | ({"REID_SQL_TOKEN": TOKEN} if tokens else {}),
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout
        self.printed = [self.process.stdout.readline() for _ in range(4)]
        assert self.printed[0].startswith("Serving"), (
            self.process.stderr and self.process.stderr.read()
        )

    def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Signal the process; returns its exit code and what it printed to the standard error."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=10)
        return self.process.returncode, errors

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a marked table in a database that DuckDB 1.5 reads, and one in a file."""
    folder = tmp_path_factory.mktemp("serve")
    code = f"""import duckdb
con = duckdb.connect("data.duckdb")
con.execute(\"\"\"CREATE TABLE people AS {MARKED}\"\"\")
con.execute("CREATE TABLE other AS SELECT * REPLACE ((age + 1) AS age) FROM people")
con.execute("COPY people TO 'file.parquet'")"""
    subprocess.run([PYTHON, "-c", code], cwd=folder, check=True)
    return folder


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Served]:
    served = Served(folder, "data.duckdb", "file.parquet", "--time-limit", "20")
    yield served
    served.stop()


@pytest.fixture(scope="module")
def client(served: Served) -> Iterator[Client]:
    client = Client(served.port)
    yield client
    client.close()


@pytest.fixture(scope="module")
def at_home() -> Iterator[duckdb.DuckDBPyConnection]:
    """The same tables in this process."""
    with duckdb.connect() as con:
        reid_sql.register(con)
        con.execute(f"CREATE TABLE people AS {MARKED}")
        con.execute("CREATE TABLE other AS SELECT * REPLACE ((age + 1) AS age) FROM people")
        yield con
