"""Polars: equivalence classes."""

import secrets
from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any, Final

import polars as pl

from reid_sql.engines.counted_rows import warn_of_nobodies
from reid_sql.engines.polars.coded_values import count_nobodies
from reid_sql.engines.polars.frames import (
    ROW_COUNT,
    aliases,
    check_columns,
    check_length,
    count_distinct,
    exact_column,
    null_report,
    people_of,
    report_groups,
    rows_of_groups,
    smallest_class_sizes,
    with_aliases,
)
from reid_sql.errors import WrongTypeError
from reid_sql.models.columns.nobodies import counts_of_nobodies
from reid_sql.parameters import MAX_COLUMNS, QUASI_IDENTIFIERS, ColumnNames
from reid_sql.reduction import refuse_entity, refuse_result_names, refuse_unidentified

MAX_PLAIN_KEYS: Final = 4  # columns that are compared as they are; of more a key is made
# Where NULL may be any value, DuckDB counts.
NO_BLANK_RECORDS: Final = pl.lit(None, dtype=pl.Int64).alias("blank_records")
# Seeds of this process for each place of a column, twice: no table can be made against hashes that are
# secret.
SECRETS: Final = [[secrets.randbits(64) for _ in range(MAX_COLUMNS)] for _ in range(2)]


def class_size(columns: Sequence[Any], entity: str | pl.Expr | None = None) -> pl.Expr:
    """Records, or people where a column identifies them, that share this record's values.

    Up to four columns are compared as they are, more by two secretly keyed 64-bit sums. Each column has a
    keyed hash of its own, so two records that differ agree in both sums with a chance of 2^-128, whatever the
    data: among a billion records, 2^-69.
    """
    key = _expressions(columns)
    if len(key) > MAX_PLAIN_KEYS:
        high, low = (
            reduce(add, map(pl.Expr.hash, key, seeds)).cast(pl.UInt128) for seeds in SECRETS
        )
        key = [high * pl.lit(2**64, dtype=pl.UInt128) + low]
    if entity is None:
        return pl.len().over(key).cast(pl.Int64)
    people = _people(entity, columns)
    is_identified = people.map_batches(_refuse_nobody, return_dtype=pl.Boolean, returns_scalar=True)
    return pl.when(is_identified).then(people.n_unique().over(key).cast(pl.Int64))


def _refuse_nobody(people: pl.Series) -> pl.Series:
    """Refuse rows without an identifier, by their number; warn of values that stand for nobody."""
    identifiers = people.fill_nan(None) if people.dtype.is_float() else people
    refuse_unidentified("entity", people.name, identifiers.null_count(), len(people))
    if not people.dtype.is_nested():
        sizes = (
            people.alias("value").to_frame().lazy().group_by("value").agg(pl.len().alias("size"))
        )
        counts = count_nobodies(sizes, people.dtype).collect().row(0)
        warn_of_nobodies(people.name, counts_of_nobodies(counts))
    return pl.Series([True])


def _people(entity: str | pl.Expr, columns: Sequence[Any]) -> pl.Expr:
    """Return the column that identifies people; refuse one of the quasi-identifiers."""
    name, names = _name(entity), [name for column in columns if (name := _name(column))]
    refuse_entity(names, name, "value")
    return _expressions([entity], "entity")[0]


def _name(column: Any) -> str | None:  # noqa: ANN401 - a name, an expression, or what is refused later
    """The name of the column that is meant; none where it is worked out of columns."""
    if isinstance(column, pl.Expr):
        return column.meta.output_name() if column.meta.is_column() else None
    return column if isinstance(column, str) else None


def _expressions(columns: Sequence[Any], words: str = "quasi-identifiers") -> list[pl.Expr]:
    """The columns as expressions, each of one column; refuses what is none, and a constant."""
    if not 1 <= len(columns) <= MAX_COLUMNS:
        QUASI_IDENTIFIERS.check([str(column) for column in columns], [])
    for column in columns:
        if not isinstance(column, str | pl.Expr):
            raise WrongTypeError(
                f"{words} must each be a column name or an expression, got {type(column).__name__}; "
                "write equivalence_class_size('age', 'sex')"
            )
    return [
        exact_column(column) if isinstance(column, str) else _one(words, place, column)
        for place, column in enumerate(columns, 1)
    ]


