"""Run a policy: open its tables, measure, judge, mask, and put the report together.

The steps go one way, and each sees only what the one before it returned:

    policy.py      what is asked           TOML or JSON -> Policy
    evaluation.py  what the tables show    Policy, tables -> MeasuredTable, with exact figures
    verdicts.py    whether it may pass     MeasuredTable -> CheckResult
    masked_*.py    what may be shown       both -> MaskedReport, of figures that a mask has shown or masked
    report.py      the document            MaskedReport -> ReportPage, which all renderers take
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import duckdb

from reid_sql.check.baseline import read_baseline
from reid_sql.check.duckdb_table import DuckDBTableCounts, open_in_duckdb
from reid_sql.check.evaluation import ShowProgress, measure_tables
from reid_sql.check.exact_figures import MeasuredTable
from reid_sql.check.html import Additions, PreparedRelease, render_html
from reid_sql.check.lineage import render_openlineage, render_tags
from reid_sql.check.masked_checks import mask_report
from reid_sql.check.masking import ReportPage, refuse_unmasked
from reid_sql.check.policy import ENGINE, read_policy
from reid_sql.check.policy_model import Check, Policy, TablePolicy
from reid_sql.check.report import (
    build_report,
    files_read,
    refuse_to_overwrite,
    render_junit,
    to_json,
    write_report,
)
from reid_sql.check.sentences import (
    describe_check_and_columns,
    format_figure,
    format_limit,
    summarize_verdicts,
)
from reid_sql.check.sources import ReadTable
from reid_sql.check.table_counts import TableCounts
from reid_sql.check.verdicts import NO_WORSE, PASS, Baseline, judge_tables, worst_verdict
from reid_sql.engines.counted_rows import report_people
from reid_sql.errors import OutOfDomainError, UnavailableError
from reid_sql.models.classes.disclosure import OK
from reid_sql.parameters import sql_text
from reid_sql.sources.files import connect_quietly, limit_memory
from reid_sql.sources.reading import escape_pattern
from reid_sql.sources.remote import masked
from reid_sql.sources.spill import process_folder, spill_folder, spill_into
from reid_sql.terminal.runner import sentence

if TYPE_CHECKING:  # Ibis is optional
    from reid_sql.engines.ibis.frames import Statement

MIN_PYSPARK: Final = (4, 1)  # the first with Arrow functions of arrays


def check(
    policy: str | Path,
    baseline: str | Path | None = None,
    *,
    risky: int = 0,
    engine: str | None = None,
) -> ReportPage:
    """Check the tables of a policy file and give the report as a document, with its `verdict`.

    The verdict is pass, no worse, fail or not judged. `baseline` is an earlier report to compare with, in
    place of the policy's. The files are only read. `risky` asks for that many of the rarest combinations of
    values, which a report otherwise never contains. `engine` is the policy's unless given. Refuses a policy
    that it cannot follow.
    """
    rules = read_policy(policy)
    with open_with_engine(engine, rules) as counted_tables:
        return measure_policy(
            rules, counted_tables, Path(baseline) if baseline else None, risky=risky
        )


@contextmanager
def open_tables(
    policy: Policy,
    memory_limit: str | None = None,
    show_progress: ShowProgress = lambda _: None,
    written: Sequence[Path] = (),
) -> Iterator[list[DuckDBTableCounts]]:
    """Open the tables of a policy in one connection of its own, which reads their files and nothing else.

    It may also write the files of `written`, and read these again. What spills to disk goes encrypted into a
    folder that is taken away.
    """
    for table in policy.tables:
        other = next(
            (each for each in table.sources if not each.of_file or "://" in each.location), None
        )
        if other is not None:
            raise UnavailableError(
                f"policy tables[{table.number}] must lie in a file here, got '{masked(other.location, other.location)}'; "
                "export it or an extract to a file, and name that"
            )
    with spill_folder() as folder:
        con = connect_quietly()
        try:
            spill_into(con, folder)
            limit = policy.memory_limit if memory_limit is None else memory_limit
            if limit is not None:
                limit_memory(con, limit)
            _lock(con, policy, written)
            yield [_open_table(con, table, show_progress) for table in policy.tables]
        finally:
            with suppress(duckdb.Error):  # a query that was stopped may not have ended
                con.close()


@contextmanager
def open_read_table(
    policy: Policy, read: ReadTable, show_progress: ShowProgress = lambda _: None
) -> Iterator[list[DuckDBTableCounts]]:
    """Open the one table of a policy in the connection that has read its file."""
    _lock(read.con, policy, ())
    yield [_open_table(read.con, policy.tables[0], show_progress, read)]


def _lock(con: duckdb.DuckDBPyConnection, policy: Policy, written: Sequence[Path]) -> None:
    """Let the connection use the policy's files and these alone, and change none of its settings then."""
    sources = [each for table in policy.tables for each in table.sources]
    files = [path.absolute() for source in sources for path in source.paths]
    allowed = [str(path.absolute()) for path in written]
    for path in files:
        allowed += [str(path), escape_pattern(path), f"{path}.wal"]
    con.execute(
        f"SET allowed_paths = [{', '.join(sql_text(each) for each in dict.fromkeys(allowed))}]"
    )
    # where what DuckDB cannot read is written in a form that it can
    con.execute(f"SET allowed_directories = [{sql_text(str(process_folder()))}]")
    con.execute("SET enable_external_access = false; SET lock_configuration = true")


