"""The classes of two releases in SQL, and the people who are in both. The text is DuckDB's dialect.

Both releases are one relation, in which `side` is 0 or 1: classes are then grouped once for both, and equal
values meet without a join. `p1` and `p2` are the people of the first and second release, in a column each, so
that no cast makes one person of two.
"""

from collections.abc import Sequence

from reid_sql.reduction import PERSON
from reid_sql.reductions.releases import LINE_CELLS, VALUE_CELLS, columns_label, refuse_roles
from reid_sql.sql.people import one_row_per_value
from reid_sql.sql.records import is_key
from reid_sql.sql.source import Source
from reid_sql.sql.text import aliases, none_null, same, text

RENAMED = "r"  # before the number of a column of the second release, where a person is in another class there


def release_classes(
    first: Source,
    second: Source,
    qi: Sequence[str],
    key: str | None,
    entity: str | None,
    sensitive: str | None,
    nulls: str,
) -> str:
    """Count classes, pairs of classes and people of two releases."""
    refuse_roles(list(qi), key, entity, sensitive, nulls)
    person = key if entity is None else entity
    asked = [*qi, *([] if sensitive is None else [sensitive])]
    every = [*asked, *([] if person is None else [person])]
    sides = " UNION ALL ".join(
        _side(source, side, asked, person, entity, sensitive, nulls)
        for side, source in enumerate((first, second))
    )
    label = columns_label(key, entity, sensitive).words
    known = ""
    if person is not None:
        known = f"{_check_people(first, second, label, every, of_key=entity is None)},"
    where = "" if person is None else "WHERE (SELECT reid_has_keys FROM reid_keys)"
    body = f"""
        WITH reid_read AS MATERIALIZED ({sides}),
        {known}
        reid_rows AS (SELECT * FROM reid_read {where})
        {
        count_lines(
            len(qi),
            is_keyed=person is not None,
            counts_people=entity is not None,
            has_sensitive=sensitive is not None,
        )
    }"""
    checked = first.check_types(second, asked, _with_null_report(first, second, asked, nulls, body))
    return first.check_columns_of_both(second, label, every, checked)


def _side(
    source: Source,
    side: int,
    asked: Sequence[str],
    person: str | None,
    entity: str | None,
    sensitive: str | None,
    nulls: str,
) -> str:
    """Read a release: its side, q1, q2, …, the sensitive value s, and its people, each once in a class."""
    qi = asked if sensitive is None else asked[:-1]
    read = [*asked, *([] if person is None else [person])]
    if entity is not None and sensitive is not None:
        source = one_row_per_value(source, qi, sensitive, entity, nulls)
        read[-1] = PERSON
    names = [f"q{place} AS {alias}" for place, alias in enumerate(_names(qi, sensitive), 1)]
    people = []
    if person is not None:
        own = f"q{len(read)}"
        people = [f"{own if side == 0 else 'NULL'} AS p1", f"{own if side == 1 else 'NULL'} AS p2"]
    where = f"WHERE {none_null(asked)}" if nulls == "drop" else ""
    distinct = "DISTINCT " if entity is not None else ""
    cells = ", ".join([f"{side} AS side", *names, *people])
    return f"SELECT {distinct}{cells} FROM {source.rows(read)} {where}"


def _names(qi: Sequence[str], sensitive: str | None) -> list[str]:
    return [*aliases(len(qi)), *([] if sensitive is None else ["s"])]


def _check_people(first: Source, second: Source, label: str, asked: Sequence[str], *, of_key: bool) -> str:
    """Name reid_keys the check that people have the same type in both releases, and a key differs in each.

    It comes before people are joined: by a key that repeats, each record of one would meet each of the other.
    """
    one, other = (
        f"""(SELECT {is_key(people) if of_key else "true"} AS is_key, any_value(typeof({people})) AS kind
            FROM reid_read WHERE side = {side})"""
        for side, people in enumerate(("p1", "p2"))
    )
    kinds = f"o.kind, r.kind, {text('key' if of_key else 'entity')}"
    return f"""reid_keys AS MATERIALIZED (
          SELECT CASE WHEN {first.has_columns(label, asked)} AND {second.has_columns(label, asked)}
            THEN o.is_key AND r.is_key
              AND coalesce(error(reid_refusal('keys', {kinds}))::BOOLEAN, true) END AS reid_has_keys
          FROM {one} AS o, {other} AS r
        )"""