def _one(words: str, place: int, column: pl.Expr) -> pl.Expr:
    """A selector's columns as one value: else each would be a window of its own."""
    one = pl.struct(column) if column.meta.has_multiple_outputs() else column
    return one if column.meta.is_column_selection() else check_length(words, place, one)


def classes(
    tbl: pl.LazyFrame, qi: ColumnNames, nulls: str, entity: str | None = None
) -> pl.LazyFrame:
    """The distinct combinations of values, with how many records, or people, share each."""
    names = aliases(qi)
    if entity is None:
        rows = with_aliases(tbl, check_columns(QUASI_IDENTIFIERS, qi, tbl))
        listed = count_distinct(rows, names, nulls).with_columns(
            pl.col("records").alias("class_size")
        )
    else:
        rows, people = people_of(tbl, qi, entity, nulls)
        listed = people.group_by(names).agg(ROW_COUNT.alias("class_size"), pl.col("records").sum())
    refuse_result_names(qi)
    named = (pl.col(q).alias(name) for q, name in zip(names, qi, strict=True))
    return null_report(rows, names, nulls, listed).select(
        *named, "class_size", "records", "records_dropped", "nulls"
    )


def histogram(
    tbl: pl.LazyFrame,
    qi: ColumnNames,
    nulls: str,
    entity: str | None = None,
    by: ColumnNames | None = None,
) -> pl.LazyFrame:
    """How many classes, and how many records, or people by their smallest class, have each class size."""
    if by is not None:
        return _of_groups(tbl, qi, nulls, entity, by)
    if entity is not None:
        return _one_row_per_person(tbl, qi, nulls, entity)
    rows, names = with_aliases(tbl, check_columns(QUASI_IDENTIFIERS, qi, tbl)), aliases(qi)
    class_rows = count_distinct(rows, names, nulls).with_columns(
        pl.col("records").alias("class_size")
    )
    number = ROW_COUNT.alias("classes")
    reduced = class_rows.group_by("class_size").agg(
        number, pl.col("records").sum(), NO_BLANK_RECORDS
    )
    return null_report(rows, names, nulls, reduced).sort("class_size")


def _one_row_per_person(
    tbl: pl.LazyFrame, qi: ColumnNames, nulls: str, entity: str
) -> pl.LazyFrame:
    rows, people = people_of(tbl, qi, entity, nulls)
    names = aliases(qi)
    of_classes = people.group_by(names).agg(ROW_COUNT.alias("class_size"))
    sizes = of_classes.group_by("class_size").agg(ROW_COUNT.alias("classes"))
    of_people = smallest_class_sizes(people, pl.len().over(names).cast(pl.Int64))
    both = sizes.join(of_people, on="class_size", how="left").with_columns(
        pl.col("records").fill_null(0), NO_BLANK_RECORDS
    )
    return null_report(rows, names, nulls, both).sort("class_size")


def _of_groups(
    tbl: pl.LazyFrame, qi: ColumnNames, nulls: str, entity: str | None, by: ColumnNames
) -> pl.LazyFrame:
    """The same of each group, all from one count by the columns and the groups."""
    counted, names, groups = rows_of_groups(tbl, qi, by, entity, nulls)
    sizes_by, complete = [*groups, "class_size"], counted.filter("complete")
    size, number = ROW_COUNT.alias("class_size"), ROW_COUNT
    if entity is None:
        sized = complete.with_columns(pl.col("records").alias("class_size")).group_by(sizes_by)
        histogram_rows = sized.agg(
            number.alias("classes"), pl.col("records").sum(), NO_BLANK_RECORDS
        )
        return report_groups(counted, histogram_rows, groups, by, nulls)
    classes = (
        complete.group_by([*groups, *names])
        .agg(size)
        .group_by(sizes_by)
        .agg(number.alias("classes"))
    )
    people = smallest_class_sizes(complete, size.over([*groups, *names]), groups=groups)
    both = classes.join(people, on=sizes_by, how="left", nulls_equal=True).with_columns(
        NO_BLANK_RECORDS
    )
    return report_groups(counted, both, groups, by, nulls)
