"""SQL run with the functions registered; the functions, or the query of one call, as SQL without Python."""

import re
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import duckdb
from rich.console import RenderableType

from reid_sql import __version__, register
from reid_sql.charts.spec import Chart
from reid_sql.charts.svg import save
from reid_sql.commands.options import PASSED, printed
from reid_sql.commands.output import print_answer, print_csv, print_people, print_rendered
from reid_sql.commands.tables import describe_copies_of_calls
from reid_sql.engines.duckdb.planner import planned_calls
from reid_sql.errors import OutOfDomainError, UnknownNameError
from reid_sql.sources.identifiers import describe_calls
from reid_sql.sources.missing_value_codes import describe_codes_of_calls
from reid_sql.terminal.answers import profile_page
from reid_sql.terminal.console import answer_table, note, page
from reid_sql.terminal.runner import QUIET, Answer, run
from reid_sql_udfs import declared

WITH_ROWS: Final = ("SELECT", "EXPLAIN", "CALL", "PRAGMA", "EXECUTE", "RELATION")
REFUSAL_NO_CHART: Final = (
    "--plot must come with the answer of a function that has a chart, got none; select all of its columns, such as "
    "FROM qar_risk(…)"
)
ROWS_AT_A_TIME: Final = 1000  # that are printed while the others are computed
MEMORY: Final = ":memory:"
# Columns that repeat what was asked, where they have these values, or the same one in each row.
USUAL: Final[Mapping[str, set[object]]] = {
    "threshold": set(),
    "blank_records": {None},
    "records_dropped": {0},
    "nulls": {"value"},
}


def run_query(options: Namespace) -> int:
    """Run the statements, and print each answer before the next statement."""
    text = _read_sql(options.file)
    _refuse_new_database(options.database, text)
    con = duckdb.connect(options.database)
    con.execute(QUIET)
    register(con)
    charts: list[Chart] = []
    noted: dict[str, None] = {}
    for statement in con.extract_statements(text):
        with planned_calls() as calls:
            answer = run(con, statement, None, "query", None if options.plot else ROWS_AT_A_TIME)
            charts += _charts_of(answer) if options.plot else []
            has_rows = statement.type.name in WITH_ROWS and bool(answer.columns)
            is_whole = len(answer.rows) < ROWS_AT_A_TIME
            answer = _print_blocks(con, options.format, answer) if has_rows else answer
        fixed = list_fixed_columns(answer, statement.query) if calls and is_whole else []
        notes = (
            describe_calls(calls, con.sql),
            describe_codes_of_calls(calls, con.sql),
            describe_copies_of_calls(calls, con),
        )
        people = " ".join(filter(None, notes))
        noted |= {people: None} if people else {}
        if not has_rows or options.format == "csv":
            print_people(people)  # also of what was written into a table
        else:
            print_answer(options, answer.records(), [], partial(_page, answer, fixed), people)
        sys.stdout.flush()  # an answer is printed before the next statement runs
    if options.plot:
        if not charts:
            raise OutOfDomainError(REFUSAL_NO_CHART)
        save(charts, "", options.plot, " ".join(noted))
    return PASSED


def _charts_of(answer: Answer) -> tuple[Chart, ...]:
    """Draw the answer, if it is that of a function that has a chart."""
    from reid_sql.notebook.extension import FIGURES, function_of  # noqa: PLC0415 - only a chart needs it

    function = function_of(frozenset(answer.columns))
    is_drawn = function in FIGURES and bool(answer.rows)
    return FIGURES[str(function)](answer.records()).charts if is_drawn else ()


def list_fixed_columns(answer: Answer, text: str) -> list[str]:
    """List the columns that the statement does not name, and that say how it was asked, or bound a bound."""
    named = set(re.findall(r"\w+", text.lower()))
    values = dict(zip(answer.columns, zip(*answer.rows, strict=True), strict=False))
    return [
        name
        for name, rows in values.items()
        if name not in named
        and ("_provable_" in name or (name in USUAL and {*rows} <= (USUAL[name] or {rows[0]})))
    ]


