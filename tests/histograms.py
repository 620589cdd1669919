"""Class-size histograms to draw and to read."""

import duckdb
import numpy as np
from hypothesis import strategies as st

from reid_sql.models.classes.disclosure import Histogram

CLASSES = st.dictionaries(st.integers(1, 40), st.integers(1, 60), min_size=1, max_size=6)
FEW = ["age", "sex", "race"]
MORE = [*FEW, "marital_status", "education_num"]
TENTH = "SELECT * FROM '{}' QUALIFY (row_number() OVER () - 1) % 10 = 0"


def histogram(classes: dict[int, int]) -> Histogram:
    size, count = np.array(sorted(classes)), np.array([classes[size] for size in sorted(classes)])
    return Histogram(size, count, size * count)


def of_adult(
    con: duckdb.DuckDBPyConnection, file: str, columns: list[str], *, tenth: bool = False
) -> Histogram:
    con.execute(
        f"CREATE OR REPLACE TEMP TABLE of_adult AS {TENTH.format(file) if tenth else f'FROM {file!r}'}"
    )
    found = con.execute(f"FROM class_size_histogram(of_adult, {columns})").fetchnumpy()
    return Histogram(found["class_size"], found["classes"], found["records"])


def huge() -> Histogram:
    """A thousand million records, in classes of up to a hundred million."""
    size = np.unique(
        np.r_[np.arange(1, 6_000), np.geomspace(6e3, 3e6, 600).astype(np.int64), 100_000_000]
    )
    classes = np.maximum(1, 1.5e8 / size**2.3).astype(np.int64)
    return Histogram(size, classes, size * classes)
