"""What a model of people is fitted to, in SQL: values, pairs and class sizes counted, and records drawn."""

from collections.abc import Sequence

from reid_sql.models.people.evidence import max_combinations
from reid_sql.reductions.pairs.sql import (
    count_pairs,
    count_unique_records,
    count_values,
    select_shares,
    sum_weights,
    with_weight,
)
from reid_sql.reductions.people import DRAWN, LOOKED_AT, MOST_DRAWN, SIZES
from reid_sql.sql.groups import count_by_group, group_aliases, rows_by_group
from reid_sql.sql.people import class_columns, class_size
from reid_sql.sql.records import value_texts, with_null_report
from reid_sql.sql.source import Source
from reid_sql.sql.text import numbered, prefix


def people(
    tbl: Source,
    qi: Sequence[str],
    weight: str | None,
    marginals: Source | None,
    seed: int,
    by: Sequence[str] | None,
    nulls: str,
) -> str:
    """Count values, pairs that are not too many and class sizes; draw records by a hash of their values."""
    if by is not None:
        return _people_by_group(tbl, qi, weight, marginals, seed, by, nulls)
    asked, most = with_weight(qi, weight), max_combinations(len(qi))
    counts = _count_records_of_classes(weight)
    lines = count_values("reid_classes", qi, counts)
    if most:
        # If some of the classes have more combinations, so has the table: the pair is then not counted.
        few = f"WHERE (SELECT count(*) <= {most} FROM (SELECT 1 FROM reid_few GROUP BY {{pair}}))"
        lines += count_pairs("reid_classes", qi, counts, where=few)
    if marginals is not None:
        lines.append(select_shares(qi, marginals, nulls))
    body = f"""
        WITH reid_taken AS (FROM {tbl.rows(asked, drop_nulls=nulls == "drop", before=class_columns(tbl))}),
        reid_classes AS MATERIALIZED ({group_records("reid_taken", qi, class_size(tbl), weight)}),
        reid_few AS MATERIALIZED (FROM reid_classes LIMIT {LOOKED_AT})
        SELECT row_number() OVER () AS line, *
        FROM ({_select_lines(qi, seed, lines)})"""
    return tbl.check_columns("columns", asked, with_null_report(tbl, asked, nulls, body))


def _people_by_group(
    tbl: Source,
    qi: Sequence[str],
    weight: str | None,
    marginals: Source | None,
    seed: int,
    by: Sequence[str],
    nulls: str,
) -> str:
    """Count and draw the same in each group."""
    asked = with_weight(qi, weight)
    groups, counts = group_aliases(asked, by), _count_records_of_classes(weight)
    lines = [
        *count_values("reid_classes", qi, counts, groups),
        *count_pairs("reid_classes", qi, counts, groups),
    ]
    if weight is None:
        lines.append(count_unique_records(qi, groups, class_size(tbl)))
    if marginals is not None:
        lines.append(select_shares(qi, marginals, nulls, groups))
    sized = f"""{rows_by_group(tbl, asked, by, nulls)},
        reid_classes AS MATERIALIZED ({group_records("reid_taken", qi, class_size(tbl), weight, groups)}),
        reid_sized AS (
          SELECT row_number() OVER () AS line, *
          FROM ({_select_lines(qi, seed, lines, groups)})
        )"""
    columns = """line, first, second, label, first_value, second_value,
          coalesce(records, 0)::BIGINT AS records, mass, texts"""
    return count_by_group(tbl, "columns", asked, by, None, nulls, columns, sized)


def group_records(
    rows: str, columns: Sequence[str], size: str, weight: str | None = None, groups: Sequence[str] = ()
) -> str:
    """Select the distinct records: how many there are of each, its class's size, the sum of any weights."""
    head = prefix(groups)
    weights = "" if weight is None else f", {sum_weights(columns)} AS weights"
    return f"""
        SELECT {head}{numbered(columns)}, count(*) AS records, {size} AS class_size{weights}
        FROM {rows}
        GROUP BY {head}{numbered(columns)}"""


def _count_records_of_classes(weight: str | None) -> str:
    """Aggregate classes to the number of their records and to their mass."""
    mass = "sum(records)::DOUBLE" if weight is None else "sum(weights)"
    return f"sum(records)::BIGINT AS records, {mass} AS mass"


def _select_lines(columns: Sequence[str], seed: int, lines: Sequence[str], groups: Sequence[str] = ()) -> str:
    """Unite lines of values and of pairs with few combinations, sizes of reid_classes, and records drawn."""
    head = prefix(groups)
    return f"""
        SELECT {head}first, second, label, first_value, second_value, records, mass,
          NULL::VARCHAR[] AS texts
        FROM (
          SELECT *, count(*) OVER (PARTITION BY {head}first, second) AS reid_lines
          FROM ({" UNION ALL ".join(lines)})
        )
        WHERE second <= 0 OR reid_lines <= {max_combinations(len(columns))}
        UNION ALL
        SELECT {head}0, {SIZES}, NULL, NULL, NULL, class_size, sum(records)::DOUBLE / class_size, NULL
        FROM reid_classes
        GROUP BY {head}class_size
        UNION ALL
        SELECT {head}0, {DRAWN}, NULL, NULL, NULL, class_size, mass, texts
        FROM ({draw_records(columns, seed, groups)})"""


def draw_records(columns: Sequence[str], seed: int, groups: Sequence[str] = ()) -> str:
    """Draw records of reid_classes: the first in a random order, `mass`, that values and seed decide.

    Every record of a class gets a random number of its own, whatever order the table is read in.
    """
    head, most = prefix(groups), f"ORDER BY mass ASC NULLS LAST LIMIT {MOST_DRAWN}"
    if groups:
        place = f"row_number() OVER (PARTITION BY {', '.join(groups)} ORDER BY mass ASC NULLS LAST)"
        most = f"QUALIFY {place} <= {MOST_DRAWN}"
    return f"""
        SELECT {head}class_size, {value_texts(columns)} AS texts, mass
        FROM (
          SELECT *,
            hash({numbered(columns)}, copy, {seed}::BIGINT)::DOUBLE / 18446744073709551616 AS mass
          FROM (SELECT *, unnest(range(records)) AS copy FROM reid_classes)
          {most}
        )"""
