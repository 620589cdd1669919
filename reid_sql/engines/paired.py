"""Pairs of records as codes of their values, on the driver, whatever engine found which belongs to which."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from reid_sql.engines.codes import value_codes
from reid_sql.engines.texts import texts_of
from reid_sql.parameters import Integers

SIDES: Final = ("own", "out")  # how the columns of each side begin, and whether it is there: in_own, in_out
WRITTEN: Final = (
    pl.String,
    pl.Enum,
    pl.Categorical,
    pl.Boolean,
    pl.Date,
    pl.Datetime,
    pl.Duration,
    pl.Decimal,
)


def coded(pairs: pl.DataFrame, columns: Sequence[str], *, keyed: bool) -> dict[str, Any]:
    """The columns of paired_records, one value each, of distinct pairs with how many there are, `records`."""
    codes_by_name: dict[str, Any] = {"names": list(columns), "keyed": [keyed]}
    for side, name in zip(SIDES, ("original", "released"), strict=True):
        names = [f"{side}{place}" for place in range(1, len(columns) + 1)]
        codes, values = _side(pairs, names, pairs[f"in_{side}"].to_numpy())
        codes_by_name |= {f"{name}_codes": codes, f"{name}_values": values}
    return codes_by_name | {"records": pairs["records"].to_numpy()}


def _side(
    pairs: pl.DataFrame, names: Sequence[str], there: Integers
) -> tuple[npt.NDArray[np.int32], list[list[str]]]:
    """The codes of one table, (columns, pairs), and the values that they stand for."""
    first = value_codes(pairs, names)
    codes: npt.NDArray[np.int32] = np.full(first.T.shape, -1, dtype=np.int32)
    values = []
    for at, name in enumerate(names):
        places = np.unique(first[:, at][first[:, at] > 0])
        dense = np.where(first[:, at] > 0, np.searchsorted(places, first[:, at]) + 1, 0)
        codes[at] = np.where(there, dense, -1)
        values.append(_texts(pairs[name].gather(places - 1)))
    return codes, values


def _texts(values: pl.Series) -> list[str]:
    if isinstance(values.dtype, WRITTEN) or values.dtype.is_numeric():
        return texts_of(values).to_list()
    return [str(value) for value in values.to_list()]
