"""The macros kept from one process to the next: DuckDB binds each that is made, and loads what is kept."""

import contextlib
import os
import stat
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Final

import duckdb

from reid_sql.parameters import sql_text

FOLDER: Final = "REID_SQL_CACHE"  # names the folder; empty, nothing is kept
NEWEST: Final = 8  # files of other versions that stay
OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


def copied(
    cursor: duckdb.DuckDBPyConnection,
    catalogue: str,
    version: str,
    make: Callable[[duckdb.DuckDBPyConnection, str], None],
) -> bool:
    """Copy the kept macros into a catalogue of the database instance; false where none can be kept or read.

    `make` fills a catalogue of a new database, from which the file is written when it is not there. Where the
    connection may not read files, or the folder cannot be written or others can, the caller makes the macros.
    """
    file = _file(f"{version}-{duckdb.__version__}")
    if file is None:
        return False
    source = f"{catalogue}_kept_{uuid.uuid4().hex}"
    try:
        if not file.exists():
            _write(file, catalogue, make)
        cursor.execute(f"ATTACH {sql_text(str(file))} AS {source} (READ_ONLY)")
    except duckdb.PermissionException:
        return False
    except (OSError, duckdb.Error):
        with contextlib.suppress(OSError):
            file.unlink(missing_ok=True)  # damaged: the next process writes it anew
        return False
    try:
        cursor.execute(f"COPY FROM DATABASE {source} TO {catalogue}")
    except duckdb.Error:
        return False
    finally:
        cursor.execute(f"DETACH {source}")
    return True


def _file(version: str) -> Path | None:
    """The file of this version, in a folder that nobody else can write into; none without such a folder."""
    named = os.environ.get(FOLDER)
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    if named == "":
        return None
    try:
        folder = Path(named) if named else (Path(home) if home else Path.home() / ".cache") / "reid-sql"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = folder / f"macros-{version}.duckdb"
        if os.name == "posix" and not all(_ours(path) for path in (folder, file)):
            return None
    except (OSError, RuntimeError):  # no home, or nowhere to write
        return None
    return file


def _ours(path: Path) -> bool:
    """Whether nobody but the user of this process writes there; so it is where nothing is yet."""
    if not path.exists():
        return True
    found = path.stat()
    return found.st_uid == os.geteuid() and not found.st_mode & OTHERS_WRITE


def _write(file: Path, catalogue: str, make: Callable[[duckdb.DuckDBPyConnection, str], None]) -> None:
    """Keep macros made in a database of their own in the file, which appears whole or not at all."""
    part = file.with_name(f"{file.name}.{uuid.uuid4().hex}")
    try:
        with duckdb.connect() as con:
            con.execute(f"ATTACH {sql_text(str(part))} AS {catalogue} (BLOCK_SIZE 16384)")
            make(con, catalogue)
            con.execute(f"DETACH {catalogue}")
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
    others = sorted(file.parent.glob("macros-*.duckdb"), key=lambda path: path.stat().st_mtime)
    for old in others[:-NEWEST]:
        with contextlib.suppress(OSError):
            old.unlink()
