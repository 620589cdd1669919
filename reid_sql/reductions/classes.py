"""Equivalence classes: the size of each record's, the classes themselves, and how many have each size."""

from typing import Final

from reid_sql.models.classes.disclosure import Histogram
from reid_sql.parameters import ColumnNames
from reid_sql.parameters.tolerance import allowances_of
from reid_sql.reduction import (
    ANY_NULLS,
    BY,
    ENTITY,
    QI,
    TBL,
    WILDCARDS,
    WITHIN,
    Reduction,
    refuse_groups,
    refuse_result_names,
    refuse_tolerance,
)
from reid_sql.sql.people import (
    check_people,
    count_by_group,
    count_people,
    group_aliases,
    histogram_by_group,
    number_people,
)
from reid_sql.sql.records import count_distinct, match_records, sum_blank_records
from reid_sql.sql.text import Source, aliases, none_null, numbered, prefix, same, with_names
from reid_sql.sql.tolerance import match_within

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
    arguments=(TBL, QI, ENTITY, ANY_NULLS, WITHIN),
    columns={"class_size": "BIGINT", "records": "BIGINT"},
    fallback=MATCHED_BY_DUCKDB,
    reasons={"by": "its rows are the classes of one table"},
)
HISTOGRAM: Final = Reduction(
    __name__,
    name="histogram",
    words="how many classes, and how many records, or people, have each class size",
    arguments=(TBL, QI, ENTITY, BY, ANY_NULLS, WITHIN),
    columns={
        "class_size": "BIGINT",
        "classes": "BIGINT",
        "records": "BIGINT",
        "blank_records": "BIGINT",
    },
    arrays=Histogram,
    fallback=MATCHED_BY_DUCKDB,
)


def classes(
    tbl: Source, qi: ColumnNames, entity: str | None, nulls: str, tolerance: str | None = None
) -> str:
    """List the distinct combinations of values, with how many records, or people, share each."""
    refuse_result_names(qi)
    refuse_tolerance(tolerance, nulls)
    if tolerance is not None:
        body = f"""
            WITH {_match_within(tbl, qi, entity, nulls, tolerance)}
            SELECT {with_names(qi)}, class_size, sum(records)::BIGINT AS records
            FROM reid_matched GROUP BY {numbered(qi)}, class_size"""
    elif entity is not None:
        body = f"""
            SELECT {with_names(qi)}, count(*) AS class_size, sum(records)::BIGINT AS records
            FROM ({count_people(tbl, qi, entity, nulls)})
            GROUP BY {numbered(qi)}"""
    elif nulls == "wildcard":
        body = f"""
            {match_records(qi, count_distinct(tbl, qi, nulls))}
            SELECT {with_names(qi)}, class_size, records FROM reid_matched"""
    else:
        body = f"""
            SELECT {with_names(qi)}, count(*) AS class_size, count(*) AS records
            FROM {tbl.rows(qi, drop_nulls=nulls == "drop")}
            GROUP BY {numbered(qi)}"""
    return check_people(tbl, "quasi-identifiers", qi, entity, nulls, body)


def histogram(
    tbl: Source,
    qi: ColumnNames,
    entity: str | None,
    by: ColumnNames | None,
    nulls: str,
    tolerance: str | None = None,
) -> str:
    """Count the classes, and the records or people, of each class size, within each group of `by`."""
    refuse_tolerance(tolerance, nulls)
    if by is not None:
        return (
            f"{_histogram_by_group(tbl, qi, entity, by, nulls, tolerance)} ORDER BY class_size ASC"
        )
    if tolerance is not None:
        body = _histogram_within(tbl, qi, entity, nulls, tolerance)
    elif entity is not None:
        body = _histogram_of_people(tbl, qi, entity, nulls)
    else:
        body = _histogram_of_records(tbl, qi, nulls)
    checked = check_people(tbl, "quasi-identifiers", qi, entity, nulls, body)
    return f"{checked} ORDER BY class_size ASC"


def _match_within(
    tbl: Source, qi: ColumnNames, entity: str | None, nulls: str, tolerance: str
) -> str:
    """Match distinct records, or people in classes, within the tolerance: of a WITH clause, reid_matched."""
    distinct = (
        count_distinct(tbl, qi, nulls) if entity is None else number_people(tbl, qi, entity, nulls)
    )
    return match_within(qi, distinct, allowances_of(tolerance, qi), of_people=entity is not None)


def _histogram_within(
    tbl: Source, qi: ColumnNames, entity: str | None, nulls: str, tolerance: str
) -> str:
    """Count the classes, and the records or people, by how many records or people are within the tolerance.

    An attacker knows the record of a person that matches the fewest people.
    """
    matched = _match_within(tbl, qi, entity, nulls, tolerance)
    people = "SELECT class_size, records FROM reid_matched"
    if entity is not None:
        people = (
            "SELECT min(class_size) AS class_size, 1 AS records FROM reid_matched GROUP BY entity"
        )
    return f"""
        WITH {matched}
        SELECT class_size, classes, coalesce(records, 0)::BIGINT AS records, NULL::BIGINT AS blank_records
        FROM (
          SELECT class_size, count(*) AS classes
          FROM (SELECT DISTINCT {numbered(qi)}, class_size FROM reid_matched) GROUP BY class_size
        ) LEFT JOIN (
          SELECT class_size, sum(records) AS records FROM ({people}) GROUP BY class_size
        ) USING (class_size)"""


