"""Write what registering in DuckDB makes: reid_sql/engines/duckdb/prepared.json. python -m tools.prepared."""

from pathlib import Path
from typing import Final

from reid_sql.engines.duckdb import registering
from reid_sql_udfs import declared

STORED: Final = Path(registering.__file__).with_name(registering.FILE)

if __name__ == "__main__":
    STORED.write_text(registering.prepare(declared()).text(), encoding="utf-8")
