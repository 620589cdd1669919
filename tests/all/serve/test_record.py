"""Counts that are published one after another reveal no small group, as linear programmes prove."""

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count, product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from scipy.optimize import linprog

import reid_sql
from reid_sql.check.policy import read_policy
from reid_sql.check.policy_model import Policy
from reid_sql.errors import ReidError
from reid_sql.serve.masked_answers import Masking, mask_answer
from reid_sql.serve.masks import DEFAULT_MASK, Mask
from reid_sql.serve.record import Record
from reid_sql.serve.statement import Reader

pytestmark = pytest.mark.filterwarnings("ignore:Arrow output")
BELOW = 5
# Few, as most drawn questions reveal nothing together: a search asks some 50 of them for one that does.
SEQUENCES = int(os.environ.get("REID_SQL_SEQUENCES", "1"))
# Where a search begins: the seeds of the sequences that it found when all were searched.
KNOWN = {
    "planted": [5, 6, 12, 13, 15, 19, 35, 43],
    "rows": [42],
    "people of six rows": [33],
    "no policy": [25],
}
SIZES = {"region": 3, "sex": 2, "disease": 3}
CELLS = list(product(*(range(size) for size in SIZES.values())))
POLICY = f"""mask_below = {BELOW}
[[tables]]
name = "people"
file = "people.csv"
quasi_identifiers = ["region", "sex", "disease"]
[[tables.checks]]
measure = "k"
at_least = 2
""" + "".join(
    f"""[[tables.checks]]
measure = "k"
at_least = 1
by = ["{column}"]
"""
    for column in SIZES
)
QUESTIONS = [
    *(f"FROM reid.safe_table(people, {columns})" for columns in (
        "['region', 'disease']", "['sex', 'disease']", "['region', 'sex']", "['region', 'sex', 'disease']",
        "['disease']", "['region', 'sex', 'disease'], totals := 'margins'", "['region', 'disease'], totals := 'rollup'",
    )),
    *(f"FROM reid.risk_summary(people, ['sex'], by := '{column}')" for column in SIZES),
]  # fmt: skip


