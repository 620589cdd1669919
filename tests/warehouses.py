"""Databases that Ibis is asked through: a PostgreSQL of the tests' own, and those that live in the process."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import ibis
import polars as pl
import pyarrow as pa
from ibis.expr.types import Table

NAMES = count()
IN_PROCESS = ("duckdb", "sqlite", "datafusion", "polars")
WIDER = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64()}
OTHER_THAN_ROOT: dict[str, Any] = {"user": "nobody", "group": "nogroup", "extra_groups": []}


def binaries() -> Path | None:
    """Where PostgreSQL's programs are: on the path, else where Debian puts them."""
    found = shutil.which("initdb")
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda each: int(each.parent.name))
    return Path(found).resolve().parent if found else next(reversed(debian), None)


@contextmanager
def postgres_server() -> Iterator[str]:
    """A server on a socket in a folder of its own, gone afterwards; as root it runs as another user."""
    programs, folder = binaries(), Path(tempfile.mkdtemp(prefix="reid-", dir="/tmp"))  # noqa: S108 - short
    assert programs is not None
    other = OTHER_THAN_ROOT if os.getuid() == 0 else {}
    if other:
        shutil.chown(folder, other["user"], other["group"])
    quiet: dict[str, Any] = {"check": True, "stdout": subprocess.DEVNULL, "cwd": folder, **other}
    made = [programs / "initdb", "-D", folder / "data", "-A", "trust", "-E", "UTF8", "--locale=C"]
    subprocess.run([*made, "-U", "reid", "--no-sync"], **quiet)
    settings = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
    control = [programs / "pg_ctl", "-D", folder / "data", "-w", "-l", folder / "log"]
    subprocess.run([*control, "-o", settings, "start"], **quiet)
    try:
        yield str(folder)
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], **quiet)
        shutil.rmtree(folder)


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
    """Enumerations as their words, unsigned numbers as wider ones, and structs of numbers as lists of them."""
    table = frame.with_columns(pl.col(pl.Enum, pl.Categorical).cast(pl.String)).to_arrow()
    for place, field in enumerate(table.schema):
        kind = WIDER.get(field.type, field.type)
        values = table[field.name].cast(kind)
        if pa.types.is_struct(kind) and not structs:
            cells = [None if each is None else list(each.values()) for each in values.to_pylist()]
            values = pa.chunked_array([pa.array(cells, pa.list_(kind.field(0).type))])
        table = table.set_column(place, field.name, values)
    return table
