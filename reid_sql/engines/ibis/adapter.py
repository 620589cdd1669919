"""Ibis: how functions of tables are bound; the warehouse counts, and nothing is created in it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from types import MappingProxyType
from typing import Final

import ibis.expr.operations as ops
import ibis.expr.types as ir
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from ibis.expr.types import Table

from reid_sql.engines.arrow import answer_rows
from reid_sql.engines.contract import Kind, refuse_added_name
from reid_sql.engines.contract import signature_of_added_count as counting
from reid_sql.engines.counted_rows import (
    IS_REPORTED,
    list_identified_tables,
    list_watched_columns,
    warn_of_values,
)
from reid_sql.engines.drawn_rows import Values, find_panels_in
from reid_sql.engines.group_answers import answer_whole, answered_by_group, table_of
from reid_sql.engines.ibis.alike import restored
from reid_sql.engines.ibis.frames import (
    COMPUTING,
    aliases,
    bigint,
    check_columns,
    collected,
    count_by,
    framed,
    known_value,
    with_aliases,
)
from reid_sql.engines.ibis.people import count_nobodies
from reid_sql.engines.ibis.transfer import NumberedRows, fetch_values, lacks_scale
from reid_sql.errors import OutOfDomainError, UnavailableError
from reid_sql.function import Answer, Function
from reid_sql.models.columns.units import UNIT_PERSON
from reid_sql.models.people.evidence import MAX_DRAWN
from reid_sql.parameters import MAX_COLUMNS, Arguments, ColumnNames, Columns
from reid_sql.reduction import (
    DIVIDING,
    CodedCall,
    Needs,
    group_names,
    implementation,
    refuse_groups_named_like_results,
    refuse_unidentified,
)

__all__ = [
    "COLUMN",
    "ENGINE",
    "TABLE",
    "collected",
    "column_names",
    "count",
    "counting",
    "find_lacked",
    "finish_reading",
    "framed",
    "read",
    "table",
]

ENGINE: Final = "ibis"
TABLE: Final = Kind((ir.Table,), "an Ibis table", "pass connection.table('name')")
COLUMN: Final = Kind((ir.Value,), "a column of Ibis", "write 'age' or table['age']")

WORDS: Final = "the distinct records that the client answers from"
NAMES: Final = Columns("columns")
RECORDS: Final = "records"  # next to q1, q2, …


def refuse_unidentified_rows(frame: Table, role: str, column: str) -> None:
    """Refuse a table with rows of nobody, whom the database counts."""
    if column not in frame.columns:
        return  # the count by it refuses the name
    if list(frame.op().find(ops.UnboundTable)):
        raise UnavailableError(
            f"{role} must name a column of a table in a database, whose rows are counted first, got an unbound table; "
            "pass connection.table('name')"
        )
    counts = frame.aggregate(identified=known_value(frame, column).count(), rows=frame.count())
    row = collected(counts, f"the rows without {column}").to_pylist()[0]
    refuse_unidentified(role, column, int(row["rows"]) - int(row["identified"]), int(row["rows"]))


def warn_of_people(declared: Function, arguments: Arguments) -> None:
    """Warn of values of columns of people and households that may stand for nobody."""
    for frame, name, unit in list_watched_columns(declared, arguments):
        _warn_of_nobodies(frame, name, unit)


def _warn_of_nobodies(frame: Table, name: str, unit: str = UNIT_PERSON) -> None:
    is_counted = name in frame.columns and not frame.op().find(ops.UnboundTable)
    if is_counted and not IS_REPORTED.get():
        label = "the values that may stand for nobody"
        counts = count_nobodies(
            frame, name, lambda question: collected(question(), label).to_pylist()
        )
        warn_of_values(name, counts, unit)


def count(
    declared: Function, columns: ColumnNames, tbl: ir.Table, name: str, entity: str | None
) -> ir.Table:
    """Bind WINDOW: the table with one more column, of this name."""
    refuse_added_name(name, tbl.columns)
    if entity is not None:
        refuse_unidentified_rows(tbl, "entity", entity)
        _warn_of_nobodies(tbl, entity)
    # A COUNT has a reduction.
    counted: ir.Table = implementation(declared.reduction, ENGINE)(tbl, columns, name, entity)  # type: ignore[arg-type]
    return counted


# Table functions


def table(declared: Function, arguments: Arguments) -> Table:
    """Bind a table function: a table of the warehouse, or one in this process where a body answers."""
    options = declared.body_arguments(arguments)
    reduction = declared.reduction
    if reduction is None:
        return framed(table_of(answer_rows(declared, {}, options), declared.columns))
    for identified in list_identified_tables(declared, arguments):
        refuse_unidentified_rows(*identified)
    warn_of_people(declared, arguments)
    counted = {name: arguments.get(name) for name in reduction.arguments_of(ENGINE)}
    by = arguments.get("by") if declared.grouped else None
    if by is not None:
        refuse_groups_named_like_results(
            check_columns(DIVIDING, by, arguments["tbl"]), declared.answer_columns
        )
    reduced = implementation(reduction, "ibis")(**counted)
    if declared.answer is Answer.REDUCTION:
        listed = reduced.order_by(next(iter(reduction.columns))) if reduction.arrays else reduced
        return listed if by is None else _with_groups(listed, by)
    if by is not None:
        return framed(_answer_by_group(declared, reduced, by, options))
    counts = collected(reduced, f"what {declared.name} is answered from")
    COMPUTING.get()()
    return framed(answer_whole(declared, counts, options))


def _with_groups(listed: Table, by: ColumnNames) -> Table:
    """Return the rows with the values of the groups as they were, under their columns' names."""
    groups = dict(zip(group_names(by), by, strict=True))
    return listed.select(
        **{
            groups.get(name, name): restored(listed[name]) if name in groups else listed[name]
            for name in listed.columns
        }
    )


