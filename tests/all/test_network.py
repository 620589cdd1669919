"""No command that reads a file, and no function, opens a connection to another machine."""

import subprocess
import sys
from pathlib import Path

import pytest

from reid_sql import demo

# The interpreter itself reports each socket that its process makes or resolves, in whatever module.
HOOK = """
import sys
asked = []
def hook(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto", "urllib.Request"):
        asked.append(event)
sys.addaudithook(hook)
{body}
print("ASKED", asked)
"""
COMMAND = "from reid_sql.cli import main; main({})"
POLARS = (
    "import reid_sql.polars as rp; rp.population_risk(rp.demo_people(), ['age', 'sex'], [1e5])"
    ".collect()"
)
CONTROL = "import urllib.request\ntry: urllib.request.urlopen('http://127.0.0.1:9/')\nexcept OSError: pass"


def run(body: str, folder: Path) -> str:
    command = [sys.executable, "-c", HOOK.format(body=body)]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return found.stdout.rpartition("ASKED ")[2].strip()


@pytest.mark.parametrize("name", ["report", "risk", "init"])
def test_a_command_on_a_file_asks_no_other_machine(tmp_path: Path, name: str) -> None:
    options = ["--qi", "age,sex", "--population", "100000"] if name == "risk" else []
    output = ["--output", "made.policy.toml"] if name == "init" else []
    body = COMMAND.format([name, str(demo.people()), *options, *output])
    assert run(body, tmp_path) == "[]"


def test_polars_asks_no_other_machine(tmp_path: Path) -> None:
    assert run(POLARS, tmp_path) == "[]"


def test_a_process_that_asks_is_seen(tmp_path: Path) -> None:
    assert "socket.connect" in run(CONTROL, tmp_path)
