"""What a warehouse lacks, DuckDB computes at the client from the distinct records that it counts.

The warehouse groups by the columns that a question is about, texts by their bytes. What comes is each
distinct record with its count, within the limit of what may be fetched. DuckDB sees each as often as it was
counted, so that every function computes as it does from a file.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from ibis.expr.types import Table as IbisTable

import reid_sql_udfs
from reid_sql import registry
from reid_sql.engines.arrow import ARROW_TYPES
from reid_sql.engines.duckdb import make_functions
from reid_sql.engines.ibis.frames import COMPUTING, aliases, check_columns, count_by, with_aliases
from reid_sql.engines.ibis.transfer import NumberedRows, fetch_values
from reid_sql.errors import OutOfDomainError, ReidError, UnavailableError
from reid_sql.fitted_model import FittedModel
from reid_sql.function import Function
from reid_sql.parameters import (
    MAX_COLUMNS,
    WEIGHT,
    Column,
    Columns,
    Document,
    Groups,
    Key,
    OptionalTable,
    Table,
    quoted,
)
from reid_sql.reduction import DIVIDING
from reid_sql.reductions.profile import COLUMN_COUNTS
from reid_sql.runner import sentence
from reid_sql.sources.files import connect_quietly
from reid_sql.sources.spill import spill_folder, spill_into

WORDS: Final = "the distinct records that the client answers from"
NAMES: Final = Columns("columns")
RECORDS: Final = "records"  # next to q1, q2, …
PIECE: Final = 1024  # equal records that are in memory together
ZONED: Final = "TIMESTAMP WITH TIME ZONE"
PASSED_MODEL: Final = "reid: the model that was passed"
MARGINALS: Final = ("column_name", "value", "share")


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


def fetch_distinct(frame: IbisTable, columns: Sequence[str]) -> DistinctRecords:
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


@contextmanager
def open_client() -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a DuckDB in memory with the functions, which reads no file; what spills is encrypted, and goes."""
    with spill_folder() as folder:
        con = connect_quietly()
        try:
            spill_into(con, folder)
            con.execute("SET enable_external_access = false")
            yield con
        finally:
            con.close()


def drop_view(con: duckdb.DuckDBPyConnection, view: str) -> None:
    """Drop a view and its records."""
    con.execute(f"DROP VIEW {view}")
    con.unregister(f"{view}_distinct")


def create_view(con: duckdb.DuckDBPyConnection, view: str, columns: Sequence[str], rows: pa.Table) -> None:
    """Create the view of all records from the distinct ones; refuse those that are equal to DuckDB.

    A time that knows its zone becomes one in UTC, as where a file is read.
    """
    name, names = f"{view}_distinct", aliases(columns)
    with refused():
        con.register(name, rows)
        distinct = f"SELECT count(*) FROM (SELECT DISTINCT {', '.join(names)} FROM {name})"
        alike = con.execute(distinct).fetchall()[0][0]
    if alike != rows.num_rows:
        rule = f"{', '.join(columns)} must come to the client as values that differ as in the database"
        got = f"got {alike} distinct records of {rows.num_rows}"
        raise OutOfDomainError(f"{rule}, {got}; cast the column to text or to a whole number in a view")
    pieces = f"SELECT *, unnest(range((records + {PIECE - 1}) // {PIECE})) AS piece FROM {name}"
    each = f"SELECT *, unnest(range(least({PIECE}, records - {PIECE} * piece))) AS one FROM ({pieces})"
    kinds = {name: kind for name, kind, *_ in con.execute(f"DESCRIBE {name}").fetchall()}
    values = [f"timezone('UTC', {name})" if kinds[name] == ZONED else name for name in names]
    selected = [f"{value} AS {quoted(name)}" for value, name in zip(values, columns, strict=True)]
    con.execute(f"CREATE OR REPLACE TEMP VIEW {view} AS SELECT {', '.join(selected)} FROM ({each})")


@contextmanager
def refused() -> Iterator[None]:
    """Raise DuckDB's refusals as one sentence."""
    try:
        yield
    except duckdb.InterruptException:
        raise
    except duckdb.InvalidInputException as error:
        raise OutOfDomainError(sentence(error)) from None
    except duckdb.Error as error:
        raise UnavailableError(sentence(error)) from None


def needed_columns(declared: Function, table: str, arguments: Mapping[str, Any]) -> list[str] | None:
    """Return the columns that a call needs of one of its tables; None for all of them."""
    if table == "marginals":
        return list(MARGINALS)
    needed: list[str] = []
    for parameter in declared.parameters:
        domain, value = parameter.domain, arguments[parameter.name]
        if isinstance(domain, Columns) and value is None:
            return None
        if isinstance(domain, Document):
            document = json.loads(value)
            needed += [*document["columns"], *(document["text_columns"] if table == "tbl" else [])]
        elif isinstance(domain, Columns | Groups) and value is not None:
            needed += _names(domain, value)
        elif isinstance(domain, Column | Key) or domain is WEIGHT:
            needed += [] if value is None or table == "population_tbl" else [value]
    if not needed and arguments.get("model") is not None:
        needed += registry.known(arguments["model"]).columns
    return list(dict.fromkeys(needed))


