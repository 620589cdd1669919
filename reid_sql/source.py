"""The file that the command measures: CSV, Parquet, JSON, or a table of a DuckDB database."""

from pathlib import Path
from typing import Final

import duckdb

from reid_sql import register
from reid_sql.domains import sql_text
from reid_sql.errors import OutOfDomainError, UnknownNameError
from reid_sql.suggestion import suggestion

# Text is read as text: a reader that guesses numbers would make one class of 01234 and 1234.
READERS: Final = {
    ".csv": "read_csv({path}, all_varchar = true)",
    ".tsv": "read_csv({path}, all_varchar = true)",
    ".txt": "read_csv({path}, all_varchar = true)",
    ".parquet": "read_parquet({path})",
    ".json": "read_json_auto({path})",
    ".ndjson": "read_json_auto({path})",
    ".jsonl": "read_json_auto({path})",
}
DATABASES: Final = (".duckdb", ".db", ".ddb")
PACKED: Final = (".gz", ".zst")


def open_source(file: str, table: str | None = None) -> tuple[duckdb.DuckDBPyConnection, str]:
    """Open the file read-only: a connection with the functions, and the name by which they find the table."""
    if check_source("FILE", file) in DATABASES:
        con = duckdb.connect(file, read_only=True)
        register(con)
        return con, _table_of(con, "--table", table)
    con = duckdb.connect()
    register(con)
    attach_source(con, "reid_input", "FILE", file)
    return con, "reid_input"


def attach_source(
    con: duckdb.DuckDBPyConnection, view: str, words: str, file: str, table: str | None = None
) -> None:
    """Put the file into the connection, read-only, as a view of this name; `words` is what a refusal calls the file."""
    kind = check_source(words, file)
    if kind not in DATABASES:
        con.execute(f"CREATE TEMP VIEW {view} AS FROM {READERS[kind].format(path=sql_text(file))}")
        return
    catalog = f"{view}_database"
    con.execute(f"ATTACH {sql_text(file)} AS {catalog} (READ_ONLY)")
    home = con.execute("SELECT current_database()").fetchall()[0][0]
    con.execute(f"USE {catalog}")
    try:
        found = _table_of(con, "table", table)
    finally:
        con.execute(f"USE {home}")
    path = f"{catalog}.{found}" if "." in found and not found.startswith('"') else f"{catalog}.main.{found}"
    con.execute(f"CREATE TEMP VIEW {view} AS FROM {path}")


def check_source(words: str, file: str) -> str:
    """Give the kind of the file, by its ending, or refuse a file that is missing or of no kind that can be read."""
    path = Path(file)
    if not path.is_file():
        raise UnknownNameError(f"{words} must be an existing file, got '{file}'; {_files_beside(path)}")
    suffix = path.with_suffix("").suffix if path.suffix in PACKED else path.suffix
    if suffix not in READERS and suffix not in DATABASES:
        kinds = ", ".join((*READERS, *DATABASES))
        raise UnknownNameError(
            f"{words} must be of a kind that can be read ({kinds}), got '{file}'; rename or convert it"
        )
    return suffix


def _files_beside(path: Path) -> str:
    known = (
        sorted(other.name for other in path.parent.iterdir() if other.is_file())
        if path.parent.is_dir()
        else []
    )
    return suggestion(path.name, known, f"files in '{path.parent}'")


def _table_of(con: duckdb.DuckDBPyConnection, words: str, table: str | None) -> str:
    """Find the table in the database; the only one where none is named."""
    listed = """SELECT table_name FROM information_schema.tables
                WHERE table_catalog = current_database() AND table_schema = current_schema() ORDER BY ALL"""
    known = [row[0] for row in con.execute(listed).fetchall()]
    if table is None and len(known) == 1:
        table = known[0]
    if table is None:
        raise UnknownNameError(
            f"{words} must name the table of the database to measure, got none; {suggestion('', known, 'tables')}"
        )
    if table not in known and "." not in table:
        raise UnknownNameError(
            f"{words} must be a table of the database, got '{table}'; {suggestion(table, known, 'tables')}"
        )
    return '"' + table.replace('"', '""') + '"' if table in known else table


def limit_memory(con: duckdb.DuckDBPyConnection, size: str) -> None:
    """Let the connection use this much memory, or refuse what is no size."""
    try:
        con.execute(f"SET memory_limit = {sql_text(size)}")
    except duckdb.Error:
        raise OutOfDomainError(f"--memory-limit must be a size, got '{size}'; write it like 2GB") from None
