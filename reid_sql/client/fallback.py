"""What a place of records lacks, DuckDB computes in this process, from what the place reads or counts.

A place (a warehouse, Spark, Polars) groups by the columns that a question is about. What comes is each
distinct record with its count, within the place's limit. DuckDB sees each as often as it was counted, so that
every function computes as it does from a file.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import duckdb
import pyarrow as pa

import reid_sql_udfs
from reid_sql.client.call import NAMES, Place, open_shared_client, plan_call, run_call
from reid_sql.engines.arrow import ARROW_TYPES
from reid_sql.errors import ReidError
from reid_sql.function import Function
from reid_sql.reductions.profile import COLUMN_COUNTS
from reid_sql.sources.files import connect_quietly
from reid_sql.sources.spill import spill_folder, spill_into


@contextmanager
def open_client() -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a DuckDB in memory with the functions, which reads no file; what spills is encrypted, and goes."""
    with spill_folder() as folder:
        con = connect_quietly()
        try:
            spill_into(con, folder)
            con.execute("SET enable_external_access = false")
            yield con
        finally:
            con.close()


def drop_view(con: duckdb.DuckDBPyConnection, view: str) -> None:
    """Drop a view and its records."""
    con.execute(f"DROP VIEW {view}")
    con.unregister(f"{view}_distinct")


def answer_by_duckdb(declared: Function, arguments: Mapping[str, Any], place: Place) -> pa.Table:
    """Call the function in DuckDB on the records of a place's tables."""
    with open_shared_client() as con:
        if declared.reduction is not COLUMN_COUNTS:
            return ask(con, declared, arguments, place)
        frame = arguments["tbl"]
        given = place.column_names(frame) if arguments["columns"] is None else arguments["columns"]
        # Of each column the distinct values alone: the records on all of them are never asked.
        lacked = place.find_lacked(frame, given) if isinstance(given, list) else []
        known = [*place.column_names(frame), *(name for name in given if name not in lacked)]
        each = ({"tbl": frame, "columns": [name]} for name in NAMES.check(given, known))
        return pa.concat_tables([ask(con, declared, asked, place) for asked in each])


def profile_columns(
    frame: Any,  # noqa: ANN401 - a frame of the place
    columns: Sequence[str],
    run: Callable[[Callable[[], pa.Table]], pa.Table],
    fetched: Mapping[str, Any],
    place: Place,
) -> list[dict[str, Any]]:
    """Profile the columns whose distinct values come to the client; among more, no value is suspicious.

    `run` asks the database, and raises its refusals as one sentence. Nothing is asked of columns that were
    `fetched`.
    """
    profiles: list[dict[str, Any]] = []
    profile = reid_sql_udfs.declared()["profile"]
    with open_client() as con:
        for name in columns:
            with suppress(ReidError):
                given = {"tbl": fetched.get(name, frame), "columns": [name]}
                question = partial(ask, con, profile, given, place)
                profiles += (question() if name in fetched else run(question)).to_pylist()
    return profiles


def ask(
    con: duckdb.DuckDBPyConnection, declared: Function, arguments: Mapping[str, Any], place: Place
) -> pa.Table:
    """Call the function in this DuckDB on the records of a place's tables."""
    call = plan_call(declared, arguments, place)
    rows = [place.read(table.frame, table.columns) for table in call.tables]
    place.finish_reading()
    return _typed(declared, run_call(con, call, rows))


def _typed(declared: Function, answered: pa.Table) -> pa.Table:
    """The answer with the types that every engine of dataframes gives; keys of records have their own."""
    kinds = {name: kind for name, kind in declared.answer_columns.items() if name != "record"}
    types = [ARROW_TYPES[kinds[each.name]] if each.name in kinds else each.type for each in answered.schema]
    return answered.cast(pa.schema(list(zip(answered.column_names, types, strict=True))))
