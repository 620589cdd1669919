"""Polars: groups of a table, by the values of columns, each answered for itself from one count."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import polars as pl

from reid_sql.engines.polars.frames import numbered, places, resolved
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

WITH_ENTITY: Final = Columns("quasi-identifiers and entity")
COUNTS: Final = ("classes", "records", "uncovered")  # 0 of a group of which every record was dropped


def dividing(frame: pl.LazyFrame, by: Sequence[str], nulls: str) -> list[str]:
    """The columns whose values divide the table, or a refusal."""
    found = resolved(DIVIDING, by, frame)
    refuse_groups(nulls)
    return found


def rows_of_groups(  # noqa: PLR0917 - a table, what is counted of it, and how
    frame: pl.LazyFrame,
    columns: Sequence[str],
    by: Sequence[str],
    entity: str | None,
    nulls: str,
    words: Columns = QUASI_IDENTIFIERS,
) -> tuple[pl.LazyFrame, list[str], list[str]]:
    """The distinct rows with their counts, and whether they are kept; the names of columns and of groups.

    Where a column tells people apart, it is `entity` in the rows.
    """
    refuse_entity(columns, entity, nulls)
    asked = [*columns, entity] if entity is not None else list(columns)
    resolved(words if entity is None else WITH_ENTITY, asked, frame)
    every = [*columns, *dividing(frame, by, nulls), *asked[len(columns) :]]
    names, rows = places(every), numbered(frame, every)
    groups = names[len(columns) : len(columns) + len(by)]
    if entity is not None:
        rows, names[-1] = rows.rename({names[-1]: "entity"}), "entity"
    missing = pl.any_horizontal(pl.col(names[: len(columns)]).is_null())
    kept = ~missing if nulls == "drop" else pl.lit(True)  # noqa: FBT003 - a literal
    counted = rows.group_by(names).agg(pl.len().cast(pl.Int64).alias("records"))
    return counted.with_columns(kept.alias("kept")), names[: len(columns)], groups


def raw_rows_of_groups(
    frame: pl.LazyFrame,
    columns: Sequence[str],
    by: Sequence[str],
    nulls: str,
    words: Columns = QUASI_IDENTIFIERS,
) -> tuple[pl.LazyFrame, list[str], list[str]]:
    """All rows, under numbers, with whether they are kept; the names of columns and of groups."""
    every = [*resolved(words, columns, frame), *dividing(frame, by, nulls)]
    names = places(every)
    own, groups = names[: len(columns)], names[len(columns) :]
    missing = pl.any_horizontal(pl.col(own).is_null())
    kept = ~missing if nulls == "drop" else pl.lit(True)  # noqa: FBT003 - a literal
    rows = numbered(frame, every).with_columns(kept.alias("kept"), pl.lit(1, pl.Int64).alias("records"))
    return rows, own, groups


def of_groups(
    counted: pl.LazyFrame, sized: pl.LazyFrame, groups: Sequence[str], by: Sequence[str], nulls: str
) -> pl.LazyFrame:
    """What was counted of each group, all groups there, with how many records were dropped of each."""
    left_out = pl.col("records").filter(~pl.col("kept")).sum().alias("records_dropped")
    told = counted.group_by(groups).agg(left_out)
    every = told.join(sized, on=list(groups), how="left", nulls_equal=True)
    own = (pl.col(group).alias(name) for group, name in zip(groups, group_names(by), strict=True))
    counts = [name for name in sized.collect_schema() if name not in groups]
    known = (pl.col(name).fill_null(0) if name in COUNTS else pl.col(name) for name in counts)
    found = every.select(*own, *known, "records_dropped", pl.lit(nulls).alias("nulls"))
    return found.sort(counts[0], maintain_order=True)


def by_own_names(by: Sequence[str]) -> list[pl.Expr]:
    """The columns of the groups, which a reduction has under names that none of its own can meet."""
    return [pl.col(group).alias(name) for group, name in zip(group_names(by), by, strict=True)]


def answered_by_group(
    frame: pl.DataFrame,
    reduction: Reduction,
    by: Sequence[str],
    types: Mapping[str, pl.DataType],
    answer: Callable[[pl.DataFrame], pl.DataFrame],
) -> pl.DataFrame:
    """Answer for each group; of one of which every record was dropped nothing but that is known."""
    found = [pl.DataFrame(schema=types)]
    parts = frame.partition_by(group_names(by), maintain_order=True)
    refuse_many_groups(len(parts), reduction.max_groups)
    for part in parts:
        row = answer(part) if part[reduction.counting].sum() > 0 else _told(part, types)
        groups = part.select(by_own_names(by)).head(1)
        found.append(pl.concat([groups] * len(row)).hstack(row.select([n for n in types if n not in by])))
    return pl.concat(found)


def _told(part: pl.DataFrame, types: Mapping[str, pl.DataType]) -> pl.DataFrame:
    row = dict.fromkeys(types) | {name: value for name, value in OF_NO_RECORD.items() if name in types}
    return pl.DataFrame([row | {name: part[name][0] for name in NULL_REPORT_COLUMNS}], schema=types)
