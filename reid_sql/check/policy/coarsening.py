"""How values could be made coarser: bands of numbers, months, years, beginnings, rare values as one.

The beginnings are those of codes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from reid_sql.check.measures.release import Release

BANDS: Final = tuple(digit * 10**power for power in range(10) for digit in (1, 2, 5))
FEW: Final = 8  # values up to which there is nothing to gain by bands or beginnings
MOST: Final = 3  # ways tried for one column
SHARE: Final = 0.01
PARTS: Final = (("month", "date_trunc('month', v)"), ("year", "date_trunc('year', v)"))


@dataclass(frozen=True)
class Coarsening:
    """A column, how its values become fewer, and the relation (code, coarse) that says so."""

    column: str
    how: str
    relation: str


def coarsenings(release: Release, column: str) -> list[Coarsening]:
    """Find up to three ways to make the column coarser; each must leave fewer values, and more than one."""
    values = release.packed.values(column)
    found: list[Coarsening] = []
    for how, expression in _ways(release, values):
        relation = f"{values}_coarse_{len(found)}"
        release.ask(
            f"CREATE OR REPLACE TEMP TABLE {relation} AS SELECT code, {expression} AS coarse FROM {values}"
        )
        before, after = release.ask(f"SELECT count(*), count(DISTINCT coarse) FROM {relation}")[0]
        if 1 < after < before:
            found.append(Coarsening(column, how, relation))
        if len(found) == MOST:
            break
    return found


def _ways(release: Release, values: str) -> Iterator[tuple[str, str]]:
    """Yield what could be done with values of this kind, in words and as an expression.

    The expression is one of code, v and records.
    """
    kind, count, shortest, longest, low, high, total, numbers = _about(release, values)
    if kind.startswith(("DATE", "TIMESTAMP")):
        yield from ((f"to its {part}", expression) for part, expression in PARTS)
    elif kind == "VARCHAR" and shortest == longest and longest > MOST and count > FEW:
        yield from (
            (f"to its first {length} characters", f"left(v, {length})")
            for length in range(longest - 1, 1, -1)
        )
    elif numbers and count > FEW:
        wide = [width for width in BANDS if 2 * (high - low) / count <= width <= (high - low) / 2]
        yield from ((f"in bands of {width}", f"floor(v::DOUBLE / {width})") for width in wide[1:])
    else:
        least = max(2, int(SHARE * total))
        words = f"with its values of fewer than {least:,} records as one"
        yield words, f"CASE WHEN records < {least} THEN 0 ELSE code END"


def _about(release: Release, values: str) -> tuple[Any, ...]:
    """Kind of the values, how many, lengths of texts, range of numbers, records, whether all are numbers.

    The lengths are those of the shortest and the longest.
    """
    sql = f"""SELECT any_value(typeof(v)), count(*), min(length(v::VARCHAR)), max(length(v::VARCHAR)),
        min(try_cast(v::VARCHAR AS DOUBLE)), max(try_cast(v::VARCHAR AS DOUBLE)), sum(records)::BIGINT,
        coalesce(bool_and(isfinite(try_cast(v::VARCHAR AS DOUBLE))), false)
        AND count(try_cast(v::VARCHAR AS DOUBLE)) = count(*) FROM {values}"""
    return (
        release.ask(sql)[0]
        if release.ask(f"SELECT count(*) FROM {values}")[0][0]
        else ("", 0, 0, 0, 0.0, 0.0, 0, False)
    )
