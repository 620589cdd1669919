"""Polars: columns by their exact names, and the lazy relations that all reductions share."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from io import BytesIO
from typing import Final, cast

import polars as pl
import pyarrow as pa

from reid_sql.errors import OutOfDomainError, UnavailableError, name_error
from reid_sql.parameters import QUASI_IDENTIFIERS, ColumnNames, Columns
from reid_sql.reduction import (
    DIVIDING,
    group_names,
    refuse_entity,
    refuse_groups,
)

TYPES: Final[Mapping[str, pl.DataType]] = {
    "BIGINT": pl.Int64(),
    "HUGEINT": pl.Int128(),
    "DOUBLE": pl.Float64(),
    "VARCHAR": pl.String(),
    "VARCHAR[]": pl.List(pl.String()),
    "BIGINT[]": pl.List(pl.Int64()),
    "VARCHAR[][]": pl.List(pl.List(pl.String())),
    "BOOLEAN[]": pl.List(pl.Boolean()),
    "INTEGER[][]": pl.List(pl.List(pl.Int32())),
}

# Polars 1.36 groups a NULL struct within a list by what Arrow left in its place: equal values were split.
SPLITS_LISTS_OF_STRUCTS: Final = pl.__version__.startswith("1.")

REFUSAL_LENGTH: Final = (
    "{} must be columns, got expression {}, a constant, an aggregate or a part of a column; "
    "write 'age', pl.col('age') or an expression of each record's values"
)

QI_AND_ENTITY: Final = Columns("quasi-identifiers and entity")
ROW_COUNT: Final = pl.len().cast(pl.Int64)
COUNTS: Final = ("classes", "records")  # 0 of a group of which every record was dropped


def schema(columns: Mapping[str, str]) -> dict[str, pl.DataType]:
    """The columns with Polars' types for SQL's."""
    return {name: TYPES[kind] for name, kind in columns.items()}


def exact_column(name: str) -> pl.Expr:
    """The column of this exact name, where `pl.col` takes `*` and `^…$` for patterns.

    So do selectors before Polars 1.44, but no stored expression.
    """
    if name == "*" or (name.startswith("^") and name.endswith("$")):
        return pl.Expr.deserialize(BytesIO(json.dumps({"Column": name}).encode()), format="json")
    return pl.col(name)


def check_length(
    words: str, place: int, column: pl.Expr, *, may_be_scalar: bool = False
) -> pl.Expr:
    """Return the expression, or refuse one that has fewer values than there are records.

    Polars repeats an aggregate or a constant for each record: one value would make one class of all. It knows
    the length of an expression before it sees a table, but for selectors and Python functions: those are
    compared with the number of records where they are computed.
    """
    try:
        has_each = column.meta.is_length_preserving() or (may_be_scalar and column.meta.is_scalar())
    except (AttributeError, pl.exceptions.PolarsError):  # Polars before 2.0 does not tell
        check = partial(_check_each, words=words, place=place, may_be_scalar=may_be_scalar)
        return pl.map_batches([column, pl.int_range(pl.len())], check)
    if not has_each:
        raise OutOfDomainError(REFUSAL_LENGTH.format(words, place))
    return column


def _check_each(
    series: Sequence[pl.Series], words: str, place: int, *, may_be_scalar: bool
) -> pl.Series:
    """Return the first series, or refuse it where it is shorter than the second, the records."""
    values, records = series
    if len(values) != len(records) and not (may_be_scalar and len(values) == 1):
        raise OutOfDomainError(REFUSAL_LENGTH.format(words, place))
    return values


def check_columns(words: Columns, columns: ColumnNames, frame: pl.LazyFrame) -> list[str]:
    """Give the names as a list, or refuse: no list of distinct columns that the frame has."""
    types = frame.collect_schema()
    checked = words.check(columns, types.names())
    refuse_second_columns(checked, types)
    for name in checked:
        if types[name] == pl.Object:
            raise OutOfDomainError(
                f"{words.words} must be of types that Polars compares, got '{name}' of type Object; "
                "turn it into text"
            )
        if SPLITS_LISTS_OF_STRUCTS and _has_structs(types[name]):
            raise OutOfDomainError(
                f"{words.words} must not be lists of structs before Polars 2, got '{name}'; turn it into text"
            )
    return checked


def refuse_second_columns(columns: Iterable[str], table_columns: Collection[str]) -> None:
    """Refuse a name that two columns of a CSV file have: Polars renames the second in silence."""
    for name in columns:
        if (second := f"{name}_duplicated_0") in table_columns:
            raise OutOfDomainError(
                f"columns must have names of their own, got '{name}' twice, once as '{second}'; "
                "rename one of them"
            )


def _has_structs(kind: pl.DataType, *, in_list: bool = False) -> bool:
    """Whether a list of the type, at any depth, has structs."""
    if isinstance(kind, pl.Struct):
        return in_list or any(
            _has_structs(cast("pl.DataType", field.dtype)) for field in kind.fields
        )
    if isinstance(kind, pl.List | pl.Array):
        return _has_structs(cast("pl.DataType", kind.inner), in_list=True)
    return False


def aliases(names: ColumnNames) -> list[str]:
    """The names q1, q2, … that `with_aliases` gives."""
    return [f"q{place}" for place in range(1, len(names) + 1)]


def with_aliases(frame: pl.LazyFrame, columns: ColumnNames, *joined: pl.Expr) -> pl.LazyFrame:
    """Select the columns as q1, q2, …: no name can clash with one of the counts' or be a pattern."""
    aliased = (
        exact_column(name).alias(q) for name, q in zip(columns, aliases(columns), strict=True)
    )
    return frame.select(*joined, *aliased)


