"""The table that a command computes from: a file in DuckDB, or a table of a warehouse."""

from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import duckdb
from duckdb import DuckDBPyConnection

from reid_sql.check.exact_figures import ColumnAlone, ReleasedColumns
from reid_sql.check.masked_columns import Words, describe_unmeasured
from reid_sql.check.masking import Mask, ReportPage
from reid_sql.commands.options import (
    all_names,
    names,
    number,
    numbers,
    pairs,
    passed_options,
)
from reid_sql.engines import registry
from reid_sql.engines.duckdb import make_functions
from reid_sql.engines.duckdb.planner import PlannedCall
from reid_sql.errors import OutOfDomainError, UnavailableError
from reid_sql.models.columns.identifiers import RepeatedColumn, hint
from reid_sql.models.columns.missing_value_codes import describe_codes
from reid_sql.models.fitted_model import FittedModel
from reid_sql.parameters import (
    MAX_COLUMNS,
    QUASI_IDENTIFIERS,
    ColumnNames,
    Columns,
    Domain,
    Row,
    Rows,
    fold_case,
    quoted,
    sql_literal,
    sql_text,
)
from reid_sql.sources.equal_rows import count_unique, describe_copies
from reid_sql.sources.files import attach_checked, open_source, refuse_unread_format
from reid_sql.sources.formats import check_marks, check_skip, write_option
from reid_sql.sources.identifiers import describe_nobodies_in, repeated
from reid_sql.sources.missing_value_codes import describe_codes_in, find_codes
from reid_sql.sources.remote import is_connection, masked
from reid_sql.sources.text_content import TextFormat, check_encoding
from reid_sql.terminal.runner import Answer, run
from reid_sql_udfs import declared

if TYPE_CHECKING:
    from ibis.expr.types import Table

    from reid_sql.commands.warehouse_table import WarehouseTable
    from reid_sql.sources.warehouse import Warehouse

FILES: Final = (
    "file",
    "others",
    "published",
    "holdout",
    "population_file",
)  # options that name some
COUNTED_PEOPLE: Final = "People are identified by '{}': a class counts its people, and the attacker knows the worst row of each."


def function_options(options: Namespace, function: str, *names_: str) -> dict[str, Any]:
    """Read the options that are parameters of the function, by its declaration: domains and defaults."""
    parameters = {
        each.name: each for each in declared()[function].parameters if each.name in names_
    }
    passed = passed_options(options, *names_)
    return {
        name: _read(parameters[name].domain, name, passed[name])
        if name in passed
        else parameters[name].default
        for name in names_
    }


def _read(domain: Domain, name: str, text: Any) -> Any:  # noqa: ANN401 - as the domain has it
    forms: dict[str, tuple[Callable[[str, Any], Any], str]] = {
        "number": (number, name),
        "numbers": (numbers, f"--{name}"),
        "names": (names, f"--{name}"),
        "mapping": (pairs, f"--{name}"),
    }
    if domain.form not in forms:
        return domain.from_python(name, text)
    read, label = forms[domain.form]
    return domain.from_python(name, read(label, text))


def call(
    con: DuckDBPyConnection,
    function: str,
    arguments: Sequence[Any],
    words: str,
    query: str = "FROM CALL",
    **options: Any,  # noqa: ANN401 - the function's
) -> Answer:
    """Call a table function: arguments in order, then options by name; CALL is its place in `query`."""
    named = "".join(f", {name} := {sql_literal(value)}" for name, value in options.items())
    text = f"{function}({', '.join('?' * len(arguments))}{named})"
    make_functions(con, [function])
    return run(con, query.replace("CALL", text), list(arguments), words)


class FileTable:
    """A file in a connection of DuckDB, and the columns that its functions are called with."""

    def __init__(self, con: DuckDBPyConnection, table: str, columns: list[str]) -> None:
        """Remember the connection, and what functions take."""
        self.con, self.name, self.columns = con, table, columns

    def call(self, function: str, *values: Any, words: str, **options: Any) -> Rows:  # noqa: ANN401 - the function's
        """Call by SQL."""
        return call(
            self.con, function, [self.name, self.columns, *values], words, **options
        ).records()

    def known_rows(self, entity: str, points: Sequence[float], **options: Any) -> Rows:  # noqa: ANN401 - the function's
        """Call unicity by SQL."""
        arguments = [self.name, entity, self.columns, points]
        return call(self.con, "unicity", arguments, "known rows", **options).records()

    def fit_people(self, name: str, **options: Any) -> FittedModel:  # noqa: ANN401 - the function's
        """Fit by SQL; each database has models of its own."""
        call(self.con, "fit_people", [name, self.name, self.columns], "the model", **options)
        with registry.within(run(self.con, "SELECT reid_database()").rows[0][0]):
            return registry.known(name)

    def most_exposed(self, count: int, **options: Any) -> Answer:  # noqa: ANN401 - the function's
        """Rank by SQL."""
        columns = "class_size, * EXCLUDE (class_size, records, records_dropped, nulls)"
        query = f"SELECT {columns} FROM CALL ORDER BY ALL LIMIT {count}"
        arguments = [self.name, self.columns]
        return call(
            self.con, "equivalence_classes", arguments, "most exposed records", query, **options
        )

    def missing_value_codes(self) -> dict[str, str]:
        """Scan the columns, and count the values of those that may have a code."""
        return describe_codes(find_codes(self.con.sql, table_item(self.name), self.columns))

    def repeated_identifiers(self) -> list[RepeatedColumn]:
        """Count in one scan if a column has such a name."""
        return repeated(self.con, self.name, self.columns)

    def describe_copies(self) -> str:
        """Look for rows that equal another one."""
        return describe_copies_in(self.con, self.name)

    def describe_nobodies(self, entity: str) -> str:
        """Ask for the most frequent values of it."""
        return describe_nobodies_in(self.con.sql, table_item(self.name), entity)


