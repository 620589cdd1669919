"""Groups in SQL: a table divided by the values of some columns, each group answered for itself.

The groups' columns stand after those that are asked about, under the next aliases, and come back under names
with a prefix that none of ours can have.
"""

from collections.abc import Sequence

from reid_sql.reduction import GROUP
from reid_sql.sql.people import class_columns, label_with_entity, with_entity
from reid_sql.sql.text import Source, aliases, name, none_null, numbered, prefix, same, text, union


def group_aliases(columns: Sequence[str], by: Sequence[str]) -> list[str]:
    """The aliases of the groups' columns."""
    return aliases(len(by), len(columns) + 1)


def count_by_group(
    source: Source,
    label: str,
    columns: Sequence[str],
    by: Sequence[str],
    entity: str | None,
    nulls: str,
    counts: str,
    sized: str,
) -> str:
    """Select what is counted of each group, all groups included, with the records dropped of each.

    `sized` is the text of one or more common table expressions over reid_divided, the last of which,
    reid_sized, has the groups' columns and the `counts`; reid_divided holds the distinct rows by the columns
    and the groups (and people, if any), with their counts, and whether they are `complete`.
    """
    every, groups = [*columns, *by], group_aliases(columns, by)
    person = "NULL" if entity is None else f"q{len(every) + 1}"
    rows = source.rows(every if entity is None else [*every, entity])
    listed = numbered(every if entity is None else [*every, entity])
    own = ", ".join(f"g.{alias} AS {name(GROUP + column)}" for alias, column in zip(groups, by, strict=True))
    body = f"""
        WITH reid_divided AS MATERIALIZED (
          SELECT *, {none_null(columns) if nulls == "drop" else "true"} AS complete
          FROM (
            SELECT {numbered(every)}, {person} AS entity, count(*) AS records
            FROM {rows}
            GROUP BY {listed}
          )
        ),
        {sized},
        reid_groups AS (
          SELECT {", ".join(groups)},
            coalesce(sum(records) FILTER (NOT complete), 0)::BIGINT AS records_dropped
          FROM reid_divided GROUP BY {", ".join(groups)}
        )
        SELECT {own}, {counts}, records_dropped, {text(nulls)} AS nulls
        FROM reid_groups AS g LEFT JOIN reid_sized AS s ON {same("g", "s", groups)}"""
    return source.check_columns(
        label_with_entity(label, entity, by), union(with_entity(columns, entity, nulls), by), body
    )


def rows_by_group(source: Source, columns: Sequence[str], by: Sequence[str], nulls: str) -> str:
    """Name all rows that are not dropped reid_taken, for a plan that needs them one by one."""
    where = f"WHERE {none_null(columns)}" if nulls == "drop" else ""
    return f"reid_taken AS (FROM {source.rows([*columns, *by], before=class_columns(source))} {where})"


def histogram_by_group(columns: Sequence[str], by: Sequence[str], *, of_people: bool) -> str:
    """Name reid_sized the histogram of each group, of reid_in_classes.

    reid_in_classes has the rows of reid_divided that are complete, each with the size of its class, and in
    `short` whether a population has fewer of that class.
    """
    groups, every = group_aliases(columns, by), numbered([*columns, *by])
    head = prefix(groups)
    if not of_people:
        return f"""reid_sized AS (
          SELECT {head}class_size, count(*) AS classes, sum(records)::BIGINT AS records,
            coalesce(sum(records) FILTER (short), 0)::BIGINT AS uncovered
          FROM reid_in_classes
          GROUP BY {head}class_size
        )"""
    return f"""reid_sized AS (
          SELECT c.*, p.records, p.uncovered
          FROM (
            SELECT {head}class_size, count(*) AS classes
            FROM (SELECT DISTINCT {every}, class_size FROM reid_in_classes)
            GROUP BY {head}class_size
          ) AS c
          LEFT JOIN (
            SELECT {head}class_size, count(*) AS records, count(*) FILTER (short) AS uncovered
            FROM (
              SELECT {head}min(class_size) AS class_size, bool_or(short) AS short
              FROM reid_in_classes GROUP BY {head}entity
            )
            GROUP BY {head}class_size
          ) AS p ON c.class_size = p.class_size AND {same("c", "p", groups)}
        )"""
