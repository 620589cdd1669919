"""What has left: each answer by its columns and its shape, against which the next one is audited."""

import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa

from reid_sql.errors import OutOfDomainError, UnavailableError
from reid_sql.parameters import quoted, sql_literal
from reid_sql.serve.audited_counts import (
    REFUSAL_OTHER_PEOPLE,
    TOTAL,
    Counts,
    NamedCells,
    RevealingError,
    contradict,
    merge_counts,
    refuse_counts,
)
from reid_sql.serve.derived_columns import DerivedColumn
from reid_sql.serve.determined_columns import DeterminedColumns, read_value

SUMS: Final = "SUMS"  # in place of a shape
READ: Final = "reid_read_rows"
PEOPLE_OF_TABLE: Final = re.compile(r" \((entity|nulls) := .*\)$", re.DOTALL)  # after its name
REFUSAL_BANDS_OF_TWO: Final = (
    "bands must be of one table, got some beside answers of another table of as many people; ask for columns, or "
    "ask the owner to serve each person in one table"
)
MAX_CELLS: Final = 2_000  # of a table, which an audit takes some seconds for


class Shape(StrEnum):
    """In which form an answer reveals the counts of people."""

    CELLS = "cells with their categories"
    CLASS_SIZES = "class sizes without their categories"
    FIGURES = "figures of class sizes"
    UNMASKED_FIGURES = "figures of class sizes that nothing masks"


@dataclass(frozen=True)
class Reveal:
    """What an answer reveals of a table, at most.

    `counted` are the columns whose combinations of values are counted, `columns` all that it hangs on, in the
    case in which they are compared. Cells are the counts; figures alone may have no counts but the total.
    """

    table: str
    people: tuple[str | None, str]  # who counts: entity, nulls
    question: str  # the function with its columns: the same one may be asked again
    shape: Shape
    counted: frozenset[str]
    columns: frozenset[str]
    counts: Counts = field(default_factory=dict, compare=False)
    derived: tuple[DerivedColumn, ...] = field(default=(), compare=False)

    @property
    def hides(self) -> bool:
        """Whether a cell is hidden."""
        return None in self.counts.values()

    def conflicts(self, other: "Reveal") -> bool:
        """Whether two answers without cells would reveal a count together that neither does.

        The numbers of classes by nested columns subtract, and so do two shapes of the same class sizes.
        Figures of the same classes are masked together, as in a report.
        """
        shapes = {self.shape, other.shape}
        if shapes == {Shape.UNMASKED_FIGURES} or not self.columns & other.columns:
            return False
        return shapes != {Shape.FIGURES} or self.counted != other.counted

    def named_by(self, tables: Mapping[frozenset[str], bool]) -> frozenset[str] | None:
        """Return the columns of this answer that cells name; None where both must not be answered.

        `tables` are the columns of each table of cells, and whether a cell is hidden. Figures of class sizes
        are the same for any names of the values of a column. So no cell follows from them where one table has
        all of the names, hides nothing and lacks a column. Exact class sizes have no such freedom.
        """
        near = {columns: hides for columns, hides in tables.items() if columns & self.columns}
        named: frozenset[str] = frozenset().union(*near)
        is_free = named in near and not any(near.values()) and not self.columns <= named
        return named & self.columns if is_free and self.shape is not Shape.CLASS_SIZES else None


@dataclass(frozen=True)
class PublishedCell:
    """A cell by the texts of its values, columns in small letters; its count is None where it is hidden."""

    values: Mapping[str, str | None]
    count: int | None


@dataclass(frozen=True)
class EarlierSums:
    """Sums of other columns that left before: the groups that each shares with a new one, and the column.

    `determined` are the groups of the new one and the columns that they determine; `source` is the table as
    SQL, with the derived columns among these.
    """

    source: str
    determined: frozenset[str]
    sums: Sequence[tuple[Sequence[str], str]]


