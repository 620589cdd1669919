"""Spark: table functions. Spark counts; the reduced statistics come to the driver, where the body answers."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from reid_sql.engines.arrow import answer_rows, arrays_of, columns_of
from reid_sql.engines.group_answers import answered_by_group
from reid_sql.engines.spark.frames import arrow_type, collected, to_spark
from reid_sql.engines.spark.groups import by_own_names, dividing
from reid_sql.engines.spark.people import individuals, values_of_people
from reid_sql.engines.spark.records import answered_records, refuse_no_key
from reid_sql.engines.spark.reduced import Elsewhere, Held
from reid_sql.errors import OutOfDomainError
from reid_sql.function import Answer, Function
from reid_sql.reduction import (
    NULL_REPORT_COLUMNS,
    Reduction,
    implementation,
    refuse_groups_named_like_results,
    refuse_key_with_entity,
)


def table_frame(declared: Function, arguments: Mapping[str, Any]) -> DataFrame:
    """Bind a table function, its arguments by name: Spark reduces the frames, the body answers."""
    own = {parameter.name: arguments[parameter.name] for parameter in declared.own_parameters}
    reduction = declared.reduction
    if reduction is None:
        return _table(SparkSession.active(), answer_rows(declared, {}, own), declared.columns)
    key = arguments.get("key")
    if (entity := arguments.get("entity")) is not None and "key" in arguments:
        refuse_key_with_entity(key)
        key = entity
    if declared.answer is Answer.PER_RECORD:
        refuse_no_key(key)
    counted = {argument.name: arguments.get(argument.name) for argument in reduction.arguments}
    by = arguments["by"] if declared.grouped else None
    if by is not None:
        refuse_groups_named_like_results(
            dividing(arguments["tbl"], by, arguments["nulls"]), declared.answer_columns
        )
    if declared.one_row_per_person and arguments["entity"] is not None:
        own_key = {"entity": None, "key": key}
        counted |= {"tbl": _of_people(arguments, by)} | {n: v for n, v in own_key.items() if n in counted}
    reduced = implementation(reduction, "spark")(**counted)
    if isinstance(reduced, DataFrame) and declared.answer is Answer.REDUCTION:
        listed = reduced.orderBy(next(iter(reduction.columns))) if reduction.arrays else reduced
        return listed if by is None else by_own_names(listed, by)
    if isinstance(reduced, Held) and declared.answer is Answer.PER_RECORD:
        return answered_records(declared, reduced, own)
    if isinstance(reduced, DataFrame) and by is not None:
        found = answered_by_group(declared, collected(reduced, "the histograms of all groups"), by, own)
        return to_spark(_session(arguments), found)
    arrays, treated = _told(declared, reduction, reduced)
    found = declared.body(arrays, **own)
    if declared.columnar:
        keys = reduced.keys if isinstance(reduced, Elsewhere) else ()
        return to_spark(_session(arguments), _columnar(declared, found, treated, *keys))
    rows = [asdict(row) for row in (found if declared.answer is Answer.ROWS else [found])]
    return _table(
        _session(arguments), _beside(rows, reduction, treated), {**declared.columns, **NULL_REPORT_COLUMNS}
    )


def _session(arguments: Mapping[str, Any]) -> SparkSession:
    """The session of the first table that is asked about."""
    return next(given.sparkSession for given in arguments.values() if isinstance(given, DataFrame))


def _of_people(arguments: Mapping[str, Any], by: Sequence[str] | None) -> DataFrame:
    """The table with a row for each person, or for each sensitive value of theirs; in each group, if any."""
    tbl, qi, entity, nulls = (arguments[name] for name in ("tbl", "qi", "entity", "nulls"))
    groups = () if by is None else dividing(tbl, by, nulls)
    if "sensitive" in arguments:
        return values_of_people(tbl, qi, arguments["sensitive"], entity, nulls, groups)
    return individuals(tbl, qi, entity, nulls, groups, weight=arguments.get("weight"))


def window_frame(
    declared: Function, columns: Sequence[str], tbl: DataFrame, name: str, entity: str | None
) -> DataFrame:
    """Bind a function that counts a record among all: the frame with a column more, of this name."""
    if name.lower() in (other.lower() for other in tbl.columns):
        raise OutOfDomainError(
            f"name must not be a column of the table, got '{name}'; pass another, such as name='k'"
        )
    reduction: Any = declared.reduction
    counted: DataFrame = implementation(reduction, "spark")(tbl, columns, name, entity)
    return counted


def _told(
    declared: Function, reduction: Reduction, reduced: DataFrame | Held | Elsewhere
) -> tuple[Any, pa.Table]:
    """What the body takes, and how NULLs were treated."""
    if isinstance(reduced, Elsewhere):
        return reduced.arrays, reduced.treated
    if isinstance(reduced, Held):
        arrays, treated = reduced.arrays(reduced.collected()), reduced.treated()
    else:
        treated = collected(reduced, f"what {declared.name} is answered from")
        treated = treated if reduction.rowwise else treated.sort_by(next(iter(reduction.columns)))
        arrays = arrays_of(treated.select(list(reduction.inputs)))
    return reduction.arrays(**arrays) if reduction.arrays else arrays, treated


def _columnar(declared: Function, found: object, treated: pa.Table, *keys: pa.Array) -> pa.Table:
    """The answer's arrays as columns, the records by their keys, with how NULLs were treated."""
    columns = {
        name: values if isinstance(values, pa.Array) else pa.array(values, arrow_type(declared.columns[name]))
        for name, values in columns_of(found).items()
    }
    for known in keys:
        columns["record"] = known.take(columns["record"])
    rows = len(next(iter(columns.values())))
    how = {name: pa.repeat(pc.max(treated[name]), rows) for name in NULL_REPORT_COLUMNS}
    return pa.table(columns | how)


def _beside(rows: list[dict[str, Any]], reduction: Reduction, treated: pa.Table) -> list[dict[str, Any]]:
    """Put how NULLs were treated beside each row."""
    if reduction.rowwise:
        how = treated.select(list(NULL_REPORT_COLUMNS)).to_pylist()
    else:
        how = [{name: pc.max(treated[name]).as_py() for name in NULL_REPORT_COLUMNS}] * len(rows)
    return [row | treatment for row, treatment in zip(rows, how, strict=True)]


def _table(spark: SparkSession, rows: list[dict[str, Any]], columns: Mapping[str, str]) -> DataFrame:
    schema = pa.schema([(name, arrow_type(kind)) for name, kind in columns.items()])
    return to_spark(spark, pa.Table.from_pylist(rows, schema=schema))
