"""Which columns look as if they told people apart, and repeat: where one does, rows are not people."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from reid_sql.models.columns.column_profile import IDENTIFIER_NAME
from reid_sql.parameters import quoted

if TYPE_CHECKING:
    import duckdb

MOST: Final = 8  # columns that are looked at


def repeated(
    con: "duckdb.DuckDBPyConnection", table: str, besides: Sequence[str]
) -> list[tuple[str, int, int]]:
    """Columns named like an identifier whose values repeat: name, distinct values, records that have one.

    Only the names in `besides`, the quasi-identifiers, are passed over. It costs one scan where there is such
    a name.
    """
    every = [row[0] for row in con.execute("DESCRIBE FROM query_table(?)", [table]).fetchall()]
    names = likely(every, besides)
    if not names:
        return []
    counts = ", ".join(f"count(DISTINCT {quoted(name)}), count({quoted(name)})" for name in names)
    found = con.execute(f"SELECT {counts} FROM query_table(?)", [table]).fetchall()[0]
    return repeating(names, found[::2], found[1::2])


def likely(every: Sequence[str], besides: Sequence[str]) -> list[str]:
    """The columns that are named like an identifier, but those in `besides`."""
    taken = {name.lower() for name in besides}
    return [name for name in every if IDENTIFIER_NAME.search(name) and name.lower() not in taken][:MOST]


def repeating(
    names: Sequence[str], distinct: Sequence[int], records: Sequence[int]
) -> list[tuple[str, int, int]]:
    """Those of the columns that have several values, and fewer than records with one."""
    counted = zip(names, distinct, records, strict=True)
    return [(name, values, held) for name, values, held in counted if 1 < values < held]


def hint(found: Sequence[tuple[str, int, int]], spelled: str) -> str:
    """What to do about them, in one sentence for each."""
    told = (
        f"Column '{name}' looks like an identifier and repeats ({values:,} values in {records:,} rows): "
        f"if it tells people apart, count them with {spelled} {name}."
        for name, values, records in found
    )
    return " ".join(told)
