"""A table that contains each row several times: a caution of the gate and of the command."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from reid_sql.check import gate
from reid_sql.cli import main

POLICY = """cautions = "refuse"
mask_below = 3
[[tables]]
file = "{}"
quasi_identifiers = ["age", "town"]
{}
[[tables.checks]]
measure = "average_risk"
at_most = 0.999
"""


def people(copies: int) -> pl.DataFrame:
    draw = np.random.default_rng(1)
    rows = pl.DataFrame({"age": draw.integers(0, 60, 300), "town": draw.choice(["a", "b"], 300)})
    return pl.concat([rows] * copies)


def checked(folder: Path, table: pl.DataFrame, entity: str = "") -> Any:
    table.write_parquet(folder / "people.parquet")
    policy = folder / "policy.toml"
    policy.write_text(POLICY.format(folder / "people.parquet", entity), encoding="utf-8")
    return gate.run(policy).page["checks"][0]


@pytest.mark.parametrize("copies", [2, 5])
def test_the_gate_does_not_judge_a_table_that_was_appended_to_itself(
    tmp_path: Path, copies: int
) -> None:
    check = checked(tmp_path, people(copies))
    assert check["verdict"] != "pass"
    assert "repeated_rows" in check["caution_codes"]


def test_the_gate_judges_the_table_itself_and_its_people(tmp_path: Path) -> None:
    assert checked(tmp_path, people(1))["verdict"] == "pass"
    numbered = people(1).with_row_index("pid").with_columns(pid="P" + pl.col("pid").cast(pl.String))
    check = checked(tmp_path, pl.concat([numbered] * 2), 'entity = "pid"')
    assert "repeated_rows" not in check["caution_codes"]


def test_the_command_gives_the_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for copies in (1, 3):
        people(copies).write_parquet(tmp_path / "people.parquet")
        main(["risk", str(tmp_path / "people.parquet"), "--qi", "age,town", "--format", "json"])
        counted = json.loads(capsys.readouterr().out)["counted"]
        assert ("the table had each row 3 times" in counted) == (copies == 3)
