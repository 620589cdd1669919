"""What the commands share: the options that name a source, and how they are read."""

import argparse
import csv
import json
import re
import sys
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from reid_sql import progress
from reid_sql.connection_url import is_connection, masked
from reid_sql.control_characters import escape_in_csv, escape_in_json
from reid_sql.errors import OutOfDomainError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TextIO

    import duckdb
    from rich.console import RenderableType

    from reid_sql.parameters import Columns, Number

PASSED: Final = 0
OF_FILE: Final = "CSV, Parquet, JSON or DuckDB file; - for standard input"
PEOPLE: Final = "people of the population"  # while they are being counted
OR_CONNECTION: Final = (
    f"{OF_FILE}, or the connection to a warehouse: postgres://user@host/database, or env:NAME, the variable "
    "of the environment that holds one with a password"
)
FORMATS: Final = ("table", "json", "csv")
GROUPED: Final = re.compile(r"\d{1,3}(,\d{3})+")  # 67,000,000


def source_options(
    parser: argparse.ArgumentParser,
    option: str | None = "--qi",
    words: str = "the quasi-identifiers",
    words_of_file: str = OF_FILE,
) -> None:
    """Add the options that name the file, the columns unless something else names them, and how to answer."""
    parser.add_argument("file", metavar="FILE", help=words_of_file)
    if option:
        words = f"{words}, by comma (quote a name that has one); given again, it adds"
        parser.add_argument(
            option, dest="columns", action="append", required=True, metavar="A,B,C", help=words
        )
    parser.add_argument(
        "--files", action="store_true", help="FILE is a pattern of files, like 'people/*/*.parquet'"
    )
    parser.add_argument("--table", help="the table of a DuckDB file or a connection, like schema.people")
    parser.add_argument(
        "--memory-limit", metavar="SIZE", help="the most memory to use, such as 2GB; more goes to disk"
    )
    format_options(parser)


def format_options(parser: argparse.ArgumentParser) -> None:
    """Add how the answer is printed."""
    told = parser.add_mutually_exclusive_group()
    words = (
        "print for people (table, the default), all as json, or as csv for a spreadsheet the rows of the "
        "summary, or of what an option asks beside it"
    )
    told.add_argument("--format", choices=FORMATS, default="table", help=words)
    told.add_argument("--json", dest="format", action="store_const", const="json", help="as --format json")


def progress_options(parser: argparse.ArgumentParser) -> None:
    """Add whether progress is shown."""
    asked = parser.add_mutually_exclusive_group()
    words = "show what is done and for how long, also where no terminal is: as lines of a log"
    asked.add_argument("--progress", action="store_const", const=True, help=words)
    words = "show nothing of it, on a terminal either; by default a terminal shows it after a second"
    asked.add_argument("--no-progress", dest="progress", action="store_const", const=False, help=words)


def opened(
    options: argparse.Namespace, kind: "Columns | None" = None
) -> "tuple[duckdb.DuckDBPyConnection, list[Any]]":
    """Open the file: a connection, and the arguments by which functions take the table and its columns."""
    columns = named_columns(options, kind)
    con, table = opened_table(options)
    return con, [table, columns]


def named_columns(options: argparse.Namespace, kind: "Columns | None" = None) -> list[str]:
    """The columns that the options name, each once."""
    from reid_sql.parameters import QUASI_IDENTIFIERS  # noqa: PLC0415 - help is shown without numpy

    columns = [name for text in options.columns for name in listed("the columns", text)]
    return (kind or QUASI_IDENTIFIERS).check(columns, columns)


def listed(name: str, text: str) -> list[str]:
    """Read names by comma, quoted as in CSV where a name has a comma itself."""
    try:
        rows = list(csv.reader([text], skipinitialspace=True, strict=True))
    except csv.Error:
        rule = f"{name} must be one line of names by comma, got {text!r}"
        raise OutOfDomainError(f"{rule}; write them like age,sex and quote a name that has a comma") from None
    return [column for row in rows for column in row if column]


def opened_table(options: argparse.Namespace) -> "tuple[duckdb.DuckDBPyConnection, str]":
    """Open the file: a connection, and the table's name there."""
    from reid_sql.source import open_source  # noqa: PLC0415 - help is shown without DuckDB

    if is_connection(options.file):
        rule = f"FILE must be a file here, got '{masked(options.file, options.file)}'"
        raise UnavailableError(f"{rule}; risk, forecast, check and advise take a connection")
    if options.files and options.table is not None:
        raise OutOfDomainError(f"--files must stand without --table, got '{options.table}'; leave one away")
    limit = options.memory_limit
    return open_source(options.file, options.table, pattern=options.files, memory_limit=limit)