def _with_null_report(first: Source, second: Source, asked: Sequence[str], nulls: str, body: str) -> str:
    """Add to each line how NULLs were treated, and how many records of both releases that dropped."""
    dropped = "0::BIGINT"
    if nulls == "drop":
        counts = [f"({source.count_nulls(asked)})" for source in (first, second)]
        dropped = f"({' + '.join(counts)})::BIGINT"
    return f"""
        SELECT reid_counted.*, {dropped} AS records_dropped, {text(nulls)} AS nulls
        FROM ({body}) AS reid_counted"""


def count_lines(width: int, *, is_keyed: bool, counts_people: bool, has_sensitive: bool) -> str:
    """Continue the WITH clause after reid_rows, and count the lines of the reduction from it."""
    q, flags = aliases(width), f"{int(is_keyed)} AS is_keyed, {int(has_sensitive)} AS has_sensitive"
    parts, lines = [_classes(q, has_sensitive=has_sensitive)], [_class_lines(q, is_keyed=is_keyed)]
    if is_keyed:
        parts += _moves(q, counts_people=counts_people)
        lines.append(_pair_lines(q, has_sensitive=has_sensitive))
    if counts_people:
        parts.append(_sized_people(q))
        lines.append(_person_lines())
    return f"""{", ".join(["", *parts])}
        SELECT {", ".join(f"{name}::BIGINT AS {name}" for name in LINE_CELLS)}, count(*) AS number, {flags}
        FROM ({" UNION ALL ".join(lines)})
        GROUP BY {", ".join(LINE_CELLS)}
        ORDER BY kind ASC"""


def _line(kind: int, **cells: str) -> str:
    """List the cells of a line, 0 where it has none."""
    given = {"kind": str(kind), **cells}
    return ", ".join(f"{given.get(name, '0')} AS {name}" for name in LINE_CELLS)


def _classes(q: Sequence[str], *, has_sensitive: bool) -> str:
    """Name reid_classes the classes of both, with their sizes and what their sensitive values share."""
    keys = ", ".join(q)
    sizes = [f"count(*) FILTER (side = {side}) AS n{side + 1}" for side in (0, 1)]
    if not has_sensitive:
        none = ", ".join(f"0 AS {name}" for name in VALUE_CELLS)
        return f"""reid_classes AS MATERIALIZED (
          SELECT {keys}, {", ".join(sizes)}, {none} FROM reid_rows GROUP BY {keys}
        )"""
    return f"""reid_cells AS MATERIALIZED (
          SELECT {keys}, s, {", ".join(sizes)} FROM reid_rows GROUP BY {keys}, s
        ),
        reid_classes AS MATERIALIZED (
          SELECT {keys}, sum(n1) AS n1, sum(n2) AS n2, sum(least(n1, n2)) AS overlap,
            count(*) FILTER (n1 > 0 AND n2 > 0) AS common_values,
            count(*) FILTER (n1 > 0) AS first_values, count(*) FILTER (n2 > 0) AS second_values,
            count(*) FILTER (n2 > n1) AS gained_values, count(*) FILTER (n1 > n2) AS lost_values
          FROM reid_cells GROUP BY {keys}
        )"""


def _class_lines(q: Sequence[str], *, is_keyed: bool) -> str:
    """Select a line for each class, with how many people are in it in both releases."""
    cells = {name: f"c.{name}" for name in VALUE_CELLS}
    people = "coalesce(m.people, 0)" if is_keyed else "0"
    line = _line(0, first_size="c.n1", second_size="c.n2", people=people, **cells)
    joined = f"LEFT JOIN reid_stays AS m ON {same('c', 'm', q)}" if is_keyed else ""
    return f"SELECT {line} FROM reid_classes AS c {joined}"


