"""Bare names: how a connection that registered knows the functions without the name of our catalogue."""

from collections.abc import Collection, Mapping
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
    mark: str,
    namesakes: Collection[str],
) -> None:
    """End the search path of the connection with our catalogue, so that bare names are ours, too.

    Whatever the path finds first is the user's: tables, and macros that are named otherwise than ours. Where
    a macro of theirs has a name of ours, a temporary one goes before it, which only calls ours.
    """
    place = f"{catalogue}.main"
    path, marked, transaction = con.execute(HERE).fetchall()[0]
    there = place in path.split(",")
    if there and marked == mark:
        return
    ours = {name: functions[name] for name in sorted(namesakes)}
    if con.execute("SELECT txid_current()").fetchall() == [(transaction,)]:  # else each statement has its own
        _refuse(ours)
    else:
        con.execute(_dropped(functions))
        if ours:
            con.execute(written(forwards(ours), "CREATE OR REPLACE TEMP MACRO ", f"{place}."))
    if not there:
        con.execute(f"SET search_path = {sql_literal(f'{path},{place}')}")
    con.execute(f"SET VARIABLE {MARKED} = '{mark}'")


def _dropped(functions: Mapping[str, Function]) -> str:
    """Drop temporary macros of our names, which would answer in the place of ours."""
    kinds = {name: "" if declared.answer.of_rows else "TABLE " for name, declared in functions.items()}
    dropped = [f"DROP MACRO {kind}IF EXISTS temp.main.{name};" for name, kind in kinds.items()]
    return "\n".join(["BEGIN;", *dropped, "COMMIT;"])


def _refuse(ours: Collection[str]) -> None:
    """Refuse to register where a rollback would take away what goes before macros of our names."""
    if ours:
        raise OutOfDomainError(
            f"a connection in a transaction must have no macros of its own named like ours, got "
            f"{', '.join(ours)}; register before BEGIN"
        )
