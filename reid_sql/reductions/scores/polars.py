"""Polars: distinct records, scored under a fitted model."""

import polars as pl

from reid_sql import registry
from reid_sql.engines.polars.frames import null_report, with_row_numbers
from reid_sql.engines.polars.records import score_distinct
from reid_sql.function import FUNCTIONS


def scored_classes(tbl: pl.LazyFrame, model: str, population: float) -> pl.LazyFrame:
    """The distinct records on the model's columns, with their numbers of records and their scores."""
    scores = score_distinct(FUNCTIONS["score_copula"], tbl, registry.known(model), {"population": population})
    return null_report(tbl, [], "value", with_row_numbers(scores.select("class_size", "uniqueness_xi")))
