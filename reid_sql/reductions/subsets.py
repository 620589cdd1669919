"""Every subset of some columns, by its classes."""

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import Final

from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes.class_keys import CODE_BYTES, KEY_BYTES, SPARE_ARRAYS
from reid_sql.models.classes.disclosure import SubsetCounts
from reid_sql.models.classes.subset_counts import MAX_SUBSETS, SUBSET_BYTES
from reid_sql.parameters import COLUMNS, SUBSET_SIZE, ColumnNames
from reid_sql.reduction import ANY_NULLS, ENTITY, TBL, Argument, Reduction
from reid_sql.sql.people import count_people, label_with_entity, with_entity
from reid_sql.sql.records import (
    MEMORY_LIMIT,
    count_classes,
    count_distinct,
    encode_values,
    fits_memory,
    list_codes,
    with_null_report,
)
from reid_sql.sql.text import Source, numbered, text, texts

BYTES: Final = CODE_BYTES
BYTES_PER_KEY: Final = KEY_BYTES
SPARE_KEYS: Final = SPARE_ARRAYS
__all__ = [
    "BYTES",
    "BYTES_PER_KEY",
    "MAX_SUBSETS",
    "QUERIES",
    "SPARE_KEYS",
    "SUBSETS",
    "SUBSET_BYTES",
]
QUERIES: Final = 64  # subsets up to which each is a query; more are counted from one table of codes


SUBSETS: Final = Reduction(
    __name__,
    name="subsets",
    words="for every subset of the columns, its classes and its pairs of records that are alike",
    arguments=(
        TBL,
        Argument("columns", COLUMNS),
        Argument("max_size", SUBSET_SIZE, 3),
        ANY_NULLS,
        ENTITY,
    ),
    columns={
        "subset": "VARCHAR[]",
        "records": "BIGINT",
        "classes": "BIGINT",
        "reidentifications": "DOUBLE",
        "pairs_alike": "HUGEINT",
        "unique_records": "BIGINT",
    },
    arrays=SubsetCounts,
    rowwise=True,
    reasons={"by": "every subset of the columns is counted of one table"},
)


COUNTED = "reid_subset_counts"  # the Python function that counts many subsets from codes


def subsets(
    tbl: Source,
    columns: ColumnNames,
    max_size: int,
    nulls: str,
    entity: str | None,
) -> str:
    """Count the classes of every subset of the columns: by a query each, or of many subsets from codes."""
    number = sum(comb(len(columns), size) for size in range(1, min(len(columns), max_size) + 1))
    if number > MAX_SUBSETS:
        raise OutOfDomainError(
            f"the number of subsets of the columns must be at most {MAX_SUBSETS}, got {number}; pass fewer "
            "columns or a smaller max_size"
        )
    columns_read = with_entity(columns, entity, nulls)
    if number > QUERIES:
        body = _count_from_codes(tbl, columns, max_size, nulls, entity)
    else:
        body = " UNION ALL ".join(
            f"({_count_subset(tbl, subset, nulls, entity)})"
            for size in range(1, min(len(columns), max_size) + 1)
            for subset in combinations(columns, size)
        )
    return tbl.check_columns(label_with_entity("columns", entity), columns_read, body)


def _count_subset(tbl: Source, subset: Sequence[str], nulls: str, entity: str | None) -> str:
    """Count the classes of one subset, and the records and pairs of records that are alike on it.

    Each column is a subset, too, and its collation is checked there alone.
    """
    is_checked = len(subset) == 1
    if entity is None:
        body = f"""
        SELECT {texts(subset)} AS subset, coalesce(sum(records), 0)::BIGINT AS records,
          count(*) AS classes, count(*)::DOUBLE AS reidentifications,
          coalesce(sum(records * (class_size - 1)::HUGEINT), 0)::HUGEINT AS pairs_alike,
          coalesce(sum(records) FILTER (class_size = 1), 0)::BIGINT AS unique_records
        FROM ({count_classes(tbl, subset, nulls, is_checked=is_checked)})"""
    else:  # each person by the smallest of their classes; a class counts with its first person
        body = f"""
        SELECT {texts(subset)} AS subset, count(*) AS records,
          coalesce(sum(classes), 0)::BIGINT AS classes,
          coalesce(sum(1::DOUBLE / class_size ORDER BY class_size ASC), 0) AS reidentifications,
          coalesce(sum((class_size - 1)::HUGEINT), 0)::HUGEINT AS pairs_alike,
          count(*) FILTER (class_size = 1) AS unique_records
        FROM (
          SELECT min(class_size) AS class_size, count(*) FILTER (place = 1) AS classes
          FROM (
            SELECT entity, count(*) OVER (PARTITION BY {numbered(subset)}) AS class_size,
              row_number() OVER (PARTITION BY {numbered(subset)}) AS place
            FROM ({count_people(tbl, subset, entity, nulls, is_checked=is_checked)})
          )
          GROUP BY entity
        )"""
    return with_null_report(tbl, subset, nulls, body)


def _count_from_codes(
    tbl: Source,
    columns: ColumnNames,
    max_size: int,
    nulls: str,
    entity: str | None,
) -> str:
    """Pass the distinct records as codes, with those of their people if any, to one call that counts all."""
    columns_read = [*columns] if entity is None else [*columns, entity]
    people = "NULL" if entity is None else f"list(coalesce(code{len(columns_read)}, 0))"
    # A distinct record takes its codes, its places and classes in the subsets that one is refined from, and
    # its person where people are counted.
    keys = 2 * min(len(columns), max_size) + SPARE_KEYS + (entity is not None)
    fits = fits_memory(
        BYTES * len(columns) + BYTES_PER_KEY * keys,
        f" distinct records of {len(columns)} columns",
    )
    return f"""
        WITH reid_distinct AS MATERIALIZED ({count_distinct(tbl, columns_read, "value")}),
        reid_begun AS MATERIALIZED (
          SELECT reid_begin('{COUNTED}', {list_codes(columns)}, list(records)::BIGINT[], {people}::BIGINT[],
            {max_size}::BIGINT, {text(nulls)}, {MEMORY_LIMIT}) AS reid_number
          FROM reid_distinct {encode_values(columns_read, "reid_distinct")}
          WHERE (SELECT {fits} FROM reid_distinct)
        ),
        reid_waited AS MATERIALIZED (
          SELECT reply
          FROM (SELECT {COUNTED}(reid_number) AS reply FROM range(9223372036854775807), reid_begun)
          WHERE reply IS NOT NULL LIMIT 1
        ),
        reid_each AS (
          SELECT unnest(CASE WHEN reply.refusal IS NULL THEN reply.answers ELSE error(reply.refusal) END)
            AS each
          FROM reid_waited
        )
        SELECT list_select({texts(columns)}, each.places) AS subset, each.records, each.classes,
          each.reidentifications, each.pairs::HUGEINT AS pairs_alike, each.unique_records,
          each.dropped AS records_dropped, {text(nulls)} AS nulls
        FROM reid_each"""
