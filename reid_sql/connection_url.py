"""The URL of a warehouse: its secrets come from the environment alone, and are in no word that is told."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import parse_qsl, unquote, unquote_plus, urlsplit

from reid_sql.errors import OutOfDomainError, UnknownNameError

VARIABLE: Final = "env:"
SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
STORES: Final = ("http", "https", "s3", "s3a", "s3n", "gs", "gcs", "r2", "az", "azure", "abfss", "hf", "file")
SECRET: Final = re.compile(
    r"pass(?!file)|pwd|secret|token|credential|private_?key|api_?key|signature", re.IGNORECASE
)
HELD: Final = re.compile(r"(?<=://)([^:/?#@\s]*):[^@\s]*@")  # a user and a password, wherever they stand
HIDDEN: Final = "***"
SHORTEST: Final = 4  # letters of a secret that is hidden within words, too


def is_connection(text: str) -> bool:
    """Whether a text stands for a warehouse: a URL of no store of files, or a variable that holds one.

    >>> is_connection("postgres://host/db"), is_connection("env:WAREHOUSE_URL"), is_connection("s3://b/a.csv")
    (True, True, False)
    """
    found = SCHEME.match(text)
    return text.startswith(VARIABLE) or (found is not None and found[1].lower() not in STORES)


def url_of(words: str, given: str, environment: Mapping[str, str] = os.environ) -> str:
    """Give the URL, read from the environment where only its variable is named; refuses a written secret.

    `words` is what a refusal calls the URL.
    """
    if not given.startswith(VARIABLE):
        _refuse_secret(words, given)
        return given
    name = given.removeprefix(VARIABLE)
    if not environment.get(name):
        rule = f"{words} must name a variable of the environment that is set, got '{given}'"
        raise UnknownNameError(f"{rule}; set {name or 'WAREHOUSE_URL'} to the URL")
    if not SCHEME.match(environment[name]):
        rule = f"{words} must lead to a URL, got '{given}', whose value is none"
        raise OutOfDomainError(f"{rule}; write it like postgres://user:password@host/database")
    return environment[name]


def _refuse_secret(words: str, given: str) -> None:
    if next(_secrets(given), None) is not None:
        raise OutOfDomainError(
            f"{words} must hold no password, got one in '{masked(given, given)}'; put the URL into a "
            f"variable of the environment and write env:WAREHOUSE_URL"
        )


def masked(text: str, url: str) -> str:
    """Give the text without the URL's secrets, whatever a driver made of them.

    >>> masked("no host 's' for u", "postgres://u:p@s/w@host/db"), masked("at a://u:pw@h", "a://u:pw@h")
    ("no host '***' for u", 'at a://u:***@h')
    """
    told = text
    for secret in sorted(set(_told_apart(url)), key=len, reverse=True):
        within = len(secret) >= SHORTEST
        plain = re.escape(secret)
        told = re.sub(plain if within else rf"(?<!\w){plain}(?!\w)", HIDDEN, told)
    return HELD.sub(rf"\1:{HIDDEN}@", told)


def _told_apart(url: str) -> Iterator[str]:
    """The secrets, decoded too, and the pieces that a driver makes of one that is not quoted as URLs are."""
    for secret in _secrets(url):
        for spelled in (secret, unquote(secret), unquote_plus(secret)):
            yield spelled
            yield from (piece for piece in re.split(r"[/@?#:&=]", spelled) if piece)


def _secrets(url: str) -> Iterator[str]:
    """The password, which reaches to the last @ whatever stands in it, and what secret options are set to."""
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
    found = SCHEME.match(url)
    return found[1].lower() if found else ""


def path_of(url: str) -> str:
    """The file that a URL of a file's database names."""
    found = urlsplit(url)
    return unquote(found.netloc + found.path)


def options_of(url: str) -> dict[str, str]:
    """What stands behind the question mark."""
    return dict(parse_qsl(urlsplit(url).query))
