"""A table in a file, unchanged: CSV, Parquet, JSON or a DuckDB database, and all files of a pattern."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from glob import glob
from itertools import islice
from pathlib import Path
from typing import Final
from urllib.parse import unquote

import duckdb
from duckdb import DuckDBPyConnection

from reid_sql.errors import OutOfDomainError, UnknownNameError, suggestion
from reid_sql.parameters import ColumnNames, quoted, sql_text
from reid_sql.sources.formats import TextFile
from reid_sql.sources.notes import Note, add_notes
from reid_sql.sources.other_programs import (
    SQLITE,
    SQLITE_BEGINS,
    WORKBOOKS,
    list_sheets,
    list_sqlite_tables,
)
from reid_sql.sources.reading import (
    AS_WRITTEN,
    FORMAT_READ,
    JSON,
    KINDS,
    refuse_missing_records,
    select_from,
)
from reid_sql.sources.remote import fetch_to_file, is_remote
from reid_sql.sources.spill import process_folder, spill_into
from reid_sql.sources.text_content import TEXTS, TextFormat
from reid_sql.terminal.progress import update
from reid_sql.terminal.runner import QUIET, run, sentence

# the environment variable for whatever has no connection of the user's: frames, warehouses, files
MEMORY_LIMIT: Final = "REID_SQL_MEMORY_LIMIT"
SIZE: Final = re.compile(r"\s*[0-9.]*[1-9]")
DATABASES: Final = (".duckdb", ".db", ".ddb")
LOGS: Final = (".wal", "-wal")  # which a database of DuckDB, or of SQLite, is read with
BESIDE_DATABASES: Final = (*LOGS, "-shm")
SLOW_TO_READ: Final = (*TEXTS, *JSON)
PACKED: Final = (".gz", ".zst")
VIEW: Final = "reid_input"  # the table of a command
KEPT: Final = f"{VIEW}_read"  # with all records of a file of text
# A value is the same wherever it is read; a time with a zone is converted to UTC.
CONFIG: Final[dict[str, str | bool | int | float | list[str]]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
MOST_FILES: Final = 10_000
MIN_COMPRESSED: Final = 1_000_000  # records: compressing takes a sixth of the time of a report
NO_VALUE: Final = "__HIVE_DEFAULT_PARTITION__"
Parts = tuple[tuple[Path, Mapping[str, str | None]], ...]


@dataclass(frozen=True)
class Opened:
    """A file in a connection: the view, whether a database's view is behind it, what a text file holds.

    `notes` are what was decided while it was read, `others` the other tables and views of a database.
    """

    view: str
    of_view: bool = False
    path: Path | None = None
    text: TextFile | None = None
    form: TextFormat = AS_WRITTEN
    notes: tuple[Note, ...] = ()
    others: tuple[str, ...] = ()

    def refuse_missing_records(self, words: str, read: int) -> None:
        """Refuse where fewer or more records were read than the file has."""
        if self.path is not None and self.text is not None:
            refuse_missing_records(words, self.path, self.text, self.form, read)


def connect_quietly() -> DuckDBPyConnection:
    """Open a private connection, which fetches nothing from elsewhere; `make_functions` puts functions in."""
    from reid_sql.engines.duckdb import open_private  # noqa: PLC0415 - help is shown without the functions
    from reid_sql_udfs import declared  # noqa: PLC0415 - the same

    con = duckdb.connect(config=CONFIG)
    con.execute(f"{QUIET}; SET TimeZone = 'UTC'")
    if limit := os.environ.get(MEMORY_LIMIT):
        limit_memory(con, limit, MEMORY_LIMIT)
    open_private(con, declared())
    return con


def open_source(
    file: str,
    table: str | None = None,
    *,
    pattern: bool = False,
    memory_limit: str | None = None,
    form: TextFormat = AS_WRITTEN,
    keep: bool = False,
) -> tuple[DuckDBPyConnection, str]:
    """Open the file read-only: a connection with the functions, and the name by which they find the table.

    A `pattern` is read as all files that it matches; `-` is standard input. To `keep` the records is for many
    queries of all columns: else each reads a file of text anew.
    """
    con = connect_quietly()
    spill_into(con, process_folder())
    update("reading")
    if memory_limit is not None:
        limit_memory(con, memory_limit)
    if pattern:
        parts = [(path, dict(values)) for path, values in match_files("--files", file, Path())]
        return con, attach_sources(con, VIEW, "--files", parts, form).view
    if is_remote(file):
        with fetch_to_file(con, "FILE", file) as path:
            attach_checked(con, VIEW, "FILE", str(path), form, table)
            con.execute(f"CREATE TEMP TABLE {VIEW}_here AS FROM {VIEW}")
        return con, f"{VIEW}_here"
    return con, attach_checked(con, VIEW, "FILE", file, form, table, keep=keep)


def attach_checked(  # noqa: PLR0917 - all of what names a file
    con: DuckDBPyConnection,
    view: str,
    option: str,
    file: str,
    form: TextFormat,
    table: str | None = None,
    *,
    keep: bool = False,
) -> str:
    """Attach a file as a view, and check that all of its records were read; return the name to read it by."""
    words = "--table" if option == "FILE" and check_source(option, file) in DATABASES else option
    source = attach_source(con, view, words, file, table, form)
    if keep and check_source(option, file) in SLOW_TO_READ:
        view = _keep(con, view)
    if source.text is not None:
        read = con.execute(f"SELECT count(*) FROM {view}").fetchall()[0][0]
        source.refuse_missing_records(option, read)
    return view


def _keep(con: DuckDBPyConnection, view: str) -> str:
    """Store all records of a view in memory; the columns of many are compressed, to a fifth."""
    con.execute("ATTACH ':memory:' AS reid_kept (COMPRESS)")
    table = f"reid_kept.main.{view}"
    run(con, f"CREATE TABLE {table} AS FROM {view}", None, "reading")
    records = con.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0]
    if records >= MIN_COMPRESSED:
        run(con, "FORCE CHECKPOINT reid_kept", None, "reading")
    con.execute(f"CREATE TEMP VIEW {view}_read AS FROM {table}")
    return f"{view}_read"


def attach_source(  # noqa: PLR0917 - all of what names a file
    con: DuckDBPyConnection,
    view: str,
    words: str,
    file: str,
    table: str | None = None,
    form: TextFormat = AS_WRITTEN,
) -> Opened:
    """Put the file into the connection, read-only, as a view; `words` is what a refusal calls the file.

    The view has this name.
    """
    kind = check_source(words, file)
    if kind in DATABASES:
        # Under a name of its own, nothing in a database shadows a function or a setting of ours. Its views
        # and its generated columns may call any function.
        from reid_sql.engines.duckdb import make_functions  # noqa: PLC0415 - help is shown without the functions
        from reid_sql_udfs import declared  # noqa: PLC0415 - the same

        make_functions(con, declared())
        relations = _list_database(con, words, file, catalog := f"{view}_database")
        schema, name, of_view = _table_of(words, table, relations)
        _view(con, view, f"{catalog}.{quoted(schema)}.{quoted(name)}")
        others = tuple(_names_of(each for each in relations if each[:2] != (schema, name)))
        return Opened(view, of_view=of_view, others=others)
    if table is not None and kind not in {*WORKBOOKS, *SQLITE}:
        raise OutOfDomainError(
            f"{words} must be a database or a workbook where a table is named, got '{file}'; "
            "leave the table out"
        )
    with _readable(words, Path(file), kind):
        read = select_from(con, words, Path(file), kind, form, table)
        _view(con, view, f"({read.select})")
    add_notes(read.notes)
    listed = list_sqlite_tables(words, Path(file)) if kind in SQLITE and table is not None else []
    others = tuple(name for name in listed if name != table)
    return Opened(view, path=Path(file), text=read.text, form=form, notes=read.notes, others=others)


def attach_sources(
    con: DuckDBPyConnection,
    view: str,
    words: str,
    parts: Sequence[tuple[Path, dict[str, str | None]]],
    form: TextFormat,
) -> Opened:
    """Put many files into the connection as one view; parts have the values of their folders' names."""
    selects, records, first_types, notes = [], 0, None, dict[Note, None]()
    for path, values in parts:
        kind = check_source(words, str(path))
        if kind in DATABASES:
            raise OutOfDomainError(
                f"{words} must be CSV, Parquet or JSON, got '{path.name}'; name a database by file"
            )
        with _readable(words, path, kind):
            select, inspected, noted = select_from(con, words, path, kind, form)
            types = con.execute(
                f"SELECT column_name, column_type FROM (DESCRIBE ({select}))"
            ).fetchall()
        notes |= dict.fromkeys(noted)
        if first_types is not None and sorted(types) != sorted(first_types):
            raise OutOfDomainError(
                f"{words} must have the same columns in every file, got others in '{path.name}'; mend it"
            )
        first_types = first_types or types  # columns in another order are found by their names
        selects.append(
            _select_with_folders(words, select, [name for name, _ in first_types], values)
        )
        records += inspected.records if inspected else 0
    _view(con, view, f"({' UNION ALL '.join(selects)})")
    add_notes(notes)
    if inspected is None:
        return Opened(view, notes=tuple(notes))
    read = int(con.execute(f"SELECT count(*) FROM {view}").fetchall()[0][0])
    if read != records:
        raise OutOfDomainError(
            f"{words} must be read to the last record of each file, "
            f"got {read} of {records}; mend quotes and breaks"
        )
    return Opened(view, notes=tuple(notes))


