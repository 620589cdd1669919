"""People who have all the points that an attacker knows of one: items of a set, or rows of a table."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, Final

from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes.matching import Matches
from reid_sql.parameters import (
    SEED,
    Column,
    ColumnNames,
    Columns,
    Number,
    Numbers,
    fold_case,
    list_columns,
)
from reid_sql.parameters.domain import NULL_TOO, Domain, is_listed, is_number, list_text
from reid_sql.parameters.tolerance import allowances_of
from reid_sql.reduction import DROPPABLE_NULLS, TBL, WITHIN, Argument, Reduction
from reid_sql.sql.records import with_null_report
from reid_sql.sql.text import Source, name, refusal, text
from reid_sql.sql.tolerance import join_within, tolerance_tables

Level = str | float
Levels = Mapping[str, Sequence[Level]]
INTERVAL: Final = re.compile(r"[1-9]\d{0,8} (second|minute|hour|day|week|month|year)s?")
MAX_RESOLUTIONS: Final = 64
REMEDY: Final = (
    "write {'time': ['1 hour', '1 day'], 'income': [100, 1000], 'place': ['place', 'district']}"
)


@dataclass(frozen=True)
class Bins(Domain):
    """For a column its resolutions: an interval of time, the width of a bin, or a column; or NULL."""

    is_in_checks = False
    label = "resolutions by column: times such as `'1 day'`, widths of bins, or columns" + NULL_TOO
    hint = "Mapping[str, Sequence[str | float]] | None"

    def read_sql(self, name: str, value: Any) -> dict[str, list[Level]] | None:  # noqa: ANN401 - as SQL gave it
        """Read a STRUCT, a MAP or a mapping of lists."""
        if value is None:
            return None
        mapping = dict(value) if isinstance(value, Mapping) else {}
        levels = {
            column: list(each) if is_listed(each) else [each] for column, each in mapping.items()
        }
        combinations = prod(map(len, levels.values()))
        is_read = all(isinstance(column, str) for column in levels) and all(
            _is_level(level) for each in levels.values() for level in each
        )
        if not levels or not is_read or not 1 <= combinations <= MAX_RESOLUTIONS:
            raise OutOfDomainError(
                f"{name} must be resolutions by column, in at most {MAX_RESOLUTIONS} combinations, got {list_text(value)}; {REMEDY}"
            )
        return {
            key: [each if isinstance(each, str) else float(each) for each in listed]
            for key, listed in levels.items()
        }

    from_python = read_sql

    def columns_in(self, value: Any, table: str) -> Sequence[str]:  # noqa: ANN401, ARG002 - a checked argument
        """The coarser columns."""
        levels = [level for each in (value or {}).values() for level in each]
        return [
            level for level in levels if isinstance(level, str) and not INTERVAL.fullmatch(level)
        ]


def _is_level(level: Any) -> bool:  # noqa: ANN401 - as it may be
    return bool(level) if isinstance(level, str) else is_number(level) and 0 < level < float("inf")


def list_resolutions(bins: Levels) -> list[tuple[str, dict[str, Level]]]:
    """Combine the resolutions of all columns, each with its name.

    >>> [name for name, _ in list_resolutions({"day": ["1 day", "7 days"], "place": ["district"]})]
    ['day: 1 day, place: district', 'day: 7 days, place: district']
    """
    chosen = [dict(zip(bins, each, strict=True)) for each in product(*bins.values())]
    return [
        (", ".join(f"{key}: {_shown(level)}" for key, level in each.items()), each)
        for each in chosen
    ]


def _shown(level: Level) -> str:
    return level if isinstance(level, str) else f"{level:.15g}"


PRIME: Final = 2147483647  # modulus of the draws, the same on every engine
ALL_POINTS: Final = 2147483647  # a number of points that nobody has: all of a person's are known
# points that are joined one by one; the few who have them are compared with the others
MAX_JOINED: Final = 4
ENTITY_COLUMN: Final = Column("entity and columns")
ENTITY_AND_COLUMNS: Final = Columns("entity and columns")
KNOWN_ROWS: Final = Numbers(
    Number(
        "a whole number of known rows from 1 to 16",
        "pass how many rows of a person an attacker knows, or NULL for all",
        1.0,
        16.0,
        whole=True,
    ),
    optional=True,
    is_one_enough=True,
    example="2 or [1, 2, 3, 4]",
)
SAMPLES: Final = Number(
    "a whole number of draws from 2 to 1e+8",
    "pass how many targets to draw, such as 10000",
    2.0,
    1e8,
    whole=True,
)
COMBINATIONS: Final = Number(
    "a whole number of combinations from 0 to 1e+12",
    "pass up to how many combinations of items to count exactly, such as 1000000",
    0.0,
    1e12,
    whole=True,
)
DEFAULT_POINTS: Final = (1, 2, 3, 4)
MAX_BINNED: Final = "9e15"  # below which a double is exact
REMEDY_BINS: Final = "cast them in a view, or name another column"
MATCHES: Final = Reduction(
    __name__,
    name="matches",
    words="how many people have the rows that an attacker knows of a target, with the weight of such targets",
    arguments=(
        TBL,
        Argument("entity", ENTITY_COLUMN),
        Argument("columns", ENTITY_AND_COLUMNS),
        Argument("points", KNOWN_ROWS, DEFAULT_POINTS),
        Argument("exact_up_to", COMBINATIONS, 1_000_000),
        Argument("samples", SAMPLES, 10_000),
        Argument("seed", SEED, 0),
        DROPPABLE_NULLS,
        WITHIN,
        Argument("bins", Bins(), optional=True),
    ),
    columns={
        "points": "BIGINT",  # 0 where all of a person's are known
        "matches": "BIGINT",
        "weight": "DOUBLE",
        "people": "BIGINT",
        "people_with_fewer": "BIGINT",
        "draws": "BIGINT",
        "place": "BIGINT",
        "resolution": "VARCHAR",
    },
    arrays=Matches,
    reasons={"by": "its targets are drawn from the people of one table"},
)


def known_points(points: Sequence[float] | None) -> list[int]:
    """Return each number of points once, in order; of NULL, more than anybody has.

    >>> known_points([2, 1, 2]), known_points(None) == [ALL_POINTS]
    ([1, 2], True)
    """
    return [ALL_POINTS] if points is None else sorted({int(each) for each in points})


def matches(
    *,
    tbl: Source,
    entity: str,
    columns: ColumnNames,
    points: Sequence[float] | None,
    tolerance: str | None,
    bins: Levels | None,
    **draws: Any,  # noqa: ANN401 - how targets are drawn, and what NULL is
) -> str:
    """Count at each resolution of the columns; without bins there is one, which has no name."""
    label = ENTITY_AND_COLUMNS.words
    names = list_columns(label, [entity, *columns], fold_case)
    draws |= {"columns": names, "points": known_points(points)}
    if bins is None:
        return _name_resolution(_count(tbl=tbl, tolerance=tolerance, **draws), 0, "NULL::VARCHAR")
    folded = {fold_case(each) for each in names[1:]}
    for column in bins:
        if fold_case(column) not in folded:
            raise OutOfDomainError(
                f"bins must name some of the columns, got '{column}'; add it to columns"
            )
    if tolerance is not None:
        raise OutOfDomainError(
            "bins must be left out with tolerance, got both; ask for one after the other"
        )
    parts = []
    for place, (resolution, levels) in enumerate(list_resolutions(bins)):
        body = _count(tbl=coarsen(tbl, label, names, levels), **draws)
        parts.append(_name_resolution(body, place, text(resolution)))
    return " UNION ALL ".join(parts)


def _count(
    *,
    tbl: Source,
    columns: ColumnNames,
    points: Sequence[int],
    exact_up_to: int,
    samples: int,
    seed: int,
    nulls: str,
    tolerance: str | None = None,
) -> str:
    """Count by each number of points; the first name is the person's column, the others make a point."""
    near, holders = "", "reid_coded"
    allowances = {at + 1: each for at, each in allowances_of(tolerance, columns[1:]).items()}
    if allowances:  # then reid_holders names who has a point within the tolerance of which
        holders, point = "reid_holders", [f"q{place}" for place in range(2, len(columns) + 1)]
        exact = [each for each in point if int(each[1:]) not in allowances]
        near = f"""reid_points AS MATERIALIZED (SELECT DISTINCT i AS id, {", ".join(point)} FROM reid_coded),
        {tolerance_tables(columns, "reid_points", allowances)},
        reid_holders AS MATERIALIZED (
          SELECT DISTINCT p, n.id AS i
          FROM reid_coded JOIN ({join_within(exact, allowances)}) AS n ON reid_coded.i = n.other
        ),"""
    combinations = " UNION ALL ".join([*map(_combinations, points), DRAWN_KNOWLEDGE])
    body = f"""
        {_code(tbl.rows(columns, drop_nulls=nulls == "drop"), len(columns), has_values=bool(near))},
        {near}
        {_totals(points, exact_up_to)},
        {_draw_turns(samples, seed)},
        {SETS},
        {_draw_points(max(points), seed)},
        reid_knowledge AS MATERIALIZED (
          SELECT row_number() OVER () AS id, points, known, weight
          FROM (
            SELECT points, known, sum(weight ORDER BY weight ASC) AS weight
            FROM ({combinations}) GROUP BY points, known
          )
        ),
        {_match(max(points), holders)}
        SELECT points % {ALL_POINTS} AS points, matches, sum(weight ORDER BY weight ASC) AS weight,
          people, people_with_fewer,
          CASE WHEN exact THEN 0 ELSE {samples} END::BIGINT AS draws
        FROM reid_matched JOIN reid_total USING (points)
        GROUP BY ALL ORDER BY points ASC, matches ASC"""
    body = with_null_report(tbl, columns, nulls, body)
    return tbl.check_columns(ENTITY_AND_COLUMNS.words, columns, body)


