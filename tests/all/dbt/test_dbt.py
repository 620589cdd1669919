"""A small dbt project, run as its users run it: the plugin in its profile, the shipped package of tests.

The package stands in its packages.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import reid_sql
from tests.all.dbt.running import PYTHON, Results, dbt

HERE = Path(__file__).parent
pytestmark = pytest.mark.dbt


def people(root: Path) -> str:
    return str(root / "reid_sql" / "demo" / "people.csv")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    folder = tmp_path_factory.mktemp("dbt") / "town"
    shutil.copytree(HERE / "project", folder)
    dbt(folder, root, "deps")
    # of tables that are not there yet
    shown = dbt(folder, root, "compile", REID_SQL_PEOPLE=people(root))
    assert {each["status"] for each in shown.values()} == {"success"}
    built = dbt(folder, root, "run", REID_SQL_PEOPLE=people(root))
    assert {name: each["status"] for name, each in built.items()} == dict.fromkeys(
        ["people", "release", "summary", "written"], "success"
    )
    return folder


@pytest.fixture(scope="module")
def tested(project: Path, root: Path) -> Results:
    return dbt(project, root, "test", REID_SQL_PEOPLE=people(root))


def test_models_use_the_functions_and_leave_none_behind(project: Path, tested: Results) -> None:
    assert tested
    with duckdb.connect(str(project / "town.duckdb"), read_only=True) as con:
        assert con.execute("FROM summary").fetchall() == [(3000, 1730, 1)]
        assert con.execute("SELECT count(*) FROM release").fetchall()[0][0] > 2900
        assert con.execute(
            "SELECT count(*) FROM duckdb_functions() WHERE function_name LIKE 'reid%'"
        ).fetchall() == [(0,)]


PASSING = [
    "release_policy",
    "release_policy_where",
    "people_few_at_risk",
    "people_k_grown_up",
    "people_k_of_one",
    "release_k",
    "release_l",
    "release_t",
    "release_alpha_k",
]
FAILING = [
    ("people_k", "fail"),
    ("people_at_risk", "fail"),
    ("people_l", "fail"),
    ("people_k_warns", "warn"),
]
MASK = 10  # the default of mask_below
REFUSED = [
    (
        "people_k_typo",
        "quasi-identifiers must be columns of the table, got 'agee'; did you mean 'age'?",
    ),
    ("people_k_nobody", "the table must contain at least one record, got 0"),
    ("people_l_nobody", "the table must contain at least one record, got 0"),
    ("people_at_risk_nobody", "the table must contain at least one record, got 0"),
    (
        "people_policy_typo",
        "the policy must have a table for the model, got 'poeple'; did you mean 'people'?",
    ),
    (
        "people_policy_not_there",
        "policy must be an existing file, got 'polizy.toml'; did you mean 'policy.toml'?",
    ),
    ("release_as_people", "columns of the policy must be columns of the table, got 'age'"),
    (
        "people_t_without_an_order",
        "sensitive must be a column of numbers, dates, times, booleans or ENUMs",
    ),
]
AGED = "people, ['age', 'sex', 'postcode']"
BY_AGE = "people, ['sex', 'postcode'], 'age'"
ANSWERED = [
    (
        "people_k_wildcard",
        f"round(records_at_risk * records) FROM risk_summary({AGED}, nulls := 'wildcard')",
    ),
    (
        "people_t_ordered",
        f"offending_records FROM t_closeness({BY_AGE}, t := 0.1, variant := 'ordered')",
    ),
]


@pytest.mark.parametrize("name", PASSING)
def test_what_meets_its_limit_passes(tested: Results, name: str) -> None:
    assert (tested[name]["status"], tested[name]["failures"]) == ("pass", 0)


@pytest.mark.parametrize(("name", "status"), FAILING)
def test_failures_are_the_records_that_offend(
    project: Path, tested: Results, name: str, status: str
) -> None:
    groups = {"people_k": "age, sex, postcode", "people_at_risk": "age, sex, postcode"}.get(
        name, "age, sex"
    )
    offends = "count(DISTINCT diagnosis) < 2" if name == "people_l" else "count(*) < 5"
    with duckdb.connect(str(project / "town.duckdb"), read_only=True) as con:
        counted = f"SELECT sum(n) FROM (SELECT count(*) AS n FROM people GROUP BY {groups} HAVING {offends})"
        ((expected,),) = con.execute(counted).fetchall()
    if name == "people_at_risk":  # a risk above 0.2 is a class of fewer than 5, too
        assert expected == tested["people_k"]["failures"]
    assert expected > 0
    reported = max(expected, MASK)  # of fewer than the mask's bound a test tells the bound
    assert (tested[name]["status"], tested[name]["failures"]) == (status, reported)


WRITTEN = [
    "plain",
    "listed",
    "packed",
    "deep",
    "beside_json",
    "beside_variant",
    "variants",
    "mapped",
]


@pytest.mark.parametrize("column", WRITTEN)
def test_a_collation_at_any_depth_hides_no_small_class(
    project: Path, tested: Results, column: str
) -> None:
    name = f"written_{column}"
    assert (tested[name]["status"], tested[name]["failures"]) == ("fail", MASK)
    (compiled,) = (project / "target" / "compiled").rglob(f"{name}.sql")
    with duckdb.connect(str(project / "town.duckdb"), read_only=True) as con:
        merged = con.execute(
            f"SELECT count(*) FROM (SELECT DISTINCT {column} FROM written)"
        ).fetchall()
        assert merged == [
            (1 if column in {"plain", "listed", "packed", "deep", "beside_variant"} else 3,)
        ]
        remaining = con.execute(compiled.read_text(encoding="utf-8")).fetchall()
    assert sorted(row[0] for row in remaining) == [1, 2, 2]


@pytest.mark.parametrize(("name", "asked"), ANSWERED)
def test_the_plugin_answers_what_plain_sql_does_not_say(
    project: Path, tested: Results, name: str, asked: str
) -> None:
    with duckdb.connect(str(project / "town.duckdb"), read_only=True) as con:
        reid_sql.register(con)
        ((expected,),) = con.execute(f"SELECT {asked}").fetchall()
    assert (tested[name]["status"], tested[name]["failures"]) == ("fail", expected)
    assert expected > MASK


def test_a_policy_fails_by_its_checks_and_says_which(project: Path, tested: Results) -> None:
    assert (tested["people_policy"]["status"], tested["people_policy"]["failures"]) == ("fail", 1)
    (compiled,) = (project / "target" / "compiled").rglob("people_policy.sql")
    assert "reid_policy_findings('policy.toml', 'people'," in compiled.read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "sentence"), REFUSED)
def test_what_cannot_be_judged_is_an_error_and_never_a_pass(
    tested: Results, name: str, sentence: str
) -> None:
    assert tested[name]["status"] == "error"
    assert sentence in tested[name]["message"]


@pytest.mark.parametrize("python", [PYTHON or "", sys.executable], ids=["with dbt", "without"])
def test_the_command_says_where_the_package_lies(root: Path, python: str) -> None:
    environment = os.environ | {"PYTHONPATH": f"{root}{os.pathsep}{root / 'udfs'}"}
    message = subprocess.run(
        [python, "-m", "reid_sql.dbt"], env=environment, capture_output=True, text=True, check=True
    )
    assert message.stdout.strip() == str(root / "reid_sql" / "dbt")
    assert (Path(message.stdout.strip()) / "dbt_project.yml").is_file()
