"""Spark: what a sample shows of its population.

Each distinct record counts in several cells: its class size, its values, its pairs of values. One aggregation
counts them all.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.counting import (
    class_columns,
    class_size,
    drop_nulls,
    null_report,
    number_classes,
    with_expected_counts,
)
from reid_sql.engines.spark.frames import (
    Rows,
    aliases,
    as_number,
    column,
    has_text,
    read_rows,
    refuse_without_text,
    resolve_columns,
    same_values,
    to_spark,
)
from reid_sql.engines.spark.people import count_groups, read_groups
from reid_sql.models.evidence import CLASS_SIZE, DRAWN_RECORD, MARGINAL_SHARE, PAIR, VALUE
from reid_sql.models.people.evidence import MAX_DRAWN, max_combinations
from reid_sql.parameters import Columns
from reid_sql.reductions.evidence import EVIDENCE, Parts, columns_asked, implement

TYPES: Final = {"BIGINT": "bigint", "DOUBLE": "double", "VARCHAR": "string", "VARCHAR[]": "array<string>"}
CELL: Final = ("kind", "first", "second", "first_value", "second_value", "class_size", "log_expected")


def _count_evidence(
    *,
    tbl: DataFrame,
    qi: Sequence[str],
    parts: Parts,
    nulls: str,
    by: Sequence[str] | None,
    weight: str | None,
    marginals: DataFrame | None,
) -> DataFrame:
    """Count the parts over all records, or in each group."""
    label, asked = columns_asked(qi, weight)
    if by is not None:
        rows = read_groups(tbl, asked, by, None, nulls, label)
        counted = count_groups(rows, by, nulls)
        return counted.report(_count_lines(rows, qi, parts, nulls, counted.groups, weight, marginals))
    rows = read_rows(tbl, asked, label, **class_columns(tbl))
    return null_report(rows, nulls, _count_lines(rows, qi, parts, nulls, (), weight, marginals))


pairs, people, evidence = implement(_count_evidence)


def _count_lines(
    rows: Rows,
    qi: Sequence[str],
    parts: Parts,
    nulls: str,
    groups: Sequence[str],
    weight: str | None,
    marginals: DataFrame | None,
) -> DataFrame:
    """Numbered rows of all columns."""
    own = Rows(rows.frame, qi, rows.table_names[: len(qi)])
    is_text = all(has_text(rows.frame.schema[name].dataType) for name in own.names)
    if not is_text and parts.is_optional:
        parts = Parts(log_expected=parts.log_expected)
    if parts.pairs:
        refuse_without_text(own)
    number = None if weight is None else as_number(rows.frame, rows.names[-1])
    classes = _group_records(drop_nulls(rows, nulls), [*groups, *own.names], number)
    if parts.log_expected or parts.seed is not None:
        classes = number_classes(classes)  # they are read several times
    lines = _count_cells(classes, qi, parts, groups, is_weighted=number is not None)
    if parts.seed is not None:
        lines = lines.unionByName(
            _draw_records(classes, own.names, parts.seed, groups), allowMissingColumns=True
        )
    if marginals is not None:
        shares = _select_shares(marginals, qi, drop=nulls == "drop")
        each = classes.select(*groups).distinct().crossJoin(shares) if groups else shares
        lines = lines.unionByName(each, allowMissingColumns=True)
    line = F.monotonically_increasing_id().alias("line")
    return lines.select(*groups, line, *_typed(lines))


def _typed(lines: DataFrame) -> Iterator[Column]:
    """All columns but the line's, NULL where none has them, whole numbers 0."""
    for name, kind in EVIDENCE.columns.items():
        if name == "line":
            continue
        value = F.col(name) if name in lines.columns else F.lit(None)
        typed = value.cast(TYPES[kind])
        yield (F.coalesce(typed, F.lit(0).cast("bigint")) if kind == "BIGINT" else typed).alias(name)


def _group_records(records: DataFrame, names: Sequence[str], weight: Column | None) -> DataFrame:
    """The distinct records: how many there are of each, the sizes of their classes, and their weights.

    A missing or negative weight makes the sum NaN, which the models refuse.
    """
    number = F.lit(1.0) if weight is None else F.when(weight >= 0, weight).otherwise(float("nan"))
    counts = F.count(F.lit(1)).alias("records"), class_size(records), F.sum(number).alias("weight")
    return records.groupBy(*names).agg(*counts)


