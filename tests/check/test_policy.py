from pathlib import Path

import pytest

from reid_sql.check.policy import read_policy
from reid_sql.errors import ReidError
from tests.cells import each_cell
from tests.processes import command

HEAD = '[[tables]]\nfile = "people.csv"\nquasi_identifiers = ["age", "sex"]\n'
CHECK = '[[tables.checks]]\nmeasure = "k"\nat_least = 5\n'

REFUSED = {
    HEAD.replace("quasi_identifiers", "quasi_identifer") + CHECK: (
        "policy tables[1] must have only known keys, got 'quasi_identifer'; did you mean 'quasi_identifiers'?"
    ),
    HEAD + CHECK.replace("at_least", "at_lest"): "got 'at_lest'; did you mean 'at_least'?",
    HEAD
    + CHECK.replace(
        '"k"', '"uniquenes"'
    ): "must be a measure, got 'uniquenes'; did you mean 'uniqueness'?",
    HEAD
    + CHECK.replace(
        "at_least", "at_most"
    ): "must bound 'k' by at_least, as a lower figure is the higher risk, got at_most",
    HEAD
    + CHECK.replace(
        "5", "1.5"
    ): "policy tables[1].checks[1].at_least must be a whole number of at least 0, got 1.5",
    HEAD
    + CHECK.replace("5", '"5"'): "checks[1].at_least must be a whole number of at least 0, got '5'",
    HEAD
    + CHECK.replace("5", "nan"): "checks[1].at_least must be a whole number of at least 0, got nan",
    HEAD
    + CHECK.replace(
        "5", f"{10**400}"
    ): "whole number of at least 0, got a number of more than 308 digits",
    HEAD
    + CHECK.replace(
        "5", "true"
    ): "checks[1].at_least must be a whole number of at least 0, got True",
    HEAD
    + CHECK.replace(
        "at_least = 5", ""
    ): "checks[1] must have a limit, got none; write at_least = …",
    HEAD + 'weight = "w"\n' + CHECK: "only known keys, got 'weight'; write it in a check",
    HEAD + CHECK + "threshold = 0.1": "must have only known keys, got 'threshold'",
    HEAD + CHECK.replace('"k"', "3"): "checks[1].measure must be a text, got 3",
    HEAD + '[[tables.checks]]\nmeasure = "uniqueness"\nat_most = 5': (
        "must be a share from 0 to 1, got 5; write 0.05 for 5 %"
    ),
    HEAD + '[[tables.checks]]\nmeasure = "forecast_uniqueness"\nat_most = 0.1': (
        "checks[1].population must be a number of people"
    ),
    HEAD + '[[tables.checks]]\nmeasure = "journalist_highest_risk"\nat_most = 0.1': (
        "needs a population table for the measure"
    ),
    HEAD
    + '[[tables.checks]]\nmeasure = "adversary_average"\nat_most = 0.1': "scenario must be a path",
    HEAD + '[[tables.checks]]\nmeasure = "sparse_correctness"\nat_most = 0.1': (
        "needs entity for the measure 'sparse_correctness', got none"
    ),
    HEAD
    + '[[tables.checks]]\nmeasure = "t_closeness"\nat_most = 0.1\nsensitive = "ill"\nby = ["ILL"]': (
        "by must not be the sensitive column, got 'ill', of which each group would have one value"
    ),
    HEAD + "population = 1e12\n" + CHECK: (
        "policy tables[1].population must be a number of people from 1 to 8.3e9, as many as live, got 1000000"
    ),
    HEAD
    + '[[tables.checks]]\nmeasure = "population_correctness"\nat_most = 1\npopulation = 8.31e9': (
        "checks[1].population must be a number of people from 1 to 8.3e9"
    ),
    HEAD + '[[tables.checks]]\nmeasure = "xi_share"\nat_most = 1\npopulation = 1e10': (
        "checks[1].population must be a number of people from 1 to 8.3e9"
    ),
    HEAD + 'nulls = "dorp"\n' + CHECK: "got 'dorp'; did you mean 'drop'?",
    HEAD + 'quasi_identifiers = ["age", "age"]\n' + CHECK: "policy must be valid TOML",
    HEAD.replace('"sex"', '"age"')
    + CHECK: "policy tables[1].quasi_identifiers must be distinct, got 'age' twice",
    HEAD.replace('"age", "sex"', "")
    + CHECK: "checks[1] needs quasi-identifiers for the measure 'k', got none",
    HEAD.replace('["age", "sex"]', '"age"')
    + CHECK: "quasi_identifiers must be a list of texts, got 'age'",
    HEAD
    + 'population_table = "x"\n'
    + CHECK: "population_table must come with population_file, got none",
    HEAD + "checks = 3": "policy tables[1].checks must be a list of tables, got 3",
    HEAD: "policy tables[1] must have at least one check, got none",
    HEAD + CHECK + HEAD + CHECK: "policy tables must have distinct names, got 'people' twice",
    "seed = -1\n" + HEAD + CHECK: "policy seed must be a whole number from 0",
    "mask_below = 0\n"
    + HEAD
    + CHECK: "policy mask_below must be a whole number from 1 to 1000, got 0",
    "tabels = []": "policy must have only known keys, got 'tabels'; did you mean 'tables'?",
    "tables = []": "policy must name at least one table, got none",
    "name = 3\n" + HEAD + CHECK: "policy name must be a text, got 3",
    "": "policy must name at least one table, got none",
    "[[": "policy must be valid TOML, got an error",
}


