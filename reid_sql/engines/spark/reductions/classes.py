"""Spark: the classes, the size of each record's, and how many have each size."""

# The shared texts count records. People are counted by joins: a window, as in those texts, would collect a
# class of a billion people in one task.

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.frames import (
    Rows,
    count_records,
    count_rows,
    join_classes,
    no_blank_records,
    null_report,
    read_rows,
    run_plan,
    with_key,
)
from reid_sql.engines.spark.people import (
    count_groups,
    count_people,
    read_groups,
    read_people,
    size_classes,
    smallest_classes,
)
from reid_sql.parameters import QUASI_IDENTIFIERS, ColumnNames
from reid_sql.reduction import group_names, refuse_result_names
from reid_sql.reductions import classes as sql


def class_size(
    tbl: DataFrame, columns: ColumnNames, name: str, entity: str | None = None
) -> DataFrame:
    """Append to the frame how many records, or people, share each record's values.

    The classes are counted by a GROUP BY, which is partial before it shuffles, and joined back NULL-safe: a
    window would shuffle and sort every record, and hold a class of a billion records in one task.
    """
    if entity is None:
        rows = read_rows(tbl, columns, QUASI_IDENTIFIERS)
        sizes = count_records(rows, "value").withColumnRenamed("records", "class_size")
    else:
        rows = read_people(tbl, columns, entity, "value")
        sizes = size_classes(count_people(rows, "value"), rows.names, "class_size").drop("records")
    return join_classes(
        tbl, rows.table_names, with_key(sizes, rows.names).withColumnRenamed("class_size", name)
    )


def classes(tbl: DataFrame, qi: ColumnNames, nulls: str, entity: str | None = None) -> DataFrame:
    """Distinct combinations of values, with how many records, or people, share each."""
    if entity is None:
        rows, person = read_rows(tbl, qi, QUASI_IDENTIFIERS), None
    else:
        rows, person = read_people(tbl, qi, entity, nulls), "entity"
    refuse_result_names(qi)
    listed = run_plan(rows, sql.classes, rows.names, person, nulls)
    return listed.toDF(*qi, *listed.columns[len(qi) :])


def histogram(
    tbl: DataFrame,
    qi: ColumnNames,
    nulls: str,
    entity: str | None = None,
    by: ColumnNames | None = None,
) -> DataFrame:
    """How many classes, and how many records, or people by their smallest class, have each class size."""
    if by is not None:
        return _of_groups(
            read_groups(tbl, qi, by, entity, nulls), by, nulls, of_people=entity is not None
        )
    if entity is not None:
        return _people_only(tbl, qi, nulls, entity)
    rows = read_rows(tbl, qi, QUASI_IDENTIFIERS)
    return run_plan(rows, sql.histogram, rows.names, None, None, nulls)


def _people_only(tbl: DataFrame, qi: ColumnNames, nulls: str, entity: str) -> DataFrame:
    rows = read_people(tbl, qi, entity, nulls)
    people = count_people(rows, nulls)
    sized = size_classes(people, rows.names, "class_size")
    smallest = smallest_classes(people, sized, rows.names, short=F.lit(False))  # noqa: FBT003 - a literal
    counts = smallest.select("class_size", "classes", "records", no_blank_records())
    return null_report(rows, nulls, counts)


def _of_groups(rows: Rows, by: ColumnNames, nulls: str, *, of_people: bool) -> DataFrame:
    """The same of each group, all from one count by the columns and the groups."""
    if not of_people:
        sizes_found = run_plan(
            rows, sql.histogram, rows.names, None, rows.frame.columns[: len(by)], nulls
        )
        return sizes_found.toDF(*group_names(by), *sizes_found.columns[len(by) :])
    counted = count_groups(rows, by, nulls)
    sizes = counted.complete.groupBy(*counted.groups, *counted.names).agg(count_rows("class_size"))
    covered = F.lit(False)  # noqa: FBT003 - a literal
    sizes_found = smallest_classes(counted.complete, sizes, counted.names, covered, counted.groups)
    return counted.report(
        sizes_found.drop("uncovered").withColumn("blank_records", no_blank_records())
    )
