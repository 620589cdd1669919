"""Verdicts as an event of OpenLineage, read by the classes of its client; and roles of columns as tags."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from openlineage.client.generated.base import EventType, InputDataset, Job, Run, RunEvent
from openlineage.client.generated.data_quality_assertions_dataset import (
    Assertion,
    DataQualityAssertionsDatasetFacet,
)
from openlineage.client.generated.error_message_run import ErrorMessageRunFacet
from openlineage.client.generated.tags_dataset import TagsDatasetFacet, TagsDatasetFacetFields

import reid_sql
from reid_sql.check.lineage import name_dataset
from reid_sql.cli import main
from tests.cells import each_cell

POLICY = """{more}
[[tables]]
name = "people"
file = "people.parquet"
quasi_identifiers = ["age", "sex"]
{table}
[[tables.checks]]
measure = "k"
at_least = {k}
[[tables.checks]]
measure = "l_diversity"
sensitive = "illness"
at_least = 2
by = ["town"]
"""


@pytest.fixture(autouse=True)
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        (20 + i % 3, "fm"[i % 2], ("flu", "hiv")[i // 6 % 2], "Ulm", i // 4) for i in range(120)
    ]
    frame = pl.DataFrame(rows, ["age", "sex", "illness", "town", "pid"], orient="row")
    frame.write_parquet("people.parquet")


def write(
    name: str, k: int = 5, table: str = 'sensitive = ["illness", "pid"]', more: str = ""
) -> str:
    Path(name).write_text(POLICY.format(k=k, table=table, more=more), encoding="utf-8")
    return name


def read(path: str) -> tuple[RunEvent, dict[str, Any]]:
    """Build the event of its classes, which refuse a field that they lack; their schemas are named."""
    event = json.loads(Path(path).read_text("utf-8"))
    inputs = []
    for each in event["inputs"]:
        facet = each["inputFacets"]["dataQualityAssertions"]
        found = DataQualityAssertionsDatasetFacet([Assertion(**one) for one in facet["assertions"]])
        assert facet["_schemaURL"] == found._schemaURL  # noqa: SLF001 - the field's name
        listed = each["facets"]["tags"]
        tags = TagsDatasetFacet([TagsDatasetFacetFields(**one) for one in listed["tags"]])
        assert listed["_schemaURL"] == tags._schemaURL  # noqa: SLF001 - the field's name
        named = each["namespace"], each["name"]
        facets: dict[str, Any] = {"dataQualityAssertions": found}
        inputs.append(InputDataset(*named, facets={"tags": tags}, inputFacets=facets))
    of_run: dict[str, Any] = {}
    for name, each in event["run"]["facets"].items():
        of_run[name] = ErrorMessageRunFacet(each["message"], each["programmingLanguage"])
        assert each["_schemaURL"] == of_run[name]._schemaURL  # noqa: SLF001 - the same
    read_again = RunEvent(
        eventTime=event["eventTime"],
        producer=event["producer"],
        run=Run(event["run"]["runId"], of_run),
        job=Job(event["job"]["namespace"], event["job"]["name"]),
        eventType=EventType(event["eventType"]),
        inputs=inputs,
    )
    assert event["schemaURL"] == read_again.schemaURL
    return read_again, event


def successes(event: dict[str, Any]) -> list[bool]:
    return [
        one["success"]
        for each in event["inputs"]
        for one in each["inputFacets"]["dataQualityAssertions"]["assertions"]
    ]


@each_cell(
    "k, more, expected",
    [
        (5, "", [True, True]),
        (50, "", [False, True]),
        # pid repeats, which is a caution: nothing is judged, and no assertion holds
        (5, 'cautions = "refuse"', [False, False]),
    ],
)
def test_an_assertion_holds_where_its_check_passes(k: int, more: str, expected: list[bool]) -> None:
    Path("event.json").unlink(missing_ok=True)
    main(["check", write("p.toml", k=k, more=more), "--openlineage", "event.json"])
    read_again, event = read("event.json")
    assert read_again.eventType == EventType.COMPLETE
    assert (event["inputs"][0]["namespace"], event["inputs"][0]["name"]) == (
        "file",
        "people.parquet",
    )
    assert successes(event) == expected
    tags = event["inputs"][0]["facets"]["tags"]["tags"]
    assert [(one["field"], one["key"]) for one in tags] == [
        *((name, "quasi_identifier") for name in ("age", "sex")),
        *((name, "sensitive") for name in ("illness", "pid")),
    ]
    text = Path("event.json").read_text("utf-8")
    assert not any(value in text for value in ("Ulm", "flu", "hiv", "120"))


def test_a_policy_that_is_refused_fails_the_run() -> None:
    files = [write("good.toml"), write("bad.toml", table="sensitve = []")]
    assert main(["check", *files, "--openlineage", "event.json"]) == 2
    read_again, event = read("event.json")
    assert read_again.eventType == EventType.FAIL
    assert "bad.toml: " in event["run"]["facets"]["errorMessage"]["message"]
    assert successes(event) == [True, True]


def test_two_runs_are_two_runs_and_python_writes_the_same() -> None:
    report = reid_sql.check(write("p.toml"))
    assert report.openlineage("event.json") == Path("event.json")
    first = read("event.json")[1]
    report.openlineage("event.json")  # an earlier event is replaced
    second = read("event.json")[1]
    assert first["run"]["runId"] != second["run"]["runId"]
    assert first["inputs"] == second["inputs"]


def test_tags_are_one_a_column_and_without_values() -> None:
    """Of an entity that is left out, and of a household that others can know, the role that matters more."""
    table = 'sensitive = ["illness"]\nentity = "pid"\nleft_out = ["pid", "town"]'
    policy = POLICY.format(k=1, table=table, more="").replace('by = ["town"]', "")
    Path("p.toml").write_text(policy, encoding="utf-8")
    assert main(["check", "p.toml", "--tags", "tags.json"]) == 0
    one = json.loads(Path("tags.json").read_text("utf-8"))
    roles = {
        "pid": "entity",
        "age": "quasi_identifier",
        "sex": "quasi_identifier",
        "illness": "sensitive",
        "town": "identifier",
    }
    columns = [{"name": name, "tags": [role]} for name, role in roles.items()]
    assert one == {"version": 2, "models": [{"name": "people", "columns": columns}]}
    household = 'measure = "household_average_risk"\nat_most = 1\nhousehold = "town"'
    other = (
        POLICY.partition("[[tables.checks]]")[0].replace('"sex"]', '"town"]')
        + "[[tables.checks]]\n"
    )
    Path("h.toml").write_text(other.format(more="", table="") + household, encoding="utf-8")
    main(["check", "p.toml", "h.toml", "--tags", "tags.json"])  # written over
    [model] = json.loads(Path("tags.json").read_text("utf-8"))["models"]
    found = {each["name"]: each["tags"] for each in model["columns"]}
    assert found == {name: [role] for name, role in roles.items()} | {"town": ["quasi_identifier"]}
    assert reid_sql.check("p.toml").tags("tags.json") == Path("tags.json")
    assert json.loads(Path("tags.json").read_text("utf-8")) == one


def test_a_file_that_is_something_else_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    Path("notes.json").write_text("{}", encoding="utf-8")
    for option in ("--openlineage", "--tags"):
        assert main(["check", write("p.toml"), option, "notes.json"]) == 2
        rule = f"{option} must be a new file or an earlier report of its kind"
        assert rule in capsys.readouterr().err
    assert Path("notes.json").read_text("utf-8") == "{}"


@each_cell(
    "file, table, expected",
    [
        ("a/people.csv", None, ("file", "a/people.csv")),
        ("people.duckdb", "main.people", ("file", "people.duckdb.main.people")),
        ("s3://bucket/year=2026/*.parquet", None, ("s3://bucket", "year=2026.*.parquet")),
        ("postgres://me:pw@h/db", "public.t", ("postgres://h", "db.public.t")),
    ],
)
def test_datasets_are_named_without_users_and_passwords(
    file: str, table: str | None, expected: tuple[str, str]
) -> None:
    assert name_dataset(file, table) == expected


def test_tags_of_odd_names_are_read_as_yaml() -> None:
    names = [
        'a"b',
        "it's",
        "k: v",
        "- x",
        "# c",
        "line\nbreak",
        "n\x7fn",
        "n\x85n",
        "n\u2028n",
        "n\ufeffn",
        "\U0001f600",
    ]
    pl.DataFrame({name: ["a", "b"] * 20 for name in names}).write_parquet("odd.parquet")
    check = {"measure": "k", "at_least": 1}
    table = {"name": "t", "file": "odd.parquet", "quasi_identifiers": names, "checks": [check]}
    Path("p.json").write_text(json.dumps({"tables": [table]}), encoding="utf-8")
    assert main(["check", "p.json", "--tags", "tags.yml"]) == 0
    [model] = yaml.safe_load(Path("tags.yml").read_bytes())["models"]
    assert [each["name"] for each in model["columns"]] == names
