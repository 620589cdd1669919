"""What the first tier leaves of tests/commands/test_inputs.py."""

import json
from pathlib import Path

import pytest

from reid_sql.cli import main
from tests.check.towns import PEOPLE
from tests.commands.test_inputs import refusal, summary


def test_a_pattern_is_one_where_it_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for town in ("01", "1"):
        folder = tmp_path / "towns" / f"town={town}"
        folder.mkdir(parents=True)
        (folder / "people.csv").write_bytes(PEOPLE.read_bytes())
    pattern = str(tmp_path / "towns" / "*" / "*.csv")
    both, one = summary(capsys, pattern, "--files"), summary(capsys, str(PEOPLE))
    assert (both["records"], both["k"], both["classes"]) == (2 * one["records"], 2, one["classes"])
    assert main(["risk", pattern, "--files", "--qi", "town", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["summary"]["classes"] == 2  # 01 and 1 are two towns
    assert "pass --files where it is a pattern of files" in refusal(capsys, pattern)
    deep = f"{tmp_path}/towns/**/*.csv"
    assert f"pass --files '{deep}'" in refusal(capsys, str(tmp_path / "towns"))
    assert summary(capsys, deep, "--files") == both
    assert "--files must match 1 to 10000 files, got 0" in refusal(
        capsys, f"{tmp_path}/*.csv", "--files"
    )
    assert "--files must not be given with --table" in refusal(
        capsys, pattern, "--files", "--table", "t"
    )
