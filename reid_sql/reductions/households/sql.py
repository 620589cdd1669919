"""Households in SQL. The text is DuckDB's dialect."""

from collections.abc import Sequence

from reid_sql.parameters import fold_case, list_columns
from reid_sql.reductions.households import HOUSEHOLD_AND_COLUMNS
from reid_sql.sql.records import with_null_report
from reid_sql.sql.source import Source


def households(tbl: Source, household: str, columns: Sequence[str], nulls: str) -> str:
    """Count the households of each class size, number of members and risk.

    The class of a household is the multiset of its members' classes, here a sorted list of their numbers. A
    person without a household is one of their own.
    """
    names, label = [household, *columns], HOUSEHOLD_AND_COLUMNS.words
    list_columns(label, names, fold_case)
    values = [f"q{place}" for place in range(2, len(names) + 1)]
    body = f"""
        WITH reid_members AS (
          SELECT q1, CASE WHEN q1 IS NULL THEN row_number() OVER () END AS alone,
            dense_rank() OVER (ORDER BY {", ".join(f"{name} ASC NULLS LAST" for name in values)}) AS class,
            count(*) OVER (PARTITION BY {", ".join(values)}) AS size
          FROM {tbl.rows(names, drop_nulls=nulls == "drop")}
        ),
        reid_households AS (
          SELECT list(class ORDER BY class ASC) AS classes, count(*) AS members,
            1 - product(1 - 1 / size) AS risk, sum(1 / size) AS member_risk
          FROM reid_members GROUP BY q1, alone
        )
        SELECT class_size, members, risk, member_risk, sum(class_size)::BIGINT AS households
        FROM (
          SELECT count(*) AS class_size, any_value(members) AS members, any_value(risk) AS risk,
            any_value(member_risk) AS member_risk
          FROM reid_households GROUP BY classes
        )
        GROUP BY class_size, members, risk, member_risk"""
    return tbl.check_columns(label, names, with_null_report(tbl, names, nulls, body))
