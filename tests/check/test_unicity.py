"""The gate asks what an attacker knows of several rows of a person, and needs to be told who is a person."""

from collections import defaultdict
from itertools import combinations
from pathlib import Path

import duckdb
import pytest

import reid_sql
from reid_sql.check.gate import check
from reid_sql.errors import OutOfDomainError

VISITS = [
    (person, "ABCDE"[person * number % 5], number % 3)
    for person in range(9)
    for number in range(1, 5)
]
POLICY = """
mask_below = 1
[[tables]]
file = "visits.csv"
{entity}
quasi_identifiers = ["ward", "day"]
[[tables.checks]]
measure = "{measure}"
points = {points}
at_most = {limit}
"""


def by_hand(points: int) -> dict[str, float]:
    """Count who matches each choice of rows of each person, one after the other."""
    rows = defaultdict(set)
    for person, *row in VISITS:
        rows[person].add(tuple(row))
    alone, right = [], []
    for own in rows.values():
        known = [set(some) for some in combinations(sorted(own), min(points, len(own)))]
        matches = [sum(some <= other for other in rows.values()) for some in known]
        alone.append(sum(each == 1 for each in matches) / len(known))
        right.append(sum(1 / each for each in matches) / len(known))
    return {"unicity": sum(alone) / len(alone), "unicity_correctness": sum(right) / len(right)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = ["patient_id,ward,day", *(",".join(map(str, row)) for row in VISITS)]
    (tmp_path / "visits.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def written(folder: Path, measure: str, points: int | str, limit: float, entity: str) -> Path:
    path = folder / "policy.toml"
    text = POLICY.format(entity=entity, measure=measure, points=points, limit=limit)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("points", [1, 2, 3])
@pytest.mark.parametrize("measure", ["unicity", "unicity_correctness"])
@pytest.mark.first(cells=2)
def test_a_verdict_on_either_side_of_the_limit(folder: Path, measure: str, points: int) -> None:
    truth = by_hand(points)[measure]
    for limit, verdict in ((truth + 0.01, "pass"), (truth - 0.01, "fail")):
        if not 0 <= limit <= 1:
            continue
        page = check(written(folder, measure, points, limit, 'entity = "patient_id"'))
        [found] = page["checks"]
        assert found["verdict"] == verdict
        assert found["groups"][0]["value"] == pytest.approx(truth, rel=1e-12)


@pytest.mark.parametrize("measure", ["unicity", "unicity_correctness"])
def test_without_entity_it_is_refused(folder: Path, measure: str) -> None:
    with pytest.raises(
        OutOfDomainError, match=f"needs entity for the measure '{measure}', got none; write"
    ):
        check(written(folder, measure, 2, 0.5, ""))


def test_a_population_of_which_the_people_are_some_is_judged_by_the_upper_end(
    tmp_path: Path,
) -> None:
    rows = [
        f"{person},{person * number * number % 53},{person % 2}"
        for person in range(300)
        for number in range(1, 5)
    ]
    (tmp_path / "visits.csv").write_text(
        "\n".join(["patient_id,ward,day", *rows]) + "\n", encoding="utf-8"
    )
    con = duckdb.connect()
    reid_sql.register(con)
    call = "unicity(v, 'patient_id', ['ward', 'day'], points := 2, population := 3000)"
    con.execute(f"CREATE VIEW v AS FROM read_csv('{tmp_path / 'visits.csv'}', all_varchar = true)")
    high = con.execute(f"SELECT population_uniqueness_high FROM {call}").fetchall()[0][0]
    for limit, verdict in ((high + 1e-6, "pass"), (high - 1e-6, "fail")):
        path = written(
            tmp_path, "population_unicity", "2\npopulation = 3000", limit, 'entity = "patient_id"'
        )
        [found] = check(path)["checks"]
        assert found["verdict"] == verdict