def _names(domain: Columns | Groups, value: Any) -> list[str]:  # noqa: ANN401 - a list of names, or what is none
    """Return the list, or refuse what is none; DuckDB checks the names."""
    plain = isinstance(value, Sequence) and all(isinstance(name, str) for name in value)
    words = domain if isinstance(domain, Columns) else DIVIDING
    return list(value) if plain and not isinstance(value, str) else words.check(value, [])


def answer_at_client(declared: Function, arguments: Mapping[str, Any]) -> pa.Table:
    """Call the function in DuckDB on the records of Ibis tables."""
    with open_client() as con:
        if declared.reduction is not COLUMN_COUNTS:
            return _asked(con, declared, arguments)
        frame = arguments["tbl"]
        given = list(frame.columns) if arguments["columns"] is None else arguments["columns"]
        # Of each column the distinct values alone: the records on all of them are never asked.
        each = ({"tbl": frame, "columns": [name]} for name in NAMES.check(given, frame.columns))
        return pa.concat_tables([_asked(con, declared, asked) for asked in each])


def profile_columns(
    frame: IbisTable,
    columns: Sequence[str],
    ask: Callable[[Callable[[], pa.Table]], pa.Table],
    fetched: Mapping[str, DistinctRecords],
) -> list[dict[str, Any]]:
    """Profile the columns whose distinct values come to the client; among more, no value is suspicious.

    `ask` runs the query, and raises the database's refusals as one sentence. Of columns that were `fetched`
    nothing is asked.
    """
    profiles: list[dict[str, Any]] = []
    profile = reid_sql_udfs.declared()["profile"]
    with open_client() as con:
        for name in columns:
            with suppress(ReidError):
                given = {"tbl": fetched.get(name, frame), "columns": [name]}
                question = partial(_asked, con, profile, given)
                profiles += (question() if name in fetched else ask(question)).to_pylist()
    return profiles


def _asked(con: duckdb.DuckDBPyConnection, declared: Function, arguments: Mapping[str, Any]) -> pa.Table:
    values = []
    for parameter in declared.parameters:
        value = arguments[parameter.name]
        if isinstance(parameter.domain, Table | OptionalTable) and value is not None:
            columns = needed_columns(declared, parameter.name, arguments)
            value = _put(con, f"reid_{parameter.name}", value, columns)
        values.append(list(value) if isinstance(value, tuple) else value)
    call = f"FROM {declared.name}({', '.join('?' * len(values))})"
    COMPUTING.get()()
    with _models_of(con, values, keep=declared.models), refused():
        make_functions(con, [declared.name])
        return _typed(declared, con.sql(call, params=values).to_arrow_table())


def _put(
    con: duckdb.DuckDBPyConnection,
    view: str,
    frame: IbisTable | DistinctRecords,
    columns: list[str] | None,
) -> str:
    """Create a view of the table's records; without a column, an empty one, which DuckDB refuses."""
    if isinstance(frame, DistinctRecords):
        create_view(con, view, frame.columns, frame.rows)
        return view
    asked = list(frame.columns) if columns is None else columns
    lacked = [name for name in asked if name not in frame.columns]
    if not lacked:
        fetched = fetch_distinct(frame, asked)
        create_view(con, view, fetched.columns, fetched.rows)
    else:
        if {name.lower() for name in lacked} <= {name.lower() for name in frame.columns}:
            NAMES.known(lacked, frame.columns)  # which DuckDB would take
        empty = ", ".join(f"NULL::VARCHAR AS {quoted(name)}" for name in frame.columns)
        con.execute(f"CREATE OR REPLACE TEMP VIEW {view} AS SELECT {empty} WHERE false")
    return view


@contextmanager
def _models_of(con: duckdb.DuckDBPyConnection, values: list[Any], *, keep: bool) -> Iterator[None]:
    """Share fitted models between Python and DuckDB, with one that is passed as an argument."""
    if not keep:
        yield
        return
    known = registry.models()
    for place, value in enumerate(values):
        if isinstance(value, FittedModel):
            values[place] = PASSED_MODEL
            known[PASSED_MODEL] = value
    database = con.execute("SELECT reid_database()").fetchall()[0][0]
    with registry.within(database):
        for name, model in known.items():
            registry.keep(name, model)
    yield
    with registry.within(database):
        fitted = registry.models()
    for name, model in fitted.items():
        if known.get(name) is not model:
            registry.keep(name, model)


def _typed(declared: Function, answered: pa.Table) -> pa.Table:
    """The answer with the types that every engine of dataframes gives."""
    kinds = declared.answer_columns
    types = [ARROW_TYPES[kinds[each.name]] if each.name in kinds else each.type for each in answered.schema]
    return answered.cast(pa.schema(list(zip(answered.column_names, types, strict=True))))
