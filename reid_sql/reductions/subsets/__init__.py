"""Every subset of some columns, by its classes."""

from typing import Final

from reid_sql.domains import COLUMNS, SUBSET_SIZE
from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes.disclosure import SubsetCounts
from reid_sql.reduction import ANY_NULLS, ENTITY, TBL, Argument, Reduction

MAX_SUBSETS: Final = 5000
SUBSETS: Final = Reduction(
    __name__,
    name="subsets",
    words="for every subset of the columns, its classes and its pairs of records that are alike",
    arguments=(TBL, Argument("columns", COLUMNS), Argument("max_size", SUBSET_SIZE, 3), ANY_NULLS, ENTITY),
    columns={
        "subset": "VARCHAR[]",
        "records": "BIGINT",
        "classes": "BIGINT",
        "reidentifications": "DOUBLE",
        "pairs_alike": "HUGEINT",
    },
    arrays=SubsetCounts,
    rowwise=True,
)


def refuse_subsets(count: int) -> None:
    """Refuse to count more subsets of columns than a query can hold."""
    if count > MAX_SUBSETS:
        rule = f"the number of subsets of the columns must be at most {MAX_SUBSETS}, got {count}"
        raise OutOfDomainError(f"{rule}; pass fewer columns or a smaller max_size")
