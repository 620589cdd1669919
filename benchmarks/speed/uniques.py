"""Sets of columns: those that single a record out, and those of a whole table, against a GROUP BY of each."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

from benchmarks.speed.compare import Case
from benchmarks.speed.measure import Job
from benchmarks.speed.qar import table

LEVELS: Final = (90, 2, 50, 15, 7, 5, 800, 40)
RECORDS: Final = 300_000
SIZE: Final = 4
SHARE: Final = 0.05  # of the records, that are unique by a set of columns


def cases(threads: int) -> Iterator[Case]:
    """Both sides count the records that some choice singles out; ours also knows the smallest of these."""
    columns = [f"c{place}" for place in range(len(LEVELS))]
    given = {"settings": {"threads": str(threads)}, "prepare": table(RECORDS, LEVELS)}
    ours = f"SELECT count(*) AS singled FROM suda_scores(people, {columns}, max_size := {SIZE})"
    chosen = list(choices(columns, SIZE))
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
    yield Case(
        "uniques",
        "300,000 × 8, minimal sets at 5 % / GROUP BY",
        Job("in_duckdb", {"sql": minimal_sets(columns), **given}),
        Job("in_duckdb", {"sql": minimal_sets_by_hand(columns), **given}),
        1.0,
    )
    counts = " UNION ALL ".join(
        f"SELECT count(*) AS n FROM (SELECT 1 FROM people GROUP BY {', '.join(each)})"
        for each in choices(columns, len(columns))
    )
    every = f"SELECT sum(classes) AS n FROM attribute_risk(people, {columns}, max_size := {len(columns)})"
    yield Case(
        "uniques",
        "300,000 × 8, all 255 subsets / GROUP BY",
        Job("in_duckdb", {"sql": every, **given}),
        Job("in_duckdb", {"sql": f"SELECT sum(n) AS n FROM ({counts})", **given}),
        1.0,
    )


def choices(columns: Sequence[str], most: int) -> Iterator[tuple[str, ...]]:
    """Every choice of up to so many columns."""
    return (each for size in range(1, most + 1) for each in combinations(columns, size))


def minimal_sets(columns: Sequence[str]) -> str:
    """Count the minimal sets that make the share of the records unique, and their records."""
    call = f"quasi_identifiers(people, {list(columns)}, at_least := {SHARE})"
    return f"SELECT count(*) AS sets, sum(unique_records) AS n FROM {call}"


def minimal_sets_by_hand(columns: Sequence[str]) -> str:
    """The same by a GROUP BY for each choice of columns, of which those without a smaller one remain."""
    counted = " UNION ALL ".join(
        f"SELECT {list(each)} AS chosen, count(*) AS n "
        f"FROM (SELECT 1 FROM people GROUP BY {', '.join(each)} HAVING count(*) = 1)"
        for each in choices(columns, len(columns))
    )
    smaller = "list_has_all(a.chosen, b.chosen) AND len(b.chosen) < len(a.chosen)"
    return f"""WITH reaching AS MATERIALIZED (SELECT * FROM ({counted}) WHERE n >= {SHARE} * {RECORDS})
        SELECT count(*) AS sets, sum(n) AS n FROM reaching AS a
        WHERE NOT EXISTS (FROM reaching AS b WHERE {smaller})"""
