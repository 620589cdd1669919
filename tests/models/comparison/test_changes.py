"""Changes of a release: none in the original, so that what is measured is what changed."""

import numpy as np
import pytest

from reid_sql.models.comparison.comparison import compare
from reid_sql.models.comparison.paired_records import PairedRecords

CHANGES = {"records_removed": 1, "records_added": 2, "records_changed": 3, "cells_changed": 4}


@pytest.mark.parametrize("keyed", [True, False])
def test_the_original_has_no_changes(keyed: bool) -> None:  # noqa: FBT001
    """Of ten records one is removed, two are added, and three are changed, one of them in both columns."""
    first = np.array([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1])
    second = np.array([1, 1, 2, 2, 1, 2, 1, 2, 1, 2, -1, -1])
    after_first = np.array([2, 2, 1, 1, 1, 1, 1, 1, 1, -1, 1, 2])
    after_second = np.array([1, 2, 1, 2, 1, 2, 1, 2, 1, -1, 1, 1])
    paired = PairedRecords(
        ["age", "sex"],
        [keyed],
        np.stack([first, second]),
        np.stack([after_first, after_second]),
        np.ones(12, dtype=np.int64),
        [["30", "31"], ["F", "M"]],
        [["30", "31"], ["F", "M"]],
    )
    rows = {row.measure: row for row in compare(paired, 0.2, 1, 0)}
    for measure, number in CHANGES.items():
        row = rows[measure]
        assert row.original == 0
        assert (row.released, row.change) == ((number, number) if keyed else (None, None))
