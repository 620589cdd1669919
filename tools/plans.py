"""Write the queries that the reductions' plans make: tests/**/plans/*.sql.

Each from the call in its first line. python -m tools.plans
"""

from pathlib import Path
from typing import Final

import duckdb

import reid_sql
from reid_sql.engines.duckdb.layout import laid_out
from reid_sql.engines.duckdb.qualify import BUILTIN, HOME, qualified
from reid_sql.engines.duckdb.showing import unfolded

TESTS: Final = Path(__file__).parents[1] / "tests"


def files() -> list[Path]:
    """Every fixture, in the order of their paths."""
    return sorted(TESTS.glob("**/plans/*.sql"))


def renewed(con: duckdb.DuckDBPyConnection, text: str) -> str:
    """The fixture with its query made anew from the call in its first line, a comment."""
    call = text.split("\n", 1)[0]
    planned: str = con.execute(f"SELECT {qualified(call[2:]).replace(HOME, 'reid.main.')}").fetchall()[0][0]
    return f"{call}\n{laid_out(unfolded(con, planned).replace(BUILTIN, ''))}\n"


if __name__ == "__main__":
    with duckdb.connect() as connection:
        reid_sql.register(connection)
        for path in files():
            path.write_text(renewed(connection, path.read_text(encoding="utf-8")), encoding="utf-8")