def _answer_by_group(
    declared: Function, reduced: Table, by: ColumnNames, options: Arguments
) -> pa.Table:
    """Answer for each group, which the database numbers."""
    names = group_names(by)
    columns = dict(zip(names, by, strict=True))
    fetched = fetch_values(reduced, columns, "the histograms of all groups")
    table = fetched.unnumbered
    for place, name in enumerate(names):
        table = table.append_column(name, fetched.column(place))
    return answered_by_group(
        declared, table, by, options, [tuple(row) for row in fetched.codes.tolist()]
    )


def find_panels(
    frame: Table,
    ask: Callable[[Callable[[], Table]], pa.Table],
    named: ColumnNames = (),
) -> list[str]:
    """Return columns of people by the structure of a draw of rows, which `ask` fetches."""
    schema = frame.schema()
    plain = [
        name
        for name, kind in schema.items()
        if kind.is_primitive() or kind.is_string() or kind.is_date()
    ]

    def draw(values: Values, limit: int) -> pa.Table:
        rows = frame.select(plain[:MAX_COLUMNS])
        tests = [rows[name].isin(each) for name, each in values.items()]
        return ask(lambda: (rows.filter(reduce(or_, tests)) if tests else rows).limit(limit))

    return find_panels_in(plain, draw, named)


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
        return int(pc.sum(self.fetched.unnumbered[RECORDS]).as_py() or 0)

    @property
    def rows(self) -> pa.Table:
        """The records, their columns under numbers."""
        columns = {
            name: self.fetched.column(place) for place, name in enumerate(aliases(self.columns))
        }
        return pa.table({**columns, RECORDS: self.fetched.unnumbered[RECORDS]})

    def class_sizes(self, columns: ColumnNames, *, drop: bool) -> list[tuple[int, int]]:
        """Count the classes by some of the columns: each size, and how many have it; with NULLs or without.

        The numbers of the values are counted, as the warehouse gave them.
        """
        codes = [self.fetched.codes[:, self.columns.index(name)] for name in columns]
        named = dict(zip(aliases(columns), codes, strict=True))
        counted = pl.LazyFrame({**named, RECORDS: pl.from_arrow(self.fetched.unnumbered[RECORDS])})
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
        np.add.at(records, of_row.ravel(), self.fetched.unnumbered[RECORDS].to_numpy())
        rows = NumberedRows(
            numbers[:, None], [self.fetched.values[place]], pa.table({RECORDS: records})
        )
        return DistinctRecords((name,), rows)


def fetch_distinct(
    frame: Table, columns: ColumnNames, coded: Mapping[str, Needs] = MappingProxyType({})
) -> DistinctRecords:
    """Count the distinct records in the warehouse and fetch them; refuse more than the limit.

    Of `coded` columns, no more is fetched than an answer needs of their values.
    """
    folded = [name.lower() for name in columns]
    if len(set(folded)) < len(folded):
        raise OutOfDomainError(
            f"{NAMES.words} must differ by more than capitals where the client answers, got {list(columns)}; "
            "rename one in a view"
        )
    for start in range(0, len(columns), MAX_COLUMNS):
        check_columns(NAMES, columns[start : start + MAX_COLUMNS], frame)
    named = {
        name: known_value(frame, name) for name in columns if coded.get(name) is Needs.KNOWN_CODES
    }
    frame = frame.mutate(**named) if named else frame
    names = aliases(columns)
    counted = count_by(with_aliases(frame, columns), names, RECORDS)
    aliased = dict(zip(names, columns, strict=True))
    numbers = [q for q, name in aliased.items() if name in coded and coded[name].is_by_code]
    scales = [q for q, name in aliased.items() if coded.get(name) is Needs.POSITIONS]
    numbers += lacks_scale(counted, scales, WORDS)
    return DistinctRecords(tuple(columns), fetch_values(counted, aliased, WORDS, numbers))


def column_names(frame: Table | DistinctRecords) -> list[str]:
    """The names of the columns."""
    return list(frame.columns)


def find_lacked(frame: Table | DistinctRecords, columns: ColumnNames) -> list[str]:
    """The names among these that the table lacks; refuses one that differs from a column's in capitals."""
    lacked = [name for name in columns if name not in frame.columns]
    if lacked and {name.lower() for name in lacked} <= {name.lower() for name in frame.columns}:
        NAMES.known(lacked, frame.columns)  # which DuckDB would take
    return lacked


def read(frame: Table | DistinctRecords, columns: ColumnNames) -> pa.Table:
    """The distinct records with the number of each in `records`."""
    return (frame if isinstance(frame, DistinctRecords) else fetch_distinct(frame, columns)).rows


class CodedRecords(CodedCall):
    """The same place for a call of a function that needs less than the values of its columns."""

    column_names, find_lacked = staticmethod(column_names), staticmethod(find_lacked)

    def read(self, frame: Table, columns: ColumnNames) -> pa.Table:
        """The distinct records, with codes in place of the values that the answer does not need."""
        coded = self.choose_codes(columns, lambda: self._has_many_records(frame))
        return fetch_distinct(frame, columns, coded).rows

    @staticmethod
    def _has_many_records(frame: Table) -> bool:
        """Whether a model of people draws some of the records, by their values."""
        counted = collected(frame.agg(records=bigint(frame.count())), WORDS)
        return int(counted["records"][0].as_py()) > MAX_DRAWN

    @staticmethod
    def finish_reading() -> None:
        """Run what the caller wants before the client computes."""
        finish_reading()


def finish_reading() -> None:
    """Run what the caller wants before the client computes, such as the end of a transaction."""
    COMPUTING.get()()