def _name_resolution(body: str, place: int, resolution: str) -> str:
    named = f"{place}::BIGINT AS place, {resolution} AS resolution"
    return f"SELECT reid_rows.*, {named} FROM ({body}) AS reid_rows"


def coarsen(
    source: Source, label: str, columns: ColumnNames, levels: Mapping[str, Level]
) -> Source:
    """The table with the columns at these resolutions, under their own names."""
    by_name = {fold_case(column): level for column, level in levels.items()}
    chosen = [(column, by_name.get(fold_case(column))) for column in columns]
    read = [_column_of(column, level) for column, level in chosen]
    cells = ", ".join(
        f"{_cell(f'q{place}', column, level)} AS {name(column)}"
        for place, (column, level) in enumerate(chosen, 1)
    )
    query = f"SELECT {cells} FROM {source.rows(read)}"
    return source.derive(source.check_columns(label, read, query))


def _column_of(column: str, level: Level | None) -> str:
    return level if isinstance(level, str) and not INTERVAL.fullmatch(level) else column


def _cell(cell: str, column: str, level: Level | None) -> str:
    """The bin of a value; NULL stays NULL, and a value that has no bin is refused."""
    if level is None or _column_of(column, level) == level:
        return cell
    rule = f"bins must fit the values of '{column}', got some that are no"
    if isinstance(level, str):
        sentence = f"{rule} dates or times for '{level}'; {REMEDY_BINS}"
        moment = f"time_bucket(INTERVAL {text(level)}, try_cast({cell}::VARCHAR AS TIMESTAMP))"
        bin_or_refusal = f"coalesce({moment}, {refusal(sentence, 'TIMESTAMP')})"
        return f"CASE WHEN {cell} IS NOT NULL THEN {bin_or_refusal} END"
    sentence = f"{rule} numbers below {MAX_BINNED}; {REMEDY_BINS}"
    number = f"try_cast({cell}::VARCHAR AS DOUBLE)"
    return f"""CASE WHEN {cell} IS NULL THEN NULL WHEN abs({number}) < {MAX_BINNED}
      THEN floor({number} / {level!r}) ELSE {refusal(sentence, "DOUBLE")} END"""


