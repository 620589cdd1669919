"""Every subset of some columns, by its classes."""

from typing import Final

from reid_sql.models.classes.class_keys import CODE_BYTES, KEY_BYTES, MEMORY, SPARE_ARRAYS
from reid_sql.models.classes.disclosure import SubsetCounts
from reid_sql.models.classes.subset_counts import MAX_SUBSETS, SUBSET_BYTES
from reid_sql.parameters import COLUMNS, SUBSET_SIZE
from reid_sql.reduction import ANY_NULLS, ENTITY, TBL, Argument, Reduction

BYTES: Final = CODE_BYTES
BYTES_PER_KEY: Final = KEY_BYTES
SPARE_KEYS: Final = SPARE_ARRAYS
__all__ = ["BYTES", "BYTES_PER_KEY", "MAX_SUBSETS", "QUERIES", "SPARE_KEYS", "SUBSETS", "SUBSET_BYTES"]
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
    reasons={"by": "every subset of the columns is counted of one table"},
)
