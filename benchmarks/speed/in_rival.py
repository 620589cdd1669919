"""What another program takes, in the environment that `make bench` installs for it.

A rival prints one line of JSON: its answer, and what the counting alone took, without imports and reading.
"""

import json
import subprocess
from pathlib import Path
from typing import Any, Final

from benchmarks.speed.stopwatch import Stopwatch

ROOT: Final = Path(__file__).parents[2]
FRAME: Final = """
import json, os, resource, sys, time
given = json.load(sys.stdin)
{prepare}
begun = time.perf_counter(), time.process_time()
{work}
seconds = time.perf_counter() - begun[0], time.process_time() - begun[1]
os.write(1, b"\\n" + json.dumps([*seconds, answer]).encode())
"""


def python_of(environment: str) -> Path:
    """The Python of an environment of rivals, which may not be installed."""
    return ROOT / ".venv" / environment / "bin" / "python"


def run(
    environment: str, prepare: str, work: str, given: dict[str, Any]
) -> tuple[Stopwatch, dict[str, int]]:
    """Run the work after what it is prepared with."""
    code = FRAME.format(prepare=prepare, work=work)
    command = [str(python_of(environment)), "-c", code]
    done = subprocess.run(
        command, input=json.dumps(given), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().rpartition("\n")[2])
    took = Stopwatch()
    took.seconds, took.cpu_seconds, answer = json.loads(done.stdout.rpartition("\n")[2])
    return took, answer
