"""Arguments that several commands share."""

import argparse
from typing import Final

FILE: Final = "CSV, Parquet, JSON or DuckDB file; - for standard input"
FILE_OR_CONNECTION: Final = (
    f"{FILE}, or the connection to a warehouse: postgres://user@host/database, or env:NAME, the environment "
    "variable that contains one with a password"
)
ADDS: Final = "separated by commas (quote a name that contains one); repeat the option to add more"
ENCODINGS: Final = ("utf-8", "latin-1", "utf-16")
FORMATS: Final = ("table", "json", "csv")


def add_source(
    parser: argparse.ArgumentParser,
    columns: str | None = "--qi",
    words: str = "the quasi-identifiers",
    file: str = FILE,
    *,
    required: bool = True,
) -> None:
    """Add the file, the option that names its columns, and how it is read and answered."""
    parser.add_argument("file", metavar="FILE", help=file)
    if columns:
        help_line = f"{words}, {ADDS}"
        parser.add_argument(
            columns, dest="columns", action="append", required=required, metavar="A,B,C", help=help_line
        )
    parser.add_argument(
        "--files", action="store_true", help="FILE is a pattern of files, like 'people/*/*.parquet'"
    )
    parser.add_argument("--table", help="the table of a DuckDB file or a connection, like schema.people")
    add_text_format(parser)
    add_memory_and_format(parser)


def add_text_format(parser: argparse.ArgumentParser) -> None:
    """Add how text files are written."""
    parser.add_argument("--encoding", choices=ENCODINGS, help="how text files are written (default utf-8)")
    words = "between the fields of text files (default that of , ; | tab which the header has most of)"
    parser.add_argument("--delimiter", metavar="MARK", help=words)
    words = "around fields of text files (default \"); '' for none"
    parser.add_argument("--quote", metavar="MARK", help=words)
    words = "whether text files begin with the names of their columns (default true, and checked)"
    parser.add_argument("--header", choices=("true", "false"), help=words)


def add_policy(parser: argparse.ArgumentParser) -> None:
    """Add the policy, and how it is answered."""
    parser.add_argument("policy", metavar="POLICY.toml", help="the policy, TOML or JSON")
    add_memory_and_format(parser)


def add_memory_and_format(parser: argparse.ArgumentParser) -> None:
    """Add the memory to use, and the form of the answer."""
    words = "the most memory to use, such as 2GB; more goes to disk"
    parser.add_argument("--memory-limit", metavar="SIZE", help=words)
    add_format(parser)


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add the form of the answer."""
    group = parser.add_mutually_exclusive_group()
    words = "table (default) for people; json for everything; csv for the rows of one answer"
    group.add_argument("--format", choices=FORMATS, default="table", help=words)
    group.add_argument("--json", dest="format", action="store_const", const="json", help="as --format json")


def add_progress(parser: argparse.ArgumentParser) -> None:
    """Add whether progress is shown."""
    group = parser.add_mutually_exclusive_group()
    words = "show progress even without a terminal, as lines of a log"
    group.add_argument("--progress", action="store_const", const=True, help=words)
    words = "never show progress; by default a terminal shows it after a second"
    group.add_argument("--no-progress", dest="progress", action="store_const", const=False, help=words)


def add_threshold(parser: argparse.ArgumentParser) -> None:
    """Add the threshold of the risk."""
    parser.add_argument("--threshold", help="the risk above which a record counts as at risk (default 0.2)")


def add_nulls(parser: argparse.ArgumentParser, wildcard: str = ", wildcard (equals any value)") -> None:
    """Add how NULL is treated."""
    words = f"how to treat NULL: value (default){wildcard}, or drop (leaves such records out)"
    parser.add_argument("--nulls", metavar="WORD", help=words)


def add_entity(parser: argparse.ArgumentParser) -> None:
    """Add the column that identifies people."""
    words = (
        "the column that identifies people, if a person can have several rows: people are counted, and the "
        "attacker knows the riskiest row of each"
    )
    parser.add_argument("--entity", metavar="COLUMN", help=words)


def add_plot(parser: argparse.ArgumentParser, words: str) -> None:
    """Add a file to draw to."""
    parser.add_argument("--plot", metavar="FILE", help=f"draw {words} to a PNG or SVG file")


def add_html(parser: argparse.ArgumentParser) -> None:
    """Add a page for people."""
    words = "write the answer as one HTML file for people; its counts are not masked"
    parser.add_argument("--html", metavar="FILE", help=words)