def _page(answer: Answer, fixed: Sequence[str]) -> RenderableType:
    """Show the other columns, and name those that are left out; a profile as its command shows it."""
    if {*answer.columns} >= {*declared()["profile"].answer_columns} and answer.rows:
        return profile_page(answer.records(), [])
    places = [place for place, name in enumerate(answer.columns) if name not in fixed]
    rows = [tuple(row[place] for place in places) for row in answer.rows]
    table = answer_table(Answer([answer.columns[place] for place in places], rows))
    left_out = f"Not shown: {', '.join(fixed)} (name them, or pass --format csv)."
    return page(table, note(left_out if fixed else ""))


def _print_blocks(con: duckdb.DuckDBPyConnection, form: str, answer: Answer) -> Answer:
    """Print a long answer in blocks while DuckDB computes it, and return what is left to print.

    All of CSV is printed here; JSON, which is one line, waits for all rows.
    """
    block, has_header = answer.rows, True
    while form == "csv" or len(block) == ROWS_AT_A_TIME:
        rows = con.fetchmany(ROWS_AT_A_TIME)
        if form == "json":
            answer.rows += rows
        elif form == "csv":
            print_csv(answer.columns, block, has_header=has_header)
        elif rows:
            print_rendered(lambda _, shown=block: answer_table(Answer(answer.columns, shown)))  # type: ignore[misc]
        if not rows:
            break
        block, has_header = rows, False
    return answer if form == "json" else Answer(answer.columns, block)


def _read_sql(file: str) -> str:
    if file == "-":
        return sys.stdin.read()
    if _is_file(file):
        return Path(file).read_text(encoding="utf-8")
    if len(file.split()) > 1 and not file.endswith(".sql"):
        return file
    raise UnknownNameError(
        f"FILE.sql must be an existing file, got '{file}'; pass its path, the SQL itself in quotes, or - for standard input"
    )


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except OSError:  # a statement may be too long for a path
        return False


def _refuse_new_database(database: str, text: str) -> None:
    """Refuse a database that does not exist unless the SQL creates something: the path may be mistyped."""
    if database == MEMORY or Path(database).is_file():
        return
    with duckdb.connect() as con:
        creates = any(statement.type.name == "CREATE" for statement in con.extract_statements(text))
    if not creates:
        raise UnknownNameError(
            f"--database must be an existing DuckDB file unless the SQL creates a table, got '{database}'; correct the path"
        )


BARE: Final = """-- The functions find each other where their database is the current one (USE). To call them
-- from others, name it: reid-sql sql --permanent NAME, attached as NAME everywhere.
"""
WRITTEN: Final = """-- {0}: written. In any client of DuckDB 1.5 or later:
ATTACH '{0}' (READ_ONLY);
FROM {1}.risk_summary(people, ['age', 'sex']);
"""


def run_sql(options: Namespace) -> int:
    """Print the functions as SQL or write them into a database file, or print the query that a call runs."""
    from reid_sql.engines.duckdb.catalogue import script, write_file  # noqa: PLC0415 - help needs no functions
    from reid_sql.engines.duckdb.dialects import DUCKDB  # noqa: PLC0415 - the same
    from reid_sql.engines.duckdb.plain_sql import plain_sql  # noqa: PLC0415 - the same
    from reid_sql_udfs import declared  # noqa: PLC0415 - the same

    ways = {
        "a call": options.call,
        "--permanent": options.permanent,
        "--file": options.file,
    }
    chosen = [way for way, value in ways.items() if value is not None]
    if len(chosen) > 1:
        raise OutOfDomainError(
            f"{chosen[0]} must be given alone, got {chosen[1]} too; leave one of them out"
        )
    if options.call is not None:
        printed(plain_sql(options.call, declared(), options.dialect or DUCKDB) + "\n")
        return PASSED
    if options.dialect is not None:
        raise OutOfDomainError(
            f"--dialect must be given with a call, got {options.dialect} without one; write reid-sql sql \"risk_summary(people, ['age'])\" --dialect NAME"
        )
    if options.file is not None:
        called = write_file(Path(options.file), declared())
        printed(WRITTEN.format(options.file, called))
        return PASSED
    is_permanent, database = options.permanent is not None, options.permanent or ""
    head = BARE * (options.permanent == "")
    text = script(declared(), permanent=is_permanent, database=database)
    printed(f"-- reid-sql {__version__}\n{head}{text}")
    return PASSED
