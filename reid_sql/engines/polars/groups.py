"""Polars: groups of a table, and people in place of rows, each counted in one pass."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import polars as pl

from reid_sql.engines.polars.frames import aliases, check_columns, drop_nulls, with_aliases
from reid_sql.parameters import QUASI_IDENTIFIERS, Columns
from reid_sql.reduction import (
    DIVIDING,
    NULL_REPORT_COLUMNS,
    OF_NO_RECORD,
    Reduction,
    group_names,
    refuse_entity,
    refuse_groups,
    refuse_many_groups,
)

QI_AND_ENTITY: Final = Columns("quasi-identifiers and entity")
COUNTS: Final = ("classes", "records")  # 0 of a group of which every record was dropped


def check_groups(frame: pl.LazyFrame, by: Sequence[str], nulls: str) -> list[str]:
    """The columns whose values divide the table, or a refusal."""
    checked = check_columns(DIVIDING, by, frame)
    refuse_groups(nulls)
    return checked


def rows_of_groups(
    frame: pl.LazyFrame, columns: Sequence[str], by: Sequence[str], entity: str | None, nulls: str
) -> tuple[pl.LazyFrame, list[str], list[str]]:
    """The distinct rows with their counts, and whether they are complete; the names of columns and of groups.

    Where a column identifies people, it is `entity` in the rows.
    """
    refuse_entity(columns, entity, nulls)
    asked = [*columns, entity] if entity is not None else list(columns)
    check_columns(QUASI_IDENTIFIERS if entity is None else QI_AND_ENTITY, asked, frame)
    every = [*columns, *check_groups(frame, by, nulls), *asked[len(columns) :]]
    names, rows = aliases(every), with_aliases(frame, every)
    groups = names[len(columns) : len(columns) + len(by)]
    if entity is not None:
        rows, names[-1] = rows.rename({names[-1]: "entity"}), "entity"
    missing = pl.any_horizontal(pl.col(names[: len(columns)]).is_null())
    complete = ~missing if nulls == "drop" else pl.lit(True)  # noqa: FBT003 - a literal
    counted = rows.group_by(names).agg(pl.len().cast(pl.Int64).alias("records"))
    return counted.with_columns(complete.alias("complete")), names[: len(columns)], groups


def report_groups(
    counted: pl.LazyFrame, sized: pl.LazyFrame, groups: Sequence[str], by: Sequence[str], nulls: str
) -> pl.LazyFrame:
    """Report the counts of each group, all groups included, with the records dropped of each."""
    left_out = pl.col("records").filter(~pl.col("complete")).sum().alias("records_dropped")
    result = counted.group_by(groups).agg(left_out)
    every = result.join(sized, on=list(groups), how="left", nulls_equal=True)
    own = (pl.col(group).alias(name) for group, name in zip(groups, group_names(by), strict=True))
    counts = [name for name in sized.collect_schema() if name not in groups]
    known = (pl.col(name).fill_null(0) if name in COUNTS else pl.col(name) for name in counts)
    report = every.select(*own, *known, "records_dropped", pl.lit(nulls).alias("nulls"))
    return report.sort(counts[0], maintain_order=True)


def with_group_names(by: Sequence[str]) -> list[pl.Expr]:
    """The columns of the groups under their original names; a reduction gives them a prefix."""
    return [pl.col(group).alias(name) for group, name in zip(group_names(by), by, strict=True)]


def answer_by_group(
    frame: pl.DataFrame,
    reduction: Reduction,
    by: Sequence[str],
    types: Mapping[str, pl.DataType],
    answer: Callable[[pl.DataFrame], pl.DataFrame],
) -> pl.DataFrame:
    """Answer for each group; one whose records were all dropped gets NULLs and their number."""
    frames = [pl.DataFrame(schema=types)]
    parts = frame.partition_by(group_names(by), maintain_order=True)
    refuse_many_groups(len(parts), reduction.max_groups)
    for part in parts:
        row = answer(part) if part[reduction.counting].sum() > 0 else _empty_answer(part, types)
        groups = part.select(with_group_names(by)).head(1)
        frames.append(pl.concat([groups] * len(row)).hstack(row.select([n for n in types if n not in by])))
    return pl.concat(frames)


def _empty_answer(part: pl.DataFrame, types: Mapping[str, pl.DataType]) -> pl.DataFrame:
    row = dict.fromkeys(types) | {name: value for name, value in OF_NO_RECORD.items() if name in types}
    return pl.DataFrame([row | {name: part[name][0] for name in NULL_REPORT_COLUMNS}], schema=types)


# People in place of rows


def people_of(
    frame: pl.LazyFrame, qi: Sequence[str], entity: str, nulls: str
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """The rows as q1, q2, …, and the people of each class, with the records of each there."""
    refuse_entity(qi, entity, nulls)
    names = aliases([*qi, entity])
    check_columns(QI_AND_ENTITY, [*qi, entity], frame)
    rows = with_aliases(frame, [*qi, entity]).rename({names[-1]: "entity"})
    taken = drop_nulls(rows, names[: len(qi)], nulls).group_by([*names[:-1], "entity"])
    return rows, taken.agg(pl.len().cast(pl.Int64).alias("records"))


def smallest_class_sizes(people: pl.LazyFrame, size: pl.Expr, groups: Sequence[str] = ()) -> pl.LazyFrame:
    """How many people have each size of their smallest class, within the group where there are groups."""
    sized = people.select(*groups, "entity", size.alias("class_size"))
    each = sized.group_by(*groups, "entity").agg(pl.col("class_size").min())
    return each.group_by(*groups, "class_size").agg(pl.len().cast(pl.Int64).alias("records"))