def _select_with_folders(
    words: str, select: str, columns: ColumnNames, values: Mapping[str, str | None]
) -> str:
    """Write the query of a file with the values of its folders' names as further columns."""
    names = [quoted(name) for name in columns]
    in_file = {name.lower() for name in columns}
    for name, value in values.items():
        if name.lower() in in_file:
            raise OutOfDomainError(
                f"{words} must not name a column by a folder and in a file, got '{name}' twice; rename one"
            )
        text = "NULL" if value is None else sql_text(value)
        names.append(f"{text}::VARCHAR AS {quoted(name)}")
    return f"SELECT {', '.join(names)} FROM ({select})"


@contextmanager
def _readable(words: str, path: Path, kind: str) -> Iterator[None]:
    """Name a file whose content does not fit its suffix; a file that another program locks is none."""
    try:
        yield
    except (
        duckdb.IOException,
        duckdb.InvalidInputException,
        duckdb.SerializationException,
    ) as error:
        why = sentence(error).replace(str(path.absolute()), path.name).rstrip("!. ")
        if "lock" in why:
            raise
        if why.startswith(words):  # of a record that is none
            raise OutOfDomainError(why) from None
        of = "a DuckDB database" if kind in DATABASES else f"a {kind.lstrip('.')} file"
        raise OutOfDomainError(
            f"{words} must be {of} that can be read, got '{path}': {why}; write it anew, or give it the ending of what it is"
        ) from None


