import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from tests.processes import ROOT, environment


@pytest.mark.parametrize("verb", ["check", "prepare"])
def test_ctrl_c_stops_at_once_and_leaves_nothing_behind(tmp_path: Path, verb: str) -> None:
    with duckdb.connect(tmp_path / "slow.duckdb") as con:
        con.execute(
            "CREATE VIEW slow AS SELECT hash(i) % 7 AS a FROM "
            "range(100000000000) t(i) WHERE hash(i) % 1003 = 1"
        )
    text = (
        '[[tables]]\nfile = "slow.duckdb"\nquasi_identifiers = ["a"]\nchecks = [{measure = "k", at_least = '
        "2}]"
    )
    (tmp_path / "p.toml").write_text(text, encoding="utf-8")
    spill = tmp_path / "spill"
    spill.mkdir()
    call = [sys.executable, "-m", "reid_sql.cli", verb, str(tmp_path / "p.toml")]
    with subprocess.Popen(
        call,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment() | {"TMPDIR": str(spill)},
        cwd=ROOT,
        text=True,
    ) as process:
        while not list(spill.iterdir()):
            time.sleep(0.1)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stderr is not None
        assert process.stderr.read() == "reid-sql: stopped\n"
    assert not list(spill.iterdir())
