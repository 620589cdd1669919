"""What the first tier leaves of tests/check/test_people.py."""

from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import pytest
from scipy import stats

from tests.check.test_people import *
from tests.tables import connection


def test_a_forecast_is_of_people(folder: Path) -> None:
    forecast = (
        '[[tables.checks]]\nmeasure = "forecast_uniqueness"\npopulation = 1000\nat_most = 1\n'
    )
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


def exposed(con: duckdb.DuckDBPyConnection, score: str, over: float) -> float:
    """The share of people of whom some row scores above, in a loop.

    Who of the table shares a row is known; each other person of the population does by the row's probability.
    """
    found = con.execute(
        "SELECT person_id, cell_probability('m', age, sex), age, sex FROM part"
    ).fetchall()
    rows = {(person, *row): q for person, q, *row in found}
    people = Counter(tuple(row) for _, *row in rows)
    unseen = 1000 - len({person for person, *_ in rows})
    highest: dict[str, float] = {}
    for (person, *row), q in rows.items():
        others = stats.binom(unseen, q).pmf(np.arange(unseen + 1))
        size = people[tuple(row)]
        right = float(others @ (1 / (size + np.arange(unseen + 1))))
        own = right if score == "kappa" else float(others[0]) * (size == 1)
        highest[person] = max(highest.get(person, 0.0), own)
    return sum(each > over for each in highest.values()) / len(highest)


@pytest.mark.parametrize("score", ["xi", "kappa"])
def test_shares_under_a_model_are_of_people(folder: Path, score: str) -> None:
    """A visit of each person is at another age; some lack an age."""
    lines = [
        f"{person},{'' if visit == 3 else (person * visit) % 50},{'FM'[person % 2]},{'AB'[person % 3 == 0]},x"
        for person in range(97)
        for visit in range(1, 6)
    ]
    (folder / "visits.csv").write_text(
        "\n".join([VISITS.splitlines()[0], *lines]), encoding="utf-8"
    )
    more = f'[[tables.checks]]\nmeasure = "{score}_share"\npopulation = 1000\nthreshold = 0.05\nat_most = 1\n'
    policy = POLICY.format(entity='entity = "person_id"') + more + more + 'by = ["town"]\n'
    _, page, _ = checked(folder, policy)
    whole, divided = page["checks"][-2:]  # type: ignore[index]
    con = connection()
    con.execute(
        f"CREATE OR REPLACE TABLE visits AS FROM read_csv('{folder}/visits.csv', all_varchar = true)"
    )
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
        remaining = [
            line for place, line in enumerate(VISITS.splitlines()[1:]) if place % rows == 0
        ]
        text = "\n".join([VISITS.splitlines()[0], *remaining])
        (folder / "visits.csv").write_text(text, encoding="utf-8")
        _, page, _ = checked(folder, POLICY.format(entity=entity) + checks)
        assert all(each["verdict"] == "pass" for each in page["checks"][-4:])  # type: ignore[index]
        figures.append([group["value"] for each in page["checks"][-4:] for group in each["groups"]])  # type: ignore[index]
    people, one_row_each, rows_for_people = figures
    assert people == pytest.approx(one_row_each, rel=1e-9)
    assert all(
        of_people > of_rows for of_people, of_rows in zip(people, rows_for_people, strict=True)
    )
