"""Conditions on a column that differ by few people, or by nobody, which must look alike.

Whoever asks `name > 'm'` and then `name > 'm' OR name = 'Ann'` learns whether somebody is called Ann, from
the counts or a refusal. `pay > 50` and `pay > 51` tell whether anybody has between 50 and 51. So each
comparison within a condition needs people on both sides, and so does each pair of those that were asked for.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import chain, combinations
from typing import Any, Final

import duckdb

from reid_sql.parameters import quoted
from reid_sql.serve.audited_counts import RevealingError
from reid_sql.serve.bands import COMPARISONS, OF_TEXTS
from reid_sql.serve.derived_columns import RELATION, DerivedColumn
from reid_sql.serve.tree import Node, columns_in, document_of, name_of, parts_of, without_places
from reid_sql.sql.tolerance import WHOLE_TYPES

REFUSAL_NARROW: Final = (
    "a condition must hold for at least {0} people and not for {0} others, and a band must have {0}, got fewer "
    "or none, alone or with those before; ask for wider ones, or for the column itself"
)
ENDS: Final = {  # whether the value itself is above the cut, where the column is on the left
    "COMPARE_GREATERTHAN": False,
    "COMPARE_LESSTHANOREQUALTO": False,
    "COMPARE_GREATERTHANOREQUALTO": True,
    "COMPARE_LESSTHAN": True,
}
MAX_EMPTY: Final = 1  # of the four sides of two comparisons: above 60 and below 30 is nobody


def refuse_narrow_bands(
    data: duckdb.DuckDBPyConnection, new: Sequence[DerivedColumn], below: int
) -> None:
    """Refuse a side of a condition, or a listed band, of few people or nobody, which must look alike."""
    for each in new:
        name, base = quoted(each.name), quoted(each.base)
        [(bands,)] = data.execute(
            f"""SELECT count(*) FROM (SELECT {name} FROM {RELATION}
            WHERE {base} IS NOT NULL OR {name} IS NOT NULL GROUP BY {name} HAVING count(*) >= $1)""",
            [below],
        ).fetchall()
        if bands < each.bands:
            raise RevealingError(REFUSAL_NARROW.format(below))


def refuse_near_conditions(
    data: duckdb.DuckDBPyConnection,
    new: Sequence[DerivedColumn],
    before: Iterable[DerivedColumn],
    below: int,
) -> None:
    """Refuse comparisons that split off few people or nobody, alone or with others of the same column."""
    for base in dict.fromkeys(each.base for each in new if each.bands):
        expressions = [each.expression for each in (*before, *new) if each.base == base]
        if _are_near(data, base, expressions, below):
            raise RevealingError(REFUSAL_NARROW.format(below))


def _are_near(
    data: duckdb.DuckDBPyConnection, base: str, expressions: Sequence[str], below: int
) -> bool:
    """Whether one or two comparisons of several conditions on a column split off few people or nobody.

    One condition alone tells the people of its two sides, and nothing of its comparisons.
    """
    comparisons = {each: _list_comparisons(data, each) for each in expressions}
    # as a filter and as a group, a condition has another value for NULL, which follows its last bracket
    conditions = {each.rpartition("), ")[0] for each, cuts in comparisons.items() if cuts}
    if len(conditions) <= 1:
        return False
    cuts = dict(chain.from_iterable(each.items() for each in comparisons.values()))
    sides = ", ".join(f"coalesce(TRY({each}), false)" for each in cuts.values())
    rows = data.execute(
        f"""SELECT [{sides}] AS sides, count(*) FROM {RELATION}
        WHERE {quoted(base)} IS NOT NULL GROUP BY sides"""
    ).fetchall()
    singles_and_pairs = chain(combinations(range(len(cuts)), 1), combinations(range(len(cuts)), 2))
    return any(_splits_off_few(rows, places, below) for places in singles_and_pairs)


def _splits_off_few(rows: Sequence[tuple[Any, ...]], places: tuple[int, ...], below: int) -> bool:
    """Whether one or two comparisons have a side of few people, or of nobody where people may be."""
    counts: dict[tuple[bool, ...], int] = {}
    for held, count in rows:
        key = tuple(held[place] for place in places)
        counts[key] = counts.get(key, 0) + count
    possible = 2 ** len(places) - MAX_EMPTY * (len(places) - 1)
    return len(counts) < possible or min(counts.values()) < below


def _list_comparisons(data: duckdb.DuckDBPyConnection, expression: str) -> dict[str, str]:
    """List the comparisons of an expression by where they cut: those of one name have the same sides."""
    found: dict[str, str] = {}
    for part in parts_of(_parse(data, expression)):
        if part.get("type") in COMPARISONS or name_of(part) in OF_TEXTS:
            for each in _split(part):
                if columns_in(each):
                    found[_name_cut(data, each)] = _write(data, each)
    return found


def _split(part: Node) -> list[Node]:
    """Split a comparison with several constants into those with one."""
    kind = part["type"]
    if kind == "COMPARE_BETWEEN":
        return [
            _compare("COMPARE_GREATERTHANOREQUALTO", part["input"], part["lower"]),
            _compare("COMPARE_LESSTHANOREQUALTO", part["input"], part["upper"]),
        ]
    if kind in {"COMPARE_IN", "COMPARE_NOT_IN"}:
        first, *others = part["children"]
        return [_compare("COMPARE_EQUAL", first, each) for each in others]
    if kind in {"COMPARE_NOTEQUAL", "COMPARE_DISTINCT_FROM", "COMPARE_NOT_DISTINCT_FROM"}:
        return [_compare("COMPARE_EQUAL", part["left"], part["right"])]
    return [part]


def _compare(kind: str, left: Node, right: Node) -> Node:
    return {"class": "COMPARISON", "type": kind, "alias": "", "left": left, "right": right}


def _name_cut(data: duckdb.DuckDBPyConnection, part: Node) -> str:
    """Name where a comparison cuts the values in two: `age >= 60`, `age < 60` and `59 < age` cut alike."""
    if part["type"] not in {*ENDS, "COMPARE_EQUAL"}:
        return _write(data, part)
    left, right, is_above = part["left"], part["right"], ENDS.get(part["type"])
    if columns_in(right):
        left, right, is_above = right, left, is_above is not None and not is_above
    of, constant = _write(data, left), _write(data, right)
    [(kind,)] = data.execute(f"SELECT typeof(({of})) FROM {RELATION} LIMIT 1").fetchall() or [("",)]
    [(value,)] = data.execute(f"SELECT {constant}").fetchall()
    if isinstance(value, str) and kind != "VARCHAR":
        [(value,)] = data.execute(f"SELECT TRY_CAST({constant} AS {kind})").fetchall()
    value = _plain(kind, value)
    if part["type"] == "COMPARE_EQUAL":
        return f"{of} = {value}"
    if is_above is False and (step := _step(kind, value)) is not None:
        value, is_above = step, True
    return f"{of} {value} {is_above}"


def _plain(kind: str, value: Any) -> Any:  # noqa: ANN401 - a constant
    """Write 60.0 as 60, and midnight as the day where days are compared."""
    if isinstance(value, Decimal | float) and value == value // 1:
        return int(value)
    is_day = kind == "DATE" and isinstance(value, datetime) and value.time() == time()
    return value.date() if is_day else value


def _step(kind: str, value: Any) -> Any:  # noqa: ANN401 - a constant
    """Return the next value of a type whose values are apart; None of others."""
    if kind in WHOLE_TYPES and type(value) is int:
        return value + 1
    return value + timedelta(days=1) if kind == "DATE" and type(value) is date else None


def _parse(data: duckdb.DuckDBPyConnection, expression: str) -> Node:
    [(document,)] = data.execute(
        "SELECT json_serialize_sql($1::VARCHAR)", [f"SELECT {expression}"]
    ).fetchall()
    node: Node = json.loads(document)["statements"][0]["node"]
    return node


def _write(data: duckdb.DuckDBPyConnection, part: Node) -> str:
    """Write a part of a parsed expression."""
    node = {**_parse(data, "1"), "select_list": [without_places(part)]}
    [(sql,)] = data.execute("SELECT json_deserialize_sql($1::JSON)", [document_of(node)]).fetchall()
    return str(sql).removeprefix("SELECT ")
