"""The table that a command asks functions about: a file in DuckDB, or a table of a warehouse."""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from reid_sql.commands.options import named_columns, opened_table
from reid_sql.connection_url import is_connection
from reid_sql.errors import OutOfDomainError, UnavailableError

if TYPE_CHECKING:
    import duckdb
    from ibis.expr.types import Table

    from reid_sql.fitted_model import FittedModel
    from reid_sql.runner import Answer
    from reid_sql.warehouse import Warehouse

Rows = list[dict[str, Any]]


class Asked(Protocol):
    """A table and the columns by which it is asked."""

    columns: list[str]

    def ask(self, function: str, *values: Any, words: str, **options: Any) -> Rows:  # noqa: ANN401 - the function's
        """Ask a table function: the table, the columns and the values, then its options by name."""

    def fitted(self, name: str, **options: Any) -> "FittedModel":  # noqa: ANN401 - the function's
        """The model of people that is fitted to the table."""

    def most_exposed(self, count: int, **options: Any) -> "Answer":  # noqa: ANN401 - the function's
        """The rarest combinations of the columns' values."""

    def marks(self) -> dict[str, str]:
        """What is to be said of the columns that hold marks for missing values, where they are looked for."""

    def repeated(self) -> list[tuple[str, int, int]]:
        """Columns named like an identifier that repeat: name, distinct values, records that have one."""


@contextmanager
def asked(options: argparse.Namespace) -> Iterator[Asked]:
    """Open what the options name, after its columns are checked."""
    columns = named_columns(options)
    if not is_connection(options.file):
        con, table = opened_table(options)
        yield InFile(con, table, columns)
        return
    with opened_warehouse(options) as (held, found):
        yield InWarehouse(held, found, columns)


@contextmanager
def opened_warehouse(options: argparse.Namespace) -> "Iterator[tuple[Warehouse, Table]]":
    """Open a connection, and find the table of it that is named."""
    from importlib.util import find_spec  # noqa: PLC0415 - only for a warehouse

    if options.memory_limit is not None:
        rule = f"--memory-limit must not be set where a warehouse counts, got '{options.memory_limit}'"
        raise OutOfDomainError(f"{rule}; leave it away")
    if options.files:
        raise OutOfDomainError("--files must be asked of files, got a connection; leave it away")
    if options.table is None:
        raise OutOfDomainError(
            "--table must name the table of the warehouse, got none; write --table schema.people"
        )
    if find_spec("ibis") is None:
        rule = "a connection must have ibis, got none"
        raise UnavailableError(f"{rule}; pip install 'reid-sql[ibis]', and Ibis' extra of your database")
    from reid_sql.warehouse import warehouse  # noqa: PLC0415 - only for a warehouse

    with warehouse("the connection", options.file, Path()) as held:
        yield held, held.table("--table", options.table)


class InFile:
    """A file in a connection of DuckDB."""

    def __init__(self, con: "duckdb.DuckDBPyConnection", table: str, columns: list[str]) -> None:
        """Remember the connection, and by what functions take the table."""
        self.con, self.name, self.columns = con, table, columns
        self.given = [table, columns]

    def ask(self, function: str, *values: Any, words: str, **options: Any) -> Rows:  # noqa: ANN401 - the function's
        """Ask by SQL."""
        from reid_sql.runner import run  # noqa: PLC0415 - help is shown without what counts

        places = ", ".join(["?"] * (2 + len(values)))
        return run(
            self.con, f"FROM {function}({places}{_told(options)})", [*self.given, *values], words
        ).records()

    def fitted(self, name: str, **options: Any) -> "FittedModel":  # noqa: ANN401 - the function's
        """Ask by SQL; a database knows its models by itself."""
        from reid_sql import registry  # noqa: PLC0415 - help is shown without what counts
        from reid_sql.runner import run  # noqa: PLC0415 - the same

        run(self.con, f"FROM fit_people(?, ?, ?{_told(options)})", [name, *self.given], "the model")
        with registry.within(run(self.con, "SELECT reid_database()").rows[0][0]):
            return registry.known(name)

    def most_exposed(self, count: int, **options: Any) -> "Answer":  # noqa: ANN401 - the function's
        """Ask by SQL."""
        from reid_sql.runner import run  # noqa: PLC0415 - help is shown without what counts

        listed = f"""SELECT class_size, * EXCLUDE (class_size, records, records_dropped, nulls)
                     FROM equivalence_classes(?, ?{_told(options)}) ORDER BY ALL LIMIT {count}"""
        return run(self.con, listed, self.given, "who stands out")

    def marks(self) -> dict[str, str]:
        """By what `profile` says of the columns."""
        from reid_sql.models.columns.column_profile import describe_missing_values  # noqa: PLC0415 - help is shown without what counts
        from reid_sql.runner import run  # noqa: PLC0415 - the same

        return describe_missing_values(
            run(self.con, "FROM profile(?, ?)", self.given, "marks for missing values").records()
        )

    def repeated(self) -> list[tuple[str, int, int]]:
        """By one scan, where a column has such a name."""
        from reid_sql.identifiers import repeated  # noqa: PLC0415 - help is shown without what counts

        return repeated(self.con, self.name, self.columns)