@contextmanager
def open_with_engine(
    engine: str | None,
    policy: Policy,
    memory_limit: str | None = None,
    show_progress: ShowProgress = lambda _: None,
    tables: Mapping[str, Any] | None = None,
) -> Iterator[list[TableCounts]]:
    """Open the tables of a policy, each in its engine: DuckDB, Spark, or Ibis where a warehouse has them.

    `tables` are those that the caller passes, by name. The limit of memory is that of DuckDB, if it has any.
    """
    engines = _choose_engines(engine, policy)
    if policy.keep_values and ("spark" in engines or "ibis" not in engines):
        # Nothing keeps values where no table is in a warehouse, nor does Spark, which sends them.
        other = "spark" if "spark" in engines else next(iter(engines))
        raise OutOfDomainError(
            f"keep_values must be set for tables of a warehouse, got the engine '{other}'; remove the key"
        )
    opened: dict[str, TableCounts] = {}
    with ExitStack() as stack:
        for name in dict.fromkeys(engines):
            part = _tables_of(policy, engines, name)
            limit = memory_limit
            if name != "duckdb" and "duckdb" in engines:
                part, limit = replace(part, memory_limit=None), None
            for counts in stack.enter_context(
                _opener(name, tables or {})(part, limit, show_progress)
            ):
                opened[counts.table.name] = counts
        yield [opened[table.name] for table in policy.tables]


def _tables_of(policy: Policy, engines: Sequence[str], engine: str) -> Policy:
    """Return the policy with the tables of one engine."""
    pairs = zip(policy.tables, engines, strict=True)
    return replace(policy, tables=tuple(table for table, name in pairs if name == engine))


Opener: TypeAlias = Callable[
    [Policy, str | None, ShowProgress], AbstractContextManager[Sequence[TableCounts]]
]


def _opener(engine: str, passed: Mapping[str, Any]) -> Opener:
    """Return what opens the tables of an engine."""
    if engine == "duckdb":
        return open_tables
    if engine == "spark":
        return _open_in_spark
    if find_spec("ibis") is None:
        raise UnavailableError(
            "a policy with a url must have ibis, got none; "
            "pip install 'reid-sql[ibis]', and Ibis' extra of your database"
        )
    from reid_sql.check.ibis_table import open_in_ibis  # noqa: PLC0415 - only for Ibis

    return partial(open_in_ibis, passed=passed)


@dataclass(frozen=True)
class Plan:
    """The statements that a warehouse would run, and the columns whose values each check fetches."""

    statements: Sequence["Statement"]
    checks: Sequence[tuple[str, Check, Sequence[str]]]  # the table, the check, the columns


