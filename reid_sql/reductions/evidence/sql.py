"""What uniqueness in the population is estimated from, in SQL."""

from collections.abc import Sequence

from reid_sql.reductions.evidence import DRAWN, OF_INDEPENDENCE, OF_PAIRS, OF_PEOPLE, SEED
from reid_sql.reductions.pairs.sql import count_pairs, count_records, count_unique_records, count_values
from reid_sql.reductions.people.sql import draw_records, group_records
from reid_sql.sql.groups import count_by_group, group_aliases, rows_by_group
from reid_sql.sql.people import class_columns, class_size
from reid_sql.sql.records import log_expected, with_null_report
from reid_sql.sql.source import Source
from reid_sql.sql.text import prefix


def evidence(tbl: Source, qi: Sequence[str], method: str, by: Sequence[str] | None, nulls: str) -> str:
    """Count the classes of each size, and what the method needs besides: expected counts, pairs, a draw."""
    if by is not None:
        return _evidence_by_group(tbl, qi, method, by, nulls)
    rows = tbl.rows(qi, drop_nulls=nulls == "drop", before=class_columns(tbl))
    kind = "MATERIALIZED" if method in {*OF_INDEPENDENCE, *OF_PEOPLE} else ""  # else it is read once
    tables = [f"reid_classes AS {kind} ({group_records(rows, qi, class_size(tbl))})"]
    if method in OF_PAIRS:
        tables.append(f"reid_taken AS (FROM {rows})")
    body = f"""
        WITH {", ".join(tables)}
        SELECT row_number() OVER () AS place, *
        FROM ({_select_lines(qi, method, size=class_size(tbl))})"""
    return tbl.check_columns("quasi-identifiers", qi, with_null_report(tbl, qi, nulls, body))


def _evidence_by_group(tbl: Source, qi: Sequence[str], method: str, by: Sequence[str], nulls: str) -> str:
    """Count the same in each group."""
    size = class_size(tbl)
    tables = [
        rows_by_group(tbl, qi, by, nulls),
        f"reid_classes AS ({group_records('reid_taken', qi, size, groups=group_aliases(qi, by))})",
    ]
    sized = f"""{", ".join(tables)},
        reid_sized AS (
          SELECT row_number() OVER () AS place, *
          FROM ({_select_lines(qi, method, group_aliases(qi, by), size)})
        )"""
    columns = """place, class_size, log_expected, coalesce(classes, 0)::DOUBLE AS classes,
          first, second, label, first_value, second_value, records, mass, texts"""
    return count_by_group(tbl, "quasi-identifiers", qi, by, None, nulls, columns, sized)


def _select_lines(
    columns: Sequence[str], method: str, groups: Sequence[str] = (), size: str = "count(*)"
) -> str:
    """Unite sizes of reid_classes, pairs of values in reid_taken, and records drawn of reid_classes."""
    head = prefix(groups)
    lines = [
        f"""
        SELECT {head}class_size, log_expected, classes,
          0::BIGINT AS first, 0::BIGINT AS second, NULL::VARCHAR AS label, NULL::VARCHAR AS first_value,
          NULL::VARCHAR AS second_value, 0::BIGINT AS records, 0::DOUBLE AS mass, NULL::VARCHAR[] AS texts
        FROM ({_count_sizes(columns, method, groups)})"""
    ]
    if method in OF_PAIRS:
        lines.append(f"""
        SELECT {head}0, NULL, 0, first, second, label, first_value, second_value, records, mass, NULL
        FROM ({_count_values_and_pairs(columns, groups, size)})""")
    if method in OF_PEOPLE:
        lines.append(f"""
        SELECT {head}0, NULL, 0, 0, {DRAWN}, NULL, NULL, NULL, class_size, mass, texts
        FROM ({draw_records(columns, SEED, groups)})""")
    return " UNION ALL ".join(lines)


def _count_sizes(columns: Sequence[str], method: str, groups: Sequence[str]) -> str:
    """Count the classes of each size, and of each count that independent columns would hold.

    The logarithm of the expected count is rounded to a thousandth.
    """
    head = prefix(groups)
    if method in OF_INDEPENDENCE:
        return f"""
          SELECT {head}class_size, round(log_expected * 1000) / 1000 AS log_expected,
            sum(records::DOUBLE / class_size) AS classes
          FROM ({log_expected(columns, "reid_classes", groups)})
          GROUP BY ALL"""
    return f"""
          SELECT {head}class_size, NULL::DOUBLE AS log_expected,
            sum(records)::DOUBLE / class_size AS classes
          FROM reid_classes
          GROUP BY {head}class_size"""


def _count_values_and_pairs(columns: Sequence[str], groups: Sequence[str], size: str) -> str:
    counts = count_records(columns, None)
    lines = [
        *count_values("reid_taken", columns, counts, groups),
        *count_pairs("reid_taken", columns, counts, groups),
        count_unique_records(columns, groups, size),
    ]
    return " UNION ALL ".join(lines)
