"""A scenario says what it means, and a bad one is refused in a sentence that names the place."""

import json
from pathlib import Path
from typing import Any

import pytest

from reid_sql.errors import ReidError
from reid_sql.models.attacker.scenario import Hierarchy, broader_values
from reid_sql.scenarios import SHIPPED, scenario
from tests.cells import each_cell

GROUP = {"columns": ["age"], "probability": 0.5}
GOOD: dict[str, Any] = {"population": 1000, "groups": [GROUP]}


def by(**more: Any) -> dict[str, Any]:
    return GOOD | {"groups": [{"columns": ["age"], "by": "state"} | more]}


def broader(**steps: list[str] | str) -> dict[str, Any]:
    return GOOD | {"hierarchies": {"race": {"broader": steps}}}


REFUSED: dict[str, tuple[Any, str]] = {
    "nothing": (
        None,
        "scenario must be a path, JSON text or a mapping, got nothing; pass a .toml or .json file",
    ),
    "blank": ("  ", "scenario must be a path, JSON text or a mapping, got '  '"),
    "broken JSON": ("{", "scenario must be valid JSON, got an error: Expecting property name"),
    "no finite number": ('{"population": NaN}', "scenario must contain finite numbers, got NaN"),
    "no file": (
        "nowhere.toml",
        "scenario must be an existing file, JSON text or a shipped name, got 'nowhere.toml'; ",
    ),
    "shipped, misspelt": ("adult_voter_registr", "did you mean 'adult_voter_register'?"),
    "unknown key": (
        GOOD | {"populaton": 3},
        "must have only known keys, got 'populaton'; did you mean 'population'?",
    ),
    "unknown key of a group": (
        GOOD | {"groups": [GROUP | {"probabilty": 1}]},
        (
            "scenario groups[1] must have only known keys, got 'probabilty'; did you mean 'probability'?"
        ),
    ),
    "no groups": ({"population": 10}, "scenario groups must contain at least one group, got none"),
    "groups as a table": (
        GOOD | {"groups": GROUP},
        "scenario groups must be a list of tables, got {'columns'",
    ),
    "a group as a text": (
        GOOD | {"groups": ["age"]},
        "scenario groups[1] must be a table of keys and values, got 'age'",
    ),
    "no columns": (
        GOOD | {"groups": [{"probability": 1}]},
        "scenario groups[1].columns must name one or more columns",
    ),
    "columns as a text": (
        GOOD | {"groups": [{"columns": "age", "probability": 1}]},
        """scenario groups[1].columns must be a list of texts, got 'age'; write it like ["age", "sex"]""",
    ),
    "outside [0, 1]": (
        GOOD | {"groups": [GROUP, {"columns": ["sex"], "probability": 1.5}]},
        "scenario groups[2].probability must be a probability between 0 and 1, got 1.5; pass a share",
    ),
    "a text for a number": (
        GOOD | {"groups": [{"columns": ["sex"], "probability": "high"}]},
        "scenario groups[1].probability must be a probability between 0 and 1, got 'high'; pass a share",
    ),
    "true for a number": (
        GOOD | {"link_confirmed": True},
        "scenario link_confirmed must be a probability between 0 and 1, got True",
    ),
    "a parameter outside": (
        GOOD | {"presence_disclosed": -1},
        "presence_disclosed must be a probability between 0 and 1, got -1",
    ),
    "no population": (
        {"groups": [GROUP]},
        "scenario population must be a number of people from 1 to 8.3e9",
    ),
    "more people than live": (
        {"population": 1e10, "groups": [GROUP]},
        "scenario population must be a number of people from 1 to 8.3e9",
    ),
    "overlap": (
        GOOD | {"groups": [GROUP, {"columns": ["sex", "age"], "probability": 1}]},
        (
            "scenario groups must not overlap, got 'age' in groups[1] and groups[2]; "
            "name each column in one group alone"
        ),
    ),
    "overlap for one subject": (
        GOOD
        | {
            "groups": [
                {
                    "columns": ["age", "sex"],
                    "by": "state",
                    "probabilities": {"CA": 0.5},
                    "otherwise": 0,
                },
                {"columns": ["age"], "by": "state", "probabilities": {"NY": 0.5}, "otherwise": 0.1},
            ]
        },
        (
            "scenario groups must not overlap, got 'age' in groups[1] and groups[2]; "
            "where groups differ by subject, give all"
        ),
    ),
    "twice in a group": (
        GOOD | {"groups": [GROUP | {"columns": ["a", "a"]}]},
        "got 'a' in groups[1] twice",
    ),
    "too many": (
        GOOD | {"groups": [{"columns": [f"c{place}" for place in range(65)], "probability": 1}]},
        "scenario groups must name 1 to 64 columns, got 65",
    ),
    "both": (
        by(probability=0.5, probabilities={"CA": 1}),
        "scenario groups[1] must have a probability, or a column that determines it, got both",
    ),
    "neither": (
        GOOD | {"groups": [{"columns": ["age"]}]},
        "got neither; give probability = 0.5, or by",
    ),
    "otherwise without by": (
        GOOD | {"groups": [GROUP | {"otherwise": 1}]},
        "scenario groups[1].otherwise needs by",
    ),
    "by without probabilities": (
        by(),
        "groups[1] must give the probabilities by 'state' inline or in a file, got n",
    ),
    "a value outside": (
        by(probabilities={"CA": 2}),
        "groups[1].probabilities.CA must be a probability between 0 and 1, got 2",
    ),
    "no flag": (
        by(probabilities={"CA": 1}, values_may_be_absent="yes"),
        "values_may_be_absent must be true or false, got 'yes'",
    ),
    "no table": (
        by(table="states.csv"),
        "scenario groups[1].table must be an existing file, got 'states.csv'",
    ),
    "cycle": (
        broader(Bern=["Mittelland"], Mittelland=["Switzerland"], Switzerland=["Bern"]),
        "scenario hierarchies.race.broader must not lead back to where it began, got ",
    ),
    "a circle of one": (broader(Bern=["Bern"]), "got Bern → Bern; leave one step out"),
    "broader as a text": (
        broader(Bern="Switzerland"),
        "scenario hierarchies.race.broader.Bern must be a list of texts",
    ),
    "unknown key of a hierarchy": (
        GOOD | {"hierarchies": {"race": {"any": ["?"]}}},
        "hierarchies.race must have only known keys",
    ),
    "name": (
        GOOD | {"name": 3},
        'scenario name must be a text, got 3; write it in quotes, like "age"',
    ),
    "a list": ("[1]", "scenario must be an existing file"),
}


