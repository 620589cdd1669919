"""Re-identification risk where the data already is: SQL functions in DuckDB, expressions in Polars."""

from typing import TYPE_CHECKING

from reid_sql._version import __version__
from reid_sql.errors import NoRecordsError, OutOfDomainError, ReidError, UnavailableError, UnknownNameError

if TYPE_CHECKING:
    import duckdb

__all__ = [
    "NoRecordsError",
    "OutOfDomainError",
    "ReidError",
    "UnavailableError",
    "UnknownNameError",
    "__version__",
    "register",
]


def register(con: "duckdb.DuckDBPyConnection") -> None:
    """Put every function into a DuckDB connection or cursor.

    Twice is harmless and cheap. Each connection and cursor registers itself; the functions leave nothing in a
    database file, work on a read-only one, and neither commit nor abort an open transaction.

    >>> import duckdb
    >>> con = duckdb.connect()
    >>> register(con)
    >>> con.execute("SELECT round(uniqueness_from_probability(0.01, 101), 6)").fetchall()
    [(0.366032,)]
    """
    from reid_sql.engines import duckdb as engine  # noqa: PLC0415 - Polars users need no DuckDB engine
    from reid_sql_udfs import declared  # noqa: PLC0415 - the functions import this package

    engine.register(con, declared())
