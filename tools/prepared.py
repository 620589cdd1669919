"""Write what registering in DuckDB makes: reid_sql/engines/duckdb/prepared.json, and the catalogue of it.

python -m tools.prepared
"""

from pathlib import Path
from typing import Any, Final

import duckdb

from reid_sql.engines.duckdb import registering
from reid_sql_udfs import declared

STORED: Final = Path(registering.__file__).with_name(registering.FILE)
COPIED: Final = STORED.with_name(registering.COPIED_FILE)


def list_macros(con: duckdb.DuckDBPyConnection, database: str) -> list[tuple[Any, ...]]:
    """List the macros of a database with their definitions and comments."""
    return con.execute(
        """SELECT function_name, function_type, parameters, macro_definition, comment
        FROM duckdb_functions() WHERE database_name = ? ORDER BY ALL""",
        [database],
    ).fetchall()


def made_macros() -> list[tuple[Any, ...]]:
    """The macros of a database that may read no file, so that none is copied."""
    with duckdb.connect(config={"enable_external_access": False}) as con:
        registering.register(con, declared())
        return list_macros(con, registering.PUBLIC)


def stored_macros() -> list[tuple[Any, ...]]:
    """The macros of the stored catalogue."""
    with duckdb.connect() as con:
        con.execute(f"ATTACH '{COPIED}' AS copied (READ_ONLY)")
        return list_macros(con, "copied")


if __name__ == "__main__":
    STORED.write_text(registering.prepare(declared()).text(), encoding="utf-8")
    if not COPIED.exists() or stored_macros() != made_macros():  # each writing has other bytes
        COPIED.unlink(missing_ok=True)
        with duckdb.connect() as con:
            registering.register(con, declared())
            con.execute(f"ATTACH '{COPIED}' AS copied (BLOCK_SIZE 16384)")
            con.execute("COPY FROM DATABASE reid TO copied")
