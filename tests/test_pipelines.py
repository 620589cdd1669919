"""What is written for pipelines is parsed, and the commands in it run."""

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

PAGE = Path(__file__).parents[1] / "docs" / "pipelines.md"
POLICY = """
[[tables]]
file = "people.csv"
quasi_identifiers = ["sex", "postcode"]

[[tables.checks]]
measure = "k"
at_least = {k}
"""


def documents() -> list[dict[str, Any]]:
    return [
        yaml.safe_load(block)
        for block in re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    ]


def of(key: str) -> dict[str, Any]:
    return next(document for document in documents() if key in document)


@pytest.mark.parametrize(("k", "code"), [(5, 0), (500, 1)])
def test_the_commands_of_pre_commit_and_actions_pass_and_fail_by_the_policy(
    tmp_path: Path, root: Path, k: int, code: int
) -> None:
    (tmp_path / "policy.toml").write_text(POLICY.format(k=k))
    (tmp_path / "people.csv").write_bytes((root / "reid_sql" / "demo" / "people.csv").read_bytes())
    (hook,) = of("repos")["repos"][0]["hooks"]
    steps = of("jobs")["jobs"]["re-identification"]["steps"]
    commands = [
        hook["entry"],
        *(step["run"] for step in steps if step.get("run", "").startswith("reid-sql")),
    ]
    assert len(commands) == 2
    for command in commands:
        words = [sys.executable, "-m", "reid_sql.cli", *shlex.split(command)[1:]]
        environment = {"PYTHONPATH": f"{root}:{root / 'udfs'}", "PATH": "/usr/bin:/bin"}
        done = subprocess.run(
            words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stderr
    assert all((tmp_path / f"reid.{kind}").is_file() for kind in ("json", "xml", "html"))
    assert re.search(hook["files"], "people.csv")
    assert not hook["pass_filenames"]


def test_the_snippets_for_dbt_are_those_that_the_tests_run(root: Path) -> None:
    project = root / "tests" / "all" / "dbt" / "project"
    assert of("packages") == yaml.safe_load((project / "packages.yml").read_text())
    plugins = of("town")["town"]["outputs"]["dev"]["plugins"]
    assert (
        plugins
        == yaml.safe_load((project / "profiles.yml").read_text())["town"]["outputs"]["dev"][
            "plugins"
        ]
    )
    shipped = {path.stem for path in (root / "reid_sql" / "dbt" / "macros").glob("reid_*.sql")}
    assert (
        set(re.findall(r"^\| `(reid_\w+)`", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
        == shipped
    )
    named = {name for test in of("models")["models"][0]["data_tests"] for name in test}
    assert named <= {f"reid_sql.{name}" for name in shipped}
