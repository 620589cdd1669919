"""Arguments that several commands share, and those of commands that take no table, or two."""

import argparse
from typing import Final

from reid_sql.commands.options import Parser

FILE: Final = "CSV, Parquet, JSON, DuckDB, SQLite, Excel, SPSS or Stata file; - for standard input"
FILE_OR_CONNECTION: Final = (
    f"{FILE}, or the connection to a warehouse: postgres://user@host/database, or env:NAME, the environment "
    "variable that contains one with a password"
)
ADDS: Final = "separated by commas (quote a name that contains one); repeat the option to add more"
KINDS: Final = "CSV, Parquet, JSON, DuckDB, SQLite, Excel, SPSS or Stata file"
ROLES: Final = ("release", "later", "join")  # of the other table of a comparison
FORMATS: Final = ("table", "json", "csv")
SHELLS: Final = (
    'the shell; write eval "$(reid-sql completion bash)" into ~/.bashrc, the same with zsh into ~/.zshrc '
    "after compinit, or for fish: reid-sql completion fish > ~/.config/fish/completions/reid-sql.fish"
)


def add_source(
    parser: Parser,
    columns: str | None = "--qi",
    words: str = "the quasi-identifiers",
    file: str = FILE,
    *,
    required: bool = True,
) -> None:
    """Add the file, the option that names its columns, and how it is read and answered."""
    parser.option("file", file, "FILE")
    if columns:
        help_line = f"{words}, {ADDS}"
        parser.option(
            columns, help_line, "A,B,C", dest="columns", action="append", required=required
        )
    parser.option(
        "--files", "FILE is a pattern of files, like 'people/*/*.parquet'", action="store_true"
    )
    parser.option(
        "--table", "the table of a DuckDB file or a connection, like schema.people, or a sheet"
    )
    add_text_format(parser)
    add_memory_and_format(parser)


def add_text_format(parser: Parser) -> None:
    """Add how text files are written."""
    parser.option(
        "--encoding",
        "how text files are written, such as cp1252, latin-1 or utf-16 (default utf-8)",
        "NAME",
    )
    parser.option(
        "--delimiter",
        "between the fields of text files (default that of , ; | tab which the header has most of)",
        "MARK",
    )
    parser.option("--quote", "around fields of text files (default \"); '' for none", "MARK")
    parser.option(
        "--header",
        "whether text files begin with the names of their columns (default true, and checked)",
        choices=("true", "false"),
    )
    parser.option(
        "--skip",
        "lines of text files above the names of their columns; with 2,1 also those below the last record",
        "N",
    )


def add_policy(parser: Parser) -> None:
    """Add the policy, and how it is answered."""
    parser.option("policy", "the policy, TOML or JSON", "POLICY.toml")
    add_memory_and_format(parser)


def add_policies(parser: Parser) -> None:
    """Add one policy or several, and how they are answered."""
    parser.option(
        "policies",
        "a policy, TOML or JSON, or several: one verdict, one report and one exit code for all",
        "POLICY.toml",
        nargs="+",
    )
    add_memory_and_format(parser)


def add_memory_and_format(parser: Parser) -> None:
    """Add the memory to use, and the form of the answer."""
    parser.option(
        "--memory-limit", "the most memory to use, such as 2GB; more goes to disk", "SIZE"
    )
    add_format(parser)