def _view(con: DuckDBPyConnection, view: str, source: str) -> None:
    """Make the view; times that know their zone become times in UTC, which every client can fetch."""
    zoned = [
        name
        for name, kind, *_ in con.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
        if kind == "TIMESTAMP WITH TIME ZONE"
    ]
    converted = ", ".join(f"timezone('UTC', {quoted(name)}) AS {quoted(name)}" for name in zoned)
    con.execute(
        f"CREATE TEMP VIEW {view} AS SELECT *{f' REPLACE ({converted})' if zoned else ''} FROM {source}"
    )


def list_tables(words: str, file: str) -> list[str]:
    """Name the tables of a database, or the sheets of a workbook; none of a file that is a table itself."""
    kind = check_source(words, file)
    if kind in WORKBOOKS:
        return list_sheets(words, Path(file))
    if kind in SQLITE:
        return list_sqlite_tables(words, Path(file))
    if kind not in DATABASES:
        return []
    with connect_quietly() as con:
        relations = _list_database(con, words, file, "reid_listed")
    return _names_of(relations)


def _names_of(relations: Iterable[tuple[str, str, bool]]) -> list[str]:
    """Name the relations of a database, with their schema if it is another one than main."""
    return [name if schema == "main" else f"{schema}.{name}" for schema, name, _ in relations]


