"""How commands print an answer: tables for people, JSON, or CSV."""

import csv
import json
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from io import StringIO
from math import isfinite
from typing import Any

from rich.console import Group, RenderableType

from reid_sql.commands.options import printed
from reid_sql.parameters import ColumnNames, Row, Rows
from reid_sql.sources.notes import take_notes
from reid_sql.terminal import progress
from reid_sql.terminal.console import Text, console
from reid_sql.terminal.control_characters import (
    escape_control_characters,
    escape_in_csv,
    escape_in_json,
)
from reid_sql.terminal.hints import in_options


def print_answer(
    options: Namespace,
    page: object,
    rows: Rows,
    render: Callable[[], RenderableType],
    people: str = "",
    *,
    head: str | None = None,
) -> None:
    """Print the page as JSON, the rows as CSV, or what `render` returns for people.

    `people` says how people are counted, or that rows may not be people: below the page, else to the standard
    error. `head` is the kind of page, where it is not the command.
    """
    people = " ".join(filter(None, [people, *take_notes()]))
    if getattr(options, "html", None) is not None:
        from reid_sql.commands.html import write_page  # noqa: PLC0415 - the report's parts load slowly

        command = options.parser.prog.rpartition(" ")[2]
        write_page(options, head or command, render(), people)
    if options.format == "table":
        below = [Text(people, style="yellow")] if people else []
        print_rendered(lambda _: Group(render(), *below) if below else render())
        return
    if options.format == "json":
        print_json(page)
    else:
        print_rows(list(rows[0]) if rows else [], rows)
    print_people(people)


def notes_of_rows(options: Namespace, people: str, notes: Sequence[str]) -> str:
    """Return what is said besides the answer: with rows alone, what other forms have in the page."""
    return " ".join(filter(None, [people, *(notes if options.format == "csv" else [])]))


def print_people(people: str) -> None:
    """Print to the standard error how people are counted, or that rows may not be people."""
    if people:
        progress.end()
        sys.stderr.write(escape_control_characters(in_options(people)) + "\n")


def print_rendered(render: Callable[[int], RenderableType]) -> None:
    """Print for people what `render` returns for the width of their page."""
    page = console()
    rendered = render(page.width)
    progress.end()
    page.print(rendered)


def print_rows(columns: ColumnNames, rows: Iterable[Row]) -> None:
    """Print the values of these columns as CSV."""
    print_csv(columns, [[row[name] for name in columns] for row in rows])


def print_csv(
    columns: ColumnNames, rows: Iterable[Sequence[Any]], *, has_header: bool = True
) -> None:
    """Print CSV with a header; NULL is empty, and a list is JSON."""
    printed(csv_text(columns, rows, has_header=has_header))


def csv_text(
    columns: ColumnNames, rows: Iterable[Sequence[Any]], *, has_header: bool = True
) -> str:
    """Write CSV as `print_csv` prints it."""
    buffer = StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    if has_header:
        writer.writerow(map(_cell, columns))
    writer.writerows(map(_cell, row) for row in rows)
    return buffer.getvalue()


def _cell(value: Any) -> Any:  # noqa: ANN401 - a value of any type
    if isinstance(value, list | dict):
        value = json.dumps(_finite(value), ensure_ascii=False, default=str)
    return escape_in_csv(value) if isinstance(value, str) else value


def print_json(page: object) -> None:
    """Print one line of JSON; infinite numbers, which JSON lacks, become strings."""
    text = json.dumps(_finite(page), ensure_ascii=False, default=str, allow_nan=False)
    printed(escape_in_json(text) + "\n")


def _finite(value: Any) -> Any:  # noqa: ANN401 - what JSON can contain, and dates
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value]
    return str(value) if isinstance(value, float) and not isfinite(value) else value
