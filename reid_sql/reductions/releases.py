"""Two releases of one table: their classes, and the people who are in both."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from reid_sql.errors import OutOfDomainError
from reid_sql.models.comparison.release_classes import ReleaseClasses
from reid_sql.parameters import (
    QUASI_IDENTIFIERS,
    TABLE,
    ColumnNames,
    Columns,
    Key,
    Tables,
    fold_case,
)
from reid_sql.parameters.tolerance import Allowances, allowances_of
from reid_sql.reduction import (
    DROPPABLE_NULLS,
    ENTITY,
    KEY,
    PERSON,
    WITHIN,
    Argument,
    Reduction,
    refuse_entity,
    refuse_key,
    refuse_key_with_entity,
)
from reid_sql.sql.combined_releases import combine_people, combined_lines, refuse_more
from reid_sql.sql.people import one_row_per_value
from reid_sql.sql.records import is_key, with_null_report_of_all
from reid_sql.sql.text import Source, aliases, none_null, same, text
from reid_sql.sql.tolerance import link_within

RELEASES: Final = "first and second"
REFUSAL_TOLERANCE_OF_PEOPLE: Final = (
    "tolerance must be given without entity where releases are compared, as people of several rows cannot be "
    "linked one to one; pass tables with a row a person, and key"
)
LINK_CELLS: Final = (
    "first_size",
    "second_size",
    "people",
    "is_followed_first",
    "is_followed_second",
)
# What a class's sensitive values have in common in both releases.
VALUE_CELLS: Final = (
    *("overlap", "common_values", "first_values", "second_values", "gained_values", "lost_values"),
)
FLAGS: Final = ("is_common_first", "is_common_second", "is_followed_first", "is_followed_second")
PERSON_CELLS: Final = ("first_size", "second_size", *FLAGS, "link_size")
LINE_CELLS: Final = (
    *("kind", "first_size", "second_size", "people", "arrived", *VALUE_CELLS),
    *(*FLAGS, "link_size"),
)
CELLS_AS_BIGINT: Final = ", ".join(f"{name}::BIGINT AS {name}" for name in LINE_CELLS)


@dataclass(frozen=True)
class SensitiveColumn(Key):
    """The name of the column of which nobody must learn a person's value, or NULL."""


RELEASE_CLASSES: Final = Reduction(
    __name__,
    name="release_classes",
    words="the classes of two releases, by their sizes and sensitive values in both, and the people who are "
    "in both",
    arguments=(
        Argument("first", TABLE),
        Argument("second", TABLE),
        Argument("qi", QUASI_IDENTIFIERS),
        KEY,
        ENTITY,
        Argument("sensitive", SensitiveColumn(), optional=True),
        DROPPABLE_NULLS,
        WITHIN,
        Argument("more", Tables(optional=True, of_people=True), optional=True),
    ),
    columns=dict.fromkeys((*LINE_CELLS, "number", "is_keyed", "has_sensitive"), "BIGINT"),
    arrays=ReleaseClasses,
    reasons={"by": "it compares two releases as a whole"},
)


def columns_label(key: str | None, entity: str | None, sensitive: str | None) -> Columns:
    """What a refusal calls the columns that are asked for.

    >>> columns_label("id", None, "diagnosis").words
    'quasi-identifiers, sensitive and key'
    """
    more = ["sensitive"] * (sensitive is not None) + ["key"] * (key is not None)
    more += ["entity"] * (entity is not None)
    listed = ", ".join(["quasi-identifiers", *more[:-1]])
    return Columns(f"{listed} and {more[-1]}" if more else listed)


def refuse_roles(
    columns: list[str], key: str | None, entity: str | None, sensitive: str | None, nulls: str
) -> None:
    """Refuse a column that is given two roles, and a key where people are counted."""
    if entity is not None:
        refuse_key_with_entity(key)
    refuse_key(columns, key)
    refuse_entity(columns, entity, nulls)
    person = key if entity is None else entity
    if sensitive is None:
        return
    taken = [fold_case(each) for each in (*columns, *([] if person is None else [person]))]
    if fold_case(sensitive) in taken:
        raise OutOfDomainError(
            f"sensitive must be a column of its own, got '{sensitive}', which has another role; name the column whose values nobody must learn"
        )


