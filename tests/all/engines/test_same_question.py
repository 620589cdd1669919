"""docs/same_question.py answers as it says, on the real engines."""

import ast
import csv
import runpy
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from reid_sql import demo


def by_hand() -> dict[str, Any]:
    """What somebody who goes through the file finds."""
    diagnoses: dict[Any, Counter[str]] = defaultdict(Counter)
    with Path(demo.people()).open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            diagnoses[row["age"], row["sex"], row["postcode"]][row["diagnosis"]] += 1
    sizes = [members.total() for members in diagnoses.values()]
    alike = sum(members.total() for members in diagnoses.values() if len(members) == 1)
    return {
        "records": sum(sizes),
        "k": min(sizes),
        "unique": sizes.count(1),
        "of one diagnosis": alike,
    }


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_duckdb_polars_and_spark_answer_with_the_same_figures(
    postgres: str, root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = root / "docs" / "same_question.py"
    monkeypatch.setattr(sys, "argv", [str(script), f"postgres://reid@/postgres?host={postgres}"])
    runpy.run_path(str(script), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    engines, answers = zip(*(line.split(maxsplit=1) for line in lines), strict=True)
    assert engines == ("DuckDB", "PostgreSQL", "Spark")
    reported = [ast.literal_eval(answer) for answer in answers]
    assert reported[0] == reported[1] == reported[2]
    assert by_hand().items() <= reported[0].items()
    shown = (root / "docs" / "warehouses.md").read_text(encoding="utf-8")
    assert "".join(f"    {line}\n" for line in lines) in shown
