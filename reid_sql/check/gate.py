"""Run a policy: open its tables, measure, judge, and put the report together."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import duckdb

from reid_sql.check.judging.finding import Baseline, checked, unjudged
from reid_sql.check.measures.answers import Answers
from reid_sql.check.measures.evidence import CHANGED, evidence
from reid_sql.check.measures.release import Release
from reid_sql.check.policy.baseline import read_baseline
from reid_sql.check.policy.policy import Policy, TablePolicy, read_policy
from reid_sql.check.reports.overview import overview
from reid_sql.check.reports.report import report
from reid_sql.domains import Choice, sql_text
from reid_sql.errors import OutOfDomainError, UnavailableError
from reid_sql.runner import sentence
from reid_sql.source import connected, limit_memory, plain_path
from reid_sql.spill import spill_folder

Tell = Callable[[str], None]
SPARK: Final = (4, 1)  # the first with Arrow functions of arrays
ENGINE: Final = Choice(("duckdb", "spark"))


def check(
    policy: str | Path, baseline: str | Path | None = None, *, risky: int = 0, engine: str = "duckdb"
) -> dict[str, Any]:
    """Check the tables of a policy file and give the report as a document, with its `verdict`.

    The verdict is pass, no worse, fail or not judged. `baseline` is an earlier report to compare with, in
    place of the policy's. The files are only read. `risky` asks for that many of the rarest combinations of
    values, which a report else never holds. `engine` may be 'spark'. Refuses a policy that it cannot follow.
    """
    asked = read_policy(policy)
    with opened_by(engine, asked) as releases:
        return measured(asked, releases, Path(baseline) if baseline else None, risky=risky)


@contextmanager
def opened(
    policy: Policy, memory_limit: str | None = None, tell: Tell = lambda _: None
) -> Iterator[list[Release]]:
    """Open the tables of a policy in one connection of its own, which reads their files and nothing else.

    What spills to disk is encrypted, in a folder that is taken away.
    """
    with spill_folder() as folder:
        con = connected()
        try:
            con.execute(f"SET temp_directory = {sql_text(str(folder))}; SET temp_file_encryption = true")
            limit = policy.memory_limit if memory_limit is None else memory_limit
            if limit is not None:
                limit_memory(con, limit)
            _lock(con, policy)
            yield [_release(con, table, number, tell) for number, table in enumerate(policy.tables, 1)]
        finally:
            with suppress(duckdb.Error):  # a query that was stopped may not have ended
                con.close()


def _lock(con: duckdb.DuckDBPyConnection, policy: Policy) -> None:
    """Let the connection read the policy's files alone, and change none of its settings after this."""
    sources = [each for table in policy.tables for each in (table.source, table.population_source) if each]
    files = [path.absolute() for source in sources for path in source.paths]
    allowed = [
        *(str(path) for path in files),
        *(plain_path(path) for path in files),
        *(f"{path}.wal" for path in files),
    ]
    con.execute(f"SET allowed_paths = [{', '.join(sql_text(each) for each in dict.fromkeys(allowed))}]")
    con.execute("SET enable_external_access = false; SET lock_configuration = true")


def opened_by(
    engine: str, policy: Policy, memory_limit: str | None = None, tell: Tell = lambda _: None
) -> AbstractContextManager[Sequence[Answers]]:
    """Open the tables of a policy in DuckDB, or as Spark finds them."""
    if ENGINE.check("--engine", engine) == "duckdb":
        return opened(policy, memory_limit, tell)
    if find_spec("pyspark") is None:
        raise UnavailableError(
            "--engine spark must have pyspark, got none; pip install 'reid-sql[spark]', and Java 17"
        )
    if tuple(int(part) for part in version("pyspark").split(".")[:2] if part.isdigit()) < SPARK:
        rule = f"--engine spark must have pyspark {SPARK[0]}.{SPARK[1]} or later, got {version('pyspark')}"
        raise UnavailableError(f"{rule}; pip install -U 'reid-sql[spark]'")
    from reid_sql.check.measures.spark_release import opened_in_spark  # noqa: PLC0415 - only for Spark

    return opened_in_spark(policy, memory_limit, tell)


def _release(con: duckdb.DuckDBPyConnection, table: TablePolicy, number: int, tell: Tell) -> Release:
    tell(f"{table.name}: opening")
    try:
        return Release(con, table, number)
    except duckdb.InterruptException:
        raise
    except duckdb.Error as error:  # its own words may quote a record
        raise OutOfDomainError(sentence(error)) from None


def baseline_of(policy: Policy, releases: Sequence[Answers], baseline: Path | None) -> Baseline | None:
    """Read the baseline of this run, else the policy's, if there is one."""
    given = baseline or policy.baseline
    files = {release.table.name: release.evidence for release in releases}
    return read_baseline(given, policy, files, named=baseline is not None) if given else None


def measured(
    policy: Policy,
    releases: Sequence[Answers],
    baseline: Path | None,
    *,
    risky: int = 0,
    tell: Tell = lambda _: None,
) -> dict[str, Any]:
    """Measure every check and put the report together; `baseline` is that of this run, else the policy's.

    Of a file that changed meanwhile, nothing is judged.
    """
    before = baseline_of(policy, releases, baseline)
    found, pages = [], []
    for release in releases:
        for number, each in enumerate(release.table.checks, 1):
            tell(f"{release.table.name}: {each.measure.name} ({number} of {len(release.table.checks)})")
            found.append(checked(release, each, policy, before))
        tell(f"{release.table.name}: what drives the risk")
        pages.append(overview(release, policy, risky=risky))
    changed = {release.table.name for release in releases if evidence(release.table) != release.evidence}
    held = [unjudged(each, CHANGED) if each.table in changed else each for each in found]
    return report(
        policy, pages, held, before, sorted({engine for release in releases for engine in release.engines})
    )
