"""Run Python or the command in a process of its own, as a user does."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def environment() -> dict[str, str]:
    return os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "udfs")]),
        "PYTHONIOENCODING": "utf-8",
    }


def python(code: str) -> str:
    """Run the code; its output, or a failure that shows what went wrong."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment(),
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def command(*arguments: str, stdin: str = "", columns: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run reid-sql with these arguments, on a page of so many columns."""
    call = [sys.executable, "-m", "reid_sql.cli", *arguments]
    return subprocess.run(
        call,
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment() | ({"COLUMNS": str(columns)} if columns else {}),
        cwd=ROOT,
        check=False,
    )
