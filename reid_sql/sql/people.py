"""People and groups in SQL: where a column, the entity, names the person whose record a row is.

A row without a person is refused. An attacker knows one record of a person; a class counts its people.
"""

from collections.abc import Sequence

from reid_sql.parameters import ColumnNames, order_by_name
from reid_sql.parameters.words import DECIMAL_COMMA, REFUSAL_DECIMAL_COMMAS
from reid_sql.reduction import (
    CLASS_PEOPLE,
    CLASS_WEIGHT,
    GROUP,
    PERSON,
    refusal_of_several,
    refuse_entity,
    refuse_one_row_per_person,
)
from reid_sql.sql.records import with_null_report
from reid_sql.sql.text import (
    Source,
    aliases,
    name,
    none_null,
    numbered,
    place_of,
    prefix,
    refusal,
    same,
    text,
    union,
    with_names,
)


def label_with_entity(label: str, entity: str | None, by: ColumnNames = ()) -> str:
    """Name the columns that are asked for in a refusal.

    >>> label_with_entity("quasi-identifiers", "person", ["state"])
    'quasi-identifiers, by and entity'
    """
    if by:
        return f"{label} and by" if entity is None else f"{label}, by and entity"
    return label if entity is None else f"{label} and entity"


def with_entity(columns: ColumnNames, entity: str | None, nulls: str) -> list[str]:
    """All columns that a plan reads; refuses an entity that is a quasi-identifier, and NULL as any value."""
    refuse_entity(columns, entity, nulls)
    return [*columns] if entity is None else [*columns, entity]


def count_people(
    source: Source, columns: ColumnNames, entity: str, nulls: str, *, is_checked: bool = True
) -> str:
    """Select the people of each class, with how many of its records each has."""
    rows = source.rows([*columns, entity], is_checked=is_checked)
    return f"""
        SELECT {numbered(columns)}, q{len(columns) + 1} AS entity, count(*) AS records
        FROM {rows} {f"WHERE {none_null(columns)}" if nulls == "drop" else ""}
        GROUP BY {numbered([*columns, entity])}"""


def number_people(
    source: Source, columns: ColumnNames, entity: str, nulls: str, side: int = 0
) -> str:
    """Number the people of each class of one side."""
    return f"""
        SELECT {side} AS side, row_number() OVER () AS id, *
        FROM ({count_people(source, columns, entity, nulls)})"""


def one_row_per_person(
    source: Source,
    columns: ColumnNames,
    entity: str | None,
    nulls: str,
    by: ColumnNames = (),
    weight: str | None = None,
) -> Source:
    """Put in place of the table a row for each person: the values of the smallest of their classes.

    Of several such classes the first in order, by the columns' names. Where there are groups, a row in each.
    The weight is the smallest of the person's. Each row has how many people its class has, whosever smallest
    it is, and the sum of their weights.
    """
    if entity is None:
        return source
    refuse_one_row_per_person(columns, entity, nulls)
    label = label_with_entity("quasi-identifiers", entity, by)
    if weight is not None and place_of(weight, union([*columns, entity], by)):
        weight = None  # a column that the rows have anyway
    if weight is not None:
        label = "quasi-identifiers, weight and entity"
    columns_read = union([*columns, entity, *([] if weight is None else [weight])], by)
    body = _smallest_classes(source, columns, entity, by, weight)
    return source.derive(source.check_columns(label, columns_read, body), has_people=True)


