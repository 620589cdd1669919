from collections.abc import Iterator

import duckdb
import pytest

import reid_sql
from tests.engines.asking import quoted

# What a test may have left, in the order in which it can go: kind, and where its names are.
LEFT = {
    "VIEW": "database_name, schema_name, view_name FROM duckdb_views() WHERE NOT internal",
    "TABLE": "database_name, schema_name, table_name FROM duckdb_tables() WHERE NOT internal",
    "SCHEMA": "database_name, schema_name FROM duckdb_schemas() WHERE NOT internal",
}


@pytest.fixture(scope="module")
def registered() -> Iterator[duckdb.DuckDBPyConnection]:
    """One registered connection for a module: registering anew would take most of a test's time."""
    with duckdb.connect() as connection:
        reid_sql.register(connection)
        yield connection


@pytest.fixture
def con(registered: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    """The module's connection, emptied after the test."""
    yield registered
    registered.execute("USE memory.main")
    for kind, names in LEFT.items():
        for parts in registered.execute(f"SELECT {names}").fetchall():
            registered.execute(f"DROP {kind} {'.'.join(quoted(part) for part in parts)}")
    for (name,) in registered.execute(
        "SELECT database_name FROM duckdb_databases() WHERE NOT internal"
    ).fetchall():
        if name not in {"memory", "reid"} and not name.startswith("reid_sql_functions"):
            registered.execute(f"DETACH {quoted(name)}")
