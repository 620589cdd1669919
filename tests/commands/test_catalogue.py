"""`init` reads roles of columns from what people wrote: each format as its own documentation writes it."""

import json
import tomllib
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
import yaml

from tests.cells import each_cell
from tests.processes import command

ROLES = {
    "age": "quasi_identifier",
    "sex": "quasi_identifier",
    "ward": "sensitive",
    "code": "identifier",
    "pid": "entity",
    "home": "household",
}


def people(folder: Path) -> None:
    """300 people of 600 visits, whose columns would have other roles by their names and values."""
    rows = [
        (20 + n % 40, "fm"[n % 2], "abc"[n % 3], n % 7, f"P{n // 2}", f"{n // 5}x")
        for n in range(600)
    ]
    frame = pl.DataFrame(rows, ["age", "sex", "ward", "code", "pid", "home"], orient="row")
    frame.write_csv(folder / "people.csv")


def dbt_columns(where: str) -> list[dict[str, Any]]:
    return [{"name": name, **label_of(role, where)} for name, role in ROLES.items()]


def label_of(role: str, where: str) -> dict[str, Any]:
    if where == "tags":
        return {"tags": [role]}
    if where == "meta":
        return {"meta": {"privacy_category": role.upper()}}
    if where == "config":
        return {"config": {"meta": {role: True}, "tags": ["nightly"]}}
    if where == "databricks":
        return {"databricks_tags": {role: "true"}}
    return {"description": f"What it is; {role.replace('_', '-')}"}


def documents() -> dict[str, tuple[str, dict[str, Any]]]:
    """Return documents of each format, with a file name."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for where in ("tags", "meta", "config", "databricks", "description"):
        columns = dbt_columns(where)
        found[f"dbt {where}"] = (
            "schema.yml",
            {"version": 2, "models": [{"name": "other", "columns": [{"name": "age"}]}]}
            | {"seeds": [{"name": "people", "columns": columns}]},
        )
    columns = dbt_columns("meta")
    listed: dict[str, Any] = {each["name"]: each | {"tags": []} for each in columns}
    manifest = {"model.town.people": {"name": "people", "columns": listed}}
    found["dbt manifest"] = ("manifest.json", {"metadata": {}, "nodes": manifest, "macros": {}})
    properties: list[dict[str, Any]] = [
        {"name": f"Column {name}", "physicalName": name.upper(), "logicalType": "string"}
        for name in ROLES
    ]
    ways: list[dict[str, Any]] = [
        {"classification": "quasi-identifier", "criticalDataElement": True},
        {"tags": ["pii", "quasi_identifier"]},
        {
            "customProperties": [{"property": "privacy", "value": "sensitive"}],
            "examples": ["entity"],
        },
        {"customProperties": [{"property": "direct_identifier", "value": True}]},
        {"tags": ["Entity"], "classification": "restricted"},
        {"classification": "household"},
    ]
    contract = {"apiVersion": "v3.1.0", "kind": "DataContract", "id": "a", "name": "clinic"}
    described = [one | way for one, way in zip(properties, ways, strict=True)]
    schema = {"name": "People", "physicalName": "public.people", "properties": described}
    found["data contract"] = ("contract.odcs.yaml", contract | {"schema": [schema]})
    fields = [{"name": name, "type": "string", role: True} for name, role in ROLES.items()]
    found["table schema"] = ("schema.json", {"fields": fields, "missingValues": [""]})
    resource = {"name": "visits", "path": "data/people.csv", "schema": {"fields": fields}}
    other = {"name": "x", "path": "data/x.csv", "schema": {"fields": [{"name": "age"}]}}
    found["data package"] = ("datapackage.json", {"name": "town", "resources": [other, resource]})
    return found


def write(folder: Path, name: str, document: Any) -> None:
    text = json.dumps(document) if name.endswith(".json") else yaml.safe_dump(document)
    (folder / name).write_text(text, encoding="utf-8")


def proposed(folder: Path, *arguments: str) -> tuple[dict[str, Any], str, str]:
    """Run init: the table of its policy, the text of it, and what was printed."""
    for path in folder.glob("people.*.toml"):
        path.unlink()
    done = command("init", *arguments, folder=folder)
    assert done.returncode == 0, done.stderr
    text = (folder / "people.policy.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["tables"][0], text, " ".join(done.stdout.split())


@each_cell("name", documents())
def test_roles_are_read_of_each_format(tmp_path: Path, name: str) -> None:
    people(tmp_path)
    file, document = documents()[name]
    write(tmp_path, file, document)
    table, text, _ = proposed(tmp_path, "people.csv", "--catalogue", file)
    assert table["quasi_identifiers"] == ["age", "sex"]
    assert table["sensitive"] == ["ward"]
    assert table["left_out"] == ["code"]
    assert table["entity"] == "pid"
    assert f"#     age, sex: {file} says quasi_identifier.\n" in text
    assert f"#     home: {file} says household; by its name and values: " in text
    # what its values look like is said beside what people wrote
    assert (
        f"#     code: {file} says identifier; by its name and values: others can know it.\n" in text
    )


@pytest.mark.parametrize("is_view", [False, True])
def test_comments_in_a_database_are_read(tmp_path: Path, *, is_view: bool) -> None:
    people(tmp_path)
    with duckdb.connect(tmp_path / "people.duckdb") as con:
        con.execute(f"CREATE TABLE people AS FROM '{tmp_path / 'people.csv'}'")
        con.execute("CREATE VIEW people_view AS FROM people")
        name = "people_view" if is_view else "people"
        con.execute(f"COMMENT ON COLUMN {name}.ward IS 'Where a patient lies | sensitive'")
        con.execute(f"COMMENT ON COLUMN {name}.sex IS 'not a sensitive column'")
        con.execute(f"COMMENT ON COLUMN {name}.code IS 'Identifier'")
    table, text, _ = proposed(tmp_path, "people.duckdb", "--table", name)
    assert (table["sensitive"], table["left_out"]) == (["ward"], ["code"])
    assert "sex" in table["quasi_identifiers"]
    assert "#     ward: the comment of the column says sensitive; by its" in text
    other = "people" if is_view else "people_view"
    assert "the comment" not in proposed(tmp_path, "people.duckdb", "--table", other)[1]


@pytest.mark.parametrize(
    ("option", "file"),
    [("--openlineage", "event.json"), ("--tags", "tags.json"), ("--tags", "schema.yml")],
)
def test_what_check_writes_is_read_again(tmp_path: Path, option: str, file: str) -> None:
    """What a policy says goes to a catalogue and comes back, in place of what the values look like."""
    people(tmp_path)
    policy = """[[tables]]