def add_format(parser: Parser) -> None:
    """Add the form of the answer."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--format",
        choices=FORMATS,
        default="table",
        help="table (default) for people; json for everything; csv for the rows of one answer",
    )
    group.add_argument(
        "--json", dest="format", action="store_const", const="json", help="as --format json"
    )


def add_progress(parser: Parser) -> None:
    """Add whether progress is shown."""
    parser.option(
        "--progress",
        "show progress even without a terminal, as lines of a log, or never; by default a terminal shows it",
        action=argparse.BooleanOptionalAction,
    )


def add_threshold(parser: Parser) -> None:
    """Add the threshold of the risk."""
    parser.option("--threshold", "the risk above which a record counts as at risk (default 0.2)")


def add_nulls(parser: Parser, wildcard: str = ", wildcard (equals any value)") -> None:
    """Add how NULL is treated."""
    parser.option(
        "--nulls",
        f"how to treat NULL: value (default){wildcard}, or drop (leaves such records out)",
        "WORD",
    )


def add_tolerance(parser: Parser) -> None:
    """Add by how much values may differ."""
    parser.option(
        "--tolerance",
        "by how much values of a column may differ and still match: a number, a percentage as 5%%, a time as "
        "3days, or 1edit; repeat the option for more columns",
        "COLUMN=AMOUNT",
        action="append",
    )


def add_entity(parser: Parser) -> None:
    """Add the column that identifies people."""
    parser.option(
        "--entity",
        "the column that identifies people, if a person can have several rows: people are counted, and the "
        "attacker knows the riskiest row of each",
        "COLUMN",
    )


def add_plot(parser: Parser, words: str) -> None:
    """Add a file to draw to."""
    parser.option("--plot", f"draw {words} to an SVG file", "FILE")


def add_html(parser: Parser) -> None:
    """Add a page for people."""
    parser.option(
        "--html", "write the answer as one HTML file for people; its counts are not masked", "FILE"
    )


def add_serve(parser: Parser) -> None:
    """Add the tables, who may ask, and the limits."""
    parser.option(
        "files",
        "the tables: a DuckDB file, of which all are served, or CSV, Parquet or JSON files, read once",
        "FILE",
        nargs="*",
    )
    parser.option(
        "--table",
        "serve a file under this name; repeat the option to add more",
        "NAME=FILE",
        action="append",
        default=[],
    )
    parser.option("--port", "the port of localhost (default 9494)", default="9494")
    parser.option(
        "--rows",
        "let every client read every row; by default answers leave, and no rows",
        action="store_true",
    )
    parser.option(
        "--policy",
        "the policy, TOML or JSON: its mask and its entity hold for every answer, and functions that it does "
        "not use are refused",
        "POLICY.toml",
    )
    parser.option(
        "--record",
        "the DuckDB file of the counts that left (default beside the policy; without one, in memory)",
        "FILE.duckdb",
    )
    parser.option(
        "--clients",
        'a TOML file with a token for each client, like ann = "…"; else one client has the token of the '
        "environment variable REID_SQL_TOKEN, or one that is made and shown",
        "FILE.toml",
    )
    parser.option(
        "--mcp",
        "answer an agent on standard input and output (MCP), in place of DuckDB clients",
        action="store_true",
    )
    parser.option(
        "--log",
        "add a line of JSON for each question, without values; `reid-sql audit FILE` reads it",
        "FILE",
    )
    parser.option(
        "--time-limit", "the most seconds for a question (default 60)", "SECONDS", default="60"
    )
    parser.option(
        "--memory-limit",
        "the most memory to use for all questions, such as 2GB; more goes to disk",
        "SIZE",
    )


def add_sql(parser: Parser) -> None:
    """Add a call, and how its SQL is written."""
    parser.option(
        "call",
        "print the query that a call runs, such as \"risk_summary(people, ['age', 'sex'])\"; the "
        "tables need not exist. Without a call, print the script of functions",
        "CALL",
        nargs="?",
    )
    parser.option(
        "--dialect",
        "print the call's query for another database, such as snowflake, bigquery or postgres; needs "
        "pip install 'reid-sql[ibis]'",
        "NAME",
    )
    parser.option(
        "--permanent",
        "store the functions in the database, not only in the session; with NAME, other databases can "
        "call them, too, if this one is attached under that name",
        "NAME",
        nargs="?",
        const="",
    )
    parser.option(
        "--file",
        "write the functions into a new database file, such as reid.duckdb, which any client of DuckDB "
        "attaches and calls without Python",
        "FILE",
    )


def add_dossier(parser: Parser) -> None:
    """Add what is written, signed or verified."""
    parser.option("policy", "the policy, with [assessment]", "POLICY.toml", nargs="?")
    parser.option("--out", "write the document as HTML and JSON in an RO-Crate", "FOLDER")
    parser.option("--since", "list the changes since the dossier in this folder", "FOLDER")
    parser.option(
        "--sign", "sign the document with this key of OpenSSH (ssh-keygen -Y sign)", "KEY"
    )
    parser.option(
        "--verify", "verify the dossier in this folder: whether it is consistent", "FOLDER"
    )
    parser.option(
        "--signature",
        "with --verify: the allowed signers of OpenSSH, one of whom must have signed",
        "SIGNERS",
    )
    parser.option("--engine", "duckdb, spark or ibis, as in check", "NAME")
    add_memory_and_format(parser)


def add_completion(parser: Parser) -> None:
    """Add the shell."""
    parser.option("shell", SHELLS, "SHELL", choices=("bash", "zsh", "fish"))


def add_compare(parser: Parser) -> None:
    """Add a table and the other tables of the same people, and what the others are."""
    add_source(parser, file=f"the first table: {KINDS}")
    add_html(parser)
    parser.option("others", f"the table that it is compared with: {KINDS}", "OTHER", nargs="+")
    parser.option("--other-table", "the table of a DuckDB file OTHER", "TABLE")
    parser.option(
        "--as",
        "what OTHER is: a release of the first table (default), a later release of the same data (or several, "
        "in order), or a table that is joined to it",
        dest="role",
        choices=ROLES,
        default=ROLES[0],
    )
    parser.option(
        "--key",
        "the column, in all tables, that shows which records are of the same person; for a join one or more, "
        "person=pid where OTHER has another name",
        "COLUMN",
    )
    parser.option(
        "--other-qi", "for a join: the quasi-identifiers of OTHER", "A,B,C", dest="right_qi"
    )
    parser.option("--k", "for a join: the size from which a class protects (default 2: unique)")
    add_entity(parser)
    parser.option(
        "--sensitive", "for a later release: the column whose values nobody should learn", "COLUMN"
    )
    add_nulls(parser, "")
    add_threshold(parser)
    add_tolerance(parser)
    parser.option(
        "--targets",
        "the number of records to link if linking all would take too long (default 10000)",
    )
    parser.option("--seed", "the seed of random draws (default 0)")
    add_plot(parser, "risk and loss of a release")


def add_safe(parser: Parser) -> None:
    """Add the options of `safe`."""
    add_source(parser, "--by", "the columns of the table of aggregates")
    add_html(parser)
    parser.option("--value", "the column to add up, and to check for dominance", "COLUMN")
    add_entity(parser)
    parser.option("--k", "the least number of people of a cell (default 5)")
    parser.option(
        "--totals", "add totals: margins, or rollup for a hierarchy (default none)", "WORD"
    )
    parser.option(
        "--suppress",
        "hide unsafe cells: primary, or secondary, which hides others too, so that none can be computed; "
        "or rounding, of all counts to a base",
        "WORD",
    )
    parser.option(
        "--base",
        "with --suppress rounding: the number that counts are multiples of (default 5)",
        "N",
    )
    parser.option(
        "--protection",
        "with --suppress secondary: the width of the interval of a hidden cell (default k)",
        "N",
    )
    parser.option(
        "--output",
        "with --format csv or json: publishable leaves out what tells more of a hidden cell than its figures, "
        "all has it (default for csv: publishable with --suppress secondary or rounding)",
        "WORD",
    )
    parser.option(
        "--publish",
        "write what may be published as a new CSV file, once its audit reveals no hidden cell",
        "FILE.csv",
    )
    parser.option(
        "--zeros",
        "list adds the cells of nobody, which disclose that nobody is in them (default omit)",
        "WORD",
    )
    parser.option(
        "--levels",
        "columns that are levels of one hierarchy, the coarsest first; repeat the option for others",
        "A>B",
        action="append",
        default=[],
    )
    parser.option(
        "--tables",
        "the columns of --by of one of several tables, which are protected together",
        "A,B",
        action="append",
        default=[],
    )
    parser.option(
        "--published",
        "with --suppress secondary: an earlier table of the same people, which everybody knows",
        "FILE",
        action="append",
        default=[],
    )
    parser.option(
        "--risk-appetite",
        "take k, base and the rules of dominance from a risk appetite of ACRO; --k and --base go first",
        "FILE.yaml",
    )
    add_nulls(parser, "")


def add_audit(parser: Parser) -> None:
    """Add a synthetic table and its original, or published tables of counts."""
    add_source(
        parser,
        file=f"{'the original, with --qi; else a published table of counts of people, or a log of serve'}: {KINDS}",
        required=False,
    )
    add_html(parser)
    parser.option(
        "others",
        "the synthetic table, with --qi; else more published tables, which count the same people",
        "OTHER",
        nargs="*",
        default=[],
    )
    parser.option("--other-table", "the table of a DuckDB file of the synthetic table", "TABLE")
    parser.option(
        "--holdout",
        f"people of the same kind who were not used to make it; no attack is judged without them: {KINDS}",
        "FILE",
    )
    parser.option("--holdout-table", "the table of a DuckDB file of the holdout", "TABLE")
    parser.option(
        "--sensitive", f"the sensitive columns, {ADDS}", "A,B,C", action="append", default=[]
    )
    add_entity(parser)
    parser.option(
        "--targets", "the number of records of each table in attacks on membership (default 10000)"
    )
    parser.option("--seed", "the seed of random draws (default 0)")
    add_plot(
        parser, "the excess of each attack with its interval, or the interval of each hidden cell"
    )
    _add_published_tables(parser)


def _add_published_tables(parser: Parser) -> None:
    """Add how published tables of counts are read, and what an attacker knows of them."""
    parser.option("--k", "the least number of people of a cell (default 5)")
    parser.option(
        "--columns",
        f"the columns of categories, {ADDS} (default all but counts)",
        "A,B,C",
        dest="categories",
        action="append",
        default=[],
    )
    parser.option("--count", "the column of counts (default records)", "COLUMN")
    parser.option(
        "--status",
        "the column that marks hidden counts: letters of tau-Argus or sdcTable, or true (default none)",
        "COLUMN",
    )
    parser.option(
        "--total",
        "a category of totals; repeat the option for others (default an empty one)",
        "TEXT",
        action="append",
    )
    parser.option(
        "--not-total",
        "a category that is no total, although its counts are sums of others; repeat it for more",
        "TEXT",
        action="append",
    )
    parser.option(
        "--people",
        "nested, if each table counts only some people of the one before (default: all count the same)",
        "WORD",
    )
    parser.option("--lowest", "the least that a hidden count can be (default 1)", "N")
    parser.option("--highest", "the most that a hidden count can be (default any)", "N")
    parser.option(
        "--base",
        "the number that published counts are multiples of, such as 5; 1 if exact (default: guessed)",
        "N",
    )
    parser.option(
        "--within",
        "by how much a rounded count may differ from the true one (default half the base)",
        "N",
    )
    parser.option(
        "--rule",
        "opensafely, if counts of at most 7 are shown as 0, and others to the nearest 5",
        "WORD",
    )
    parser.option("--value", "the column of sums, which are then audited too", "COLUMN")
    parser.option(
        "--largest",
        "the column of the largest contributions to each sum, such as [80, 15] (default largest)",
        "COLUMN",
    )
    parser.option(
        "--dominance",
        "how many contributors may have which share of a sum at most (default 1,0.5)",
        "N,SHARE",
    )
    parser.option("--p-percent", "how near an estimate may come (default 0.1)", "SHARE")
