"""What the commands share: the options that name a source, and how what was given is read."""

import argparse
import csv
import json
from math import isfinite
from typing import Any, Final

import duckdb

from reid_sql.domains import QUASI_IDENTIFIERS, Columns
from reid_sql.errors import OutOfDomainError
from reid_sql.source import limit_memory, open_source
from reid_sql.visible import controls

PASSED: Final = 0


def source_options(
    parser: argparse.ArgumentParser, option: str | None = "--qi", words: str = "the quasi-identifiers"
) -> None:
    """Add the options that name the file, the columns unless something else names them, and how to answer."""
    parser.add_argument("file", metavar="FILE", help="CSV, Parquet, JSON or DuckDB file")
    if option:
        words = f"{words}, by comma (quote a name that has one)"
        parser.add_argument(option, dest="columns", required=True, metavar="A,B,C", help=words)
    parser.add_argument("--table", help="the table of a DuckDB file")
    parser.add_argument(
        "--memory-limit", metavar="SIZE", help="the most memory to use, such as 2GB; more goes to disk"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def opened(
    options: argparse.Namespace, kind: Columns = QUASI_IDENTIFIERS
) -> tuple[duckdb.DuckDBPyConnection, list[Any]]:
    """Open the file: a connection, and the arguments by which the functions take the table and its columns."""
    columns = [name for name in next(csv.reader([options.columns], skipinitialspace=True), []) if name]
    kind.check(columns, columns)
    con, table = opened_table(options)
    return con, [table, columns]


def opened_table(options: argparse.Namespace) -> tuple[duckdb.DuckDBPyConnection, str]:
    """Open the file: a connection, and the table's name there."""
    con, table = open_source(options.file, options.table)
    if options.memory_limit:
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


def print_json(page: object) -> None:
    """Print one line of JSON; JSON has no infinite numbers, so they are words there."""
    print(controls(json.dumps(_finite(page), ensure_ascii=False, default=str, allow_nan=False)))  # noqa: T201


def _finite(value: Any) -> Any:  # noqa: ANN401 - what JSON can hold, and dates
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value]
    return str(value) if isinstance(value, float) and not isfinite(value) else value
