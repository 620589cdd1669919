"""One bare GROUP BY in DuckDB for every subset of the columns, one after the other.

What an exact sum needs at the least.
"""

from itertools import product

import duckdb

import reid_sql
from benchmarks.speed.stopwatch import Stopwatch


def run(
    table: str, columns: list[str], settings: dict[str, str], prepare: str
) -> tuple[Stopwatch, dict[str, int]]:
    """Count the records that are alone in each subset, and say how long that took."""
    alone = 0
    with duckdb.connect(config=dict(settings)) as con:
        reid_sql.register(con)
        con.execute(f"SET enable_progress_bar = false; {prepare}")
        with Stopwatch() as took:
            for chosen in product((False, True), repeat=len(columns)):
                named = [column for column, known in zip(columns, chosen, strict=True) if known]
                grouped = f"SELECT count(*) AS n FROM {table} {'GROUP BY ' + ', '.join(named) if named else ''}"
                alone += con.execute(f"SELECT count(*) FILTER (n = 1) FROM ({grouped})").fetchall()[
                    0
                ][0]
        return took, {"alone": alone}
