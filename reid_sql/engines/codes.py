"""Values of any type as codes and as texts, on the driver: for what is matched or answered by record."""

from typing import Final

import polars as pl

from reid_sql.parameters import Integers


def dense_codes(values: pl.Series) -> Integers:
    """A code for each value of a column, 1, 2, … without gaps and 0 for NULL, (records,), of any type.

    >>> dense_codes(pl.Series(["F", None, "M", "F"])).tolist()
    [1, 0, 2, 1]
    """
    placed = values.to_frame("q").with_row_index("place")
    first = pl.when(pl.col("q").is_not_null()).then(pl.col("place").first().over("q"))
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
