"""dbt reads the tags that `check --tags` writes, and `init` reads them again from what dbt writes."""

import json
import tomllib
from pathlib import Path

import pytest

from tests.all.dbt.running import dbt
from tests.commands.test_catalogue import ROLES, people
from tests.processes import command

pytestmark = pytest.mark.dbt
POLICY = """[[tables]]
file = "people.csv"
quasi_identifiers = ["age", "sex"]
sensitive = ["ward"]
left_out = ["code", "home"]
entity = "pid"
checks = [{ measure = "k", at_least = 2 }]
"""
PROFILE = "tried: {target: t, outputs: {t: {type: duckdb, path: tried.duckdb}}}"


def test_tags_go_through_dbt_and_come_back(tmp_path: Path, root: Path) -> None:
    people(tmp_path)
    (tmp_path / "p.toml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "people.sql").write_text("SELECT 1 AS age", encoding="utf-8")
    (tmp_path / "dbt_project.yml").write_text("{name: tried, profile: tried}", encoding="utf-8")
    (tmp_path / "profiles.yml").write_text(PROFILE, encoding="utf-8")
    command("check", "p.toml", "--tags", "models/schema.yml", folder=tmp_path)
    dbt(tmp_path, root, "parse")
    manifest = json.loads((tmp_path / "target" / "manifest.json").read_text(encoding="utf-8"))
    columns = manifest["nodes"]["model.tried.people"]["columns"]
    roles = ROLES | {"home": "identifier"}
    assert {name: each["tags"] for name, each in columns.items()} == {
        name: [role] for name, role in roles.items()
    }
    done = command("init", "people.csv", "--catalogue", "target/manifest.json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    policy = tomllib.loads((tmp_path / "people.policy.toml").read_text(encoding="utf-8"))
    wanted = tomllib.loads(POLICY)["tables"][0]
    assert {name: policy["tables"][0].get(name) for name in wanted if name != "checks"} == {
        name: value for name, value in wanted.items() if name != "checks"
    }
