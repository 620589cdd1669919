"""reid-sql risk --entity --points: an attacker who knows several rows of a person."""

import csv
import io
import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import reid_sql.polars as rp
from reid_sql import plot
from reid_sql.cli import main
from tests.charts.marks import lines_of

ANY: Any = rp
RISK = ["risk", "visits.csv", "--qi", "ward,day"]
KNOWN = [*RISK, "--entity", "patient_id", "--points", "1,3"]


@pytest.fixture
def visits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pl.DataFrame:
    """Two to five visits of each of 40 patients; the working directory has the file."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(5)  # noqa: S311 - tables, no secrets
    rows = [
        (p, rng.choice("ABC"), rng.randint(1, 3))
        for p in range(40)
        for _ in range(rng.randint(2, 5))
    ]
    frame = pl.DataFrame(rows, ["patient_id", "ward", "day"], orient="row")
    frame.write_csv("visits.csv")
    return frame


def test_the_rows_are_those_of_the_function(
    visits: pl.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = (
        ANY.unicity(visits, "patient_id", ["ward", "day"], points=[1, 3]).collect().to_dicts()
    )
    assert main([*KNOWN, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["unicity"]
    assert found == [pytest.approx(row) for row in expected]
    assert main([*KNOWN, "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [float(row["uniqueness"]) for row in rows[:2]] == pytest.approx(
        [row["uniqueness"] for row in expected]
    )
    assert main(KNOWN) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "An attacker who knows several rows of a person" in shown
    assert f"{expected[1]['people_with_fewer']}" in shown


def test_the_chart_has_the_shares_of_each_resolution(
    visits: pl.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*KNOWN, "--plot", "chart.svg"]) == 0
    capsys.readouterr()
    assert "rows of a person that the attacker knows" in Path("chart.svg").read_text(
        encoding="utf-8"
    )
    columns = {"ward and day": ["ward", "day"], "ward": ["ward"]}
    answers = {
        name: ANY.unicity(visits, "patient_id", each, points=[1, 3])
        for name, each in columns.items()
    }
    picture = plot.unicity(answers)
    assert picture.charts[0].across.names == ["1", "3"]
    assert [line.words for line in lines_of(picture)] == list(columns)
    for line, answer in zip(lines_of(picture), answers.values(), strict=True):
        assert line.up == answer.collect()["uniqueness"].to_list()


def test_all_rows_are_the_last_of_a_chart(visits: pl.DataFrame) -> None:
    answers = [ANY.unicity(visits, "patient_id", ["ward"], points=p) for p in (None, [2])]
    picture = plot.unicity(dict(zip("ab", answers, strict=True)))
    assert picture.charts[0].across.names == ["2", "all"]
    assert [line.across for line in lines_of(picture)] == [[1], [0]]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            [*RISK, "--plot", "p.svg"],
            "--plot must come with --population, --points or --validate, got p.svg alone; add --population",
        ),
        (
            [*RISK, "--points", "2"],
            "--points must come with --entity, got 2 alone; add --entity or omit it",
        ),
        (
            [*KNOWN[:-1], "0"],
            "points must be a whole number of known rows from 1 to 16, got 0; pass",
        ),
        (
            [*KNOWN, "--format", "csv", "--population", "1000"],
            "--points must be given alone in csv, got --population or --stand-out with it; ask twice",
        ),
    ],
)
@pytest.mark.usefixtures("visits")
def test_bad_options_are_refused(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())