def needs(option: str, value: object, other: str, *, given: bool) -> None:
    """Refuse an option that would count for nothing without another one."""
    if value not in (None, False) and not given:
        told = "it" if value is True else str(value)
        raise OutOfDomainError(
            f"{option} must come with {other}, got {told} alone; add {other} or leave it away"
        )


def number(name: str, text: str) -> float:
    """Read a number, or refuse the text."""
    try:
        return float(text)
    except ValueError:
        raise OutOfDomainError(
            f"{name} must be a number, got '{text}'; write it with digits, such as 5 or 0.2"
        ) from None


def whole(name: str, text: str, domain: "Number") -> int:
    """Read a whole number of its domain, or refuse the text."""
    return int(domain.check(name, number(name, text)))


def numbers(name: str, texts: list[str]) -> list[float]:
    """Read lists of numbers by comma, which may also stand between thousands where only that can be meant."""
    return [value for text in texts for value in _numbers(name, text)]


def _numbers(name: str, text: str) -> list[float]:
    if not GROUPED.fullmatch(text.strip()):
        return [number(name, part) for part in text.split(",")]
    parts = text.strip().split(",")
    if not any(part.startswith("0") for part in parts[1:]):
        rule = f"{name} must say whether a comma stands between numbers or thousands, got '{text}'"
        raise OutOfDomainError(f"{rule}; write {''.join(parts)}, or give {name} twice")
    return [float("".join(parts))]


def tell(words: str) -> None:
    """Say what is being done, where a person watches."""
    progress.tell(words)


def settled() -> None:
    """Take away what a terminal shows of progress, before something is printed."""
    progress.end()


def printed(text: str, stream: "TextIO | None" = None) -> None:
    """Print the text as it is, on standard output unless another is named."""
    settled()
    print(text, end="", file=stream or sys.stdout)


def print_answer(
    options: argparse.Namespace,
    page: object,
    rows: "Sequence[Mapping[str, Any]]",
    shown: "Callable[[], RenderableType]",
) -> None:
    """Print the page as JSON, the rows as CSV, or what is shown to people, as was asked."""
    if options.format == "json":
        print_json(page)
    elif options.format == "csv":
        print_rows(list(rows[0]) if rows else [], rows)
    else:
        from reid_sql import terminal  # noqa: PLC0415 - help is shown without it

        told = shown()
        settled()
        terminal.console().print(told)


def print_document(
    options: argparse.Namespace,
    page: "Mapping[str, Any]",
    rows: "Callable[[], tuple[Sequence[str], Sequence[Mapping[str, Any]]]]",
    shown: "Callable[[int], RenderableType]",
) -> None:
    """Print a document as its JSON file has it, its rows under their names, or what people see.

    Each is made only where it is asked for; what people see is made for the width of their page.
    """
    if options.format == "json":
        from reid_sql.check.report import to_json  # noqa: PLC0415 - help is shown without what counts

        printed(to_json(page))
    elif options.format == "csv":
        print_rows(*rows())
    else:
        from reid_sql import terminal  # noqa: PLC0415 - help is shown without it

        console = terminal.console()
        told = shown(console.width)
        settled()
        console.print(told)


def print_rows(columns: "Sequence[str]", rows: "Iterable[Mapping[str, Any]]") -> None:
    """Print the rows' values under these names as CSV."""
    print_csv(columns, [[row[name] for name in columns] for row in rows])


def print_csv(columns: "Sequence[str]", rows: "Iterable[Sequence[Any]]") -> None:
    """Print rows of CSV, names first: NULL is empty, and lists are JSON."""
    from io import StringIO  # noqa: PLC0415 - only CSV needs it

    held = StringIO(newline="")
    writer = csv.writer(held, lineterminator="\n")
    writer.writerow(map(_cell, columns))
    writer.writerows(map(_cell, row) for row in rows)
    printed(held.getvalue())


def _cell(value: Any) -> Any:  # noqa: ANN401 - a value of any type
    if isinstance(value, list | dict):
        value = json.dumps(_finite(value), ensure_ascii=False, default=str)
    return escape_in_csv(value) if isinstance(value, str) else value


def print_json(page: object) -> None:
    """Print one line of JSON; JSON has no infinite numbers, so they are words there."""
    printed(
        escape_in_json(json.dumps(_finite(page), ensure_ascii=False, default=str, allow_nan=False)) + "\n"
    )


def _finite(value: Any) -> Any:  # noqa: ANN401 - what JSON can hold, and dates
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value]
    return str(value) if isinstance(value, float) and not isfinite(value) else value
