"""The repository that the hub of dbt wants is complete: its project installs it, and each test answers."""

import subprocess
from pathlib import Path

import pytest

from tests.all.dbt.running import dbt

pytestmark = pytest.mark.dbt
MISSED = {"six_people_are_fewer_than_seven", "three_diagnoses_are_not_four"}


def test_the_package_that_is_written_passes_its_own_project(tmp_path: Path, root: Path) -> None:
    package = tmp_path / "dbt-reid-sql"
    make = ["make", "-s", "dbt-package", f"DBT_PACKAGE={package}"]
    subprocess.run(make, cwd=root, check=True, capture_output=True)
    assert {each.name for each in package.iterdir()} == {
        "LICENSE",
        "NOTICE",
        "README.md",
        "dbt_project.yml",
        "integration_tests",
        "macros",
    }
    project = package / "integration_tests"
    dbt(project, root, "deps")
    results = dbt(project, root, "build")
    statuses = {name: result["status"] for name, result in results.items()}
    assert statuses.pop("people") == "success"
    assert statuses == {name: "warn" if name in MISSED else "pass" for name in statuses}
    tests = {path.stem for path in (package / "macros").glob("reid_*.sql")} - {"reid_policy"}
    declared = (project / "seeds" / "schema.yml").read_text(encoding="utf-8")
    assert {name for name in tests if f"reid_sql.{name}:" in declared} == tests
    assert {name for name in tests if f"`{name}`" in (package / "README.md").read_text()} == tests
