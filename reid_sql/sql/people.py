"""People in SQL: where a column, the entity, names the person whose record a row is.

NULL is one person. An attacker knows one record of a person; a class counts its people.
"""

from collections.abc import Sequence

from reid_sql.parameters import fold_case
from reid_sql.reduction import REFUSAL_SEVERAL_VALUES, refuse_entity, refuse_one_row_per_person
from reid_sql.sql.source import Source
from reid_sql.sql.text import (
    name,
    none_null,
    numbered,
    place_of,
    prefix,
    refusal,
    union,
    with_names,
)


def label_with_entity(label: str, entity: str | None, by: Sequence[str] = ()) -> str:
    """Name the columns that are asked for in a refusal.

    >>> label_with_entity("quasi-identifiers", "person", ["state"])
    'quasi-identifiers, by and entity'
    """
    if by:
        return f"{label} and by" if entity is None else f"{label}, by and entity"
    return label if entity is None else f"{label} and entity"


def with_entity(columns: Sequence[str], entity: str | None, nulls: str) -> list[str]:
    """All columns that a plan reads; refuses an entity that is a quasi-identifier, and NULL as any value."""
    refuse_entity(columns, entity, nulls)
    return [*columns] if entity is None else [*columns, entity]


def count_people(
    source: Source, columns: Sequence[str], entity: str, nulls: str, *, is_checked: bool = True
) -> str:
    """Select the people of each class, with how many of its records each has."""
    rows = source.rows([*columns, entity], is_checked=is_checked)
    return f"""
        SELECT {numbered(columns)}, q{len(columns) + 1} AS entity, count(*) AS records
        FROM {rows} {f"WHERE {none_null(columns)}" if nulls == "drop" else ""}
        GROUP BY {numbered([*columns, entity])}"""


def one_row_per_person(
    source: Source,
    columns: Sequence[str],
    entity: str | None,
    nulls: str,
    by: Sequence[str] = (),
    weight: str | None = None,
) -> Source:
    """Put in place of the table a row for each person: the values of the smallest of their classes.

    Of several such classes the first in order. Where there are groups, a row in each. The weight is the
    smallest of the person's.
    """
    if entity is None:
        return source
    refuse_one_row_per_person(columns, entity, nulls)
    every, weighed = union([*columns, entity], by), weight is not None
    if weight is None or place_of(weight, every):
        body, weighed = _smallest_classes(source, columns, entity, by), False
    else:
        parts = [entity, *by]
        on = " AND ".join(
            f"reid_first.{name(part)} IS NOT DISTINCT FROM reid_weights.q{place}"
            for place, part in enumerate(parts, 1)
        )
        body = f"""
            SELECT reid_first.*, reid_weights.weight AS {name(weight)}
            FROM ({_smallest_classes(source, columns, entity, by)}) AS reid_first
            JOIN ({_smallest_weights(source, parts, weight)}) AS reid_weights ON {on}"""
    label = (
        "quasi-identifiers, weight and entity"
        if weighed
        else label_with_entity("quasi-identifiers", entity, by)
    )
    asked = union([*columns, entity, *([weight] if weighed and weight else [])], by)
    return source.derive(source.check_columns(label, asked, body))


def _smallest_classes(source: Source, columns: Sequence[str], entity: str, by: Sequence[str]) -> str:
    every = union(columns, by)
    groups = prefix(f"q{place_of(group, every)}" for group in by)
    order = "".join(f", q{place} ASC NULLS FIRST" for place, _ in enumerate(columns, 1))
    person = "" if place_of(entity, every) else f", entity AS {name(entity)}"
    return f"""
        SELECT {with_names(every)}{person}
        FROM (
          SELECT *,
            row_number() OVER (PARTITION BY {groups}entity ORDER BY class_size ASC{order}) AS place
          FROM (
            SELECT *, count(*) OVER (PARTITION BY {numbered(every)}) AS class_size
            FROM ({count_people(source, every, entity, "value")})
          )
        )
        WHERE place = 1"""


def _smallest_weights(source: Source, parts: Sequence[str], weight: str) -> str:
    """The smallest weight of each person in each group, NULL where one is no number of at least 0."""
    rows = source.rows([*parts, weight])
    number = f"try_cast(q{len(parts) + 1} AS DOUBLE)"
    return f"""
        SELECT {numbered(parts)}, CASE WHEN count(weight) = count(*) THEN min(weight) END AS weight
        FROM (
          SELECT {numbered(parts)}, CASE WHEN isfinite({number}) AND {number} >= 0 THEN {number} END AS weight
          FROM {rows}
        )
        GROUP BY {numbered(parts)}"""


def one_row_per_value(
    source: Source,
    columns: Sequence[str],
    sensitive: str,
    entity: str | None,
    nulls: str,
    by: Sequence[str] = (),
) -> Source:
    """Put in place of the table a row for each person and sensitive value of theirs in each class.

    People of several values in a class are refused: it would look more diverse than it is. Groups are part of
    a class.
    """
    if entity is None:
        return source
    asked = [*columns, sensitive]
    every = union(asked, by)
    known = f"FILTER ({none_null(asked)})" if nulls == "drop" else ""
    in_groups = {fold_case(group) for group in by}
    keys = prefix(
        f"q{place}"
        for place, column in enumerate(every, 1)
        if place != len(asked) or fold_case(column) in in_groups
    )
    body = f"""
        SELECT {with_names(every)}
        FROM (
          SELECT *, count(*) {known} OVER (PARTITION BY {keys}entity) AS several
          FROM ({count_people(source, every, entity, "value")})
        )
        WHERE CASE WHEN several > 1 THEN {refusal(REFUSAL_SEVERAL_VALUES)} ELSE true END"""
    label = f"quasi-identifiers, sensitive{', by and entity' if by else ' and entity'}"
    return source.derive(source.check_columns(label, union(with_entity(asked, entity, nulls), by), body))


def smallest_class_of_people(people: str, columns: Sequence[str]) -> str:
    """Count people by the smallest of their classes: class_size, records (people)."""
    return f"""
        SELECT class_size, count(*) AS records
        FROM (
          SELECT min(class_size) AS class_size
          FROM (
            SELECT entity, count(*) OVER (PARTITION BY {numbered(columns)}) AS class_size FROM {people}
          )
          GROUP BY entity
        )
        GROUP BY class_size"""