def _count_cells(
    classes: DataFrame, qi: Sequence[str], parts: Parts, groups: Sequence[str], *, is_weighted: bool
) -> DataFrame:
    """Sum the records and weights of each cell."""
    names = aliases(qi)
    if parts.log_expected:
        expected = with_expected_counts(classes, names, groups)
        classes = expected.withColumn("log_expected", F.round(F.col("log_expected") * 1000) / 1000)
    most = None if parts.all_pairs else max_combinations(len(qi))
    cells = F.explode(F.array(*_cells(names, parts, is_paired=most != 0))).alias("cell")
    sums = F.sum("records").alias("records"), F.sum("weight").alias("weight")
    by = [*groups, *CELL]
    counted = classes.select(*groups, cells, "records", "weight").select(
        *groups, "cell.*", "records", "weight"
    )
    lines = counted.groupBy(*by).agg(*sums)
    if parts.pairs and most:
        lines = _drop_pairs(lines, groups, most, 0 if is_weighted else MAX_DRAWN)
    place = F.greatest("first", F.lit(1)).cast("int")
    labels = F.element_at(F.array(*(F.lit(name) for name in qi)), place)
    return lines.withColumn("label", F.when(F.col("kind") == VALUE, labels))


def _cells(names: Sequence[str], parts: Parts, *, is_paired: bool) -> Iterator[Column]:
    """The cells in which a distinct record counts."""
    log = F.col("log_expected") if parts.log_expected else F.lit(None)
    yield _cell(kind=F.lit(CLASS_SIZE), class_size=F.col("class_size"), log_expected=log)
    if not parts.pairs:
        return
    texts = [F.col(name).cast("string") for name in names]
    for place, value in enumerate(texts, 1):
        yield _cell(kind=F.lit(VALUE), first=F.lit(place), first_value=value)
    for (one, a), (other, b) in combinations(enumerate(texts, 1), 2) if is_paired else ():
        columns = {"first": F.lit(one), "second": F.lit(other)}
        yield _cell(kind=F.lit(PAIR), **columns, first_value=a, second_value=b)


def _cell(**parts: Column) -> Column:
    kinds = (TYPES[EVIDENCE.columns[name]] for name in CELL)
    values = (parts.get(name, F.lit(None)).cast(kind) for name, kind in zip(CELL, kinds, strict=True))
    return F.struct(*(value.alias(name) for value, name in zip(values, CELL, strict=True)))


def _drop_pairs(counted: DataFrame, groups: Sequence[str], most: int, drawn: int) -> DataFrame:
    """Drop the lines of pairs of columns of too many combinations, or of records that are all drawn."""
    lines, of_pair = counted.localCheckpoint(), [*groups, "first", "second"]
    sums = F.count(F.lit(1)).alias("combinations"), F.sum("records").alias("records")
    pairs = lines.filter(F.col("kind") == PAIR).groupBy(*of_pair).agg(*sums)
    dropped = pairs.filter((F.col("combinations") > most) | (F.col("records") <= drawn)).select(*of_pair)
    right, alike = same_values(lines, dropped, of_pair)
    return lines.join(F.broadcast(right), alike, "left_anti")


def _draw_records(classes: DataFrame, names: Sequence[str], seed: int, groups: Sequence[str]) -> DataFrame:
    """Records in a random order that the values and the seed decide, whatever order they are read in."""
    copies = classes.withColumn("copy", F.explode(F.sequence(F.lit(1).cast("bigint"), F.col("records"))))
    order = F.xxhash64(*names, "copy", F.lit(seed)).cast("double") / F.lit(2.0**64)
    texts = F.array(*(F.col(name).cast("string") for name in names)).alias("texts")
    kind = F.lit(DRAWN_RECORD).alias("kind")
    listed = copies.select(*groups, kind, "class_size", order.alias("draw_order"), texts)
    if not groups:
        return listed.orderBy("draw_order").limit(MAX_DRAWN)
    place = F.row_number().over(Window.partitionBy(*groups).orderBy("draw_order"))
    return listed.withColumn("place", place).filter(F.col("place") <= MAX_DRAWN).drop("place")


def _select_shares(marginals: DataFrame, columns: Sequence[str], *, drop: bool) -> DataFrame:
    """Shares from outside, by the columns that they name; 0 is the column of an unknown name."""
    named = resolve_columns(Columns("columns of the marginals"), ["column_name", "value", "share"], marginals)
    label, value, _ = (column(name) for name in named)
    shared = marginals.filter(value.isNotNull()) if drop else marginals
    known = pa.table({"label": list(columns), "first": pa.array(range(1, len(columns) + 1), pa.int64())})
    shares = shared.select(
        label.cast("string").alias("label"),
        value.cast("string").alias("first_value"),
        F.coalesce(as_number(shared, named[2]), F.lit(float("nan"))).alias("weight"),
    )
    placed = shares.join(F.broadcast(to_spark(shared.sparkSession, known)), "label", "left")
    return placed.withColumn("kind", F.lit(MARGINAL_SHARE))
