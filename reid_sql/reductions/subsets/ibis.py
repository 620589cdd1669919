"""Ibis: every subset of some columns, by its classes, from the distinct records."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Final

import ibis
import numpy as np
import pyarrow as pa
from ibis.expr.types import Table

from reid_sql.domains import COLUMNS, Integers
from reid_sql.engines.ibis import wildcard
from reid_sql.engines.ibis.frames import (
    WHOLE,
    collected,
    counted,
    missing,
    number_of,
    numbered,
    places,
    resolved,
    summed,
)
from reid_sql.models.classes.subset_counts import subsets_up_to
from reid_sql.models.classes.wildcard import wildcard_class_sizes

TOGETHER: Final = 16  # subsets that one query counts
TYPES: Final = pa.schema(
    {
        "subset": pa.list_(pa.string()),
        "records": pa.int64(),
        "classes": pa.int64(),
        "pairs_alike": pa.decimal128(38, 0),
        "records_dropped": pa.int64(),
        "nulls": pa.string(),
    }
)


def subsets(
    tbl: Table,
    columns: Sequence[str],
    max_size: int,
    nulls: str,
    memory_mb: int = 0,  # noqa: ARG001 - the warehouse counts
) -> pa.Table:
    """Records, classes and alike pairs of every subset of the columns, smallest first.

    The warehouse counts how many classes of each subset have each size; the pairs, which may be more than 64
    bits hold, are added up here.
    """
    found = resolved(COLUMNS, columns, tbl)
    sizes = range(1, min(max_size, len(columns)) + 1)
    subsets_up_to(len(columns), max_size)
    chosen = [subset for size in sizes for subset in combinations(range(len(columns)), size)]
    names = places(found)
    distinct = counted(numbered(tbl, found), names, "value")
    told = (
        _matched(distinct, names, chosen) if nulls == "wildcard" else _counted(distinct, names, chosen, nulls)
    )
    rows = [
        {"subset": [columns[place] for place in subset], "nulls": nulls, **line}
        for subset, line in zip(chosen, told, strict=True)
    ]
    return pa.Table.from_pylist(rows, TYPES)


def _counted(
    distinct: Table, names: Sequence[str], chosen: Sequence[Sequence[int]], nulls: str
) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = [
        {"records": 0, "classes": 0, "pairs_alike": 0, "records_dropped": 0} for _ in chosen
    ]
    for start in range(0, len(chosen), TOGETHER):
        parts = [
            _sizes(distinct, [names[one] for one in subset], place, drop=nulls == "drop")
            for place, subset in enumerate(chosen[start : start + TOGETHER], start)
        ]
        table = collected(ibis.union(*parts), "class sizes of subsets of the columns")
        for place, aside, size, classes in zip(*(each.to_pylist() for each in table.columns), strict=True):
            _add(lines[place], size, classes, aside=bool(aside))
    return lines


def _sizes(distinct: Table, names: Sequence[str], place: int, *, drop: bool) -> Table:
    """How many classes of the subset have each size; where NULLs are dropped, those with one set aside."""
    aside = missing(distinct, names).ifelse(1, 0) if drop else ibis.literal(0)
    marked = distinct.select(*names, "records", aside=aside.cast(WHOLE))
    classes = marked.group_by([*names, "aside"]).agg(class_size=summed(marked["records"]))
    counts = number_of(classes, ["aside", "class_size"], "classes")
    return counts.select("aside", "class_size", "classes", place=ibis.literal(place, WHOLE)).select(
        "place", "aside", "class_size", "classes"
    )


def sizes_of_subset(tbl: Table, columns: Sequence[str]) -> Table:
    """How many classes of one subset have each size: what the warehouse counts of each."""
    names = places(columns)
    return _sizes(counted(numbered(tbl, columns), names, "value"), names, 0, drop=False)


def _add(line: dict[str, Any], size: int, classes: int, *, aside: bool) -> None:
    """Add so many classes of a size to what is told of a subset."""
    if aside:
        line["records_dropped"] += size * classes
        return
    line["records"] += size * classes
    line["classes"] += classes
    line["pairs_alike"] += classes * size * (size - 1)


def _matched(distinct: Table, names: Sequence[str], chosen: Sequence[Sequence[int]]) -> list[dict[str, Any]]:
    """The same where NULL may be any value."""
    table = wildcard.distinct(distinct)
    codes, records = wildcard.coded(table, names=names), table["records"].to_numpy()
    return [_subset(codes[:, list(subset)], records) for subset in chosen]


def _subset(codes: Integers, records: Integers) -> dict[str, Any]:
    """Records, classes and alike pairs."""
    classes, place = np.unique(codes, axis=0, return_inverse=True)
    held = np.zeros(len(classes), dtype=np.int64)
    np.add.at(held, place.ravel(), records)
    sizes = wildcard_class_sizes(classes, classes, held).tolist()
    pairs = sum(one * (size - 1) for one, size in zip(held.tolist(), sizes, strict=True))
    return {
        "records": int(records.sum()),
        "classes": len(classes),
        "pairs_alike": pairs,
        "records_dropped": 0,
    }