def map_whole(
    frame: pl.LazyFrame,
    function: Callable[[pl.DataFrame], pl.DataFrame],
    columns: Mapping[str, pl.DataType] | None = None,
) -> pl.LazyFrame:
    """Pass the frame whole to the function, which returns these columns, or those that it gets.

    Polars before 1.44 would else filter, cut and select first what a user filters, cuts and selects of the
    result: the function would count fewer rows.
    """
    return frame.map_batches(
        function,
        schema=None if columns is None else pl.Schema(columns),
        predicate_pushdown=False,
        projection_pushdown=False,
        slice_pushdown=False,
    )


def drop_nulls(rows: pl.LazyFrame, names: ColumnNames, nulls: str) -> pl.LazyFrame:
    """The rows, without those that have a NULL where NULLs are dropped."""
    return rows.drop_nulls(names) if nulls == "drop" else rows


def count_distinct(rows: pl.LazyFrame, names: ColumnNames, nulls: str) -> pl.LazyFrame:
    """Distinct records with their counts."""
    return drop_nulls(rows, names, nulls).group_by(names).agg(ROW_COUNT.alias("records"))


def join_null_safe(left: pl.LazyFrame, right: pl.LazyFrame, names: ColumnNames) -> pl.LazyFrame:
    """Join each row of the left, in order, with the right row of the same values, NULL equal to NULL.

    The right's columns are q1, q2, ….
    """
    keys = [exact_column(name) for name in names]
    return left.join(
        right,
        left_on=keys,
        right_on=aliases(names),
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )


def null_report(
    rows: pl.LazyFrame, names: ColumnNames, nulls: str, reduced: pl.LazyFrame
) -> pl.LazyFrame:
    """Add to each row how many records were dropped and how NULLs were treated."""
    if nulls == "drop":
        missing = pl.any_horizontal(pl.col(names).is_null())
        reduced = reduced.join(
            rows.select(missing.sum().cast(pl.Int64).alias("records_dropped")), how="cross"
        )
    else:
        reduced = reduced.with_columns(pl.lit(0, dtype=pl.Int64).alias("records_dropped"))
    return reduced.with_columns(pl.lit(nulls).alias("nulls"))


def collected(frame: pl.LazyFrame, _: str) -> pa.Table:
    """Collect the frame; of an error, report the type alone, as Polars' words may quote a value."""
    try:
        return frame.collect(engine="streaming").to_arrow()
    except pl.exceptions.PolarsError as error:
        raise UnavailableError(
            f"the frame must be one that Polars can collect, got {name_error(error)}; "
            "correct its values or its query"
        ) from None


