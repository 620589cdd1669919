"""Re-identification risk where the data is: SQL functions in DuckDB, expressions in Polars, and on Spark.

In Polars they are expressions, on Spark functions. `register(con)` puts the functions into DuckDB, and
`reid_sql.risk_summary(con, …)` asks one of them there at once; `reid_sql.polars` and `reid_sql.spark` have
them for data frames, and `reid_sql.models` has what they are answered with. Importing this package loads
nothing of that.
"""

# What type checkers take for true; importing typing for it would make the command start later
TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    import duckdb

__all__ = [  # and every declared function; the stub next to this file has their types
    "NoRecordsError",
    "OutOfDomainError",
    "ReidError",
    "UnavailableError",
    "UnknownNameError",
    "__version__",
    "check",
    "demo",
    "explore",
    "plot",
    "register",
    "report",
]
MODULES = ("check", "demo", "explore", "plot")  # check and explore can be called, too


def __getattr__(name: str) -> object:
    from importlib import import_module  # noqa: PLC0415 - only what is asked for is loaded

    if name in MODULES:
        return import_module(f"reid_sql.{name}")
    if name == "report":
        return import_module("reid_sql.commands.report").report
    # A file declares the function of this name, which no import has to find out.
    if name.isidentifier() and any((place / f"{name}.py").is_file() for place in _folders()):
        return import_module("reid_sql.python_api").call_of(name)
    if name not in __all__:
        if call := _call_by_other_name(name):
            return call
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(
        import_module("reid_sql._version" if name == "__version__" else "reid_sql.errors"), name
    )


def _folders() -> "list[Path]":
    from importlib.util import find_spec  # noqa: PLC0415 - only what is asked for is loaded
    from pathlib import Path  # noqa: PLC0415 - the same

    home = find_spec("reid_sql_udfs")
    return [Path(place) for place in (home and home.submodule_search_locations) or []]


def _call_by_other_name(name: str) -> object:
    """The function that also has this name.

    A module of this package is imported by its name.
    """
    from pathlib import Path  # noqa: PLC0415 - only what is asked for is loaded

    place = Path(__file__).with_name(name)
    if name.startswith("_") or place.is_dir() or place.with_suffix(".py").is_file():
        return None
    files = (file for folder in _folders() for file in folder.glob("*.py"))
    texts = (file.read_text("utf-8") for file in files)
    if not any(f'"{name}",' in text for text in texts):
        return None
    from reid_sql.function import resolve_name  # noqa: PLC0415 - only another name needs it
    from reid_sql.python_api import call_of  # noqa: PLC0415 - the same
    from reid_sql_udfs import declared  # noqa: PLC0415 - the same

    of = resolve_name(name, declared())
    return None if of == name else call_of(of)


def __dir__() -> "list[str]":
    from reid_sql_udfs import declared  # noqa: PLC0415 - only what is asked for is loaded

    return sorted({*__all__, *declared()})


def load_ipython_extension(ipython: "Any") -> None:  # noqa: ANN401 - IPython's shell
    """Make `%load_ext reid_sql` register the functions, and show answers as cards and pictures."""
    from reid_sql.notebook.extension import load  # noqa: PLC0415 - only a notebook needs it

    load(ipython)


def unload_ipython_extension(ipython: "Any") -> None:  # noqa: ANN401 - IPython's shell
    """Make `%unload_ext reid_sql` show answers as before."""
    from reid_sql.notebook.extension import unload  # noqa: PLC0415 - only a notebook needs it

    unload(ipython)


def register(con: "duckdb.DuckDBPyConnection") -> None:
    """Put every function into a DuckDB connection or cursor.

    Every connection and cursor of the database then knows them as reid.name, and this one by the bare name,
    too, by temporary macros that follow USE. Twice is harmless and cheap. The functions leave nothing in a
    database file, work on a read-only one, and neither commit nor abort an open transaction.

    >>> import duckdb
    >>> con = duckdb.connect()
    >>> register(con)
    >>> con.execute("SELECT round(cell_risk(0.01, 101), 6)").fetchall()
    [(0.366032,)]
    """
    from reid_sql.engines import duckdb as engine  # noqa: PLC0415 - Polars users need no DuckDB engine
    from reid_sql_udfs import declared  # noqa: PLC0415 - the functions import this package

    engine.register(con, declared())
