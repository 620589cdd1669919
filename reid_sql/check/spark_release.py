"""A table of the policy as Spark measures it: a table of its catalogue, or a path that it reads."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from operator import and_
from typing import Any, Final
from uuid import uuid4

import numpy as np
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

import reid_sql.spark as rs
from reid_sql import registry
from reid_sql.check.answers import Answers, counted_histogram
from reid_sql.check.measure import Row, arguments_of
from reid_sql.check.policy import Check, Policy, TablePolicy, columns_counted, columns_named
from reid_sql.check.spark_source import as_written, first_sentence, read
from reid_sql.engines.duckdb.packed import Group
from reid_sql.engines.spark.frames import collected, column, resolved
from reid_sql.errors import OutOfDomainError, ReidError, UnavailableError
from reid_sql.function import Function, sql_literal
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.parameters import MAX_COLUMNS, Columns

POLICY_COLUMNS: Final = Columns("columns of the policy")
WORDS: Final = "what a check is judged by"
OWN: Final = "reid by"  # and a number: what no column of a file is called


@contextmanager
def opened_in_spark(
    policy: Policy,
    memory_limit: str | None,
    tell: Any,  # noqa: ANN401
) -> Iterator[Sequence[Answers]]:
    """Open the tables of a policy in the session that is there, else in one that ends with it."""
    _refuse_what_duckdb_does(policy, memory_limit)
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
            releases = []
            for number, table in enumerate(policy.tables, 1):
                tell(f"{table.name}: opening")
                releases.append(SparkRelease(spark, table, number))
            yield releases
    finally:
        if before is None:
            spark.stop()


def _refuse_what_duckdb_does(policy: Policy, memory_limit: str | None) -> None:
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


class SparkRelease(Answers):
    """A table or path of Spark: its distinct records are counted once and kept on the executors."""

    engines = ("pyspark",)
    errors = (PySparkException, Py4JError)

    def __init__(self, spark: SparkSession, table: TablePolicy, number: int) -> None:
        """Open the table and hold the policy's columns against it."""
        super().__init__(table)
        self.name = f"reid_sql check {uuid4()}"
        where = f"policy tables[{number}].file"
        self.frame = read(spark, table.source, where)
        named = columns_named(table)
        for start in range(0, len(named), MAX_COLUMNS):
            resolved(POLICY_COLUMNS, named[start : start + MAX_COLUMNS], self.frame)
        given = table.population_source
        self.population = given and read(spark, given, f"policy tables[{number}].population_file")
        self._distinct: DataFrame | None = None
        self._values: dict[tuple[str, ...], list[tuple[Any, ...]]] = {}
        self._places: dict[tuple[str, ...], dict[str, tuple[int, ...]]] = {}

    @property
    def distinct(self) -> DataFrame:
        """The distinct records by every column that a check counts or groups by: one reading of the table."""
        if self._distinct is None:
            named = columns_counted(self.table)
            grouped = self.frame.groupBy(*(column(name) for name in named))
            self._distinct = grouped.agg(F.count(F.lit(1)).alias("reid_records")).localCheckpoint()
        return self._distinct

    @property
    def records(self) -> int:
        """Records of the table, or its people where a column tells them apart."""
        if self.table.entity is not None:
            return self._people(())[()]
        total = F.coalesce(F.sum("reid_records"), F.lit(0)).alias("records")
        return int(collected(self.distinct.agg(total), WORDS)["records"][0].as_py())

    def rarest(self, count: int) -> list[tuple[Any, ...]]:
        """The rarest combinations of the quasi-identifiers: how many records hold each, and the values."""
        names = self.table.quasi_identifiers
        counted = self._summed(names, names)
        order = [F.col("reid_records"), *(column(name).asc_nulls_last() for name in names)]
        rows = collected(
            counted.sort(*order).limit(count).select("reid_records", *(column(n) for n in names)), WORDS
        )
        return [tuple(row.values()) for row in rows.to_pylist()]

    def _summed(self, names: Sequence[str], kept: Sequence[str], *, drop: bool = False) -> DataFrame:
        """Records by the columns, of those that lack none of the kept where they are dropped."""
        rows = self.distinct
        if drop:
            rows = rows.filter(_whole(kept))
        return rows.groupBy(*(column(name) for name in dict.fromkeys(names))).agg(
            F.sum("reid_records").alias("reid_records")
        )

    def _groups(self, by: Sequence[str]) -> list[Group]:
        order = [column(name).asc_nulls_first() for name in by]
        rows = collected(
            self._summed(by, by).sort(*order).select(*(column(n) for n in by), "reid_records"), WORDS
        ).to_pylist()
        found = [tuple(row.values()) for row in rows]
        self._values[tuple(by)] = [row[:-1] for row in found]
        return [Group((place,), row[:-1], int(row[-1])) for place, row in enumerate(found)]

    def _counted(
        self,
        qi: Sequence[str],
        by: Sequence[str],
        *,
        drop: bool,
        coarser: Mapping[str, str] | None,  # noqa: ARG002 - only advice asks for them, in DuckDB
    ) -> dict[tuple[int, ...], Histogram]:
        sizes = self._summed([*by, *qi], qi, drop=drop)
        grouped = sizes.groupBy(*(column(name) for name in by), F.col("reid_records").alias("reid_size"))
        rows = collected(
            grouped.agg(F.count(F.lit(1)).alias("reid_classes")).sort("reid_size"), WORDS
        ).to_pylist()
        found: dict[tuple[int, ...], list[tuple[int, int, int]]] = {}
        for row in rows:
            *values, size, classes = row.values()
            found.setdefault(self._digits(by, values), []).append((size, classes, size * classes))
        return {digits: _histogram(lines) for digits, lines in found.items()}

    def few_gaps(self, columns: Sequence[str], by: Sequence[str], below: int) -> bool:
        """Whether few records of a group lack the same values, or none where others of it lack some."""
        gaps = F.concat(*(column(name).isNull().cast("int").cast("string") for name in columns))
        names = [column(name) for name in by]
        alike = self.distinct.groupBy(*names, gaps.alias("reid_gaps")).agg(
            F.sum("reid_records").alias("reid_n")
        )
        parts = alike.groupBy(*names).agg(F.min("reid_n").alias("least"), F.max("reid_gaps").alias("gaps"))
        few = parts.filter(F.col("gaps").contains("1") & (F.col("least") < below))
        return not few.isEmpty()

    def _matched(self, qi: Sequence[str], by: Sequence[str], group: Group) -> Histogram:
        part, table = self._part(by, group), self.table
        found = _rows(rs.class_size_histogram(part, qi, nulls=table.nulls, entity=table.entity))
        names = ("class_size", "classes", "records", "blank_records")
        return counted_histogram([[row[name] or 0 for name in names] for row in found], table.nulls)

    def _profiled(self, columns: Sequence[str]) -> list[Row]:
        return _rows(rs.profile(self.frame, list(columns)))

    def _people(self, by: Sequence[str]) -> dict[tuple[int, ...], int]:
        entity = column(str(self.table.entity))
        nobody = F.coalesce(F.max(entity.isNull().cast("bigint")), F.lit(0))
        names = _names(by)
        counted = self._divided(by).groupBy(*names).agg((F.count_distinct(entity) + nobody).alias("people"))
        rows = self._told(collected(counted, WORDS).to_pylist(), names, by)
        return {row["digits"]: int(row["people"]) for row in rows}

    def _divided(self, by: Sequence[str]) -> DataFrame:
        """All records, with the columns that divide them under names that no answer has."""
        own = {name: column(given) for name, given in zip(_names(by), by, strict=True)}
        return self.frame.withColumns(own)

    def _told(self, rows: Sequence[Row], names: Sequence[str], by: Sequence[str]) -> list[Row]:
        """The rows with the digits of their groups in place of the groups' values."""
        return [
            {name: value for name, value in row.items() if name not in names}
            | {"digits": self._digits(by, [row[name] for name in names])}
            for row in rows
        ]

    def _digits(self, by: Sequence[str], values: Sequence[Any]) -> tuple[int, ...]:
        """Where the group of these values stands."""
        if not by:
            return ()
        if tuple(by) not in self._places:
            listed = self._values[tuple(by)]
            self._places[tuple(by)] = {repr(list(each)): (place,) for place, each in enumerate(listed)}
        return self._places[tuple(by)][repr(list(values))]

    def _together(
        self, function: Function, qi: Sequence[str], given: Mapping[str, Any], by: Sequence[str]
    ) -> list[Row]:
        names = _names(by)
        arguments = arguments_of(function, qi, {**given, "by": names}, (self._divided(by), self.population))
        try:
            return self._told(_rows(getattr(rs, function.name)(**arguments)), names, by)
        except PySparkException as error:
            raise ReidError(first_sentence(error)) from None

    def _part(self, by: Sequence[str], group: Group) -> DataFrame:
        """The group's records alone."""
        tests = [column(name).eqNullSafe(F.lit(value)) for name, value in zip(by, group.values, strict=True)]
        return self.frame.filter(reduce(and_, tests)) if by else self.frame

    def _asked(self, function: Function, check: Check, given: Mapping[str, Any], group: Group) -> list[Row]:
        try:
            if check.measure.takes("model"):
                return self._scored(check, given, group)
            part = self._part(check.by, group)
            arguments = arguments_of(function, check.quasi_identifiers, given, (part, self.population))
            return _rows(getattr(rs, function.name)(**arguments))
        except PySparkException as error:
            raise ReidError(first_sentence(error)) from None

    def _scored(self, check: Check, given: Mapping[str, Any], group: Group) -> list[Row]:
        """Score the group's records under a copula fitted to it, and say of all what the measure says."""
        asked, person = check.parameters, self.table.entity
        needed = [*check.quasi_identifiers, *([] if person is None else [person])]
        part = self._part(check.by, group).select(*(column(name) for name in needed))
        with registry.within(self.name):
            how = {name: asked[name] for name in ("method", "seed")} | {"nulls": self.table.nulls}
            how["entity"] = person
            rs.fit_copula(self.name, part, list(check.quasi_identifiers), **how)
            own = {p.name: given[p.name] for p in check.measure.declared.own_parameters}
            complete = part.filter(_whole(check.quasi_identifiers)) if self.table.nulls == "drop" else part
            scored = rs.score_copula(complete, self.name, **own)
        literals = {name: sql_literal(value) for name, value in asked.items()}
        told = None if person is None else f"`{person.replace('`', '``')}`"
        return _rows(scored.selectExpr(check.measure.share(literals, told)))


def _names(by: Sequence[str]) -> list[str]:
    return [f"{OWN} {place}" for place in range(1, len(by) + 1)]


def _whole(names: Sequence[str]) -> Column:
    """Whether no column is NULL."""
    return reduce(and_, (column(name).isNotNull() for name in names))


def _rows(frame: DataFrame) -> list[Row]:
    return list(collected(frame, WORDS).to_pylist())


def _histogram(lines: Sequence[tuple[int, int, int]]) -> Histogram:
    return Histogram(*np.array(lines, dtype=np.int64).reshape(-1, 3).T)
