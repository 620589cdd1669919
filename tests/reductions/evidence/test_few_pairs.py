"""Which pairs of columns are told value by value: those of few combinations, whatever the first rows show."""

from collections import Counter
from itertools import combinations

import polars as pl
import pytest

from reid_sql.engines.duckdb.source import table_source
from reid_sql.models.people.evidence import (
    MAX_COLUMNS_PAIRED,
    MAX_COMBINATIONS,
    MAX_DRAWN,
    MAX_PAIRED,
)
from reid_sql.reductions.evidence import ROWS_LOOKED_AT, people
from tests.cells import each_cell
from tests.tables import by_duckdb

ROWS = ROWS_LOOKED_AT + MAX_COMBINATIONS + 1_000
COLUMNS = ["few", "many", "late", "two"]


def table() -> pl.DataFrame:
    """`many` shows at once how many combinations it has; `late` after the rows that are looked at first."""
    rows = range(ROWS)
    return pl.DataFrame(
        {
            "few": [row % 300 for row in rows],
            "many": [row // 300 for row in rows],
            "late": [0 if row < ROWS_LOOKED_AT else row for row in rows],
            "two": [None if row % 5 == 0 else "ab"[row % 2] for row in rows],
        }
    )


def planned(names: list[str], weight: str | None) -> str:
    """The reduction's SQL over the table t."""
    return people(
        tbl=table_source("t"), qi=names, weight=weight, marginals=None, seed=0, nulls="value"
    )


@pytest.mark.parametrize("weight", [None, "weight"])
def test_pairs_are_listed_where_the_whole_table_has_few(weight: str | None) -> None:
    frame = table()
    weighted = frame.with_columns(weight=pl.lit(0.5))
    expected = {}
    for (i, one), (j, other) in combinations(enumerate(COLUMNS, 1), 2):
        counts = Counter(zip(frame[one], frame[other], strict=True))
        if len(counts) <= MAX_COMBINATIONS:
            expected[i, j] = counts
    assert set(expected) == {(1, 4), (2, 4)}
    reported = by_duckdb(
        f"FROM ({planned(COLUMNS, weight)}) WHERE kind = 'pair'",
        t=weighted,
    )
    found: dict[tuple[int, int], Counter[tuple[int, str | None]]] = {}
    for row in reported:
        pair = found.setdefault((row["first"], row["second"]), Counter())
        pair[int(row["first_value"]), row["second_value"]] = row["records"]
        assert row["weight"] == row["records"] * (1 if weight is None else 0.5)
    assert found == expected


@pytest.mark.parametrize("wide", [MAX_COLUMNS_PAIRED, MAX_COLUMNS_PAIRED + 1])
def test_of_very_many_columns_all_pairs_are_counted_among_the_drawn(wide: int) -> None:
    """Else 64 columns have 2,016 pairs to count."""
    names, rows = [f"c{place}" for place in range(wide)], MAX_DRAWN + 1
    frame = pl.DataFrame(
        {name: [row * (place + 3) % 7 for row in range(rows)] for place, name in enumerate(names)}
    )
    asked = planned(names, None)
    reported = by_duckdb(f"SELECT first, second FROM ({asked}) WHERE kind = 'pair'", t=frame)
    pairs = {(row["first"], row["second"]) for row in reported}
    assert pairs == (
        set(combinations(range(1, wide + 1), 2)) if wide <= MAX_COLUMNS_PAIRED else set()
    )


@pytest.mark.parametrize("wide", [12, 20])
def test_all_pairs_together_have_a_bounded_number_of_lines(wide: int) -> None:
    rows, names = 30_000, [f"c{place}" for place in range(wide)]
    frame = pl.DataFrame(
        {
            name: [row * (2 * place + 1) % (40 if place % 2 else 600) for row in range(rows)]
            for place, name in enumerate(names)
        }
    )
    asked = planned(names, None)
    reported = by_duckdb(f"SELECT count(*) AS lines FROM ({asked}) WHERE kind = 'pair'", t=frame)
    assert 0 < reported[0]["lines"] <= 1_000_000


@each_cell("weight", [None, "weight"])
@each_cell("rows", [MAX_DRAWN, MAX_DRAWN + 1])
@each_cell("wide", [3, 18])
def test_pairs_are_counted_beyond_the_records_drawn(
    wide: int, rows: int, weight: str | None
) -> None:
    """Records that are all drawn are counted in Python, without weights; else DuckDB counts all pairs."""
    names = [f"c{place}" for place in range(wide)]
    columns = {
        name: [row * (2 * place + 1) % 5 for row in range(rows)] for place, name in enumerate(names)
    }
    frame = pl.DataFrame(columns).with_columns(
        c1=pl.when(pl.col("c1") > 0).then("c1"), weight=pl.lit(0.5)
    )
    weights = 1 if weight is None else 0.5
    pairs = "SELECT first, second, first_value, second_value, records, weight"
    counted = by_duckdb(f"{pairs} FROM ({planned(names, weight)}) WHERE kind = 'pair'", t=frame)
    found = {tuple(row.values()) for row in counted}
    expected = set()
    for i, j in combinations(range(wide), 2):
        counts = Counter(zip(frame[names[i]], frame[names[j]], strict=True))
        expected |= {
            (i + 1, j + 1, text(a), text(b), n, n * weights) for (a, b), n in counts.items()
        }
    assert found == (expected if weight is not None or rows > MAX_DRAWN else set())


@pytest.mark.parametrize(
    ("wide", "weight", "more"), [(3, None, 0), (3, None, 50_000), (17, "weight", 50_000)]
)
def test_of_many_distinct_records_pairs_are_counted_among_a_draw(
    wide: int, weight: str | None, more: int
) -> None:
    """Of as many as the bound, all are counted; of more, about as many as the bound, evenly drawn."""
    rows = MAX_PAIRED + more
    names = ["number", *(f"c{place}" for place in range(1, wide))]
    columns = {
        name: pl.int_range(rows, eager=True)
        // (1 if place == 0 else place * 7)
        % (rows if place == 0 else 5)
        for place, name in enumerate(names)
    }
    frame = pl.DataFrame(columns).with_columns(weight=pl.lit(0.5))
    pairs = "SELECT first_value, second_value, records, weight"
    counted = by_duckdb(
        f"{pairs} FROM ({planned(names, weight)}) WHERE kind = 'pair' AND first = 2 AND second = 3",
        t=frame,
    )
    whole = Counter(zip(frame["c1"], frame["c2"], strict=True))
    drawn = {(int(row["first_value"]), int(row["second_value"])): row["records"] for row in counted}
    assert all(row["weight"] == row["records"] * (1 if weight is None else 0.5) for row in counted)
    if not more:
        assert drawn == whole
    share = MAX_PAIRED / rows
    assert drawn.keys() == whole.keys()
    for pair, count in whole.items():
        assert abs(drawn[pair] - share * count) <= 6 * (count * share * (1 - share)) ** 0.5


def test_records_of_few_distinct_ones_are_all_counted_in_pairs() -> None:
    rows = MAX_PAIRED + 50_000
    frame = pl.DataFrame(
        {"a": pl.int_range(rows, eager=True) % 7, "b": pl.int_range(rows, eager=True) % 11}
    )
    counted = by_duckdb(f"FROM ({planned(['a', 'b'], None)}) WHERE kind = 'pair'", t=frame)
    assert sum(row["records"] for row in counted) == rows


def text(value: int | None) -> str | None:
    return None if value is None else str(value)
