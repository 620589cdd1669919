"""Connection URLs, whose secrets no message shows, and inputs to fetch: standard input and stores."""

import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import unquote, unquote_plus, urlsplit

import duckdb

from reid_sql.errors import OutOfDomainError, UnavailableError, UnknownNameError
from reid_sql.sources.spill import spill_folder
from reid_sql.terminal.runner import sentence

VARIABLE: Final = "env:"
SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
STORES: Final = (
    "http",
    "https",
    "s3",
    "s3a",
    "s3n",
    "gs",
    "gcs",
    "r2",
    "az",
    "azure",
    "abfss",
    "hf",
    "file",
)
SECRET: Final = re.compile(
    r"pass(?!file)|pwd|secret|token|credential|private_?key|api_?key|signature", re.IGNORECASE
)
CREDENTIALS: Final = re.compile(r"(?<=://)([^:/?#@\s]*):[^@\s]*@")  # a user and a password anywhere
MASK: Final = "***"
MIN_SECRET_LENGTH: Final = 4  # letters of a secret that is hidden within words, too
STANDARD_INPUT: Final = "-"
# others need httpfs
EXTENSIONS: Final = {"az": "azure", "azure": "azure", "abfss": "azure", "file": None}
SIGNATURES: Final = {b"PAR1": ".parquet", b"[": ".json", b"{": ".ndjson", b"\x1f\x8b": ".csv.gz"}
MAX_SIGNATURE: Final = max(map(len, SIGNATURES))


def is_connection(text: str) -> bool:
    """Whether a text names a warehouse: a URL of no file store, or a variable that contains one.

    >>> is_connection("postgres://host/db"), is_connection("env:WAREHOUSE_URL"), is_connection("s3://b/a.csv")
    (True, True, False)
    """
    match = SCHEME.match(text)
    return text.startswith(VARIABLE) or (match is not None and match[1].lower() not in STORES)


def url_of(words: str, text: str) -> str:
    """Return the URL, read from the environment where only its variable is named; refuses a written secret.

    `words` is what a refusal calls the URL.
    """
    if not text.startswith(VARIABLE):
        if next(_secrets(text), None) is not None:
            raise OutOfDomainError(
                f"{words} must contain no password, got one in '{masked(text, text)}'; put the URL into a "
                f"variable of the environment and write env:WAREHOUSE_URL"
            )
        return text
    name = text.removeprefix(VARIABLE)
    if not os.environ.get(name):
        raise UnknownNameError(
            f"{words} must name a variable of the environment that is set, got '{text}'; set {name or 'WAREHOUSE_URL'} to the URL"
        )
    if not SCHEME.match(os.environ[name]):
        raise OutOfDomainError(
            f"{words} must lead to a URL, got '{text}', whose value is none; write it like postgres://user:password@host/database"
        )
    return os.environ[name]


def masked(text: str, url: str) -> str:
    """Return the text without the URL's secrets, whatever a driver made of them.

    >>> masked("no host 's' for u", "postgres://u:p@s/w@host/db"), masked("at a://u:pw@h", "a://u:pw@h")
    ("no host '***' for u", 'at a://u:***@h')
    """
    # the secrets, decoded too, and the pieces that a driver makes of one that is not quoted as URLs are
    spellings: set[str] = set()
    for secret in _secrets(url):
        for spelling in (secret, unquote(secret), unquote_plus(secret)):
            spellings |= {spelling, *filter(None, re.split(r"[/@?#:&=]", spelling))}
    hidden = text
    for secret in sorted(spellings, key=len, reverse=True):
        within = len(secret) >= MIN_SECRET_LENGTH
        plain = re.escape(secret)
        hidden = re.sub(plain if within else rf"(?<!\w){plain}(?!\w)", MASK, hidden)
    return CREDENTIALS.sub(rf"\1:{MASK}@", hidden)


def _secrets(url: str) -> Iterator[str]:
    """Return the password, which extends to the last @, and the values of secret options."""
    rest = url.partition("://")[2]
    user, at, _ = rest.rpartition("@")
    if at and (secret := user.partition(":")[2]):
        yield secret
    query = rest.partition("?")[2]
    for part in re.split("[&;]", query):
        name, _, value = part.partition("=")
        if value and SECRET.search(unquote(name)):
            yield value


def scheme_of(url: str) -> str:
    """The word before `://`, as small letters."""
    match = SCHEME.match(url)
    return match[1].lower() if match else ""


def path_of(url: str) -> str:
    """The file that a URL of a file's database names."""
    parts = urlsplit(url)
    return unquote(parts.netloc + parts.path)


def is_remote(file: str) -> bool:
    """Whether the text names standard input or a place in a store, not a path.

    >>> is_remote("-"), is_remote("https://host//people.csv"), is_remote("people.csv")
    (True, True, False)
    """
    return file == STANDARD_INPUT or (SCHEME.match(file) is not None and not is_connection(file))


@contextmanager
def fetch_to_file(con: duckdb.DuckDBPyConnection, words: str, file: str) -> Iterator[Path]:
    """Copy the bytes into a file of a private folder, which is removed at the end."""
    with spill_folder() as folder:
        if file == STANDARD_INPUT:
            stream = sys.stdin.buffer
            beginning = stream.read(MAX_SIGNATURE)
            if not beginning:
                raise OutOfDomainError(
                    f"{words} must contain a table, got nothing on standard input; pipe a file into it"
                )
            ending = next(
                (kind for start, kind in SIGNATURES.items() if beginning.startswith(start)), ".csv"
            )
            place = folder / f"input{ending}"
            with place.open("wb") as content:
                content.write(beginning)
                shutil.copyfileobj(stream, content)
            yield place
            return
        place = folder / f"input{''.join(Path(unquote(urlsplit(file).path)).suffixes[-2:])}"
        place.write_bytes(_download(con, words, file))
        yield place


def _download(con: duckdb.DuckDBPyConnection, words: str, file: str) -> bytes:
    """Download the one object of this name, by DuckDB's extension and secrets."""
    shown = masked(file, file)
    extension = EXTENSIONS.get(file.partition("://")[0].lower(), "httpfs")
    try:
        if extension:
            con.execute(f"LOAD {extension}")
    except duckdb.Error:
        raise UnavailableError(
            f"{words} must be in a store that the DuckDB here can read, got '{shown}' without {extension}; run INSTALL {extension} in DuckDB once, or download the file"
        ) from None
    try:
        contents = con.execute("SELECT content FROM read_blob($1)", [file]).fetchmany(2)
    except duckdb.Error as error:
        why = masked(sentence(error), file).rstrip(".")
        raise UnavailableError(
            f"{words} must be an object that can be read, got '{shown}': {why}; mend its name, or your secret of DuckDB"
        ) from None
    if len(contents) != 1:
        raise OutOfDomainError(
            f"{words} must be one object, got {'none' if not contents else 'several'} for '{shown}'; name one"
        )
    return bytes(contents[0][0])
