"""A join on the command line: the page, the rows, and what is refused."""

import json
from pathlib import Path

import polars as pl
import pytest

from reid_sql.cli import main

JOIN = [
    *("compare", "people.parquet", "jobs.csv", "--as", "join"),
    *("--key", "id=pid", "--qi", "sex", "--other-qi", "job"),
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 40 people, 20 have a job, one of them alone with sex and job; numbers in Parquet, texts in CSV."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    people = pl.DataFrame({"id": range(40), "sex": ["F", "M"] * 20})
    people.write_parquet("people.parquet")
    jobs = ["cook", "vet", *["vet", "cook"] * 9]
    pl.DataFrame({"pid": range(20), "job": jobs}).write_csv("jobs.csv")


def test_a_page_names_the_people_and_what_matches_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(JOIN) == 0
    page = capsys.readouterr().out
    assert (
        "Of 20 people in both tables, the join singles out 2 (10.0 %) whom neither table singles"
        in page
    )
    assert "Without a match: 20 people of the left table, 0 of the right" in page


def test_rows_are_those_of_the_function(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*JOIN, "--k", "10", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["join"]
    assert [(row["columns"], row["people"], row["singled_out"]) for row in rows] == [
        (["job"], 20, 20)
    ] * 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"jobs.csv": "gone.csv"}, "OTHER must be an existing file, got 'gone.csv'"),
        (
            {"id=pid": "id"},
            "right_qi and on must be columns of the right table, got 'id'; did you mean 'pid'",
        ),
        (
            {"sex": "sxe"},
            "quasi-identifiers and on must be columns of the left table, got 'sxe'; did you mean",
        ),
    ],
)
def test_what_cannot_be_joined_is_refused(
    change: dict[str, str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([change.get(each, each) for each in JOIN]) == 2
    assert words in capsys.readouterr().err
