"""Two tables and their join: who is in a small class of it, and in each table alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes.joins import ALL, ALONE, JOINED_CLASS, WITHOUT, JoinLines
from reid_sql.parameters import (
    ColumnNames,
    Columns,
    Domain,
    Key,
    Table,
    fold_case,
    list_columns,
    list_text,
)
from reid_sql.parameters.domain import is_listed
from reid_sql.parameters.words import NAMES_SCHEMA
from reid_sql.reduction import DROPPABLE_NULLS, Argument, Reduction, refuse_entity
from reid_sql.sql.records import with_null_report_of_all
from reid_sql.sql.spelling import without_marks, without_writing
from reid_sql.sql.text import Source, none_null, text

LEFT, RIGHT = "left", "right"
ON: Final = "on"
TABLES: Final = {LEFT: "the left table", RIGHT: "the right table"}


@dataclass(frozen=True)
class JoinedTable(Table):
    """One of two tables that are joined; `on`, or the entity, identifies people, never a row."""

    def has_people(self, *, by_entity: bool) -> bool:  # noqa: ARG002 - in no case
        """No row is counted for a person."""
        return False

    def has_codes(self) -> bool:
        """Its values are those of people."""
        return True


@dataclass(frozen=True)
class LeftColumns(Columns):
    """Columns of the left table."""

    def columns_in(self, value: Any, table: str) -> Sequence[str] | None:  # noqa: ANN401 - as the base
        """The columns, none of the right table."""
        return () if table == RIGHT else super().columns_in(value, table)


@dataclass(frozen=True)
class RightColumns(Columns):
    """Columns of the right table, which a check of the gate names."""

    form = "names"
    is_in_checks = True
    schema = NAMES_SCHEMA

    def columns_in(self, value: Any, table: str) -> Sequence[str] | None:  # noqa: ANN401 - as the base
        """The columns, none of the left table."""
        return () if table == LEFT else super().columns_in(value, table)


@dataclass(frozen=True)
class LeftEntity(Key):
    """The column of the left table that identifies people, or NULL."""

    def columns_in(self, value: Any, table: str) -> Sequence[str]:  # noqa: ANN401 - a checked argument
        """The column, which the right table lacks."""
        return () if table == RIGHT else super().columns_in(value, table)


@dataclass(frozen=True)
class JoinColumns(Domain):
    """The columns by which tables are joined: names that both have, or a name of right for each of left."""

    role = "key"
    form = "names"
    schema = NAMES_SCHEMA
    label = "column names, or pairs such as `{'id': 'person_id'}` where `right` has other names"
    hint = "str | Sequence[str] | Mapping[str, str]"

    def read_sql(self, name: str, value: Any) -> dict[str, str]:  # noqa: ANN401 - as SQL gave it
        """Read names, or a STRUCT, MAP or mapping of pairs."""
        if isinstance(value, Mapping):
            names = [list(value), list(value.values())]
        else:
            names = [
                [value] if isinstance(value, str) else list(value) if is_listed(value) else []
            ] * 2
        if not names[0] or not all(isinstance(each, str) for side in names for each in side):
            raise OutOfDomainError(
                f"{name} must be column names, or pairs of them, got {list_text(value)}; write ['id'], or {{'id': 'pid'}} if right calls it pid"
            )
        left, right = (list_columns(name, side, fold_case) for side in names)
        return dict(zip(left, right, strict=True))

    from_python = read_sql

    def columns_in(self, value: Any, table: str) -> Sequence[str]:  # noqa: ANN401 - a checked argument
        """The columns of the table."""
        pairs = self.read_sql(ON, value)
        return list(pairs.values()) if table == RIGHT else list(pairs)


JOIN: Final = Reduction(
    __name__,
    name="join",
    words="who is in a small class of a join, and in each of its tables alone",
    arguments=(
        Argument(LEFT, JoinedTable()),
        Argument(RIGHT, JoinedTable()),
        Argument(ON, JoinColumns()),
        Argument("qi", LeftColumns("quasi-identifiers", table=TABLES[LEFT])),
        Argument("right_qi", RightColumns("right_qi", table=TABLES[RIGHT])),
        Argument("entity", LeftEntity(), optional=True),
        Argument("k", JOINED_CLASS, 2),
        DROPPABLE_NULLS,
    ),
    columns={
        "kind": "BIGINT",
        "column_name": "VARCHAR",
        "k": "BIGINT",
        "people": "BIGINT",
        "below_left": "BIGINT",
        "below_right": "BIGINT",
        "below_joined": "BIGINT",
        "singled_out": "BIGINT",
        "several_rows": "BIGINT",
        "left_people": "BIGINT",
        "right_people": "BIGINT",
        "matched_right": "BIGINT",
        "without_key": "BIGINT",
        "repeated_keys": "BIGINT",
        "written_otherwise": "BIGINT",
    },
    arrays=JoinLines,
    reasons={"by": "it joins two tables as a whole"},
)


def join(
    left: Source,
    right: Source,
    on: Mapping[str, str],
    qi: ColumnNames,
    right_qi: ColumnNames,
    entity: str | None,
    k: int,
    nulls: str,
) -> str:
    """Count the people of the join by their classes, with all columns of right, one alone, all but one.

    A class counts people: by the entity, else by the values of `on`. Each person has the worst of their rows.
    A row without a value of `on` matches nothing; without an entity it is one person of its own table.
    """
    refuse_entity(list(qi), entity, nulls)
    for names, keys, label in ((qi, on, "qi"), (right_qi, on.values(), "right_qi")):
        taken = {fold_case(each) for each in keys}
        for column in names:
            if fold_case(column) in taken:
                raise OutOfDomainError(
                    f"{ON} must not be a quasi-identifier, got '{column}'; leave it out of {label}"
                )
    plan = _Plan(len(on), len(qi), len(right_qi), has_entity=entity is not None)
    left_columns = [*qi, *on, *([] if entity is None else [entity])]
    right_columns = [*right_qi, *on.values()]
    counted = f"""
        WITH {plan.read(left, right, left_columns, right_columns, nulls)},
        {plan.join()},
        {plan.totals()},
        reid_lines AS ({" UNION ALL ".join(plan.lines(right_qi, k))})
        SELECT kind, column_name, {int(k)}::BIGINT AS k, people, below_left, below_right, below_joined,
          singled_out, several_rows, left_people, right_people, matched_right, without_key, repeated_keys,
          written_otherwise
        FROM reid_lines, reid_total ORDER BY kind ASC, column_name ASC"""
    body = with_null_report_of_all([(left, qi), (right, right_qi)], nulls, counted)
    label = "quasi-identifiers and on" if entity is None else "quasi-identifiers, on and entity"
    checked = right.check_columns("right_qi and on", right_columns, body, TABLES[RIGHT])
    return left.check_columns(label, left_columns, checked, TABLES[LEFT])


class _Plan:
    """The names of the plan: a… and b… are the quasi-identifiers, h… and g… on, p… people."""

    def __init__(self, keys: int, left: int, right: int, *, has_entity: bool) -> None:
        self.a, self.b = _names("a", left), _names("b", right)
        self.h, self.g = _names("h", keys), _names("g", keys)
        self.has_entity = has_entity
        self.p = ["p1"] if has_entity else _names("p", keys)
        self.on = " AND ".join(f"o.{h} = t.{g}" for h, g in zip(self.h, self.g, strict=True))

    def read(
        self,
        left: Source,
        right: Source,
        left_columns: Sequence[str],
        right_columns: Sequence[str],
        nulls: str,
    ) -> str:
        """Read each distinct row of both tables once, with the number of its records."""
        sides = (
            (
                "reid_own",
                left,
                left_columns,
                [*self.a, *self.h, *(["p1"] if self.has_entity else [])],
                self.h,
            ),
            ("reid_theirs", right, right_columns, [*self.b, *self.g], self.g),
        )
        parts = []
        for side, source, columns, names, keys in sides:
            width = len(self.a if side == "reid_own" else self.b)
            cells = ", ".join(f"q{place} AS {alias}" for place, alias in enumerate(names, 1))
            where = f"WHERE {none_null(columns[:width])}" if nulls == "drop" else ""
            has_key = " AND ".join(f"{source.without_nan(key)} IS NOT NULL" for key in keys)
            parts.append(f"""{side} AS MATERIALIZED (
          SELECT *, {has_key} AS has_key FROM (
            SELECT {cells}, count(*) AS records FROM {source.rows(columns)} {where} GROUP BY ALL
          )
        )""")
        kinds = [
            f"SELECT coalesce(error(reid_refusal('keys', o.kind, t.kind, {text(ON)}))::BOOLEAN, true) "
            f"FROM (SELECT any_value(typeof({h})) AS kind FROM reid_own) AS o, "
            f"(SELECT any_value(typeof({g})) AS kind FROM reid_theirs) AS t"
            for h, g in zip(self.h, self.g, strict=True)
        ]
        tests = " AND ".join(f"({each})" for each in kinds)
        return f"""{", ".join(parts)},
        reid_keys AS MATERIALIZED (SELECT {tests} AS is_like)"""

    def join(self) -> str:
        """Join the rows with a key; where people are named, the others of left stay people there."""
        left_columns = ["p1"] if self.has_entity else self.h
        people = [f"o.{each} AS {p}" for each, p in zip(left_columns, self.p, strict=True)]
        cells = ", ".join(
            [*people, *(f"o.{each}" for each in self.a), *(f"t.{each}" for each in self.b)]
        )
        where = "WHERE has_key AND (SELECT is_like FROM reid_keys)"
        return f"""reid_joined AS MATERIALIZED (
          SELECT DISTINCT {cells}
          FROM (FROM reid_own {where}) AS o JOIN (FROM reid_theirs {where}) AS t ON {self.on}
        ),
        reid_left_people AS MATERIALIZED ({self._worst_left()})"""

    def _worst_left(self) -> str:
        """The size of the smallest class of each person in the left table alone."""
        a, p = ", ".join(self.a), ", ".join(self.p)
        if self.has_entity:
            sized = f"""
              SELECT p1, count(*) OVER (PARTITION BY {a}) AS size
              FROM (SELECT DISTINCT p1, {a} FROM reid_own)"""
            return f"SELECT p1, min(size) AS size FROM ({sized}) GROUP BY p1"
        keys = ", ".join(f"{h} AS {p}" for h, p in zip(self.h, self.p, strict=True))
        sized = f"""
              SELECT {keys}, has_key,
                sum(CASE WHEN has_key THEN 1 ELSE records END) OVER (PARTITION BY {a}) AS size
              FROM reid_own"""
        return f"SELECT {p}, min(size) AS size FROM ({sized}) WHERE has_key GROUP BY {p}"

    def _worst_right(self, b: Sequence[str]) -> str:
        """The same in the right table alone, by some columns; where people are named, of who match it."""
        p, by = ", ".join(self.p), ", ".join(["true", *b])
        if self.has_entity:
            distinct = f"SELECT DISTINCT {', '.join([*self.p, *b])} FROM reid_joined"
            sized = f"SELECT p1, count(*) OVER (PARTITION BY {by}) AS size FROM ({distinct})"
            return f"SELECT p1, min(size) AS size FROM ({sized}) GROUP BY p1"
        keys = ", ".join(f"{g} AS {p}" for g, p in zip(self.g, self.p, strict=True))
        distinct = f"""
              SELECT {", ".join([*b, *self.g])}, has_key,
                CASE WHEN any_value(has_key) THEN 1 ELSE sum(records) END AS number
              FROM reid_theirs GROUP BY ALL"""
        sized = f"SELECT {keys}, has_key, sum(number) OVER (PARTITION BY {by}) AS size FROM ({distinct})"
        return f"SELECT {p}, min(size) AS size FROM ({sized}) WHERE has_key GROUP BY {p}"

    def totals(self) -> str:
        """Count what is the same whichever columns are joined: people, rows without a key, repeats."""
        p, keys = ", ".join(self.p), ", ".join(self.h)
        missing = [
            f"(SELECT coalesce(sum(records), 0) FROM {side} WHERE NOT has_key)"
            for side in ("reid_own", "reid_theirs")
        ]
        known_left = "(SELECT count(*) FROM reid_left_people)"
        left = known_left if self.has_entity else f"{known_left} + {missing[0]}"
        right = f"(SELECT count(*) FROM (SELECT DISTINCT {', '.join(self.g)} FROM reid_theirs WHERE has_key))"
        matched = f"""(SELECT count(*) FROM (
              SELECT DISTINCT {", ".join(self.g)} FROM reid_theirs AS t
              SEMI JOIN (FROM reid_own WHERE has_key AND (SELECT is_like FROM reid_keys)) AS o ON {self.on}
              WHERE has_key))"""
        repeated = "0"
        if not self.has_entity:
            repeated = f"""(SELECT count(*) FROM (
              SELECT {keys} FROM reid_own WHERE has_key GROUP BY {keys} HAVING sum(records) > 1))"""
        several = (
            f"(SELECT count(*) FROM (SELECT {p} FROM reid_joined GROUP BY {p} HAVING count(*) > 1))"
        )
        cells = {
            "left_people": left,
            "right_people": f"{right} + {missing[1]}",
            "matched_right": matched,
            "without_key": f"{missing[0]} + {missing[1]}",
            "repeated_keys": repeated,
            "several_rows": several,
            "written_otherwise": self._count_other_writing(),
        }
        listed = ", ".join(f"({value})::BIGINT AS {name}" for name, value in cells.items())
        return f"reid_total AS (SELECT {listed})"

    def _count_other_writing(self) -> str:
        """Count the values of on in right that match nothing, and would if both were written alike."""
        aliases = [f"f{place}" for place in range(len(self.h))]
        unmatched = []
        for is_right, side, other, keys in (
            (False, "reid_own AS o", "reid_theirs AS t", self.h),
            (True, "reid_theirs AS t", "reid_own AS o", self.g),
        ):
            pairs = zip(keys, aliases, strict=True)
            plain = ", ".join(
                f"{without_marks(f'{key}::VARCHAR')} AS {alias}" for key, alias in pairs
            )
            are_texts = " OR ".join(f"typeof({key}) = 'VARCHAR'" for key in keys)
            unmatched.append(f"""SELECT DISTINCT {is_right} AS is_right, {plain}
                FROM {side} ANTI JOIN {other} ON {self.on} WHERE has_key AND ({are_texts})""")
        written = ", ".join(f"{without_writing(alias)} AS {alias}" for alias in aliases)
        return f"""(SELECT count(*) FROM (
              SELECT {", ".join(aliases)} FROM (
                SELECT is_right, {written} FROM ({" UNION ALL ".join(unmatched)}) AS reid_unmatched
                WHERE (SELECT is_like FROM reid_keys)
              ) GROUP BY ALL HAVING bool_or(is_right) AND NOT bool_and(is_right)))"""

    def lines(self, right_qi: ColumnNames, k: int) -> list[str]:
        """A query for each choice of columns of the right table."""
        named = list(zip(right_qi, self.b, strict=True))
        choices: list[tuple[int, str | None, list[str]]] = [(ALL, None, self.b)]
        choices += [(ALONE, column, [alias]) for column, alias in named]
        choices += [(WITHOUT, column, [b for b in self.b if b != alias]) for column, alias in named]
        return [self._line(*choice, int(k)) for choice in choices]

    def _line(self, kind: int, column: str | None, b: Sequence[str], k: int) -> str:
        p, cells = ", ".join(self.p), ", ".join([*self.a, *b])
        joined = f"""
              SELECT {p}, min(size) AS size FROM (
                SELECT {p}, count(*) OVER (PARTITION BY {cells}) AS size
                FROM (SELECT DISTINCT {p}, {cells} FROM reid_joined)
              ) GROUP BY {p}"""
        named = "NULL::VARCHAR" if column is None else text(column)
        sides = ("l.size", "r.size", "j.size")
        below = ", ".join(
            f"count(*) FILTER ({size} < {k}) AS below_{side}"
            for size, side in zip(sides, ("left", "right", "joined"), strict=True)
        )
        return f"""
          SELECT {kind}::BIGINT AS kind, {named} AS column_name, count(*) AS people, {below},
            count(*) FILTER (j.size < {k} AND l.size >= {k} AND r.size >= {k}) AS singled_out
          FROM ({joined}) AS j JOIN reid_left_people AS l USING ({p})
          JOIN ({self._worst_right(b)}) AS r USING ({p})"""


def _names(letter: str, number: int) -> list[str]:
    return [f"{letter}{place}" for place in range(1, number + 1)]
