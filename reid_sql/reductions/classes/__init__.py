"""Equivalence classes: the size of each record's, the classes themselves, and how many have each size."""

from typing import Final

from reid_sql.models.classes.disclosure import Histogram
from reid_sql.reduction import ANY_NULLS, BY, ENTITY, QI, TBL, WILDCARDS, Reduction

MATCHED_BY_DUCKDB: Final = dict.fromkeys(("polars", "spark", "ibis"), WILDCARDS)
CLASS_SIZE: Final = Reduction(
    __name__,
    name="class_size",
    words="for each record, how many records share its values",
    arguments=(),
    columns={"class_size": "BIGINT"},
)
CLASSES: Final = Reduction(
    __name__,
    name="classes",
    words="the distinct combinations of values, with how many records, or people, share each",
    arguments=(TBL, QI, ENTITY, ANY_NULLS),
    columns={"class_size": "BIGINT", "records": "BIGINT"},
    fallback=MATCHED_BY_DUCKDB,
    reasons={"by": "its rows are the classes of one table"},
)
HISTOGRAM: Final = Reduction(
    __name__,
    name="histogram",
    words="how many classes, and how many records, or people, have each class size",
    arguments=(TBL, QI, ENTITY, BY, ANY_NULLS),
    columns={"class_size": "BIGINT", "classes": "BIGINT", "records": "BIGINT", "blank_records": "BIGINT"},
    arrays=Histogram,
    fallback=MATCHED_BY_DUCKDB,
)
