"""Generated people: the same for the same seed and number of rows, whatever the number of threads.

A code is floor(values * u^skew), where u in [0, 1) is the upper 53 bits of DuckDB's hash of an integer that
is another for each row and column. Integers are BIGINT, as DuckDB and Polars read them from CSV; strings have
5 to 20 characters.
"""

from pathlib import Path
from typing import Final

import duckdb

from benchmarks.speed.shapes import COLUMNS, Column
from benchmarks.speed.stopwatch import Stopwatch

SEED: Final = 2019
SIX: Final = 6  # columns of the huge table
GAPS: Final = 0.03  # share of NULL in the tables with gaps
DRAW: Final = "CREATE TEMP MACRO draw(i, stream) AS (hash(i + stream * 100_000_000_000) >> 11) / 9007199254740992"


def run(folder: str, table: str, rows: int) -> tuple[Stopwatch, dict[str, int]]:
    """Write the table into the folder's database, and beside it as a Parquet file."""
    kind, _, ties = table.partition("_")
    with Stopwatch() as took, duckdb.connect(Path(folder, "people.duckdb")) as con:
        con.execute(f"SET enable_progress_bar = false; {DRAW}")
        columns = COLUMNS[ties][:SIX] if kind == "huge" else COLUMNS[ties]
        con.execute(f"CREATE TABLE {table} AS {_select(kind, columns, rows)}")
        if kind != "huge":  # which DuckDB alone reads
            con.execute(f"COPY {table} TO '{Path(folder, table)}.parquet'")
    return took, {"records": rows}


def _select(kind: str, columns: tuple[Column, ...], rows: int) -> str:
    codes = ", ".join(
        f"{_code(column, SEED + place)} AS {column.name}" for place, column in enumerate(columns)
    )
    people = f"SELECT i, {codes} FROM range({rows}) AS people(i)"
    cells = ", ".join(
        _cell(kind, column, SEED + 100 + place) for place, column in enumerate(columns)
    )
    return f"SELECT {cells} FROM ({people})"


def _code(column: Column, stream: int) -> str:
    return f"floor({column.values} * pow(draw(i, {stream}), {column.skew}))::BIGINT"


def _cell(kind: str, column: Column, stream: int) -> str:
    if kind == "gaps":
        return f"CASE WHEN draw(i, {stream}) >= {GAPS} THEN {column.name} END AS {column.name}"
    return f"{column.words if kind == 'string' else column.name} AS {column.name}"