def framed(table: pa.Table) -> pl.LazyFrame:
    """The table as a lazy frame."""
    return pl.DataFrame(pl.from_arrow(table)).lazy()


def known_value(column: pl.Expr, kind: pl.DataType) -> pl.Expr:
    """A column's values, NULL for NaN."""
    return column.fill_nan(None) if kind.is_float() else column


def check_groups(frame: pl.LazyFrame, by: ColumnNames, nulls: str) -> list[str]:
    """The columns whose values divide the table, or a refusal."""
    checked = check_columns(DIVIDING, by, frame)
    refuse_groups(nulls)
    return checked


def rows_of_groups(
    frame: pl.LazyFrame, columns: ColumnNames, by: ColumnNames, entity: str | None, nulls: str
) -> tuple[pl.LazyFrame, list[str], list[str]]:
    """The distinct rows with their counts, and whether they are complete; the names of columns and of groups.

    Where a column identifies people, it is `entity` in the rows.
    """
    refuse_entity(columns, entity, nulls)
    named = [*columns, entity] if entity is not None else list(columns)
    check_columns(QUASI_IDENTIFIERS if entity is None else QI_AND_ENTITY, named, frame)
    columns_read = [*columns, *check_groups(frame, by, nulls), *named[len(columns) :]]
    names, rows = aliases(columns_read), with_aliases(frame, columns_read)
    groups = names[len(columns) : len(columns) + len(by)]
    if entity is not None:
        rows, names[-1] = rows.rename({names[-1]: "entity"}), "entity"
    missing = pl.any_horizontal(pl.col(names[: len(columns)]).is_null())
    complete = ~missing if nulls == "drop" else pl.lit(True)  # noqa: FBT003 - a literal
    counted = rows.group_by(names).agg(ROW_COUNT.alias("records"))
    return counted.with_columns(complete.alias("complete")), names[: len(columns)], groups


def report_groups(
    counted: pl.LazyFrame, sized: pl.LazyFrame, groups: ColumnNames, by: ColumnNames, nulls: str
) -> pl.LazyFrame:
    """Report the counts of each group, all groups included, with the records dropped of each."""
    left_out = pl.col("records").filter(~pl.col("complete")).sum().alias("records_dropped")
    result = counted.group_by(groups).agg(left_out)
    joined = result.join(sized, on=list(groups), how="left", nulls_equal=True)
    named = (pl.col(group).alias(name) for group, name in zip(groups, group_names(by), strict=True))
    counts = [name for name in sized.collect_schema() if name not in groups]
    filled = (pl.col(name).fill_null(0) if name in COUNTS else pl.col(name) for name in counts)
    report = joined.select(*named, *filled, "records_dropped", pl.lit(nulls).alias("nulls"))
    return report.sort(counts[0], maintain_order=True)


def with_group_names(by: ColumnNames) -> list[pl.Expr]:
    """The columns of the groups under their original names; a reduction gives them a prefix."""
    return [pl.col(group).alias(name) for group, name in zip(group_names(by), by, strict=True)]


# People in place of rows


def people_of(
    frame: pl.LazyFrame, qi: ColumnNames, entity: str, nulls: str
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """The rows as q1, q2, …, and the people of each class, with the records of each there."""
    refuse_entity(qi, entity, nulls)
    names = aliases([*qi, entity])
    check_columns(QI_AND_ENTITY, [*qi, entity], frame)
    rows = with_aliases(frame, [*qi, entity]).rename({names[-1]: "entity"})
    taken = drop_nulls(rows, names[: len(qi)], nulls).group_by([*names[:-1], "entity"])
    return rows, taken.agg(ROW_COUNT.alias("records"))


def smallest_class_sizes(
    people: pl.LazyFrame, size: pl.Expr, groups: ColumnNames = ()
) -> pl.LazyFrame:
    """How many people have each size of their smallest class, within the group where there are groups."""
    sized = people.select(*groups, "entity", size.alias("class_size"))
    each = sized.group_by(*groups, "entity").agg(pl.col("class_size").min())
    return each.group_by(*groups, "class_size").agg(ROW_COUNT.alias("records"))