def release_classes(
    first: Source,
    second: Source,
    qi: ColumnNames,
    key: str | None,
    entity: str | None,
    sensitive: str | None,
    nulls: str,
    tolerance: str | None = None,
    more: Sequence[Source] | None = None,
) -> str:
    """Count classes, pairs of classes and people of two releases, and people whom all single out together."""
    refuse_roles(list(qi), key, entity, sensitive, nulls)
    if tolerance is not None and entity is not None:
        raise OutOfDomainError(REFUSAL_TOLERANCE_OF_PEOPLE)
    person = key if entity is None else entity
    refuse_more(len(more or ()), is_keyed=person is not None)
    compared = [*qi, *([] if sensitive is None else [sensitive])]
    columns_read = [*compared, *([] if person is None else [person])]
    releases = first.guard_types([second, *(more or ())], compared)
    sides = " UNION ALL ".join(
        _side(source, side, len(releases), compared, person, entity, sensitive, nulls)
        for side, source in enumerate(releases)
    )
    label = columns_label(key, entity, sensitive).words
    keys = (
        ""
        if person is None
        else f"{_check_people(releases, label, columns_read, of_key=entity is None)},"
    )
    where = "" if person is None else "WHERE (SELECT reid_has_keys FROM reid_keys)"
    body = f"""
        WITH reid_read AS MATERIALIZED ({sides}),
        {keys}
        reid_every AS (SELECT * FROM reid_read {where}),
        reid_rows AS (SELECT * FROM reid_every WHERE side < 2)
        {
        count_lines(
            qi,
            len(releases),
            is_keyed=person is not None,
            counts_people=entity is not None,
            has_sensitive=sensitive is not None,
            allowances=allowances_of(tolerance, qi),
        )
    }"""
    checked = with_null_report_of_all([(each, compared) for each in releases], nulls, body)
    for other in releases[1:]:
        checked = releases[0].check_types(other, compared, checked)
    names = ("the first release", "the second release")
    for number, other in enumerate(releases[2:], 3):
        checked = other.check_columns(label, columns_read, checked, f"release {number}")
    of_both: str = releases[0].check_columns_of_both(
        releases[1], names, label, columns_read, checked
    )
    return of_both


def _side(
    source: Source,
    side: int,
    releases: int,
    compared: ColumnNames,
    person: str | None,
    entity: str | None,
    sensitive: str | None,
    nulls: str,
) -> str:
    """Read a release: its side, q1, q2, …, the sensitive value s, and its people, each once in a class."""
    qi = compared if sensitive is None else compared[:-1]
    read = [*compared, *filter(None, [person])]
    if entity is not None and sensitive is not None:
        source = one_row_per_value(source, qi, sensitive, entity, nulls)
        read[-1] = PERSON
    names = [f"q{place} AS {alias}" for place, alias in enumerate(_names(qi, sensitive), 1)]
    people = []
    if person is not None:
        person_alias = f"q{len(read)}"
        people = [
            f"{person_alias if side == each else 'NULL'} AS p{each + 1}" for each in range(releases)
        ]
    where = f"WHERE {none_null(compared)}" if nulls == "drop" else ""
    distinct = "DISTINCT " if entity is not None else ""
    cells = ", ".join([f"{side} AS side", *names, *people])
    return f"SELECT {distinct}{cells} FROM {source.rows(read)} {where}"


def _names(qi: ColumnNames, sensitive: str | None) -> list[str]:
    return [*aliases(len(qi)), *([] if sensitive is None else ["s"])]


