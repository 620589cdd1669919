"""Polars: distinct records, scored under a fitted model."""

import polars as pl

from reid_sql import registry
from reid_sql.engines.polars.frames import null_report, placed
from reid_sql.engines.polars.records import scored
from reid_sql.function import FUNCTIONS


def scored_classes(tbl: pl.LazyFrame, model: str, population: float) -> pl.LazyFrame:
    """The distinct records on the model's columns, with their numbers of records and their scores."""
    found = scored(FUNCTIONS["score_copula"], tbl, registry.known(model), {"population": population})
    return null_report(tbl, [], "value", placed(found.select("class_size", "uniqueness_xi")))
