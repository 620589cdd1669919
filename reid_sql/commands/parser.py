"""The commands and their arguments, and a parser that refuses in one sentence.

Nothing here loads an engine or a model: whoever asks for help waits for neither. Where an option is a
parameter of a function, its default and its domain are those of the function's declaration.
"""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from reid_sql import __version__
from reid_sql.commands import sql
from reid_sql.commands.options import Parser

FILE: Final = "CSV, Parquet, JSON or DuckDB file; - for standard input"
FILE_OR_CONNECTION: Final = (
    f"{FILE}, or the connection to a warehouse: postgres://user@host/database, or env:NAME, the environment "
    "variable that contains one with a password"
)
ADDS: Final = "separated by commas (quote a name that contains one); repeat the option to add more"
FORMATS: Final = ("table", "json", "csv")
DIALECTS: Final = "the dialect of --sql: duckdb, postgres, snowflake, bigquery, databricks, spark or trino"
SHELLS: Final = (
    'the shell; write eval "$(reid-sql completion bash)" into ~/.bashrc, the same with zsh into ~/.zshrc '
    "after compinit, or for fish: reid-sql completion fish > ~/.config/fish/completions/reid-sql.fish"
)


@dataclass(frozen=True)
class Command:
    """A command: its help line, its arguments, and what runs it, as `module:function`."""

    help: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: str
    progress: bool = True
    duckdb: bool = True  # whether DuckDB is loaded first


def parser() -> Parser:
    """Make the parser of `reid-sql` and of its commands."""
    whole = Parser(prog="reid-sql", description="Re-identification risk, counted where the data is.")
    whole.add_argument("--version", action="version", version=f"reid-sql {__version__}")
    subparsers = whole.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        made = subparsers.add_parser(name, help=command.help)
        command.arguments(made)
        if command.progress:
            _progress(made)
        made.set_defaults(command=command, parser=made, whole=whole)
    return whole


def _source(
    parser: argparse.ArgumentParser,
    columns: str | None = "--qi",
    words: str = "the quasi-identifiers",
    file: str = FILE,
) -> None:
    """Add the file, the option that names its columns, and how it is read and answered."""
    parser.add_argument("file", metavar="FILE", help=file)
    if columns:
        help_line = f"{words}, {ADDS}"
        parser.add_argument(
            columns, dest="columns", action="append", required=True, metavar="A,B,C", help=help_line
        )
    parser.add_argument(
        "--files", action="store_true", help="FILE is a pattern of files, like 'people/*/*.parquet'"
    )
    parser.add_argument("--table", help="the table of a DuckDB file or a connection, like schema.people")
    _memory_and_format(parser)


