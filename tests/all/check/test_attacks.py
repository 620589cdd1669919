"""What the first tier leaves of tests/check/test_attacks.py."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb

from tests.check.test_attacks import K
from tests.processes import command, environment

HOSTILE = [
    "\x1b[31mred",
    "\x9b31m",
    "\u202eabc",
    "two\nlines",
    "\x07bell",
    "\u200bzero",
    "\r\x1b]0;title\x07",
]


def test_no_control_character_reaches_a_terminal(tmp_path: Path) -> None:
    with duckdb.connect() as con:
        con.execute("CREATE TABLE t AS SELECT 1 AS x")
        for place, each in enumerate(HOSTILE):
            con.execute(f"ALTER TABLE t ADD COLUMN \"{each}\" VARCHAR DEFAULT '{each}{place}'")
        con.execute(f"COPY (SELECT t.* FROM t, range(40)) TO '{tmp_path}/t.parquet'")
    names = json.dumps(HOSTILE[:3])
    by = json.dumps(HOSTILE[3:])
    for name, checks in (
        ("fails", '{measure = "k", at_least = 1000, by = %s}'),
        ("refused", '{measure = "k", at_least = 1, by = %s}'),
    ):
        columns = names if name == "fails" else json.dumps(["\x1b[2Jnone"])
        written_: dict[str, Any] = {
            "name": "\x1b[32m\u202ePASS",
            "tables": [
                {"file": "t.parquet", "name": "\x1b[1mt", "quasi_identifiers": json.loads(columns)}
            ],
        }
        written_["tables"][0]["checks"] = [
            {"measure": "k", "at_least": 1000 if name == "fails" else 1, "by": json.loads(by)}
        ]
        assert checks
        (tmp_path / f"{name}.json").write_text(json.dumps(written_), encoding="utf-8")
    calls = [
        ["check", str(tmp_path / "fails.json")],
        ["check", str(tmp_path / "fails.json"), "--json"],
        ["check", str(tmp_path / "refused.json")],
        ["check", str(tmp_path / "\x1b[31mno.toml")],
        ["risk", str(tmp_path / "t.parquet"), "--qi", f'"{HOSTILE[0]}"', "--stand-out", "1"],
        [
            "risk",
            str(tmp_path / "t.parquet"),
            "--qi",
            f'"{HOSTILE[0]}"',
            "--json",
            "--stand-out",
            "1",
        ],
        ["risk", str(tmp_path / "t.parquet"), "--qi", "\x1b[31m"],
    ]
    for call in calls:
        done = command(*call)
        assert "Traceback" not in done.stderr
        for shown in (done.stdout, done.stderr):
            assert not {
                letter
                for letter in shown
                if (ord(letter) < 32 and letter != "\n") or 0x7F <= ord(letter) < 0xA0
            }, call
            assert not set(shown) & set("\u202e\u200b"), call


def test_sigterm_cleans_up_and_the_next_run_sweeps_what_a_kill_left(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "slow.duckdb") as con:
        con.execute(
            "CREATE VIEW slow AS SELECT hash(i) % 7 AS a FROM "
            "range(100000000000) t(i) WHERE hash(i) % 1003 = 1"
        )
    text_ = f'[[tables]]\nfile = "slow.duckdb"\nquasi_identifiers = ["a"]\nchecks = [{K}]'
    (tmp_path / "p.toml").write_text(text_, encoding="utf-8")
    spill = tmp_path / "spill"
    spill.mkdir()
    where = environment() | {"TMPDIR": str(spill)}
    for how, code, left in ((signal.SIGKILL, -signal.SIGKILL, 2), (signal.SIGTERM, 143, 0)):
        call = [sys.executable, "-m", "reid_sql.cli", "check", str(tmp_path / "p.toml")]
        known = set(spill.iterdir())
        with subprocess.Popen(call, env=where, stderr=subprocess.PIPE, text=True) as process:
            while not set(spill.iterdir()) - known:
                time.sleep(0.1)
            time.sleep(2)
            process.send_signal(how)
            assert process.wait(timeout=60) == code
        assert len(list(spill.iterdir())) == left
