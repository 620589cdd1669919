import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.errors import OutOfDomainError
from tests.tables import (
    NULLS,
    by_both,
    by_duckdb,
    by_polars,
    class_sizes,
    drop_nulls,
    frames,
    key,
    keys,
)


@given(frames(), st.sampled_from(NULLS))
def test_each_class_once_with_its_size(frame: pl.DataFrame, nulls: str) -> None:
    rows = drop_nulls(keys(frame), nulls)
    sizes = dict(zip(rows, class_sizes(rows, rows, nulls), strict=True))
    for answer in by_both("equivalence_classes", {"t": frame}, frame.columns, nulls=nulls):
        found = {tuple(key(row[name]) for name in frame.columns): row for row in answer}
        assert len(found) == len(answer) == len(sizes)
        assert {row: got["class_size"] for row, got in found.items()} == sizes
        assert all(got["records"] == rows.count(row) for row, got in found.items())
        assert {got["nulls"] for got in answer} <= {nulls}
        assert {got["records_dropped"] for got in answer} <= {frame.height - len(rows)}


@pytest.mark.parametrize("name", ["class_size", "records", "records_dropped", "nulls"])
def test_a_column_with_a_name_of_the_answer_is_refused(name: str) -> None:
    frame = pl.DataFrame({name: [1]})
    sentence = f"where classes are listed, got '{name}'; rename the column in a view"
    with pytest.raises(OutOfDomainError, match=sentence):
        by_polars("equivalence_classes", frame, [name])
    with pytest.raises(Exception, match=sentence):
        by_duckdb(f"FROM equivalence_classes(t, ['{name}'])", t=frame)
