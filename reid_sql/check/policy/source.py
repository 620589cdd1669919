"""The files of a policy's table: one, or those of a pattern, and how text is written in them.

A pattern is one where the policy says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from reid_sql.document import Place, shown
from reid_sql.domains import Choice
from reid_sql.errors import OutOfDomainError, UnknownNameError
from reid_sql.source import AS_WRITTEN
from reid_sql.text_file import ENCODINGS, Form

ENCODING: Final = Choice(ENCODINGS)
LONGEST_PATH: Final = 4096
MOST_FILES: Final = 10_000
NO_VALUE: Final = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class Source:
    """A file, as the policy names it and where it lies; a database's table; how text is written.

    A table is named where the file is a database, the way of writing where it is text. `parts` are the files
    of a pattern, each with the values that the names of its folders give.
    """

    given: str
    path: Path
    table: str | None = None
    form: Form = AS_WRITTEN
    parts: tuple[tuple[Path, Mapping[str, str | None]], ...] = ()

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files, one or those of the pattern."""
        return tuple(path for path, _ in self.parts) or (self.path,)


def source_of(place: Place, folder: Path, kind: str = "") -> Source:
    """Read where a table lies, or its population with the kind `population_`."""
    if not kind and "files" in place.values:
        return _of_pattern(place, folder)
    given = place.text(f"{kind}file")
    if not Path(given).name or "\0" in given:
        raise OutOfDomainError(
            f'{place.at(f"{kind}file")} must name a file, got {shown(given)}; write it like "people.parquet"'
        )
    named = place.text(f"{kind}table") if f"{kind}table" in place.values else None
    return Source(given, folder / given, named, _form(place))


def _of_pattern(place: Place, folder: Path) -> Source:
    """Find the files of a pattern; folders' names like zip=0123 below its fixed part are values, as text."""
    given = place.text("files")
    for other in ("file", "table"):
        if other in place.values:
            raise OutOfDomainError(
                f"{place.at('files')} must stand without {other}, got both; leave one away"
            )
    names = glob(str(folder / given), recursive=True)  # noqa: PTH207 - an absolute pattern
    found = sorted(Path(name) for name in names if Path(name).is_file())
    if not 1 <= len(found) <= MOST_FILES:
        rule = f"{place.at('files')} must match 1 to {MOST_FILES} files, got {len(found)} for '{given}'"
        raise UnknownNameError(f'{rule}; write it like "people/*.parquet", seen from the policy')
    return Source(
        given,
        folder / given,
        None,
        _form(place),
        tuple((each, _values(folder, given, each)) for each in found),
    )


def _values(folder: Path, pattern: str, file: Path) -> dict[str, str | None]:
    fixed = 0
    parts = (folder / pattern).parts
    while fixed < len(parts) and not set(parts[fixed]) & set("*?["):
        fixed += 1
    named = [part.partition("=") for part in file.parts[fixed:-1] if "=" in part]
    return {unquote(name): None if value == NO_VALUE else unquote(value) for name, _, value in named}


def _form(place: Place) -> Form:
    """How the table's text files are written."""
    delimiter = place.text("delimiter") if "delimiter" in place.values else None
    quote = place.text("quote", '"')
    for key, mark, lengths in (("delimiter", delimiter or ",", (1,)), ("quote", quote, (0, 1))):
        if len(mark) not in lengths or not mark.isascii() or set(mark) & set("\r\n\0"):
            rule = f"{place.at(key)} must be a single ASCII character, got {shown(mark)}"
            raise OutOfDomainError(f'{rule}; write it like delimiter = ";" or quote = "\'"')
    if quote and delimiter == quote:
        raise OutOfDomainError(
            f"{place.at('quote')} must differ from the delimiter, got {shown(quote)} for both; name another"
        )
    encoding = ENCODING.check(place.at("encoding"), place.text("encoding", "utf-8"))
    header = place.flag("header") if "header" in place.values else True
    return Form(delimiter, encoding, header, quote)
