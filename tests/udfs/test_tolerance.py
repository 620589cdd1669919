"""Matching within a tolerance, against the comparison of all pairs of rows."""

import math
from collections import Counter
from collections.abc import Sequence

import duckdb
import pytest

from tests.neighbours import Case, Row, random_case, sizes

SOME = range(30)


def known(rows: Sequence[Row], nulls: str) -> list[Row]:
    return [row for row in rows if nulls != "drop" or None not in row[:-1]]


def risks(case: Case, rows: Sequence[Row], counted: Sequence[int], *, of_people: bool) -> dict[str, float]:
    """Figures of the rows, or of people by their row of the smallest size."""
    if of_people:
        smallest = {row[-1]: 10**9 for row in rows}
        for row, size in zip(rows, counted, strict=True):
            smallest[row[-1]] = min(smallest[row[-1]], size)
        counted = list(smallest.values())
    return {
        "records": len(counted),
        "k": min(counted),
        "unique_records": counted.count(1),
        "average_risk": math.fsum(1 / size for size in counted) / len(counted),
        "records_at_risk": sum(1 / size > 0.2 for size in counted) / len(counted),
    }


@pytest.mark.parametrize("seed", SOME)
def test_class_sizes_are_those_of_all_pairs(con: duckdb.DuckDBPyConnection, seed: int) -> None:
    case = random_case(seed)
    case.create(con)
    nulls, of_people = ("value", "drop")[seed % 2], seed % 3 == 0
    rows = known(case.tables[0], nulls)
    others = known(case.tables[1], nulls)
    if not rows:
        return
    entity = "'pid'" if of_people else "NULL"
    options = f"nulls := '{nulls}', entity := {entity}, tolerance := {case.tolerance}"
    own = sizes(case, rows, rows, of_people=of_people)
    answer = con.sql(f"FROM risk_summary(s, {case.columns}, {options})").pl().row(0, named=True)
    expected = risks(case, rows, own, of_people=of_people)
    assert {name: answer[name] for name in expected} == pytest.approx(expected, rel=1e-12)
    found = con.sql(f"SELECT class_size, classes FROM class_size_histogram(s, {case.columns}, {options})")
    distinct = {repr(row[:-1]): size for row, size in zip(rows, own, strict=True)}
    assert sorted(found.fetchall()) == sorted(Counter(distinct.values()).items())
    there = sizes(case, rows, others, of_people=of_people)
    larger = list(map(max, own, there))
    answer = con.sql(f"FROM journalist_risk(s, p, {case.columns}, {options})").pl().row(0, named=True)
    expected = risks(case, rows, larger, of_people=of_people)
    assert {name: answer[name] for name in expected} == pytest.approx(expected, rel=1e-12)
