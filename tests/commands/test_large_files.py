"""Profiles of large tables, whose columns and sets of columns are counted in parts: no figure changes."""

from collections import Counter
from itertools import combinations

import duckdb
import pytest

from reid_sql.commands import measure, proposals
from reid_sql.sources.files import connect_quietly

NAMES = ["town", "day", "job", "sex"]
MODULI = (97, 31, 11, 2)


@pytest.fixture
def people() -> duckdb.DuckDBPyConnection:
    con = connect_quietly()
    drawn = ", ".join(
        f"(hash(i, {place}) % {modulus})::INTEGER AS {name}"
        for place, (name, modulus) in enumerate(zip(NAMES, MODULI, strict=True))
    )
    con.execute(f"CREATE TEMP TABLE people AS SELECT {drawn} FROM range(2000) AS t(i)")
    return con


def share_unique(con: duckdb.DuckDBPyConnection, names: tuple[str, ...]) -> float:
    rows = con.execute(f"SELECT {', '.join(names)} FROM people").fetchall()
    return sum(size == 1 for size in Counter(rows).values()) / len(rows)


def test_columns_in_parts_have_the_profile_of_all_together(
    people: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = proposals.profile_columns(people, "people", [])
    monkeypatch.setattr(proposals, "MAX_VALUES_AT_ONCE", 4000)
    assert proposals.profile_columns(people, "people", []) == whole
    assert proposals.profile_columns(people, "people", NAMES[2:0:-1]) == whole[2:0:-1]


@pytest.mark.parametrize("shares", [(0.05, 0.5), (0.2, 0.3), (0.001, 0.002), (0.05, 1.0)])
def test_sets_of_columns_of_a_large_table_are_counted_exactly(
    people: duckdb.DuckDBPyConnection,
    monkeypatch: pytest.MonkeyPatch,
    shares: tuple[float, float],
) -> None:
    monkeypatch.setattr(measure, "MAX_BYTES", 0)
    monkeypatch.setattr(measure, "SHARES_SINGLED_OUT", shares)
    rows = proposals.profile_columns(people, "people", [])
    lines = measure.describe_smallest_sets(people, "people", rows)
    by_values = [tuple(NAMES[:size]) for size in range(2, len(NAMES) + 1)]
    for share, line in zip(shares, lines, strict=True):
        reaching = [names for names in by_values if share_unique(people, names) >= share]
        if not reaching:
            every_set = [each for n in range(1, 5) for each in combinations(NAMES, n)]
            assert all(share_unique(people, each) < share for each in every_set)
            assert line.endswith(f": none (no set of at most 4 columns reaches {100 * share:g} %).")
            continue
        figure = f"{', '.join(reaching[0])} ({100 * share_unique(people, reaching[0]):.1f} %)"
        assert figure in line, line
        assert line.startswith("A set of columns that singles out")


def test_a_column_that_singles_people_out_is_the_smallest_set(
    people: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "MAX_BYTES", 0)
    people.execute("INSERT INTO people SELECT i + 1000, 1, 1, 1 FROM range(200) AS t(i)")
    rows = proposals.profile_columns(people, "people", [])
    first, _ = measure.describe_smallest_sets(people, "people", rows)
    assert first == "Smallest set of columns that singles out 5 % of the records: town (9.1 %)."
    one = [row for row in rows if row["column_name"] == "sex"]
    _, line = measure.describe_smallest_sets(people, "people", one)
    assert line.endswith(" of the records: none (no set of at most 1 column reaches 50 %).")
