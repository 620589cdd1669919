"""The classes of two releases on Spark, by the shared text over one frame of both."""

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.counting import any_null, refuse_repeated_keys
from reid_sql.engines.spark.frames import (
    Rows,
    cast_alike,
    column,
    exact_cast,
    fetch,
    read_rows,
    resolve_columns,
)
from reid_sql.engines.spark.source import SOURCE, run_text
from reid_sql.errors import OutOfDomainError
from reid_sql.parameters import QUASI_IDENTIFIERS, Columns
from reid_sql.reduction import refuse_several
from reid_sql.reductions.releases import RELEASES, columns_label, refuse_roles
from reid_sql.reductions.releases.sql import count_lines

PEOPLE = ("p1", "p2")


def release_classes(
    first: DataFrame,
    second: DataFrame,
    qi: Sequence[str],
    key: str | None = None,
    entity: str | None = None,
    sensitive: str | None = None,
    nulls: str = "value",
) -> DataFrame:
    """Count classes, pairs of classes and people of two releases."""
    refuse_roles(list(qi), key, entity, sensitive, nulls)
    person = key if entity is None else entity
    read_rows(first, qi, QUASI_IDENTIFIERS)
    asked = [*qi, *([] if sensitive is None else [sensitive])]
    label = columns_label(key, entity, sensitive)
    every = [*asked, *([] if person is None else [person])]
    one, other = (
        _read(frame, every, len(asked), label, name)
        for frame, name in zip((first, second), PEOPLE, strict=True)
    )
    one, other = cast_alike(one, other, RELEASES)
    if person is not None:
        one, other = _unify_people(one, other, "key" if entity is None else "entity")
    sides = [each.frame.withColumn("side", F.lit(place)) for place, each in enumerate((one, other))]
    read = sides[0].unionByName(sides[1], allowMissingColumns=True)
    missing, names = any_null(one.names), one.names[: len(qi)]
    rows = read.filter(~missing) if nulls == "drop" else read
    rows = rows.withColumnRenamed(one.names[-1], "s") if sensitive is not None else rows
    if entity is not None:
        rows = rows.distinct()
        _refuse_several(rows, names, sensitive)
    if key is not None:
        _refuse_repeated(rows)
    counts = {"is_keyed": person is not None, "has_sensitive": sensitive is not None}
    text = count_lines(len(qi), counts_people=entity is not None, **counts)
    lines = run_text(Rows(rows, qi, list(qi)), f"WITH reid_rows AS (SELECT * FROM {SOURCE.items()}) {text}")
    left_out = F.count_if(missing) if nulls == "drop" else F.lit(0).cast("bigint")
    dropped = read.agg(left_out.alias("records_dropped"))
    return lines.crossJoin(F.broadcast(dropped)).withColumn("nulls", F.lit(nulls))


def _read(frame: DataFrame, every: Sequence[str], width: int, label: Columns, name: str) -> Rows:
    """Read a release's columns under aliases, with its people, if any, under a name of their own."""
    checked = resolve_columns(label, every, frame)
    people = {name: column(checked[width])} if len(checked) > width else {}
    return read_rows(frame, every[:width], label, **people)


def _unify_people(one: Rows, other: Rows, label: str) -> list[Rows]:
    """The people of both releases in types whose values compare exactly; refuses others."""
    kinds = [each.frame.schema[name].dataType for each, name in zip((one, other), PEOPLE, strict=True)]
    cast = exact_cast(*kinds)
    if cast is None:
        got = f"{kinds[0].simpleString()} and {kinds[1].simpleString()}"
        raise OutOfDomainError(
            f"{label} must have the same type in both tables, got {got}; cast one of the columns"
        )
    return [
        replace(each, frame=each.frame.withColumn(name, cast(F.col(name), kind)))
        for each, name, kind in zip((one, other), PEOPLE, kinds, strict=True)
    ]


def _refuse_repeated(rows: DataFrame) -> None:
    for side, name in enumerate(PEOPLE):
        refuse_repeated_keys(rows.filter(F.col("side") == side).select(F.col(name).alias("record")))


def _refuse_several(rows: DataFrame, names: Sequence[str], sensitive: str | None) -> None:
    """Refuse people of several sensitive values in a class, if there is such a column."""
    if sensitive is None:
        return
    persons = rows.groupBy("side", *names, *PEOPLE).agg(F.count(F.lit(1)).alias("values"))
    several = persons.filter("values > 1").limit(1)
    refuse_several(fetch(several, "people of several values").num_rows, of_shares=False)