def _moves(q: Sequence[str], *, counts_people: bool) -> list[str]:
    """Name reid_stays the people who are in a class in both releases, reid_changes those who moved.

    Where people may have several rows, only those who have one in each release are known to have moved; those
    who stayed are counted in each of their classes.
    """
    keys, r = ", ".join(q), [f"{RENAMED}{name}" for name in q]
    pairs = list(zip(q, r, strict=True))
    both = ", ".join((*(f"a.{name}" for name in q), *(f"b.{other}" for other in r)))
    is_same = " AND ".join(f"{name} IS NOT DISTINCT FROM {other}" for name, other in pairs)
    rows = "reid_single" if counts_people else "reid_rows"
    moves = f"""reid_moves AS MATERIALIZED (
          SELECT {both}, count(*) AS people
          FROM (SELECT {keys}, p1 FROM {rows} WHERE side = 0) AS a
          JOIN (
            SELECT {", ".join(f"{name} AS {other}" for name, other in pairs)}, p2 FROM {rows} WHERE side = 1
          ) AS b ON a.p1 IS NOT DISTINCT FROM b.p2
          GROUP BY {both}
        )"""
    changes = f"reid_changes AS (SELECT * FROM reid_moves WHERE NOT ({is_same}))"
    if not counts_people:
        return [moves, f"reid_stays AS (SELECT {keys}, people FROM reid_moves WHERE {is_same})", changes]
    single = """reid_single AS MATERIALIZED (
          SELECT *
          FROM (SELECT *, count(*) OVER (PARTITION BY side, p1, p2) AS in_release FROM reid_rows)
          WHERE in_release = 1
        )"""
    stays = f"""reid_stays AS MATERIALIZED (
          SELECT {keys}, count(*) AS people
          FROM (SELECT {keys} FROM reid_persons GROUP BY {keys}, person HAVING count(*) = 2)
          GROUP BY {keys}
        )"""
    # A union casts what coalesce refuses to bind before the check of the types is read.
    persons = f"""reid_persons AS (
          SELECT {keys}, side, p1 AS person FROM reid_rows WHERE side = 0
          UNION ALL SELECT {keys}, side, p2 FROM reid_rows WHERE side = 1
        )"""
    return [single, moves, persons, stays, changes]


def _pair_lines(q: Sequence[str], *, has_sensitive: bool) -> str:
    """Select a line for each pair of different classes that people moved between."""
    r = [f"{RENAMED}{name}" for name in q]
    own, other = same("m", "a", q), same("m", "b", r, q)
    if not has_sensitive:
        line = _line(1, first_size="a.n1", second_size="b.n2", people="m.people")
        return f"""
            SELECT {line} FROM reid_changes AS m
            JOIN reid_classes AS a ON {own} JOIN reid_classes AS b ON {other}"""
    line = _line(
        1,
        first_size="n1",
        second_size="n2",
        people="people",
        overlap="overlap",
        common_values="common_values",
        first_values="first_values",
        second_values="second_values",
    )
    value = "a.s IS NOT DISTINCT FROM v.s"
    keys = ", ".join(f"m.{name}" for name in (*q, *r))
    # Each value of the first class meets at most one of the second, so that their counts add up to its size.
    return f"""
            SELECT {line} FROM (
              SELECT max(m.people) AS people, sum(a.n1) AS n1, max(b.n2) AS n2,
                sum(least(a.n1, coalesce(v.n2, 0))) AS overlap, count(v.n2) AS common_values,
                count(*) AS first_values, max(b.second_values) AS second_values
              FROM reid_changes AS m
              JOIN (SELECT * FROM reid_cells WHERE n1 > 0) AS a ON {own}
              JOIN reid_classes AS b ON {other}
              LEFT JOIN (SELECT * FROM reid_cells WHERE n2 > 0) AS v ON {same("m", "v", r, q)} AND {value}
              GROUP BY {keys}
            )"""


def _sized_people(q: Sequence[str]) -> str:
    """Name reid_people everybody, by their classes: how many, whether one is common or theirs alone."""
    common = "max(CASE WHEN side = {side} AND n1 > 0 AND n2 > 0 THEN 1 ELSE 0 END)"
    alone = "max(CASE WHEN side = {side} AND n1 = 1 AND n2 = 1 THEN 1 ELSE 0 END)"
    flags = ", ".join(
        f"{test.format(side=side)} AS is_{name}_{which}"
        for name, test in (("common", common), ("followed", alone))
        for side, which in enumerate(("first", "second"))
    )
    return f"""reid_people AS (
          SELECT count(*) FILTER (side = 0) AS first_size, count(*) FILTER (side = 1) AS second_size, {flags},
            coalesce(min(CASE WHEN in_class = 2 THEN greatest(n1, n2) END), 0) AS link_size
          FROM (
            SELECT o.side, o.person, c.n1, c.n2,
              count(*) OVER (PARTITION BY {", ".join(f"o.{name}" for name in q)}, o.person) AS in_class
            FROM reid_persons AS o
            JOIN reid_classes AS c ON {same("o", "c", q)}
          )
          GROUP BY person
        )"""


def _person_lines() -> str:
    names = ("first_size", "second_size", "link_size")
    flags = [f"is_{name}_{side}" for name in ("common", "followed") for side in ("first", "second")]
    return f"SELECT {_line(2, **{name: name for name in (*names, *flags)})} FROM reid_people"
