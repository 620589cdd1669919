"""Every subset of some columns, by its classes."""

from collections.abc import Mapping
from typing import Any, Final

from reid_sql.models.classes.class_keys import CODE_BYTES, KEY_BYTES, MEMORY, SPARE_ARRAYS
from reid_sql.models.classes.disclosure import SubsetCounts
from reid_sql.models.classes.quasi_identifiers import MAX_COUNTED
from reid_sql.models.classes.subset_counts import MAX_SUBSETS, SUBSET_BYTES, count_subsets
from reid_sql.parameters import COLUMNS, SUBSET_SIZE
from reid_sql.reduction import ANY_NULLS, ENTITY, TBL, WILDCARDS, Argument, Reduction

BYTES: Final = CODE_BYTES
BYTES_PER_KEY: Final = KEY_BYTES
SPARE_KEYS: Final = SPARE_ARRAYS
__all__ = ["BYTES", "BYTES_PER_KEY", "MAX_SUBSETS", "QUERIES", "SPARE_KEYS", "SUBSETS", "SUBSET_BYTES"]
QUERIES: Final = 64  # subsets up to which each is a query; more are counted from one table of codes


def _are_very_many(given: Mapping[str, Any]) -> bool:
    """Whether the subsets are more than an engine counts by queries of its own."""
    columns = given.get("columns")
    return isinstance(columns, list) and count_subsets(len(columns), given["max_size"]) > MAX_COUNTED


SUBSETS: Final = Reduction(
    __name__,
    name="subsets",
    words="for every subset of the columns, its classes and its pairs of records that are alike",
    arguments=(
        TBL,
        Argument("columns", COLUMNS),
        Argument("max_size", SUBSET_SIZE, 3),
        ANY_NULLS,
        Argument("memory_mb", MEMORY, 1024),
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
    is_beyond=_are_very_many,
    fallback={"spark": WILDCARDS, "ibis": WILDCARDS},
    reasons={"by": "every subset of the columns is counted of one table"},
)
