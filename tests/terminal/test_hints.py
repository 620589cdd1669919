"""Advice of a command names the command's own options, and can be copied."""

import shlex
from pathlib import Path

import polars as pl
import pytest

from reid_sql.cli import main
from reid_sql.commands.parser import parser
from reid_sql.terminal.console import Text
from reid_sql.terminal.hints import in_options, use_options
from tests.cells import each_cell


@each_cell(
    "sql, command",
    [
        ("pass total := 'Total', or rename it", "pass --total Total, or rename it"),
        ("pass total := 'All of ''em'", """pass --total 'All of '"'"'em'"""),
        ("pass lowest := 0", "pass --lowest 0"),
        ("name it by columns := ['region', 'sex']", "name it by --columns region,sex"),
        ("by audit_tables(…, people := 'nested')", "by reid-sql audit --people nested"),
        ("pass interactions := 2", "pass interactions := 2"),  # no option of the command
        ("a share of 3:=4", "a share of 3:=4"),
    ],
)
def test_parameters_are_options_in_a_command_and_parameters_elsewhere(
    sql: str, command: str
) -> None:
    try:
        use_options(parser().parse_args(["audit", "a.csv"]).parser)
        assert in_options(sql) == str(Text(sql)) == command
    finally:
        use_options(None)
    assert in_options(sql) == str(Text(sql)) == sql


@pytest.mark.parametrize("name", ["Patient ID", "person's id", "pid"])
def test_advice_on_people_runs_as_it_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    file = str(tmp_path / "people.csv")
    pl.DataFrame(
        {name: [i // 3 for i in range(300)], "age": [i % 40 for i in range(300)]}
    ).write_csv(file)
    assert main(["risk", file, "--qi", "age", "--format", "csv"]) == 0
    advice = capsys.readouterr().err
    words = shlex.split(advice[advice.index("--entity") :].split(".")[0])
    assert words == ["--entity", name]
    assert main(["risk", file, "--qi", "age", *words]) == 0
