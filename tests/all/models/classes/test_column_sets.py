"""What the first tier leaves of tests/models/classes/test_column_sets.py."""

import time

import duckdb
import numpy as np

import reid_sql
from reid_sql.models.classes.identifying_sets import DistinctCodes, find_quasi_identifiers


def test_without_max_sets_the_work_is_bounded_by_the_records() -> None:
    """Of 18 columns there are 262,143 sets, which take minutes on 60,000 records; a search takes seconds."""
    rng = np.random.default_rng(5)
    rows = np.unique(
        np.stack([rng.integers(0, 3 + place % 4, 60_000) for place in range(18)], 1), axis=0
    )
    table = DistinctCodes(
        [f"c{place}" for place in range(18)], list(rows.T), np.ones(len(rows), int)
    )
    start = time.process_time()
    (best,) = find_quasi_identifiers(table, 0.05)
    assert time.process_time() - start < 30
    complete = (
        "incomplete: the list is complete up to 5 of 18 columns, with max_sets of 3125; greedy: "
    )
    assert best.status.startswith(complete)
    _, counts = np.unique(
        rows[:, [int(name[1:]) for name in best.columns]], axis=0, return_counts=True
    )
    assert best.unique_records == np.count_nonzero(counts == 1) >= 0.05 * len(rows)


def test_all_minimal_keys_of_a_wide_table_are_found_without_a_limit(data: str) -> None:
    """Of 295,173 records and 43 columns: most sets are told from pairs of records alone."""
    con = duckdb.connect()
    reid_sql.register(con)
    con.execute(f"CREATE TABLE census AS SELECT DISTINCT * FROM '{data}/census_income_kdd.parquet'")
    columns = [row[0] for row in con.execute("DESCRIBE census").fetchall()]
    rows = con.execute(
        "SELECT columns, status FROM quasi_identifiers(census, $1, at_least := 1.0)", [columns]
    ).fetchall()
    assert {status for _, status in rows} == {"ok"}
    keys = [set(found) for found, _ in rows]
    assert len(keys) == 40
    assert not any(one < other for one in keys for other in keys)

    def distinct(names: set[str]) -> int:  # 64 bits of so few records are no others'
        listed = ", ".join(f'"{name}"' for name in names)
        asked = f"SELECT count(DISTINCT hash({listed})) FROM census"
        found: int = con.execute(asked).fetchall()[0][0]
        return found

    records = distinct(set(columns))
    assert all(distinct(key) == records for key in keys)
    assert all(distinct(keys[-1] - {name}) < records for name in keys[-1])
