"""What does not fit into memory goes to disk, encrypted, in a folder that goes; nothing stays behind."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import duckdb
import pytest

from reid_sql.check.gate import open_tables
from reid_sql.check.policy import read_policy
from reid_sql.client.calls import open_client
from reid_sql.sources.files import open_source
from reid_sql.sources.missing_value_codes import find_codes
from reid_sql.sql.missing_value_codes import find_candidates_in_texts
from tests.processes import environment

LIMIT = "120MB"
ROWS = 600_000
# Which no compression hides; more than the limit, so that some is on disk whatever is evicted.
KEPT_ROWS = 5_000_000
KEPT = f"SELECT unhex(sha256(i::VARCHAR)) AS v FROM range({KEPT_ROWS}) AS t(i)"
OF_PERSONS = [
    hashlib.sha256(str(i).encode()).digest() for i in range(0, KEPT_ROWS, KEPT_ROWS // 50)
]
pytestmark = pytest.mark.threads

NUMBERS = "SELECT hash(i) AS h, i FROM range(6_000_000) AS t(i)"


def table(folder: Path) -> Path:
    file = folder / "people.parquet"
    with duckdb.connect() as con:
        con.execute(
            f"""COPY (SELECT i AS a, i % 7 AS c FROM range({ROWS}) AS t(i))
            TO '{file}'"""
        )
    return file


@contextmanager
def by_gate(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    file = folder / "p.toml"
    checks = '[{measure = "k", at_least = 1}]'
    file.write_text(
        f'[[tables]]\nfile = "{table(folder).name}"\nquasi_identifiers = ["a"]\nchecks = {checks}'
    )
    with open_tables(read_policy(file), LIMIT) as releases:
        yield releases[0].engine.con


@contextmanager
def by_command(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    con, _ = open_source(str(table(folder)), memory_limit=LIMIT)
    with closing(con):
        yield con


@contextmanager
def by_client(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    del folder
    with open_client() as con:
        con.execute(f"SET memory_limit = '{LIMIT}'")
        yield con


@contextmanager
def in_plain_sight(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(
        config={"temp_directory": str(folder / "plain"), "memory_limit": LIMIT}
    ) as con:
        yield con


def read_spilled(con: duckdb.DuckDBPyConnection) -> bytes:
    [(where,)] = con.execute("SELECT current_setting('temp_directory')").fetchall()
    return b"".join(file.read_bytes() for file in Path(where).rglob("*") if file.is_file())


@pytest.mark.parametrize(
    ("connection", "readable"),
    [(by_gate, False), (by_command, False), (by_client, False), (in_plain_sight, True)],
)
def test_what_spills_cannot_be_read(
    connection: Callable[[Path], AbstractContextManager[duckdb.DuckDBPyConnection]],
    tmp_path: Path,
    *,
    readable: bool,
) -> None:
    with connection(tmp_path) as con:
        con.execute(f"CREATE TEMP TABLE kept AS {KEPT}")
        con.execute(f"CREATE TEMP TABLE later AS {NUMBERS}")
        written = read_spilled(con)
        assert len(written) > 100_000_000
        assert any(value in written for value in OF_PERSONS) == readable
        [(where,)] = con.execute("SELECT current_setting('temp_directory')").fetchall()
        assert con.execute("SELECT count(v), min(octet_length(v)) FROM kept").fetchall() == [
            (KEPT_ROWS, 32)
        ]
    assert readable or not Path(where).exists() or connection is by_command


def test_a_command_spills_nowhere_else_and_leaves_nothing(tmp_path: Path) -> None:
    here, spill, limit = tmp_path / "here", tmp_path / "spill", "200MB"
    # grouped by one thread, they need a quarter more than the limit; by two, a half
    rows = 1_000_000
    here.mkdir()
    spill.mkdir()
    file = here / "people.parquet"
    with duckdb.connect() as con:
        names = ", ".join(f"md5((i * 7 + {place})::VARCHAR) AS c{place}" for place in range(3))
        con.execute(f"COPY (SELECT {names} FROM range({rows}) AS t(i)) TO '{file}'")
    with duckdb.connect(config={"memory_limit": limit, "temp_directory": ""}) as con:
        con.execute("SET enable_progress_bar = false")
        with pytest.raises(duckdb.Error, match="Out of Memory"):  # so that what follows must spill
            con.execute(
                f"SELECT max(n) FROM (SELECT count(*) AS n FROM '{file}' GROUP BY c0, c1, c2)"
            ).fetchall()
    asked = ["risk", file.name, "--qi", "c0,c1,c2", "--memory-limit", limit, "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "reid_sql.cli", *asked],
        cwd=here,
        env=environment() | {"TMPDIR": str(spill)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["summary"]["unique_records"] == rows
    assert [left.name for left in here.iterdir()] == [file.name]
    assert not list(spill.iterdir())


def test_codes_are_found_where_the_distinct_texts_do_not_fit(tmp_path: Path) -> None:
    plain, coded = (f"'{tmp_path / name}.parquet'" for name in ("plain", "coded"))
    with duckdb.connect() as con:
        con.execute(
            f"COPY (SELECT 'x' || md5(i::VARCHAR) AS c FROM range(3_000_000) AS t(i)) TO {plain}"
        )
        con.execute(f"COPY (FROM {plain} UNION ALL SELECT '?' FROM range(3)) TO {coded}")
    with duckdb.connect(config={"memory_limit": "150MB", "temp_directory": ""}) as con:
        con.execute("SET enable_progress_bar = false")
        with pytest.raises(duckdb.OutOfMemoryException):
            con.execute(find_candidates_in_texts(plain, ["c"], in_groups=True)).fetchall()
        assert find_codes(con.sql, plain, ["c"]) == {}
        with pytest.raises(duckdb.OutOfMemoryException):  # its values are to be counted
            find_codes(con.sql, coded, ["c"])
