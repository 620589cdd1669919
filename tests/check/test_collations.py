"""A text that a collation makes another's, at any depth of a value, is never a pass of the gate."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

from reid_sql.check.gate import check
from tests.cells import each_cell

SENTENCE = "columns must distinguish texts that differ, got a collation of its own for one of "
HELD = {"plain": "word", "within": "{'v': [word]}"}


@pytest.fixture(params=HELD)
def town(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A database with four people who wrote a, and one who wrote A; the other columns are alike."""
    with duckdb.connect(str(tmp_path / "town.duckdb")) as con:
        con.execute("CREATE TABLE words(word VARCHAR COLLATE NOCASE, id INTEGER)")
        con.execute("INSERT INTO words VALUES ('a', 1), ('a', 2), ('A', 3), ('a', 4), ('a', 5)")
        con.execute(
            f"CREATE TABLE people AS SELECT {HELD[request.param]} AS held, 'x' AS one, id FROM words"
        )
        con.execute("CREATE TABLE population AS FROM people")
    return tmp_path


def judged(town: Path, head: str, *checks: str) -> list[dict[str, Any]]:
    policy = town / "policy.toml"
    lines = ["[[tables]]", 'file = "town.duckdb"', 'table = "people"', "population = 1000", head]
    asked = [line for each in checks for line in ("[[tables.checks]]", each)]
    policy.write_text("\n".join([*lines, *asked]), encoding="utf-8")
    found: list[dict[str, Any]] = [each["groups"][0] for each in check(policy)["checks"]]
    return found


@each_cell(
    "head, asked",
    [
        ('quasi_identifiers = ["held"]', 'measure = "k"\nat_least = 2'),
        ('quasi_identifiers = ["held", "one"]', 'measure = "uniqueness"\nat_most = 0.1'),
        ('quasi_identifiers = ["held"]', 'measure = "xi_share"\nat_most = 0.9'),
        ('quasi_identifiers = ["held", "one"]', 'measure = "distinction"\nat_most = 0.9'),
        ('quasi_identifiers = ["one"]', 'measure = "k"\nby = ["held"]\nat_least = 2'),
        ('quasi_identifiers = ["one"]', 'measure = "average_risk"\nby = ["held"]\nat_most = 0.9'),
        (
            'quasi_identifiers = ["one"]\nsensitive = ["held"]',
            'measure = "l_diversity"\nat_least = 1',
        ),
        (
            'quasi_identifiers = ["one"]\nsensitive = ["held"]',
            'measure = "t_closeness"\nat_most = 1',
        ),
        (
            'quasi_identifiers = ["held"]\npopulation_file = "town.duckdb"\npopulation_table = "population"',
            'measure = "journalist_highest_risk"\nat_most = 0.5',
        ),
    ],
)
@pytest.mark.first(cells=3)
def test_it_is_not_judged_nor_is_what_is_counted_beside_it(
    town: Path, head: str, asked: str
) -> None:
    own, other = judged(
        town, head, asked, 'measure = "k"\nquasi_identifiers = ["one"]\nat_least = 5'
    )
    assert own["verdict"] == "not judged"
    assert SENTENCE in own["why"]
    # Missing-value codes are looked for in all columns that the table names at once.
    assert (other["verdict"], other["value"]) == ("not judged", None)


def test_people_are_not_distinguished_by_it(town: Path) -> None:
    (found,) = judged(
        town, 'quasi_identifiers = ["one"]\nentity = "held"', 'measure = "k"\nat_least = 2'
    )
    assert found["verdict"] == "not judged"
    assert SENTENCE in found["why"]