def plan_statements(policy: Policy, *, overview: bool = True) -> Plan:
    """List the statements that a warehouse would run to check a table of one record."""
    engines = _choose_engines(None, policy)
    if "ibis" not in engines:
        raise OutOfDomainError(
            "--plan must be asked of a policy with a url, got tables in files; "
            "leave it away, as the files are read here"
        )
    from reid_sql.engines.ibis.frames import plan_queries  # noqa: PLC0415 - only for Ibis

    part = _tables_of(policy, engines, "ibis")
    with plan_queries() as statements, open_with_engine(None, part) as counted_tables:
        measure_policy(part, counted_tables, None, overview=overview)
        checks = [
            (counts.table.name, check, counts.engine.columns_fetched(check))
            for counts in counted_tables
            for check in counts.table.checks
        ]
    return Plan(statements, checks)


def _choose_engines(engine: str | None, policy: Policy) -> list[str]:
    """Choose what counts each table: what the run asks for, else the table, else the policy, else its source.

    What is asked for all tables is about files, where other tables are in a warehouse.
    """
    elsewhere = [any(not each.of_file for each in table.sources) for table in policy.tables]
    is_mixed = len(set(elsewhere)) > 1
    engines = []
    for table, is_elsewhere in zip(policy.tables, elsewhere, strict=True):
        default = "ibis" if is_elsewhere else "duckdb"
        of_table = (f"policy tables[{table.number}].engine", table.engine)
        choices = [("--engine", engine), of_table, ("policy engine", policy.engine)]
        if is_mixed and is_elsewhere:
            choices = [of_table]
        words, name = next(
            ((words, name) for words, name in choices if name), ("policy engine", default)
        )
        engines.append(ENGINE.check(words, name))
        if name != default and "ibis" in (name, default):
            got = "tables of a warehouse" if is_elsewhere else "tables in files"
            remedy = (
                "leave the engine away, or the url"
                if is_elsewhere
                else "write url and table in place of file"
            )
            raise OutOfDomainError(f"{words} must be '{default}' for {got}, got '{name}'; {remedy}")
    return engines


def _open_in_spark(
    policy: Policy, memory_limit: str | None, show_progress: ShowProgress
) -> AbstractContextManager[Sequence[TableCounts]]:
    if find_spec("pyspark") is None:
        raise UnavailableError(
            "--engine spark must have pyspark, got none; pip install 'reid-sql[spark]', and Java 17"
        )
    if (
        tuple(int(part) for part in version("pyspark").split(".")[:2] if part.isdigit())
        < MIN_PYSPARK
    ):
        oldest = ".".join(map(str, MIN_PYSPARK))
        raise UnavailableError(
            f"--engine spark must have pyspark {oldest} or later, got {version('pyspark')}; "
            f"pip install 'pyspark>={oldest}'"
        )
    from reid_sql.check.spark_table import open_in_spark  # noqa: PLC0415 - only for Spark

    return open_in_spark(policy, memory_limit, show_progress)


def _open_table(
    con: duckdb.DuckDBPyConnection,
    table: TablePolicy,
    show_progress: ShowProgress,
    read: ReadTable | None = None,
) -> DuckDBTableCounts:
    show_progress(f"{table.name}: opening")
    try:
        return open_in_duckdb(con, table, table.number, read)
    except duckdb.InterruptException:
        raise
    except duckdb.Error as error:  # its own words may quote a record
        raise OutOfDomainError(sentence(error)) from None


def find_baseline(
    policy: Policy, counted_tables: Sequence[TableCounts], baseline: Path | None
) -> Baseline | None:
    """Read the baseline of this run, else the policy's, if there is one."""
    path = baseline or policy.baseline
    files = {counts.table.name: counts.evidence for counts in counted_tables}
    return read_baseline(path, policy, files, named=baseline is not None) if path else None


def measure_policy(
    policy: Policy,
    counted_tables: Sequence[TableCounts],
    baseline: Path | None,
    *,
    risky: int = 0,
    overview: bool = True,
    show_progress: ShowProgress = lambda _: None,
) -> ReportPage:
    """Measure, judge, mask and report; each step sees what the one before it returned, and none calls back.

    `baseline` is that of this run, else the policy's.
    Without `overview`, for a report that shows none, the columns and the population are not described. Of a
    file that changed meanwhile, nothing is judged.
    """
    before = find_baseline(policy, counted_tables, baseline)
    tables = measure_tables(
        policy, counted_tables, risky=risky, overview=overview, show_progress=show_progress
    )
    return report_tables(policy, tables, before)


