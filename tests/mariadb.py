"""A MariaDB of the tests' own."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from socket import AF_UNIX, socket
from typing import Any, Final

import polars as pl
import pymysql

from tests.postgres import other_than_root

SMALL: Final = (
    "--innodb-buffer-pool-size=16M",
    "--innodb-log-file-size=8M",
    "--innodb-flush-method=nosync",
)
PATIENCE: Final = 60  # seconds until it must listen


def installed() -> bool:
    """Whether its programs are there."""
    return shutil.which("mariadbd") is not None and shutil.which("mariadb-install-db") is not None


@contextmanager
def mariadb_server() -> Iterator[str]:
    """A server on a socket in a folder of its own, gone afterwards; as root it runs as another user."""
    folder = Path(tempfile.mkdtemp(prefix="reid-", dir="/tmp"))
    other = other_than_root()
    if other:
        os.chown(folder, other["user"], other["group"])
    quiet: dict[str, Any] = {
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
        "cwd": folder,
        **other,
    }
    data, listens = f"--datadir={folder / 'data'}", str(folder / "socket")
    made = ["mariadb-install-db", "--no-defaults", data, *SMALL, "--skip-test-db"]
    subprocess.run([*made, "--auth-root-authentication-method=normal"], check=True, **quiet)
    serve = ["mariadbd", "--no-defaults", data, *SMALL, f"--socket={listens}", "--skip-networking"]
    server = subprocess.Popen([*serve, f"--pid-file={folder / 'pid'}"], **quiet)
    try:
        _wait(listens)
        yield listens
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(folder)


def _wait(path: str) -> None:
    """Return when it listens, or after a while."""
    until = time.monotonic() + PATIENCE
    with socket(AF_UNIX) as tried:
        while tried.connect_ex(path) != 0 and time.monotonic() < until:
            time.sleep(0.1)


@contextmanager
def town(path: str, frames: Mapping[str, pl.DataFrame], types: Sequence[str]) -> Iterator[Any]:
    """A cursor on a database with these tables alone, whose texts it compares without case and blanks."""
    with (
        pymysql.connect(unix_socket=path, user="root", charset="utf8mb4") as con,
        con.cursor() as cursor,
    ):
        cursor.execute("CREATE OR REPLACE DATABASE town COLLATE utf8mb4_general_ci")
        cursor.execute("USE town")
        for name, frame in frames.items():
            columns = ", ".join(
                f"`{column}` {kind}" for column, kind in zip(frame.columns, types, strict=True)
            )
            cursor.execute(f"CREATE TABLE {name} ({columns})")
            cursor.executemany(
                f"INSERT INTO {name} VALUES ({', '.join(['%s'] * frame.width)})", frame.rows()
            )
        yield cursor
