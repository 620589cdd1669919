"""Every statement of the examples answers alike under settings that bend what SQL means.

The examples call every function, also those that no other test asks under these settings.
"""

from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest

import reid_sql
from reid_sql_udfs import declared

EXAMPLES = sorted((Path(__file__).parents[4] / "sql_examples").glob("*.sql"))


@cache
def answers(example: Path, setting: str) -> list[tuple[str, list[Any]]]:
    """Run an example; a statement that sorts by itself is left out where the setting is one of sorting."""
    with duckdb.connect(config={"threads": 1}) as con:
        reid_sql.register(con)
        con.execute(f"CREATE VIEW people AS FROM '{reid_sql.demo.people()}'")
        con.execute(setting)
        found = []
        for statement in con.extract_statements(example.read_text("utf-8")):
            rows = con.execute(statement).fetchall()
            if "ORDER BY" not in statement.query or "order" not in setting:
                found.append((statement.query, sorted(map(repr, rows))))
        return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "setting",
    [
        "SET integer_division = true",
        # each turns an order around, and both turn it around with its NULLs
        "SET default_order = 'DESC'; SET default_null_order = 'NULLS FIRST'",
    ],
)
def test_no_setting_changes_an_example(setting: str) -> None:
    for example in EXAMPLES:
        if "order" in setting and "(ORDER BY" in example.read_text("utf-8"):
            continue  # its tables are made in an order that the setting changes
        usual = dict(answers(example, "SELECT 1"))
        for query, rows in answers(example, setting):
            assert rows == usual[query], (example.name, query)


def test_the_examples_call_every_function() -> None:
    text = " ".join(example.read_text("utf-8") for example in EXAMPLES)
    assert {name for name in declared() if f"{name}(" not in text} == set()
