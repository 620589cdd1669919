"""Spark: the functions on DataFrames. Spark counts; the reduced statistics come to the driver, where the body answers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from reid_sql.domains import QUASI_IDENTIFIERS, WEIGHT, Column, Columns
from reid_sql.engines import spark_reductions as reductions
from reid_sql.engines.arrow import answer_rows, arrays_of
from reid_sql.engines.polars_disclosure import THRESHOLDS
from reid_sql.engines.spark_choices import answered_choices
from reid_sql.engines.spark_copula import pairs, saved
from reid_sql.engines.spark_disclosure import disclosure
from reid_sql.engines.spark_frames import (
    alike,
    arrow_type,
    collected,
    column,
    keyed,
    numbered,
    places,
    resolved,
    to_spark,
)
from reid_sql.engines.spark_functions import check_options
from reid_sql.engines.spark_models import scored_classes
from reid_sql.engines.spark_records import WORDS, answered_records, counted_records, known_arrays
from reid_sql.engines.spark_sets import matches
from reid_sql.engines.spark_uniqueness import answered_classes, evidence
from reid_sql.errors import OutOfDomainError
from reid_sql.function import Answer, Function
from reid_sql.reduction import HOW_NULLS
from reid_sql.reduction import reductions as all_reductions
from reid_sql.reductions.codes import CODES
from reid_sql.reductions.known import KNOWN_RECORDS
from reid_sql.reductions.records import FITTED_RECORDS, WEIGHTED_RECORDS

Reduced = Callable[..., DataFrame]
OF_SENSITIVE: Final = tuple(each for each in all_reductions().values() if each.room.endswith(".disclosure"))
SIZE: Final = "equivalence_class_size"


def class_size(frame: DataFrame, columns: Sequence[str], name: str = SIZE) -> DataFrame:
    """Append to the frame how many records share each record's values.

    The classes are counted by a GROUP BY, which is partial before it shuffles, and joined back NULL-safe: a
    window would shuffle and sort every record, and hold a class of a billion records in one task.
    """
    found = resolved(QUASI_IDENTIFIERS, columns, frame)
    if name.lower() in (other.lower() for other in frame.columns):
        raise OutOfDomainError(
            f"name must not be a column of the table, got '{name}'; pass another, such as name='k'"
        )
    names = places(found)
    sizes = reductions.counted(numbered(frame, found), names, "value")
    right = keyed(sizes.withColumnRenamed("records", "reid_records"), names)
    joined = frame.join(right, alike([column(one) for one in found], right), "left")
    return joined.withColumnRenamed("reid_records", name).drop("reid_key", "reid_hash")


def table_frame(
    declared: Function, frames: Sequence[DataFrame], columns: Sequence[str], options: dict[str, Any]
) -> DataFrame:
    """Bind a table function: Spark reduces the frames, the body answers from the reduced arrays on the driver."""
    _refuse_others(frames)
    check_options(declared, options)
    reduction = declared.reduction
    if reduction is None:
        return _table(SparkSession.active(), answer_rows(declared, {}, options), declared.columns)
    if declared.answer is Answer.RECORDS:
        return PER_RECORD[reduction.name](declared, frames[0], columns, options)
    if reduction.name == KNOWN_RECORDS.name:
        return _answered(declared, *_known(declared, frames[0], options))
    if reduction.name in OF_CHOICES:
        return _beside(
            declared,
            frames[0].sparkSession,
            *OF_CHOICES[reduction.name](declared, frames[0], columns, options),
        )
    single = [a.name for a in reduction.arguments if isinstance(a.domain, Column) or a.domain is WEIGHT]
    beside = [name for name in single if options.get(name) is not None]
    named = columns if isinstance(columns, str) else [*columns, *(options[name] for name in beside)]
    rows = _rows(declared, frames, named)
    taken = [a.name for a in reduction.arguments if a.name in options and not isinstance(a.domain, Column)]
    counted = {name: options[name] for name in taken}
    reduced = REDUCED[reduction.name](rows, list(named), **counted)
    if declared.answer is Answer.REDUCTION:
        return reduced.orderBy(next(iter(reduction.columns))) if reduction.arrays else reduced
    table = collected(reduced, f"what {declared.name} is answered from")
    if not reduction.rowwise:
        table = table.sort_by(next(iter(reduction.columns)))
    own = {parameter.name: options[parameter.name] for parameter in declared.own_parameters}
    return _answered(
        declared, frames[0].sparkSession, arrays_of(table.select(list(reduction.inputs))), own, table
    )


def _rows(declared: Function, frames: Sequence[DataFrame], named: Sequence[str]) -> list[DataFrame]:
    """The columns of the frames under numbers; the frames as they are where no argument names columns."""
    words = next(
        (Columns(p.domain.words) for p in declared.parameters if isinstance(p.domain, Column | Columns)), None
    )
    return [numbered(frame, resolved(words, named, frame)) if words else frame for frame in frames]


def _refuse_others(frames: Sequence[DataFrame]) -> None:
    for frame in frames:
        if not isinstance(frame, DataFrame):
            raise OutOfDomainError(
                f"tbl must be a Spark DataFrame, got {type(frame).__name__}; pass spark.table('name')"
            )


def _known(
    declared: Function, frame: DataFrame, options: dict[str, Any]
) -> tuple[SparkSession, Any, Any, pa.Table]:
    """The distinct records as arrays, the body's own parameters, and how NULLs were treated."""
    rows, distinct, width = counted_records(frame, options["scenario"], options["nulls"], options.get("key"))
    spark = frame.sparkSession
    arrays = known_arrays(collected(distinct, WORDS), options["scenario"])
    nothing = spark.range(1).select()
    treated = collected(
        reductions.how_nulls(rows, places(["q"] * width), options["nulls"], nothing), "one row"
    )
    own = {parameter.name: options[parameter.name] for parameter in declared.own_parameters}
    return spark, arrays, own, treated


