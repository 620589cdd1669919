"""DuckDB draws the progress of a long query on standard output, which programs read as an answer."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from reid_sql.commands.serve import open_data
from reid_sql.serve.masks import Mask
from reid_sql.serve.server import Answerer
from reid_sql.sources.files import connect_quietly
from reid_sql.sources.warehouse import warehouse


def make_file(folder: Path) -> Path:
    with duckdb.connect(folder / "people.duckdb") as con:
        con.execute("CREATE TABLE people AS FROM range(20) AS r(age)")
    return folder / "people.duckdb"


@contextmanager
def open_connection(kind: str, folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    file = make_file(folder)
    if kind == "file":
        yield connect_quietly()
    elif kind == "warehouse":
        with warehouse("source", f"duckdb://{file}", folder) as opened:
            yield opened.backend.con
    else:
        data = open_data([str(file)], [], None)
        yield data if kind == "served" else Answerer(data, Mask(), 10).public


PRINTS = "SELECT current_setting('enable_progress_bar_print')"
LONG = "SELECT count(DISTINCT hash(range)) FROM range(3000000)"


@pytest.mark.parametrize("kind", ["file", "warehouse", "served", "clients"])
def test_a_connection_is_quiet(kind: str, tmp_path: Path) -> None:
    with open_connection(kind, tmp_path) as con:
        assert con.execute(PRINTS).fetchall() == [(False,)]
        assert con.cursor().execute(PRINTS).fetchall() == [(False,)]


@pytest.mark.parametrize("kind", ["served", "of a user"])
def test_a_long_query_prints_nothing(
    kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with open_connection(kind, tmp_path) if kind == "served" else duckdb.connect() as con:
        con.execute("SET progress_bar_time = 1; SET threads = 1")
        con.execute(LONG).fetchall()
    assert bool(capfd.readouterr().out) == (kind != "served")
