"""Answers for each group of a table, as SQL over a reduction that has the groups' columns before its own."""

from reid_sql.function import Function
from reid_sql.reduction import HOW_NULLS, Reduction


def by_group(declared: Function, reduction: Reduction, answer: str) -> str:
    """Answer for each group, by what the reduction has beside its own columns; else for the whole.

    Of a group of which every record was dropped nothing but that is known. A bare name may be a parameter's.
    """
    own = ", ".join([*reduction.columns, *HOW_NULLS])
    names = (name for name in declared.columns if name != "records")
    known = ", ".join(f"CASE WHEN g.records > 0 THEN g.{name} END AS {name}" for name in names)
    return f"SELECT * REPLACE ({known}) FROM (SELECT * EXCLUDE ({own}), {answer} GROUP BY ALL) AS g"
