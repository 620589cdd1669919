"""Where a policy's table is: a file, the files of a pattern, in a warehouse, or passed by the caller.

A pattern is one where the policy says so. Below: the values that a policy declares to mean "missing".
"""

import hashlib
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import duckdb

from reid_sql.errors import OutOfDomainError, UnknownNameError
from reid_sql.models.columns.missing_value_codes import (
    STRUCTURAL_CODES,
    finite_numbers,
    is_listed,
)
from reid_sql.parameters import Row, Rows, fold_case, quoted, sql_text
from reid_sql.parameters.document import Place, shown
from reid_sql.sources.files import LOGS, Opened, Parts, match_files
from reid_sql.sources.formats import check_marks, check_skip, write_option
from reid_sql.sources.notes import list_notes
from reid_sql.sources.reading import AS_WRITTEN
from reid_sql.sources.remote import is_connection, url_of
from reid_sql.sources.text_content import TextFormat, check_encoding

LONGEST_PATH: Final = 4096
# what a warehouse has not
FILE_KEYS: Final = ("file", "files", "delimiter", "encoding", "header", "quote", "skip")
# What a table may be compared with: its population; what a synthetic table was made from, and people who were
# not used to make it; the release before this one; a table that it is joined with; published tables that are
# audited with it.
PUBLISHED: Final = ("published", "published_2", "published_3")
ROLES: Final = ("population", "original", "holdout", "former", "joined", *PUBLISHED)
OTHER_TABLES: Final = {  # the role of a function's table
    "population_tbl": "population",
    "original": "original",
    "holdout": "holdout",
    "first": "former",
    "right": "joined",
}
PASSED_IN_PYTHON: Final = "a table passed in Python"


@dataclass(frozen=True)
class Source:
    """A file, as the policy names it and where it lies; a database's table; how text is written.

    A table is named where the file is a database, the way of writing where it is text. `parts` are the files
    of a pattern, each with the values that the names of its folders give. Of a warehouse `location` is its
    URL, without secrets, and `path` the folder that the policy lies in; `passed` names a table of the
    caller's.
    """

    location: str
    path: Path
    table: str | None = None
    form: TextFormat = AS_WRITTEN
    parts: Parts = ()
    url: str | None = None
    passed: str | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files, one or those of the pattern."""
        if not self.of_file:
            return ()
        return tuple(path for path, _ in self.parts) or (self.path,)

    @property
    def of_file(self) -> bool:
        """Whether it is no table of a warehouse."""
        return self.url is None and self.passed is None


@dataclass(frozen=True)
class PolicyContext:
    """The folder of a policy, its URL, and the names of the tables that the caller passes."""

    folder: Path
    url: str | None = None
    passed: Collection[str] = ()


def read_url(place: Place, default: str | None = None) -> str | None:
    """Give the URL at the place, else the default; a secret in it is refused here."""
    if "url" not in place.values:
        return default
    url = place.text("url")
    if not is_connection(url):
        raise OutOfDomainError(
            f"{place.at('url')} must be a URL of a warehouse, got {shown(url)}; "
            "write it like postgres://host/database or env:WAREHOUSE_URL"
        )
    if "://" in url:
        url_of(place.at("url"), url)
    return url


def table_name(place: Place) -> str:
    """What the reports call the table: its name, else its database's table, else its file."""
    default = (
        place.text("table", "")
        or Path(place.text("files" if "files" in place.values else "file", "")).stem
    )
    return place.text("name", default)


def read_source(place: Place, context: PolicyContext, kind: str = "") -> Source:
    """Read where a table lies, or one that it is compared with, such as its population: `population_`."""
    folder, url = context.folder, read_url(place, context.url)
    name = place.text(f"{kind}table", "") if kind else table_name(place)
    if name in context.passed:
        return Source(PASSED_IN_PYTHON, folder, passed=name)
    if url is not None:
        return _read_warehouse_table(place, folder, url, kind)
    if not kind and "files" in place.values:
        return _read_pattern(place, folder)
    file = place.text(f"{kind}file")
    if not Path(file).name or "\0" in file:
        raise OutOfDomainError(
            f'{place.at(f"{kind}file")} must name a file, got {shown(file)}; write it like "people.parquet"'
        )
    named = place.text(f"{kind}table") if f"{kind}table" in place.values else None
    return Source(file, folder / file, named, _read_form(place))


