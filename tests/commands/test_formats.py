"""Answers as CSV beside JSON, and all that is said of one function."""

import csv
import io
import json
from pathlib import Path

import duckdb
import pytest

from reid_sql.commands.options import print_csv
from reid_sql_udfs import declared
from tests.processes import command

PEOPLE = "reid_sql/demo/people.csv"


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize(
    ("call", "key"),
    [
        (["risk", PEOPLE, "--qi", "age,sex"], "summary"),
        (["profile", PEOPLE, "--columns", "age,sex"], None),
        (["compare", PEOPLE, PEOPLE, "--qi", "age"], "compare"),
    ],
)
def test_csv_has_the_rows_of_the_json(call: list[str], key: str | None) -> None:
    page = json.loads(command(*call, "--json").stdout)
    expected = page if key is None else page[key]
    expected = expected if isinstance(expected, list) else [expected]
    found = rows(command(*call, "--format", "csv").stdout)
    assert [list(row) for row in found] == [list(row) for row in expected]
    for row, other in zip(found, expected, strict=True):
        for name, value in other.items():
            shown = "" if value is None else json.dumps(value) if isinstance(value, list) else str(value)
            assert row[name] == shown, name


def test_a_query_prints_csv_that_duckdb_reads_back(tmp_path: Path) -> None:
    asked = "SELECT 1 AS a, NULL::INT AS b, 'x, \"y\"' AS c, chr(10) || 'z' AS a, 'é' || chr(27) AS \"d,e\""
    (tmp_path / "asked.sql").write_text(f"{asked}; SELECT 1 AS nothing WHERE false;", encoding="utf-8")
    told = command("query", str(tmp_path / "asked.sql"), "--format", "csv").stdout
    assert told == 'a,b,c,a,"d,e"\n1,,"x, ""y""","\nz",é\\x1b\nnothing\n'
    (tmp_path / "found.csv").write_text(told.removesuffix("nothing\n"), encoding="utf-8")
    read = duckdb.default_connection().sql(f"FROM read_csv('{tmp_path / 'found.csv'}', all_varchar := true)")
    assert read.fetchall() == [("1", None, 'x, "y"', "\nz", "é\\x1b")]


def test_lists_in_csv_are_json(capsys: pytest.CaptureFixture[str]) -> None:
    print_csv(["a"], [[["x", 'y"']], [[1.5, None]]])
    assert [json.loads(row["a"]) for row in rows(capsys.readouterr().out)] == [["x", 'y"'], [1.5, None]]


def test_two_formats_at_once_are_refused_before_the_file_is_looked_for() -> None:
    refused = command("risk", "no.csv", "--qi", "age", "--json", "--format", "csv")
    assert refused.returncode == 2
    assert "not allowed with argument --json" in refused.stderr


@pytest.mark.parametrize("call", ["forecast", "validate", "qar"])
def test_a_picture_into_a_folder_that_is_not_there_is_refused_before_the_work(call: str) -> None:
    columns = "--columns" if call == "qar" else "--qi"
    more = ["--population", "1e6"] if call == "forecast" else []
    refused = command(call, "no.csv", columns, "age", *more, "--plot", "no/such/folder.png")
    assert refused.returncode == 2
    assert "--plot must lie in an existing folder, got 'no/such/folder.png'" in refused.stderr


def test_all_that_is_said_of_a_function_is_shown() -> None:
    shown = command("functions", "pyc_forecast").stdout
    for words in (
        "populations  a list, each of it a number of people of at least 1",
        "must be given",
        "correctness_low   DOUBLE   lower end of the 95 % interval of correctness",
        "Engines: DuckDB, Polars, Spark, Ibis.",
        "FROM pyc_forecast(people, ['age', 'sex', 'postcode', 'marital_status']",
    ):
        assert words in shown


def test_json_tells_the_parameters_and_the_meanings_of_every_function() -> None:
    page = json.loads(command("functions", "--json").stdout)
    assert [each["name"] for each in page] == list(declared())
    for each in page:
        assert set(each["meanings"]) == set(each["columns"])
        assert all(each["meanings"].values()), each["name"]


def test_lines_are_as_wide_as_columns_says() -> None:
    told = command("functions", "pyc_forecast", columns=60)
    assert max(map(len, told.stdout.splitlines()[3:12])) <= 60