def _code(rows: str, width: int, *, has_values: bool) -> str:
    """Begin the WITH clause: people and points are numbered in order, and each person's points counted."""
    names = [f"q{place}" for place in range(1, width + 1)]
    order = ", ".join(f"{name} ASC NULLS LAST" for name in names[1:])
    values = f", {', '.join(names[1:])}" if has_values else ""
    return f"""WITH reid_coded AS MATERIALIZED (
          SELECT dense_rank() OVER (ORDER BY q1 ASC NULLS LAST) AS p,
            dense_rank() OVER (ORDER BY {order}) AS i{values}
          FROM (SELECT DISTINCT {", ".join(names)} FROM {rows})
        ),
        reid_sizes AS MATERIALIZED (SELECT p, count(*) AS size FROM reid_coded GROUP BY p)"""


# The points of targets, rarest first: of all people only where combinations of some number are all counted.
SETS: Final = """reid_sets AS MATERIALIZED (
          SELECT p, i, size, row_number() OVER (PARTITION BY p ORDER BY support ASC, i ASC) AS place
          FROM reid_coded JOIN reid_sizes USING (p)
          JOIN (SELECT i, count(*) AS support FROM reid_coded GROUP BY i) USING (i)
          WHERE p IN (
            SELECT p FROM reid_turns
            UNION ALL SELECT p FROM reid_sizes WHERE (SELECT bool_or(exact) FROM reid_total)
          )
        ),
        reid_exact AS MATERIALIZED (
          SELECT reid_total.points, p, i, size, place FROM reid_sets, reid_total WHERE exact
        )"""


