"""Harlequin with all functions, a plug-in: `harlequin --adapter reid-sql people.duckdb`."""

from typing import Any

from harlequin_duckdb.adapter import DuckDbAdapter

import reid_sql


class ReidSqlAdapter(DuckDbAdapter):  # type: ignore[misc] # Harlequin is not installed where types are checked
    """Harlequin's own DuckDB adapter and all of its options; each connection registers the functions."""

    ADAPTER_DETAILS = "DuckDB with the functions of reid-sql for the risk of re-identification."

    def connect(self) -> Any:  # noqa: ANN401 - Harlequin's connection
        """Connect as the DuckDB adapter does, then register the functions; no file is changed."""
        connection = super().connect()
        reid_sql.register(connection.conn)
        return connection
