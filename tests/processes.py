"""Run Python or the command as a user does."""

import io
import os
import signal
import subprocess
import sys
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from reid_sql.cli import main
from reid_sql.engines import registry

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


def process(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run reid-sql with these arguments in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "reid_sql.cli", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment(),
        cwd=ROOT,
        check=False,
    )


def command(
    *arguments: str, stdin: str = "", columns: int | None = None, folder: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    """Run reid-sql with these arguments in this process, on a page of so many columns.

    It starts as a process does: in the folder, the root unless named, with streams of its own and without
    fitted models. What hangs on a true process (signals, pipes, encodings, what is
    imported) is tested with `process`.
    """
    printed = [io.BytesIO(), io.BytesIO()]
    out, err = (io.TextIOWrapper(page, encoding="utf-8", write_through=True) for page in printed)
    with ExitStack() as surroundings:
        patch = surroundings.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8"))
        patch.setattr(registry, "_MODELS", {})
        if columns:
            patch.setenv("COLUMNS", str(columns))
        surroundings.enter_context(chdir(folder))
        surroundings.enter_context(redirect_stdout(out))
        surroundings.enter_context(redirect_stderr(err))
        surroundings.callback(signal.signal, signal.SIGTERM, signal.getsignal(signal.SIGTERM))
        try:
            code: object = main(arguments)
        except SystemExit as ended:
            code = ended.code
    code = code if isinstance(code, int) else 0
    return subprocess.CompletedProcess(
        arguments, code, *(page.getvalue().decode() for page in printed)
    )
