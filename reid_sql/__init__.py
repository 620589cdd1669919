"""Re-identification risk where the data is: SQL functions in DuckDB, expressions in Polars, and on Spark.

In Polars they are expressions, on Spark functions. `register(con)` puts the functions into DuckDB;
`reid_sql.polars` and `reid_sql.spark` have them for data frames, and `reid_sql.models` has what they are
answered with. Importing this package loads nothing of that.
"""

import time

TYPE_CHECKING = (
    False  # what type checkers take for true; importing typing for it would make the command start later
)
if TYPE_CHECKING:
    import duckdb

    from reid_sql._version import __version__
    from reid_sql.check import Gate
    from reid_sql.errors import (
        NoRecordsError,
        OutOfDomainError,
        ReidError,
        UnavailableError,
        UnknownNameError,
    )

    check: Gate

IMPORTED_AT = time.time_ns()  # what was written to the folder since then is not what runs

__all__ = [
    "NoRecordsError",
    "OutOfDomainError",
    "ReidError",
    "UnavailableError",
    "UnknownNameError",
    "__version__",
    "check",
    "register",
]


def __getattr__(name: str) -> object:
    from importlib import import_module  # noqa: PLC0415 - only what is asked for is loaded

    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "check":
        return import_module("reid_sql.check")  # a module that can be called
    return getattr(import_module("reid_sql._version" if name == "__version__" else "reid_sql.errors"), name)


def register(con: "duckdb.DuckDBPyConnection") -> None:
    """Put every function into a DuckDB connection or cursor.

    Every connection and cursor of the database then knows them as reid.name, and this one by the bare name,
    too: its search path ends with our catalogue, so after USE register again. Twice is harmless and cheap.
    The functions leave nothing in a database file, work on a read-only one, and neither commit nor abort an
    open transaction.

    >>> import duckdb
    >>> con = duckdb.connect()
    >>> register(con)
    >>> con.execute("SELECT round(uniqueness_from_probability(0.01, 101), 6)").fetchall()
    [(0.366032,)]
    """
    from reid_sql.engines import duckdb as engine  # noqa: PLC0415 - Polars users need no DuckDB engine
    from reid_sql_udfs import declared  # noqa: PLC0415 - the functions import this package

    engine.register(con, declared())
