"""What the commands share: the options that name a source, and how they are read."""

import argparse
import csv
import json
import re
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from reid_sql.errors import OutOfDomainError
from reid_sql.visible import controls, steady

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import duckdb
    from rich.console import RenderableType

    from reid_sql.domains import Columns, Number

PASSED: Final = 0
FORMATS: Final = ("table", "json", "csv")
GROUPED: Final = re.compile(r"\d{1,3}(,\d{3})+")  # 67,000,000


def source_options(
    parser: argparse.ArgumentParser, option: str | None = "--qi", words: str = "the quasi-identifiers"
) -> None:
    """Add the options that name the file, the columns unless something else names them, and how to answer."""
    parser.add_argument("file", metavar="FILE", help="CSV, Parquet, JSON or DuckDB file")
    if option:
        words = f"{words}, by comma (quote a name that has one); given again, it adds"
        parser.add_argument(
            option, dest="columns", action="append", required=True, metavar="A,B,C", help=words
        )
    parser.add_argument("--table", help="the table of a DuckDB file")
    parser.add_argument(
        "--memory-limit", metavar="SIZE", help="the most memory to use, such as 2GB; more goes to disk"
    )
    format_options(parser)


def format_options(parser: argparse.ArgumentParser) -> None:
    """Add how the answer is printed."""
    told = parser.add_mutually_exclusive_group()
    words = "print for people (table, the default), as json, or the rows as csv for a spreadsheet"
    told.add_argument("--format", choices=FORMATS, default="table", help=words)
    told.add_argument("--json", dest="format", action="store_const", const="json", help="as --format json")


def opened(
    options: argparse.Namespace, kind: "Columns | None" = None
) -> "tuple[duckdb.DuckDBPyConnection, list[Any]]":
    """Open the file: a connection, and the arguments by which functions take the table and its columns."""
    from reid_sql.domains import QUASI_IDENTIFIERS  # noqa: PLC0415 - help is shown without numpy

    columns = [name for text in options.columns for name in listed("the columns", text)]
    (kind or QUASI_IDENTIFIERS).check(columns, columns)
    con, table = opened_table(options)
    return con, [table, columns]


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
    from reid_sql.source import limit_memory, open_source  # noqa: PLC0415 - help is shown without DuckDB

    con, table = open_source(options.file, options.table)
    if options.memory_limit is not None:
        limit_memory(con, options.memory_limit)
    return con, table


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


def answered(
    con: "duckdb.DuckDBPyConnection", given: list[Any], populations: list[float], k: str, nulls: str
) -> tuple[list[dict[str, Any]], int]:
    """Ask the model of people what becomes of the risk in each population: its rows, and their k."""
    from reid_sql.models.one_answer.population_risk import CLASS_SIZE  # noqa: PLC0415 - help is shown without what counts
    from reid_sql.runner import run  # noqa: PLC0415 - the same

    size = whole("k", k, CLASS_SIZE)
    asked = f"FROM population_risk(?, ?, ?, k := {size}, nulls := '{nulls}')"
    return run(con, asked, [*given, populations], "people of the population").records(), size


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
        print_csv(list(rows[0]) if rows else [], [list(row.values()) for row in rows])
    else:
        from reid_sql import screen  # noqa: PLC0415 - help is shown without it

        screen.console().print(shown())


def print_csv(columns: "Sequence[str]", rows: "Iterable[Sequence[Any]]") -> None:
    """Print rows of CSV, names first: NULL is empty, and lists are JSON."""
    from io import StringIO  # noqa: PLC0415 - only CSV needs it

    held = StringIO(newline="")
    writer = csv.writer(held, lineterminator="\n")
    writer.writerow(map(_cell, columns))
    writer.writerows(map(_cell, row) for row in rows)
    print(held.getvalue(), end="")  # noqa: T201


def _cell(value: Any) -> Any:  # noqa: ANN401 - a value of any type
    if isinstance(value, list | dict):
        value = json.dumps(_finite(value), ensure_ascii=False, default=str)
    return steady(value) if isinstance(value, str) else value


def print_json(page: object) -> None:
    """Print one line of JSON; JSON has no infinite numbers, so they are words there."""
    print(controls(json.dumps(_finite(page), ensure_ascii=False, default=str, allow_nan=False)))  # noqa: T201


def _finite(value: Any) -> Any:  # noqa: ANN401 - what JSON can hold, and dates
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value]
    return str(value) if isinstance(value, float) and not isfinite(value) else value
