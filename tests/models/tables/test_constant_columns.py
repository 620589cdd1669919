"""A column that only says which publication a table is does not part the tables."""

from typing import Any

import duckdb
import pytest

import reid_sql


def audit(
    people: str, *tables: tuple[str, list[int | None]], column: str = "stand"
) -> list[tuple[Any, ...]]:
    """Audit tables of three towns with their label; what each cell is found to be."""
    with duckdb.connect() as con:
        reid_sql.register(con)
        names = []
        for number, (label, counts) in enumerate(tables):
            names.append(f"t{number}")
            cells = ", ".join(
                f"('{label}', '{town}', {'NULL' if count is None else count})"
                for town, count in zip("abc", counts, strict=True)
            )
            con.execute(
                f"CREATE TABLE t{number} AS FROM (VALUES {cells}) v({column}, town, records)"
            )
        return con.execute(
            "SELECT cell, finding, low, status FROM audit_tables($1, people := $2) ORDER BY ALL",
            [names, people],
        ).fetchall()


@pytest.mark.parametrize("labels", [("2020", "2021"), ("draft", "final"), ("", "x")])
def test_the_difference_of_nested_tables_is_seen_without_their_labels(
    labels: tuple[str, str],
) -> None:
    [row] = audit("nested", (labels[0], [100, 60, 40]), (labels[1], [98, 60, 40]))
    assert row[:3] == ("town = a, in table 1 and not in table 2", "recovered", 2)
    assert row[3].startswith("left_out: 'stand' has one value in each table")
    assert audit("nested", ("2020", [100, 60, 40]), ("2020", [100, 60, 40])) == []


def test_a_count_that_a_draft_shows_is_known_of_the_final_table() -> None:
    [row] = audit("same", ("draft", [98, 60, 3]), ("final", [98, 60, None]))
    assert row[1:3] == ("recovered", 3)
    assert "left_out" in row[3]


def test_tables_of_two_regions_stay_apart() -> None:
    rows = audit("same", ("north", [98, 60, None]), ("south", [91, 55, 14]), column="region")
    assert [row[1] for row in rows] == ["protected"]
    assert [row[3] for row in rows] == ["ok"]