def _smallest_classes(
    source: Source, columns: ColumnNames, entity: str, by: ColumnNames, weight: str | None
) -> str:
    columns_read = union(columns, by)
    places = [place_of(group, columns_read) for group in by]
    in_class = f"PARTITION BY {numbered(columns_read)}"
    order = "".join(f", q{place + 1} ASC NULLS FIRST" for place in order_by_name(columns))
    more, sums, people = "", "", count_people(source, columns_read, entity, "value")
    if not place_of(entity, columns_read):
        more = f", entity AS {name(entity)}"
    if weight is not None:
        parts = [entity, *by]
        keys = ["entity", *(f"q{place}" for place in places)]
        alike = same("reid_first", "reid_weights", keys, aliases(len(parts)))
        people = f"""
        SELECT reid_first.*, reid_weights.weight
        FROM ({people}) AS reid_first
        JOIN ({_smallest_weights(source, parts, weight)}) AS reid_weights ON {alike}"""
        more += f", weight AS {name(weight)}, class_weight AS {name(CLASS_WEIGHT)}"
        sums = f", sum({positive('weight')}) OVER ({in_class}) AS class_weight"
    return f"""
        SELECT {with_names(columns_read)}{more}, class_size AS {name(CLASS_PEOPLE)}
        FROM (
          SELECT *, row_number() OVER (
              PARTITION BY {prefix(f"q{place}" for place in places)}entity ORDER BY class_size ASC{order}
            ) AS place
          FROM (
            SELECT *, count(*) OVER ({in_class}) AS class_size{sums}
            FROM ({people})
          )
        )
        WHERE place = 1"""


def weight_number(weight: str) -> str:
    """A weight as a number, NULL if it is none; refuses a text with a decimal comma.

    The query finds it where it runs, as only some records may have one.
    """
    number = f"try_cast({weight} AS DOUBLE)"
    commas = f"regexp_full_match({weight}::VARCHAR, {text(DECIMAL_COMMA)})"
    refused = f"error({text(REFUSAL_DECIMAL_COMMAS)})::DOUBLE"
    return f"CASE WHEN {number} IS NULL AND {commas} THEN {refused} ELSE {number} END"


def positive(weight: str) -> str:
    """A weight above 0, else NaN: so that a sum with a bad one is NaN, which a model refuses."""
    return f"CASE WHEN {weight} > 0 THEN {weight} ELSE 'NaN'::DOUBLE END"


def class_columns(source: Source) -> dict[str, str]:
    """The expressions that read with each row how many people its class has, where a row is a person."""
    return {"class_people": name(CLASS_PEOPLE)} if source.has_people else {}


def class_size(source: Source) -> str:
    """Aggregate the rows of a class to its size: their number, or the people of the class."""
    return "max(class_people)" if source.has_people else "count(*)"


def _smallest_weights(source: Source, parts: Sequence[str], weight: str) -> str:
    """The smallest weight of each person in each group, NULL where one is no number of at least 0."""
    rows = source.rows([*parts, weight])
    number = weight_number(f"q{len(parts) + 1}")
    return f"""
        SELECT {numbered(parts)}, CASE WHEN count(weight) = count(*) THEN min(weight) END AS weight
        FROM (
          SELECT {numbered(parts)}, CASE WHEN isfinite({number}) AND {number} >= 0 THEN {number} END AS weight
          FROM {rows}
        )
        GROUP BY {numbered(parts)}"""


def check_people(
    source: Source, words: str, columns: ColumnNames, entity: str | None, nulls: str, body: str
) -> str:
    """Write the body with its report of NULLs, behind the check of the columns and of who is a person."""
    return source.check_columns(
        label_with_entity(words, entity),
        with_entity(columns, entity, nulls),
        with_null_report(source, columns, nulls, body),
    )


def one_row_per_value(
    source: Source,
    columns: ColumnNames,
    sensitive: str,
    entity: str | None,
    nulls: str,
    by: ColumnNames = (),
    *,
    of_shares: bool = False,
) -> Source:
    """Put in place of the table a row for each person and sensitive value of theirs in each class.

    People of several values in a class are refused: it would look more diverse than it is; and people of
    several in the table, or in a group, where shares of the table are asked for. Groups are part of a class.
    """
    if entity is None:
        return source
    compared = [*columns, sensitive]
    columns_read = union(compared, by)
    rows = (
        _select_with_shares(source, compared, columns_read, entity, nulls, by)
        if of_shares
        else _select_values(source, compared, columns_read, entity, nulls)
    )
    body = f"""
        SELECT {with_names(columns_read)}, entity AS {name(PERSON)}
        FROM ({rows})
        WHERE CASE WHEN several THEN {refusal(refusal_of_several(of_shares=of_shares))} ELSE true END"""
    label = f"quasi-identifiers, sensitive{', by and entity' if by else ' and entity'}"
    return source.derive(
        source.check_columns(label, union(with_entity(compared, entity, nulls), by), body)
    )


