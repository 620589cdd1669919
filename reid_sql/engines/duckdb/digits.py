"""DuckDB: a column's values as digits: whole numbers from 1, in the values' order, and 0 for NULL."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

Ask = Callable[[str], list[tuple[Any, ...]]]
WHOLE: Final = ("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
NUMBERS: Final = dict.fromkeys(WHOLE, "{0}::BIGINT") | {
    "DATE": "(CASE WHEN isfinite({0}) THEN {0} - DATE '1970-01-01' END)"
}
SPARSE: Final = 4  # numbers from the least value to the greatest for each value that there is


@dataclass(frozen=True)
class Codes:
    """How the values of a column are coded.

    `relation` lists code, v and records, without NULL; `base` is above every code. Where the values are
    numbers that leave few out, `worked_out` gives the code of one as SQL; else it is looked up.
    """

    relation: str
    base: int
    worked_out: str | None = None


def coded(ask: Ask, value: str, source: str, kind: str, relation: str) -> Codes:
    """List the values of a column, of this type, in a relation of this name, with their codes."""
    counted = f"{relation}_counted"
    ask(
        f"CREATE TEMP TABLE {counted} AS SELECT {value} AS v, count(*) AS records FROM {source} "
        f"WHERE {value} IS NOT NULL GROUP BY {value}"
    )
    base, number = _base(ask, counted, NUMBERS.get(kind, "NULL::BIGINT"))
    code = number.format("v") if number else "row_number() OVER (ORDER BY v)"
    ask(f"CREATE TEMP TABLE {relation} AS SELECT {code} AS code, v, records FROM {counted} ORDER BY v")
    ask(f"DROP TABLE {counted}")
    return Codes(relation, base, number and number.format(value))


def _base(ask: Ask, counted: str, number: str) -> tuple[int, str | None]:
    """One above the greatest code, and how a code is worked out, if it is."""
    of = number.format("v")
    [(values, numbers, low, high)] = ask(f"SELECT count(*), count({of}), min({of}), max({of}) FROM {counted}")
    if values > numbers or not values or high - low >= SPARSE * values:
        return values + 1, None
    return high - low + 2, f"({number} - ({low - 1}))::BIGINT"
