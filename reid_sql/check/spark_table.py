"""A table of the policy in Spark: a table of its catalogue, or a path, read as DuckDB reads it."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, reduce
from operator import and_
from typing import Any, Final
from uuid import uuid4

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark's users have it
from pyspark.sql.types import DateType, NumericType, TimestampNTZType, TimestampType

import reid_sql.spark as rs
from reid_sql.check.distinct_table import DistinctCounts
from reid_sql.check.exact_figures import Group
from reid_sql.check.measure import arguments_of
from reid_sql.check.policy_model import (
    Check,
    Policy,
    TablePolicy,
    columns_counted,
    columns_required,
)
from reid_sql.check.sources import Codes, Source, codes_of
from reid_sql.check.table_counts import TableCounts
from reid_sql.check.table_engine import POLICY_COLUMNS, Counts, TableEngine, Tuples, parts_of
from reid_sql.engines import registry
from reid_sql.engines.spark.adapter import find_panels
from reid_sql.engines.spark.frames import (
    column,
    count_rows,
    fetch,
    known_value,
    name_condition,
    resolve_columns,
)
from reid_sql.engines.spark.people import count_nobodies
from reid_sql.errors import OutOfDomainError, ReidError, UnavailableError, UnknownNameError
from reid_sql.function import Function
from reid_sql.models.columns.missing_value_codes import finite_numbers, spellings_of
from reid_sql.models.columns.nobodies import IdentifierCounts
from reid_sql.parameters import Arguments, ColumnNames, Columns, Rows, sql_literal
from reid_sql.sources.spark_files import KINDS, configure_reading, file_kind, read_file, read_files

MISSING: Final = ("ClassNotFoundException", "No FileSystem for scheme", "NoClassDefFoundError")


def read_source_frame(spark: SparkSession, source: Source, where: str) -> DataFrame:
    """Read a path by its ending, text as text, or else a table by its name."""
    if source.table is not None:
        raise OutOfDomainError(
            f"{where} must be a table or path of Spark where Spark checks, got table '{source.table}' of a database file"
            '; write file = "catalog.schema.table" and leave table out'
        )
    try:
        if source.parts:
            return read_files(spark, source.parts, source.form, where)
        location = source.location
        if file_kind(location) not in KINDS:
            return spark.table(location)
        path = location if "://" in location else str(source.path.absolute())
        return read_file(spark, path, source.form, where)
    except Py4JJavaError as error:  # its words may quote a record
        if any(words in str(error) for words in MISSING):
            raise UnavailableError(
                f"{where} must be in a store whose package Spark has, got '{source.location}' and no class for it; "
                "name it in PYSPARK_SUBMIT_ARGS by --packages"
            ) from None
        raise OutOfDomainError(
            f"{where} must have as many fields in every record as in the header, got others in '{source.location}'; "
            "mend its quotes and line breaks"
        ) from None
    except PySparkException as error:
        raise UnknownNameError(
            f"{where} must be a table of Spark's catalogue, or a path that ends in {', '.join(KINDS)}, got '{source.location}': {name_condition(error)}"
        ) from None


LABEL: Final = "what a check is judged by"


@contextmanager
def open_in_spark(
    policy: Policy,
    memory_limit: str | None,
    show_progress: Any,  # noqa: ANN401
) -> Iterator[list[TableCounts]]:
    """Open the tables of a policy in the session that is there, else in one that ends with it."""
    # before any counting, what the gate does on DuckDB alone
    limit = policy.memory_limit if memory_limit is None else memory_limit
    if limit is not None:
        raise OutOfDomainError(
            f"memory_limit must not be set with --engine spark, got '{limit}'; "
            "set spark.driver.memory and spark.executor.memory instead"
        )
    for table in policy.tables:
        for each in table.checks:
            if reason := each.measure.declared.absence("spark"):
                raise UnavailableError(
                    f"policy tables[{table.number}] must have measures that Spark can answer, got '{each.measure.name}': {reason}; "
                    "leave --engine spark away, or the measure out"
                )
    # workers need what is installed with this Python
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    before = SparkSession.getActiveSession()
    try:
        spark = before or SparkSession.builder.appName("reid-sql check").getOrCreate()
    except PySparkException as error:
        raise UnavailableError(
            f"--engine spark must find Java 17, got {name_condition(error)}; install it and set JAVA_HOME"
        ) from None
    try:
        with configure_reading(spark), without_logs(spark):
            counted_tables: list[TableCounts] = []
            for table in policy.tables:
                show_progress(f"{table.name}: opening")
                counted_tables.append(TableCounts(table, SparkTable(spark, table, table.number)))
            yield counted_tables
    finally:
        if before is None:
            spark.stop()


# PySpark's, of failed queries
LOGGERS: Final = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


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
        named = columns_required(table)
        for part in parts_of(named):
            resolve_columns(Columns(POLICY_COLUMNS), part, self.frame)
        self.raw = self.frame
        self.frame = _null_codes(self.frame, table.codes_as_nulls)
        self.population: DataFrame | None = None
        if source := table.role_sources.get("population"):
            where = f"policy tables[{number}].population_file"
            population = read_source_frame(spark, source, where)
            self.population_columns = population.columns
            self.population = _null_codes(population, table.codes_as_nulls)
        self._spark = spark

    @cached_property
    def distinct(self) -> DistinctCounts:
        """The distinct records by every column that a check counts or groups by: one reading of the table."""
        named = columns_counted(self.table)
        cells = [column(name).alias(f"q{place}") for place, name in enumerate(named)]
        counted = self.frame.groupBy(*cells).agg(count_rows("records")).localCheckpoint()
        # The table is not among what is asked with: Spark Connect frees what is counted when the last name of
        # it goes, and a process would wait for that for ever if a circle went with the interpreter alone.
        spark = self._spark
        return DistinctCounts(
            lambda sql: _tuples(spark.sql(sql, relation=counted)), named, "{relation}"
        )

    def count_records(self) -> int:
        return self.distinct.count_records()

    def count_people(self, by: ColumnNames) -> Tuples:
        entity = column(str(self.table.entity))
        unnamed = F.coalesce(F.max(entity.isNull().cast("bigint")), F.lit(0))
        names = self.group_names(by)
        people = (F.count_distinct(entity) + unnamed).alias("people")
        return _tuples(self.divided(by).groupBy(*names).agg(people))

    def count_groups(self, by: ColumnNames) -> Tuples:
        return self.distinct.ask(self.distinct.select_groups(by))

    def count_gaps(self, columns: ColumnNames, by: ColumnNames) -> Tuples:
        return self.distinct.count_gaps(columns, by)

    def class_sizes(self, qi: ColumnNames, by: ColumnNames, *, drop: bool) -> Tuples:
        return self.distinct.count_sizes(qi, by, drop=drop)

    def rarest(self, count: int) -> Tuples:
        names = list(self.table.quasi_identifiers)
        classes = rs.equivalence_classes(self.frame, names, entity=self.table.entity)
        order = [F.col("class_size"), *(column(name).asc_nulls_last() for name in names)]
        return _tuples(classes.sort(*order).limit(count).select("class_size", *map(column, names)))

    def count_values(self, names: ColumnNames, *, in_population: bool = False) -> Counts:
        frame = self.population if in_population and self.population else self.frame
        values = [known_value(frame, name) for name in names]
        row = frame.agg(
            *(count(each) for count in (F.count_distinct, F.count) for each in values)
        ).collect()[0]
        return row[: len(names)], row[len(names) :]

    def find_panels(self, named: ColumnNames, *, in_population: bool = False) -> list[str]:
        return find_panels(
            self.population if in_population and self.population else self.frame, named
        )

    def list_spellings(self, name: str, codes: Sequence[str]) -> tuple[list[str], bool]:
        values = self.raw.select(column(name).cast("string").alias("t")).distinct()
        spelled = F.lower(F.trim("t")).isin(spellings_of(codes))
        is_day = F.substring("t", 1, 10).isin(list(codes))
        alike = [row["t"] for row in _rows(values.filter(spelled | is_day))]
        return alike, isinstance(self.raw.schema[name].dataType, NumericType)

    def count_nobodies(self, column: str) -> IdentifierCounts:
        return count_nobodies(self.frame, column)

    def call_on(
        self,
        relation: DataFrame,
        function: Function,
        qi: ColumnNames,
        arguments: Arguments,
    ) -> Rows:
        bound = arguments_of(function, qi, arguments, (relation, self.population))
        with _refusals():
            return _rows(getattr(rs, function.name)(**bound, **function.preset))

    def divided(self, by: ColumnNames) -> DataFrame:
        names = self.group_names(by)
        return self.frame.withColumns(
            {name: column(divided_by) for name, divided_by in zip(names, by, strict=True)}
        )

    def part(self, by: ColumnNames, group: Group) -> DataFrame:
        tests = [
            column(name).eqNullSafe(F.lit(value))
            for name, value in zip(by, group.values, strict=True)
        ]
        return self.frame.filter(reduce(and_, tests)) if by else self.frame

    def call_measure(self, check: Check, arguments: Arguments, group: Group) -> Rows:
        """Score a group's records under a copula fitted to it; return the share that a measure asks for."""
        parameters, person = check.parameters, self.table.entity
        qi = list(check.quasi_identifiers)
        part = self.part(check.by, group).select(*map(column, [*qi, *([person] if person else [])]))
        with _refusals(), registry.within(self.model_name):
            fitting = {name: parameters[name] for name in ("method", "seed")}
            fit = _rows(
                rs.fit_copula(self.model_name, part, qi, **fitting, **self.table.call_options)
            )[0]
            if self.table.nulls == "drop":
                part = part.filter(reduce(and_, (column(name).isNotNull() for name in qi)))
            # of equal rows of a person one counts
            part = part.distinct() if person else part
            scoring = check.measure.declared.body_arguments(arguments)
            scored = rs.score_records(part, self.model_name, **scoring)
            literals = {name: sql_literal(value) for name, value in parameters.items()}
            quoted = None if person is None else f"`{person.replace('`', '``')}`"
            rows = _rows(scored.selectExpr(check.measure.share(literals, quoted)))
            return [{**row, "status": fit["status"]} for row in rows]


def _null_codes(frame: DataFrame, codes: Codes) -> DataFrame:
    """The table with NULL in place of the values that the policy declares missing."""
    replaced = {}
    for field in frame.schema:
        cell, declared = column(field.name), list(codes_of(codes, field.name))
        if isinstance(field.dataType, NumericType):
            is_code = cell.cast("double").isin(finite_numbers(declared))
        else:
            written = cell.cast("string")
            is_date = isinstance(field.dataType, DateType | TimestampType | TimestampNTZType)
            is_code = (F.substring(written, 1, 10) if is_date else written).isin(declared)
        if declared:
            replaced[field.name] = F.when(cell.isNull() | ~is_code, cell)
    return frame.withColumns(replaced) if replaced else frame


@contextmanager
def _refusals() -> Iterator[None]:
    """Raise what Spark refuses as one sentence."""
    try:
        yield
    except PySparkException as error:
        raise ReidError(name_condition(error)) from None


def _rows(frame: DataFrame) -> Rows:
    return list(fetch(frame, LABEL).to_pylist())


def _tuples(frame: DataFrame) -> Tuples:
    return [tuple(row.values()) for row in _rows(frame)]
