"""The smallest sets of columns that single records out, against one GROUP BY for each choice of columns."""

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from benchmarks.speed.compare import Case
from benchmarks.speed.measure import Job
from benchmarks.speed.qar import table

LEVELS: Final = (90, 2, 50, 15, 7, 5, 800, 40)
RECORDS: Final = 300_000
SIZE: Final = 4


def cases(threads: int) -> Iterator[Case]:
    """Both sides count the records that some choice singles out; ours also knows the smallest of these."""
    columns = [f"c{place}" for place in range(len(LEVELS))]
    given = {"settings": {"threads": str(threads)}, "prepare": table(RECORDS, LEVELS)}
    ours = f"SELECT count(*) AS singled FROM suda_scores(people, {columns}, max_size := {SIZE})"
    chosen = (each for size in range(1, SIZE + 1) for each in combinations(columns, size))
    alone = " UNION ALL ".join(
        f"SELECT any_value(rowid) AS record FROM people GROUP BY {', '.join(each)} HAVING count(*) = 1"
        for each in chosen
    )
    rival = f"SELECT count(DISTINCT record) AS singled FROM ({alone})"
    yield Case(
        "uniques",
        "300,000 × 8, up to 4 columns / GROUP BY",
        Job("in_duckdb", {"sql": ours, **given}),
        Job("in_duckdb", {"sql": rival, **given}),
        1.0,
    )
