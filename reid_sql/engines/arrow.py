"""One binding of a row function for every engine that speaks Arrow: NULLs out, body, NULLs back."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reid_sql.function import Function


def kernel(declared: Function) -> Callable[..., pa.Array]:
    """Bind the function's body to Arrow arrays of numbers: doubles out, NULL wherever an argument is NULL."""

    def call(*columns: pa.Array) -> pa.Array:
        length = max(len(column) for column in columns)
        arrays = [np.broadcast_to(_doubles(column), length) for column in columns]
        valid = np.logical_and.reduce([np.broadcast_to(column.is_valid().to_numpy(zero_copy_only=False), length) for column in columns])
        answer = np.full(length, np.nan)
        answer[valid] = declared.body(*(array[valid] for array in arrays))
        return pa.array(answer, mask=~valid)

    return call


def _doubles(column: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False)