class Record:
    """A DuckDB file of the owner's, with each answer that left, and each count."""

    def __init__(self, file: str | Path = ":memory:") -> None:
        """Open the record, or begin one."""
        # the cells of a sum are recorded with it, and conditions are compared before they are
        self.lock = threading.RLock()
        self._determined: dict[str, DeterminedColumns] = {}
        try:
            self._con = duckdb.connect(str(file))
        except duckdb.Error:
            raise UnavailableError(
                f"the record must be a DuckDB file that no other server uses, got '{file}'; "
                "stop that server, or name another file"
            ) from None
        self._con.execute("""CREATE TABLE IF NOT EXISTS published (
            asked_at TIMESTAMP DEFAULT current_timestamp, tbl VARCHAR, cell VARCHAR, records BIGINT);
            CREATE TABLE IF NOT EXISTS answered (
            asked_at TIMESTAMP DEFAULT current_timestamp, tbl VARCHAR, entity VARCHAR, nulls VARCHAR, question VARCHAR,
            shape VARCHAR, counted VARCHAR[], columns VARCHAR[]);
            CREATE TABLE IF NOT EXISTS derived (tbl VARCHAR, base VARCHAR, expression VARCHAR)""")

    def add(self, data: duckdb.DuckDBPyConnection, reveals: Sequence[Reveal], below: int) -> None:
        """Record what an answer reveals, unless a group below the mask may follow from all that left."""
        with self.lock:  # two clients may not ask for two halves at once
            self._con.execute("BEGIN")
            try:
                for each in reveals:
                    self._add(data, each, below)
            except BaseException:
                self._con.execute("ROLLBACK")
                # derived columns that were not recorded are new when they are asked for again
                for table in {each.table for each in reveals if each.derived}:
                    if table in self._determined:
                        self._determined[table].keep_derived(self.list_derived(table))
                raise
            self._con.execute("COMMIT")

    @contextmanager
    def add_sum(
        self, data: duckdb.DuckDBPyConnection, table: str, by: frozenset[str], value: str
    ) -> Iterator[EarlierSums]:
        """Record the sum of a column by groups, unless it is refused for those of other columns before."""
        with self.lock:
            before = self._con.execute(
                "SELECT DISTINCT counted, columns[1] FROM answered WHERE tbl = $1 AND shape = $2",
                [table, SUMS],
            ).fetchall()
            column, columns = value.casefold(), self._determined_in(data, table)
            determined = columns.add_columns(data, by)
            sums = [
                (sorted(columns.add_columns(data, groups) & determined), earlier)
                for groups, earlier in before
                if earlier != column
            ]
            yield EarlierSums(columns.source, determined, sums)
            if (sorted(by), column) not in before:
                self._con.execute(
                    "INSERT INTO answered (tbl, shape, counted, columns) VALUES ($1, $2, $3, $4)",
                    [table, SUMS, sorted(by), [column]],
                )

    def list_published(
        self, table: str, people: tuple[str | None, str], by: Sequence[str]
    ) -> list[PublishedCell]:
        """List the cells, without everybody's, that were answered of some of the columns."""
        columns = {name.casefold() for name in by}
        with self.lock:
            counts = self._counts().get(table + describe_people(*people), {})
        named = ((json.loads(cell), count) for cell, count in counts.items())
        return [
            PublishedCell({name: read_value(value) for name, value in cell.items()}, count)
            for cell, count in named
            if cell and cell.keys() <= columns
        ]

    def is_whole(self, table: str, by: Sequence[str]) -> bool:
        """Whether cells by these columns, and perhaps others, were answered and hide nothing.

        Then each sum of them follows.
        """
        columns = {name.casefold() for name in by}
        with self.lock:
            counts = self._counts().get(table, {})
        tables: dict[frozenset[str], list[int | None]] = {}
        for cell, count in counts.items():
            tables.setdefault(frozenset(json.loads(cell)), []).append(count)
        return any(
            columns <= names and None not in cells and sum(filter(None, cells)) == counts[TOTAL]
            for names, cells in tables.items()
        )

    def list_derived(self, table: str) -> list[DerivedColumn]:
        """List the derived columns of the answers about a table."""
        with self.lock:
            rows = self._con.execute(
                "SELECT base, expression FROM derived WHERE tbl = $1", [table]
            ).fetchall()
        return [DerivedColumn(*row) for row in rows]

    def _add(self, data: duckdb.DuckDBPyConnection, new: Reveal, below: int) -> None:
        self._derive(data, new)
        published = self._counts()
        counted = new.table + describe_people(*new.people)
        before = published.pop(counted, {})
        others = [counts for name, counts in published.items() if _table_of(name) == new.table]
        if contradict(before, new.counts) or (
            new.counts.keys() - {TOTAL} and any(counts.keys() - {TOTAL} for counts in others)
        ):
            raise OutOfDomainError(REFUSAL_OTHER_PEOPLE)
        merged = merge_counts(before, new.counts)
        near = {  # of the same people, perhaps
            name: counts
            for name, counts in published.items()
            if _table_of(name) == new.table or counts[TOTAL] == merged.get(TOTAL)
        }
        self._refuse_bands_of_two(new, near)
        self._add_answer(data, new, [(new.table, merged), *near.items()], below)
        added = [
            (counted, cell, count)
            for cell, count in merged.items()
            if cell not in before or count != before[cell]
        ]
        if not added:
            return
        if len(merged) > MAX_CELLS:
            raise UnavailableError(
                f"the published counts of a table must be at most {MAX_CELLS:,}, got more; ask the owner for a new record"
            )
        everything = {
            name: self._name_cells(data, _table_of(name), counts)
            for name, counts in [(counted, merged), *published.items()]
        }
        refuse_counts(everything.pop(counted), everything, below)
        self._con.executemany(
            "DELETE FROM published WHERE tbl = $1 AND cell = $2", [each[:2] for each in added]
        )
        self._con.executemany(
            "INSERT INTO published (tbl, cell, records) VALUES ($1, $2, $3)", added
        )

    def _refuse_bands_of_two(self, new: Reveal, near: Mapping[str, Counts]) -> None:
        """Refuse cells of a table beside those of another of as many people, if one has bands.

        Bands are overlaid within a table alone.
        """
        others = {_table_of(name) for name, counts in near.items() if counts.keys() != {TOTAL}}
        others -= {new.table}
        rows = self._con.execute("SELECT DISTINCT tbl FROM derived").fetchall()
        if (
            new.counts.keys() - {TOTAL}
            and others
            and {new.table, *others} & {name for (name,) in rows}
        ):
            raise OutOfDomainError(REFUSAL_BANDS_OF_TWO)

    def _add_answer(
        self,
        data: duckdb.DuckDBPyConnection,
        new: Reveal,
        near: Sequence[tuple[str, Counts]],
        below: int,
    ) -> None:
        """Record what leaves, unless one before, of the tables of the same people, refuses it."""
        answers = self._answers()
        if new in answers:
            return
        tables = {_table_of(name) for name, _ in near}
        cells = _tables_of_cells(
            (counts, partial(self._determined_in(data, _table_of(name)).list_columns, data))
            for name, counts in near
        )
        named = self._add_columns(data, new)
        for old in answers:
            if (
                old.table in tables
                and new.question != old.question
                and _is_refused(data, named, self._add_columns(data, old), cells, below)
            ):
                _refuse_shapes(new, old)
        row = (new.table, *new.people, new.question, new.shape.name)
        self._con.execute(
            """INSERT INTO answered (tbl, entity, nulls, question, shape, counted, columns)
            VALUES ($1, $2, $3, $4, $5, $6, $7)""",
            [*row, sorted(new.counted), sorted(new.columns)],
        )

    def _determined_in(self, data: duckdb.DuckDBPyConnection, table: str) -> DeterminedColumns:
        """Find the columns of a table that others determine, once."""
        if table not in self._determined:
            derived = self.list_derived(table)
            self._determined[table] = DeterminedColumns(data, table, derived)
        return self._determined[table]

    def _derive(self, data: duckdb.DuckDBPyConnection, new: Reveal) -> None:
        """Remember the derived columns of an answer."""
        added = self._determined_in(data, new.table).derive(data, new.derived)
        for each in added:
            row = [new.table, each.base, each.expression]
            self._con.execute("INSERT INTO derived VALUES ($1, $2, $3)", row)

    def _add_columns(self, data: duckdb.DuckDBPyConnection, answer: Reveal) -> Reveal:
        """Add to the columns of an answer those that they determine."""
        add = self._determined_in(data, answer.table).add_columns
        return replace(answer, counted=add(data, answer.counted), columns=add(data, answer.columns))

    def _name_cells(
        self, data: duckdb.DuckDBPyConnection, table: str, counts: Counts
    ) -> NamedCells:
        """Name each cell by all values that its own determine; one that is hidden may be shown by others."""
        cells = [json.loads(cell) for cell in counts]
        named = self._determined_in(data, table).add_values(data, cells)
        added: dict[str, int | None] = {}
        for names, count in zip(named, counts.values(), strict=True):
            for cell in names:
                key = json.dumps(cell, sort_keys=True)
                added[key] = count if added.get(key) is None else added[key]
        joint = self._determined_in(data, table).list_joint_cells(data, cells)
        whole = {frozenset(by_columns) for by_columns, _ in named}
        return NamedCells(added, whole | set(map(frozenset, joint)), [*chain(*joint.values())])

    def _counts(self) -> dict[str, dict[str, int | None]]:
        """Return the published counts of each table and its people."""
        counts: dict[str, dict[str, int | None]] = {}
        rows = self._con.execute("SELECT tbl, cell, records FROM published").fetchall()
        for name, cell, count in rows:
            counts.setdefault(name, {})[cell] = count
        return counts

    def _answers(self) -> list[Reveal]:
        """Return what left, without its counts."""
        rows = self._con.execute(
            "SELECT tbl, entity, nulls, question, shape, counted, columns FROM answered WHERE shape <> $1",
            [SUMS],
        ).fetchall()
        return [
            Reveal(
                name,
                (entity, nulls),
                question,
                Shape[shape],
                frozenset(counted),
                frozenset(columns),
            )
            for name, entity, nulls, question, shape, counted, columns in rows
        ]


