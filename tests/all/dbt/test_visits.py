"""dbt's tests of visits: each warns that a row is perhaps not a person, also where it passes."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from reid_sql.models.columns.direct_identifiers import IDENTIFIER_NAME
from tests.all.dbt.running import dbt

HERE = Path(__file__).parent
QI = {"quasi_identifiers": ["age", "sex"]}
VALUES = QI | {"sensitive": "diagnosis"}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "k_anonymity": QI | {"k": 5},
    "records_at_risk": QI,
    "uniqueness": QI,
    "average_risk": QI | {"at_most": 0.5},
    "l_diversity": VALUES | {"l": 1},
    "t_closeness": VALUES | {"t": 1},
    "alpha_k_anonymity": VALUES | {"alpha": 1},
    "journalist_risk": QI | {"population": "ref('visits')"},
    "no_worse": QI | {"before": "ref('visits')"},
    "policy": {"policy": "policy.toml"},
}
HINT = "Column 'patient_id' looks like an identifier and repeats (400 values in 4,800 rows)"
MODEL = """{{ config(materialized='table') }}
select range // 12 as patient_id, 20 + range // 12 % 5 as age, range // 12 % 2 as sex, range % 3 as diagnosis
from range(4800)
"""
POLICY = """
[[tables]]
name = "visits"
file = "visits.parquet"
quasi_identifiers = ["age", "sex"]
checks = [{measure = "k", at_least = 5}]
"""


@pytest.mark.dbt
def test_each_test_warns_of_visits(tmp_path: Path, root: Path) -> None:
    folder = tmp_path / "visits"
    shutil.copytree(
        HERE / "project", folder, ignore=shutil.ignore_patterns("models", "target", "logs")
    )
    macros = {
        each.stem.removeprefix("reid_")
        for each in (root / "reid_sql/dbt/macros").glob("reid_*.sql")
    }
    assert macros == ARGUMENTS.keys()
    (folder / "models").mkdir()
    (folder / "models" / "visits.sql").write_text(MODEL, encoding="utf-8")
    (folder / "policy.toml").write_text(POLICY, encoding="utf-8")
    tests = [
        {f"reid_sql.reid_{name}": {"name": f"of_{name}", "arguments": given}}
        for name, given in ARGUMENTS.items()
    ]
    of_person = {"name": "of_person", "arguments": {"quasi_identifiers": ["age", "patient_id"]}}
    # its classes are the rows of one person each
    tests.append({"reid_sql.reid_uniqueness": of_person})
    page = {"models": [{"name": "visits", "data_tests": tests}]}
    (folder / "models" / "schema.yml").write_text(yaml.safe_dump(page), encoding="utf-8")
    dbt(folder, root, "deps")
    answers = dbt(folder, root, "build", "--threads", "1")
    asked = [*ARGUMENTS, "person"]
    passed = {f"of_{name}": "pass" for name in asked}
    assert {name: each["status"] for name, each in answers.items()} == {
        "visits": "success",
        **passed,
    }
    log = (folder / "logs" / "dbt.log").read_text(encoding="utf-8")
    _, *parts = re.split(r"START test of_(\w+)", log)  # one test after the other
    warned = {name: HINT in said for name, said in zip(parts[::2], parts[1::2], strict=True)}
    assert warned == dict.fromkeys(asked, True)


def test_its_names_of_identifiers_are_those_of_the_profile(root: Path) -> None:
    text = (root / "reid_sql" / "dbt" / "macros" / "rows.sql").read_text(encoding="utf-8")
    written = text.partition("macro identifier_in")[2].partition("{% do return")[0]
    texts: dict[str, str] = {}
    for part in written.split("{% set ")[1:]:
        name, _, parts = part.partition("%}")[0].partition("=")
        pieces = re.findall(r"'([^']*)'|(\w+)", parts)
        texts[name.strip()] = "".join(texts[named] if named else piece for piece, named in pieces)
    assert texts["words"].replace("\\\\", "\\") == IDENTIFIER_NAME.pattern
