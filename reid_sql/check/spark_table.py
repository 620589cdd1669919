"""A table of the policy in Spark: a table of its catalogue, or a path, read as DuckDB reads it.

Spark alone reads paths as patterns, folders as numbers, line breaks in quotes as ends, bad bytes as U+FFFD.
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from operator import and_
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark's users have it

import reid_sql.spark as rs
from reid_sql import registry
from reid_sql.check.measure import Row, arguments_of
from reid_sql.check.policy_model import Check, Policy, TablePolicy, columns_counted, columns_named
from reid_sql.check.release import POLICY_COLUMNS, Counts, Group, Release, TableEngine
from reid_sql.check.sources import Source
from reid_sql.engines.spark.frames import column, fetch, name_condition, resolve_columns
from reid_sql.errors import OutOfDomainError, ReidError, UnavailableError, UnknownNameError
from reid_sql.function import Function, sql_literal
from reid_sql.parameters import MAX_COLUMNS, Columns
from reid_sql.sources.formats import TextFormat, count_slowly, inspect_text, nonblank_lines

TEXTS: Final = (".csv", ".tsv", ".txt")
LINES: Final = (".ndjson", ".jsonl")
KINDS: Final = (*TEXTS, ".parquet", ".orc", ".json", *LINES)
PACKED: Final = (".gz", ".zst", ".bz2")
COUNTED: Final = ("", ".gz", ".zst")  # packed so that the lines of a file can be counted here
INFERENCE: Final = "spark.sql.sources.partitionColumnTypeInference.enabled"
TIMES: Final = "spark.sql.session.timeZone"
MISSING: Final = ("ClassNotFoundException", "No FileSystem for scheme", "NoClassDefFoundError")
CHARSETS: Final = {"latin-1": "ISO-8859-1"}  # where Spark has another name
UNREADABLE: Final = "\ufffd"
PATTERN: Final = "\\{}[]*?"
KINDS_MIXED: Final = re.compile(r"(: |<)VARIANT(, |>|$)")  # as Spark writes the type of such a key


@contextmanager
def configure_reading(spark: SparkSession) -> Iterator[None]:
    """Read the names of folders as texts, and times in UTC, as long as the tables are open."""
    before = {name: spark.conf.get(name, None) for name in (INFERENCE, TIMES)}
    spark.conf.set(INFERENCE, "false")
    spark.conf.set(TIMES, "UTC")
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, value)


def read_source_frame(spark: SparkSession, source: Source, where: str) -> DataFrame:
    """Read a path by its ending, text as text, or else a table by its name."""
    if source.table is not None:
        rule = (
            f"{where} must be a table or path of Spark where Spark checks, "
            f"got table '{source.table}' of a database file"
        )
        raise OutOfDomainError(f'{rule}; write file = "catalog.schema.table" and leave table out')
    try:
        if source.parts:
            return _read_parts(spark, source, where)
        given = source.given
        if _file_kind(given) not in KINDS:
            return spark.table(given)
        return _read_file(spark, given if "://" in given else str(source.path.absolute()), source.form, where)
    except Py4JJavaError as error:  # its words may quote a record
        if any(words in str(error) for words in MISSING):
            rule = (
                f"{where} must be in a store whose package Spark has, "
                f"got '{source.given}' and no class for it"
            )
            raise UnavailableError(f"{rule}; name it in PYSPARK_SUBMIT_ARGS by --packages") from None
        rule = (
            f"{where} must have as many fields in every record as in the header, "
            f"got others in '{source.given}'"
        )
        raise OutOfDomainError(f"{rule}; mend its quotes and line breaks") from None
    except PySparkException as error:
        rule = (
            f"{where} must be a table of Spark's catalogue, or a path that ends "
            f"in {', '.join(KINDS)}, got '{source.given}'"
        )
        raise UnknownNameError(f"{rule}: {name_condition(error)}") from None


def _file_kind(given: str) -> str:
    name = Path(given)
    return name.with_suffix("").suffix if name.suffix in PACKED else name.suffix


def _read_parts(spark: SparkSession, source: Source, where: str) -> DataFrame:
    """Read the files of a pattern, each with the values in the names of its folders, as text."""
    frames = []
    for path, values in source.parts:
        frame = _read_file(spark, str(path.absolute()), source.form, where)
        twice = {name.lower() for name in values} & {name.lower() for name in frame.columns}
        if twice:
            raise OutOfDomainError(
                f"{where} must not name a column by a folder and in a file, got {sorted(twice)}; rename one"
            )
        for name, value in values.items():
            frame = frame.withColumn(name, F.lit(value).cast("string"))
        frames.append(frame)
    if any(frame.dtypes != frames[0].dtypes for frame in frames):
        raise OutOfDomainError(
            f"{where} must have the same columns in every file, got others in some; mend them"
        )
    return reduce(DataFrame.union, frames)


def _read_file(spark: SparkSession, path: str, form: TextFormat, where: str) -> DataFrame:
    kind, plain = _file_kind(path), path if "://" in path else _escape_pattern(path)
    if kind in TEXTS:
        return _read_text(spark, path, plain, form, where)
    if kind in {".parquet", ".orc"}:
        return spark.read.format(kind[1:]).load(plain)
    how: dict[str, bool | str] = {"multiLine": kind == ".json" and _is_array(path), "mode": "FAILFAST"}
    _refuse_kinds(spark.read.options(singleVariantColumn="reid_value", **how).json(plain), where)
    frame = spark.read.options(primitivesAsString=True, **how).json(plain)
    if kind in LINES and _is_here(path):
        _refuse_other_count(where, frame.count(), nonblank_lines(Path(path)))
    return frame


def _refuse_kinds(values: DataFrame, where: str) -> None:
    """Refuse a key, at any depth, of whose values some are texts and others are not: Spark reads 1 as "1"."""
    [[kinds]] = values.agg(F.schema_of_variant_agg(values[0])).collect()
    if KINDS_MIXED.search(re.sub("`[^`]*`", "key", kinds)):
        rule = f'{where} must contain values of one kind under each key, got several, such as 1 and "1"'
        raise OutOfDomainError(f"{rule}; write them alike, or leave --engine spark away")


def _is_array(path: str) -> bool:
    """Whether a file is one JSON document over several lines rather than one on each."""
    if not _is_here(path) or Path(path).suffix in PACKED:
        return False
    with Path(path).open(encoding="utf-8") as content:
        return content.read(1024).lstrip().startswith("[")


def _escape_pattern(path: str) -> str:
    """Spell a path so that no character of it is a pattern."""
    return "".join(f"\\{letter}" if letter in PATTERN else letter for letter in path)


def _is_here(path: str) -> bool:
    return "://" not in path and Path(path).is_file()


def _read_text(spark: SparkSession, path: str, plain: str, form: TextFormat, where: str) -> DataFrame:
    """Read text as text: quotes span lines, a row of the wrong number of fields is refused, empty is NULL."""
    here = _is_here(path) and Path(path).suffix in {*TEXTS, *COUNTED}
    text = inspect_text(where, Path(path), form) if here else None
    delimiter = text.delimiter if text else form.delimiter or ("\t" if _file_kind(path) == ".tsv" else ",")
    how: dict[str, Any] = {
        "sep": delimiter,
        "header": form.header,
        "encoding": CHARSETS.get(form.encoding, form.encoding),
        "quote": form.quote,
        "escape": form.quote or "\\",
        "multiLine": True,
        "mode": "FAILFAST",
        "comment": "",
        "enforceSchema": True,
    }
    reader = spark.read.options(**{name: str(value) for name, value in how.items()}).option(
        "columnPruning", "false"
    )
    frame = reader.csv(plain)
    names = text.names if text else tuple(frame.columns)
    frame = frame.toDF(*names).select(
        *(F.nullif(F.col(_quote_name(name)), F.lit("")).alias(name) for name in names)
    )
    frame = frame.localCheckpoint() if text is None else frame
    if not frame.filter(F.col(_quote_name(names[-1])).endswith("\r")).isEmpty():
        rule = f"{where} must end all its lines alike, got some with a carriage return and some without"
        raise OutOfDomainError(f"{rule}; mend them")
    if text is not None and (read := frame.count()) != text.records:
        _refuse_other_count(where, read, count_slowly(Path(path), text.delimiter, form))
    if (
        text is None
        and not frame.filter(reduce(lambda one, other: one | other, _unreadable(names))).isEmpty()
    ):
        raise OutOfDomainError(
            f"{where} must be written in {form.encoding} throughout, got bytes that are not; say its encoding"
        )
    return frame


def _unreadable(names: tuple[str, ...]) -> list[Any]:
    return [F.col(_quote_name(name)).contains(UNREADABLE) for name in names]


def _quote_name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _refuse_other_count(where: str, read_: int, records: int) -> None:
    if read_ != records:
        rule = f"{where} must be read to its last record, got {read_} of {records}"
        raise OutOfDomainError(f"{rule}; mend its quotes and line breaks, or leave --engine spark away")


LABEL: Final = "what a check is judged by"
RECORDS: Final = "reid_records"


@contextmanager
def open_in_spark(
    policy: Policy,
    memory_limit: str | None,
    show_progress: Any,  # noqa: ANN401
) -> Iterator[list[Release]]:
    """Open the tables of a policy in the session that is there, else in one that ends with it."""
    _refuse_unsupported(policy, memory_limit)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers need what is installed with this Python
    before = SparkSession.getActiveSession()
    try:
        spark = before or SparkSession.builder.appName("reid-sql check").getOrCreate()
    except PySparkException as error:
        raise UnavailableError(
            f"--engine spark must find Java 17, got {name_condition(error)}; install it and set JAVA_HOME"
        ) from None
    try:
        with configure_reading(spark), without_logs(spark):
            releases: list[Release] = []
            for number, table in enumerate(policy.tables, 1):
                show_progress(f"{table.name}: opening")
                releases.append(Release(table, SparkTable(spark, table, number)))
            yield releases
    finally:
        if before is None:
            spark.stop()


LOGGERS: Final = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")  # PySpark's, of failed queries


@contextmanager
def without_logs(spark: SparkSession) -> Iterator[None]:
    """Silence Spark's logs of errors, which quote the value that a query failed on."""
    loggers = [PySparkLogger.getLogger(name) for name in LOGGERS]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    jvm = getattr(spark, "_jvm", None)  # none of a remote session, whose server writes its own logs
    log4j = jvm and jvm.org.apache.logging.log4j
    level = log4j and log4j.LogManager.getRootLogger().getLevel()
    if log4j:
        log4j.core.config.Configurator.setRootLevel(log4j.Level.OFF)
    try:
        yield
    finally:
        if log4j:
            log4j.core.config.Configurator.setRootLevel(level)
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


