"""Whoever knows the rules of masking and tries every table learns no small count of a summary."""

from collections import defaultdict
from itertools import product
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import reid_sql
from reid_sql.check.policy import read_policy
from reid_sql.errors import ReidError
from reid_sql.serve.calls import Call
from reid_sql.serve.masks import Mask
from reid_sql.serve.record import Record
from reid_sql.serve.statement import Reader
from tests.all.serve.test_record import BELOW, POLICY

PEOPLE, MASK = 9, 3
CELLS = [("F", "x"), ("F", "y"), ("M", "x"), ("M", "y")]
GROUPS = [(0,), (1,), (2,), (3,), (0, 1), (2, 3), (0, 2), (1, 3)]
QUESTIONS = [
    "SELECT * FROM reid.class_size_histogram(people, ['region', 'sex'])",
    "SELECT * FROM reid.risk_summary(people, ['region'], by := 'sex')",
]


@pytest.mark.filterwarnings("ignore:Arrow output")
def test_no_count_below_the_mask_follows_for_whoever_tries_every_table(tmp_path: Path) -> None:
    """Of each answer: the tables that give the same one differ in every group of 1 to 4 people."""
    (tmp_path / "people.csv").write_text("region,sex,disease\n0,0,0\n")
    (tmp_path / "policy.toml").write_text(POLICY.replace(str(BELOW), str(MASK)))
    policy, reader = read_policy(tmp_path / "policy.toml"), Reader(["people"])
    calls = [reader.read(sql).calls[0] for sql in QUESTIONS]
    tables = [each for each in product(range(PEOPLE + 1), repeat=4) if sum(each) == PEOPLE]
    alike: list[dict[str, list[tuple[int, ...]]]] = [defaultdict(list) for _ in calls]
    with duckdb.connect(config={"threads": "1"}) as con:
        reid_sql.register(con)
        for table in tables:
            people = [cell for cell, count in zip(CELLS, table, strict=True) for _ in range(count)]
            con.register(
                "drawn",
                pa.table(dict(zip(["sex", "region"], zip(*people, strict=True), strict=True))),
            )
            con.execute("CREATE OR REPLACE TABLE people AS FROM drawn")
            for place, call in enumerate(calls):
                alike[place][answer_of(con, Mask(policy, Record()), call)].append(table)
    assert sum(len(answers) for answers in alike) > 10
    for same in (tables for answers in alike for tables in answers.values()):
        for group in GROUPS:
            counts = {sum(table[cell] for cell in group) for table in same}
            assert len(counts) > 1 or not 0 < min(counts) < MASK, (same, group)


def answer_of(con: duckdb.DuckDBPyConnection, mask: Mask, call: Call) -> str:
    """The answer, or that there is none."""
    try:
        return repr(sorted(map(repr, mask.ask(con, call).to_pylist())))
    except ReidError:
        return "refused"