def report_tables(
    policy: Policy, tables: Sequence[MeasuredTable], before: Baseline | None
) -> ReportPage:
    """Judge, mask and report what was measured."""
    judged = judge_tables(policy, tables, before)
    masked = mask_report(policy, tables, judged, before)
    verdict = worst_verdict([each.verdict for results in judged for each in results])
    packages = sorted({package for table in tables for package in table.packages})
    return build_report(policy, masked, verdict, before, packages)


@dataclass(frozen=True)
class Finding:
    """A check of a table, or of one group of its records, in words for a log.

    An estimate has the ends of its interval, its method where the function has one, and a sentence to quote.
    """

    table: str
    check: str
    figure: str
    limit: str
    verdict: str
    why: str
    group: Mapping[str, str | None] | None = None
    cautions: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    method: str | None = None
    status: str = OK
    sentence: str | None = None


@dataclass(frozen=True)
class Report:
    """The outcome of a check; `page` is the JSON report as a dictionary."""

    page: ReportPage
    inputs: tuple[Path, ...] = field(default=(), repr=False)  # that no report may overwrite

    def __post_init__(self) -> None:
        """Refuse a document whose figures no mask has seen."""
        refuse_unmasked(self.page)

    @property
    def passed(self) -> bool:
        """Whether every check was judged, and is within its limit or no worse than the baseline."""
        return self.verdict in {PASS, NO_WORSE}

    @property
    def verdict(self) -> str:
        """Pass, no worse, fail or not judged."""
        return str(self.page["verdict"])

    @property
    def exit_code(self) -> int:
        """What the command would end with: 0, 1 or 2."""
        return int(self.page["exit_code"])

    @property
    def findings(self) -> list[Finding]:
        """What came of each check, group by group, in the order of the policy; small counts are masked."""
        copied = ("verdict", "why", "group", "low", "high", "method", "status", "sentence")
        return [
            Finding(
                table=check["table"],
                check=describe_check_and_columns(check),
                figure=format_figure(group, check),
                limit=format_limit(check),
                cautions=tuple(check["cautions"]),
                **{name: group[name] for name in copied},
            )
            for check in self.page["checks"]
            for group in check["groups"]
        ]

    def json(self, path: str | PathLike[str]) -> Path:
        """Write the report as JSON, by report.schema.json, and give its path."""
        return self._written("--json-report", path, to_json(self.page))

    def html(self, path: str | PathLike[str], prepared: PreparedRelease | None = None) -> Path:
        """Write the report as one HTML file for people, and give its path.

        `prepared` is what preparing a release for the policy found, shown under what to do next.
        """
        return self._written("--html", path, render_html(self.page, Additions(prepared=prepared)))

    def junit(self, path: str | PathLike[str]) -> Path:
        """Write the verdicts as JUnit XML, and give the path."""
        return self._written("--junit", path, render_junit(self.page))

    def openlineage(self, path: str | PathLike[str]) -> Path:
        """Write the verdicts as an event of OpenLineage, for a data catalogue, and give the path."""
        return self._written("--openlineage", path, render_openlineage([self.page]))

    def tags(self, path: str | PathLike[str]) -> Path:
        """Write the role of each column as a tag, as dbt and `init --catalogue` read it; give the path."""
        return self._written("--tags", path, render_tags([self.page]))

    def _written(self, option: str, path: str | PathLike[str], content: str) -> Path:
        file = Path(path)
        refuse_to_overwrite({option: file}, self.inputs)
        write_report(file, content)
        return file

    def __str__(self) -> str:
        """The verdict in one sentence."""
        return summarize_verdicts(self.page)


def run(
    policy: str | PathLike[str],
    *,
    baseline: str | PathLike[str] | None = None,
    engine: str | None = None,
    tables: Mapping[str, Any] | None = None,
) -> Report:
    """Check the tables of a policy file, or those passed."""
    passed = tables or {}
    rules = read_policy(Path(policy), tuple(passed))
    earlier = None if baseline is None else Path(baseline)
    with report_people(), open_with_engine(engine, rules, tables=passed) as counted_tables:
        page = measure_policy(rules, counted_tables, earlier)
    return Report(page, tuple(files_read(rules, earlier)))