def read_role_sources(place: Place, context: PolicyContext, source: Source) -> dict[str, Source]:
    """Where the tables lie that this one is compared with: in files, or next to the table in a warehouse."""
    role_sources = {}
    for role in ROLES:
        name = place.text(f"{role}_table", "")
        if (
            f"{role}_file" in place.values
            or (name and source.url is not None)
            or name in context.passed
        ):
            role_sources[role] = read_source(place, context, f"{role}_")
        elif name and source.passed is not None:
            raise UnknownNameError(
                f"tables must contain the {role} '{name}' of {place.where} too, got {sorted(context.passed)}; "
                "pass it by its name"
            )
        elif f"{role}_table" in place.values:
            raise OutOfDomainError(
                f"{place.at(f'{role}_table')} must come with {role}_file, got none; name the file too"
            )
    return role_sources


def _read_warehouse_table(place: Place, folder: Path, url: str, kind: str) -> Source:
    """The table that a warehouse has under this name."""
    for key in (f"{kind}file", *(() if kind else FILE_KEYS)):
        if key in place.values:
            raise OutOfDomainError(f"{place.at(key)} must not come with url, got both; remove one")
    table = place.text(f"{kind}table", "")
    if not table.strip():
        raise OutOfDomainError(
            f"{place.at(f'{kind}table')} must name the table of the warehouse, got none"
            '; write it like "schema.people"'
        )
    return Source(url, folder, table, url=url)


def _read_pattern(place: Place, folder: Path) -> Source:
    """The files of a pattern, seen from the policy."""
    pattern = place.text("files")
    for other in ("file", "table"):
        if other in place.values:
            raise OutOfDomainError(
                f"{place.at('files')} must not come with {other}, got both; remove one"
            )
    parts = match_files(place.at("files"), pattern, folder)
    return Source(pattern, folder / pattern, None, _read_form(place), parts)


def _read_form(place: Place) -> TextFormat:
    """How the table's text files are written."""
    delimiter = place.text("delimiter") if "delimiter" in place.values else None
    quote = place.text("quote", '"')
    check_marks(delimiter, quote, place.at, lambda key, mark: write_option("policy", key, mark))
    encoding = check_encoding(place.at("encoding"), place.text("encoding", "utf-8"))
    header = place.flag("header") if "header" in place.values else None
    skip = place.values.get("skip", 0)
    skip = check_skip(place.at("skip"), skip if isinstance(skip, list) else [skip])
    of_people = not any(f"{role}_file" in place.values for role in PUBLISHED)
    return TextFormat(delimiter, encoding, header, quote, skip, of_people)


REASON_CHANGED: Final = "the file changed while it was measured"
Stamp = tuple[int, int, int, int, int]


@dataclass(frozen=True)
class Evidence:
    """The hash of a table's file and of those it is compared with, each None if there is no single file.

    So it is where many files or a catalogue are behind it.
    """

    sha256: str | None
    role_hashes: Mapping[str, str | None]
    stamps: tuple[Stamp, ...]


def identify_files(source: Source, role_sources: Mapping[str, Source]) -> Evidence:
    """Hash the files of a table and of those that it is compared with."""
    files = [file for each in (source, *role_sources.values()) for file in files_of(each)]
    return Evidence(
        _hash_source(source),
        {role: _hash_source(each) for role, each in role_sources.items()},
        tuple(file_stamp(each) for each in files),
    )


def files_of(source: Source) -> list[Path]:
    """Give the files that are read: a database's write-ahead log has records, too."""
    present = [each for each in source.paths if each.is_file()]
    logs = [log for each in present for log in logs_of(each)]
    return [*present, *(each for each in logs if each.is_file())]


def logs_of(file: Path) -> list[Path]:
    """Name the write-ahead logs that a database may have: DuckDB's and SQLite's."""
    return [file.with_name(f"{file.name}{ending}") for ending in LOGS]


def _hash_source(source: Source) -> str | None:
    """Give the hash of one file; of several, that of their hashes and names as `sha256sum` lists them."""
    files = files_of(source)
    hashes = {}
    for each in files:
        with each.open("rb") as content:
            hashes[each] = hashlib.file_digest(content, "sha256").hexdigest()
    if len(files) <= 1:
        return next(iter(hashes.values()), None)
    folder = Path(os.path.commonpath([each.parent for each in files]))
    lines = [f"{each}  {file.relative_to(folder).as_posix()}\n" for file, each in hashes.items()]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def file_stamp(path: Path) -> Stamp:
    """What the file system says of a file: one that was put in its place and taken away leaves a trace."""
    stamp = path.stat()
    return stamp.st_dev, stamp.st_ino, stamp.st_size, stamp.st_mtime_ns, stamp.st_ctime_ns


