"""Spark: what each class reveals about a sensitive column, by the shared texts over the numbered columns."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from pyspark.sql import DataFrame

from reid_sql.engines.spark.frames import Rows, column, read_rows, run_plan
from reid_sql.engines.spark.people import read_groups
from reid_sql.models.classes.sensitive import QI, refuse_sensitive_groups
from reid_sql.parameters import ColumnNames
from reid_sql.reduction import group_names, refuse_result_names
from reid_sql.reductions import disclosure as sql

Plan: TypeAlias = Callable[..., str]


def _measure(
    plan: Plan,
    tbl: DataFrame,
    qi: ColumnNames,
    sensitive: str,
    *,
    nulls: str,
    entity: str | None = None,
    by: ColumnNames | None = None,
    **options: Any,  # noqa: ANN401 - the variant and what else the measure takes
) -> DataFrame:
    """Count the classes of each size and value of the measure, in the table or in each group."""
    if by is None:
        rows, groups = _read(tbl, qi, sensitive, entity), None
    else:
        refuse_sensitive_groups(by, sensitive)
        rows = read_groups(tbl, [*qi, sensitive], by, entity, nulls, QI)
        groups = rows.frame.columns[: len(by)]
    person = None if entity is None else "entity"
    counted = {"entity": person, "by": groups, "nulls": nulls}
    measured = run_plan(rows, plan, rows.names[:-1], rows.names[-1], **counted, **options)
    return measured if by is None else measured.toDF(*group_names(by), *measured.columns[len(by) :])


def _read(tbl: DataFrame, qi: ColumnNames, sensitive: str, entity: str | None) -> Rows:
    """The columns under aliases, after the person, `entity`, if people are counted."""
    person = {} if entity is None else {"entity": column(entity)}
    return read_rows(tbl, [*qi, sensitive], QI, **person)


def disclosing_classes(
    tbl: DataFrame,
    qi: ColumnNames,
    sensitive: str,
    *,
    nulls: str,
    entity: str | None = None,
    **options: Any,  # noqa: ANN401 - the measure, its variant, the threshold, and k of one measure
) -> DataFrame:
    """List the classes that offend the threshold, or whose value is not known."""
    rows = _read(tbl, qi, sensitive, entity)
    refuse_result_names(qi, ("class_size", "value"))
    person = None if entity is None else "entity"
    counted = {"entity": person, "nulls": nulls}
    plan = sql.disclosing_classes
    listed = run_plan(rows, plan, rows.names[:-1], rows.names[-1], **counted, **options)
    return listed.toDF(*qi, *listed.columns[len(qi) :])


l_diversity, t_closeness = partial(_measure, sql.l_diversity), partial(_measure, sql.t_closeness)
alpha_k_anonymity = partial(_measure, sql.alpha_k_anonymity)
beta_likeness = partial(_measure, sql.beta_likeness)
delta_disclosure = partial(_measure, sql.delta_disclosure)