def ask(data: duckdb.DuckDBPyConnection, function: str, arguments: Mapping[str, Any]) -> pa.Table:
    """Call a function of reid-sql with values by name."""
    named = [f"{quoted(name)} := {sql_literal(value)}" for name, value in arguments.items()]
    return data.sql(f"FROM reid.{function}({', '.join(named)})").to_arrow_table()


def read_rows(data: duckdb.DuckDBPyConnection, answer: pa.Table, by: int) -> list[dict[str, Any]]:
    """Read the rows of an answer, its groups as texts: Python has no 24:00, and no year 12,000."""
    names = [quoted(name) for name in answer.column_names[:by]]
    texts = [f"{name}::VARCHAR AS {name}" for name in names]
    data.register(READ, answer)
    replaced = f" REPLACE ({', '.join(texts)})" * bool(by)
    rows: list[dict[str, Any]] = (
        data.sql(f"SELECT *{replaced} FROM {READ}").to_arrow_table().to_pylist()
    )
    return rows


def count_of_people(entity: str | None) -> str:
    """Write the aggregate that counts people: by the column that identifies them, else the records."""
    return f"count(DISTINCT {quoted(entity)})" if entity else "count(*)"


def _table_of(name: str) -> str:
    return PEOPLE_OF_TABLE.sub("", name)