SourceTable: TypeAlias = "FileTable | WarehouseTable"


@contextmanager
def open_table(options: Namespace) -> Iterator[SourceTable]:
    """Open the file or the warehouse that the options name, after its columns are checked."""
    if is_connection(options.file):
        columns = column_names(options)
        with open_warehouse(options) as (warehouse, table):
            from reid_sql.commands.warehouse_table import WarehouseTable  # noqa: PLC0415 - Ibis is optional

            yield WarehouseTable(warehouse, table, columns)
    else:
        yield open_file_table(options)


def open_file_table(options: Namespace, kind: Columns = QUASI_IDENTIFIERS) -> FileTable:
    """Open the file with the columns that the options name."""
    columns = column_names(options, kind)
    return FileTable(*open_file(options), columns)


def counted_noun(options: Namespace) -> str:
    """Name what a class counts."""
    return "people" if options.entity else "records"


def describe_people(
    entity: str | None,
    con: DuckDBPyConnection,
    tables: Sequence[str],
    columns: ColumnNames,
    population: Sequence[str] = (),
) -> str:
    """Say how people are counted, or which column may identify them; name columns with missing-value codes.

    No `entity` identifies the people of a `population`.
    """
    counted, unidentified = (
        list(dict.fromkeys(each for table in named for each in repeated(con, table, columns)))
        for named in (() if entity else tables, population)
    )
    counted_as = describe_entity(con, tables, entity) if entity else hint(counted, "--entity")
    of_population = hint([each for each in unidentified if each not in counted], None)
    codes = [
        describe_codes_in(con.sql, table_item(each), columns)
        for each in (*tables, *population)
        if columns
    ]
    labels = {} if entity else {each: f"table {place}: " for place, each in enumerate(tables, 1)}
    labels |= dict.fromkeys(population, "the population table: ")
    copies = [describe_copies_in(con, table, label) for table, label in labels.items()]
    return " ".join(filter(None, [counted_as, of_population, *dict.fromkeys(codes), *copies]))


def table_item(table: str) -> str:
    """Write a FROM item that finds a table or view by its name."""
    return f"query_table({sql_text(table)})"


def describe_copies_of_calls(calls: Iterable[PlannedCall], con: DuckDBPyConnection) -> str:
    """Say of which tables of some calls rows were written several times; nothing of one that is gone."""
    sentences: dict[str, None] = {}
    for item in dict.fromkeys(item for call in calls for item in call.items):
        with suppress(duckdb.Error):
            sentences |= dict.fromkeys([_describe_copies(con, item)])
    return " ".join(filter(None, sentences))


def describe_copies_in(con: DuckDBPyConnection, table: str, label: str = "") -> str:
    """Say that rows of a table were written several times; nothing where none were."""
    return _describe_copies(con, table_item(table), label)


def _describe_copies(con: DuckDBPyConnection, item: str, label: str = "") -> str:
    columns = [row[0] for row in con.sql(f"DESCRIBE FROM {item}").fetchall()]
    words = describe_copies(lambda sql: con.execute(sql).fetchall(), item, columns, label)
    return f"{words[:1].upper()}{words[1:]}." if words else ""


def describe_entity(con: DuckDBPyConnection, tables: Sequence[str], entity: str) -> str:
    """Say that people are counted, and which values may stand for nobody."""
    cautions = [describe_nobodies_in(con.sql, table_item(each), entity) for each in tables]
    return " ".join(dict.fromkeys(filter(None, [COUNTED_PEOPLE.format(entity), *cautions])))


def column_names(options: Namespace, kind: Columns = QUASI_IDENTIFIERS) -> list[str]:
    """Return the columns that the options name, each once."""
    columns = all_names("the columns", options.columns)
    return kind.check(columns, columns)


