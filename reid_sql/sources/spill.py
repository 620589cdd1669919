"""The folder into which counting spills: removed with the process, even if that was killed."""

import atexit
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Final

import duckdb

from reid_sql.parameters import sql_text

PREFIX: Final = "reid-sql-"
LOCK: Final = "in-use"
WEAK_KEYS: Final = "force_mbedtls_unsafe"


def spill_into(con: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Let a connection spill into the folder, encrypted.

    Without its extension httpfs, which no connection here loads, DuckDB draws keys from a source that is not
    secure, and encrypts only if that is accepted: else it refuses to spill at all.
    """
    con.execute(f"SET temp_directory = {sql_text(str(folder))}; SET temp_file_encryption = true")
    con.execute(f"SET {WEAK_KEYS} = 'true'")


@cache
def process_folder() -> Path:
    """Return a folder for as long as the process lives."""
    resources = ExitStack()
    atexit.register(resources.close)
    return resources.enter_context(spill_folder())


def remove_process_folder() -> None:
    """Remove the folder of this process, where the process is about to end without its exit functions."""
    if process_folder.cache_info().currsize:
        shutil.rmtree(process_folder(), ignore_errors=True)


@contextmanager
def spill_folder() -> Iterator[Path]:
    """Create a folder, and remove it at the end; first remove what a killed process left."""
    _sweep()
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        with (folder / LOCK).open("w") as lock:
            _locked(lock)
            yield folder


def _locked(lock: IO[str]) -> bool:
    """Lock the file for the life of the process; return whether no other process has."""
    if find_spec("fcntl") is None:  # Windows removes no open file
        return True
    import fcntl  # noqa: PLC0415 - there is none on Windows

    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _sweep() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            lock = folder / LOCK
            if folder.is_symlink() or not lock.is_file():
                continue
            with lock.open("r+") as resources:
                if _locked(resources):
                    shutil.rmtree(folder, ignore_errors=True)
