"""Run a policy: open its tables, measure, judge, and put the report together."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb

from reid_sql import register
from reid_sql.check.baseline import read_baseline
from reid_sql.check.finding import checked
from reid_sql.check.overview import overview
from reid_sql.check.policy import Policy, TablePolicy, read_policy
from reid_sql.check.release import Release
from reid_sql.check.report import report
from reid_sql.domains import sql_text
from reid_sql.source import limit_memory

Tell = Callable[[str], None]


def check(policy: str | Path, baseline: str | Path | None = None, *, risky: int = 0) -> dict[str, Any]:
    """Check the tables of a policy file and give the report as a document: its `verdict` is pass, no worse, fail or not judged.

    `baseline` is an earlier report to compare with, in place of the policy's. The files are only read. `risky` asks for that
    many of the rarest combinations of values, which a report else never holds. Refuses a policy that it cannot follow.
    """
    asked = read_policy(policy)
    with opened(asked) as releases:
        return measured(asked, releases, Path(baseline) if baseline else asked.baseline, risky=risky)


@contextmanager
def opened(policy: Policy, memory_limit: str | None = None, tell: Tell = lambda _: None) -> Iterator[list[Release]]:
    """Open the tables of a policy in one connection of its own; what spills to disk goes to a folder that is taken away."""
    with tempfile.TemporaryDirectory(prefix="reid-sql-", ignore_cleanup_errors=True) as folder:
        con = duckdb.connect()
        try:
            register(con)
            con.execute(f"SET temp_directory = {sql_text(folder)}")
            if limit := memory_limit or policy.memory_limit:
                limit_memory(con, limit)
            yield [_release(con, table, number, tell) for number, table in enumerate(policy.tables, 1)]
        finally:
            with suppress(duckdb.Error):  # a query that was stopped may not have ended
                con.close()


def _release(con: duckdb.DuckDBPyConnection, table: TablePolicy, number: int, tell: Tell) -> Release:
    tell(f"{table.name}: opening")
    return Release(con, table, number)


def measured(
    policy: Policy, releases: list[Release], baseline: Path | None, *, risky: int = 0, tell: Tell = lambda _: None
) -> dict[str, Any]:
    """Measure every check and put the report together."""
    before, earlier = read_baseline(baseline, policy) if baseline else (None, None)
    found, pages = [], []
    for release in releases:
        for number, each in enumerate(release.table.checks, 1):
            tell(f"{release.table.name}: {each.measure.name} ({number} of {len(release.table.checks)})")
            found.append(checked(release, each, policy, before))
        tell(f"{release.table.name}: what drives the risk")
        pages.append(overview(release, policy, risky=risky))
    return report(policy, pages, found, earlier)
