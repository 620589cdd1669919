"""Tables of visits: each command counts people by --entity, and names a column that may identify them."""

import csv
import io
import random
from pathlib import Path

import polars as pl
import pytest

import reid_sql.polars as rp
from reid_sql.cli import main
from tests.cells import each_cell

QI = "age,sex,town"
HINT = (
    "Column 'patient_id' looks like an identifier and repeats (60 values in 240 rows): "
    "if it identifies people"
)


@pytest.fixture
def visits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pl.DataFrame:
    """Four visits of each of 60 patients, all alike; the working directory has the file and a scenario."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(3)  # noqa: S311 - tables, no secrets
    rows = [(p, rng.randint(20, 29), rng.choice("MF"), rng.choice("ABC")) for p in range(60)]
    frame = pl.DataFrame(
        [row for row in rows for _ in "abcd"], ["patient_id", *QI.split(",")], orient="row"
    )
    frame.write_csv("visits.csv")
    scenario = 'name = "s"\npopulation = 1000\n[[groups]]\ncolumns = ["age", "sex", "town"]\nprobability = 1\n'
    Path("s.toml").write_text(scenario, encoding="utf-8")
    return frame


COMMANDS = {
    "risk": ["risk", "visits.csv", "--qi", QI],
    "population": ["risk", "visits.csv", "--qi", QI, "--population", "1000"],
    "forecast": ["risk", "visits.csv", "--qi", QI, "--population", "1000"],
    "validate": ["risk", "visits.csv", "--qi", QI, "--methods", "bound", "--validate", "0.9"],
    "scenario": ["risk", "visits.csv", "--scenario", "s.toml"],
}


@each_cell("arguments", COMMANDS.values())
@each_cell("shape", ["table", "json", "csv"])
@pytest.mark.usefixtures("visits")
@pytest.mark.first(cells=4)
def test_no_command_answers_of_visits_in_silence(
    arguments: list[str], shape: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--format", shape]) == 0
    shown = capsys.readouterr()
    assert HINT in " ".join((shown.out + shown.err).split())
    if shape != "json":
        return
    assert main([*arguments, "--format", shape, "--entity", "patient_id"]) == 0
    shown = capsys.readouterr()
    assert HINT not in " ".join((shown.out + shown.err).split())
    known = "a class counts its people, and the attacker knows the worst row of each"
    assert known in " ".join((shown.out + shown.err).split())


@pytest.mark.usefixtures("visits")
def test_pages_call_people_what_a_class_counts(capsys: pytest.CaptureFixture[str]) -> None:
    lines = {}
    for noun, entity in (("records", []), ("people", ["--entity", "patient_id"])):
        main([*COMMANDS["risk"], *entity])
        lines[noun] = capsys.readouterr().out.splitlines()
        assert any(line.split()[:1] == [noun] for line in lines[noun]), noun
    assert not any("records" in line for line in lines["people"])


def test_a_forecast_of_people_is_the_functions(
    visits: pl.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    main([*COMMANDS["forecast"], "--format", "csv", "--entity", "patient_id"])
    row = next(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    found = (
        rp.population_risk(visits, QI.split(","), [1000.0], entity="patient_id")
        .collect()
        .to_dicts()[0]
    )
    assert row == {name: str(value) for name, value in found.items()}


@pytest.mark.usefixtures("visits")
def test_a_comparison_asks_for_one_row_of_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "visits.csv", "visits.csv", "--qi", QI]) == 0
    assert f"{HINT}, pass a row of each." in " ".join(capsys.readouterr().out.split())
