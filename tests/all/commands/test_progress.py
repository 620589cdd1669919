"""What the first tier leaves of tests/commands/test_progress.py."""

import json
import subprocess
import sys
import time
from collections.abc import Callable

from tests.commands.test_progress import LINES, RISK, Process, watched
from tests.processes import ROOT, environment


def test_what_a_policy_measures_is_reported_on_a_terminal() -> None:
    asked = ["-m", "reid_sql.cli", "check", "docs/people_release.toml", "--json"]
    code, output, shown = watched(asked, lambda *_: None)
    assert code == 1
    assert json.loads(output)["policy"]["name"] == "Town survey, public release"
    assert "people: opening" in shown


def test_a_log_gets_lines_where_it_is_asked_for() -> None:
    plain, asked = (
        subprocess.run(
            [
                sys.executable,
                "-m",
                "reid_sql.cli",
                "check",
                "docs/people_release.toml",
                "--json",
                *more,
            ],
            capture_output=True,
            env=environment(),
            cwd=ROOT,
            check=False,
        )
        for more in ([], ["--progress"])
    )
    assert (plain.returncode, plain.stderr) == (1, b"")
    assert (asked.returncode, asked.stdout) == (1, plain.stdout)
    lines = asked.stderr.decode().splitlines()
    assert [
        line for line in lines if line.endswith(("of 5)", "opening"))
    ] == [  # others show the time
        "people: opening",
        *(
            f"people: {measure} ({place} of 5)"
            for place, measure in enumerate(
                ["k", "records_at_risk", "population_correctness", "k", "l_diversity"], 1
            )
        ),
    ]
    assert b"\x1b" not in asked.stderr
    assert b"\r" not in asked.stderr


def test_a_terminal_shows_nothing_where_nothing_is_wanted() -> None:
    def people(process: Process, until: Callable[[str], None]) -> None:  # noqa: ARG001 - nothing is shown
        assert process.stdin is not None
        time.sleep(2.5)
        process.stdin.write(LINES)

    call = ["-m", "reid_sql.cli", "risk", "-", "--qi", "age,sex", "--json"]
    code, output, shown = watched([*call, "--no-progress"], people)
    assert (code, json.loads(output)["summary"]["k"], shown) == (0, 10, "")


def test_a_command_without_standard_error_answers() -> None:
    words = " ".join([sys.executable, *RISK, "2>&-"])
    done = subprocess.run(
        ["sh", "-c", words],  # noqa: S607
        capture_output=True,
        env=environment(),
        cwd=ROOT,
        check=True,
    )
    assert json.loads(done.stdout)["summary"]["k"] == 1
