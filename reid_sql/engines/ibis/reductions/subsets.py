"""Ibis: every subset of some columns, by its classes, from the distinct records."""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, Final

import ibis
import pyarrow as pa
from ibis.expr.types import Table

from reid_sql.engines.ibis.frames import (
    WHOLE,
    aliases,
    bigint,
    check_columns,
    collected,
    count_by,
    count_distinct,
    count_over,
    has_null,
    sum_bigint,
    with_aliases,
    with_ones,
    zero,
)
from reid_sql.engines.ibis.groups import COLUMNS_AND_ENTITY, people_of, smallest_class_sizes
from reid_sql.parameters import COLUMNS
from reid_sql.reduction import refuse_entity

TOGETHER: Final = 16  # subsets that one query counts
REPORTED: Final = (
    *("records", "classes", "reidentifications", "pairs_alike"),
    *("unique_records", "records_dropped"),
)
TYPES: Final = pa.schema(
    {
        "subset": pa.list_(pa.string()),
        "records": pa.int64(),
        "classes": pa.int64(),
        "reidentifications": pa.float64(),
        "pairs_alike": pa.decimal128(38, 0),
        "unique_records": pa.int64(),
        "records_dropped": pa.int64(),
        "nulls": pa.string(),
    }
)


def subsets(
    tbl: Table,
    columns: Sequence[str],
    max_size: int,
    nulls: str,
    memory_mb: int,  # noqa: ARG001 - the database bounds its own memory
    entity: str | None = None,
) -> pa.Table:
    """Records, classes and alike pairs of every subset of the columns, smallest first.

    The warehouse counts how many classes of each subset have each size; the pairs, which may be more than 64
    bits hold, are added up here.
    """
    refuse_entity(columns, entity, nulls)
    checked = check_columns(COLUMNS, columns, tbl)
    distinct = _distinct(tbl, checked, entity)
    sizes = range(1, min(max_size, len(columns)) + 1)
    chosen = [subset for size in sizes for subset in combinations(range(len(columns)), size)]
    sized = _sizes if entity is None else _sizes_of_people
    counted = _counted(distinct, aliases(checked), chosen, nulls, sized)
    rows = [
        {"subset": [columns[place] for place in subset], "nulls": nulls, **line}
        for subset, line in zip(chosen, counted, strict=True)
    ]
    return pa.Table.from_pylist(rows, TYPES)


def _distinct(tbl: Table, columns: Sequence[str], entity: str | None) -> Table:
    if entity is None:
        return count_distinct(with_aliases(tbl, columns), aliases(columns), "value")
    return people_of(tbl, columns, entity, "value", COLUMNS_AND_ENTITY)[1]


def _counted(
    distinct: Table,
    names: Sequence[str],
    chosen: Sequence[Sequence[int]],
    nulls: str,
    sized: Callable[[Table, Sequence[str]], Table],
) -> list[dict[str, Any]]:
    lines = [dict.fromkeys(REPORTED, 0) for _ in chosen]
    for start in range(0, len(chosen), TOGETHER):
        parts = [
            _part(distinct, [names[one] for one in subset], place, sized, drop=nulls == "drop")
            for place, subset in enumerate(chosen[start : start + TOGETHER], start)
        ]
        table = collected(ibis.union(*parts), "class sizes of subsets of the columns")
        counts = zip(*(each.to_pylist() for each in table.columns), strict=True)
        for place, aside, size, classes, members in sorted(counts):
            _add(lines[place], size, classes, members, aside=bool(aside))
    return lines


def _part(
    distinct: Table,
    names: Sequence[str],
    place: int,
    sized: Callable[[Table, Sequence[str]], Table],
    *,
    drop: bool,
) -> Table:
    """What is counted of one subset; where NULLs are dropped, the records with one are set aside."""
    aside = has_null(distinct, names).ifelse(1, 0) if drop else ibis.literal(0)
    marked = distinct.mutate(aside=aside.cast(WHOLE))
    counts = sized(marked, names)
    counted = counts.select(
        "aside", "class_size", "classes", "members", place=ibis.literal(place, WHOLE)
    )
    return counted.select("place", "aside", "class_size", "classes", "members")


def _sizes(marked: Table, names: Sequence[str]) -> Table:
    """How many classes of the subset have each size, and how many records they hold."""
    classes = marked.group_by([*names, "aside"]).agg(class_size=sum_bigint(marked["records"]))
    counts = count_by(classes, ["aside", "class_size"], "classes")
    return counts.mutate(members=bigint(counts["class_size"] * counts["classes"]))


def _sizes_of_people(marked: Table, names: Sequence[str]) -> Table:
    """The same of people, and how many have each size as that of their smallest class, as a union.

    Of what is set aside, the records.
    """
    people = marked.group_by([*names, "entity", "aside"]).agg(records=sum_bigint(marked["records"]))
    counted_people = people.filter(people["aside"] == 0)
    of_classes = count_by(count_by(counted_people, names, "class_size"), ["class_size"], "classes")
    ones = with_ones(counted_people)
    least = smallest_class_sizes(
        ones.mutate(class_size=count_over(ones, names)), ibis.literal(value=False)
    )
    lacking = (
        people.filter(people["aside"] == 1)
        .group_by("aside")
        .agg(members=lambda each: sum_bigint(each["records"]))
    )
    return ibis.union(
        of_classes.select("class_size", "classes", aside=zero(), members=zero()),
        least.select("class_size", classes=zero(), aside=zero(), members=least["records"]),
        lacking.select(
            class_size=zero(), classes=zero(), aside=lacking["aside"], members=lacking["members"]
        ),
    )


def sizes_of_subset(tbl: Table, columns: Sequence[str], entity: str | None = None) -> Table:
    """How many classes of one subset have each size: what the warehouse counts of each."""
    sized = _sizes if entity is None else _sizes_of_people
    return _part(_distinct(tbl, columns, entity), aliases(columns), 0, sized, drop=True)


def _add(line: dict[str, Any], size: int, classes: int, members: int, *, aside: bool) -> None:
    """Add to the counts of a subset so many classes of a size, and so many records in them."""
    if aside:
        line["records_dropped"] += members
        return
    line["records"] += members
    line["classes"] += classes
    line["reidentifications"] += members / size
    line["pairs_alike"] += members * (size - 1)
    line["unique_records"] += members if size == 1 else 0
