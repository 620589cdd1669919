"""Polars: distinct records as codes, for what is matched or answered record by record."""

from collections.abc import Sequence

import polars as pl

from reid_sql.models.classes.wildcard import wildcard_class_sizes


def matched(own: pl.LazyFrame, other: pl.LazyFrame, columns: list[str], size: str) -> pl.LazyFrame:
    """Put beside each distinct record how many of the other's it matches, where NULL matches anything."""
    both = pl.concat(
        [own.with_columns(pl.lit(0).alias("reid_side")), other.with_columns(pl.lit(1).alias("reid_side"))]
    )
    schema = own.collect_schema()
    schema[size] = pl.Int64()

    def match(frame: pl.DataFrame) -> pl.DataFrame:
        first = pl.col("reid_row").first()
        coded = (
            pl.when(pl.col(c).is_null()).then(0).otherwise(first.over(c)).cast(pl.Int64).alias(c)
            for c in columns
        )
        codes = frame.with_row_index("reid_row", offset=1).select(coded)
        matrix, mine = codes.to_numpy().reshape(-1, len(columns)), (frame["reid_side"] == 0).to_numpy()
        sizes = wildcard_class_sizes(matrix[mine], matrix[~mine], frame["records"].to_numpy()[~mine])
        return frame.filter(mine).drop("reid_side").with_columns(pl.Series(size, sizes, dtype=pl.Int64))

    return both.map_batches(match, schema=schema)


def coded(counted: pl.LazyFrame, columns: Sequence[str], told: Sequence[str]) -> pl.LazyFrame:
    """Number the distinct records, with a code for each value of the columns (0 for NULL) and the told values as texts."""
    numbered = counted.with_row_index("place").with_columns(pl.col("place").cast(pl.Int64))
    codes = [
        pl.when(pl.col(q).is_null()).then(0).otherwise(pl.col("place").first().over(q) + 1) for q in columns
    ]
    texts = [pl.col(q).cast(pl.String) for q in told]
    return numbered.with_columns(
        pl.concat_list(codes).alias("codes"),
        (pl.concat_list(texts) if texts else pl.lit([], dtype=pl.List(pl.String))).alias("texts"),
    )
