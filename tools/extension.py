"""Build the loadable extension of DuckDB for this platform: python -m tools.extension FOLDER.

The folder then has all sources: who builds them again, by build.sh, or loads what is built, needs neither
Python nor this package. The headers are those of DuckDB's own source distribution (MIT), which is fetched
once into the folder. Nothing of it is kept here.
"""

import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import urllib.request
from pathlib import Path
from typing import Final
from urllib.parse import urljoin

import duckdb

from reid_sql import __version__
from reid_sql.engines.duckdb.catalogue import END, script
from reid_sql_udfs import declared

ROOT: Final = Path(__file__).parents[1]
INDEX: Final = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/")
SOURCES: Final = "duckdb-1.5.5.tar.gz"
SHA256: Final = "72f33ee57ca7595b23957671a2cc7f7fe2be0ecc2d68f63abedcfcaa3a5c1238"
HEADERS: Final = ("duckdb.h", "duckdb_extension.h")
# DuckDB reads the end of the file: a custom section of WebAssembly with eight fields, the last first, and a
# place for a signature.
ABI, API_VERSION, FOOTER_VERSION = "C_STRUCT", "v1.2.0", "4"
FIELD_BYTES, SIGNATURE_BYTES = 32, 256
SECTION: Final = b"duckdb_signature"
PLATFORMS: Final = ("linux_amd64", "linux_arm64", "osx_amd64", "osx_arm64")
BUILD: Final = """#!/bin/sh
# Build reid.duckdb_extension for a platform, which a file footer.PLATFORM is of, by a compiler of C alone.
set -e
cd "$(dirname "$0")"
${CC:-cc} -O2 -Wall -shared -fPIC -fvisibility=hidden -I. reid.c -o reid.so
cat reid.so "footer.$1" > reid.duckdb_extension
"""


def fetch_headers(folder: Path) -> None:
    """Fetch the headers of the stable C API, if they are not there."""
    if all((folder / name).exists() for name in HEADERS):
        return
    listed = urllib.request.urlopen(f"{INDEX}/duckdb/", timeout=60).read().decode()  # noqa: S310 - the index
    link = re.search(rf'href="([^"]*{re.escape(SOURCES)}[^"]*)"', listed)
    if link is None:
        raise FileNotFoundError(f"the index must have {SOURCES}, got none; set PIP_INDEX_URL")
    address = urljoin(f"{INDEX}/duckdb/", link[1])
    packed = urllib.request.urlopen(address, timeout=600).read()  # noqa: S310 - the index
    if hashlib.sha256(packed).hexdigest() != SHA256:
        raise ValueError(f"{SOURCES} must have the SHA-256 {SHA256}, got another")
    with tarfile.open(fileobj=io.BytesIO(packed)) as sources:
        for member in sources:
            if member.name.endswith(tuple(f"/src/include/{name}" for name in HEADERS)):
                member.name = Path(member.name).name
                sources.extract(member, folder, filter="data")


def write_script(folder: Path) -> None:
    """Write the script as bytes, of which a compiler takes more than of a text."""
    made = script(declared()).partition(END)[0].replace("\nBEGIN;\n", "\n")
    values = ",".join(str(byte) for byte in (*made.encode(), 0))
    (folder / "script.inc").write_text(re.sub(r"((?:\d+,){30})", r"\1\n", values) + "\n")


def footer(platform: str) -> bytes:
    """Write the end of the file: what it was built for."""
    fields = ["", "", "", ABI, f"v{__version__}", API_VERSION, platform, FOOTER_VERSION]
    content = b"".join(each.encode().ljust(FIELD_BYTES, b"\0") for each in fields)
    payload = bytes([len(SECTION)]) + SECTION + _leb128(len(content) + SIGNATURE_BYTES)
    payload += content + bytes(SIGNATURE_BYTES)
    return b"\0" + _leb128(len(payload)) + payload


def _leb128(number: int) -> bytes:
    """Write a number as WebAssembly does, in two bytes."""
    return bytes([number & 127 | 128, number >> 7])


def build(folder: Path) -> Path:
    """Write the sources, build the extension for this platform, and return its file."""
    folder.mkdir(parents=True, exist_ok=True)
    fetch_headers(folder)
    write_script(folder)
    shutil.copy(ROOT / "extension" / "reid.c", folder)
    [(platform,)] = duckdb.execute("PRAGMA platform").fetchall()
    for each in {*PLATFORMS, platform}:
        (folder / f"footer.{each}").write_bytes(footer(each))
    (folder / "build.sh").write_text(BUILD, encoding="utf-8")
    subprocess.run(["sh", str(folder / "build.sh"), platform], check=True)  # noqa: S607 - the shell
    return folder / "reid.duckdb_extension"


if __name__ == "__main__":
    print(build(Path(sys.argv[1])))  # noqa: T201 - where it is
