"""An attacker asks all that a policy allows, in any order, and learns of no group that it has a few people.

The attacker knows how many people there are, which categories exist, and every number that is shown. An
integer programme decides whether another table, in which the group has nobody or many people, gives the same
numbers. It shares no code with what audits and masks the answers.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

import reid_sql
from reid_sql.check.policy import read_policy
from reid_sql.errors import ReidError
from reid_sql.serve.masks import Mask
from reid_sql.serve.record import Record
from reid_sql.serve.statement import Reader

pytestmark = pytest.mark.filterwarnings("ignore:Arrow output")
TABLES = int(os.environ.get("REID_SQL_ATTACKED_TABLES", "12"))
SHAPES = [(2, 2, 2), (2, 3, 2), (3, 3, 2), (2, 4, 3), (4, 4, 2)]
PEOPLE = [18, 40, 100, 300, 800]
BELOW = 5
NAMES = ("region", "sex", "disease")
POLICY = f"""mask_below = {BELOW}
[[tables]]
name = "people"
file = "people.csv"
quasi_identifiers = ["region", "sex"]
sensitive = ["disease"]
[[tables.checks]]
measure = "k"
at_least = 2
[[tables.checks]]
measure = "l_diversity"
at_least = 2
"""
Group = tuple[int, ...]  # the places of its cells


@dataclass
class Attacker:
    """What is known of the counts of all cells, as an integer programme of them and of helping variables."""

    shape: tuple[int, ...]
    people: int
    rows: list[dict[int, float]] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)  # of each variable

    def __post_init__(self) -> None:
        """Begin with the number of people."""
        self.cells = list(product(*(range(size) for size in self.shape)))
        self.upper = [float(self.people)] * len(self.cells)
        self.know(dict.fromkeys(range(len(self.cells)), 1.0), self.people, self.people)

    def know(self, row: Mapping[int, float], low: float, high: float) -> None:
        """Add what a sum of variables is at least and at most."""
        self.rows.append(dict(row))
        self.low.append(low)
        self.high.append(high)

    def variable(self, upper: float) -> int:
        """Add a variable from 0."""
        self.upper.append(upper)
        return len(self.upper) - 1

    def group(self, fixed: Mapping[str, int]) -> Group:
        """Return the cells with some categories."""
        values = (dict(zip(NAMES, cell, strict=True)) for cell in self.cells)
        return tuple(
            place
            for place, cell in enumerate(values)
            if all(cell[name] == value for name, value in fixed.items())
        )

    def groups(self, names: Sequence[str]) -> list[Group]:
        """Return the groups by some columns."""
        sizes = [self.shape[NAMES.index(name)] for name in names]
        values = product(*(range(size) for size in sizes))
        return [self.group(dict(zip(names, each, strict=True))) for each in values]

    def learn_cells(self, names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
        """Learn the counts that are shown."""
        for row in rows:
            fixed = {name: row[name] for name in names if name not in row["total_over"]}
            if row["people"] is not None:
                self.know(dict.fromkeys(self.group(fixed), 1.0), row["people"], row["people"])

    def split(self, names: Sequence[str], sizes: Sequence[int]) -> list[dict[tuple[int, int], int]]:
        """For each group, say by variables which segment has its size: one of the sizes, or between two."""
        points = sorted({0, *sizes})
        segments = [(point, point) for point in points]
        segments += [(a + 1, b - 1) for a, b in pairwise([*points, self.people + 1]) if b > a + 1]
        found = []
        for group in self.groups(names):
            chosen = {segment: self.variable(1) for segment in segments}
            self.know(dict.fromkeys(chosen.values(), 1.0), 1, 1)
            total = dict.fromkeys(group, 1.0)
            self.know(total | {each: -float(low) for (low, _), each in chosen.items()}, 0, np.inf)
            self.know(
                total | {each: -float(high) for (_, high), each in chosen.items()}, -np.inf, 0
            )
            found.append(chosen)
        return found

    def count_groups(
        self, segments: Sequence[Mapping[tuple[int, int], int]], low: int, high: int, count: Any
    ) -> None:
        """Learn how many groups have a size from low to high."""
        chosen = [
            place
            for group in segments
            for (first, last), place in group.items()
            if low <= first and last <= high
        ]
        self.know(dict.fromkeys(chosen, 1.0), count, count)

    def learn_sizes(self, names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
        """Learn the class sizes that are listed, and how many classes have each."""
        segments = self.split(names, [row["class_size"] for row in rows])
        for row in rows:
            size, classes = row["class_size"], row["classes"]
            if classes is None and row["records"] is not None:
                classes = row["records"] // size
            places = dict.fromkeys((group[size, size] for group in segments), 1.0)
            self.know(places, classes or 1, classes or np.inf)

    def learn_figures(self, names: Sequence[str], row: Mapping[str, Any]) -> None:
        """Learn how many classes and unique people there are, the smallest class, and the highest share."""
        k, classes, unique = row["k"], row.get("classes"), row.get("unique_records")
        segments = self.split(names, [1, BELOW - 1, *([k] if k else [])])
        if classes is not None:
            self.count_groups(segments, 1, self.people, classes)
        if unique is not None:
            self.count_groups(segments, 1, 1, unique)
        elif row.get("uniqueness") is not None:
            places = dict.fromkeys((group[1, 1] for group in segments), 1.0)
            self.know(places, 0, row["uniqueness"] * self.people + 1e-6)
        if k is not None:
            self.count_groups(segments, 1, k - 1, 0)
            self.know(dict.fromkeys((group[k, k] for group in segments), 1.0), 1, np.inf)

    def learn_diversity(self, names: Sequence[str], row: Mapping[str, Any]) -> None:
        """Learn the figures of its classes, and how many values each of them has at least."""
        self.learn_figures(names, row)
        if row["value"] is None:
            return
        poorest = []
        for group in self.groups(names):
            kinds = {}
            for value in range(self.shape[-1]):
                cells = [place for place in group if self.cells[place][-1] == value]
                kinds[self.variable(1)] = 1.0
                here = {[*kinds][-1]: -1.0}
                self.know(dict.fromkeys(cells, 1.0) | here, 0, np.inf)
                self.know(
                    dict.fromkeys(cells, 1.0) | {[*kinds][-1]: -float(self.people)}, -np.inf, 0
                )
            total = dict.fromkeys(group, 1.0)
            filled, poor = self.variable(1), self.variable(1)
            self.know(total | {filled: -float(self.people)}, -np.inf, 0)
            self.know(total | {filled: -1.0}, 0, np.inf)
            self.know(kinds | {filled: -float(row["value"])}, 0, np.inf)
            self.know(kinds | {poor: float(self.shape[-1])}, 0, row["value"] + self.shape[-1])
            self.know({filled: 1.0, poor: -1.0}, 0, np.inf)
            poorest.append(poor)
        self.know(dict.fromkeys(poorest, 1.0), 1, np.inf)

    def can_be(self, group: Group, low: float, high: float) -> bool:
        """Whether a table with so many people in the group gives all numbers."""
        rows = [*self.rows, dict.fromkeys(group, 1.0)]
        matrix = np.zeros((len(rows), len(self.upper)))
        for place, row in enumerate(rows):
            matrix[place, [*row]] = [*row.values()]
        found = milp(
            np.zeros(len(self.upper)),
            integrality=np.ones(len(self.upper)),
            bounds=Bounds(0, np.array(self.upper)),
            constraints=LinearConstraint(matrix, [*self.low, low], [*self.high, high]),
            options={"time_limit": 20},
        )
        assert found.status in {0, 2}, found.message
        return bool(found.status == 0)

    def knows_of_few(self, counts: np.ndarray) -> Iterator[dict[str, int]]:
        """List the groups of a few people of which every table that agrees has some people, and few."""
        for size in range(1, len(NAMES) + 1):
            for names in combinations(NAMES, size):
                for group in self.groups(names):
                    if 0 < counts[list(group)].sum() < BELOW and not (
                        self.can_be(group, 0, 0) or self.can_be(group, BELOW, self.people)
                    ):
                        fixed = zip(NAMES, self.cells[group[0]], strict=True)
                        yield {name: value for name, value in fixed if name in names}


def draw_table(
    con: duckdb.DuckDBPyConnection, seed: int
) -> tuple[np.random.Generator, tuple[int, ...], np.ndarray]:
    """Draw a table of few and of many people, whose counts differ much."""
    draws = np.random.default_rng(seed)
    shape = SHAPES[seed % len(SHAPES)]
    people = PEOPLE[seed // len(SHAPES) % len(PEOPLE)]
    cells = list(product(*(range(size) for size in shape)))
    shares = draws.dirichlet(np.full(len(cells), draws.choice([0.3, 1.0, 5.0])))
    counts = draws.multinomial(people, shares)
    values = [cell for cell, count in zip(cells, counts, strict=True) for _ in range(count)]
    con.register("drawn", pa.table(dict(zip(NAMES, zip(*values, strict=True), strict=True))))
    con.execute("CREATE OR REPLACE TABLE people AS FROM drawn")
    return draws, shape, counts


def list_questions() -> list[tuple[str, tuple[str, ...], str]]:
    """List what may be asked: a function, its columns, and the call."""
    listed = []
    for size in range(1, 4):
        for names in combinations(NAMES, size):
            by = [*names]
            for totals in ("none", "margins"):
                call = f"safe_table(people, {by}, totals := '{totals}')"
                listed.append(("safe_table", names, call))
            if "disease" not in names:
                listed.append(("risk_summary", names, f"risk_summary(people, {by})"))
                listed.append(
                    ("class_size_histogram", names, f"class_size_histogram(people, {by})")
                )
                listed.append(("l_diversity", names, f"l_diversity(people, {by}, 'disease')"))
    return listed


@pytest.fixture
def con(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    (tmp_path / "people.csv").write_text("region,sex,disease\n0,0,0\n")
    (tmp_path / "policy.toml").write_text(POLICY)
    with duckdb.connect(config={"threads": "1"}) as con:
        reid_sql.register(con)
        yield con


def learn(attacker: Attacker, function: str, names: Sequence[str], answer: pa.Table) -> None:
    """Learn an answer."""
    rows = answer.to_pylist()
    if function == "safe_table":
        attacker.learn_cells(names, rows)
    elif function == "class_size_histogram":
        attacker.learn_sizes(names, rows)
    elif function == "risk_summary":
        attacker.learn_figures(names, rows[0])
    else:
        attacker.learn_diversity(names, rows[0])


def attack(
    con: duckdb.DuckDBPyConnection, mask_for: Callable[[], Mask], seed: int, asked: int
) -> tuple[int, list[Any]]:
    """Ask questions in a random order; return how many were answered, and what is known of few people."""
    draws, shape, counts = draw_table(con, seed)
    questions, reader = list_questions(), Reader(["people"])
    attacker, answered = Attacker(shape, int(counts.sum())), []
    for place in draws.permutation(len(questions))[:asked]:
        function, names, call = questions[place]
        try:
            answer = mask_for().ask(con, reader.read(f"FROM reid.{call}").calls[0])
        except ReidError:
            continue
        answered.append(call)
        learn(attacker, function, names, answer)
    return len(answered), [(seed, answered, group) for group in attacker.knows_of_few(counts)]


def test_nothing_is_learnt_of_few_people_from_all_that_is_answered(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    """What follows from two or three answers follows from all of them, so that all are put together."""
    policy, answered = read_policy(tmp_path / "policy.toml"), 0
    for seed in range(TABLES):
        number, learnt = attack(con, cache(partial(Mask, policy, Record())), seed, asked=10)
        answered += number
        assert not learnt, learnt
    assert answered > 2 * TABLES


@pytest.mark.parametrize("is_recorded", [False, True])
def test_cells_beside_class_sizes_are_learnt_where_no_answer_is_recorded(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, *, is_recorded: bool
) -> None:
    """The attacker can learn: of servers that know nothing of each other's answers, not of one."""
    table = np.array([[40, 36, 26, 1], [45, 33, 21, 12], [32, 40, 22, 11]])
    regions = [place for place, row in enumerate(table) for _ in range(row.sum())]
    diseases = [place for row in table for place, count in enumerate(row) for _ in range(count)]
    con.register(
        "drawn", pa.table({"region": regions, "sex": [0] * len(regions), "disease": diseases})
    )
    con.execute("CREATE OR REPLACE TABLE people AS FROM drawn")
    text = POLICY.split('[[tables.checks]]\nmeasure = "l_', maxsplit=1)[0].replace(
        '"sex"]', '"disease"]'
    )
    text = text.replace('sensitive = ["disease"]\n', "").replace("= 5", "= 10")
    (tmp_path / "policy.toml").write_text(text)
    policy = read_policy(tmp_path / "policy.toml")
    record, attacker, names = Record(), Attacker((3, 1, 4), int(table.sum())), ["region", "disease"]
    for function, options in (
        ("safe_table", ", totals := 'margins'"),
        ("class_size_histogram", ""),
    ):
        call = Reader(["people"]).read(f"FROM reid.{function}(people, {names}{options})").calls[0]
        try:
            answer = Mask(policy, record if is_recorded else Record()).ask(con, call)
        except ReidError:
            continue
        learn(attacker, function, names, answer)
    learnt = [*attacker.knows_of_few(table.ravel())]
    assert ({"region": 0, "disease": 3} in learnt) is not is_recorded, learnt
