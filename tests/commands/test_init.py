"""`reid-sql init`: the documents it writes are read by the commands they are for, and replace nothing."""

import json
import re
import sqlite3
import tomllib
from pathlib import Path

import duckdb
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
    births = [[1950 + n % 40, 1 + n % 12] for n in range(200)]
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


PEOPLE = "age,sex,zip\n" + "".join(f"{20 + n % 40},{'fm'[n % 2]},{n % 9}\n" for n in range(400))


def checked(folder: Path, policy: str) -> dict[str, int]:
    """The records of each table that the gate measures by the policy."""
    done = command("check", policy, "--json", folder=folder)
    assert done.returncode in (0, 1), done.stderr
    return {each["name"]: each["records"] for each in json.loads(done.stdout)["tables"]}


def test_all_tables_of_a_folder_are_in_one_policy(tmp_path: Path) -> None:
    """Files, the tables of a database, and a folder divided by a column; what cannot be read is named."""
    data = tmp_path / "data"
    for year in (2020, 2021):
        (data / "visits" / f"year={year}").mkdir(parents=True)
        (data / "visits" / f"year={year}" / "part.csv").write_text(PEOPLE, encoding="utf-8")
    (data / "more").mkdir()
    for name in ("people.csv", "more/people.csv"):
        (data / name).write_text(PEOPLE, encoding="utf-8")
    (data / "broken.csv").write_text(PEOPLE + '7,"f,1\n', encoding="utf-8")
    (data / "notes.md").write_text("age", encoding="utf-8")
    with duckdb.connect(data / "town.duckdb") as con:
        for name in ("first", "second"):
            con.execute(f"CREATE TABLE {name} AS FROM read_csv('{data / 'people.csv'}')")
    done = command("init", "data", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    page = json.loads(done.stdout)
    assert [*page["not_read"]] == ["data/broken.csv", "data/notes.md"]
    text = (tmp_path / "data.policy.toml").read_text(encoding="utf-8")
    assert all(f"#     {name}: {why}" in text for name, why in page["not_read"].items())
    assert checked(tmp_path, "data.policy.toml") == {
        "data/more/people.csv": 400,
        "data/people.csv": 400,
        "first": 400,
        "second": 400,
        "visits": 800,
    }
    (visits,) = (each for each in tomllib.loads(text)["tables"] if each.get("name") == "visits")
    assert "year" in visits["quasi_identifiers"]


def test_all_tables_of_a_connection_are_in_one_policy(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "town.sqlite") as con:
        con.execute("CREATE TABLE people (age INTEGER, sex TEXT, zip TEXT, seen TEXT)")
        rows = [
            (20 + n % 40, "fm"[n % 2], n % 9, ["flu", "HIV", "asthma"][n % 3]) for n in range(400)
        ]
        con.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows)
        con.execute("CREATE VIEW \"men.old\" AS SELECT age, sex FROM people WHERE sex = 'm'")
    done = command("init", "sqlite://town.sqlite", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert checked(tmp_path, "town.policy.toml") == {'"men.old"': 200, "people": 400}
    tables = tomllib.loads((tmp_path / "town.policy.toml").read_text(encoding="utf-8"))["tables"]
    assert {each["table"]: each.get("sensitive") for each in tables} == {
        '"men.old"': None,
        "people": ["seen"],
    }
    assert not (tmp_path / "town.scenario.toml").exists()
    again = command("init", "sqlite://town.sqlite", "--table", "people", folder=tmp_path)
    assert "init must not replace a file" in again.stderr


def test_a_pattern_is_one_table(tmp_path: Path) -> None:
    for year in (2020, 2021):
        (tmp_path / "visits" / f"year={year}").mkdir(parents=True)
        (tmp_path / "visits" / f"year={year}" / "part.csv").write_text(PEOPLE, encoding="utf-8")
    assert command("init", "visits/*/*.csv", folder=tmp_path).returncode == 0
    assert checked(tmp_path, "visits.policy.toml") == {"visits": 800}
    (tmp_path / "empty").mkdir()
    assert "got none in 'empty'" in command("init", "empty", folder=tmp_path).stderr


def test_a_name_with_a_line_break_is_no_key_of_the_policy(tmp_path: Path) -> None:
    """Its second line would leave out every check: names come from whoever made the file."""
    end = 'x\ncautions = "accept"\n[[tables.checks]]\nmeasure = "k"\nat_least = 1\n# '
    names = [f"{role} {end}" for role in ("full name", "diagnosis", "patient_id", "age", "total €")]
    data = tmp_path / "data"
    data.mkdir()
    rows = [
        (f"Name {i}", ("flu", "hiv")[i % 2], f"P{i // 3}", 20 + i % 40, f"{i % 90},50 €")
        for i in range(300)
    ]
    pl.DataFrame(rows, [*names[:3], names[3], names[4]], orient="row").write_parquet(
        data / "a.parquet"
    )
    (data / f"b{end.replace('/', '')}.csv").write_text('age,sex\n1,"f\n', encoding="utf-8")
    assert command("init", "data", folder=tmp_path).returncode == 0
    assert command("init", "data/a.parquet", folder=tmp_path).returncode == 0
    for file in ("data.policy.toml", "a.policy.toml"):
        read = tomllib.loads((tmp_path / file).read_text(encoding="utf-8"))
        assert read["cautions"] == "refuse"
        [table] = read["tables"]
        listed = [*table["quasi_identifiers"], *table["sensitive"], *table.get("left_out", ())]
        assert {*names} - {*listed} <= {names[2]}
        assert all(check.get("at_least", 5) > 1 for check in table["checks"])
    scenario = tomllib.loads((tmp_path / "a.scenario.toml").read_text(encoding="utf-8"))
    assert {*scenario} <= {"name", "population", "groups"}
