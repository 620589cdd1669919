"""Polars: whether rows of a table may not be people, counted when the answer is collected."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from reid_sql.engines.counted_rows import CountedRows, find_counted_rows
from reid_sql.engines.polars.frames import exact_column, map_whole
from reid_sql.errors import RowsNotPeopleWarning
from reid_sql.function import Function
from reid_sql.models.columns.identifiers import hint, likely, repeating


def warn_of_rows(answer: pl.LazyFrame, declared: Function, arguments: Mapping[str, Any]) -> pl.LazyFrame:
    """Return the answer, whose collection warns of columns that are named like an identifier and repeat.

    They are counted beside the answer, if there is such a name.
    """
    rows = find_counted_rows(declared, arguments)
    frames = [arguments[name].lazy() for name in rows.tables]
    named = [(frame, names) for frame in frames if (names := _identifiers(frame, rows))]
    told = [_nothing_but_a_warning(frame, names, rows, answer) for frame, names in named]
    return pl.concat([answer, *told]) if told else answer


def _identifiers(frame: pl.LazyFrame, rows: CountedRows) -> list[str]:
    known = frame.collect_schema()
    names = likely(known.names(), rows.counted, rows.named)
    return [name for name in names if known[name] != pl.Object and not known[name].is_nested()]


def _nothing_but_a_warning(
    frame: pl.LazyFrame, names: Sequence[str], rows: CountedRows, answer: pl.LazyFrame
) -> pl.LazyFrame:
    """Count the values of some columns for a frame of the answer's columns without rows."""
    schema = answer.collect_schema()
    values = [exact_column(name).drop_nulls() for name in names]
    distinct = [each.n_unique().alias(f"distinct{place}") for place, each in enumerate(values)]
    records = [each.len().alias(f"records{place}") for place, each in enumerate(values)]
    return map_whole(frame.select(*distinct, *records), _Warning(names, rows, schema), schema)


@dataclass(frozen=True)
class _Warning:
    """Warn of what the counts of some columns show, and return a frame without rows."""

    names: Sequence[str]
    rows: CountedRows
    schema: pl.Schema

    def __call__(self, counts: pl.DataFrame) -> pl.DataFrame:
        numbers = counts.row(0)
        distinct, records = numbers[: len(self.names)], numbers[len(self.names) :]
        columns = repeating(self.names, distinct, records, self.rows.counted)
        if columns:
            advice = hint(columns, "entity =" if self.rows.takes_entity else None)
            warnings.warn(advice, RowsNotPeopleWarning, stacklevel=2)
        return pl.DataFrame(schema=self.schema)
