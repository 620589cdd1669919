"""What shells offer behind reid-sql, asked of a real bash and held against the help."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from reid_sql_udfs import declared
from tests.cells import each_cell
from tests.processes import command

SHELLS = ("bash", "zsh", "fish")
ASK = (
    'eval "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _shtab_reid_sql; '
    'printf "%s\\n" "${COMPREPLY[@]}"'
)


@pytest.fixture(scope="module")
def bash() -> str:
    return command("completion", "bash").stdout


def offered(script: str, folder: Path, *words: str) -> list[str]:
    """What bash offers for the last of the words."""
    call = ["bash", "--norc", "-c", ASK, "bash", script, "reid-sql", *words]
    done = subprocess.run(call, capture_output=True, text=True, check=True, cwd=folder)
    return done.stdout.split()


def help_text(*arguments: str) -> str:
    return command(*arguments, "--help").stdout


COMMANDS = re.findall(r"^    ([a-z-]+)\s", help_text(), re.MULTILINE)


def test_the_commands_are_offered(bash: str, tmp_path: Path) -> None:
    assert len(COMMANDS) > 10
    assert sorted(offered(bash, tmp_path, "")) == sorted(COMMANDS)
    assert offered(bash, tmp_path, "pro") == ["profile"]


@each_cell("name", COMMANDS)
def test_every_option_of_a_command_is_offered_by_every_shell(
    bash: str, tmp_path: Path, name: str
) -> None:
    page = help_text(name)
    lines = re.findall(r"^  (?:-h, )?(--[a-z-]+)(?:, (--[a-z-]+))?", page, re.MULTILINE)
    named = {option for line in lines for option in line if option}
    assert named == {word for word in offered(bash, tmp_path, name, "-") if word != "-h"}


def lines_of_zsh(script: str, name: str) -> str:
    return script.split(f"_shtab_reid_sql_{name.replace('-', '_')}_options=(\n")[1].split(
        "\n)\n", maxsplit=1
    )[0]


def lines_of_fish(script: str, name: str) -> str:
    own = re.compile(rf"'_shtab_reid_sql_using {name}['; ]")
    return "\n".join(line for line in script.splitlines() if own.search(line))


@pytest.mark.parametrize(
    ("shell", "lines_of", "option"),
    [("zsh", lines_of_zsh, r"--{}[\[}},]"), ("fish", lines_of_fish, r"-l {}(?![\w-])")],
)
def test_the_other_shells_name_every_option_too(
    shell: str, lines_of: Callable[[str, str], str], option: str
) -> None:
    script = command("completion", shell).stdout
    for name in COMMANDS:
        lines = lines_of(script, name)
        for word in re.findall(r"^  (?:-\S+, )?--([a-z-]+)", help_text(name), re.MULTILINE):
            assert re.search(option.format(word), lines), (name, word)


def test_values_are_the_choices_or_files_or_nothing(bash: str, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age\n1\n", encoding="utf-8")
    assert offered(bash, tmp_path, "risk", "--format", "") == ["table", "json", "csv"]
    assert offered(bash, tmp_path, "risk", "--format", "c") == ["csv"]
    assert offered(bash, tmp_path, "risk", "peo") == ["people.csv"]
    assert offered(bash, tmp_path, "check", "--html", "peo") == ["people.csv"]
    assert offered(bash, tmp_path, "risk", "--qi", "") == []
    assert offered(bash, tmp_path, "functions", "pyc_f") == [
        n for n in declared() if n.startswith("pyc_f")
    ]
    assert tuple(offered(bash, tmp_path, "completion", "")) == SHELLS


def test_a_shell_that_is_none_is_refused() -> None:
    refused = command("completion", "fisch")
    assert refused.returncode == 2
    assert "did you mean 'fish'?" in refused.stderr
