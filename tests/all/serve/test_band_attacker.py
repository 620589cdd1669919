"""An attacker overlays bands of one column, and learns of no group that it has a few people.

Statements are drawn: they count by bands and conditions of ages, of which most end at an age that few people
have, and by other columns. The attacker knows how many people there are and every count that is shown. Linear
programmes over the cells of all three columns bound each group of neighbouring ages, and of ages with one
remainder. They share no code with what audits the answers.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, product
from typing import Any

import duckdb
import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

import reid_sql
from reid_sql.errors import ReidError
from tests.serve.door import Door

pytestmark = pytest.mark.filterwarnings("ignore:Arrow output")
SEQUENCES = int(os.environ.get("REID_SQL_BAND_SEQUENCES", "6"))
STATEMENTS = 8
MASK = 10
AGES, EDUCATIONS, SEXES = range(12), range(3), range(2)
CELLS = np.array(list(product(AGES, EDUCATIONS, SEXES)))
NEARLY = 1e-6  # of a solution


@dataclass
class Attacker:
    """What an attacker knows: sums of cells."""

    sums: list[np.ndarray] = field(default_factory=list)
    counts: list[float] = field(default_factory=list)

    def know(self, places: list[int], count: float) -> None:
        is_part = np.zeros(len(CELLS))
        is_part[places] = 1
        self.sums.append(is_part)
        self.counts.append(count)

    def bound(self, is_part: np.ndarray, sign: int) -> float:
        """The least count of a group, or, with the sign -1, the largest."""
        known = LinearConstraint(np.array(self.sums), self.counts, self.counts)
        solution = milp(sign * is_part.astype(float), constraints=known, bounds=Bounds(0, np.inf))
        assert solution.status == 0, solution.message
        return float(sign * solution.fun)

    def is_small(self, is_part: np.ndarray) -> bool:
        return self.bound(is_part, -1) < MASK - NEARLY and self.bound(is_part, 1) > NEARLY


def draw_statement(draws: np.random.Generator, rare: int) -> tuple[str, str]:
    """Draw the groups and the condition of a statement, of bands that often end at a rare age."""
    low, width, step = (int(draws.integers(1, end)) for end in (11, 5, 5))
    if draws.random() < 0.7:
        low = rare + int(draws.integers(2))
    bands = [
        f"age // {width + 1}",
        f"(age + {step}) // {width + 1}",
        f"age % {width + 1}",
        f"age >= {low}",
        f"CASE WHEN age < {low} THEN 0 WHEN age < {low + width} THEN 1 ELSE 2 END",
        "age",
    ]
    conditions = [
        f"age >= {low}",
        f"age BETWEEN {low} AND {low + width}",
        f"age BETWEEN {low - width} AND {low}",
        f"age < {low}",
        f"age <> {low}",
        f"age IN ({low}, {low + width})",
        f"(age < {low} OR age > {low + width})",
        "edu <> 1",
    ]
    groups = [name for name in ("edu", "sex") if draws.random() < 0.25]
    groups += [str(draws.choice(bands))] * (draws.random() < 0.5)
    filters = list(draws.choice(conditions, int(draws.integers(not groups, 2)), replace=False))
    return ", ".join(groups), " AND ".join(filters)


def fill(con: duckdb.DuckDBPyConnection, draws: np.random.Generator) -> np.ndarray:
    """Make a table of people; returns the count of each cell."""
    shares = draws.dirichlet(np.ones(len(AGES))), draws.dirichlet(np.ones(6))
    counts = draws.multinomial(int(draws.choice([150, 400, 1000])), np.outer(*shares).ravel())
    age, edu, sex = np.repeat(CELLS, counts, axis=0).T
    con.register("drawn", {"age": age, "edu": edu, "sex": sex})
    con.execute("CREATE TABLE people AS FROM drawn")
    ages, edus, sexes = CELLS.T
    con.register("listed", {"age": ages, "edu": edus, "sex": sexes, "place": np.arange(len(CELLS))})
    return counts


def list_groups(counts: np.ndarray) -> Iterator[np.ndarray]:
    """List groups of a few people: of neighbouring ages, or of one remainder, with or without the others."""
    age, edu, sex = CELLS.T
    spans = [(age >= low) & (age <= high) for low in AGES for high in AGES if low <= high]
    of_remainder = [age % step == rest for step in range(2, 6) for rest in range(step)]
    others = [
        edu_is & sex_is
        for edu_is in [edu >= 0, *(edu == each for each in EDUCATIONS)]
        for sex_is in [sex >= 0, *(sex == each for each in SEXES)]
    ]
    for one, other in product(chain(spans, of_remainder), others):
        if 1 <= counts[one & other].sum() < MASK:
            yield one & other


def learn(
    attacker: Attacker, con: duckdb.DuckDBPyConnection, door: Door, drawn: tuple[str, str]
) -> None:
    """Ask a statement, and learn what is shown, and that groups that are not there have nobody."""
    groups, condition = drawn
    where = f"WHERE {condition}" if condition else ""
    by, listed = (f"GROUP BY {groups}", f"{groups}, ") if groups else ("", "")
    rows: list[tuple[Any, ...]] = []
    with suppress(ReidError):
        rows = door.ask(f"SELECT {listed}count(*) FROM people {where} {by}")
    cells = con.execute(f"SELECT {listed}list(place) FROM listed {where} {by}").fetchall()
    places = {row[:-1]: row[-1] or [] for row in cells}
    shown = {row[:-1]: row[-1] for row in rows if row[-1] is not None}
    due = con.execute(f"SELECT {listed}count(*) FROM people {where} {by}").fetchall()
    assert shown.items() <= {row[:-1]: row[-1] for row in due}.items() | {((), 0)}
    for group, count in shown.items():
        attacker.know(places[group], count)
    if rows and len(shown) == len(rows):
        for group in places.keys() - shown.keys():
            attacker.know(places[group], 0)


def find_learnt(seed: int, *, one_record: bool = True) -> int:
    """Count the groups of a few people that the attacker learns from a drawn sequence."""
    draws = np.random.default_rng(seed)
    with duckdb.connect(config={"threads": "1"}) as con:
        reid_sql.register(con)
        counts = fill(con, draws)
        attacker, door = Attacker(), Door(con)
        attacker.know([*range(len(CELLS))], int(counts.sum()))
        of_ages = counts.reshape(len(AGES), -1).sum(axis=1)
        rare = int(of_ages.argmin())
        for _ in range(STATEMENTS):
            learn(attacker, con, door if one_record else Door(con), draw_statement(draws, rare))
        return sum(attacker.is_small(each) for each in list_groups(counts))


@pytest.mark.parametrize("seed", range(SEQUENCES))
def test_no_group_of_few_people_follows_from_bands(seed: int) -> None:
    assert not find_learnt(seed)


def test_groups_follow_where_no_answer_is_recorded() -> None:
    """The attacker can learn."""
    assert sum(find_learnt(seed, one_record=False) for seed in range(SEQUENCES))
