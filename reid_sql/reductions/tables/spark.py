"""Cells of a table of aggregates on Spark, by the shared text."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.counting import drop_nulls, null_report
from reid_sql.engines.spark.frames import (
    Rows,
    as_number,
    column,
    fetch,
    keep_stored,
    read_rows,
    resolve_columns,
    store,
    to_spark,
)
from reid_sql.engines.spark.source import SOURCE, run_text
from reid_sql.models.tables.suppression import STATUS_WORDS, suppress_cells
from reid_sql.reductions.tables import (
    CELL_COLUMNS,
    CELL_COLUMNS_AND_MORE,
    FIGURES,
    HIDING,
    SAFE_CELLS,
    check_cells,
    width_of,
)
from reid_sql.reductions.tables.sql import (
    CellShape,
    bits_of,
    codes_of_cells,
    group_rows,
    judge_cells,
    list_cells,
    list_hidden,
)


def safe_cells(
    tbl: DataFrame,
    by: Sequence[str],
    nulls: str,
    k: int,
    dominance: Sequence[float],
    p_percent: float,
    totals: str,
    suppress: str,
    protection: int,
    zeros: str,
    value: str | None = None,
    entity: str | None = None,
) -> DataFrame:
    """Group the rows by the columns, then the cells by the totals, and judge each cell.

    The cells are computed once, and stored on the executors; with secondary suppression, their counts come to
    the driver.
    """
    resolve_columns(CELL_COLUMNS, by, tbl)
    rules = check_cells(by, value, entity, dominance, totals)
    rows = _read(tbl, by, value, entity)
    shape = CellShape(len(by), counts_people=entity is not None, has_value=value is not None, has_top=False)
    base = _run(rows, drop_nulls(rows, nulls), group_rows(SOURCE.items(), shape, rules.largest))
    base = store(base)  # each set of totals reads it
    cells = _run(rows, base, f"WITH reid_base AS (SELECT * FROM {SOURCE.items()}) {list_cells(shape, rules)}")
    cells = store(cells)
    named = f"WITH reid_cells AS (SELECT * FROM {SOURCE.items()})"
    judged = keep_stored(_run(rows, cells, f"{named} {judge_cells(len(by), rules, k, p_percent)}"), cells)
    hidden = _hide(rows, judged, suppress, width_of(protection, k))
    if zeros == "list":
        stored = store(hidden)
        named = f"WITH reid_hidden AS (SELECT * FROM {SOURCE.items()})"
        hidden = keep_stored(_run(rows, stored, f"{named} {list_hidden(len(by), rules, zeros)}"), stored)
    return null_report(rows, nulls, _listed(hidden, by, suppress))


def _read(tbl: DataFrame, by: Sequence[str], value: str | None, entity: str | None) -> Rows:
    """The columns under aliases, the last that of people, if any; a value as it is, and as a number."""
    asked = [*by, *([] if value is None else [value]), *([] if entity is None else [entity])]
    checked = resolve_columns(CELL_COLUMNS_AND_MORE, asked, tbl)
    more: dict[str, Column] = {}
    if value is not None:
        name = checked[len(by)]
        more = {"reid_given": column(name), "reid_value": as_number(tbl, name)}
    if entity is not None:
        more[f"q{len(by) + 1}"] = column(checked[-1])
    return read_rows(tbl, by, CELL_COLUMNS, **more)


def _run(rows: Rows, frame: DataFrame, text: str) -> DataFrame:
    return run_text(Rows(frame, rows.given, rows.table_names), text)


def _hide(rows: Rows, judged: DataFrame, suppress: str, width: int) -> DataFrame:
    """Number the status of each cell: 0 where it is published."""
    primary = F.arrays_overlap("unsafe", F.array(*map(F.lit, HIDING)))
    if suppress != "secondary":
        status = F.lit(0) if suppress == "none" else primary.cast("int")
        return judged.withColumn("hidden", status)
    codes = [f"{code} AS code{place}" for place, code in enumerate(codes_of_cells(len(rows.given)), 1)]
    numbered = store(_run(rows, judged, f"SELECT *, {', '.join(codes)} FROM {SOURCE.items()}"))
    names = [f"code{place}" for place, _ in enumerate(rows.given, 1)]
    fetched = fetch(numbered.select(*names, "records", primary.alias("primary")), "the cells of a table")
    if not fetched.num_rows:
        return numbered.withColumn("hidden", F.lit(0))
    columns = [fetched[name].to_numpy().astype(np.int64) for name in names]
    is_primary = fetched["primary"].to_numpy()
    chosen = suppress_cells(np.stack(columns, axis=1), fetched["records"].to_numpy(), is_primary, width)
    statuses = pa.table(dict(zip(names, columns, strict=True)) | {"hidden": chosen.statuses})
    return numbered.join(F.broadcast(to_spark(judged.sparkSession, statuses)), names)


def _listed(hidden: DataFrame, by: Sequence[str], suppress: str) -> DataFrame:
    """List the cells under the columns' own names; what is hidden is NULL."""
    bits = [bits_of(len(by), [place]) for place, _ in enumerate(by)]
    over = (
        F.when(F.col("totalled").bitwiseAND(F.lit(bit)) > 0, F.lit(name))
        for bit, name in zip(bits, by, strict=True)
    )
    words = F.array(*map(F.lit, STATUS_WORDS))
    inner = F.col("totalled") == 0
    lost = F.sum(F.when(inner & (F.col("hidden") > 0), F.col("records")))
    loss = hidden.agg((lost / F.sum(F.when(inner, F.col("records")))).alias("loss"))
    share = F.col("largest_share") if suppress == "none" else F.lit(None).cast("double")
    cells = {
        "total_over": F.array_compact(F.array(*over)),
        **{name: F.when(F.col("hidden") == 0, F.col(name)) for name in FIGURES},
        "largest_share": share,
        "unsafe": F.col("unsafe"),
        "status": F.element_at(words, F.col("hidden").cast("int") + 1),
        "loss": F.coalesce("loss", F.lit(0.0)),
    }
    return hidden.crossJoin(F.broadcast(loss)).select(
        *(F.col(f"q{place}").alias(name) for place, name in enumerate(by, 1)),
        *(cells[name].alias(name) for name in SAFE_CELLS.columns),
    )