@each_cell("words", REFUSED)
def test_a_bad_scenario_is_refused_where_it_is_bad(words: str) -> None:
    source, sentence = REFUSED[words]
    with pytest.raises(ReidError) as refused:
        scenario(source)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)
    assert ";" in str(refused.value)


def test_toml_json_text_and_mapping_are_one(tmp_path: Path) -> None:
    toml = 'population = 1000\n[[groups]]\ncolumns = ["age"]\nprobability = 0.5\n'
    (tmp_path / "a.toml").write_text(toml, encoding="utf-8")
    (tmp_path / "a.json").write_text(json.dumps(GOOD), encoding="utf-8")
    found = scenario(GOOD)
    for source in (
        tmp_path / "a.toml",
        str(tmp_path / "a.json"),
        json.dumps(GOOD),
        found,
        found.text(),
    ):
        assert scenario(source) == found


def test_broken_toml_and_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("population = \n", encoding="utf-8")
    with pytest.raises(ReidError, match=r"scenario must be valid TOML, got an error: .*line 1"):
        scenario(tmp_path / "bad.toml")
    (tmp_path / "list.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(ReidError, match=r"scenario must be a table of keys and values, got \[1\]"):
        scenario(tmp_path / "list.json")
    (tmp_path / "a.yaml").write_text("a: 1", encoding="utf-8")
    with pytest.raises(ReidError, match=r"scenario must be a .toml or .json file"):
        scenario(tmp_path / "a.yaml")


def test_probabilities_stand_in_a_table_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "states.csv").write_text("value,probability\nCA,0.25\nNY,1\n", encoding="utf-8")
    (tmp_path / "a.json").write_text(
        json.dumps(by(table="states.csv", otherwise=0.5)), encoding="utf-8"
    )
    found = scenario(tmp_path / "a.json")
    assert found.groups[0].probabilities == {"CA": 0.25, "NY": 1.0}
    assert scenario(found.text()) == found


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("", "must be a CSV file of two columns, value and probability, got an empty file"),
        ("state,p\nCA,0.5\n", "got state,p; name them so"),
        ("value,probability\nCA\n", "must be a CSV file of two columns"),
        ("value,probability\nCA,0.5\nCA,0.6\n", "must name each value once, got 'CA' twice"),
        (
            "value,probability\nCA,often\n",
            "groups[1].table.CA must be a probability between 0 and 1, got 'often'",
        ),
    ],
)
def test_a_bad_table_is_refused(tmp_path: Path, lines: str, sentence: str) -> None:
    (tmp_path / "states.csv").write_text(lines, encoding="utf-8")
    with pytest.raises(ReidError) as refused:
        scenario(by(table="states.csv"), tmp_path)
    assert sentence in str(refused.value)


def test_broader_values_by_any_number_of_steps() -> None:
    places = Hierarchy(
        {"Bern": ["Mittelland", "capital"], "Mittelland": ["Switzerland"], "Switzerland": ["*"]},
        ["?"],
    )
    assert broader_values(places, "Bern") == {"Mittelland", "capital", "Switzerland", "*", "?"}
    assert broader_values(places, "?") == set()


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_scenarios_say_what_they_assume(name: str) -> None:
    found = scenario(name)
    assert found.name
    assert len(found.assumptions) >= 2
    assert len(found.columns) == 12
    assert set(found.columns) == set(scenario("adult_worst_case").columns)


def test_all_others_may_be_everybody() -> None:
    found = scenario(by(probabilities={}, otherwise=0.1))
    assert (found.groups[0].probabilities, found.groups[0].otherwise) == ({}, 0.1)
    assert scenario(found.text()) == scenario(by(otherwise=0.1)) == found


def test_groups_may_differ_by_subject() -> None:
    both = {"columns": ["age", "sex"], "by": "state", "probabilities": {"CA": 0.5}, "otherwise": 0}
    alone = {
        "columns": ["age"],
        "by": "state",
        "probabilities": {"CA": 0, "NY": 0.5},
        "otherwise": 0.2,
    }
    found = scenario(GOOD | {"groups": [both, alone]})
    assert found.columns == ["age", "sex"]
    assert scenario(found.text()) == found
