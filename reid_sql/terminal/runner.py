"""Run a query so that people see it progress and can stop it: Ctrl-C ends it at once."""

import re
import threading
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import duckdb

from reid_sql.errors import ReidError, name_error
from reid_sql.terminal.control_characters import escape_control_characters
from reid_sql.terminal.progress import step

WRONG: Final = re.compile(
    r"(Expected Number of Columns: \d+ Found: \d+|Value with unterminated quote found|Invalid "
    r"unicode|Maximum line size of \d+ bytes)"
)
UNLIKE: Final = "The CSV Parser state machine reached an invalid state"
ABOUT_NAMES: Final = (
    duckdb.BinderException,
    duckdb.CatalogException,
    duckdb.ConnectionException,
    duckdb.DependencyException,
    duckdb.IOException,
    duckdb.NotImplementedException,
    duckdb.OutOfMemoryException,
    duckdb.ParserException,
    duckdb.PermissionException,
    duckdb.SyntaxException,
)
OURS: Final = re.compile(r" must .*; ")  # the form of our refusals, outside of what is quoted
QUOTED: Final = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"")
SAFE: Final = re.compile(r"^(No magic bytes found|File '[^']*' too small|Malformed JSON in file)")
ENUM: Final = re.compile(r"ENUM\((?:'(?:[^']|'')*'(?:, ?)?)+\)")  # a type that lists its values
GRACE: Final = 5.0  # seconds that a stopped query gets to end
# DuckDB counts its progress, and prints none
QUIET: Final = "SET enable_progress_bar = true; SET enable_progress_bar_print = false"


@dataclass
class Answer:
    """The answer of a statement: column names and rows; no columns if there is no answer."""

    columns: list[str] = field(default_factory=list)
    rows: list[tuple[Any, ...]] = field(default_factory=list)

    def records(self) -> list[dict[str, Any]]:
        """Rows by column name."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def run(
    con: duckdb.DuckDBPyConnection,
    sql: str | duckdb.Statement,
    parameters: object = None,
    words: str = "counting",
    max_rows: int | None = None,
) -> Answer:
    """Run one statement to its end, in its own thread; show progress after a second if a person watches.

    The connection is QUIET. With `max_rows` the answer has so many of its rows; the connection fetches the
    others.
    """
    outcome: list[Answer | BaseException] = []
    ended = threading.Event()  # a thread whose join was interrupted passes for ended (Python 3.11)

    def work() -> None:
        try:
            con.execute(sql, parameters)
            columns = [column[0] for column in con.description or []]
            rows = (
                []
                if not columns
                else con.fetchall()
                if max_rows is None
                else con.fetchmany(max_rows)
            )
            outcome.append(Answer(columns, rows))
        except BaseException as error:  # noqa: BLE001 - it is raised again where the user waits
            outcome.append(error)
        finally:
            ended.set()

    threading.Thread(target=copy_context().run, args=(work,), daemon=True).start()
    try:
        with step(words, partial(_done, con)):
            ended.wait()
    except KeyboardInterrupt:
        con.interrupt()
        ended.wait(GRACE)
        raise
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


def _done(con: duckdb.DuckDBPyConnection) -> float:
    """How many percent of a statement, or of the computation that it waits for, are done."""
    from reid_sql.engines.duckdb import jobs  # noqa: PLC0415 - only what takes long has progress to show

    return max(con.query_progress(), 100 * jobs.progress())


def sentence(error: BaseException) -> str:
    r"""Return the refusal without the engine's error class and its position in our SQL.

    What DuckDB writes about names, files and memory quotes no record. What it writes about values does, such
    as a cast that fails: then the type alone is returned.

    >>> sentence(duckdb.InvalidInputException("Invalid Input Error: k must be a number; pass one\n\nLINE 1"))
    'k must be a number; pass one'
    >>> sentence(duckdb.ConversionException("Conversion Error: Could not convert string 'Alice' to INT32"))
    'every value must be one that DuckDB can read and convert, got ConversionException; correct it in a view'
    """
    message = str(error)
    if not isinstance(error, duckdb.Error):
        plain = isinstance(error, ReidError | OSError | ImportError | UnicodeError)
        return (
            escape_control_characters(message)
            if plain
            else f"there is no answer, got {name_error(error)}"
        )
    if broken := re.search(
        r"CSV Error on Line: (\d+)", message
    ):  # what follows is the line itself, a person's record
        why = WRONG.findall(message)
        return (
            f"line {broken[1]} of the file cannot be read: "
            f"{why[-1] if why else 'it is no line of CSV'}; correct it"
        )
    if UNLIKE in message:
        return "the file cannot be read as CSV: its line ends differ, or a field contains a quote; correct it"
    words = message.split("\n\nLINE", 1)[0].replace("\n", " ").strip()
    # A window refuses by a cast
    words = re.sub(r"Could not convert string '(.* must .*; .*)' to BOOL$", r"\1", words)
    words = re.sub(r"^(?:[A-Z][A-Za-z]+ )+Error: ", "", words)
    if not (
        isinstance(error, ABOUT_NAMES) or OURS.search(QUOTED.sub("", words)) or SAFE.search(words)
    ):
        rule = f"every value must be one that DuckDB can read and convert, got {name_error(error)}"
        return f"{rule}; correct it in a view"
    return escape_control_characters(ENUM.sub("ENUM", words))
