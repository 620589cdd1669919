"""Answers as CSV beside JSON, and all that is said of one function."""

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from reid_sql.commands.output import print_csv
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
            shown = (
                ""
                if value is None
                else json.dumps(value)
                if isinstance(value, list)
                else str(value)
            )
            assert row[name] == shown, name


HELD = ['x, "y"\nz', "x\x1b[31m\u202ered\rover"] * 40


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A policy over a table whose values, and whose name, hold what parts CSV or steers a terminal."""
    folder = tmp_path_factory.mktemp("formats")
    towns, ages = [*HELD, *HELD], [20 + place % 9 for place in range(160)]
    pl.DataFrame({'to"wn,\n': towns, "age": ages}).write_parquet(folder / "people.parquet")
    table = {
        "name": 'peo,"ple"\nof \x1b[2J',
        "file": "people.parquet",
        "quasi_identifiers": ['to"wn,\n', "age"],
        "checks": [
            {"measure": "k", "at_least": 100, "by": ['to"wn,\n'], "quasi_identifiers": ["age"]},
            {"measure": "k", "at_least": 9},
            {"measure": "average_risk", "at_most": 0.01},
        ],
    }
    page = {"name": "towns", "mask_below": 1, "prepare": {"suppression": 0.5}, "tables": [table]}
    (folder / "policy.json").write_text(json.dumps(page), encoding="utf-8")
    return str(folder / "policy.json")


def visible(text: str) -> str:
    """The text as CSV holds it."""
    return text.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e").replace("\rover", "\\x0dover")


def cell(value: Any) -> str:
    """What Python's csv reads of a value of the JSON."""
    if isinstance(value, list | dict):
        value = json.dumps(value, ensure_ascii=False)
    return "" if value is None else visible(str(value))


def said(line: str) -> bool:
    return line.startswith(("Every column of the file", "By all ", "In the file, in no check"))


def asked_twice(call: list[str]) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """The command's JSON, and the rows of its CSV, which hold no character that steers a terminal."""
    page, reported = (command(*call, "--format", kind) for kind in ("json", "csv"))
    # a CSV of a check has no place for the columns that no check measures: these are said beside it
    beside = "".join(line for line in reported.stderr.splitlines(keepends=True) if not said(line))
    assert (page.returncode, page.stderr) == (reported.returncode, beside)
    assert not set(reported.stdout) & set("\x1b\u202e\r")
    return json.loads(page.stdout), rows(reported.stdout)


def test_csv_of_a_check_has_a_row_for_each_group_with_the_fields_of_the_json(policy: str) -> None:
    page, found = asked_twice(["check", policy])
    pairs = [(check, group) for check in page["checks"] for group in check["groups"]]
    assert len(pairs) == len(found) == 4
    assert {row["group"] for row in found} == {
        "",
        *(cell({'to"wn,\n': members}) for members in HELD[:2]),
    }
    for (check, group), row in zip(pairs, found, strict=True):
        expected = {
            name: value for name, value in check.items() if name not in {"verdict", "groups"}
        }
        expected |= {"check_verdict": check["verdict"], **group}
        assert row == {name: cell(value) for name, value in expected.items()}


def test_csv_of_what_was_prepared_has_a_row_for_each_column_with_the_fields_of_the_json(
    policy: str,
) -> None:
    page, found = asked_twice(["prepare", policy])
    lists = {"name", "loss", "columns", "columns_released", "columns_left_out"}
    lists |= {"columns_blank", "columns_numbered", "frontier", "cross_tables", "choices"}
    expected = [
        {"table": table["name"], "verdict": page["verdict"], "minimised": table["loss"]}
        | {name: value for name, value in table.items() if name not in lists}
        | column
        for table in page["tables"]
        for column in table["columns"]
    ]
    assert [row["column"] for row in found] == ['to"wn,\n', "age"]
    again = {"seconds": ""}  # the one field that is measured by the clock
    assert [row | again for row in found] == [
        {name: cell(value) for name, value in row.items()} | again for row in expected
    ]


@pytest.mark.parametrize("call", ["check", "prepare"])
def test_a_policy_is_answered_in_one_format(call: str) -> None:
    refused = command(call, "no.toml", "--json", "--format", "csv")
    assert refused.returncode == 2
    assert "not allowed with argument --json" in refused.stderr


SCENARIO = {
    "name": "n",
    "population": 100_000,
    "groups": [{"columns": ["sex", "postcode"], "probability": 0.5}],
}


@pytest.mark.parametrize(
    ("call", "keys"),
    [
        (["risk", "--qi", "age,sex", "--population", "1e5,1e6"], ["population_risk"]),
        (["risk", "--qi", "age,sex", "--stand-out", "3"], ["stand_out"]),
        (["risk", "--scenario", json.dumps(SCENARIO), "--sensitivity"], ["sensitivity"]),
    ],
)
def test_csv_has_the_rows_of_what_an_option_asks_beside_the_summary(
    call: list[str], keys: list[str]
) -> None:
    asked = [call[0], PEOPLE, *call[1:]]
    expected = json.loads(command(*asked, "--json").stdout)
    for key in keys:
        expected = expected[key]
    found = rows(command(*asked, "--format", "csv").stdout)
    assert found == [{name: cell(value) for name, value in row.items()} for row in expected]


def test_csv_cannot_hold_two_tables() -> None:
    call = [
        "risk",
        PEOPLE,
        "--qi",
        "age",
        "--population",
        "1e6",
        "--stand-out",
        "3",
        "--format",
        "csv",
    ]
    refused = command(*call)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert (
        "--population must not be given with --stand-out in csv, got 3 to stand out; ask twice"
        in refused.stderr
    )