def _totals(points: Sequence[int], exact_up_to: int) -> str:
    """Count for each number of points the people, those with fewer, and whether all combinations are few.

    Each person has as many combinations as there are choices of so many points, or one where they have fewer.
    """
    choices = f"CASE WHEN size > points THEN {_choose('size', 'points')} ELSE 1 END"
    listed = ", ".join(f"({each})" for each in points)
    return f"""reid_total AS MATERIALIZED (
          SELECT points, sum(number)::BIGINT AS people, sum(number * {choices}) <= {exact_up_to} AS exact,
            sum(CASE WHEN size < points AND points < {ALL_POINTS} THEN number ELSE 0 END)::BIGINT
              AS people_with_fewer
          FROM (SELECT size, count(*) AS number FROM reid_sizes GROUP BY size),
            (VALUES {listed}) AS reid_points(points)
          GROUP BY points
        )"""


def _combinations(points: int) -> str:
    """Select every combination of points of every person, or all that a person has; each person weighs 1."""
    of_few = f"""
              SELECT points, list(i ORDER BY place ASC) AS known, 1::DOUBLE AS weight
              FROM reid_exact WHERE points = {points} AND size <= {points} GROUP BY points, p"""
    if points == ALL_POINTS:
        return of_few
    items = ", ".join(f"s{place}.i" for place in range(1, points + 1))
    joins = " ".join(
        f"JOIN reid_exact s{place} ON s{place}.points = s1.points AND s{place}.p = s1.p "
        f"AND s{place}.place > s{place - 1}.place"
        for place in range(2, points + 1)
    )
    return f"""{of_few}
              UNION ALL
              SELECT s1.points, [{items}], 1::DOUBLE / {_choose("s1.size", str(points))}
              FROM reid_exact s1 {joins}
              WHERE s1.points = {points} AND s1.size > {points}"""


def _draw_turns(samples: int, seed: int) -> str:
    """Draw targets in rounds, each person once a round."""
    order = _scramble(_scramble(seed, 0), "p")  # the inner one is a constant
    return f"""reid_turns AS MATERIALIZED (
          SELECT p, unnest(range(({samples} + people - 1) // people)) AS turn
          FROM reid_sizes, (SELECT max(people) AS people FROM reid_total HAVING NOT bool_and(exact))
          ORDER BY turn ASC, {order} ASC, p ASC LIMIT {samples}
        )"""


