"""Records that every data set with the published tables must contain, against all such data sets."""

from itertools import product

import numpy as np
import polars as pl
import pytest

from tests.tables import by_polars

LARGEST = 4
# all small tables
EVERY = np.array(list(product(range(LARGEST + 1), repeat=8))).reshape(-1, 2, 2, 2)
NAMES = ("a", "b", "c")
CELLS = list(product("01", repeat=3))


def published(counts: np.ndarray, dropped: int) -> pl.DataFrame:
    """The table by two of the three columns."""
    own = [name for place, name in enumerate(NAMES) if place != dropped]
    sums = counts.sum(axis=dropped)
    rows = [(*(str(each) for each in cell), int(sums[cell])) for cell in np.ndindex(sums.shape)]
    return pl.DataFrame(rows, [*own, "records"], orient="row")


@pytest.mark.parametrize("seed", range(6))
def test_records_that_every_consistent_data_set_contains_are_found(seed: int) -> None:
    """All cells are listed once more, hidden: the audit bounds each by all published tables together."""
    counts = np.random.default_rng(seed).integers(0, 3, (2, 2, 2))
    is_consistent = np.ones(len(EVERY), dtype=bool)
    for dropped in range(3):
        sums = EVERY.sum(axis=dropped + 1)
        is_consistent &= (sums == counts.sum(axis=dropped)).all(axis=(1, 2))
    least, most = (extreme(EVERY[is_consistent], axis=0) for extreme in (np.min, np.max))
    hidden = pl.DataFrame([(*cell, None) for cell in CELLS], [*NAMES, "records"], orient="row")
    tables = [
        *(published(counts, dropped) for dropped in range(3)),
        hidden.cast({"records": pl.Int64}),
    ]
    found = by_polars("audit_tables", tables, lowest=0)
    rows = [row for row in found if row["kind"] == "suppressed"]
    assert len(rows) == len(CELLS)
    for row in rows:
        values = dict(part.split(" = ") for part in row["cell"].split(", "))
        place = tuple(int(values[name]) for name in NAMES)
        assert (row["low"], row["high"], row["status"]) == (least[place], most[place], "ok")
