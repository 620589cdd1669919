"""What each column of a file is like: the first thing to ask, to choose the quasi-identifiers."""

import argparse
from typing import Final

from reid_sql.commands.options import PASSED, listed, opened_table, print_answer, source_options

WORDS: Final = (
    "profile the columns of a file: which single people out, marks for missing values, what to think of"
)


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    source_options(parser, None)
    words = "only these columns, by comma (quote a name that has one); given again, it adds"
    parser.add_argument("--columns", action="append", default=[], metavar="A,B,C", help=words)


def run_command(options: argparse.Namespace) -> int:
    """Show a line for each column, and a sentence."""
    from reid_sql.parameters import COLUMNS, MAX_COLUMNS  # noqa: PLC0415 - help is shown without what counts
    from reid_sql.runner import run  # noqa: PLC0415 - the same
    from reid_sql.terminal_profile import profile_page  # noqa: PLC0415 - the same

    columns = [name for text in options.columns for name in listed("the columns", text)]
    if options.columns:
        COLUMNS.check(columns, columns)
    con, table = opened_table(options)
    every = [row[0] for row in con.execute("DESCRIBE FROM query_table(?)", [table]).fetchall()]
    named = columns or (
        every if len(every) <= MAX_COLUMNS else None
    )  # columns that are known are counted one by one
    found = run(con, "FROM profile(?, ?)", [table, named], "columns").records()
    print_answer(options, found, found, lambda: profile_page(found))
    return PASSED