def _histogram_of_records(tbl: Source, qi: ColumnNames, nulls: str) -> str:
    """Group the records by the quasi-identifiers, then the classes by their size.

    Two aggregations, of which the second sees one row per class.
    """
    if nulls == "wildcard":
        matched = match_records(qi, count_distinct(tbl, qi, nulls))
        return f"""
            {matched}
            SELECT class_size, count(*) AS classes, sum(records)::BIGINT AS records,
              {sum_blank_records(qi, nulls)} AS blank_records
            FROM reid_matched
            GROUP BY class_size"""
    return f"""
        SELECT class_size, count(*) AS classes, sum(class_size)::BIGINT AS records,
          NULL::BIGINT AS blank_records
        FROM (
          SELECT count(*) AS class_size
          FROM {tbl.rows(qi, drop_nulls=nulls == "drop")}
          GROUP BY {numbered(qi)}
        )
        GROUP BY class_size"""


def _histogram_of_people(tbl: Source, qi: ColumnNames, entity: str, nulls: str) -> str:
    """Count the classes by their number of people, and the people by the smallest of their classes.

    Most classes are of one person, the least and the greatest there. In the others alone people are told
    apart, and the classes are joined to them: a window over the people takes two to three times as long.
    """
    keys, person = numbered(qi), f"q{len(qi) + 1}"
    checked_rows = tbl.derive(f"FROM {tbl.item}").rows([*qi, entity], is_checked=False)
    same_class = same("reid_source_rows", "k", aliases(len(qi)))
    return f"""
        WITH reid_keys AS MATERIALIZED (
          SELECT {keys}, min({person}) AS entity, min({person}) IS DISTINCT FROM max({person}) AS is_shared
          FROM {tbl.rows([*qi, entity])} {f"WHERE {none_null(qi)}" if nulls == "drop" else ""}
          GROUP BY {keys}
        ),
        reid_people AS MATERIALIZED (
          SELECT DISTINCT {keys}, {person} AS entity
          FROM {checked_rows} SEMI JOIN (FROM reid_keys WHERE is_shared) AS k ON {same_class}
        ),
        reid_classes AS MATERIALIZED (SELECT {keys}, count(*) AS class_size FROM reid_people GROUP BY {keys})
        SELECT class_size, classes, coalesce(records, 0)::BIGINT AS records, NULL::BIGINT AS blank_records
        FROM (
          SELECT class_size, count(*) AS classes
          FROM (
            SELECT 1 AS class_size FROM reid_keys WHERE NOT is_shared
            UNION ALL
            SELECT class_size FROM reid_classes
          )
          GROUP BY class_size
        )
        LEFT JOIN (
          SELECT class_size, count(*) AS records
          FROM (
            SELECT min(class_size) AS class_size
            FROM (
              SELECT entity, 1 AS class_size FROM reid_keys WHERE NOT is_shared
              UNION ALL
              SELECT p.entity, c.class_size
              FROM reid_people AS p JOIN reid_classes AS c ON {same("p", "c", aliases(len(qi)))}
            )
            GROUP BY entity
          )
          GROUP BY class_size
        ) USING (class_size)"""


def _histogram_by_group(
    tbl: Source,
    qi: ColumnNames,
    entity: str | None,
    by: ColumnNames,
    nulls: str,
    tolerance: str | None,
) -> str:
    """Write the histogram of each group, all from one count by the columns and the groups."""
    refuse_groups(nulls)
    keys = aliases(len([*qi, *by]))
    in_classes = "SELECT *, false AS short, records AS class_size FROM reid_divided WHERE complete"
    if entity is not None:  # joined, as above
        in_classes = f"""
          SELECT p.*, false AS short, c.class_size
          FROM reid_divided AS p JOIN (
            SELECT {prefix(keys)}count(*) AS class_size FROM reid_divided WHERE complete GROUP BY ALL
          ) AS c ON {same("p", "c", keys)}
          WHERE p.complete"""
    matched = ""
    if tolerance is not None:
        records = "SELECT 0 AS side, row_number() OVER () AS id, * FROM reid_divided WHERE complete"
        allowances, groups = allowances_of(tolerance, qi), group_aliases(qi, by)
        matched = (
            f"{match_within(qi, records, allowances, groups=groups, of_people=entity is not None)},"
        )
        in_classes = "SELECT *, false AS short FROM reid_matched"
    sized = f"""{matched}
        reid_in_classes AS ({in_classes}),
        {histogram_by_group(qi, by, of_people=entity is not None)}"""
    counts = """class_size, coalesce(classes, 0)::BIGINT AS classes,
          coalesce(records, 0)::BIGINT AS records, NULL::BIGINT AS blank_records"""
    return count_by_group(tbl, "quasi-identifiers", qi, by, entity, nulls, counts, sized)
