"""A PostgreSQL of the tests' own."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

# A collation of the name `same`, by which texts are compared without case and accents.
FOLDING: Final = "CREATE COLLATION IF NOT EXISTS same (provider = icu, locale = 'und-u-ks-level1', deterministic = false)"


def binaries() -> Path | None:
    """Where PostgreSQL's programs are: on the path, else where Debian puts them."""
    found = shutil.which("initdb")
    debian = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda each: int(each.parent.name)
    )
    return Path(found).resolve().parent if found else next(reversed(debian), None)


@contextmanager
def postgres_server() -> Iterator[str]:
    """A server on a socket in a folder of its own, gone afterwards; as root it runs as another user."""
    programs, folder = binaries(), Path(tempfile.mkdtemp(prefix="reid-", dir="/tmp"))
    assert programs is not None
    other = other_than_root()
    if other:
        os.chown(folder, other["user"], other["group"])
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "cwd": folder, **other}
    made: list[str | Path] = [
        programs / "initdb",
        "-D",
        folder / "data",
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--locale=C",
    ]
    subprocess.run([*made, "-U", "reid", "--no-sync"], check=True, **quiet)
    settings = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
    control: list[str | Path] = [
        programs / "pg_ctl",
        "-D",
        folder / "data",
        "-w",
        "-l",
        folder / "log",
    ]
    subprocess.run([*control, "-o", settings, "start"], check=True, **quiet)
    try:
        yield str(folder)
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], check=True, **quiet)
        shutil.rmtree(folder)


def other_than_root() -> dict[str, Any]:
    """As whom a server runs that refuses root."""
    if os.getuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
