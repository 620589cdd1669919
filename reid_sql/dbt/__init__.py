"""A dbt package of generic tests, in plain SQL for every adapter; and a plugin for dbt-duckdb.

In profiles.yml: `plugins: [{module: reid_sql.dbt}]`. `python -m reid_sql.dbt` says where the package lies,
wherever reid-sql is: it needs no dbt.
"""

from pathlib import Path
from typing import Any, Final

PACKAGE: Final = Path(__file__).parent


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the plugin's class, where dbt-duckdb is
    if name == "Plugin":
        from reid_sql.dbt.plugin import Plugin  # noqa: PLC0415 - dbt-duckdb is not there for other adapters

        return Plugin
    raise AttributeError(name)
