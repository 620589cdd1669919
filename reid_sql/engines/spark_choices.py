"""Spark: distinct values of every choice of some of the columns, which the extreme risk is answered from."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.domains import COLUMNS
from reid_sql.engines.spark_frames import collected, numbered, places, resolved
from reid_sql.engines.spark_reductions import classes_of, counted, how_nulls
from reid_sql.function import Answer, Function
from reid_sql.models.extreme.quasi_identifiers import CodesElsewhere, Integers

AT_ONCE: Final = 1000  # choices counted in one query: each repeats the distinct records once


def answered_choices(
    declared: Function, frame: DataFrame, columns: Sequence[str], options: dict[str, Any]
) -> tuple[list[dict[str, Any]], pa.Table]:
    """Answer from how many distinct values each choice of columns has: the rows, and how NULLs were treated."""
    rows, names = numbered(frame, resolved(COLUMNS, columns, frame)), places(columns)
    distinct = counted(rows, names, options["nulls"]).localCheckpoint()
    whole = distinct.agg(F.coalesce(F.sum("records"), F.lit(0)).alias("records"))
    treated = collected(how_nulls(rows, names, options["nulls"], whole), "one row")

    def count(chosen: Integers) -> Integers:
        parts = (chosen[start : start + AT_ONCE].tolist() for start in range(0, len(chosen), AT_ONCE))
        return np.array(
            [found for part in parts for found in classes_of(distinct, names, part)], dtype=np.int64
        )

    nothing = np.arange(0)
    table = CodesElsewhere(list(columns), [], [], nothing, int(treated["records"][0].as_py()), count)
    found = declared.body(
        table, **{parameter.name: options[parameter.name] for parameter in declared.own_parameters}
    )
    return [asdict(row) for row in (found if declared.answer is Answer.ROWS else [found])], treated