def _tables_of_cells(
    published: Iterable[tuple[Counts, Callable[[Iterable[str]], tuple[frozenset[str], bool]]]],
) -> dict[frozenset[str], bool]:
    """Return the columns of each table of cells, and whether a cell of it is hidden.

    With the counts comes what adds the columns that others determine, and says whether some are derived:
    their cells are sums of others, as if these were hidden.
    """
    tables: dict[frozenset[str], bool] = {}
    for counts, list_columns in published:
        shown: dict[frozenset[str], list[int | None]] = {}
        for cell, count in counts.items():
            shown.setdefault(frozenset(json.loads(cell)), []).append(count)
        for columns, cells in shown.items():
            is_whole = None not in cells and sum(filter(None, cells)) == counts[TOTAL]
            everything, has_derived = list_columns(columns)
            hides = has_derived or not is_whole
            tables[everything] = tables.get(everything, False) or hides
    tables.pop(frozenset(), None)
    return tables


def _is_refused(
    data: duckdb.DuckDBPyConnection,
    new: Reveal,
    old: Reveal,
    tables: Mapping[frozenset[str], bool],
    below: int,
) -> bool:
    """Whether two answers, safe alone, are not so together."""
    is_cells = [each.shape is Shape.CELLS for each in (new, old)]
    if is_cells[0] == is_cells[1]:
        return not is_cells[0] and new.conflicts(old)
    cells, figures = (new, old) if is_cells[0] else (old, new)
    if not cells.columns & figures.columns:
        return False
    named = figures.named_by(tables)
    return named is None or (
        figures.shape is Shape.FIGURES and _has_only_small_cells(data, figures, named, below)
    )


def _has_only_small_cells(
    data: duckdb.DuckDBPyConnection, figures: Reveal, named: frozenset[str], below: int
) -> bool:
    """Whether each combination of the other columns has a few people in some group of the named ones.

    Elsewhere, any of the combinations may be the one that has nobody, or many people.
    """
    table = f"memory.main.{quoted(figures.table)}"
    people = count_of_people(figures.people[0])
    names = {name.casefold(): quoted(name) for name in data.sql(f"FROM {table} LIMIT 0").columns}
    columns = [names[name] for name in sorted(figures.columns - named)]
    groups = ", ".join(names[name] for name in sorted(named))
    values = " * ".join(
        f"(SELECT count(*) FROM (SELECT DISTINCT {each} FROM {table}))" for each in columns
    )
    counted = (
        f"SELECT {groups}, {people} AS people FROM {table} GROUP BY {groups}, {', '.join(columns)}"
    )
    sql = f"""SELECT bool_or(largest < {below} AND cells = {values})
        FROM (SELECT max(people) AS largest, count(*) AS cells FROM ({counted}) GROUP BY {groups})"""
    return bool(data.execute(sql).fetchall()[0][0])


def _refuse_shapes(new: Reveal, old: Reveal) -> None:
    columns, before = (", ".join(sorted(each.columns)) for each in (new, old))
    raise RevealingError(
        f"an answer must not subtract from those before, got {new.shape} of {columns}"
        f" after {old.shape} of {before}; ask {old.question} again, or about other columns"
    )


def describe_people(entity: str | None, nulls: str) -> str:
    """Write who counts, where not each row is a person."""
    options = [f"entity := {entity}"] * (entity is not None) + [f"nulls := {nulls}"] * (
        nulls != "value"
    )
    return f" ({', '.join(options)})" * bool(options)