def _policy(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("policy", metavar="POLICY.toml", help="the policy, TOML or JSON")
    _memory_and_format(parser)


def _memory_and_format(parser: argparse.ArgumentParser) -> None:
    words = "the most memory to use, such as 2GB; more goes to disk"
    parser.add_argument("--memory-limit", metavar="SIZE", help=words)
    _format(parser)


def _format(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    words = (
        "print tables for people (default), everything as json, or as csv the rows of the summary or of the "
        "option that asks for more"
    )
    group.add_argument("--format", choices=FORMATS, default="table", help=words)
    group.add_argument("--json", dest="format", action="store_const", const="json", help="as --format json")


def _progress(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    words = "show progress even without a terminal, as lines of a log"
    group.add_argument("--progress", action="store_const", const=True, help=words)
    words = "never show progress; by default a terminal shows it after a second"
    group.add_argument("--no-progress", dest="progress", action="store_const", const=False, help=words)


def _threshold(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--threshold", help="the risk above which a record counts as at risk (default 0.2)")


def _nulls(parser: argparse.ArgumentParser, wildcard: str = ", as a wildcard") -> None:
    parser.add_argument("--nulls", help=f"NULL as a value (default){wildcard}, or drop such records")


def _entity(parser: argparse.ArgumentParser) -> None:
    words = (
        "the column that identifies people, where a person has several rows: people are counted, and the "
        "attacker knows the worst row of each"
    )
    parser.add_argument("--entity", metavar="COLUMN", help=words)


def _plot(parser: argparse.ArgumentParser, words: str) -> None:
    parser.add_argument("--plot", metavar="FILE", help=f"draw {words} to a PNG or SVG file")


def _profile(parser: argparse.ArgumentParser) -> None:
    _source(parser, None)
    words = f"only these columns, {ADDS}"
    parser.add_argument("--columns", action="append", default=[], metavar="A,B,C", help=words)


def _init(parser: argparse.ArgumentParser) -> None:
    _source(parser, None)


def _risk(parser: argparse.ArgumentParser) -> None:
    _source(parser, file=FILE_OR_CONNECTION)
    _threshold(parser)
    _nulls(parser)
    _entity(parser)
    words = "the people that the file is a sample of, such as 67e6 or 67,000,000: the risk among them"
    parser.add_argument("--population", metavar="N[,N]", action="append", help=words)
    words = "with --population: count people in classes smaller than this (default 5)"
    parser.add_argument("--k", help=words)
    words = "with --entity: how many people are singled out by so many random rows of theirs, such as 1,2,3,4"
    parser.add_argument("--points", metavar="P[,P]", action="append", help=words)
    _plot(parser, "with --points: how many people are singled out")
    words = "show the N most exposed combinations of values"
    parser.add_argument("--stand-out", metavar="N", default="0", help=words)


def _forecast(parser: argparse.ArgumentParser) -> None:
    _source(parser, file=FILE_OR_CONNECTION)
    words = "the sizes to forecast to, such as 67e6 or 67,000,000; repeat the option to add more"
    parser.add_argument("--population", required=True, action="append", metavar="N[,N]", help=words)
    parser.add_argument("--k", help="count people in classes smaller than this (default 5)")
    _nulls(parser, "")
    _entity(parser)
    _plot(parser, "the curve and the model's fit, with their bands,")


def _validate(parser: argparse.ArgumentParser) -> None:
    _source(parser)
    words = "the sampling fractions (default 0.1,0.01); repeat the option to add more"
    parser.add_argument("--fraction", dest="fractions", action="append", metavar="F[,F]", help=words)
    parser.add_argument("--samples", help="the number of samples of each fraction (default 5)")
    parser.add_argument("--methods", metavar="A,B", help="methods of population_uniqueness (default all)")
    parser.add_argument("--seed", help="for other samples (default 0)")
    _nulls(parser, "")
    _entity(parser)
    _plot(parser, "the estimates and the truth")


def _adversary(parser: argparse.ArgumentParser) -> None:
    _source(parser, None)
    words = "what the attacker may know: a .toml or .json file, or a shipped name"
    parser.add_argument("--scenario", required=True, metavar="FILE", help=words)
    _threshold(parser)
    _nulls(parser)
    _entity(parser)
    words = "show all 81 settings of the four parameters too"
    parser.add_argument("--sensitivity", action="store_true", help=words)
    group = parser.add_mutually_exclusive_group()
    words = "CSV, Parquet or JSON file of the population, which shows who is unique in it"
    group.add_argument("--population-file", metavar="FILE", help=words)
    words = "estimate who is unique in the population by this model of the file, not by Pitman's"
    group.add_argument("--model", choices=("people", "copula"), help=words)


def _qar(parser: argparse.ArgumentParser) -> None:
    _source(parser, "--columns", "the columns that an attacker may combine")
    parser.add_argument("--p", help="the number of columns in a quasi-identifier (default 3)")
    words = "the share of quasi-identifiers that may be riskier (default 0.01)"
    parser.add_argument("--alpha", help=words)
    words = "the share of quasi-identifiers that the distribution is fitted to (default 0.05)"
    parser.add_argument("--tail", help=words)
    words = "measure N quasi-identifiers drawn at random, not all"
    parser.add_argument("--sample", metavar="N", help=words)
    parser.add_argument("--memory-mb", metavar="MB", help="the most memory to count with (default 1024)")
    _nulls(parser, "")
    _entity(parser)
    words = "show the effect of removing N records (with --plot: default a fifth of them)"
    parser.add_argument("--remove", metavar="N", help=words)
    words = "how to choose the records to remove, as in qar_elimination (default all)"
    parser.add_argument("--by", metavar="A,B", help=words)
    _plot(parser, "the risk of all choices, each record's contribution and the effect of removals")
    words = "do not draw each record's contribution, which takes long for many records"
    parser.add_argument("--without-contributions", action="store_true", help=words)


def _check(parser: argparse.ArgumentParser) -> None:
    _policy(parser)
    parser.add_argument("--json-report", metavar="FILE", help="write the report as JSON")
    parser.add_argument("--junit", metavar="FILE", help="write the verdicts as JUnit XML")
    parser.add_argument("--html", metavar="FILE", help="write the report as one HTML file for people")
    words = "an earlier JSON report: fail only if a figure got worse"
    parser.add_argument("--baseline", metavar="FILE", help=words)
    words = "if the policy is not met, search for a release that meets it, and show it in the HTML report"
    parser.add_argument("--prepare", action="store_true", help=words)
    words = "the time limit of that search, in place of the policy's prepare.time_limit"
    parser.add_argument("--time-limit", metavar="SECONDS", help=words)
    words = "duckdb; spark, for a policy whose files are Spark's tables or paths; ibis, for one with a url"
    parser.add_argument("--engine", metavar="NAME", help=words)
    words = "print the statements that a warehouse would run, and their number, and run none of them"
    parser.add_argument("--plan", action="store_true", help=words)
    words = "show the N rarest combinations with their values; by default no report contains a record"
    parser.add_argument("--risky-records", metavar="N", default="0", help=words)


def _advise(parser: argparse.ArgumentParser) -> None:
    _policy(parser)
    parser.add_argument("--single", action="store_true", help="skip pairs of columns: faster")


def _prepare(parser: argparse.ArgumentParser) -> None:
    _policy(parser)
    parser.add_argument("--sql", metavar="FILE", help="write the release as SQL: a view for each table")
    parser.add_argument("--dialect", default="duckdb", metavar="NAME", help=DIALECTS)
    words = "global recoding, local recoding, or best: the one that loses less"
    parser.add_argument("--method", metavar="NAME", help=words)
    words = "show how well the other columns still predict this column"
    parser.add_argument("--target", metavar="COLUMN", help=words)
    parser.add_argument("--polars", metavar="FILE", help="write the release as Python with Polars")
    words = "write the hierarchies as TOML for the policy, to be edited, and search nothing"
    parser.add_argument("--write-hierarchies", metavar="FILE", help=words)
    words = "write the gate's report on the release as JSON"
    parser.add_argument("--json-report", metavar="FILE", help=words)
    parser.add_argument("--html", metavar="FILE", help="write that report and the transformation as HTML")
    words = "write a page with the five forms of least loss that meet the policy, side by side"
    parser.add_argument("--choice", metavar="FILE", help=words)
    _plot(parser, "risk against loss of the transformations")


def _compare(parser: argparse.ArgumentParser) -> None:
    _source(parser)
    parser.add_argument("released", metavar="RELEASED", help="the release: CSV, Parquet, JSON or DuckDB file")
    parser.add_argument("--released-table", metavar="TABLE", help="the table of a DuckDB file of the release")
    words = "the column of both that identifies the original of each released record"
    parser.add_argument("--key", metavar="COLUMN", help=words)
    _threshold(parser)
    words = "the number of records to link if linking all would take too long (default 10000)"
    parser.add_argument("--targets", help=words)
    parser.add_argument("--seed", help="for another draw of them (default 0)")
    _plot(parser, "risk and loss")


def _audit(parser: argparse.ArgumentParser) -> None:
    _source(parser, file="the original: CSV, Parquet, JSON or DuckDB file")
    kinds = "CSV, Parquet, JSON or DuckDB file"
    parser.add_argument("synthetic", metavar="SYNTHETIC", help=f"the synthetic table: {kinds}")
    parser.add_argument("--synthetic-table", metavar="TABLE", help="the table of a DuckDB file of it")
    words = f"people of the same kind who were not used, without whom no attack is judged: {kinds}"
    parser.add_argument("--holdout", metavar="FILE", help=words)
    parser.add_argument("--holdout-table", metavar="TABLE", help="the table of a DuckDB file of the holdout")
    words = f"the sensitive columns, {ADDS}"
    parser.add_argument("--sensitive", action="append", default=[], metavar="A,B,C", help=words)
    _entity(parser)
    words = "the number of records of each table to try for membership (default 10000)"
    parser.add_argument("--targets", help=words)
    parser.add_argument("--seed", help="for another draw of them (default 0)")
    _plot(parser, "the excess of each attack with its interval")


def _releases(parser: argparse.ArgumentParser) -> None:
    _source(parser, file="the former release: CSV, Parquet, JSON or DuckDB file")
    words = "the release after it: CSV, Parquet, JSON or DuckDB file"
    parser.add_argument("second", metavar="SECOND", help=words)
    parser.add_argument("--second-table", metavar="TABLE", help="the table of a DuckDB file of it")
    words = "the column of both that identifies people, which shows which links are right"
    parser.add_argument("--key", metavar="COLUMN", help=words)
    _entity(parser)
    words = "the column whose values nobody should learn"
    parser.add_argument("--sensitive", metavar="COLUMN", help=words)
    _nulls(parser, "")


def _safe(parser: argparse.ArgumentParser) -> None:
    _source(parser, "--by", "the columns of the table of aggregates")
    parser.add_argument("--value", metavar="COLUMN", help="the column to add up, for rules of dominance")
    _entity(parser)
    parser.add_argument("--k", help="the least number of people of a cell (default 5)")
    words = "add a row for each total: margins, or rollup for a hierarchy (default none)"
    parser.add_argument("--totals", metavar="WORD", help=words)
    words = "hide unsafe cells: primary, or secondary to protect them from whoever adds up the rest"
    parser.add_argument("--suppress", metavar="WORD", help=words)
    words = "with --suppress secondary: the width of the interval of a hidden cell (default k)"
    parser.add_argument("--protection", metavar="N", help=words)
    _nulls(parser, "")


def _audit_tables(parser: argparse.ArgumentParser) -> None:
    kinds = "CSV, Parquet or JSON files of published tables, which count the same people"
    parser.add_argument("files", metavar="FILE", nargs="+", help=kinds)
    parser.add_argument("--k", help="the least number of people of a cell (default 5)")
    words = f"the columns of categories, {ADDS} (default all but counts)"
    parser.add_argument("--columns", action="append", default=[], metavar="A,B,C", help=words)
    parser.add_argument("--count", metavar="COLUMN", help="the column of counts (default records)")
    parser.add_argument("--total", metavar="TEXT", help="the category of totals (default an empty one)")
    words = "nested, if each table counts some of the people of the one before"
    parser.add_argument("--people", metavar="WORD", help=words)
    parser.add_argument("--lowest", metavar="N", help="the least that a hidden count can be (default 1)")
    parser.add_argument("--highest", metavar="N", help="the most that a hidden count can be (default any)")
    _plot(parser, "the interval of each hidden cell")
    _format(parser)


def _query(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE.sql", help="a file of SQL, the SQL itself in quotes, or - for standard input"
    )
    words = "the DuckDB database to run it on"
    parser.add_argument("--database", metavar="FILE.duckdb", default=":memory:", help=words)
    _format(parser)


def _functions(parser: argparse.ArgumentParser) -> None:
    words = (
        "one function, with its parameters, result columns, engines and an example; or a part of a name, "
        "or words, such as unique population: the functions that have them all"
    )
    parser.add_argument("name", metavar="NAME", nargs="*", help=words)
    users = "analyst, pipeline or officer"
    parser.add_argument(
        "--for", dest="question", metavar="QUESTION", help=f'a question, such as "who stands out", or {users}'
    )
    _format(parser)


def _completion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", metavar="SHELL", choices=("bash", "zsh", "fish"), help=SHELLS)


# In the order of the help.
COMMANDS: Final[Mapping[str, Command]] = {
    "profile": Command(
        "profile the columns of a file: which identify people, codes for missing values, warnings",
        _profile,
        "measure:run_profile",
    ),
    "init": Command("write a starter policy and scenario for a file, with comments", _init, "init:run_init"),
    "risk": Command(
        "measure a file: summary, class sizes, the most exposed records, a verdict", _risk, "measure:run_risk"
    ),
    "forecast": Command(
        "forecast the risk of a sample to larger populations", _forecast, "measure:run_forecast"
    ),
    "validate": Command(
        "measure every method's error on samples of a file, whose truth is counted",
        _validate,
        "measure:run_validate",
    ),
    "adversary": Command(
        "measure a file against an attacker who knows part of it", _adversary, "attack:run_adversary"
    ),
    "qar": Command(
        "extreme risk (QaR): the table's, and the effect of removing records", _qar, "qar:run_qar"
    ),
    "check": Command(
        "check tables against a policy: exit 0 pass, 1 fail, 2 could not judge", _check, "gate:run_check"
    ),
    "advise": Command(
        "measure which columns to omit or generalize to meet a policy", _advise, "gate:run_advise"
    ),
    "prepare": Command(
        "find the transformation of a table that meets a policy at the least loss, as SQL",
        _prepare,
        "prepare:run_prepare",
    ),
    "compare": Command(
        "compare a release with its original: risk, changes, and an attack, measured",
        _compare,
        "attack:run_compare",
    ),
    "audit": Command(
        "attack a synthetic table, and compare with people who were not used to make it",
        _audit,
        "attack:run_audit",
    ),
    "releases": Command(
        "compare two releases of one table: who can be followed, entered or left",
        _releases,
        "attack:run_releases",
    ),
    "safe": Command(
        "count a table of aggregates, with its unsafe cells, and hide them if asked", _safe, "cells:run_safe"
    ),
    "audit-tables": Command(
        "compute what published tables give away of their hidden cells, and of groups between them",
        _audit_tables,
        "cells:run_audit_tables",
    ),
    "query": Command("run SQL, or a file of it, with the functions registered", _query, "query:run_query"),
    "functions": Command(
        "list every function with its signature, summary and source",
        _functions,
        "functions:run_functions",
        progress=False,
        duckdb=False,
    ),
    "sql": Command(sql.WORDS, sql.options, "sql:run_command", progress=False),
    "completion": Command(
        "print the script with which bash, zsh or fish completes commands and options",
        _completion,
        "completion:run_completion",
        progress=False,
        duckdb=False,
    ),
}
