"""dbt-duckdb's plugin: the functions in every connection."""

from typing import Final

from dbt.adapters.duckdb.plugins import BasePlugin
from dbt.adapters.events.logging import AdapterLogger
from duckdb import DuckDBPyConnection

from reid_sql import register
from reid_sql.dbt import policy

LOGGER: Final = AdapterLogger("reid-sql")  # its lines appear among dbt's own


class Plugin(BasePlugin):  # type: ignore[misc] # dbt is an extra: where types are checked, it is not there
    """The plugin, by the name that dbt-duckdb looks for."""

    def configure_connection(self, conn: DuckDBPyConnection) -> None:
        """Register the functions in the connection that dbt holds; again is harmless."""
        register(conn)
        policy.register(conn, LOGGER.info)

    def configure_cursor(self, cursor: DuckDBPyConnection) -> None:
        """Register in the cursor of a thread, which does not see the macros of the connection."""
        register(cursor)
