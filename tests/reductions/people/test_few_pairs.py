"""Which pairs of columns are told value by value: those of few combinations, whatever the first rows show."""

from collections import Counter
from itertools import combinations

import polars as pl
import pytest

from reid_sql.reductions.people import LOOKED_AT, MOST_LINES
from tests.tables import by_duckdb

ROWS = LOOKED_AT + MOST_LINES + 1_000
COLUMNS = ["few", "many", "late", "two"]


def table() -> pl.DataFrame:
    """`many` shows at once how many combinations it has; `late` after the rows that are looked at first."""
    rows = range(ROWS)
    return pl.DataFrame(
        {
            "few": [row % 300 for row in rows],
            "many": [row // 300 for row in rows],
            "late": [0 if row < LOOKED_AT else row for row in rows],
            "two": [None if row % 5 == 0 else "ab"[row % 2] for row in rows],
        }
    )


@pytest.mark.parametrize("weight", ["NULL", "'weight'"])
def test_pairs_are_told_where_the_whole_table_has_few(weight: str) -> None:
    frame = table()
    weighted = frame.with_columns(weight=pl.lit(0.5))
    expected = {}
    for (i, one), (j, other) in combinations(enumerate(COLUMNS, 1), 2):
        counts = Counter(zip(frame[one], frame[other], strict=True))
        if len(counts) <= MOST_LINES:
            expected[i, j] = counts
    assert set(expected) == {(1, 4), (2, 4)}
    told = by_duckdb(
        f"FROM reid.main.reid_reduce_people(t, {COLUMNS}, {weight}, NULL, 0, NULL, 'value', NULL) "
        "WHERE second > 0",
        t=weighted,
    )
    found: dict[tuple[int, int], Counter[tuple[int, str | None]]] = {}
    for row in told:
        pair = found.setdefault((row["first"], row["second"]), Counter())
        pair[int(row["first_value"]), row["second_value"]] = row["records"]
        assert row["mass"] == row["records"] * (1 if weight == "NULL" else 0.5)
    assert found == expected
