"""Arrays made of buffers are those that pyarrow makes, and pandas is not imported for a first answer."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.engines import arrow_rows
from reid_sql.engines.arrow_rows import (
    array_of,
    doubles_of,
    numbers_in,
    numbers_of,
    structs_of,
    truths_in,
)
from reid_sql.errors import OutOfDomainError

SHARE = st.none() | st.floats(allow_nan=False)
RECORDS = st.none() | st.integers(-(2**63), 2**63 - 1)
ANSWER = st.none() | st.fixed_dictionaries({"share": SHARE, "records": RECORDS})


@given(st.lists(st.none() | st.booleans()))
def test_truths_are_those_that_pyarrow_makes(truths: list[bool | None]) -> None:
    found = array_of(truths, pa.bool_())
    found.validate(full=True)
    assert found.equals(pa.array(truths, pa.bool_()))


def test_what_an_array_cannot_hold_is_refused_as_by_pyarrow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for values, kind in (([2**63], pa.int64()), ([2**31], pa.int32())):
        for made in (array_of, pa.array):
            with pytest.raises((ValueError, OverflowError)):
                made(values, kind)
    assert array_of([3.0, None], pa.int64()).equals(pa.array([3.0, None], pa.int64()))
    monkeypatch.setattr(arrow_rows, "MAX_ITEMS", 5)
    assert array_of(["abc", "de"], pa.string()).to_pylist() == ["abc", "de"]
    with pytest.raises(OutOfDomainError, match="at most 5 bytes of text, got 6"):
        array_of(["abc", "def"], pa.string())


@given(
    st.lists(SHARE),
    st.lists(RECORDS.filter(lambda n: n is None or abs(n) < 2**53)),
    st.integers(0, 3),
)
def test_numbers_are_those_that_pyarrow_gives(shares: Any, records: Any, first: int) -> None:
    for values, kind in ((shares, pa.float64()), (records, pa.int64()), (records, pa.int64())):
        array = pa.array(values, kind)[first:]
        expected = array.to_numpy(zero_copy_only=False)
        np.testing.assert_array_equal(numbers_in(array), expected)
        assert numbers_in(array).dtype == expected.dtype
    valid = np.array([share is not None for share in shares], dtype=bool)
    members = np.array([share or 0.0 for share in shares])
    assert doubles_of(members, valid).equals(pa.array(shares, pa.float64()))


@given(st.lists(st.none() | st.booleans()), st.integers(0, 9))
def test_where_truths_are_true_is_where_pyarrow_has_them(truths: Any, first: int) -> None:
    found = truths_in(pa.array(truths, pa.bool_())[first:])
    assert found.tolist() == [truth is True for truth in truths[first:]]
    assert truths_in(pa.array([truth is not None for truth in truths], pa.bool_())).tolist() == [
        truth is not None for truth in truths
    ]


@given(st.lists(ANSWER))
def test_rows_of_columns_are_those_that_pyarrow_makes(rows: Any) -> None:
    kind = pa.struct([("share", pa.float64()), ("records", pa.int64())])
    fields = [[row and row[field.name] for row in rows] for field in kind]
    valid = [np.array([value is not None for value in values], dtype=bool) for values in fields]
    members = [
        np.array([value or 0 for value in values], dtype=field.type.to_pandas_dtype())
        for values, field in zip(fields, kind, strict=True)
    ]
    columns = [
        numbers_of(*each)
        for each in zip(members, [field.type for field in kind], valid, strict=True)
    ]
    found = structs_of(columns, kind, np.array([row is not None for row in rows], dtype=bool))
    found.validate(full=True)
    assert found.to_pylist() == pa.array(rows, kind).to_pylist()
    assert numbers_of(np.array([1, 2], dtype=np.int32), pa.int64()).equals(
        pa.array([1, 2], pa.int64())
    )