def _check_people(
    releases: Sequence[Source], label: str, columns: ColumnNames, *, of_key: bool
) -> str:
    """Name reid_keys the check that people have the same type in all releases, and a key differs in each.

    It comes before people are joined: by a key that repeats, each record of one would meet each of the other.
    """
    sides = [
        f"""(SELECT {is_key(people) if of_key else "true"} AS is_key, any_value(typeof({people})) AS kind
            FROM reid_read WHERE side = {side}) AS r{side}"""
        for side, people in enumerate(f"p{place}" for place in range(1, len(releases) + 1))
    ]
    of_kind = text("key" if of_key else "entity")
    tests = [f"r{side}.is_key" for side in range(len(releases))]
    tests += [
        f"coalesce(error(reid_refusal('keys', r0.kind, r{side}.kind, {of_kind}))::BOOLEAN, true)"
        for side in range(1, len(releases))
    ]
    has_columns = " AND ".join(each.has_columns(label, columns) for each in releases)
    return f"""reid_keys AS MATERIALIZED (
          SELECT CASE WHEN {has_columns} THEN {" AND ".join(tests)} END AS reid_has_keys
          FROM {", ".join(sides)}
        )"""


def count_lines(
    columns: ColumnNames,
    releases: int,
    *,
    is_keyed: bool,
    counts_people: bool,
    has_sensitive: bool,
    allowances: Allowances,
) -> str:
    """Continue the WITH clause after reid_rows, and count the lines of the reduction from it."""
    q = aliases(len(columns))
    flags = f"{int(is_keyed)} AS is_keyed, {int(has_sensitive)} AS has_sensitive"
    s, parts = ["s"] * has_sensitive, []
    if counts_people:
        parts, rows = _people_in_classes(q), "reid_rows"
    elif is_keyed:
        parts, rows = _pair_rows(q, s), "reid_marked"
    else:
        rows = "reid_rows"
    parts += _classes(rows, q, s, is_marked=is_keyed and not counts_people)
    lines = [_class_lines(q, is_keyed=is_keyed, counts_people=counts_people)]
    if is_keyed:
        parts += (
            _moved_people(q) if counts_people else [_changes(q, "reid_pairs WHERE has_stayed = 0")]
        )
        parts.append(_arrivals(q, counts_people=counts_people))
        lines.append(_pair_lines(q, has_sensitive=has_sensitive))
        parts += combine_people(q, releases, counts_people=counts_people)
        lines += [
            f"SELECT {_line(kind, **cells)} FROM {rows}"
            for kind, cells, rows in combined_lines(releases)
        ]
    if counts_people:
        lines.append(f"SELECT {_line(2, *PERSON_CELLS)} FROM reid_people")
    if allowances:
        parts.append(link_within(q, columns, allowances, is_keyed=is_keyed))
        lines.append(f"SELECT {_line(3, *LINK_CELLS)} FROM reid_links")
    return f"""{", ".join(["", *parts])}
        SELECT {CELLS_AS_BIGINT}, count(*) AS number, {flags}
        FROM ({" UNION ALL ".join(lines)})
        GROUP BY {", ".join(LINE_CELLS)}
        ORDER BY kind ASC"""


def _line(kind: int, *shown: str, **cells: str) -> str:
    """List the cells of a line: columns by their own names, other cells, and 0 where it has none."""
    filled = {"kind": str(kind), **{name: name for name in shown}, **cells}
    return ", ".join(f"{filled.get(name, '0')} AS {name}" for name in LINE_CELLS)


def _renamed(q: Sequence[str]) -> list[str]:
    """What the columns of the second release are called, where a person is in another class there."""
    return [f"r{name}" for name in q]


def _is_same(q: Sequence[str]) -> str:
    pairs = zip(q, _renamed(q), strict=True)
    return " AND ".join(f"{name} IS NOT DISTINCT FROM {other}" for name, other in pairs)


