"""Values of any type as codes and as texts, on the driver: for what is matched or answered by record."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from reid_sql.parameters import Integers


def value_codes(distinct: pl.DataFrame, names: Sequence[str]) -> Integers:
    """A code for each value of the columns, 0 for NULL, (records, columns), also of types without order.

    >>> value_codes(pl.DataFrame({"q1": ["F", None, "F"], "q2": [[1], [2], [1]]}), ["q1", "q2"]).tolist()
    [[1, 1], [0, 2], [1, 1]]
    """
    placed = distinct.select(names).with_row_index("place", offset=1)
    first = pl.col("place").first()
    codes = (
        pl.when(pl.col(name).is_null())
        .then(0)
        .otherwise(first.over(name))
        .cast(pl.Int64)
        .alias(name)
        for name in names
    )
    return placed.select(codes).to_numpy().reshape(-1, len(names))


def dense_codes(distinct: pl.DataFrame, name: str) -> Integers:
    """A code for each value of a column, 1, 2, … without gaps and 0 for NULL, (records,), of any type.

    >>> dense_codes(pl.DataFrame({"q1": ["F", None, "M", "F"]}), "q1").tolist()
    [1, 0, 2, 1]
    """
    placed = distinct.select(name).with_row_index("place")
    first = pl.when(pl.col(name).is_not_null()).then(pl.col("place").first().over(name))
    codes = placed.select(first.rank("dense").fill_null(0).cast(pl.Int32))
    return codes.to_series().to_numpy()


# Values of a Polars series as texts, as a model reads them: each value of a type has one of its own.

UNITS: Final = {"ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}  # in a second
# Polars writes years -262,143 to 262,142, and panics at others, which its dates can hold.
MAX_DAYS: Final = 95_000_000
SECONDS_A_DAY: Final = 86_400


def has_text(kind: pl.DataType) -> bool:
    """Test that there is a distinct text for each value of the type."""
    return not kind.is_nested() and kind not in {pl.Binary, pl.Object}


def text_of(column: pl.Expr) -> pl.Expr:
    """The text of each value; of a duration, or of a date too far away to be written, its number of units."""
    return column.map_batches(texts_of, return_dtype=pl.String, is_elementwise=True)


def texts_of(values: pl.Series) -> pl.Series:
    """The same of a series."""
    kind = values.dtype
    if isinstance(kind, pl.Duration):
        return _numbers(values, kind.time_unit)
    if not isinstance(kind, pl.Date | pl.Datetime):
        return values.cast(pl.String)
    unit = "days" if isinstance(kind, pl.Date) else kind.time_unit
    limit = MAX_DAYS * (SECONDS_A_DAY * UNITS[unit] if unit in UNITS else 1)
    is_near = values.to_physical().cast(pl.Int128).is_between(-limit, limit)
    if is_near.all():
        return values.cast(pl.String)
    near = values.set(~is_near, None).cast(pl.String)
    return near.zip_with(is_near.fill_null(value=True), _numbers(values, unit))


def _numbers(values: pl.Series, unit: str) -> pl.Series:
    return values.to_physical().cast(pl.String) + f" {unit}"


# Pairs of records as codes of their values, on the driver, whatever engine found which belongs to which.

# how the columns of each side begin, and whether it is there: in_own, in_out
SIDES: Final = ("own", "out")
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


# Three tables together, whatever engine grouped their records.