def _list_database(
    con: DuckDBPyConnection, words: str, file: str, catalog: str
) -> list[tuple[str, str, bool]]:
    """Attach a database, and list its tables and views: schema, name, and whether it is a view."""
    with _readable(words.replace("--table", "FILE"), Path(file), Path(file).suffix):
        con.execute(
            f"ATTACH {sql_text(str(Path(file).absolute()))} AS {catalog} (READ_ONLY, TYPE duckdb)"
        )
    return con.execute(
        """SELECT schema_name, table_name, false FROM duckdb_tables()
           WHERE database_name = $1 AND NOT internal
           UNION ALL SELECT schema_name, view_name, true FROM duckdb_views()
           WHERE database_name = $1 AND NOT internal
           ORDER BY ALL""",
        [catalog],
    ).fetchall()


def _table_of(
    words: str, table: str | None, relations: Sequence[tuple[str, str, bool]]
) -> tuple[str, str, bool]:
    """Find the table by its name, or by its schema and name; the only one where none is named."""
    plain = _names_of(relations)
    if table is None and len(relations) == 1:
        return relations[0]
    where = _table_option(words)
    if table is None:
        raise UnknownNameError(
            f"{where} must name the table of the database to measure, got none; "
            f"{suggestion('', plain, 'tables')}"
        )
    for match in relations:
        if table in (match[1], f"{match[0]}.{match[1]}") and (match[0] == "main" or "." in table):
            return match
    raise UnknownNameError(
        f"{where} must be a table of the database, got '{table}'; {suggestion(table, plain, 'tables')}"
    )


def _table_option(words: str) -> str:
    """Return what names the table of this file: an option, or a key of a policy."""
    if words.startswith("--"):
        return words
    return f"--{words.lower()}-table" if words.isupper() else f"{words.removesuffix('file')}table"


def check_source(words: str, file: str) -> str:
    """Return the kind of the file, by its ending; refuses a missing one or a kind that cannot be read."""
    path = Path(file)
    if not path.is_file():
        raise UnknownNameError(
            f"{words} must be an existing file, got '{file}'; {_hint(words, path)}"
        )
    suffix = kind_of(path)
    if suffix is None:
        kinds = ", ".join((*KINDS, *DATABASES))
        raise UnknownNameError(
            f"{words} must be of a kind that can be read ({kinds}), got '{file}'; rename or convert it"
        )
    return suffix


def kind_of(path: Path) -> str | None:
    """Return the kind of a file by its ending; None of one that cannot be read.

    Databases of DuckDB and of SQLite share an ending.
    """
    suffix, _ = _endings(path)
    if suffix in DATABASES and path.is_file():
        with path.open("rb") as file:
            suffix = SQLITE[0] if file.read(len(SQLITE_BEGINS)) == SQLITE_BEGINS else suffix
    return suffix if suffix in {*KINDS, *DATABASES} else None


