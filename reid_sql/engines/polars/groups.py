"""Polars: groups of a table, and people in place of rows, each counted in one pass."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import polars as pl

from reid_sql.engines.polars.frames import (
    aliases,
    check_columns,
    class_columns,
    drop_nulls,
    exact_column,
    map_whole,
    with_aliases,
)
from reid_sql.parameters import QUASI_IDENTIFIERS, Columns
from reid_sql.reduction import (
    CLASS_PEOPLE,
    CLASS_WEIGHT,
    DIVIDING,
    NULL_REPORT_COLUMNS,
    OF_NO_RECORD,
    PERSON,
    Reduction,
    group_names,
    refuse_entity,
    refuse_groups,
    refuse_many_groups,
    refuse_one_row_per_person,
    refuse_several,
    union,
)

QI_AND_ENTITY: Final = Columns("quasi-identifiers and entity")
COUNTS: Final = ("classes", "records", "uncovered")  # 0 of a group of which every record was dropped


def check_groups(frame: pl.LazyFrame, by: Sequence[str], nulls: str) -> list[str]:
    """The columns whose values divide the table, or a refusal."""
    checked = check_columns(DIVIDING, by, frame)
    refuse_groups(nulls)
    return checked


def rows_of_groups(  # noqa: PLR0917 - a table, what is counted of it, and how
    frame: pl.LazyFrame,
    columns: Sequence[str],
    by: Sequence[str],
    entity: str | None,
    nulls: str,
    words: Columns = QUASI_IDENTIFIERS,
) -> tuple[pl.LazyFrame, list[str], list[str]]:
    """The distinct rows with their counts, and whether they are complete; the names of columns and of groups.

    Where a column identifies people, it is `entity` in the rows.
    """
    refuse_entity(columns, entity, nulls)
    asked = [*columns, entity] if entity is not None else list(columns)
    check_columns(words if entity is None else QI_AND_ENTITY, asked, frame)
    every = [*columns, *check_groups(frame, by, nulls), *asked[len(columns) :]]
    names, rows = aliases(every), with_aliases(frame, every)
    groups = names[len(columns) : len(columns) + len(by)]
    if entity is not None:
        rows, names[-1] = rows.rename({names[-1]: "entity"}), "entity"
    missing = pl.any_horizontal(pl.col(names[: len(columns)]).is_null())
    complete = ~missing if nulls == "drop" else pl.lit(True)  # noqa: FBT003 - a literal
    counted = rows.group_by(names).agg(pl.len().cast(pl.Int64).alias("records"))
    return counted.with_columns(complete.alias("complete")), names[: len(columns)], groups


def raw_rows_of_groups(
    frame: pl.LazyFrame,
    columns: Sequence[str],
    by: Sequence[str],
    nulls: str,
    words: Columns = QUASI_IDENTIFIERS,
) -> tuple[pl.LazyFrame, list[str], list[str]]:
    """All rows, as q1, q2, …, with whether they are complete; the names of columns and of groups."""
    every = [*check_columns(words, columns, frame), *check_groups(frame, by, nulls)]
    names = aliases(every)
    own, groups = names[: len(columns)], names[len(columns) :]
    missing = pl.any_horizontal(pl.col(own).is_null())
    complete = ~missing if nulls == "drop" else pl.lit(True)  # noqa: FBT003 - a literal
    rows = with_aliases(frame, every, *class_columns(frame))
    rows = rows.with_columns(complete.alias("complete"), pl.lit(1, pl.Int64).alias("records"))
    return rows, own, groups


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


WEIGHED: Final = Columns("quasi-identifiers, weight and entity")
COLUMNS_AND_ENTITY: Final = Columns("columns and entity")
SENSITIVE_AND_ENTITY: Final = Columns("quasi-identifiers, sensitive and entity")
IS_COVERED: Final = pl.lit(False)  # noqa: FBT003 - without a population nobody is missing from it


def people_of(
    frame: pl.LazyFrame,
    qi: Sequence[str],
    entity: str,
    nulls: str,
    by: Sequence[str] = (),
    *,
    words: Columns = QI_AND_ENTITY,
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """The rows as q1, q2, …, and the people of each class, NULL one, with the records of each there.

    The records are those of the person in the class. Columns that divide the table are part of a class too.
    """
    refuse_entity(qi, entity, nulls)
    own = union(qi, by)
    names = aliases([*own, entity])
    check_columns(words, [*qi, entity], frame)
    rows = with_aliases(frame, [*own, entity]).rename({names[-1]: "entity"})
    taken = drop_nulls(rows, names[: len(qi)], nulls).group_by([*names[:-1], "entity"])
    return rows, taken.agg(pl.len().cast(pl.Int64).alias("records"))


def one_row_per_person(
    frame: pl.LazyFrame,
    qi: Sequence[str],
    entity: str,
    nulls: str,
    by: Sequence[str] = (),
    *,
    weight: str | None = None,
) -> pl.LazyFrame:
    """A row a person, NULL one of them: the values of their smallest class, of several the first in order.

    Where there are groups, a row a person in each. Their smallest weight is joined, NULL where one of
    them is no number of at least 0. Each row has how many people its class has, and the sum of their weights.
    """
    refuse_one_row_per_person(qi, entity, nulls)
    _, people = people_of(frame, qi, entity, nulls, by)
    own = union(qi, by)
    names = aliases(own)
    within = [q for q, name in zip(names, own, strict=True) if name in by]
    sizes, more = [pl.len().over(names).cast(pl.Int64).alias(CLASS_PEOPLE)], [pl.col(CLASS_PEOPLE)]
    if weight is not None and weight not in {*own, entity}:
        people = _weighed(people, frame, entity, weight, {names[own.index(name)]: name for name in by})
        least = pl.col("weight")
        positive = pl.when(least > 0).then(least).otherwise(float("nan"))
        sizes.append(positive.sum().over(names).alias(CLASS_WEIGHT))
        more += [least.alias(weight), pl.col(CLASS_WEIGHT)]
    sized = people.with_columns(sizes).sort(CLASS_PEOPLE, *names, nulls_last=False)
    first = sized.unique([*within, "entity"], keep="first", maintain_order=True)
    values = [pl.col(q).alias(name) for q, name in zip(names, own, strict=True)]
    return first.select(*values, *([] if entity in own else [pl.col("entity").alias(entity)]), *more)


def _weighed(
    people: pl.LazyFrame, frame: pl.LazyFrame, entity: str, weight: str, groups: Mapping[str, str]
) -> pl.LazyFrame:
    """Join the smallest weight of each person, in each group: its columns by their aliases."""
    check_columns(WEIGHED, [weight, entity], frame)
    number = exact_column(weight).cast(pl.Float64, strict=False)
    valid = pl.when(number.is_finite() & (number >= 0)).then(number).alias("weight")
    least = pl.when(pl.col("weight").is_not_null().all()).then(pl.col("weight").min()).alias("weight")
    own = {"entity": entity, **groups}
    alike = [exact_column(name).alias(alias) for alias, name in own.items()]
    weights = frame.select(*alike, valid).group_by([*own]).agg(least)
    return people.join(weights, on=[*own], how="left", nulls_equal=True, maintain_order="left")


def values_of_people(  # noqa: PLR0917 - the arguments of the functions
    frame: pl.LazyFrame,
    qi: Sequence[str],
    sensitive: str,
    entity: str,
    nulls: str,
    by: Sequence[str] = (),
    *,
    of_shares: bool = False,
) -> pl.LazyFrame:
    """A row for each person and their value in a class, NULL one person; refuses those of several there.

    Columns that divide the table are part of a class too. Refuses people of several in the table, or in a
    group of it, where its shares are asked for.
    """
    refuse_entity([*qi, sensitive], entity, nulls)
    check_columns(SENSITIVE_AND_ENTITY, [*qi, sensitive, entity], frame)
    columns = union([*qi, sensitive], by)
    names = aliases([*columns, entity])
    distinct = with_aliases(frame, [*columns, entity]).group_by(names).agg()
    asked, groups = names[: len(qi) + 1], [q for q, name in zip(names, columns, strict=False) if name in by]
    own = [*groups, names[-1]] if of_shares else [q for q in names if q != asked[-1] or q in groups]

    def check(rows: pl.DataFrame) -> pl.DataFrame:
        taken = rows.drop_nulls(asked) if nulls == "drop" else rows
        values = taken.select(*dict.fromkeys([*own, asked[-1]])).unique()
        refuse_several(values.height - values.select(own).unique().height, of_shares=of_shares)
        return rows

    result = map_whole(distinct, check)
    named = zip(names, [*columns, PERSON], strict=True)
    return result.select(pl.col(q).alias(name) for q, name in named)


def smallest_class_sizes(
    people: pl.LazyFrame, size: pl.Expr, short: pl.Expr = IS_COVERED, groups: Sequence[str] = ()
) -> pl.LazyFrame:
    """How many people have each size of their smallest class, and how many of them are uncovered.

    It is their smallest class where they are found, within the group where there are groups.
    """
    sized = people.select(*groups, "entity", size.alias("class_size"), short.alias("short"))
    each = sized.group_by(*groups, "entity").agg(pl.col("class_size").min(), pl.col("short").any())
    result = pl.len().cast(pl.Int64).alias("records"), pl.col("short").sum().cast(pl.Int64).alias("uncovered")
    return each.group_by(*groups, "class_size").agg(*result)
