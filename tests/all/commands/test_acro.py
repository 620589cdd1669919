"""ACRO itself loads what `--acro` writes: a Python that has it is named by REID_SQL_ACRO_PYTHON."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from reid_sql.cli import main

PYTHON = os.environ.get("REID_SQL_ACRO_PYTHON")
LOAD = """
import json, sys
from acro.record import load_records
record = load_records(sys.argv[1]).results["output_0"]
table = record.output[0]
cells = record.sdc["cells"]["MinimumThresholdCheck"]
print(json.dumps([record.status, record.fair["statbarn"], [int(table["records"][row]) for row, _ in cells]]))
"""


@pytest.mark.skipif(
    PYTHON is None, reason="REID_SQL_ACRO_PYTHON names no Python that has acro 1.0.2"
)
@pytest.mark.parametrize(("value", "kind"), [(None, "Frequencies"), ("pay", "LinearAggregations")])
def test_the_loader_of_acro_reads_the_cells_below_the_threshold(
    tmp_path: Path, value: str | None, kind: str
) -> None:
    lines = [
        f"{region},{sex},{pay}"
        for region in "NS"
        for sex, n in (("F", 12), ("M", 3))
        for pay in range(n)
    ]
    (tmp_path / "people.csv").write_text(
        "\n".join(["region,sex,pay", *lines]) + "\n", encoding="utf-8"
    )
    asked = ["--by", "region,sex", "--totals", "margins", "--acro", str(tmp_path / "outputs")]
    asked += ["--value", value] if value else []
    assert main(["safe", str(tmp_path / "people.csv"), *asked]) == 0
    loaded = subprocess.run(
        [str(PYTHON), "-c", LOAD, str(tmp_path / "outputs")],
        check=True,
        capture_output=True,
        text=True,
    )
    assert json.loads(loaded.stdout) == ["fail", kind, [3, 3]]