def test_a_query_prints_csv_that_duckdb_reads_back(tmp_path: Path) -> None:
    asked = "SELECT 1 AS a, NULL::INT AS b, 'x, \"y\"' AS c, chr(10) || 'z' AS a, 'é' || chr(27) AS \"d,e\""
    (tmp_path / "asked.sql").write_text(
        f"{asked}; SELECT 1 AS nothing WHERE false;", encoding="utf-8"
    )
    reported = command("query", str(tmp_path / "asked.sql"), "--format", "csv").stdout
    assert reported == 'a,b,c,a,"d,e"\n1,,"x, ""y""","\nz",é\\x1b\nnothing\n'
    (tmp_path / "found.csv").write_text(reported.removesuffix("nothing\n"), encoding="utf-8")
    read = duckdb.default_connection().sql(
        f"FROM read_csv('{tmp_path / 'found.csv'}', all_varchar := true)"
    )
    assert read.fetchall() == [("1", None, 'x, "y"', "\nz", "é\\x1b")]


def test_lists_in_csv_are_json(capsys: pytest.CaptureFixture[str]) -> None:
    print_csv(["a"], [[["x", 'y"']], [[1.5, None]]])
    assert [json.loads(row["a"]) for row in rows(capsys.readouterr().out)] == [
        ["x", 'y"'],
        [1.5, None],
    ]


def test_two_formats_at_once_are_refused_before_the_file_is_looked_for() -> None:
    refused = command("risk", "no.csv", "--qi", "age", "--json", "--format", "csv")
    assert refused.returncode == 2
    assert "not allowed with argument --json" in refused.stderr


@pytest.mark.parametrize("call", [["risk", "no.csv", "--qi", "age"], ["query", "no.sql"]])
def test_a_picture_into_a_folder_that_is_not_there_is_refused_before_the_work(
    call: list[str],
) -> None:
    refused = command(*call, "--plot", "no/such/folder.svg")
    assert refused.returncode == 2
    assert "--plot must be in an existing folder, got 'no/such/folder.svg'" in refused.stderr


def test_all_that_is_said_of_a_function_is_shown() -> None:
    shown = command("functions", "pyc_forecast").stdout
    for words in (
        "populations  a number of people of at least 1",
        "required",
        "correctness_low   DOUBLE   lower end of the 95 % interval of correctness",
        "Engines: DuckDB, Polars, Spark, Ibis.",
        "FROM pyc_forecast(people, ['age', 'sex', 'postcode', 'marital_status']",
    ):
        assert words in shown


def test_lines_are_as_wide_as_columns_says() -> None:
    reported = command("functions", "pyc_forecast", columns=60)
    assert max(map(len, reported.stdout.splitlines()[3:12])) <= 60


def test_no_text_of_a_table_is_a_formula_to_a_spreadsheet(
    capsys: pytest.CaptureFixture[str],
) -> None:
    formulas = ["=1+1", "+cmd|'/c calc'!A1", "-2+3", "@SUM(1)", "\t=1", " =1", "\r=1"]
    plain = ["-1", "+1.5e-3", "-", "a=1", "-12,5", ""]
    print_csv(["a"], [[each] for each in [*formulas, *plain]] + [[-1], [-1.5]])
    cells = [row[0] for row in csv.reader(io.StringIO(capsys.readouterr().out, newline=""))][1:]
    assert all(cell.startswith("'") for cell in cells[: len(formulas)])
    assert cells[len(formulas) :] == [*plain, "-1", "-1.5"]


def test_a_long_answer_is_printed_in_blocks_and_a_reader_may_stop() -> None:
    asked = f"{sys.executable} -m reid_sql query 'FROM range(3000000)'"
    piped = ["sh", "-c", f"{asked} | head -3"]
    done = subprocess.run(piped, capture_output=True, text=True, timeout=50, check=False)
    assert (len(done.stdout.splitlines()), done.stderr) == (3, "")
    for number in (0, 999, 1000, 1001, 2000):
        sql = f"FROM range({number}) AS t(i)"
        as_csv = command("query", sql, "--format", "csv").stdout
        assert [row["i"] for row in rows(as_csv)] == [str(each) for each in range(number)]
        assert len(json.loads(command("query", sql, "--json").stdout)) == number


def test_a_closed_standard_output_is_no_failure() -> None:
    asked = f"{sys.executable} -m reid_sql risk {PEOPLE} --qi age"
    closed = ["sh", "-c", f"{asked} >&-"]
    done = subprocess.run(closed, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


FIXED = ["threshold", "blank_records", "records_dropped", "nulls"]


@pytest.mark.parametrize(
    ("sql", "left_out"),
    [
        ("FROM risk_summary('{}', ['age'])", FIXED),
        ("FROM risk_summary('{}', ['education'], nulls := 'drop')", ["threshold", "blank_records"]),
        ("SELECT k, threshold, records_dropped FROM risk_summary('{}', ['age'])", []),
        ("FROM (SELECT 3 AS threshold, 'value' AS nulls)", []),  # columns of no function
    ],
)
def test_fixed_columns_of_an_answer_are_left_out_of_a_terminal_by_name(
    root: Path, sql: str, left_out: list[str]
) -> None:
    people = root / "reid_sql" / "demo" / "people.csv"
    shown = command("query", sql.format(people), "--format", "table", columns=250).stdout
    sentence = re.search(
        r"^Not shown: (.*) \(name them, or pass --format csv\)\.$", shown, re.MULTILINE
    )
    assert (sentence[1].split(", ") if sentence else []) == left_out
    header = shown.splitlines()[1]
    printed = (
        command("query", sql.format(people), "--format", "csv").stdout.splitlines()[0].split(",")
    )
    assert set(re.findall(r"\w+", header)) == set(printed) - set(left_out)
