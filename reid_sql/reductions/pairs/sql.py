"""Values of columns, and pairs of values of two columns, counted in SQL.

Every line has the columns of the reduction that follow `cell`: a value of column `first` (`second` is 0), a
pair of values of columns `first` and `second`, or what a negative `second` stands for. `groups` are the
aliases of the columns that divide the rows; they come before the others.
"""

from collections.abc import Sequence
from itertools import combinations

from reid_sql.models.evidence_kinds import MARGINAL_SHARE as OUTSIDE
from reid_sql.parameters import fold_case
from reid_sql.reductions.pairs import ALONE
from reid_sql.sql.people import class_columns, class_size
from reid_sql.sql.records import value_text, with_null_report
from reid_sql.sql.source import Source
from reid_sql.sql.text import fold_case_in_sql, numbered, prefix, text, texts

SHARES = ("column_name", "value", "share")  # the columns of a table of marginals


def pairs(tbl: Source, qi: Sequence[str], weight: str | None, marginals: Source | None, nulls: str) -> str:
    """Count each value of each column and each pair of values of two columns."""
    asked = with_weight(qi, weight)
    counts = count_records(qi, weight)
    lines = [*count_values("reid_taken", qi, counts), *count_pairs("reid_taken", qi, counts)]
    if weight is None:
        lines.append(count_unique_records(qi, size=class_size(tbl)))
    if marginals is not None:
        lines.append(select_shares(qi, marginals, nulls))
    body = f"""
        WITH reid_taken AS (FROM {tbl.rows(asked, drop_nulls=nulls == "drop", before=class_columns(tbl))})
        SELECT row_number() OVER () AS cell, *
        FROM ({" UNION ALL ".join(lines)})"""
    return tbl.check_columns("columns", asked, with_null_report(tbl, asked, nulls, body))


def with_weight(columns: Sequence[str], weight: str | None) -> list[str]:
    """All columns that are read: the column of weights, if any, is the last."""
    return [*columns] if weight is None else [*columns, weight]


def count_records(columns: Sequence[str], weight: str | None) -> str:
    """Aggregate rows to their number and to their mass, the sum of their weights."""
    mass = "count(*)::DOUBLE" if weight is None else sum_weights(columns)
    return f"count(*) AS records, {mass} AS mass"


def sum_weights(columns: Sequence[str]) -> str:
    """Sum the weights that come after the columns.

    A missing or negative weight makes the sum NaN, which the model refuses.
    """
    weight = f"q{len(columns) + 1}"
    return f"""sum(CASE WHEN try_cast({weight} AS DOUBLE) >= 0 THEN {weight}::DOUBLE
          ELSE 'NaN'::DOUBLE END)"""


def count_values(rows: str, columns: Sequence[str], counts: str, groups: Sequence[str] = ()) -> list[str]:
    """Count each value of each column, one query per column.

    The first query names the columns of all that are united with it. Values are checked here to differ as
    texts; the other queries rely on it.
    """
    head = prefix(groups)
    return [
        f"""
        SELECT {head}{place}::BIGINT AS first, 0::BIGINT AS second, {text(column)} AS label,
          {value_text(f"q{place}")} AS first_value, NULL::VARCHAR AS second_value, {counts}
        FROM {rows}
        GROUP BY {head}q{place}"""
        for place, column in enumerate(columns, 1)
    ]


def count_pairs(
    rows: str, columns: Sequence[str], counts: str, groups: Sequence[str] = (), where: str = ""
) -> list[str]:
    """Count each pair of values of two columns, one query per two columns.

    `where` is a clause by which two columns are left out; {pair} in it stands for their aliases.
    """
    head = prefix(groups)
    return [
        f"""
        SELECT {head}{one}, {other}, NULL, q{one}::VARCHAR, q{other}::VARCHAR, {counts}
        FROM {rows} {where.format(pair=f"q{one}, q{other}")}
        GROUP BY {head}q{one}, q{other}"""
        for one, other in combinations(range(1, len(columns) + 1), 2)
    ]


def count_unique_records(columns: Sequence[str], groups: Sequence[str] = (), size: str = "count(*)") -> str:
    """Count the records of reid_taken that nobody shares; `size` aggregates a class to its size."""
    head, by = prefix(groups), f"GROUP BY {', '.join(groups)}" if groups else ""
    return f"""
        SELECT {head}0, {ALONE}, NULL, NULL, NULL, coalesce(count_if(class_size = 1), 0)::BIGINT, 0
        FROM (SELECT {head}{size} AS class_size FROM reid_taken GROUP BY {head}{numbered(columns)})
        {by}"""


def select_shares(columns: Sequence[str], marginals: Source, nulls: str, groups: Sequence[str] = ()) -> str:
    """Select the shares of values in the population, each with the place of its column; 0 for no column.

    Each of the groups in reid_taken gets all of them.
    """
    given = marginals.check_columns("columns of the marginals", SHARES, f"FROM {marginals.rows(SHARES)}")
    known = texts(fold_case(column) for column in columns)
    shares = f"""
        SELECT coalesce(list_position({known}, {fold_case_in_sql("q1::VARCHAR")}), 0), {OUTSIDE},
          q1::VARCHAR, q2::VARCHAR, NULL, 0, coalesce(try_cast(q3 AS DOUBLE), 'NaN'::DOUBLE)
        FROM ({given}) AS reid_given(q1, q2, q3)
        {"WHERE q2 IS NOT NULL" if nulls == "drop" else ""}"""
    if not groups:
        return shares
    return f"""
        SELECT reid_divided.*, reid_shares.*
        FROM (SELECT DISTINCT {", ".join(groups)} FROM reid_taken) AS reid_divided,
          ({shares}) AS reid_shares"""