def _answered(declared: Function, spark: SparkSession, arrays: Any, own: Any, treated: pa.Table) -> DataFrame:  # noqa: ANN401
    """Call the body, and put how NULLs were treated beside its answer."""
    return _beside(declared, spark, answer_rows(declared, arrays, own), treated)


def _beside(
    declared: Function, spark: SparkSession, rows: list[dict[str, Any]], treated: pa.Table
) -> DataFrame:
    if declared.reduction and declared.reduction.rowwise:
        how = treated.select(list(HOW_NULLS)).to_pylist()
    else:
        how = [{name: pc.max(treated[name]).as_py() for name in HOW_NULLS}] * len(rows)
    return _table(
        spark,
        [row | beside for row, beside in zip(rows, how, strict=True)],
        {**declared.columns, **HOW_NULLS},
    )


def _table(spark: SparkSession, rows: list[dict[str, Any]], columns: Mapping[str, str]) -> DataFrame:
    schema = pa.schema([(name, arrow_type(kind)) for name, kind in columns.items()])
    return to_spark(spark, pa.Table.from_pylist(rows, schema=schema))


def _matches(frames: Sequence[DataFrame], given: Sequence[str], nulls: str, **options: int) -> DataFrame:
    names = places(given)
    kept = frames[0].filter(~reductions.missing(names)) if nulls == "drop" else frames[0]
    return reductions.how_nulls(frames[0], names, nulls, matches(kept, **options))


REDUCED: Final[Mapping[str, Reduced]] = {
    "classes": reductions.classes,
    "histogram": reductions.histogram,
    "population_histogram": reductions.population_histogram,
    "subsets": reductions.subsets,
    "matches": _matches,
    "evidence": evidence,
    "pairs": pairs,
    "saved": saved,
    "scored_classes": scored_classes,
    **{
        reduction.name: disclosure(reduction.name, THRESHOLDS[reduction.name.removesuffix("_classes")])
        for reduction in OF_SENSITIVE
    },
}
PER_RECORD: Final[Mapping[str, Reduced]] = {
    KNOWN_RECORDS.name: answered_records,
    FITTED_RECORDS.name: answered_classes,
    WEIGHTED_RECORDS.name: answered_classes,
}
OF_CHOICES: Final = {CODES.name: answered_choices}