def _select_values(
    source: Source, compared: ColumnNames, columns: ColumnNames, entity: str, nulls: str
) -> str:
    """Select the people of each class with the least of their values, and whether there are several.

    Of rows that are dropped, each is listed that differs, to be counted.
    """
    value, person = f"q{len(compared)}", f"q{len(columns) + 1}"
    keys = prefix(alias for alias in aliases(len(columns)) if alias != value)
    complete = none_null(compared)
    of_dropped = f", {complete}, CASE WHEN {complete} THEN NULL ELSE {value} END"
    return f"""
        SELECT {keys}min({value}) AS {value}, {person} AS entity,
          min({value}) IS DISTINCT FROM max({value}) OR count({value}) NOT IN (0, count(*)) AS several
        FROM {source.rows([*columns, entity])}
        GROUP BY {keys}{person}{of_dropped if nulls == "drop" else ""}"""


def _select_with_shares(
    source: Source,
    compared: ColumnNames,
    columns: ColumnNames,
    entity: str,
    nulls: str,
    by: ColumnNames,
) -> str:
    """Select the people of each class and value, and whether a person has several values in any classes."""
    value = f"q{len(compared)}"
    groups = prefix(f"q{place_of(group, columns)}" for group in by)
    complete = f"FILTER ({none_null(compared)})" if nulls == "drop" else ""
    window = f"{complete} OVER (PARTITION BY {groups}entity)"
    return f"""
        SELECT *, min({value}) {window} IS DISTINCT FROM max({value}) {window}
          OR count({value}) {window} NOT IN (0, count(*) {window}) AS several
        FROM ({count_people(source, columns, entity, "value")})"""


# Groups in SQL: a table divided by the values of some columns, each group answered for itself.
#
# The groups' columns stand after those that are asked about, under the next aliases, and come back under
# names with a prefix that none of ours can have.


def group_aliases(columns: ColumnNames, by: ColumnNames) -> list[str]:
    """The aliases of the groups' columns."""
    return aliases(len(by), len(columns) + 1)


def count_by_group(
    source: Source,
    label: str,
    columns: ColumnNames,
    by: ColumnNames,
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
    divided, groups = [*columns, *by], group_aliases(columns, by)
    person = "NULL" if entity is None else f"q{len(divided) + 1}"
    rows = source.rows(divided if entity is None else [*divided, entity])
    listed = numbered(divided if entity is None else [*divided, entity])
    named_groups = ", ".join(
        f"g.{alias} AS {name(GROUP + column)}" for alias, column in zip(groups, by, strict=True)
    )
    body = f"""
        WITH reid_divided AS MATERIALIZED (
          SELECT *, {none_null(columns) if nulls == "drop" else "true"} AS complete
          FROM (
            SELECT {numbered(divided)}, {person} AS entity, count(*) AS records
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
        SELECT {named_groups}, {counts}, records_dropped, {text(nulls)} AS nulls
        FROM reid_groups AS g LEFT JOIN reid_sized AS s ON {same("g", "s", groups)}"""
    return source.check_columns(
        label_with_entity(label, entity, by), union(with_entity(columns, entity, nulls), by), body
    )


def rows_by_group(source: Source, columns: ColumnNames, by: ColumnNames, nulls: str) -> str:
    """Name all rows that are not dropped reid_taken, for a plan that needs them one by one."""
    where = f"WHERE {none_null(columns)}" if nulls == "drop" else ""
    return (
        f"reid_taken AS (FROM {source.rows([*columns, *by], before=class_columns(source))} {where})"
    )


def histogram_by_group(columns: ColumnNames, by: ColumnNames, *, of_people: bool) -> str:
    """Name reid_sized the histogram of each group, of reid_in_classes.

    reid_in_classes has the rows of reid_divided that are complete, each with the size of its class, and in
    `short` whether a population has fewer of that class.
    """
    groups, keys = group_aliases(columns, by), numbered([*columns, *by])
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
            FROM (SELECT DISTINCT {keys}, class_size FROM reid_in_classes)
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
