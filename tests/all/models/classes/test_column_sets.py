"""What the first tier leaves of tests/models/classes/test_column_sets.py."""

import time

import numpy as np

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