def refuse_unread_format(
    form: TextFormat, files: Iterable[str | Path], name: Callable[[str], str]
) -> None:
    """Refuse a way of writing text that describes none of the files; `name` names what gives it.

    What has no known ending, such as a stream or a pattern, may be text.
    """
    form = replace(form, of_people=AS_WRITTEN.of_people)  # which is what it holds
    kinds = sorted({_endings(Path(file))[0] for file in files})
    if not kinds or not {*kinds} <= {*KINDS, *DATABASES}:
        return
    for each in fields(form):
        reads = (kind in TEXTS or each.name in FORMAT_READ.get(kind, ()) for kind in kinds)
        if getattr(form, each.name) != getattr(AS_WRITTEN, each.name) and not any(reads):
            raise OutOfDomainError(
                f"{name(each.name)} must describe a file that is read, got {', '.join(kinds)}, which have it themselves; omit it"
            )


def _hint(words: str, path: Path) -> str:
    """Suggest the nearest file, or how to pass a pattern."""
    if words == "FILE" and set(path.name) & set("*?["):
        return "pass --files where it is a pattern of files"
    if words == "FILE" and path.is_dir():
        if kind := _kind_within(path.iterdir()):
            return f"pass --files '{path}/*{kind}' for the files of a folder"
        if kind := _kind_within(path.rglob("*")):
            return f"pass --files '{path}/**/*{kind}' for the files of a folder"
        return "it is a folder without a file that can be read: name a file"
    siblings: list[str] = []
    with suppress(OSError):
        siblings = sorted(other.name for other in path.parent.iterdir() if other.is_file())
    return suggestion(path.name, siblings, f"files in '{path.parent}'")


def kind_of_folder(folder: Path) -> str:
    """Return the most frequent ending of the files in the folder and below that can be read."""
    return _kind_within(folder.rglob("*")) or ".parquet"


def _kind_within(files: Iterable[Path]) -> str:
    """Return the most frequent suffix of those files that can be read, if there are any."""
    suffixes: list[str] = []
    with suppress(OSError):
        suffixes = ["".join(_endings(other)) for other in islice(files, MOST_FILES)]
    readable = sorted(each for each in suffixes if each.startswith(KINDS))
    return max(readable, key=readable.count, default="")


def _endings(path: Path) -> tuple[str, str]:
    """Return the suffix of the content and of the compression, in small letters."""
    name = Path(path.name.lower())
    packed = name.suffix if name.suffix in PACKED else ""
    return Path(name.name.removesuffix(packed)).suffix, packed


def limit_memory(con: DuckDBPyConnection, size: str, label: str = "--memory-limit") -> None:
    """Let the connection use this much memory, or refuse what is no size."""
    try:
        if not SIZE.match(size):  # DuckDB takes one below 0 for no limit
            raise duckdb.ParserException(size)
        con.execute(f"SET memory_limit = {sql_text(size)}")
    except duckdb.Error:
        raise OutOfDomainError(f"{label} must be a size, got '{size}'; write it like 2GB") from None


def match_files(words: str, pattern: str, folder: Path) -> Parts:
    """Find the files of a pattern; folders' names like zip=0123 below its fixed part are values, as text.

    `words` is what a refusal calls the pattern, which is seen from the folder.
    """
    names = glob(str(folder / pattern), recursive=True)  # noqa: PTH207 - an absolute pattern
    files = sorted(Path(name) for name in names if Path(name).is_file())
    if not 1 <= len(files) <= MOST_FILES:
        raise UnknownNameError(
            f"{words} must match 1 to {MOST_FILES} files, got {len(files)} for '{pattern}'"
            '; write it like "people/*.parquet"'
        )
    return tuple((each, _folder_values(folder, pattern, each)) for each in files)


def _folder_values(folder: Path, pattern: str, file: Path) -> dict[str, str | None]:
    fixed = 0
    parts = (folder / pattern).parts
    while fixed < len(parts) and not set(parts[fixed]) & set("*?["):
        fixed += 1
    named = [part.partition("=") for part in file.parts[fixed:-1] if "=" in part]
    return {
        unquote(name): None if value == NO_VALUE else unquote(value) for name, _, value in named
    }
