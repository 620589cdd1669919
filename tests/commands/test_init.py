"""`reid-sql init`: the documents it writes are read by the commands they are for, and replace nothing."""

import re
import tomllib
from pathlib import Path

import polars as pl
import pytest

from tests.processes import command

HOSTILE = 'name,"a ""quoted"" age",sex,"a \\ back^slash",patient_id,remarks\n'


def visits(folder: Path) -> Path:
    """Forty people of five visits each, under column names that need quoting."""
    lines = [
        f"P{person:05},{20 + person % 7},{'FM'[person % 2]},{person % 3},{person},note {person} {visit} seen"
        for person in range(40)
        for visit in range(5)
    ]
    path = folder / "visits.csv"
    path.write_text(HOSTILE + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_the_documents_are_read_by_the_commands_they_are_for(tmp_path: Path) -> None:
    visits(tmp_path)
    assert command("init", "visits.csv", folder=tmp_path).returncode == 0
    policy = (tmp_path / "visits.policy.toml").read_text(encoding="utf-8")
    assert 'entity = "patient_id"' in policy
    checked = command("check", "visits.policy.toml", "--json", folder=tmp_path)
    assert checked.returncode in (0, 1), checked.stderr
    measured = command(
        "risk", "visits.csv", "--scenario", "visits.scenario.toml", "--json", folder=tmp_path
    )
    assert measured.returncode == 0, measured.stderr


def test_no_value_of_the_file_is_written(tmp_path: Path) -> None:
    visits(tmp_path)
    command("init", "visits.csv", folder=tmp_path)
    for path in tmp_path.glob("visits.*.toml"):
        text = path.read_text(encoding="utf-8")
        assert "P00001" not in text
        assert "note " not in text


def test_a_document_that_exists_is_not_replaced(tmp_path: Path) -> None:
    visits(tmp_path)
    (tmp_path / "visits.scenario.toml").write_text("mine", encoding="utf-8")
    refused = command("init", "visits.csv", folder=tmp_path)
    assert refused.returncode == 2
    assert "init must not replace a file, got 'visits.scenario.toml'" in refused.stderr
    assert (tmp_path / "visits.scenario.toml").read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / "visits.policy.toml").exists()


def test_a_file_without_such_columns_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ids.csv").write_text(
        "id\n" + "\n".join(f"X{i:07}" for i in range(500)), encoding="utf-8"
    )
    refused = command("init", "ids.csv", folder=tmp_path)
    assert refused.returncode == 2
    assert "got none that looks like one" in refused.stderr


@pytest.mark.parametrize(
    ("words", "found"),
    [("pop", "population_risk"), ("who stands out", "suda_scores"), ("t-closeness", "t_closeness")],
)
def test_functions_are_found_by_a_part_of_the_name_or_by_words(words: str, found: str) -> None:
    listed = command("functions", words)
    assert listed.returncode == 0, listed.stderr
    assert f"{found}(" in listed.stdout
    assert len(re.findall(r"^\w+\(", listed.stdout, re.MULTILINE)) < 10  # of about a hundred


@pytest.mark.parametrize(
    ("column", "lacking"), [("patient_id", ""), ("patient_id", "unknown"), ("hospital_id", "h7")]
)
def test_a_column_that_may_not_identify_all_people_is_not_named_as_theirs(
    tmp_path: Path, column: str, lacking: str
) -> None:
    rows = [f"{lacking if row % 10 == 0 else f'p{row // 3}'},{20 + row % 30}" for row in range(600)]
    (tmp_path / "t.csv").write_text("\n".join([f"{column},age", *rows]), encoding="utf-8")
    assert command("init", "t.csv", folder=tmp_path).returncode == 0
    lines = (tmp_path / "t.policy.toml").read_text(encoding="utf-8").splitlines()
    assert not any(line.startswith("entity") for line in lines), lines
    assert any(f'Column "{column}"' in line for line in lines), lines
    shown = command("profile", "t.csv", folder=tmp_path).stdout
    assert (f"{column}: pass it as entity" in shown) == (column == "hospital_id"), shown


def test_what_is_not_measured_is_named(tmp_path: Path) -> None:
    births = [{"year": 1950 + n % 40, "month": 1 + n % 12} for n in range(200)]
    frame = pl.DataFrame(
        {"sex": ["f", "m"] * 100, "birth": births, "age": [n % 50 for n in range(200)]}
    )
    frame.write_parquet(tmp_path / "people.parquet")
    done = command("init", "people.parquet", folder=tmp_path)
    assert "Not measured: birth (values of several parts" in " ".join(done.stdout.split())
    policy = (tmp_path / "people.policy.toml").read_text(encoding="utf-8")
    assert "birth: values of several parts" in policy
    (table,) = tomllib.loads(policy)["tables"]
    assert table["left_out"] == ["birth"]  # nothing measures it, so the release must lack it
    assert table["quasi_identifiers"] == ["sex", "age"]
