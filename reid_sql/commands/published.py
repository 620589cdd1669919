"""Published tables: how a file of one is read, and how one is written so that it may be published."""

import csv
import os
import shlex
from argparse import Namespace
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any, Final, NamedTuple

import duckdb

from reid_sql.check.report import refuse_to_overwrite, write_report
from reid_sql.commands.output import csv_text
from reid_sql.commands.tables import attach_numbered, call, text_format
from reid_sql.errors import OutOfDomainError, ReidError, UnavailableError
from reid_sql.models.tables.audit import NOT_AUDITED
from reid_sql.models.tables.published_tables import BELOW, GROUPED, MARKS, NIL
from reid_sql.parameters import Arguments, ColumnNames, Rows, fold_case, quoted, sql_text
from reid_sql.reductions.tables import PROTECTING
from reid_sql.sources.files import open_source
from reid_sql.sources.text_content import TextFormat
from reid_sql.terminal.runner import sentence

COUNT: Final = "records"  # the column of counts where none is named
PUBLISHED: Final = "reid_published"  # views of tables that everybody has
HEADER: Final = "column"  # of a crosstab: the categories that are names of its columns
ZEROS_READ: Final = (
    "'{}' was read as a count of 0 in {:,} cell{}: if it hides a count, write * in its place."
)
CROSSTAB_READ: Final = (
    "Read as a crosstab: {} are categories of one variable, whose counts are in the rows of {}."
)
COUNT_READ: Final = "Read as the counts of the cells by {1}: {0}."
NAME_COLUMNS: Final = (
    "name the categories by --columns and the counts by --count, and write counts as 1234"
)
REVEALED: Final = ("recovered", "below_k", "published_below_k")


class PublishedTable(NamedTuple):
    """A view with one count in a row, the column that a crosstab's header became, and what to say of both."""

    view: str
    header: str | None
    notes: tuple[str, ...]


def read_published(
    con: duckdb.DuckDBPyConnection, view: str, categories: Sequence[str], count: str | None
) -> PublishedTable:
    """Return a published table with one count in a row.

    A file without the column of counts is read as a crosstab: columns up to the last one with a value that
    is no count are categories, and the others have the counts. A single one is the column of counts.
    """
    columns = [row[0] for row in con.execute(f"DESCRIBE {view}").fetchall()]
    name = {fold_case(each): each for each in columns}.get(fold_case(count or COUNT))
    header = None
    notes = []
    if name is None and count is None:
        counts = _columns_of_counts(con, view, columns, categories)
        if counts:
            left = [each for each in columns if each not in counts]
            words = COUNT_READ if len(counts) == 1 else CROSSTAB_READ
            notes.append(words.format(", ".join(counts), ", ".join(left)))
            header = _name_header(left) if len(counts) > 1 else None
            view, name = _unpivot(con, view, left, counts, header), COUNT
    if name is not None:
        zeros = con.execute(
            f"SELECT count(*) FROM {view} WHERE trim({quoted(name)}::VARCHAR) = {sql_text(NIL)}"
        ).fetchall()[0][0]
        notes += [ZEROS_READ.format(NIL, zeros, "s" * (zeros != 1))] if zeros else []
    return PublishedTable(view, header, tuple(notes))


def _tests_of_counts(name: str) -> str:
    """Whether all values of a column are counts, or marks in their place, and whether any is a number."""
    marks = ", ".join(sql_text(mark) for mark in sorted({*MARKS, NIL}))
    text = f"lower(trim({quoted(name)}::VARCHAR))"
    number = f"coalesce(regexp_full_match({text}, '[0-9., ]*[0-9][0-9., ]*'), false)"
    mark = f"{text} IN ({marks}) OR regexp_full_match({text}, {sql_text(BELOW.pattern)})"
    grouped = f"regexp_full_match({text}, {sql_text(GROUPED.pattern)})"
    whole = f"coalesce(try_cast({text} AS DOUBLE) % 1 = 0, false)"
    count = f"coalesce({whole} OR {grouped} OR {mark}, true)"
    return f"[coalesce(bool_and({count}), true), coalesce(bool_or({number}), false)]"


def _columns_of_counts(
    con: duckdb.DuckDBPyConnection, view: str, columns: ColumnNames, categories: Sequence[str]
) -> list[str]:
    """Return the columns of a crosstab that have counts, those behind the last column of categories.

    Refuses a column with counts and with other numbers or words: one would be read as what it is not.
    """
    if categories:
        folded = {fold_case(name) for name in categories}
        return [name for name in columns if fold_case(name) not in folded]
    tests = map(_tests_of_counts, columns)
    tested = con.execute(f"SELECT {', '.join(tests)} FROM {view}").fetchall()[0]
    last = max((place for place, (is_count, _) in enumerate(tested) if not is_count), default=-1)
    mixed = [
        name
        for name, (is_count, has_number) in zip(columns[1:], tested[1:], strict=True)
        if has_number and not is_count
    ]
    if mixed or last in (-1, len(columns) - 1):
        got, remedy = "no such columns", NAME_COLUMNS
        if mixed:
            got = f"'{mixed[0]}' with values that are no counts"
        elif last < 0:  # as where the categories are years
            got, remedy = "whole numbers in each", f"write --columns {shlex.quote(columns[0])}"
        raise OutOfDomainError(
            f"a table without the column {COUNT} must have columns of categories, then of counts, got {got}; {remedy}"
        )
    return list(columns[last + 1 :])