@pytest.fixture
def con(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    (tmp_path / "people.csv").write_text("region,sex,disease\n0,0,0\n")
    (tmp_path / "policy.toml").write_text(POLICY)
    with duckdb.connect() as con:
        reid_sql.register(con)
        yield con


def fill(con: duckdb.DuckDBPyConnection, seed: int, rows: int = 1) -> np.ndarray:
    """A table of random counts of people, many of them small; returns them in the order of CELLS."""
    draws = np.random.default_rng(seed)
    counts = draws.choice([0, 1, 3, 7, 20, 40], len(CELLS), p=[0.1, 0.1, 0.1, 0.2, 0.3, 0.2])
    people = [cell for cell, count in zip(CELLS, counts, strict=True) for _ in range(count)]
    columns = {name: [cell[place] for cell in people] for place, name in enumerate(SIZES)}
    con.register("drawn", pa.table({**columns, "person": range(len(people))}))
    con.execute(f"CREATE OR REPLACE TABLE people AS SELECT drawn.* FROM drawn, range({rows})")
    con.execute("CREATE OR REPLACE TABLE again AS FROM people ORDER BY ALL")
    return counts


class Attacker:
    """Knows how many people there are, and what is answered: sums of cells.

    Whoever joins, filters or limits answers learns no more.
    """

    def __init__(self, counts: np.ndarray, below: int = BELOW) -> None:
        self.counts, self.below = counts, below
        self.sums, self.totals = [np.ones(len(CELLS))], [float(counts.sum())]
        self.parts, self.least = [-np.ones(len(CELLS))], [-float(counts.sum())]

    def learn(self, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
        named = [name for name in SIZES if name in columns]
        is_cells = "total_over" in columns
        groups: dict[tuple[float, ...], float] = {}
        for row in rows:
            values = dict(zip(columns, row, strict=True))
            fixed = {
                name: values[name] for name in named if name not in values.get("total_over", [])
            }
            key = tuple(members(fixed))
            count = values["people" if is_cells else "records"]
            groups[key] = groups.get(key, 0.0) + (np.nan if count is None else float(count))
        shown = {key: count for key, count in groups.items() if not np.isnan(count)}
        if "class_size" in columns:  # hidden sizes of a group are no rows
            self.parts.extend(-np.array(key) for key in shown)
            self.least.extend(-count for count in shown.values())
            return
        self.sums.extend(np.array(key) for key in shown)
        self.totals.extend(shown.values())
        if "k" in columns:  # an answer for each group lists every group
            self.sums.append(np.clip(1.0 - np.sum([*groups], axis=0), 0, 1))
            self.totals.append(0.0)

    def reveals(self) -> list[dict[str, int]]:
        """The groups below the mask of which it is known that there are some people, and fewer than it."""
        found = []
        for chosen in product([False, True], repeat=len(SIZES)):
            names = [name for name, is_chosen in zip(SIZES, chosen, strict=True) if is_chosen]
            for values in product(*(range(SIZES[name]) for name in names)):
                group = members(dict(zip(names, values, strict=True)))
                if 0 < group @ self.counts < self.below:
                    low, high = (
                        sign
                        * linprog(sign * group, self.parts, self.least, self.sums, self.totals).fun
                        for sign in (1, -1)
                    )
                    if low > 0.5 and high < self.below - 1e-6:
                        found.append(dict(zip(names, values, strict=True)))
        return found


def members(fixed: Mapping[str, object]) -> np.ndarray:
    cells = (dict(zip(SIZES, cell, strict=True)) for cell in CELLS)
    return np.array(
        [float(all(cell[name] == value for name, value in fixed.items())) for cell in cells]
    )


def ask_all(
    con: duckdb.DuckDBPyConnection,
    policy: Policy | None,
    sequence: list[str],
    counts: np.ndarray,
    *,
    is_one: bool,
) -> Attacker:
    """Ask one question after the other, of one record or each of a new one; returns what is answered."""
    record = Record()
    attacker = Attacker(counts, policy.mask_below if policy else DEFAULT_MASK)
    reader = Reader(["people", "again"])
    for sql in sequence:
        mask = Mask(policy, record if is_one else Record())
        try:
            answer = mask.ask(con, reader.read(sql).calls[0])
        except (ReidError, duckdb.Error):
            continue
        attacker.learn(answer.column_names, [tuple(row.values()) for row in answer.to_pylist()])
    return attacker


def draw_question(draws: np.random.Generator) -> str:
    """A question for groups or cells, of one table or of the same people in another."""
    names = [str(name) for name in draws.permutation(list(SIZES))]
    size = int(draws.integers(1, 4))
    table = draws.choice(["people", "people", "again"])
    if draws.random() < 0.6:
        options = draws.choice(["", "", ", totals := 'margins'", ", totals := 'rollup'"])
        return f"FROM reid.safe_table({table}, {names[:size]}{options})"
    return f"FROM reid.risk_summary({table}, {names[size % 3 :]}, by := {names[:1]})"


def check_sequences(
    con: duckdb.DuckDBPyConnection,
    policy: Policy | None,
    sequences: int,
    rows: int = 1,
    *,
    known: Sequence[int],
    is_drawn: bool,
) -> int:
    """Search for questions that reveal a group together, not alone, and ask them with a record.

    The search begins with the seeds that are known to reveal one. Returns the seed of the last sequence.
    """
    found = 0
    seeds = chain(known, (each for each in count(1) if each not in known))
    while found < sequences:
        seed = next(seeds)
        counts, draws = fill(con, seed, rows), np.random.default_rng(seed + 1_000_000)
        listed = [draw_question(draws) for _ in range(5)] if is_drawn else QUESTIONS
        sequence = [listed[place] for place in draws.permutation(len(listed))[:5]]
        if ask_all(con, policy, sequence, counts, is_one=False).reveals():
            found += 1
            attacker = ask_all(con, policy, sequence, counts, is_one=True)
            assert not attacker.reveals(), (seed, sequence)
    return seed


def test_planted_sequences_that_reveal_a_group_together_are_refused(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    policy = read_policy(tmp_path / "policy.toml")
    assert (
        check_sequences(con, policy, SEQUENCES * 8, known=KNOWN["planted"], is_drawn=False) < 2_000
    )


@pytest.mark.parametrize("kind", [kind for kind in KNOWN if kind != "planted"])
def test_drawn_sequences_that_reveal_a_group_together_are_refused(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, kind: str
) -> None:
    """Of functions, columns, totals and two names of a table; groups below the mask, of rows or of people."""
    text = (
        POLICY.replace("[[tables.c", 'entity = "person"\n[[tables.c', 1)
        if kind.startswith("people")
        else POLICY
    )
    (tmp_path / "policy.toml").write_text(
        text + text.split("\n", 1)[1].replace('"people"', '"again"')
    )
    policy = None if kind == "no policy" else read_policy(tmp_path / "policy.toml")
    rows = 6 if kind.startswith("people") else 1
    assert check_sequences(con, policy, SEQUENCES, rows, known=KNOWN[kind], is_drawn=True) < 2_000


def test_one_question_after_another_is_answered_where_nothing_follows(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    con.execute(
        "CREATE TABLE people AS SELECT i % 3 AS region, i % 2 AS sex, i % 5 AS disease FROM range(900) r(i)"
    )
    record = Record(tmp_path / "record.duckdb")
    mask, reader = Mask(read_policy(tmp_path / "policy.toml"), record), Reader(["people"])
    for sql in QUESTIONS:
        assert len(mask.ask(con, reader.read(sql).calls[0])) > 1
    del record, mask
    with duckdb.connect(str(tmp_path / "record.duckdb"), read_only=True) as owner:
        cells = 15 + 10 + 6 + 30 + 5 + 3 + 2 + 1  # each once, and the total
        assert owner.execute("SELECT count(*) FROM published").fetchall() == [(cells,)]


def test_a_table_that_differs_by_a_person_is_refused(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    (tmp_path / "policy.toml").write_text(
        POLICY + POLICY.split("\n", 1)[1].replace('"people"', '"later"')
    )
    con.execute(
        "CREATE TABLE people AS SELECT i % 3 AS region, i % 2 AS sex, i % 5 AS disease FROM range(900) r(i)"
    )
    con.execute("CREATE TABLE later AS FROM people UNION ALL SELECT 0, 0, 0")
    mask, reader = (
        Mask(read_policy(tmp_path / "policy.toml"), Record()),
        Reader(["people", "later"]),
    )
    assert len(mask.ask(con, reader.read("FROM reid.safe_table(people, ['sex'])").calls[0])) == 2
    with pytest.raises(
        ReidError, match="a count must differ from that of another table by 0 or at least 5"
    ):
        mask.ask(con, reader.read("FROM reid.safe_table(later, ['sex'])").calls[0])


@pytest.mark.parametrize(
    ("sql", "refusal"),
    [
        (
            "FROM reid.risk_summary(people, ['sex'], entity := 'region')",
            "entity must be that of the policy",
        ),
        (
            "FROM reid.risk_summary(people, ['sex'], nulls := 'drop')",
            "nulls must be that of the policy, value",
        ),
    ],
)
def test_a_policy_sets_whom_a_count_counts(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, sql: str, refusal: str
) -> None:
    fill(con, 1)
    mask = Mask(read_policy(tmp_path / "policy.toml"), Record())
    with pytest.raises(ReidError, match=refusal):
        mask.ask(con, Reader(["people"]).read(sql).calls[0])


def test_a_policy_counts_its_people_and_masks_every_small_count(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    """100 people of two rows each; 3 of them are alone in their region."""
    (tmp_path / "policy.toml").write_text(
        POLICY.replace("[[tables.c", 'entity = "person"\n[[tables.c', 1)
    )
    con.execute(
        """CREATE TABLE people AS SELECT i // 2 AS person, CASE WHEN i < 6 THEN i // 2 ELSE 9 END AS region,
        0 AS sex, 0 AS disease FROM range(200) r(i)"""
    )
    policy, reader = read_policy(tmp_path / "policy.toml"), Reader(["people"])
    mask = Mask(policy, Record())
    assert set(mask.functions) == {"risk_summary", "safe_table", "class_size_histogram"}
    [row] = mask.ask(
        con, reader.read("FROM reid.risk_summary(people, ['region'])").calls[0]
    ).to_pylist()
    assert (row["records"], row["classes"], row["k"], row["unique_records"]) == (
        100,
        None,
        None,
        None,
    )
    assert row["uniqueness"] >= 0.05
    sizes = reader.read("FROM reid.class_size_histogram(people, ['region'])").calls[0]
    with pytest.raises(
        ReidError, match="class sizes without their categories of region after figures"
    ):
        mask.ask(con, sizes)
    assert len(Mask(policy, Record()).ask(con, sizes)) == 0
    counts = pa.table({"sex": ["F", "M", "D"], "unique_records": [3, 40, 50]})
    # 93 in all
    masking = Masking("risk_summary", BELOW, 1000)
    assert mask_answer(counts, counts.to_pylist(), masking, 1)["unique_records"].to_pylist() == [
        None,
        None,
        50,
    ]
    with pytest.raises(ReidError, match="a function must count people by 'person', got profile"):
        mask.ask(con, reader.read("FROM reid.profile(people)").calls[0])
