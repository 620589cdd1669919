"""The query that reads a file of each kind, unchanged; what DuckDB cannot read is put into a table first."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple
from uuid import uuid4

from duckdb import DuckDBPyConnection
from duckdb.sqltypes import DuckDBPyType

from reid_sql.engines.file_headers import pattern_of_totals, refuse_repeated_names
from reid_sql.errors import OutOfDomainError
from reid_sql.parameters import quoted, sql_text
from reid_sql.sources.formats import TextFile, count_slowly, inspect_text, write_option
from reid_sql.sources.json_files import GEOGRAPHIC, MAX_DEPTH, MAX_KEYS, select_json
from reid_sql.sources.notes import Note
from reid_sql.sources.other_programs import (
    SQLITE,
    STATISTICS,
    WORKBOOKS,
    read_sqlite,
    read_statistics,
    write_sheet,
)
from reid_sql.sources.spill import process_folder
from reid_sql.sources.text_content import ENCODINGS, TEXTS, TextFormat, decode_to_file

LINES: Final = (".ndjson", ".jsonl")
JSON: Final = (".json", GEOGRAPHIC, *LINES)
AS_WRITTEN: Final = TextFormat()
KINDS: Final = (*TEXTS, ".parquet", *JSON, *WORKBOOKS, *STATISTICS, *SQLITE)


FORMAT_READ: Final = {  # what is read of the way in which text is written, of other files
    **dict.fromkeys(WORKBOOKS, ("header", "skip")),
    **dict.fromkeys(STATISTICS, ("encoding",)),
    ".por": (),
}


class Reading(NamedTuple):
    """The query that reads a file, what a text file must have, and what was decided on the way."""

    select: str
    text: TextFile | None = None
    notes: tuple[Note, ...] = ()


def is_read_by_sql(kind: str, form: TextFormat) -> bool:
    """Whether DuckDB reads a file of the kind itself; else its records are in a table of the connection.

    It skips no lines that have quotes, as it takes them for those of a field.
    """
    if kind in TEXTS:
        return form.encoding in ENCODINGS and not any(form.skip)
    return kind not in {*WORKBOOKS, *STATISTICS, *SQLITE}


def select_from(  # noqa: PLR0917 - all of what names a file
    con: DuckDBPyConnection,
    words: str,
    path: Path,
    kind: str,
    form: TextFormat,
    part: str | None = None,
) -> Reading:
    """Write the query that reads the file, or a part of it: a sheet or a table."""
    if kind in WORKBOOKS:
        return _read_sheet(con, words, path, part, form)
    if kind in {*SQLITE, *STATISTICS}:
        frame, notes = (
            (read_sqlite(words, path, part), ())
            if kind in SQLITE
            else read_statistics(words, path, kind, form.encoding)
        )
        refuse_repeated_names(words, tuple(frame.columns))
        name = f"reid_decoded_{uuid4().hex}"
        con.register(f"{name}_read", frame.to_arrow())
        con.execute(f"CREATE TEMP TABLE {name} AS FROM {name}_read")
        con.unregister(f"{name}_read")
        return Reading(f"SELECT * FROM {name}", notes=notes)
    if kind in TEXTS:
        inspected = inspect_text(words, path, form)
        if is_read_by_sql(kind, form) and not inspected.breaks_in_header:
            select = _select_csv(words, path, inspected, form, has_header=form.has_header)
            return Reading(select, inspected)
        decoded = _read_decoded(con, words, path, inspected, form)
        return Reading(decoded, inspected, inspected.notes)
    if kind in JSON:
        pattern = escape_pattern(path)
        return Reading(select_json(con, words, path, pattern, lines=kind in LINES))
    refuse_repeated_names(words, _parquet_names(con, path))
    select = (
        f"SELECT * FROM read_parquet({sql_text(escape_pattern(path))}, hive_partitioning = false)"
    )
    return Reading(_divide_structs(con, words, select))


def _divide_structs(con: DuckDBPyConnection, words: str, select: str) -> str:
    """Select each field of a struct as a column, "home.city", as the keys of an object of JSON."""
    relation = con.sql(select)
    whole = dict(zip(relation.columns, relation.types, strict=True))
    fields = [each for name, kind in whole.items() for each in _list_fields((name,), kind)]
    if len(fields) == len(whole) and all(len(path) == 1 for path in fields):
        return select
    names = [".".join(path) for path in fields]
    refuse_repeated_names(words, tuple(names))
    listed = (
        f"{_extract_field(path)} AS {quoted(name)}"
        for path, name in zip(fields, names, strict=True)
    )
    return f"SELECT {', '.join(listed)} FROM ({select})"


def _list_fields(path: tuple[str, ...], kind: DuckDBPyType) -> list[tuple[str, ...]]:
    """List the places of the values within a column, as deep as in JSON."""
    if kind.id != "struct" or len(path) > MAX_DEPTH or len(kind.children) > MAX_KEYS:
        return [path]
    return [
        each
        for name, within in kind.children
        if isinstance(within, DuckDBPyType)
        for each in _list_fields((*path, name), within)
    ]


def _extract_field(path: tuple[str, ...]) -> str:
    value = quoted(path[0])
    for name in path[1:]:
        value = f"struct_extract({value}, {sql_text(name)})"
    return value


def _parquet_names(con: DuckDBPyConnection, path: Path) -> tuple[str, ...]:
    """List the columns as the file names them; DuckDB would rename one that differs in capitals alone."""
    schema = f"SELECT name, num_children FROM parquet_schema({sql_text(escape_pattern(path))})"
    fields = iter(con.execute(schema).fetchall())
    names = []
    for _ in range(next(fields, ("", 0))[1] or 0):
        name, children = next(fields)
        names.append(name)
        while children:  # the fields within it follow
            children += (next(fields)[1] or 0) - 1
    return tuple(names)


def _select_csv(
    words: str, path: Path, inspected: TextFile, form: TextFormat, *, has_header: bool
) -> str:
    """Read texts as texts, every line of them: nothing is sniffed, no line is a comment.

    A record that repeats the header comes from files that were put together with theirs, and is refused.
    """
    columns = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(inspected.names)))
    named = ", ".join(f"c{place} AS {quoted(name)}" for place, name in enumerate(inspected.names))
    quote = sql_text(form.quote)
    marks = f"delim = {sql_text(inspected.delimiter)}, quote = {quote}, escape = {quote}"
    written = f"{marks}, header = {has_header}, encoding = '{form.encoding}'"
    strict = "auto_detect = false, comment = '', strict_mode = true, null_padding = false, ignore_errors = false"
    read = f"{written}, {strict}, hive_partitioning = false"
    rows = f"read_csv({sql_text(escape_pattern(path))}, columns = {{{columns}}}, {read})"
    return f"SELECT {named} FROM {rows}{_refuse_no_records(words, inspected, form)}"


def _read_decoded(
    con: DuckDBPyConnection, words: str, path: Path, inspected: TextFile, form: TextFormat
) -> str:
    """Read a file that DuckDB cannot read into a table, whose spilled parts are encrypted.

    Its text in an encoding that DuckDB knows is in a file of the process as long as DuckDB reads it. A header
    with line breaks is not in it: DuckDB looks in the header for the line breaks of all records, and reads no
    record where those are others, as in a CSV that Excel writes.
    """
    encoding = form.encoding if form.encoding == "latin-1" else "utf-8"
    above, below = form.skip
    breaks = inspected.breaks_in_header
    skipped = replace(form, skip=(above + 1 + breaks, below)) if breaks else form
    with _decoded_file() as decoded:
        decode_to_file(path, skipped, decoded)
        select = _select_csv(
            words,
            decoded,
            inspected,
            replace(form, encoding=encoding, skip=(0, 0)),
            has_header=form.has_header and not breaks,
        )
        return _keep(con, select, decoded)


def _read_sheet(
    con: DuckDBPyConnection, words: str, path: Path, sheet: str | None, form: TextFormat
) -> Reading:
    """Read a sheet of a workbook as the CSV that it would be saved as, with all that is asked of one."""
    with _decoded_file() as decoded:
        notes = write_sheet(words, path, sheet, decoded)
        as_csv = TextFormat(",", header=form.header, skip=form.skip)
        select, inspected, skipped = select_from(con, words, decoded, ".csv", as_csv)
        kept = _keep(con, select, decoded)
        read = con.execute(f"SELECT count(*) FROM ({kept})").fetchall()[0][0]
        if inspected is not None:
            refuse_missing_records(words, decoded, inspected, as_csv, read)
        return Reading(kept, notes=(*notes, *skipped))


@contextmanager
def _decoded_file() -> Iterator[Path]:
    """Give a file of the process, to be read within this alone."""
    decoded = process_folder() / f"reid_decoded_{uuid4().hex}.csv"
    try:
        yield decoded
    finally:
        decoded.unlink(missing_ok=True)


def _keep(con: DuckDBPyConnection, select: str, decoded: Path) -> str:
    """Keep what is read in a table of the connection, named as the file."""
    con.execute(f"CREATE TEMP TABLE {decoded.stem} AS {select}")
    return f"SELECT * FROM {decoded.stem}"


MOST_COLUMNS: Final = 100  # of a table among whose records a total is looked for


def _refuse_no_records(words: str, inspected: TextFile, form: TextFormat) -> str:
    """Refuse, where a record is read, one that is none: the header again, or a total of the records above.

    The header has the names of two or more columns. Of a total, at least half of the fields behind the first
    are empty that most records fill, and the others are figures.
    """
    if len(inspected.names) < 2:  # noqa: PLR2004 - one column has no other
        return ""
    columns = [f"c{place}" for place in range(len(inspected.names))]
    named = " AND ".join(
        f"{column} = {sql_text(name)}"
        for column, name in zip(columns, inspected.names, strict=True)
        if name != f"column{column[1:]}"
    )
    header = f"{words} must have its header once, got a record that repeats it; remove it"
    total = f"{words} must have a record in each line, got one that looks like a total of others; remove these, or write the first field otherwise if it is a record"
    empty = " + ".join(
        f"(coalesce(trim({columns[place]}), '') = '')::INTEGER" for place in inspected.filled
    )
    figures = f"regexp_full_match(trim(concat({', '.join(columns[1:])})), '[^\\p{{L}}]+')"
    is_called = f"regexp_full_match(c0, {sql_text(pattern_of_totals())})"
    cases = []
    if named and form.has_header:
        cases.append(f"WHEN {named} THEN error({sql_text(header)})")
    # of one value, nothing shows what it is
    if form.of_people and 2 < len(columns) <= MOST_COLUMNS and inspected.filled:  # noqa: PLR2004
        is_total = f"{figures} AND 2 * ({empty}) >= {len(inspected.filled)}"
        # of few records more than the first field is looked at
        cases.append(
            f"WHEN {is_called} THEN CASE WHEN {is_total} THEN error({sql_text(total)}) ELSE true END"
        )
    return f" WHERE CASE {' '.join(cases)} ELSE true END" if cases else ""


def escape_pattern(path: Path) -> str:
    """Write a path so that no character of it is a pattern."""
    return escape_letters(str(path.absolute()))


def escape_letters(path: str) -> str:
    """Write each character that could be part of a pattern as a class of its own."""
    return "".join(f"[{letter}]" if letter in "[*?" else letter for letter in path)


def refuse_missing_records(
    words: str, path: Path, inspected: TextFile, form: TextFormat, read: int
) -> None:
    """Refuse where fewer or more records were read than the file has."""
    if read == inspected.records or count_slowly(path, inspected.delimiter, form) == read:
        return
    rule = f"{words} must be read to its last record, got {read} of {inspected.records}"
    option = write_option(words, "quote", "")
    raise OutOfDomainError(
        f"{rule}; mend its quotes and line breaks, or write {option} if it has no quotes"
    )