def _pair_rows(q: Sequence[str], s: Sequence[str]) -> list[str]:
    """Name reid_pairs the rows of people in both, reid_marked all rows, with who stayed in their class.

    They are joined once, by the key alone. A person who stayed is marked in the first release.
    """
    cells, r = ", ".join([*q, *s]), _renamed(q)
    after = ", ".join(f"{name} AS {other}" for name, other in zip(q, r, strict=True))
    return [
        f"""reid_joined AS MATERIALIZED (
          SELECT {", ".join(f"a.{name}" for name in [*q, *s])}, {", ".join(r)}, b.is_there,
            CASE WHEN b.is_there = 1 AND {_is_same(q)} THEN 1 ELSE 0 END AS has_stayed
          FROM (SELECT {cells}, p1 FROM reid_rows WHERE side = 0) AS a
          LEFT JOIN (SELECT {after}, p2, 1 AS is_there FROM reid_rows WHERE side = 1) AS b
            ON a.p1 IS NOT DISTINCT FROM b.p2
        )""",
        "reid_pairs AS (SELECT * FROM reid_joined WHERE is_there = 1)",
        f"""reid_marked AS (
          SELECT {cells}, 0 AS side, has_stayed FROM reid_joined
          UNION ALL SELECT {cells}, 1, 0 FROM reid_rows WHERE side = 1
        )""",
    ]


def _classes(rows: str, q: Sequence[str], s: Sequence[str], *, is_marked: bool) -> list[str]:
    """Name reid_classes the classes of both, with their sizes and what their sensitive values share."""
    keys, people = ", ".join(q), "sum(has_stayed)" if is_marked else "0"
    sizes = ", ".join(f"count(*) FILTER (side = {side}) AS n{side + 1}" for side in (0, 1))
    counts = f"{sizes}, {people} AS people"
    if not s:
        none = ", ".join(f"0 AS {name}" for name in VALUE_CELLS)
        grouped = f"SELECT {keys}, {counts}, {none} FROM {rows} GROUP BY {keys}"
        return [f"reid_classes AS MATERIALIZED ({grouped})"]
    return [
        f"reid_cells AS MATERIALIZED (SELECT {keys}, s, {counts} FROM {rows} GROUP BY {keys}, s)",
        f"""reid_classes AS MATERIALIZED (
          SELECT {keys}, sum(n1) AS n1, sum(n2) AS n2, sum(people) AS people,
            sum(least(n1, n2)) AS overlap, count(*) FILTER (n1 > 0 AND n2 > 0) AS common_values,
            count(*) FILTER (n1 > 0) AS first_values, count(*) FILTER (n2 > 0) AS second_values,
            count(*) FILTER (n2 > n1) AS gained_values, count(*) FILTER (n1 > n2) AS lost_values
          FROM reid_cells GROUP BY {keys}
        )""",
    ]


def _class_lines(q: Sequence[str], *, is_keyed: bool, counts_people: bool) -> str:
    """Select a line for each class, with how many people stayed in it and came from another."""
    cells = {name: f"c.{name}" for name in VALUE_CELLS}
    people = "m.people" if counts_people else "c.people"
    arrived = "coalesce(v.arrived, 0)" if is_keyed else "0"
    line = _line(0, first_size="c.n1", second_size="c.n2", people=people, arrived=arrived, **cells)
    joined = f"JOIN reid_stays AS m ON {same('c', 'm', q)}" if counts_people else ""
    joined += f" LEFT JOIN reid_arrivals AS v ON {same('c', 'v', q)}" if is_keyed else ""
    return f"SELECT {line} FROM reid_classes AS c {joined}"


def _arrivals(q: Sequence[str], *, counts_people: bool) -> str:
    """Name reid_arrivals how many people of each class of the second release are only in others of the first.

    With several rows, they are the people of the first release who are not in the class there.
    """
    if counts_people:
        people = "(SELECT person FROM reid_own GROUP BY person HAVING max(in_first) = 1)"
        keys = ", ".join(f"o.{name}" for name in q)
        return f"""reid_arrivals AS (
          SELECT {keys}, count(*) AS arrived
          FROM reid_own AS o JOIN {people} AS k ON o.person IS NOT DISTINCT FROM k.person
          WHERE in_first = 0 GROUP BY {keys}
        )"""
    ends = ", ".join(f"{other} AS {name}" for name, other in zip(q, _renamed(q), strict=True))
    return f"""reid_arrivals AS (
          SELECT {ends}, sum(people) AS arrived FROM reid_changes GROUP BY {", ".join(_renamed(q))}
        )"""