def _refuse_unsupported(policy: Policy, memory_limit: str | None) -> None:
    """Refuse, before any counting, what the gate does on DuckDB alone."""
    limit = policy.memory_limit if memory_limit is None else memory_limit
    if limit is not None:
        rule = f"memory_limit must not be set with --engine spark, got '{limit}'"
        raise OutOfDomainError(f"{rule}; set spark.driver.memory and spark.executor.memory instead")
    for number, table in enumerate(policy.tables, 1):
        for each in table.checks:
            if reason := each.measure.declared.absence("spark"):
                rule = f"policy tables[{number}] must have measures that Spark can answer"
                got = f"got '{each.measure.name}': {reason}"
                raise UnavailableError(f"{rule}, {got}; leave --engine spark away, or the measure out")


class SparkTable(TableEngine):
    """A table or path of Spark: its distinct records are counted once and stay on the executors."""

    packages = ("pyspark",)
    errors = (PySparkException, Py4JError)

    def __init__(self, spark: SparkSession, table: TablePolicy, number: int) -> None:
        """Open the table, and check that it has the columns that the policy names."""
        super().__init__()
        self.table = table
        self.model_name = f"reid_sql check {uuid4()}"
        where = f"policy tables[{number}].file"
        self.frame = read_source_frame(spark, table.source, where)
        self.columns = self.frame.columns
        named = columns_named(table)
        for start in range(0, len(named), MAX_COLUMNS):
            resolve_columns(Columns(POLICY_COLUMNS), named[start : start + MAX_COLUMNS], self.frame)
        given = table.others.get("population")
        where = f"policy tables[{number}].population_file"
        self.population = None if given is None else read_source_frame(spark, given, where)
        self.population_columns = self.population.columns if self.population else []
        self._distinct: DataFrame | None = None

    @property
    def distinct(self) -> DataFrame:
        """The distinct records by every column that a check counts or groups by: one reading of the table."""
        if self._distinct is None:
            named = columns_counted(self.table)
            grouped = self.frame.groupBy(*(column(name) for name in named))
            self._distinct = grouped.agg(F.count(F.lit(1)).alias(RECORDS)).localCheckpoint()
        return self._distinct

    def count_records(self) -> int:
        """Count the records of the table."""
        total = F.coalesce(F.sum(RECORDS), F.lit(0)).alias("records")
        return int(_tuples(self.distinct.agg(total))[0][0])

    def count_people(self, by: Sequence[str]) -> list[tuple[Any, ...]]:
        """Count the people in each group: its values, then the people. NULL is one person."""
        entity = column(str(self.table.entity))
        unnamed = F.coalesce(F.max(entity.isNull().cast("bigint")), F.lit(0))
        names = self.group_names(by)
        people = (F.count_distinct(entity) + unnamed).alias("people")
        return _tuples(self._divided(by).groupBy(*names).agg(people))

    def count_groups(self, by: Sequence[str]) -> list[tuple[Any, ...]]:
        """Count the records of each group, by its values, NULL first: the values, then the records."""
        order = [column(name).asc_nulls_first() for name in by]
        named = [column(name) for name in by]
        return _tuples(self._sum_records(by).sort(*order).select(*named, RECORDS))

    def count_gaps(self, columns: Sequence[str], by: Sequence[str]) -> list[tuple[Any, ...]]:
        """Count records by group and by which columns are NULL."""
        gaps = F.concat(*(column(name).isNull().cast("int").cast("string") for name in columns))
        keys = [*(column(name) for name in by), gaps.alias("reid_gaps")]
        counted = self.distinct.groupBy(*keys).agg(F.sum(RECORDS).alias("reid_n"))
        lacking = F.col("reid_gaps").contains("1")
        return _tuples(counted.select(*(column(name) for name in by), lacking, "reid_n"))

    def class_sizes(
        self,
        qi: Sequence[str],
        by: Sequence[str],
        *,
        drop: bool,
        coarser: Mapping[str, str],  # noqa: ARG002 - only advice asks for them, in DuckDB
    ) -> list[tuple[Any, ...]]:
        """Count the classes of each size in each group: its values, the size, the classes."""
        groups = [column(name) for name in by]
        sizes = self._sum_records([*by, *qi], known=qi if drop else ())
        counted = sizes.groupBy(*groups, F.col(RECORDS).alias("reid_size")).agg(F.count(F.lit(1)))
        return _tuples(counted)

    def _sum_records(self, names: Sequence[str], known: Sequence[str] = ()) -> DataFrame:
        """Sum the records by the columns, of those that lack none of the known ones."""
        rows = self.distinct.filter(_complete(known)) if known else self.distinct
        keys = (column(name) for name in dict.fromkeys(names))
        return rows.groupBy(*keys).agg(F.sum(RECORDS).alias(RECORDS))

    def rarest(self, count: int) -> list[tuple[Any, ...]]:
        """List the rarest combinations of the quasi-identifiers: how many records, and the values."""
        names = self.table.quasi_identifiers
        order = [F.col(RECORDS), *(column(name).asc_nulls_last() for name in names)]
        rarest = self._sum_records(names).sort(*order).limit(count)
        return _tuples(rarest.select(RECORDS, *map(column, names)))

    def profile(self, columns: Sequence[str]) -> list[Row]:
        """Profile some columns of the table."""
        return _rows(rs.profile(self.frame, list(columns)))

    def count_values(self, names: Sequence[str], *, in_population: bool = False) -> Counts:
        """Count the distinct values of each column, and the records that have one."""
        counts = [n(column(c)) for n in (F.count_distinct, F.count) for c in names]
        row = (self.population if in_population and self.population else self.frame).agg(*counts).collect()[0]
        return row[: len(names)], row[len(names) :]

    def call(
        self, function: Function, qi: Sequence[str], given: Mapping[str, Any], by: Sequence[str], group: Group
    ) -> list[Row]:
        """Call a public function on the records of one group."""
        return self._call(function, qi, given, self._part(by, group))

    def call_by_group(
        self, function: Function, qi: Sequence[str], given: Mapping[str, Any], by: Sequence[str]
    ) -> list[Row]:
        """Call a public function on all groups at once."""
        return self._call(function, qi, {**given, "by": self.group_names(by)}, self._divided(by))

    def _call(
        self, function: Function, qi: Sequence[str], given: Mapping[str, Any], frame: DataFrame
    ) -> list[Row]:
        arguments = arguments_of(function, qi, given, (frame, self.population))
        with _refusals():
            return _rows(getattr(rs, function.name)(**arguments))

    def _divided(self, by: Sequence[str]) -> DataFrame:
        """All records, with copies of the columns that divide them."""
        names = self.group_names(by)
        return self.frame.withColumns({name: column(given) for name, given in zip(names, by, strict=True)})

    def _part(self, by: Sequence[str], group: Group) -> DataFrame:
        """The group's records alone."""
        tests = [column(name).eqNullSafe(F.lit(value)) for name, value in zip(by, group.values, strict=True)]
        return self.frame.filter(reduce(and_, tests)) if by else self.frame

    def call_measure(self, check: Check, given: Mapping[str, Any], group: Group) -> list[Row]:
        """Score a group's records under a copula fitted to it; return the share that a measure asks for."""
        asked, person, nulls = check.parameters, self.table.entity, self.table.nulls
        qi = list(check.quasi_identifiers)
        part = self._part(check.by, group).select(*map(column, [*qi, *([person] if person else [])]))
        with _refusals(), registry.within(self.model_name):
            options = {"method": asked["method"], "seed": asked["seed"], "nulls": nulls, "entity": person}
            rs.fit_copula(self.model_name, part, qi, **options)
            own = {p.name: given[p.name] for p in check.measure.declared.own_parameters}
            counted = part.filter(_complete(qi)) if nulls == "drop" else part
            counted = counted.distinct() if person else counted  # of equal rows of a person one counts
            scored = rs.score_copula(counted, self.model_name, **own)
            literals = {name: sql_literal(value) for name, value in asked.items()}
            quoted = None if person is None else f"`{person.replace('`', '``')}`"
            return _rows(scored.selectExpr(*check.measure.share(literals, quoted)))


@contextmanager
def _refusals() -> Iterator[None]:
    """Raise what Spark refuses as one sentence."""
    try:
        yield
    except PySparkException as error:
        raise ReidError(name_condition(error)) from None


def _complete(names: Sequence[str]) -> Column:
    """Whether no column is NULL."""
    return reduce(and_, (column(name).isNotNull() for name in names))


def _rows(frame: DataFrame) -> list[Row]:
    return list(fetch(frame, LABEL).to_pylist())


def _tuples(frame: DataFrame) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in _rows(frame)]
