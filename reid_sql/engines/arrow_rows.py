"""Rows of Python's own as Arrow arrays, and numbers as NumPy's, by their buffers.

`pyarrow.array` and `to_numpy` ask whether what they are given is pandas', and import pandas for that where it
is installed: a fifth of a second of a first answer.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from reid_sql.errors import OutOfDomainError
from reid_sql.parameters import Flags, Floats

MAX_ITEMS: Final = 2**31 - 1  # of bytes or items that an array of Arrow can address


def array_of(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Values of one type, None for NULL: numbers, texts, or lists or structs of such.

    >>> array_of([["a", None], None], pa.list_(pa.string())).to_pylist()
    [['a', None], None]
    """
    valid = _bits(np.array([value is not None for value in values], dtype=bool))
    if pa.types.is_struct(kind):
        each = [
            array_of([value and value.get(field.name) for value in values], field.type)
            for field in kind
        ]
        return pa.Array.from_buffers(kind, len(values), [valid], children=each)
    if pa.types.is_list(kind):
        within = array_of([item for value in values for item in value or ()], kind.value_type)
        return pa.Array.from_buffers(
            kind, len(values), [valid, _offsets(values)], children=[within]
        )
    if pa.types.is_string(kind):
        texts = [(value or "").encode() for value in values]
        return pa.Array.from_buffers(
            kind, len(values), [valid, _offsets(texts), pa.py_buffer(b"".join(texts))]
        )
    data = _numbers([0 if value is None else value for value in values], kind)
    return pa.Array.from_buffers(kind, len(values), [valid, data])


def numbers_of(values: npt.NDArray[Any], kind: pa.DataType, valid: Flags | None = None) -> pa.Array:
    """Numbers of one type, NULL where they are not valid.

    >>> numbers_of(np.array([5, 7]), pa.int64(), np.array([True, False])).to_pylist()
    [5, None]
    """
    data = pa.py_buffer(np.ascontiguousarray(values, dtype=kind.to_pandas_dtype()))
    return pa.Array.from_buffers(kind, len(values), [None if valid is None else _bits(valid), data])


def doubles_of(values: Floats, valid: Flags) -> pa.Array:
    """Numbers, NULL where they are not valid.

    >>> doubles_of(np.array([0.5, 2.0]), np.array([True, False])).to_pylist()
    [0.5, None]
    """
    return numbers_of(values, pa.float64(), valid)


def structs_of(columns: Sequence[pa.Array], kind: pa.StructType, valid: Flags) -> pa.Array:
    """Rows of columns by field, NULL where they are not valid.

    >>> structs_of([pa.array([5, 7])], pa.struct([("k", pa.int64())]), np.array([True, False])).to_pylist()
    [{'k': 5}, None]
    """
    return pa.Array.from_buffers(kind, len(valid), [_bits(valid)], children=list(columns))


def numbers_in(values: pa.Array) -> npt.NDArray[Any]:
    """The numbers of an array, NaN for NULL.

    >>> numbers_in(pa.array([5, 7, 8])[1:]).tolist(), numbers_in(pa.array([None, 7])).tolist()
    ([7, 8], [nan, 7.0])
    """
    kind, (bits, data) = np.dtype(values.type.to_pandas_dtype()), values.buffers()
    if not len(values):
        return np.empty(0, kind)
    numbers = np.frombuffer(data, kind, len(values), values.offset * kind.itemsize)
    if not values.null_count:
        return numbers
    return np.where(_truths(bits, values), numbers, np.nan)


def truths_in(values: pa.Array) -> Flags:
    """Where an array of truths is true; not where it is NULL.

    >>> truths_in(pa.array([False, True, None, False])[1:]).tolist()
    [True, False, False]
    """
    bits, data = values.buffers()
    truth_bits = _truths(data, values)
    return truth_bits & _truths(bits, values) if values.null_count else truth_bits


def _truths(bits: pa.Buffer | None, values: pa.Array) -> Flags:
    """The bits of a buffer for the array's own rows."""
    if bits is None or not len(values):
        return np.zeros(len(values), dtype=bool)
    bits_read = np.unpackbits(np.frombuffer(bits, np.uint8), bitorder="little")
    return bits_read[values.offset :][: len(values)].astype(bool)


def _numbers(values: Sequence[Any], kind: pa.DataType) -> pa.Buffer:
    """Numbers as they lie in an array of the type; truths are bits there."""
    array = np.array(values, dtype=kind.to_pandas_dtype())
    truths = pa.types.is_boolean(kind)
    return pa.py_buffer(np.packbits(array, bitorder="little") if truths else array)


def _bits(valid: Flags) -> pa.Buffer | None:
    """Which values are there, a bit for each; None where all are."""
    return None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))


def _offsets(values: Sequence[Sequence[Any] | None]) -> pa.Buffer:
    """Where each value begins among all, and the end."""
    ends = np.cumsum([0, *(len(value or ()) for value in values)])
    if ends[-1] > MAX_ITEMS:
        raise OutOfDomainError(
            f"an answer must contain at most {MAX_ITEMS:,} bytes of text, got {ends[-1]:,}; "
            "ask of fewer columns or groups"
        )
    return pa.py_buffer(ends.astype(np.int32))
