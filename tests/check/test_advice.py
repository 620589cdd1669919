import csv
import itertools
import json
from collections import Counter
from pathlib import Path

import duckdb
import pytest

from reid_sql.check.advice import advise, find_coarsenings
from reid_sql.check.gate import open_tables
from reid_sql.check.policy import read_policy
from tests.check.towns import PEOPLE, town
from tests.processes import command

ROWS = list(csv.DictReader(PEOPLE.read_text(encoding="utf-8").splitlines()))
QI = ("age", "sex", "postcode")
CHECKS = """
checks = [{ measure = "k", at_least = 5 }, { measure = "average_risk", at_most = 0.1 },
          { measure = "separation", at_most = 0.5 }, { measure = "uniqueness", at_most = 0.99 },
          { measure = "k", at_least = 2, by = ["education"] }]
"""


def sizes(columns: tuple[str, ...], rows: list[dict[str, str]]) -> list[int]:
    return list(Counter(tuple(row[column] for column in columns) for row in rows).values())


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, float]]:
    """Figure of each failing check by change."""
    policy = town(tmp_path_factory.mktemp("advice"), CHECKS, "mask_below = 1")
    done = command("advise", str(policy), "--json")
    assert done.returncode == 0, done.stderr
    page = json.loads(done.stdout)
    assert [each["measure"] for each in page["failing"]] == ["k", "average_risk", "separation", "k"]
    return {
        each["measure"] + "/".join(each["by"]): {
            row["change"]: row["figure"]["value"] for row in each["changes"]
        }
        for each in page["failing"]
    }


def without(count: int) -> list[tuple[str, tuple[str, ...]]]:
    dropped = itertools.combinations(QI, count)
    return [(f"without {' and '.join(names)}", tuple(c for c in QI if c not in names)) for names in dropped]


@pytest.mark.parametrize(("change", "left"), [*without(1), *without(2)])
def test_each_column_and_each_pair_is_measured_as_counting_without_it_does(
    found: dict[str, dict[str, float]], change: str, left: tuple[str, ...]
) -> None:
    classes = sizes(left, ROWS)
    alike = sum(size * (size - 1) for size in classes)
    groups = {row["education"] for row in ROWS}
    assert found["k"][change] == min(classes)
    assert found["average_risk"][change] == pytest.approx(len(classes) / 3000)
    assert found["separation"][change] == pytest.approx(1 - alike / (3000 * 2999))
    assert found["keducation"][change] == min(
        min(sizes(left, [r for r in ROWS if r["education"] == g])) for g in groups
    )


def test_coarser_values_are_measured_as_counting_them_does(found: dict[str, dict[str, float]]) -> None:
    rows = [row | {"age": str(int(row["age"]) // 10)} for row in ROWS]
    assert found["average_risk"]["age in bands of 10"] == pytest.approx(len(sizes(QI, rows)) / 3000)
    rows = [row | {"postcode": row["postcode"][:4]} for row in ROWS]
    assert found["average_risk"]["postcode to its first 4 characters"] == pytest.approx(
        len(sizes(QI, rows)) / 3000
    )
    assert not any("bands" in change for change in found["separation"])  # not measured, so not said


def test_what_meets_the_limit_comes_first_and_the_smallest_change_of_it(tmp_path: Path) -> None:
    with open_tables(read_policy(town(tmp_path, CHECKS))) as releases:
        page = advise(read_policy(town(tmp_path, CHECKS)), releases)
    for each in page["failing"]:
        met = [row["verdict"] == "pass" for row in each["changes"]]
        assert met == sorted(met, reverse=True)
    assert page["failing"][0]["changes"][0]["change"] == "without age"
    assert page["tables"][0]["changes"][0] == {
        "change": "without age and postcode",
        "drop": ["age", "postcode"],
        "coarsen": None,
        "meets": 4,
    }


def test_single_leaves_the_pairs_out_and_a_met_policy_needs_no_advice(tmp_path: Path) -> None:
    shown = command("advise", str(town(tmp_path, CHECKS)), "--single").stdout
    assert "without age" in shown
    assert "without age and" not in shown
    met = command("advise", str(town(tmp_path, 'checks = [{ measure = "k", at_least = 1 }]')))
    assert (met.returncode, "Nothing to advise" in met.stdout) == (0, True)


@pytest.mark.parametrize(
    ("values", "ways"),
    [
        ("DATE '2020-01-01' + i::INT", ["to its month", "to its year"]),
        (
            "lpad((i * 37 % 1000)::VARCHAR, 5, '0')",
            ["to its first 4 characters", "to its first 3 characters"],
        ),
        ("i::DOUBLE / 2", ["in bands of 2", "in bands of 5", "in bands of 10"]),
        (
            "CASE WHEN i < 3 THEN 'r' || i ELSE 'often ' || i % 9 END",
            ["with its values of fewer than 8 records as one"],
        ),
        ("i % 2", []),
        ("NULL::INTEGER", []),
        ("['a', 'b']", []),
    ],
)
def test_values_of_each_kind_have_ways_to_be_coarser(tmp_path: Path, values: str, ways: list[str]) -> None:
    with duckdb.connect() as con:
        con.execute(f"COPY (SELECT {values} AS c FROM range(800) t(i)) TO '{tmp_path}/t.parquet'")
    text = (
        '[[tables]]\nfile = "t.parquet"\nquasi_identifiers = ["c"]\nchecks = [{measure = "k", at_least = 2}]'
    )
    (tmp_path / "p.toml").write_text(text, encoding="utf-8")
    with open_tables(read_policy(tmp_path / "p.toml")) as releases:
        assert [way.how for way in find_coarsenings(releases[0].engine, "c")][: len(ways) or 1] == ways


def test_advice_keeps_to_the_mask_of_the_policy(tmp_path: Path) -> None:
    """Without the postcode few records are unique: the average risk would tell how few."""
    assert 0 < sizes(("age", "sex"), ROWS).count(1) < 10
    policy = read_policy(town(tmp_path, CHECKS))
    with open_tables(policy) as releases:
        page = advise(policy, releases, pairs=False)
    risk = next(each for each in page["failing"] if each["measure"] == "average_risk")
    found = next(row["figure"] for row in risk["changes"] if row["change"] == "without postcode")
    assert (found["value"], found["judged"], found["below"], found["masked"]) == (None, None, None, True)
