"""A policy that names who is who is held to people, not to their rows."""

import json
from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import pytest
from scipy import stats

from tests.processes import command
from tests.tables import connection

VISITS = "person_id,age,sex,town,diagnosis\n" + "".join(
    f"{person},{person % 50},{'FM'[person % 2]},{'AB'[person % 3 == 0]},x\n" * 5 for person in range(97)
)
POLICY = """
mask_below = 1
[[tables]]
file = "visits.csv"
quasi_identifiers = ["age", "sex"]
{entity}
[[tables.checks]]
measure = "k"
at_least = 5
[[tables.checks]]
measure = "uniqueness"
at_most = 0.01
by = ["town"]
quasi_identifiers = ["sex"]
"""
L = """
sensitive = ["diagnosis"]
[[tables.checks]]
measure = "l_diversity"
at_least = 1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "visits.csv").write_text(VISITS, encoding="utf-8")
    return tmp_path


def checked(folder: Path, policy: str) -> tuple[int, dict[str, object], str]:
    (folder / "policy.toml").write_text(policy, encoding="utf-8")
    done = command("check", str(folder / "policy.toml"), "--json-report", str(folder / "report.json"))
    return done.returncode, json.loads((folder / "report.json").read_text(encoding="utf-8")), done.stdout


def test_rows_pass_where_people_fail(folder: Path) -> None:
    code, page, shown = checked(folder, POLICY.format(entity=""))
    assert code == 0
    assert "One row per person is assumed." in shown
    code, page, shown = checked(folder, POLICY.format(entity='entity = "person_id"'))
    assert code == 1
    table, check = page["tables"][0], page["checks"][0]  # type: ignore[index]
    assert (table["records"], table["entity"], table["classes"]) == (97, "person_id", 50)
    assert check["verdict"] == "fail"
    assert check["groups"][0]["value"] == 1
    assert "97 people, distinguished by person_id" in shown
    assert "One row per person is assumed." not in shown


def test_a_forecast_is_of_people(folder: Path) -> None:
    forecast = '[[tables.checks]]\nmeasure = "forecast_uniqueness"\npopulation = 1000\nat_most = 1\n'
    figures = {}
    for entity in ("", 'entity = "person_id"'):
        _, page, _ = checked(folder, POLICY.format(entity=entity) + forecast)
        found = page["checks"][-1]  # type: ignore[index]
        assert found["verdict"] == "pass"
        figures[entity] = found["groups"][0]["value"]
    rows = VISITS.splitlines()[1:]
    con = connection()
    (folder / "people.csv").write_text(
        "person_id,age,sex,town,diagnosis\n" + "\n".join(rows[::5]), encoding="utf-8"
    )
    for entity, file in (("", "visits.csv"), ('entity = "person_id"', "people.csv")):
        asked = f"SELECT uniqueness FROM pyc_forecast('{folder / file}', ['age', 'sex'], [1000])"
        assert con.execute(asked).fetchall() == [(pytest.approx(figures[entity], rel=1e-9),)]
    assert figures[""] < figures['entity = "person_id"']


def test_what_classes_give_away_counts_people(folder: Path) -> None:
    policy = POLICY.format(entity='entity = "person_id"\nsensitive = ["diagnosis"]')
    checks = '[[tables.checks]]\nmeasure = "l_diversity"\nat_least = 1\n'
    checks += '[[tables.checks]]\nmeasure = "l_diversity"\nat_least = 1\nsensitive = "town"\n'
    _, page, _ = checked(folder, policy + checks)
    verdicts = [(each["verdict"], each["groups"][0]["value"]) for each in page["checks"][-2:]]  # type: ignore[index]
    assert verdicts == [("pass", 1), ("pass", 1)]
    several = VISITS.replace(",x\n", ",y\n", 1)
    (folder / "visits.csv").write_text(several, encoding="utf-8")
    _, page, _ = checked(folder, policy + checks)
    reported = page["checks"][-2]  # type: ignore[index]
    assert reported["verdict"] == "not judged"
    assert "sensitive must have one value for each person in a class" in json.dumps(reported)


def test_a_measure_of_rows_is_not_judged_for_people(folder: Path) -> None:
    policy = POLICY.format(entity='entity = "person_id"\nsensitive = ["diagnosis"]').replace(
        "at_least = 5", "at_least = 1"
    )
    rows = (
        '[[tables.checks]]\nmeasure = "sparse_correctness"\nperson = "person_id"\nitem = "age"\nat_most = 1\n'
    )
    code, page, _ = checked(folder, policy + rows)
    assert code == 2
    last = page["checks"][-1]  # type: ignore[index]
    assert last["verdict"] == "not judged"
    assert "which counts rows" in json.dumps(last)


def exposed(con: duckdb.DuckDBPyConnection, score: str, over: float) -> float:
    """The share of people of whom some row scores above, in a loop; those without a name are one person.

    Who of the table shares a row is known; each other person of the population does by the row's probability.
    """
    found = con.execute("SELECT person_id, cell_probability('m', age, sex), age, sex FROM part").fetchall()
    rows = {(person, *row): q for person, q, *row in found}
    people = Counter(tuple(row) for _, *row in rows)
    unseen = 1000 - len({person for person, *_ in rows})
    highest: dict[str | None, float] = {}
    for (person, *row), q in rows.items():
        others = stats.binom(unseen, q).pmf(np.arange(unseen + 1))
        size = people[tuple(row)]
        right = float(others @ (1 / (size + np.arange(unseen + 1))))
        own = right if score == "kappa" else float(others[0]) * (size == 1)
        highest[person] = max(highest.get(person, 0.0), own)
    return sum(each > over for each in highest.values()) / len(highest)


@pytest.mark.parametrize("score", ["xi", "kappa"])
def test_shares_under_a_model_are_of_people(folder: Path, score: str) -> None:
    """A visit of each person is at another age; some are of nobody known, some lack an age."""
    lines = [
        f"{'' if person == 7 else person},{'' if visit == 3 else (person * visit) % 50},{'FM'[person % 2]},"
        f"{'AB'[person % 3 == 0]},x"
        for person in range(97)
        for visit in range(1, 6)
    ]
    (folder / "visits.csv").write_text("\n".join([VISITS.splitlines()[0], *lines]), encoding="utf-8")
    more = f'[[tables.checks]]\nmeasure = "{score}_share"\npopulation = 1000\nthreshold = 0.05\nat_most = 1\n'
    policy = POLICY.format(entity='entity = "person_id"') + more + more + 'by = ["town"]\n'
    _, page, _ = checked(folder, policy)
    whole, divided = page["checks"][-2:]  # type: ignore[index]
    con = connection()
    con.execute(f"CREATE OR REPLACE TABLE visits AS FROM read_csv('{folder}/visits.csv', all_varchar = true)")
    for groups, each in ((["true"], whole), (["town = 'A'", "town = 'B'"], divided)):
        expected = []
        for group in groups:
            con.execute(f"CREATE OR REPLACE TEMP TABLE part AS FROM visits WHERE {group}")
            fit = "FROM fit_copula('m', part, ['age', 'sex'], entity := 'person_id', "
            con.execute(f"{fit}method := 'paper')").fetchall()
            expected.append(exposed(con, score, 0.05))
        assert [found["value"] for found in each["groups"]] == pytest.approx(expected, rel=1e-9)
        assert min(expected) > 0


SCENE = """
population = 5000
groups = [{ columns = ["sex", "town"], probability = 0.5 }, { columns = ["age"], probability = 0.25 }]
"""


def test_attackers_know_people_not_their_rows(folder: Path) -> None:
    """Five rows of each person are worth one; and what they are worth is what a table of people says."""
    (folder / "scene.toml").write_text(SCENE, encoding="utf-8")
    checks = "".join(
        f'[[tables.checks]]\nmeasure = "adversary_{which}"\nscenario = "scene.toml"\nat_most = 1\n{by}'
        for which in ("average", "highest")
        for by in ("", 'by = ["sex"]\n')
    )
    figures = []
    for entity, rows in (('entity = "person_id"', 1), ("", 5), ("", 1)):
        remaining = [line for place, line in enumerate(VISITS.splitlines()[1:]) if place % rows == 0]
        text = "\n".join([VISITS.splitlines()[0], *remaining])
        (folder / "visits.csv").write_text(text, encoding="utf-8")
        _, page, _ = checked(folder, POLICY.format(entity=entity) + checks)
        assert all(each["verdict"] == "pass" for each in page["checks"][-4:])  # type: ignore[index]
        figures.append([group["value"] for each in page["checks"][-4:] for group in each["groups"]])  # type: ignore[index]
    people, one_row_each, rows_for_people = figures
    assert people == pytest.approx(one_row_each, rel=1e-9)
    assert all(of_people > of_rows for of_people, of_rows in zip(people, rows_for_people, strict=True))


def test_choices_of_columns_are_judged_for_people(folder: Path) -> None:
    policy = POLICY.format(entity='entity = "person_id"')
    checks = "".join(
        f'[[tables.checks]]\nmeasure = "{measure}"\nat_most = 0.1\n{more}'
        for measure, more in (("distinction", ""), ("separation", ""), ("qar", "p = 2\n"))
    )
    _, page, _ = checked(folder, policy + checks)
    people = {(person % 50, "FM"[person % 2]) for person in range(97)}
    distinction, separation, qar = page["checks"][-3:]  # type: ignore[index]
    assert distinction["groups"][0]["value"] == pytest.approx(len(people) / 97)
    assert separation["groups"][0]["value"] == pytest.approx(1 - 47 * 2 / (97 * 96))
    assert qar["verdict"] == "not judged"
    assert "quasi-identifiers exceed the threshold, and a fit needs" in json.dumps(qar)


@pytest.mark.parametrize(
    ("entity", "message"),
    [
        ("age", "entity must not be a quasi-identifier, got 'age'"),
        ("persn_id", "got 'persn_id'; did you mean 'person_id'?"),
    ],
)
def test_who_is_who_must_be_another_column_of_the_table(folder: Path, entity: str, message: str) -> None:
    (folder / "policy.toml").write_text(POLICY.format(entity=f'entity = "{entity}"'), encoding="utf-8")
    done = command("check", str(folder / "policy.toml"))
    assert done.returncode == 2
    assert message in done.stderr


def test_a_refusal_of_one_group_leaves_the_others_measured(folder: Path) -> None:
    """People of two values stand in town A alone; its name is one that the answer has for itself."""
    reported = VISITS.replace("town", "status").replace("\n2,2,F,A,x\n", "\n2,2,F,A,y\n", 1)
    (folder / "visits.csv").write_text(reported, encoding="utf-8")
    limits = POLICY.format(entity='entity = "person_id"' + L + 'by = ["status"]\n').replace("town", "status")
    _, page, _ = checked(folder, limits)
    found = page["checks"][0]["groups"]  # type: ignore[index]
    assert [group["value"] for group in found if group["group"] == {"status": "B"}] == [1]
    refused = next(group for group in found if group["group"] == {"status": "A"})
    assert refused["value"] is None
    assert "one value for each person" in json.dumps(refused)
