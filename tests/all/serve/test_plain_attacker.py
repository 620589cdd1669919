"""An attacker asks plain statements in drawn orders, and learns of no group of few people.

What a statement reveals is what its table of cells reveals, so statements that make the same calls are put
together: all of them are learnt at once. What some answers reveal, all answers of their order reveal.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import reid_sql
from reid_sql.check.policy import read_policy
from reid_sql.check.policy_model import Policy
from reid_sql.errors import ReidError
from reid_sql.serve import masks
from reid_sql.serve.audited_counts import RevealingError
from reid_sql.serve.catalogue import read_columns
from reid_sql.serve.masks import Mask
from reid_sql.serve.record import Record
from reid_sql.serve.statement import ANSWER, Question, Reader
from tests.all.serve.test_attacker import BELOW, NAMES, POLICY, SHAPES, Attacker, draw_table

pytestmark = pytest.mark.filterwarnings("ignore:Arrow output")
FIRST = int(os.environ.get("REID_SQL_PLAIN_FIRST", "0"))
TABLES = int(os.environ.get("REID_SQL_PLAIN_TABLES", "3"))
ORDERS = int(os.environ.get("REID_SQL_PLAIN_ORDERS", "2"))
TRIPLES = 20
POLICIES = [POLICY, POLICY.replace("[[tables.c", 'entity = "person"\n[[tables.c', 1)]
HIDDEN_SUMS = "sums must be of groups that hide nothing"  # as their counts tell
Key = str  # the calls of a statement
Keys = frozenset[Key]


@dataclass(frozen=True)
class Statement:
    """A plain statement, by its groups and its condition."""

    groups: str
    where: str = ""
    figure: str = "count(*)"

    @property
    def sql(self) -> str:
        listed = f"{self.groups}, " if self.groups else ""
        return f"SELECT {listed}{self.figure} FROM people {self._rest()}"

    def cells(self, con: duckdb.DuckDBPyConnection) -> dict[tuple[Any, ...], list[int]]:
        """Select the places of the cells of each group from a table of all cells."""
        listed = f"{self.groups}, " if self.groups else ""
        rows = con.execute(f"SELECT {listed}list(place) FROM cells {self._rest()}").fetchall()
        return {row[:-1]: row[-1] or [] for row in rows}

    def _rest(self) -> str:
        by = f" GROUP BY {self.groups}" if self.groups else ""
        return f"{self.where and 'WHERE '}{self.where}{by}"


def list_conditions(name: str, size: int) -> list[str]:
    """List conditions on a column of values from 0."""
    return [
        *(f"{name} = {value}" for value in range(size)),
        *(f"{name} <> {value}" for value in range(size)),
        *(f"{name} BETWEEN {low} AND {low + 1}" for low in range(size - 1)),
        *(f"{name} IN {pair}" for pair in combinations(range(size), 2)),
        f"{name} > 0",
        f"NOT {name} < {size - 1}",
    ]


def list_statements(shape: Sequence[int], draws: np.random.Generator) -> Iterator[Statement]:
    """List statements of all groups, each with conditions on other columns, and on those of its groups."""
    conditions = [list_conditions(name, size) for name, size in zip(NAMES, shape, strict=True)]
    for size in range(len(NAMES) + 1):
        for names in combinations(NAMES, size):
            groups = ", ".join(names)
            yield Statement(groups)
            for filtered in chain.from_iterable(combinations(range(3), n) for n in (1, 2, 3)):
                drawn = [str(draws.choice(conditions[place])) for place in filtered]
                yield Statement(groups, draws.choice([" AND ", " AND ", " OR "]).join(drawn))
    for groups in ("region // 2", "sex, disease % 2", "sex = disease"):
        yield Statement(groups)
    for groups in ("sex", "region", "sex, region"):
        yield Statement(groups, figure="sum(pay)")


@dataclass
class Served:
    """A table that is served again and again, of each set of questions with a new record."""

    data: duckdb.DuckDBPyConnection
    policy: Policy
    statements: dict[Key, list[tuple[Statement, Question]]]
    draws: np.random.Generator
    shape: tuple[int, ...]
    counts: np.ndarray
    public: duckdb.DuckDBPyConnection = field(default_factory=duckdb.connect)
    refused: set[Key] = field(default_factory=set)  # whatever was asked before

    def ask(self, keys: Sequence[Key]) -> Keys:
        """Ask for calls one after the other; returns which are answered."""
        mask, answered = Mask(self.policy, Record()), set()
        for key in keys:
            [call] = self.statements[key][0][1].calls
            try:
                self.public.register(f"{ANSWER}{key}", mask.ask(self.data, call))
                answered.add(key)
            except RevealingError:
                continue
            except ReidError as error:
                assert str(error).startswith(HIDDEN_SUMS)  # noqa: PT017 - else it would tell of the data
                self.refused.add(key)
        return frozenset(answered)

    def rows(self, key: Key, question: Question) -> list[tuple[Any, ...]]:
        """Return the rows of a statement whose call was answered."""
        self.public.register(f"{ANSWER}1", self.public.table(f'"{ANSWER}{key}"').to_arrow_table())
        return self.public.execute(question.select).fetchall()

    def learnt(self, keys: Keys) -> list[dict[str, int]]:
        """List the small groups that follow from all statements of some calls."""
        attacker = Attacker(self.shape, int(self.counts.sum()))
        places = np.array(attacker.cells)
        with duckdb.connect() as con:
            con.register(
                "listed",
                dict(zip(NAMES, places.T, strict=True)) | {"place": np.arange(len(places))},
            )
            con.execute("CREATE TABLE cells AS FROM listed")
            for key in keys:
                for statement, question in self.statements[key]:
                    learn(attacker, statement, statement.cells(con), self.rows(key, question))
        return [*attacker.knows_of_few(self.counts)]


def learn(
    attacker: Attacker,
    statement: Statement,
    groups: dict[Any, list[int]],
    rows: Sequence[tuple[Any, ...]],
) -> None:
    """Learn counts, that a group that is named has many people, and that one that is not has none."""
    counts = {row[:-1]: row[-1] for row in rows}
    for group, count in counts.items():
        if group not in groups:
            assert set(group) <= {None}
            continue
        places = dict.fromkeys(groups[group], 1.0)
        if count is None or statement.figure != "count(*)":
            attacker.know(places, BELOW if statement.groups else 0, np.inf)
        else:
            attacker.know(places, count, count)
    if None not in counts.values():
        for group in groups.keys() - counts.keys():
            attacker.know(dict.fromkeys(groups[group], 1.0), 0, 0)


@cache
def read_statements(
    shape: tuple[int, ...], of_people: tuple[str, ...]
) -> dict[Key, list[tuple[Statement, Question]]]:
    """Read the statements of a shape, by their calls."""
    with duckdb.connect() as con:
        con.execute("CREATE TABLE people (region INT, sex INT, disease INT, person INT, pay INT)")
        con.execute("INSERT INTO people VALUES (0, 0, 0, 0, 0)")
        columns = read_columns(con, ["people"])
    reader = Reader(["people"], columns=columns, of_people=of_people)
    statements: dict[Key, list[tuple[Statement, Question]]] = {}
    for statement in dict.fromkeys(list_statements(shape, np.random.default_rng(1))):
        question = reader.read(statement.sql)
        if len(question.calls) == 1:
            key = repr(sorted(question.calls[0].arguments.items()))
            statements.setdefault(key, []).append((statement, question))
    return statements


def search(served: Served) -> Iterator[Keys]:
    """Yield sets of calls that are answered together: all in drawn orders, then drawn pairs and triples.

    What is hidden hangs on what was answered before, so that each order is another question.
    """
    every = sorted(served.statements)
    for _ in range(ORDERS):
        yield served.ask([str(key) for key in served.draws.permutation(every)])
    asked = [key for key in every if key not in served.refused]
    for _ in range(TRIPLES):
        size = int(served.draws.integers(2, 4))
        yield served.ask([str(key) for key in served.draws.choice(asked, size, replace=False)])


@pytest.fixture
def served(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Served]:
    """A drawn table, of rows or of people with two rows each; its cells are computed once for all records."""
    seed = request.param
    (tmp_path / "people.csv").write_text("region,sex,disease,person\n0,0,0,0\n")
    (tmp_path / "policy.toml").write_text(POLICIES[seed // len(SHAPES) % 2])
    policy = read_policy(tmp_path / "policy.toml")
    remembered: dict[str, Any] = {}
    compute = masks.ask_cells

    def ask_cells(data: Any, arguments: Any, earlier: Any) -> Any:
        key = repr((sorted(arguments.items()), sorted(map(repr, earlier))))
        if key not in remembered:
            remembered[key] = compute(data, arguments, earlier)
        return remembered[key]

    monkeypatch.setattr(masks, "ask_cells", ask_cells)
    with duckdb.connect(config={"threads": "1"}) as con:
        reid_sql.register(con)
        draws, shape, counts = draw_table(con, seed)
        con.execute(
            "ALTER TABLE people ADD COLUMN pay INT; ALTER TABLE people ADD COLUMN person INT"
        )
        con.execute("UPDATE people SET pay = 100 + rowid * 7 % 101, person = rowid")
        if policy.tables[0].entity:
            con.execute("INSERT INTO people FROM people")
        statements = read_statements(shape, tuple(Mask(policy).of_people))
        yield Served(con, policy, statements, draws, shape, counts)


@pytest.mark.parametrize("served", range(FIRST, FIRST + TABLES), indirect=True)
def test_no_small_group_follows_from_plain_statements(served: Served) -> None:
    for answered in search(served):
        learnt = served.learnt(answered)
        assert not learnt, (sorted(answered), learnt)


@pytest.mark.parametrize("served", [13], indirect=True)
def test_a_small_group_follows_where_no_answer_is_recorded(served: Served) -> None:
    """The attacker can learn: of servers that know nothing of each other's answers."""
    answered = frozenset().union(*(served.ask([key]) for key in served.statements))
    assert served.learnt(answered)
