"""A table of the policy in Spark: a table of its catalogue, or a path that it reads."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from operator import and_
from typing import Any, Final
from uuid import uuid4

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

import reid_sql.spark as rs
from reid_sql import registry
from reid_sql.check.measure import Row, arguments_of
from reid_sql.check.policy import Check, Policy, TablePolicy, columns_counted, columns_named
from reid_sql.check.release import POLICY_COLUMNS, Group, Release, TableEngine
from reid_sql.check.spark_source import as_written, first_sentence, read
from reid_sql.engines.spark.frames import collected, column, resolved
from reid_sql.errors import OutOfDomainError, ReidError, UnavailableError
from reid_sql.function import Function, sql_literal
from reid_sql.parameters import MAX_COLUMNS, Columns

LABEL: Final = "what a check is judged by"
RECORDS: Final = "reid_records"


@contextmanager
def open_in_spark(
    policy: Policy,
    memory_limit: str | None,
    tell: Any,  # noqa: ANN401
) -> Iterator[list[Release[TableEngine]]]:
    """Open the tables of a policy in the session that is there, else in one that ends with it."""
    _refuse_unsupported(policy, memory_limit)
    os.environ.setdefault(
        "PYSPARK_PYTHON", sys.executable
    )  # workers need what is installed beside this Python
    before = SparkSession.getActiveSession()
    try:
        spark = before or SparkSession.builder.appName("reid-sql check").getOrCreate()
    except PySparkException as error:
        raise UnavailableError(
            f"--engine spark must find Java 17, got {first_sentence(error)}; install it and set JAVA_HOME"
        ) from None
    try:
        with as_written(spark):
            releases: list[Release[TableEngine]] = []
            for number, table in enumerate(policy.tables, 1):
                tell(f"{table.name}: opening")
                releases.append(Release(table, SparkTable(spark, table, number)))
            yield releases
    finally:
        if before is None:
            spark.stop()


def _refuse_unsupported(policy: Policy, memory_limit: str | None) -> None:
    """Refuse, before any counting, what the gate does on DuckDB alone."""
    limit = policy.memory_limit if memory_limit is None else memory_limit
    if limit is not None:
        rule = f"memory_limit must not be set with --engine spark, got '{limit}'"
        raise OutOfDomainError(f"{rule}; set spark.driver.memory and spark.executor.memory instead")
    for number, table in enumerate(policy.tables, 1):
        for each in table.checks:
            if reason := each.measure.declared.absence("spark"):
                rule = (
                    f"policy tables[{number}] must have measures that Spark can answer, "
                    f"got '{each.measure.name}': {reason}"
                )
                raise UnavailableError(f"{rule}; leave --engine spark away, or the measure out")


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
        self.frame = read(spark, table.source, where)
        self.columns = self.frame.columns
        named = columns_named(table)
        for start in range(0, len(named), MAX_COLUMNS):
            resolved(Columns(POLICY_COLUMNS), named[start : start + MAX_COLUMNS], self.frame)
        given = table.population_source
        self.population = given and read(spark, given, f"policy tables[{number}].population_file")
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
        nobody = F.coalesce(F.max(entity.isNull().cast("bigint")), F.lit(0))
        names = self.group_names(by)
        people = (F.count_distinct(entity) + nobody).alias("people")
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
        return _tuples(rarest.select(RECORDS, *(column(name) for name in names)))

    def profile(self, columns: Sequence[str]) -> list[Row]:
        """Profile some columns of the table."""
        return _rows(rs.profile(self.frame, list(columns)))

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
            complete = part.filter(_complete(qi)) if nulls == "drop" else part
            scored = rs.score_copula(complete, self.model_name, **own)
            literals = {name: sql_literal(value) for name, value in asked.items()}
            quoted = None if person is None else f"`{person.replace('`', '``')}`"
            return _rows(scored.selectExpr(check.measure.share(literals, quoted)))


@contextmanager
def _refusals() -> Iterator[None]:
    """Raise what Spark refuses as one sentence."""
    try:
        yield
    except PySparkException as error:
        raise ReidError(first_sentence(error)) from None


def _complete(names: Sequence[str]) -> Column:
    """Whether no column is NULL."""
    return reduce(and_, (column(name).isNotNull() for name in names))


def _rows(frame: DataFrame) -> list[Row]:
    return list(collected(frame, LABEL).to_pylist())


def _tuples(frame: DataFrame) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in _rows(frame)]
