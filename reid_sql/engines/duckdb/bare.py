"""Bare names: how a connection that registered knows the functions without the name of our catalogue."""

from collections.abc import Callable, Collection, Mapping
from typing import Final

import duckdb

from reid_sql.engines.duckdb.macros import forwards, written
from reid_sql.errors import OutOfDomainError
from reid_sql.function import Function, sql_literal

MARKED: Final = "reid_sql_registered"
HERE: Final = f"""SELECT coalesce(nullif(current_setting('search_path'), ''),
    '"' || replace(current_database(), '"', '""') || '"."' || replace(current_schema(), '"', '""') || '"'),
    getvariable('{MARKED}'), txid_current()"""


def reach(
    con: duckdb.DuckDBPyConnection,
    functions: Mapping[str, Function],
    catalogue: str,
    version: str,
    namesakes: Callable[[], Collection[str]],
) -> None:
    """Make temporary macros that call ours by their bare names: they follow USE, and no other goes before.

    Inside a transaction, whose rollback would take those along, the search path of the connection ends with
    our catalogue: refused where a macro of the user's, which `namesakes` tells, would be found first.
    """
    place, mark = f"{catalogue}.main", f"{catalogue} {version}"
    path, marked, transaction = con.execute(HERE).fetchall()[0]
    if marked == mark:
        return
    if con.execute("SELECT txid_current()").fetchall() == [(transaction,)]:  # else each statement has its own
        _refuse(namesakes())
        if place not in path.split(","):
            con.execute(f"SET search_path = {sql_literal(f'{path},{place}')}")
        return
    con.execute(written(forwards(functions), "CREATE OR REPLACE TEMP MACRO ", f"{place}."))
    con.execute(f"SET VARIABLE {MARKED} = '{mark}'")


def _refuse(ours: Collection[str]) -> None:
    """Refuse to register where a rollback would take away what goes before macros of our names."""
    if ours:
        raise OutOfDomainError(
            f"a connection in a transaction must have no macros of its own named like ours, got "
            f"{', '.join(sorted(ours))}; register before BEGIN"
        )