# Values that a policy declares to mean "missing": `missing = { pregnant = ["97", "98"] }`. A
# quasi-identifier's code is a value of its own, as NULL is: the released table shows it, and codes made
# equal would understate the risk. So codes become NULL only where NULL is no value of its own (`wildcard`,
# `drop`), and in columns that no check counts by, such as sensitive ones, where a code is no second
# diagnosis.

NUMERIC_TYPES: Final = (
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "UHUGEINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL",
)
Codes = Mapping[str, tuple[str, ...]]  # by column


def read_missing(place: Place) -> dict[str, tuple[str, ...]]:
    """Read the table `missing`: for a column, its codes as texts or numbers."""
    missing = place.table("missing")
    read = {}
    for name, codes in missing.values.items():
        is_list = isinstance(codes, list) and bool(codes)
        if not is_list or not all(
            isinstance(each, str | int | float) and not isinstance(each, bool) for each in codes
        ):
            raise OutOfDomainError(
                f"{missing.at(name)} must be a list of values that mean missing, got {shown(codes)}"
                '; write it like ["97", "98"]'
            )
        read[name] = tuple(map(str, codes))
    return read


def without_declared(row: Row, codes: Codes) -> dict[str, Any]:
    """Leave the declared codes out of a column's profile: they are known to mean missing."""
    declared = codes_of(codes, row["column_name"])
    # in a column of texts, '098' is no declared '98'
    numbers = {*finite_numbers(declared)} if row["column_type"] != "text" else set()
    # one by the values beside it, whose value no profile shows, is declared by a code that no list has
    apart = STRUCTURAL_CODES if not all(map(is_listed, declared)) else ()
    undeclared = [
        (code, records)
        for code, records in zip(row["sentinels"], row["sentinel_records"], strict=True)
        if code not in (*declared, *apart) and not numbers & {*finite_numbers([code])}
    ]
    return {
        **row,
        "sentinels": [code for code, _ in undeclared],
        "sentinel_records": [records for _, records in undeclared],
    }


def codes_of(codes: Codes, column: str) -> tuple[str, ...]:
    """Return the codes of a column, whose name is compared without case."""
    return next((each for name, each in codes.items() if fold_case(name) == fold_case(column)), ())


def select_known(view: str, types: Mapping[str, str], codes: Codes) -> str:
    """Write a query of a table of DuckDB in which the codes are NULL; `types` are those of its columns."""
    replaced = [
        f"CASE WHEN {_is_code(name, kind, codes_of(codes, name))} THEN NULL ELSE {quoted(name)} END "
        f"AS {quoted(name)}"
        for name, kind in types.items()
        if codes_of(codes, name)
    ]
    return f"SELECT * REPLACE ({', '.join(replaced)}) FROM {view}" if replaced else f"FROM {view}"


def _is_code(name: str, kind: str, codes: Sequence[str]) -> str:
    """Test whether a cell is one of the codes: a number by its value, a time by its date, else its text."""
    if kind.startswith(NUMERIC_TYPES):
        numbers = ", ".join(map(repr, finite_numbers(codes))) or "NULL"
        return f"{quoted(name)}::DOUBLE IN ({numbers})"
    cell = f"{quoted(name)}::VARCHAR"
    cell = f"left({cell}, 10)" if kind.startswith(("DATE", "TIMESTAMP")) else cell
    return f"{cell} IN ({', '.join(sql_text(code) for code in codes)})"


@dataclass(frozen=True)
class ReadTable:
    """A table that a connection has read from a file of text, with what is known of its columns."""

    con: duckdb.DuckDBPyConnection
    name: str
    profile: Rows
    stamp: Stamp | None  # of the file, before it was read

    def attach(self, view: str, source: Source) -> Opened:
        """Give the table the name of the view, if the file is still the one that was read."""
        if self.stamp != file_stamp(source.path):
            raise OutOfDomainError(f"FILE must stay as it is, but {REASON_CHANGED}; start again")
        self.con.execute(f"CREATE TEMP VIEW {view} AS FROM {self.name}")
        return Opened(view, notes=list_notes())