def _changes(q: Sequence[str], people: str) -> str:
    """Name reid_changes the pairs of different classes that people moved between."""
    both = ", ".join([*q, *_renamed(q)])
    return f"""reid_changes AS MATERIALIZED (
          SELECT {both}, count(*) AS people FROM {people} GROUP BY {both}
        )"""


def _pair_lines(q: Sequence[str], *, has_sensitive: bool) -> str:
    """Select a line for each pair of different classes that people moved between."""
    r = _renamed(q)
    of_first, of_second = same("m", "a", q), same("m", "b", r, q)
    if not has_sensitive:
        line = _line(1, first_size="a.n1", second_size="b.n2", people="m.people")
        return f"""
            SELECT {line} FROM reid_changes AS m
            JOIN reid_classes AS a ON {of_first} JOIN reid_classes AS b ON {of_second}"""
    shown = ("people", "overlap", "common_values", "first_values", "second_values")
    line = _line(1, *shown, first_size="n1", second_size="n2")
    value = "a.s IS NOT DISTINCT FROM v.s"
    # Each value of the first class meets at most one of the second, so that their counts add up to its size.
    return f"""
            SELECT {line} FROM (
              SELECT max(m.people) AS people, sum(a.n1) AS n1, max(b.n2) AS n2,
                sum(least(a.n1, coalesce(v.n2, 0))) AS overlap, count(v.n2) AS common_values,
                count(*) AS first_values, max(b.second_values) AS second_values
              FROM reid_changes AS m
              JOIN (SELECT * FROM reid_cells WHERE n1 > 0) AS a ON {of_first}
              JOIN reid_classes AS b ON {of_second}
              LEFT JOIN (SELECT * FROM reid_cells WHERE n2 > 0) AS v ON {same("m", "v", r, q)} AND {value}
              GROUP BY {", ".join(f"m.{name}" for name in (*q, *r))}
            )"""


def _people_in_classes(q: Sequence[str]) -> list[str]:
    """Name reid_own the people of each class, reid_stays how many of a class are in it in both releases.

    A union casts the people of both to one type; coalesce would be refused before the types are checked.
    """
    keys = ", ".join(q)
    sides = " UNION ALL ".join(
        f"SELECT {keys}, side, p{side + 1} AS person FROM reid_rows WHERE side = {side}"
        for side in (0, 1)
    )
    return [
        f"""reid_own AS MATERIALIZED (
          SELECT {keys}, person, 1 - min(side) AS in_first, max(side) AS in_second
          FROM ({sides}) GROUP BY {keys}, person
        )""",
        f"""reid_stays AS (
          SELECT {keys}, sum(in_first * in_second) AS people FROM reid_own GROUP BY {keys}
        )""",
    ]


def _moved_people(q: Sequence[str]) -> list[str]:
    """Name reid_people everybody, by their classes: how many, whether one is common or theirs alone.

    Only people who have one row in each release are known to have moved from one class to the other, and min
    of one value is that value.
    """
    flags = ", ".join(
        f"max(CASE WHEN in_{side} = 1 AND {test} THEN 1 ELSE 0 END) AS is_{name}_{side}"
        for name, test in (("common", "n1 > 0 AND n2 > 0"), ("followed", "n1 = 1 AND n2 = 1"))
        for side in ("first", "second")
    )
    ends = ", ".join(
        f"min(o.{name}) FILTER (in_{side} = 1) AS {end}"
        for side, ends in (("first", q), ("second", _renamed(q)))
        for name, end in zip(q, ends, strict=True)
    )
    people = f"""reid_people AS MATERIALIZED (
          SELECT sum(in_first) AS first_size, sum(in_second) AS second_size, {flags}, {ends},
            coalesce(min(CASE WHEN in_first * in_second = 1 THEN greatest(n1, n2) END), 0) AS link_size
          FROM reid_own AS o JOIN reid_classes AS c ON {same("o", "c", q)}
          GROUP BY person
        )"""
    single = f"reid_people WHERE first_size = 1 AND second_size = 1 AND NOT ({_is_same(q)})"
    return [people, _changes(q, single)]
