"""The examples for schedulers, as they stand in docs/release_gate.md.

Airflow, Dagster and Prefect are not installed for the tests: each example is compiled as it stands, then run
with the lines of its decorators replaced by nothing; what its body takes of the framework is an exception, a
dictionary or a pair of words.
"""

import __future__

import re
import textwrap
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import reid_sql

PAGE = Path(__file__).parents[2] / "docs" / "release_gate.md"
NAMES = ("Airflow", "Dagster", "Prefect")
PASSES, FAILS = (
    '{measure = "k", at_least = 2}',
    '{measure = "k", at_least = 50}, {measure = "uniqueness", at_most = 1}',
)


class StoppedError(Exception):
    """What stands for the exception by which a task of Airflow fails at once."""


def example(name: str) -> str:
    found = re.search(
        rf"^{name}, [^\n]+:\n\n((?:    [^\n]*\n|\n)+)",
        PAGE.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert found, name
    return textwrap.dedent(found[1])


def run(name: str) -> Any:
    bare = "\n".join("" if line.startswith("@") else line for line in example(name).splitlines())
    names = {
        "reid_sql": reid_sql,
        "AirflowFailException": StoppedError,
        "dg": SimpleNamespace(AssetCheckResult=dict),
        "Completed": lambda message: ("completed", message),
        "Failed": lambda message: ("failed", message),
    }
    exec(compile(bare, name, "exec", __future__.annotations.compiler_flag), names)  # noqa: S102 - of our own page
    return names["release_gate"]()  # type: ignore[operator]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "policies").mkdir()
    (tmp_path / "reports").mkdir()
    (tmp_path / "policies" / "t.csv").write_text("a\n" + "1\n2\n" * 20, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def policy(folder: Path, checks: str) -> None:
    text = f'[[tables]]\nfile = "t.csv"\nquasi_identifiers = ["a"]\nchecks = [{checks}]'
    (folder / "policies" / "people.toml").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_an_example_compiles_as_it_stands_with_its_decorator(name: str) -> None:
    text = example(name)
    compile(text, name, "exec")
    assert text.startswith("@")
    assert (
        len([line for line in text.splitlines() if line and not line.startswith(("@", "def"))]) <= 5
    )


def test_airflow_keeps_the_report_of_a_pass_and_fails_where_the_gate_does(folder: Path) -> None:
    policy(folder, PASSES)
    assert run("Airflow") == "reports/people.html"
    assert (folder / "reports" / "people.html").is_file()
    policy(folder, FAILS)
    with pytest.raises(StoppedError, match=r"FAIL: the policy is not met. 1 fail, 1 pass."):
        run("Airflow")


def test_dagster_learns_which_checks_fail(folder: Path) -> None:
    policy(folder, PASSES)
    assert run("Dagster")["passed"] is True
    policy(folder, FAILS)
    found = run("Dagster")
    assert (found["passed"], found["metadata"]) == (False, {"failed": ["k on a: 20"]})


def test_prefect_ends_in_the_state_of_the_gate(folder: Path) -> None:
    policy(folder, PASSES)
    assert run("Prefect") == ("completed", "PASS: every check is within its limit. 1 pass.")
    policy(folder, FAILS)
    assert run("Prefect")[0] == "failed"
    assert (folder / "reports" / "people.html").is_file()