def open_file(
    options: Namespace, form: TextFormat | None = None, *, keep: bool = False
) -> tuple[DuckDBPyConnection, str]:
    """Open the file: a connection, and the table's name in it; `keep` as of `open_source`."""
    if is_connection(options.file):
        raise UnavailableError(
            f"FILE must be a local file, got '{masked(options.file, options.file)}'; write an extract of the table to a Parquet file, or measure it there: risk by --qi, init and check take a connection"
        )
    if options.files and options.table is not None:
        raise OutOfDomainError(
            f"--files must not be given with --table, got '{options.table}'; omit one"
        )
    return open_source(
        options.file,
        options.table,
        pattern=options.files,
        memory_limit=options.memory_limit,
        form=form or text_format(options),
        keep=keep,
    )


def attach_numbered(  # noqa: PLR0917 - all of what names the files
    con: DuckDBPyConnection,
    form: TextFormat,
    label: str,
    files: Sequence[str],
    view: str,
    table: str | None = None,
) -> list[str]:
    """Attach files as views of one name with a number, and return these; the first may have a `table`."""
    views = []
    for place, file in enumerate(files, 1):
        views.append(f"{view}_{place}")
        attach_checked(con, views[-1], f"{label} {place}", file, form, table)
        table = None
    return views


def text_format(options: Namespace, *, of_people: bool = True) -> TextFormat:
    """How the text files of a command are written; refuses what describes none of its files.

    Those of published tables have lines of totals, and are not `of_people`.
    """
    quote = '"' if options.quote is None else options.quote
    check_marks(options.delimiter, quote, "--{}".format, partial(write_option, "FILE"))
    header = None if options.header is None else options.header == "true"
    encoding = check_encoding("--encoding", options.encoding or "utf-8")
    skip = check_skip(
        "--skip", [number("--skip", each) for each in (options.skip or "0").split(",")]
    )
    form = TextFormat(options.delimiter, encoding, header, quote, skip, of_people)
    files: list[str] = []
    for name in FILES:
        passed = getattr(options, name, None) or []
        files += [passed] if isinstance(passed, str) else passed
    refuse_unread_format(form, files, "--{}".format)
    return form


@contextmanager
def open_warehouse(options: Namespace) -> "Iterator[tuple[Warehouse, Table]]":
    """Open a connection, and find its table that the options name."""
    if options.table is None:
        raise OutOfDomainError(
            "--table must name the table of the warehouse, got none; write --table schema.people"
        )
    with connect_warehouse(options) as opened:
        yield opened, opened.table("--table", options.table)


@contextmanager
def connect_warehouse(options: Namespace) -> "Iterator[Warehouse]":
    """Open the connection that the options name."""
    if options.memory_limit is not None:
        raise OutOfDomainError(
            f"--memory-limit must not be given for a warehouse, got '{options.memory_limit}'; omit it"
        )
    if options.files:
        raise OutOfDomainError("--files must be given with files, got a connection; omit it")
    if find_spec("ibis") is None:
        raise UnavailableError(
            "a connection must have ibis, got none; pip install 'reid-sql[ibis]', and Ibis' extra of your database"
        )
    from reid_sql.sources.warehouse import warehouse  # noqa: PLC0415 - Ibis is optional

    with warehouse("the connection", options.file, Path()) as opened:
        yield opened


# The columns of a file that a command did not measure: each with the people whom it singles out.

NOTHING_HIDDEN = Mask(1)  # the command's other counts are exact, too


def table_columns(con: DuckDBPyConnection, table: str) -> list[str]:
    """List the columns of a table."""
    return [row[0] for row in con.execute("DESCRIBE FROM query_table(?)", [table]).fetchall()]


def unmeasured_columns(
    con: DuckDBPyConnection,
    table: str,
    measured: ColumnNames,
    what: str,
    *,
    entity: str | None = None,
    key: str | None = None,
) -> Row:
    """Count the people whom each column of a table that nothing measured singles out, and all of them.

    The column of people, or the key that only the holder of the data has, is none of them. `what` names the
    table.
    """
    measured_names = set(map(fold_case, measured))
    identifiers = {fold_case(name) for name in (entity, key) if name is not None}
    columns = [name for name in table_columns(con, table) if fold_case(name) not in identifiers]
    unmeasured = [name for name in columns if fold_case(name) not in measured_names]
    together = tuple(columns[:MAX_COLUMNS])
    sets = [[name] for name in unmeasured] + ([list(together)] if together else [])
    person = "*" if entity is None else f"DISTINCT {quoted(entity)}"
    counts = con.execute(f"SELECT count(*), count({person}) FROM query_table(?)", [table])
    rows, people = counts.fetchall()[0]
    unique = count_unique(
        lambda sql: run(con, sql, words="columns").rows, table, sets, rows, entity
    )
    alone = [ColumnAlone(*each) for each in zip(unmeasured, unique, strict=False)]
    alone.sort(key=lambda each: 0 if each.unique is None else -each.unique)
    released = ReleasedColumns(
        tuple(alone),
        (),
        (),
        together,
        len(columns) - len(together),
        unique=unique[-1] if together else None,
    )
    words = Words(
        f"In {what}, measured by no figure here",
        f"Every column of {what} is measured here.",
        f"of {what}",
    )
    return dict(ReportPage(describe_unmeasured(released, people, NOTHING_HIDDEN, words)))