@each_cell("text", REFUSED)
def test_a_policy_is_refused_in_one_sentence_that_names_the_place(
    tmp_path: Path, text: str
) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ReidError) as refusal:
        read_policy(file)
    assert REFUSED[text] in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_json_is_as_good_as_toml_and_paths_are_seen_from_the_policy(tmp_path: Path) -> None:
    file = tmp_path / "policy.json"
    file.write_text(
        '{"tables": [{"file": "a/b.csv", "quasi_identifiers": ["x"], "checks": [{"measure": "k", "at_least": '
        "2}]}]}"
    )
    found = read_policy(file)
    assert found.tables[0].source.path == tmp_path / "a" / "b.csv"
    assert (found.name, found.tables[0].name, found.tables[0].checks[0].limit) == ("policy", "b", 2)


def test_checks_of_the_policy_are_held_against_every_table_and_seeds_are_handed_down(
    tmp_path: Path,
) -> None:
    file = tmp_path / "policy.toml"
    checks = (
        '[[checks]]\nmeasure = "adversary_average"\nscenario = "adult_worst_case"\nat_most = 0.1\n'
    )
    file.write_text(
        "seed = 7\n" + checks + '[[tables]]\nfile = "a.csv"\n[[tables]]\nfile = "b.csv"\n',
        encoding="utf-8",
    )
    found = read_policy(file).tables
    assert [table.checks[0].parameters["seed"] for table in found] == [7, 7]


BROKEN = {
    "nowhere.toml": "policy must be an existing file, got",
    "data.csv": "policy must be a .toml or .json file",
    ".": "policy must be an existing file",
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_policy_is_refused_by_the_command(tmp_path: Path, name: str) -> None:
    (tmp_path / "data.csv").write_text("a\n1\n", encoding="utf-8")
    done = command("check", str(tmp_path / name))
    assert done.returncode == 2
    assert BROKEN[name] in done.stderr
    assert done.stderr.count("\n") == 1


OF_THE_DATA = {
    'file = "dta.csv"\nquasi_identifiers = ["a"]': "policy tables[1].file must be an existing file, got",
    'file = "data.csv"\nquasi_identifiers = ["A"]': (
        "columns of the policy must be columns of the table, got 'A'"
    ),
    'file = "data.csv"\nquasi_identifiers = ["a"]\nsensitive = ["aa"]': "got 'aa'; did you mean 'a'?",
    'file = "notes.doc"\nquasi_identifiers = ["a"]': "must be of a kind that can be read",
    'file = "broken.parquet"\nquasi_identifiers = ["a"]': "broken.parquet",
    'file = "data.csv"\nquasi_identifiers = ["a"]\npopulation_file = "x.csv"': (
        "tables[1].population_file must be an existing"
    ),
    'file = "data.duckdb"\nquasi_identifiers = ["a"]': "data.duckdb",
}


@each_cell("table", OF_THE_DATA)
def test_what_does_not_fit_the_data_is_refused(tmp_path: Path, table: str) -> None:
    (tmp_path / "data.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    for name in ("notes.doc", "broken.parquet", "data.duckdb"):
        (tmp_path / name).write_text("this is something else", encoding="utf-8")
    (tmp_path / "policy.toml").write_text(f"[[tables]]\n{table}\n{CHECK}", encoding="utf-8")
    done = command("check", str(tmp_path / "policy.toml"))
    assert done.returncode == 2
    assert OF_THE_DATA[table] in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
