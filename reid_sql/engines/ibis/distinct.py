"""Ibis: the distinct records of a table, counted by the warehouse, fetched by the numbers of their values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from ibis.expr.types import Table

from reid_sql.engines.ibis.frames import COMPUTING, aliases, check_columns, count_by, with_aliases
from reid_sql.engines.ibis.transfer import NumberedRows, fetch_values
from reid_sql.errors import OutOfDomainError
from reid_sql.parameters import MAX_COLUMNS, Columns

WORDS: Final = "the distinct records that the client answers from"
NAMES: Final = Columns("columns")
RECORDS: Final = "records"  # next to q1, q2, …


@dataclass(frozen=True)
class DistinctRecords:
    """The distinct records on some columns, with how many have each in `records`."""

    columns: tuple[str, ...]
    fetched: NumberedRows

    @property
    def values(self) -> int:
        """How many values came."""
        return int(self.fetched.codes.size + len(self.fetched.codes))

    @property
    def records(self) -> int:
        """How many records the warehouse counted."""
        return int(pc.sum(self.fetched.others[RECORDS]).as_py() or 0)

    @property
    def rows(self) -> pa.Table:
        """The records, their columns under numbers."""
        columns = {name: self.fetched.column(place) for place, name in enumerate(aliases(self.columns))}
        return pa.table({**columns, RECORDS: self.fetched.others[RECORDS]})

    def class_sizes(self, columns: Sequence[str], *, drop: bool) -> list[tuple[int, int]]:
        """Count the classes by some of the columns: each size, and how many have it; with NULLs or without.

        The numbers of the values are counted, as the warehouse gave them.
        """
        codes = [self.fetched.codes[:, self.columns.index(name)] for name in columns]
        named = dict(zip(aliases(columns), codes, strict=True))
        counted = pl.LazyFrame({**named, RECORDS: pl.from_arrow(self.fetched.others[RECORDS])})
        if drop:
            counted = counted.filter(pl.all_horizontal(pl.col(list(named)) > 0))
        classes = counted.group_by(list(named)).agg(pl.col(RECORDS).sum())
        sizes = classes.group_by(RECORDS).agg(pl.len()).sort(RECORDS)
        return [(int(size), int(number)) for size, number in sizes.collect().iter_rows()]

    def of_column(self, name: str) -> "DistinctRecords":
        """The records on one column alone."""
        place = self.columns.index(name)
        codes = self.fetched.codes[:, place]
        numbers, of_row = np.unique(codes, return_inverse=True)
        records = np.zeros(len(numbers), dtype=np.int64)
        np.add.at(records, of_row.ravel(), self.fetched.others[RECORDS].to_numpy())
        rows = NumberedRows(numbers[:, None], [self.fetched.values[place]], pa.table({RECORDS: records}))
        return DistinctRecords((name,), rows)


def fetch_distinct(frame: Table, columns: Sequence[str]) -> DistinctRecords:
    """Count the distinct records in the warehouse and fetch them; refuse more than the limit."""
    folded = [name.lower() for name in columns]
    if len(set(folded)) < len(folded):
        rule = f"{NAMES.words} must differ by more than capitals where the client answers"
        raise OutOfDomainError(f"{rule}, got {list(columns)}; rename one in a view")
    for start in range(0, len(columns), MAX_COLUMNS):
        check_columns(NAMES, columns[start : start + MAX_COLUMNS], frame)
    names = aliases(columns)
    counted = count_by(with_aliases(frame, columns), names, RECORDS)
    return DistinctRecords(
        tuple(columns), fetch_values(counted, dict(zip(names, columns, strict=True)), WORDS)
    )


def column_names(frame: Table | DistinctRecords) -> list[str]:
    """The names of the columns."""
    return list(frame.columns)


def find_lacked(frame: Table | DistinctRecords, columns: Sequence[str]) -> list[str]:
    """The names among these that the table lacks; refuses one that differs from a column's in capitals."""
    lacked = [name for name in columns if name not in frame.columns]
    if lacked and {name.lower() for name in lacked} <= {name.lower() for name in frame.columns}:
        NAMES.known(lacked, frame.columns)  # which DuckDB would take
    return lacked


def read(frame: Table | DistinctRecords, columns: Sequence[str]) -> pa.Table:
    """The distinct records with the number of each in `records`."""
    return (frame if isinstance(frame, DistinctRecords) else fetch_distinct(frame, columns)).rows


def finish_reading() -> None:
    """Run what the caller wants before the client computes, such as the end of a transaction."""
    COMPUTING.get()()