file = "people.csv"
quasi_identifiers = ["age", "ward"]
sensitive = ["sex", "code"]
left_out = ["pid"]
[[tables.checks]]
measure = "k"
at_least = 2
[[tables.checks]]
measure = "household_average_risk"
household = "home"
at_most = 0.5
"""
    (tmp_path / "p.toml").write_text(policy, encoding="utf-8")
    command("check", "p.toml", option, file, folder=tmp_path)
    table, text, _ = proposed(tmp_path, "people.csv", "--catalogue", file)
    assert f"#     home: {file} says household" in text
    assert table["quasi_identifiers"] == ["age", "ward"]
    assert table["sensitive"] == ["sex", "code"]
    assert "left_out" not in table  # an identifier that repeats identifies people
    assert table["entity"] == "pid"


def test_what_differs_is_said(tmp_path: Path) -> None:
    """A column that is called harmless keeps the role that it looks to have; a name not there is said."""
    people(tmp_path)
    columns = [
        {"name": "age", "meta": {"pii": False}},
        {"name": "pid", "tags": ["public"]},
        {"name": "sex", "tags": ["pii"]},
        {"name": "wrad", "tags": ["sensitive"]},
        {"name": "ward", "tags": ["sensitve", "a list of words", "identification"]},
    ]
    write(tmp_path, "s.yml", {"models": [{"name": "anything", "columns": columns}]})
    table, text, printed = proposed(tmp_path, "people.csv", "--catalogue", "s.yml")
    assert table["entity"] == "pid"
    assert {"age", "sex", "ward"} <= {*table["quasi_identifiers"]}
    harmless = "s.yml says no personal data; by its name and values: "
    for line in (
        f"pid: {harmless}it looks like the identifier of a person and repeats.",
        f"age: {harmless}others can know it.",
        "s.yml says sensitive, but the table lacks it",
        "ward: s.yml says 'sensitve' (did you mean 'sensitive'?); by its name and values: others can know it.",
    ):
        assert line in text
        assert line in printed


HOSTILE = 'sensitive\ncautions = "accept"\n[[tables.checks]]\nmeasure = "k"\nat_least = 1\n# '


def test_what_is_written_adds_no_key_to_the_policy(tmp_path: Path) -> None:
    """Neither names and comments in a database, nor names and texts in a file, nor the name of the file."""
    column = f"age {HOSTILE}"
    file = 'a\ncautions = "accept"\n#.json'
    rows = [(20 + n % 40, n % 9) for n in range(400)]
    pl.DataFrame(rows, [column, "zip"], orient="row").write_parquet(tmp_path / "a.parquet")
    with duckdb.connect(tmp_path / "people.duckdb") as con:
        con.execute(f"CREATE TABLE people AS FROM '{tmp_path / 'a.parquet'}'")
        con.execute(f"COMMENT ON COLUMN people.zip IS '{HOSTILE}'")
    lost = {"name": f"lost {HOSTILE}", "tags": [HOSTILE]}
    known = {"name": column, "tags": [HOSTILE], "description": 'x"; quasi_identifier'}
    write(tmp_path, file, {"fields": [lost, {**known, "tags": []}]})
    _, text, _ = proposed(tmp_path, "people.duckdb", "--catalogue", file)
    policy = tomllib.loads(text)
    assert {*policy} == {"cautions", "tables"}
    assert policy["cautions"] == "refuse"
    (table,) = policy["tables"]
    assert table["sensitive"] == ["zip"]
    assert [each["measure"] for each in table["checks"]] == ["k", "average_risk", "l_diversity"]
    assert table["checks"][0]["at_least"] == 5


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        ("a.yml", "columns: [{name: age, tags: [sensitive, entity]}]", "must have one role"),
        (
            "a.yml",
            "columns:\n- {name: age, tags: entity}\n- {name: AGE, tags: identifier}",
            "one role",
        ),
        ("a.yml", "- age", "must be YAML with a key and a value a line"),
        ("a.yml", "a: &a [*a]", "must be YAML with a key and a value a line"),
        ("a.yml", "a: [", "must be YAML"),
        ("a.json", "{", "must be JSON"),
        ("a.json", "[" * 100_000, "must be JSON"),
        ("a.json", '{"columns": {"age": "sensitive"}}', "must list columns"),
        ("a.json", "{}", "must list columns"),
        ("a.yml", "columns: [{name: age, tags: restricted}]", "there are no tables with roles"),
        ("", None, "must be a file that can be read"),
        ("b.json", None, "must be a file that can be read"),
        (".", None, "must be a file that can be read"),
        (
            "a.yml",
            "models: [{name: poeple, columns: [{name: age, tags: pii}]}, {name: x, columns: [{name: age}]}]",
            "must have a role of a column of 'people', got none",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(
    tmp_path: Path, file: str, text: str | None, sentence: str
) -> None:
    people(tmp_path)
    if text is not None:
        (tmp_path / file).write_text(text, encoding="utf-8")
    refused = command("init", "people.csv", "--catalogue", file, folder=tmp_path)
    assert refused.returncode == 2
    assert sentence in " ".join(refused.stderr.split())
    assert "Traceback" not in refused.stderr
    assert not [*tmp_path.glob("*.toml")]


def test_each_table_of_a_folder_has_its_roles(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    people(data)
    (data / "visits.csv").write_bytes((data / "people.csv").read_bytes())
    (data / "more.csv").write_bytes((data / "people.csv").read_bytes())
    tables = [
        {"name": "people", "columns": [{"name": "ward", "tags": ["sensitive"]}]},
        {"name": "visits", "columns": [{"name": "sex", "tags": ["sensitive", "entity"]}]},
    ]
    write(tmp_path, "s.yml", {"models": tables})
    done = command("init", "data", "--catalogue", "s.yml", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Not in the policy: data/visits.csv (a column must have one role" in " ".join(
        done.stdout.split()
    )
    written = tomllib.loads((tmp_path / "data.policy.toml").read_text(encoding="utf-8"))["tables"]
    assert {each["file"]: each.get("sensitive") for each in written} == {
        "data/more.csv": None,
        "data/people.csv": ["ward"],
    }
