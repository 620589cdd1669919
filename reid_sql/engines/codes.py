"""Values of any type as codes, on the driver: for what is matched or answered record by record."""

from collections.abc import Sequence

import polars as pl

from reid_sql.models.classes.disclosure import Integers


def value_codes(distinct: pl.DataFrame, names: Sequence[str]) -> Integers:
    """A code for each value of the columns, 0 for NULL, (records, columns), also of types without order.

    >>> value_codes(pl.DataFrame({"q1": ["F", None, "F"], "q2": [[1], [2], [1]]}), ["q1", "q2"]).tolist()
    [[1, 1], [0, 2], [1, 1]]
    """
    placed = distinct.select(names).with_row_index("place", offset=1)
    first = pl.col("place").first()
    codes = (
        pl.when(pl.col(name).is_null()).then(0).otherwise(first.over(name)).cast(pl.Int64).alias(name)
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
