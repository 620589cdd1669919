"""Databases that Ibis is asked through: PostgreSQL, and those that live in the process."""

from functools import cache
from itertools import count
from typing import Any

import duckdb
import ibis
import polars as pl
import pyarrow as pa
from ibis.expr.types import Table

NAMES = count()
WIDER = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64()}


@cache
def connected(name: str, folder: str = "") -> Any:
    """The one connection of this process to the database; a server's by the folder of its socket."""
    if name == "postgres":
        return ibis.postgres.connect(host=folder, user="reid", database="postgres")
    if name == "duckdb":
        return ibis.duckdb.from_connection(duckdb.connect())
    return getattr(ibis, name).connect()


def put(connection: Any, frame: pl.DataFrame) -> Table:
    """The frame as a table of the database, with types that it lacks as others."""
    name, table = f"t{next(NAMES)}", plain(frame, structs=connection.name == "duckdb")
    temporary = {"temp": True} if connection.name in {"postgres", "sqlite", "duckdb"} else {}
    return connection.create_table(name, table, **temporary)


def plain(frame: pl.DataFrame, *, structs: bool) -> pa.Table:
    """Enumerations as words, unsigned numbers as wider ones, and structs of numbers as lists of them."""
    table = frame.with_columns(pl.col(pl.Enum, pl.Categorical).cast(pl.String)).to_arrow()
    for place, field in enumerate(table.schema):
        kind = WIDER.get(field.type, field.type)
        values = table[field.name].cast(kind)
        if pa.types.is_struct(kind) and not structs:
            cells = [None if each is None else list(each.values()) for each in values.to_pylist()]
            values = pa.chunked_array([pa.array(cells, pa.list_(kind.field(0).type))])
        table = table.set_column(place, field.name, values)
    return table
