import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import (
    NULLS,
    blank,
    by_both,
    class_sizes,
    drop_nulls,
    frames,
    histogram,
    keys,
)


@given(frames(), st.sampled_from(NULLS))
def test_classes_and_records_of_each_size(frame: pl.DataFrame, nulls: str) -> None:
    rows = drop_nulls(keys(frame), nulls)
    expected = histogram(rows, class_sizes(rows, rows, nulls))
    for answer in by_both("class_size_histogram", {"t": frame}, frame.columns, nulls=nulls):
        assert [(row["class_size"], row["classes"], row["records"]) for row in answer] == expected
        reported = [row["blank_records"] for row in answer]
        if nulls == "wildcard":
            assert sum(reported) == blank(rows, nulls)
        else:
            assert set(reported) <= {None}
        assert {(row["nulls"], row["records_dropped"]) for row in answer} <= {
            (nulls, frame.height - len(rows))
        }


def test_an_empty_table_has_an_empty_histogram() -> None:
    empty = pl.DataFrame({"a": pl.Series([], dtype=pl.Int64)})
    for nulls in NULLS:
        assert by_both("class_size_histogram", {"t": empty}, ["a"], nulls=nulls) == [[], []]
