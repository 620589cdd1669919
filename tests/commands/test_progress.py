"""What a person sees who waits at a terminal, and that nobody else sees it."""

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from threading import Thread

from reid_sql.commands.parser import parser
from tests.processes import ROOT, environment

LINES = "age,sex\n" + "30,F\n31,M\n" * 10
ERASED = "\x1b[2K"  # what is shown of progress goes
SHOWN = "\x1b[?25h"  # and the cursor comes back

Process = subprocess.Popen[str]


def watched(
    arguments: list[str], stdin: Callable[[Process, Callable[[str], None]], None]
) -> tuple[int, str, str]:
    """Run Python with a terminal for standard error alone: its exit code, its output, and what was shown."""
    master, slave = pty.openpty()
    shown = ""
    pipe = subprocess.PIPE
    reported = environment() | {"TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(
        [sys.executable, *arguments],
        stdin=pipe,
        stdout=pipe,
        stderr=slave,
        env=reported,
        cwd=ROOT,
        text=True,
    ) as process:
        os.close(slave)

        def until(words: str) -> None:
            nonlocal shown
            while words not in shown:
                shown += os.read(master, 4096).decode(errors="replace")

        stdin(process, until)
        assert process.stdin is not None
        process.stdin.close()
        rest: list[str] = []
        reader = Thread(target=_drain, args=(master, rest))
        reader.start()
        assert process.stdout is not None
        output = process.stdout.read()
        code = process.wait()
        reader.join()
    os.close(master)
    return code, output, shown + "".join(rest)


def _drain(master: int, into: list[str]) -> None:
    """Read what is shown until nobody can show more."""
    try:
        while part := os.read(master, 4096):
            into.append(part.decode(errors="replace"))
    except OSError:  # so ends a terminal on Linux
        return


def test_a_command_that_still_reads_says_so_and_takes_it_back_before_it_answers() -> None:
    def people(process: Process, until: Callable[[str], None]) -> None:
        until("reading")
        assert process.stdin is not None
        process.stdin.write(LINES)

    call = ["-m", "reid_sql.cli", "risk", "-", "--qi", "age,sex", "--json"]
    code, output, shown = watched(call, people)
    assert code == 0
    assert json.loads(output)["summary"]["k"] == 10
    assert shown.rfind(ERASED) > shown.rfind("reading")
    assert shown.endswith(SHOWN) or shown.rfind(SHOWN) > shown.rfind("reading")


def test_what_python_computes_between_statements_is_shown_too() -> None:
    code = (
        "import sys; from reid_sql.terminal import progress; progress.begin('one \\x1b[31m');"
        "progress.report('two'); sys.stdin.read(); progress.end(); print('answer')"
    )
    ended, output, shown = watched(["-c", code], lambda _, until: until("0:00:0"))
    assert (ended, output) == (0, "answer\n")
    assert "\x1b[31m" not in shown
    assert shown.index("two") < shown.index("0:00:0") < shown.rindex(ERASED)


def test_a_step_shows_how_far_it_is() -> None:
    code = (
        "import sys; from reid_sql.terminal import progress\n"
        "with progress.step('halfway', lambda: 50.0): sys.stdin.read()\nprint('answer')"
    )
    ended, output, shown = watched(["-c", code], lambda _, until: until(" 50 %"))
    assert (ended, output) == (0, "answer\n")
    assert "halfway" in shown
    assert " 50 %" in shown
    assert shown.rindex(ERASED) > shown.rindex(" 50 %")


PEOPLE = "reid_sql/demo/people.csv"
RISK = ["-m", "reid_sql.cli", "risk", PEOPLE, "--qi", "age,sex,postcode", "--json"]


def test_a_log_tells_what_is_done_how_far_it_is_and_for_how_long() -> None:
    code = (
        "from reid_sql.terminal import progress; progress.configure(True)\n"
        "progress.begin('one \\x1b[31m'); input()\n"
        "with progress.step('two', lambda: 50.0): input()\n"
        "progress.end(); print('answer')"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        env=environment(),
        cwd=ROOT,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        shown = []
        for _ in range(2):  # it goes on when the line was read
            shown.append(process.stderr.readline())
            print(file=process.stdin, flush=True)
        assert process.communicate() == ("answer\n", "")
    assert re.fullmatch(r"one \\x1b\[31m, 0:\d\d:\d\d\n", shown[0])
    assert re.fullmatch(r"two, 50 %, 0:\d\d:\d\d\n", shown[1])


def test_every_command_that_counts_takes_the_same_switch() -> None:
    made = parser()
    (commands,) = (each.choices for each in made._actions if isinstance(each.choices, dict))  # noqa: SLF001
    reported = {}
    for name, command in commands.items():
        members = {word: each for each in command._actions for word in each.option_strings}  # noqa: SLF001
        reported[name] = [
            members[word].help for word in ("--progress", "--no-progress") if word in members
        ]
    at_once = {name for name, words in reported.items() if not words}
    assert at_once == {"functions", "sql", "completion", "serve"}
    assert len({tuple(words) for name, words in reported.items() if name not in at_once}) == 1
    assert all(len(words) == 2 for name, words in reported.items() if name not in at_once)


def test_nobody_else_sees_progress() -> None:
    code = (
        "import time; from reid_sql.terminal import progress; progress.begin('one'); progress.report('two')\n"
        "with progress.step('three', lambda: 50.0): time.sleep(1.3)\nprogress.end()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, env=environment(), cwd=ROOT, check=True
    )
    assert (done.stdout, done.stderr) == (b"", b"")