def _draw_points(most: int, seed: int) -> str:
    """Give each of a target's points its turn: with fewer an attacker knows the first of them."""
    return f"""reid_drawn AS MATERIALIZED (
          SELECT p, turn, i, place, row_number() OVER (
            PARTITION BY p, turn ORDER BY {_scramble("start", "i")} ASC, i ASC
          ) AS rank
          FROM reid_sets JOIN (
            SELECT *, {_scramble(seed, "turn + 1", "p")} AS start FROM reid_turns
          ) USING (p)
          QUALIFY rank <= {most}
        )"""


# What is known of each drawn target, for each number of points that is not counted exactly.
DRAWN_KNOWLEDGE: Final = """
              SELECT points, list(i ORDER BY place ASC) AS known, 1::DOUBLE AS weight
              FROM reid_drawn JOIN reid_total ON rank <= points
              WHERE NOT exact GROUP BY points, p, turn"""


def _match(most: int, holders: str) -> str:
    """Count the people who have all points of each combination; one of fewer points repeats its last.

    All who have a point match it alone. Of more, the rarest come first, so that few people are left to
    compare with the others. No semi join moves before the joins that it depends on: inner joins would be
    put in another order, by the person alone. A condition in place of the first NULL would let DuckDB expect
    a fifth of the combinations, and build tables of all pairs.
    """
    others = ", ".join(
        f"list_extract(known, least({place}, len(known))) AS i{place}"
        for place in range(2, MAX_JOINED + 1)
    )
    joins = " ".join(
        f"SEMI JOIN {holders} c{place} ON c{place}.p = c1.p AND c{place}.i = i{place}"
        for place in range(2, min(most, MAX_JOINED) + 1)
    )
    found = f"""SELECT id, known, c1.p
            FROM (
              SELECT id, known, CASE WHEN len(known) > 1 THEN list_extract(known, 1) END AS i1, {others}
              FROM reid_knowledge
            )
            JOIN {holders} c1 ON c1.i = i1 {joins}"""
    if most > MAX_JOINED:
        found = f"""SELECT id, p
            FROM (
              SELECT id, p, greatest(len(known), {MAX_JOINED}) - {MAX_JOINED} + 1 AS others,
                unnest(list_slice(known, least({MAX_JOINED}, len(known)), len(known))) AS i
              FROM ({found})
            ) JOIN {holders} USING (p, i)
            GROUP BY id, p HAVING count(*) = any_value(others)"""
    return f"""reid_matched AS (
          SELECT points, weight, matches FROM reid_knowledge JOIN (
            SELECT id, count(*) AS matches FROM ({found}) GROUP BY id
          ) USING (id)
          UNION ALL
          SELECT points, weight, matches FROM reid_knowledge JOIN (
            SELECT i, count(*) AS matches FROM {holders} GROUP BY i
          ) ON i = list_extract(known, 1)
          WHERE len(known) = 1
        )"""


def _choose(n: str, k: str) -> str:
    """Count the choices of k of n things: the product of (n - i + 1) / i over i = 1 … k."""
    return f"""list_reduce(list_concat(list_value(1::DOUBLE), range(1, {k} + 1)::DOUBLE[]),
            lambda reid_product, reid_i: reid_product * ({n} - reid_i + 1) / reid_i)"""


def _scramble(*numbers: str | int) -> str:
    """Scramble whole numbers below 2^31 - 1, one after the other: the same on every engine.

    No product leaves 63 bits.
    """
    first = f"(reid_x * 48271 + reid_y * 69621 + 11) % {PRIME}"
    scrambled = _square(_square(f"({first})", 16807, 7), 48271, 3)
    return f"""list_reduce([{", ".join(map(str, numbers))}]::BIGINT[],
                    lambda reid_x, reid_y: {scrambled})"""


def _square(z: str, a: int, b: int) -> str:
    return f"(({z} * {z} + {z} * {a} + {b}) % {PRIME})"
