"""What is in no file here: standard input, and stores that the user's DuckDB can read; brought as it is."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final
from urllib.parse import unquote, urlsplit

import duckdb

from reid_sql.connection_url import SCHEME, is_connection, masked
from reid_sql.errors import OutOfDomainError, UnavailableError
from reid_sql.runner import sentence
from reid_sql.spill import spill_folder

STANDARD_INPUT: Final = "-"
EXTENSIONS: Final = {"az": "azure", "azure": "azure", "abfss": "azure", "file": None}  # others need httpfs
BEGINNINGS: Final = {b"PAR1": ".parquet", b"[": ".json", b"{": ".ndjson", b"\x1f\x8b": ".csv.gz"}
LONGEST: Final = max(map(len, BEGINNINGS))


def is_elsewhere(file: str) -> bool:
    """Whether the text names standard input or a place in a store, not a path.

    >>> is_elsewhere("-"), is_elsewhere("https://host//people.csv"), is_elsewhere("people.csv")
    (True, True, False)
    """
    return file == STANDARD_INPUT or (SCHEME.match(file) is not None and not is_connection(file))


@contextmanager
def brought(con: duckdb.DuckDBPyConnection, words: str, file: str) -> Iterator[Path]:
    """Bring the bytes into a file of a private folder, which is taken away at the end."""
    with spill_folder() as folder:
        if file == STANDARD_INPUT:
            yield _read(sys.stdin.buffer, folder, words)
            return
        place = folder / f"input{''.join(Path(unquote(urlsplit(file).path)).suffixes[-2:])}"
        place.write_bytes(_blob(con, words, file))
        yield place


def _read(stream: BinaryIO, folder: Path, words: str) -> Path:
    """Write a stream to a file whose ending says what its first bytes do; else it is CSV."""
    beginning = stream.read(LONGEST)
    if not beginning:
        raise OutOfDomainError(
            f"{words} must hold a table, got nothing on standard input; pipe a file into it"
        )
    ending = next((kind for start, kind in BEGINNINGS.items() if beginning.startswith(start)), ".csv")
    place = folder / f"input{ending}"
    with place.open("wb") as content:
        content.write(beginning)
        shutil.copyfileobj(stream, content)
    return place


def _blob(con: duckdb.DuckDBPyConnection, words: str, file: str) -> bytes:
    """The one object that stands under this very name; DuckDB's own extension and secrets are used."""
    shown = masked(file, file)
    extension = EXTENSIONS.get(file.partition("://")[0].lower(), "httpfs")
    try:
        if extension:
            con.execute(f"LOAD {extension}")
    except duckdb.Error:
        rule = f"{words} must be in a store that the DuckDB here can read, got '{shown}' without {extension}"
        raise UnavailableError(
            f"{rule}; run INSTALL {extension} in DuckDB once, or download the file"
        ) from None
    try:
        found = con.execute("SELECT content FROM read_blob($1)", [file]).fetchmany(2)
    except duckdb.Error as error:
        why = masked(sentence(error), file).rstrip(".")
        rule = f"{words} must be an object that can be read, got '{shown}': {why}"
        raise UnavailableError(f"{rule}; mend its name, or your secret of DuckDB") from None
    if len(found) != 1:
        rule = f"{words} must be one object, got {'none' if not found else 'several'} for '{shown}'"
        raise OutOfDomainError(f"{rule}; name one")
    return bytes(found[0][0])