def _name_header(columns: ColumnNames) -> str:
    """Name the column of what the header says, as no other column is named."""
    header = HEADER
    while fold_case(header) in {fold_case(name) for name in columns}:
        header += "_"
    return header


def _unpivot(
    con: duckdb.DuckDBPyConnection,
    view: str,
    left: Sequence[str],
    counts: Sequence[str],
    header: str | None,
) -> str:
    """Make a view with a row for each count of a crosstab, which the header names where there are several."""
    parts = " UNION ALL ".join(
        f"SELECT {', '.join(map(quoted, left))}, "
        + ("" if header is None else f"{sql_text(name)} AS {quoted(header)}, ")
        + f"{quoted(name)}::VARCHAR AS {COUNT} FROM {view}"
        for name in counts
    )
    con.execute(f"CREATE TEMP VIEW {view}_long AS {parts}")
    return f"{view}_long"


# What `safe` writes to be published.

LACKING_PEOPLE: Final = (
    " It has counts of records alone: those of people do not add up, so that hiding protects none."
)


def publish(options: Namespace, rows: Rows, how: Arguments) -> str:
    """Write the cells to a new CSV file, once a second reading of it has them and its audit reveals none.

    Returns a sentence on what was checked.
    """
    file = Path(options.publish)
    if file.suffix.lower() != ".csv":
        raise OutOfDomainError(
            f"--publish must be a .csv file, got '{file}'; write it like safe.csv"
        )
    inputs = [Path(each) for each in (options.file, *options.published) if each != "-"]
    refuse_to_overwrite({"--publish": file}, inputs)
    text = csv_text(list(rows[0]) if rows else [], [list(row.values()) for row in rows])
    beside = file.absolute().with_name(f".{os.getpid()}.{file.name[:64]}")
    try:
        write_report(beside, text)
        shows_people = any(row["people"] is not None for row in rows)
        has_people = options.entity is not None and shows_people
        counts = [COUNT, *(["people"] if has_people else [])]
        audited = _audit(options, beside, text, counts, how)
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)
    lacking = "" if has_people or options.entity is None else LACKING_PEOPLE
    return f"Wrote {file}: read again, its {len(rows):,} cells are those above; audited, {audited}.{lacking}"


def _audit(
    options: Namespace,
    file: Path,
    text: str,
    counts: Sequence[str],
    how: Arguments,
) -> str:
    """Read the file as its readers do, and audit its counts beside the tables that they already have.

    Refuses a file that is read otherwise than it was written, or that reveals a cell.
    """
    con, view = open_source(str(file), form=TextFormat(of_people=False))
    base = {"base": how["base"]} if how["suppress"] == PROTECTING[1] else {}
    try:
        read = con.execute(f"SELECT coalesce(COLUMNS(*)::VARCHAR, '') FROM {view}").fetchall()
        if list(map(list, read)) != written_cells(text):
            raise UnavailableError(
                "--publish must have the cells that were computed once it is read again, got others; rename categories such as an empty text"
            )
        form = text_format(options, of_people=False)
        published = attach_numbered(con, form, "--published", options.published, PUBLISHED)
        how_read = {"k": how["k"]} | base
        cells: list[dict[str, Any]] = []
        for count in counts:
            tables = [view, *published]
            cells += call(con, "audit_tables", [tables], "audit", count=count, **how_read).records()
    except (duckdb.Error, ReidError) as error:
        raise UnavailableError(
            f"--publish must be a file that audit can read, got a refusal: {sentence(error)}; nothing was written"
        ) from None
    finally:
        con.close()
    revealed = sum(cell["finding"] in REVEALED for cell in cells)
    if revealed:
        raise OutOfDomainError(
            f"--publish must reveal no cell below k, got {revealed:,} that its readers compute; pass --suppress secondary, or fewer columns to --by"
        )
    sums = "; its sums are not audited again" if options.value is not None else ""
    hidden = sum(cell["finding"] != NOT_AUDITED for cell in cells)
    return f"none of its {hidden:,} hidden counts is revealed{sums}"


def written_cells(text: str) -> list[list[str]]:
    """Return the cells of a CSV file below its header."""
    return list(csv.reader(StringIO(text, newline="")))[1:]