def _told(options: dict[str, Any]) -> str:
    """The options as SQL takes them by name."""
    from reid_sql.function import sql_literal  # noqa: PLC0415 - help is shown without what counts

    return "".join(f", {name} := {sql_literal(value)}" for name, value in options.items())


class InWarehouse:
    """A table where it lives, through Ibis."""

    def __init__(self, held: "Warehouse", table: "Table", columns: list[str]) -> None:
        """Remember the connection and the table."""
        self.held, self.table, self.columns = held, table, columns

    def ask(self, function: str, *values: Any, words: str, **options: Any) -> Rows:  # noqa: ANN401 - the function's
        """Ask by Ibis; what a database refuses is one sentence."""
        import reid_sql.ibis as ri  # noqa: PLC0415 - only for a warehouse

        answered = self.held.rows(
            lambda: getattr(ri, function)(self.table, self.columns, *values, **options), words
        )
        return [dict(row) for row in answered]

    def fitted(self, name: str, **options: Any) -> "FittedModel":  # noqa: ANN401 - the function's
        """Ask by Ibis; Python knows the model."""
        import reid_sql.ibis as ri  # noqa: PLC0415 - only for a warehouse
        from reid_sql import registry  # noqa: PLC0415 - the same

        self.held.rows(lambda: ri.fit_people(name, self.table, self.columns, **options), "the model")
        return registry.known(name)

    def most_exposed(self, count: int, **options: Any) -> "Answer":  # noqa: ANN401 - the function's
        """Ask by Ibis; the rarest come alone."""
        import reid_sql.ibis as ri  # noqa: PLC0415 - only for a warehouse
        from reid_sql.runner import Answer  # noqa: PLC0415 - the same

        def rarest() -> "Table":
            classes = ri.equivalence_classes(self.table, self.columns, **options)
            order = [classes["class_size"], *(classes[name].asc(nulls_first=False) for name in self.columns)]
            return classes.order_by(order).limit(count).select("class_size", *self.columns)

        rows = self.held.rows(rarest, "who stands out")
        return Answer(["class_size", *self.columns], [tuple(row.values()) for row in rows])

    def marks(self) -> dict[str, str]:
        """By what `profile` says of the columns whose distinct values come to the client."""
        from reid_sql import warehouse  # noqa: PLC0415 - only for a warehouse
        from reid_sql.client_fallback import profile_columns  # noqa: PLC0415 - the same
        from reid_sql.models.columns.column_profile import describe_missing_values  # noqa: PLC0415 - help is shown without what counts

        asked_of = partial(warehouse.asked, url=self.held.url)
        return describe_missing_values(profile_columns(self.table, self.columns, asked_of))

    def repeated(self) -> list[tuple[str, int, int]]:
        """By one scan, where a column has such a name."""
        from reid_sql.identifiers import likely, repeating  # noqa: PLC0415 - help is shown without what counts

        names = likely(self.table.columns, self.columns)
        if not names:
            return []
        counts = {
            f"{kind}{place}": count
            for place, name in enumerate(names)
            for kind, count in (("d", self.table[name].nunique()), ("n", self.table[name].count()))
        }
        found = self.held.rows(lambda: self.table.aggregate(**counts), "identifiers")[0]
        return repeating(names, _cells(found, "d", len(names)), _cells(found, "n", len(names)))


def _cells(row: dict[str, Any], kind: str, length: int) -> Sequence[int]:
    return [int(row[f"{kind}{place}"]) for place in range(length)]
