"""Two releases on the command line: the page, the rows, and what is refused."""

import json
from pathlib import Path

import polars as pl
import pytest

from reid_sql.cli import main

QI = ["--qi", "age,town"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In February person 0 has left, 30 is new, and 1 has moved to a town of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    ages = [30 + number // 3 for number in range(30)]
    people = {
        "id": list(range(30)),
        "age": ages,
        "town": ["A"] * 29 + ["B"],
        "sick": ["flu", "cold"] * 15,
    }
    january = pl.DataFrame(people).with_columns(pl.col("age").cast(pl.String))
    new = pl.DataFrame({"id": [30], "age": ["39"], "town": ["A"], "sick": ["hiv"]})
    moved = pl.when(pl.col("id") == 1).then(pl.lit("C")).otherwise("town").alias("town")
    february = pl.concat([january[1:].with_columns(moved), new])
    january.write_parquet("january.parquet")
    february.write_csv("february.csv")
    january.with_columns(town=pl.lit("elsewhere")).write_parquet("elsewhere.parquet")


def test_a_page_says_who_can_be_followed(capsys: pytest.CaptureFixture[str]) -> None:
    files = ["january.parquet", "february.csv"]
    assert (
        main(["compare", *files, "--as", "later", *QI, "--key", "id", "--sensitive", "sick"]) == 0
    )
    page = capsys.readouterr().out
    assert (
        "1 of 30 people can be followed from one release to the other; 1 of these links are right."
        in page
    )
    assert "people who entered classes that gained one sensitive value, and lost none" in page
    assert "One row per person is assumed" in page


def test_rows_have_the_figures(capsys: pytest.CaptureFixture[str]) -> None:
    files = ["january.parquet", "february.csv"]
    assert (
        main(
            [
                "compare",
                *files,
                "--as",
                "later",
                *QI,
                "--entity",
                "id",
                "--sensitive",
                "sick",
                "--format",
                "json",
            ]
        )
        == 0
    )
    rows = {row["figure"]: row["value"] for row in json.loads(capsys.readouterr().out)["releases"]}
    assert [rows[name] for name in ("stayed", "entered", "left", "same_class")] == [29, 1, 1, 28]
    assert rows["entered_value"] == 2  # the person who is new, and the one who moved


def test_a_page_says_whom_all_releases_single_out(capsys: pytest.CaptureFixture[str]) -> None:
    files = ["january.parquet", "february.csv", "elsewhere.parquet"]
    assert main(["compare", *files, "--as", "later", *QI, "--key", "id"]) == 0
    page = capsys.readouterr().out
    assert (
        "5 of 31 people are unique by all releases together; at most 5 by two, and 3 by one."
        in page
    )
    assert main(["compare", *files, "--as", "later", *QI]) == 2
    assert "more must come with key or entity, got neither" in capsys.readouterr().err


def test_what_cannot_be_compared_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "january.parquet", "elsewhere.parquet", "--as", "later", *QI]) == 0
    page = capsys.readouterr().out
    assert "It is not known how many people can be followed" in page
    assert "not_comparable: " in page


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["january.parquet", "gone.csv", *QI], "OTHER 1 must be an existing file, got 'gone.csv'"),
        (
            ["january.parquet", "february.csv", "--qi", "age,twon"],
            "got 'twon'; did you mean 'town'",
        ),
        (
            ["january.parquet", "february.csv", *QI, "--key", "town"],
            "key must not be a quasi-identifier",
        ),
        (
            ["january.parquet", "february.csv", *QI, "--nulls", "wildcard"],
            "nulls must be one of 'value', 'drop'",
        ),
        (
            ["january.parquet", "february.csv", *QI, "--key", "id", "--entity", "id"],
            "key must be left out",
        ),
    ],
)
def test_a_mistake_is_one_sentence(
    options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *options, "--as", "later"]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert "Traceback" not in error
