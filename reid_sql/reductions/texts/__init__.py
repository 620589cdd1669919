"""Distinct records as texts, with how many records hold each."""

from typing import Final

from reid_sql.models.validation.subsample import DistinctTexts
from reid_sql.reduction import BY, DROPPABLE_NULLS, MAX_FITTED_GROUPS, QI, TBL, Reduction

NAMES: Final = 0  # the line that holds the names of the columns; no records are in it
TEXTS: Final = Reduction(
    __name__,
    name="texts",
    words="the distinct records, each value as text, with the number of records that have each",
    arguments=(TBL, QI, BY, DROPPABLE_NULLS),
    columns={"line": "BIGINT", "texts": "VARCHAR[]", "records": "BIGINT"},
    arrays=DistinctTexts,
    distinct=True,
    max_groups=MAX_FITTED_GROUPS,
)
