"""Spark: the classes, the size of each record's, and how many have each size."""

# By hand: the size of each record's class takes 1.6 x as long in Ibis' words (docs/spark.md).

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark import wildcard
from reid_sql.engines.spark.counting import blank_records, counted, null_report, own_names
from reid_sql.engines.spark.frames import Rows, beside, keyed, rows_of, to_spark
from reid_sql.engines.spark.groups import Counted, counted_by_group, rows_by_group
from reid_sql.engines.spark.people import people_of, rows_of_people, sizes_of, told
from reid_sql.parameters import QUASI_IDENTIFIERS
from reid_sql.reduction import refuse_result_names


def class_size(tbl: DataFrame, columns: Sequence[str], name: str, entity: str | None = None) -> DataFrame:
    """Append to the frame how many records, or people, share each record's values.

    The classes are counted by a GROUP BY, which is partial before it shuffles, and joined back NULL-safe: a
    window would shuffle and sort every record, and hold a class of a billion records in one task.
    """
    if entity is None:
        rows = rows_of(tbl, columns, QUASI_IDENTIFIERS)
        sizes = counted(rows, "value").withColumnRenamed("records", "class_size")
    else:
        rows = rows_of_people(tbl, columns, entity, "value")
        sizes = sizes_of(people_of(rows, "value"), rows.names, "class_size").drop("records")
    return beside(tbl, rows.found, keyed(sizes, rows.names).withColumnRenamed("class_size", name))


def classes(tbl: DataFrame, qi: Sequence[str], nulls: str, entity: str | None = None) -> DataFrame:
    """Distinct combinations of values, with how many records, or people, share each."""
    if entity is None:
        rows = rows_of(tbl, qi, QUASI_IDENTIFIERS)
        sized = _sized(rows, nulls)
    else:
        rows = rows_of_people(tbl, qi, entity, nulls)
        sized = sizes_of(people_of(rows, nulls), rows.names, "class_size")
    refuse_result_names(qi)
    listed = sized.select(*own_names(rows), "class_size", "records")
    return null_report(rows, nulls, listed)


def histogram(
    tbl: DataFrame,
    qi: Sequence[str],
    nulls: str,
    entity: str | None = None,
    by: Sequence[str] | None = None,
) -> DataFrame:
    """How many classes, and how many records, or people by their smallest class, have each class size."""
    if by is not None:
        counted = counted_by_group(rows_by_group(tbl, qi, by, entity, nulls), by, nulls)
        return _of_groups(counted, of_people=entity is not None)
    if entity is not None:
        return _of_people(tbl, qi, nulls, entity)
    rows = rows_of(tbl, qi, QUASI_IDENTIFIERS)
    blank = blank_records(rows.names, nulls)
    counts = F.count(F.lit(1)).alias("classes"), F.sum("records").alias("records"), blank
    return null_report(rows, nulls, _sized(rows, nulls).groupBy("class_size").agg(*counts))


def _of_people(tbl: DataFrame, qi: Sequence[str], nulls: str, entity: str) -> DataFrame:
    rows = rows_of_people(tbl, qi, entity, nulls)
    people = people_of(rows, nulls)
    sized = sizes_of(people, rows.names, "class_size")
    found = told(people, sized, rows.names, short=F.lit(False))  # noqa: FBT003 - a literal
    blank = blank_records(rows.names, nulls)
    return null_report(rows, nulls, found.select("class_size", "classes", "records", blank))


def _of_groups(counted: Counted, *, of_people: bool) -> DataFrame:
    """The same of each group, all from one count by the columns and the groups."""
    blank = blank_records(counted.names, counted.nulls)
    number = F.count(F.lit(1))
    if not of_people:
        sized = counted.kept.withColumn("class_size", F.col("records")).groupBy(*counted.groups, "class_size")
        return counted.told(sized.agg(number.alias("classes"), F.sum("records").alias("records"), blank))
    sizes = counted.kept.groupBy(*counted.groups, *counted.names).agg(number.alias("class_size"))
    covered = F.lit(False)  # noqa: FBT003 - a literal
    found = told(counted.kept, sizes, counted.names, covered, counted.groups)
    return counted.told(found.drop("uncovered").withColumn("blank_records", blank))


def _sized(rows: Rows, nulls: str) -> DataFrame:
    """The distinct records, with how many hold each and how many each matches."""
    found = counted(rows, nulls)
    if nulls != "wildcard":
        return found.withColumn("class_size", F.col("records"))
    table = wildcard.distinct(found)
    sizes = wildcard.class_sizes(table, table, rows.names)
    return to_spark(rows.frame.sparkSession, table.append_column("class_size", [sizes]))
