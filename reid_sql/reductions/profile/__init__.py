"""Single columns: how many records have each of their values, and how these are written."""

from typing import Final

from reid_sql.models.columns.column_profile import (
    DATE_PATTERN,
    MISSING_DATES,
    MISSING_NUMBERS,
    MISSING_WORDS,
    NUMBER_PATTERN,
    PADDED_PATTERN,
    ColumnCounts,
)
from reid_sql.parameters import Columns, Table
from reid_sql.reduction import Argument, Reduction

__all__ = [
    "COLUMN_COUNTS",
    "DATE_PATTERN",
    "MISSING_DATES",
    "MISSING_NUMBERS",
    "MISSING_WORDS",
    "NUMBER_PATTERN",
    "PADDED_PATTERN",
    "SOME_COLUMNS",
]  # what the spellings look for
SOME_COLUMNS: Final = Columns("columns", optional=True)
COLUMN_COUNTS: Final = Reduction(
    __name__,
    name="column_counts",
    words="for each column, its records by distinct value, and how the values are written",
    arguments=(
        Argument("tbl", Table(describes_columns=True)),
        Argument("columns", SOME_COLUMNS, optional=True),
    ),
    columns={
        "place": "BIGINT",
        "column_name": "VARCHAR",
        "column_type": "VARCHAR",
        "records": "BIGINT",
        "missing": "BIGINT",
        "distinct_values": "BIGINT",
        "unique_records": "BIGINT",
        "pairs_alike": "HUGEINT",
        "n_log_n": "DOUBLE",
        "numbers": "BIGINT",
        "whole": "BIGINT",
        "least": "DOUBLE",
        "greatest": "DOUBLE",
        "dates": "BIGINT",
        "padded": "BIGINT",
        "spaced": "BIGINT",
        "shortest": "BIGINT",
        "longest": "BIGINT",
        "letters": "BIGINT",
        "candidates": "VARCHAR[]",
    },
    arrays=ColumnCounts,
    reasons=dict.fromkeys(("entity", "by"), "it describes columns, by the values in all rows of the table"),
    distinct=True,
)
