"""Polars: groups of a table, and people in place of rows, each counted in one pass."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import polars as pl

from reid_sql.engines.polars.frames import kept, named, numbered, places, resolved
from reid_sql.parameters import QUASI_IDENTIFIERS, Columns
from reid_sql.reduction import (
    DIVIDING,
    NULL_REPORT_COLUMNS,
    OF_NO_RECORD,
    Reduction,
    apart,
    group_names,
    refuse_entity,
    refuse_groups,
    refuse_many_groups,
    refuse_one_row_per_person,
    refuse_several,
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


# People in place of rows


WORDS: Final = Columns("quasi-identifiers and entity")
WEIGHED: Final = Columns("quasi-identifiers, weight and entity")
BESIDE: Final = Columns("columns and entity")
VALUES: Final = Columns("quasi-identifiers, sensitive and entity")
COVERED: Final = pl.lit(False)  # noqa: FBT003 - nobody is missing from a population that is not asked


def people_of(
    frame: pl.LazyFrame,
    qi: Sequence[str],
    entity: str,
    nulls: str,
    by: Sequence[str] = (),
    *,
    words: Columns = WORDS,
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """The rows under numbers, and the people of each class, NULL one, with the records of each there.

    The records are those of the person in the class. Columns that divide the table tell classes apart too.
    """
    refuse_entity(qi, entity, nulls)
    own = apart(qi, by)
    names = places([*own, entity])
    resolved(words, [*qi, entity], frame)
    rows = numbered(frame, [*own, entity]).rename({names[-1]: "entity"})
    held = kept(rows, names[: len(qi)], nulls).group_by([*names[:-1], "entity"])
    return rows, held.agg(pl.len().cast(pl.Int64).alias("records"))


def individuals(
    frame: pl.LazyFrame,
    qi: Sequence[str],
    entity: str,
    nulls: str,
    by: Sequence[str] = (),
    *,
    weight: str | None = None,
) -> pl.LazyFrame:
    """A row a person, NULL one of them: the values of their smallest class, of several the first in order.

    Where there are groups, a row a person in each. Their smallest weight stands beside it, NULL where one of
    them is no number of at least 0.
    """
    refuse_one_row_per_person(qi, entity, nulls)
    _, people = people_of(frame, qi, entity, nulls, by)
    own = apart(qi, by)
    names = places(own)
    within = [q for q, name in zip(names, own, strict=True) if name in by]
    sized = people.with_columns(pl.len().over(names).alias("class_size")).sort(
        "class_size", *names, nulls_last=False
    )
    first = sized.unique([*within, "entity"], keep="first", maintain_order=True)
    values = [pl.col(q).alias(name) for q, name in zip(names, own, strict=True)]
    told = first.select(*values, *([] if entity in own else [pl.col("entity").alias(entity)]))
    return told if weight is None or weight in {*own, entity} else _weighed(told, frame, entity, weight, by)


def _weighed(
    told: pl.LazyFrame, frame: pl.LazyFrame, entity: str, weight: str, by: Sequence[str]
) -> pl.LazyFrame:
    """The people with their smallest weight beside them, in each group."""
    resolved(WEIGHED, [weight, entity], frame)
    number = named(weight).cast(pl.Float64, strict=False)
    valid = pl.when(number.is_finite() & (number >= 0)).then(number).alias(weight)
    least = pl.when(named(weight).is_not_null().all()).then(named(weight).min()).alias(weight)
    alike = [named(name) for name in apart([entity], by)]
    weights = frame.select(*alike, valid).group_by(alike).agg(least)
    return told.join(weights, on=alike, how="left", nulls_equal=True, maintain_order="left")


def values_of_people(  # noqa: PLR0917 - the arguments of the functions
    frame: pl.LazyFrame, qi: Sequence[str], sensitive: str, entity: str, nulls: str, by: Sequence[str] = ()
) -> pl.LazyFrame:
    """A row for each person and their value in a class, NULL one person; refuses those of several there.

    Columns that divide the table tell classes apart too.
    """
    refuse_entity([*qi, sensitive], entity, nulls)
    resolved(VALUES, [*qi, sensitive, entity], frame)
    columns = apart([*qi, sensitive], by)
    names = places([*columns, entity])
    distinct = numbered(frame, [*columns, entity]).group_by(names).agg()
    asked = names[: len(qi) + 1]
    whole = pl.all_horizontal(pl.col(asked).is_not_null()).sum() if nulls == "drop" else pl.len()
    own = [name for name in names if name != asked[-1] or columns[len(qi)] in by]
    counted = distinct.with_columns(whole.over(own).alias("several"))

    def check(rows: pl.DataFrame) -> pl.DataFrame:
        refuse_several(rows.filter(pl.col("several") > 1).height)
        return rows

    told = counted.map_batches(check, schema=counted.collect_schema())
    return told.select(pl.col(q).alias(name) for q, name in zip(names, columns, strict=False))


def smallest(
    people: pl.LazyFrame, size: pl.Expr, short: pl.Expr = COVERED, groups: Sequence[str] = ()
) -> pl.LazyFrame:
    """How many people have each size of their smallest class, and how many of them are uncovered.

    It is their smallest class where they are found, within the group where there are groups.
    """
    sized = people.select(*groups, "entity", size.alias("class_size"), short.alias("short"))
    each = sized.group_by(*groups, "entity").agg(pl.col("class_size").min(), pl.col("short").any())
    told = pl.len().cast(pl.Int64).alias("records"), pl.col("short").sum().cast(pl.Int64).alias("uncovered")
    return each.group_by(*groups, "class_size").agg(*told)
