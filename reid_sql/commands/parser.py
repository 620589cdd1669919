"""The commands and their arguments, and a parser that refuses in one sentence.

Nothing here loads an engine or a model: whoever asks for help waits for neither. Where an option is a
parameter of a function, its default and its domain are those of the function's declaration.
"""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from reid_sql import __version__
from reid_sql.commands import serve_options, sql
from reid_sql.commands.arguments import (
    ADDS,
    FILE_OR_CONNECTION,
    add_entity,
    add_format,
    add_html,
    add_nulls,
    add_plot,
    add_policy,
    add_progress,
    add_source,
    add_text_format,
    add_threshold,
)
from reid_sql.commands.examples import EXAMPLES
from reid_sql.commands.options import Parser

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
        made = subparsers.add_parser(
            name,
            help=command.help,
            description=f"{command.help[0].upper()}{command.help[1:]}.",
            epilog=f"example: reid-sql {name} {EXAMPLES[name]}",
        )
        command.arguments(made)
        if command.progress:
            add_progress(made)
        made.set_defaults(command=command, parser=made, whole=whole)
    return whole


def _profile(parser: argparse.ArgumentParser) -> None:
    add_source(parser, None)
    add_html(parser)
    words = f"only these columns, {ADDS}"
    parser.add_argument("--columns", action="append", default=[], metavar="A,B,C", help=words)


def _report(parser: argparse.ArgumentParser) -> None:
    add_source(parser, None)
    words = "the number of people that the file is a sample of, such as 67e6: adds the risk there"
    parser.add_argument("--population", metavar="N", help=words)
    parser.add_argument("--html", metavar="FILE", help="write the report as one HTML file for people")


def _init(parser: argparse.ArgumentParser) -> None:
    add_source(parser, None)


def _risk(parser: argparse.ArgumentParser) -> None:
    add_source(parser, file=FILE_OR_CONNECTION, required=False)
    add_html(parser)
    add_threshold(parser)
    add_nulls(parser)
    add_entity(parser)
    words = (
        "the number of people that the file is a sample of, such as 67e6 or 67,000,000: adds the risk there"
    )
    parser.add_argument("--population", metavar="N[,N]", action="append", help=words)
    words = "with --population: count people in classes smaller than this (default 5)"
    parser.add_argument("--k", help=words)
    words = "with --entity: the people who are singled out by this number of their rows, such as 1,2,3,4"
    parser.add_argument("--points", metavar="P[,P]", action="append", help=words)
    add_plot(parser, "the answer to --points")
    words = "show the N most exposed combinations of values"
    parser.add_argument("--stand-out", metavar="N", default="0", help=words)


def _forecast(parser: argparse.ArgumentParser) -> None:
    add_source(parser, file=FILE_OR_CONNECTION)
    words = "the sizes to forecast to, such as 67e6 or 67,000,000; repeat the option to add more"
    parser.add_argument("--population", required=True, action="append", metavar="N[,N]", help=words)
    parser.add_argument("--k", help="count people in classes smaller than this (default 5)")
    add_nulls(parser, "")
    add_entity(parser)
    add_plot(parser, "the curve and the model's fit, with their bands,")


def _validate(parser: argparse.ArgumentParser) -> None:
    add_source(parser)
    words = "the sampling fractions (default 0.1,0.01); repeat the option to add more"
    parser.add_argument("--fraction", dest="fractions", action="append", metavar="F[,F]", help=words)
    parser.add_argument("--samples", help="the number of samples of each fraction (default 5)")
    parser.add_argument("--methods", metavar="A,B", help="methods of population_uniqueness (default all)")
    parser.add_argument("--seed", help="the seed of the samples (default 0)")
    add_nulls(parser, "")
    add_entity(parser)
    add_plot(parser, "the estimates and the truth")


def _adversary(parser: argparse.ArgumentParser) -> None:
    add_source(parser, None)
    add_html(parser)
    words = "what the attacker may know: a .toml or .json file, or a shipped name"
    parser.add_argument("--scenario", required=True, metavar="FILE", help=words)
    add_threshold(parser)
    add_nulls(parser)
    add_entity(parser)
    words = "show all 81 settings of the four parameters too"
    parser.add_argument("--sensitivity", action="store_true", help=words)
    group = parser.add_mutually_exclusive_group()
    words = "CSV, Parquet or JSON file of the population, which shows who is unique in it"
    group.add_argument("--population-file", metavar="FILE", help=words)
    words = "estimate who is unique in the population by this model of the file, not by Pitman's"
    group.add_argument("--model", choices=("people", "copula"), help=words)


def _qar(parser: argparse.ArgumentParser) -> None:
    add_source(parser, "--columns", "the columns that an attacker may combine")
    parser.add_argument("--p", help="the number of columns in a quasi-identifier (default 3)")
    words = "the share of quasi-identifiers that may be riskier (default 0.01)"
    parser.add_argument("--alpha", help=words)
    words = "the share of quasi-identifiers that the distribution is fitted to (default 0.05)"
    parser.add_argument("--tail", help=words)
    words = "measure N quasi-identifiers drawn at random, not all"
    parser.add_argument("--sample", metavar="N", help=words)
    parser.add_argument("--memory-mb", metavar="MB", help="the most memory to count with (default 1024)")
    add_nulls(parser, "")
    add_entity(parser)
    words = "show the effect of removing N records (with --plot: default a fifth of them)"
    parser.add_argument("--remove", metavar="N", help=words)
    words = "how to choose the records to remove, as in qar_elimination (default all)"
    parser.add_argument("--by", metavar="A,B", help=words)
    add_plot(parser, "the risk of all choices, each record's contribution and the effect of removals")
    words = "do not draw each record's contribution, which takes long for many records"
    parser.add_argument("--without-contributions", action="store_true", help=words)


def _check(parser: argparse.ArgumentParser) -> None:
    add_policy(parser)
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
    words = "print the statements that a warehouse would run, and their number, without running them"
    parser.add_argument("--plan", action="store_true", help=words)
    words = "show the N rarest combinations with their values; by default no report contains a record"
    parser.add_argument("--risky-records", metavar="N", default="0", help=words)


def _prepare(parser: argparse.ArgumentParser) -> None:
    add_policy(parser)
    parser.add_argument("--sql", metavar="FILE", help="write the release as SQL: a view for each table")
    parser.add_argument("--dialect", default="duckdb", metavar="NAME", help=DIALECTS)
    words = "global recoding, local recoding, or best: the one that loses less"
    parser.add_argument("--method", metavar="NAME", help=words)
    words = "show how well the other columns still predict this column"
    parser.add_argument("--target", metavar="COLUMN", help=words)
    parser.add_argument("--polars", metavar="FILE", help="write the release as Python with Polars")
    words = "write the hierarchies as TOML, to edit and put in the policy, and do not search"
    parser.add_argument("--write-hierarchies", metavar="FILE", help=words)
    words = "write the gate's report on the release as JSON"
    parser.add_argument("--json-report", metavar="FILE", help=words)
    parser.add_argument(
        "--html", metavar="FILE", help="write that report and the ten best transformations as HTML"
    )
    add_plot(parser, "risk against loss of the transformations")


def _compare(parser: argparse.ArgumentParser) -> None:
    add_source(parser)
    add_html(parser)
    parser.add_argument("released", metavar="RELEASED", help="the release: CSV, Parquet, JSON or DuckDB file")
    parser.add_argument("--released-table", metavar="TABLE", help="the table of a DuckDB file of the release")
    words = "the column, in both tables, that links each released record to its original"
    parser.add_argument("--key", metavar="COLUMN", help=words)
    add_threshold(parser)
    words = "the number of records to link if linking all would take too long (default 10000)"
    parser.add_argument("--targets", help=words)
    parser.add_argument("--seed", help="the seed of random draws (default 0)")
    add_plot(parser, "risk and loss")


def _audit(parser: argparse.ArgumentParser) -> None:
    add_source(parser, file="the original: CSV, Parquet, JSON or DuckDB file")
    add_html(parser)
    kinds = "CSV, Parquet, JSON or DuckDB file"
    parser.add_argument("synthetic", metavar="SYNTHETIC", help=f"the synthetic table: {kinds}")
    parser.add_argument("--synthetic-table", metavar="TABLE", help="the table of that DuckDB file")
    words = f"people of the same kind who were not used to make it; no attack is judged without them: {kinds}"
    parser.add_argument("--holdout", metavar="FILE", help=words)
    parser.add_argument("--holdout-table", metavar="TABLE", help="the table of a DuckDB file of the holdout")
    words = f"the sensitive columns, {ADDS}"
    parser.add_argument("--sensitive", action="append", default=[], metavar="A,B,C", help=words)
    add_entity(parser)
    words = "the number of records of each table in attacks on membership (default 10000)"
    parser.add_argument("--targets", help=words)
    parser.add_argument("--seed", help="the seed of random draws (default 0)")
    add_plot(parser, "the excess of each attack with its interval")


def _releases(parser: argparse.ArgumentParser) -> None:
    add_source(parser, file="the former release: CSV, Parquet, JSON or DuckDB file")
    add_html(parser)
    words = "the release after it: CSV, Parquet, JSON or DuckDB file"
    parser.add_argument("second", metavar="SECOND", help=words)
    parser.add_argument("--second-table", metavar="TABLE", help="the table of that DuckDB file")
    words = "the column, in both releases, that identifies people; it shows which links are right"
    parser.add_argument("--key", metavar="COLUMN", help=words)
    add_entity(parser)
    words = "the column whose values nobody should learn"
    parser.add_argument("--sensitive", metavar="COLUMN", help=words)
    add_nulls(parser, "")


def _safe(parser: argparse.ArgumentParser) -> None:
    add_source(parser, "--by", "the columns of the table of aggregates")
    add_html(parser)
    parser.add_argument("--value", metavar="COLUMN", help="the column to add up, and to check for dominance")
    add_entity(parser)
    parser.add_argument("--k", help="the least number of people of a cell (default 5)")
    words = "add totals: margins, or rollup for a hierarchy (default none)"
    parser.add_argument("--totals", metavar="WORD", help=words)
    words = "hide unsafe cells: primary, or secondary, which hides others too, so that none can be computed"
    parser.add_argument("--suppress", metavar="WORD", help=words)
    words = "with --suppress secondary: the width of the interval of a hidden cell (default k)"
    parser.add_argument("--protection", metavar="N", help=words)
    words = "list adds the cells of nobody, which disclose that nobody is in them (default omit)"
    parser.add_argument("--zeros", metavar="WORD", help=words)
    words = "take k and the rules of dominance from a risk appetite of ACRO; --k goes before it"
    parser.add_argument("--risk-appetite", metavar="FILE.yaml", help=words)
    words = "write the counts and what is unsafe as results of ACRO, for an output checker"
    parser.add_argument("--acro", metavar="FOLDER", help=words)
    add_nulls(parser, "")


def _audit_tables(parser: argparse.ArgumentParser) -> None:
    kinds = "CSV, Parquet or JSON files of published tables, which count the same people"
    parser.add_argument("files", metavar="FILE", nargs="+", help=kinds)
    parser.add_argument("--k", help="the least number of people of a cell (default 5)")
    words = f"the columns of categories, {ADDS} (default all but counts)"
    parser.add_argument("--columns", action="append", default=[], metavar="A,B,C", help=words)
    parser.add_argument("--count", metavar="COLUMN", help="the column of counts (default records)")
    parser.add_argument("--total", metavar="TEXT", help="the category of totals (default an empty one)")
    words = "nested, if each table counts only some people of the one before (default: all count the same)"
    parser.add_argument("--people", metavar="WORD", help=words)
    parser.add_argument("--lowest", metavar="N", help="the least that a hidden count can be (default 1)")
    parser.add_argument("--highest", metavar="N", help="the most that a hidden count can be (default any)")
    words = "the multiple that published counts are rounded to, such as 5 (default 1: exact)"
    parser.add_argument("--base", metavar="N", help=words)
    add_text_format(parser)
    add_plot(parser, "the interval of each hidden cell")
    add_format(parser)


def _query(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE.sql", help="a file of SQL, the SQL itself in quotes, or - for standard input"
    )
    words = "the DuckDB database to run it on"
    parser.add_argument("--database", metavar="FILE.duckdb", default=":memory:", help=words)
    add_format(parser)


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
    add_format(parser)


def _completion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", metavar="SHELL", choices=("bash", "zsh", "fish"), help=SHELLS)


# In the order of the help.
COMMANDS: Final[Mapping[str, Command]] = {
    "report": Command(
        "report on a file: its columns, the risk by those that others can know, what to do next",
        _report,
        "report:run_report",
    ),
    "profile": Command(
        "list the columns of a file: which single people out, and codes for missing values",
        _profile,
        "measure:run_profile",
    ),
    "init": Command(
        "write a starter policy and scenario for a file, with comments", _init, "report:run_init"
    ),
    "risk": Command(
        "measure a file: summary, class sizes, the most exposed records, a verdict", _risk, "measure:run_risk"
    ),
    "forecast": Command(
        "forecast the risk of a sample to larger populations", _forecast, "measure:run_forecast"
    ),
    "validate": Command(
        "measure each method's error on samples of a file, for which the true value is known",
        _validate,
        "measure:run_validate",
    ),
    "adversary": Command(
        "measure a file against an attacker who knows part of it", _adversary, "attack:run_adversary"
    ),
    "qar": Command("measure extreme risk (QaR), and the effect of removing records", _qar, "qar:run_qar"),
    "check": Command(
        "check tables against a policy: exit 0 pass, 1 fail, 2 could not judge", _check, "gate:run_check"
    ),
    "prepare": Command(
        "find the transformation of a table that meets a policy at the least loss, as SQL",
        _prepare,
        "prepare:run_prepare",
    ),
    "compare": Command(
        "compare a release with its original: risk, changes, losses, and an attack",
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
        "count people by categories, list unsafe cells, and hide them if asked", _safe, "attack:run_safe"
    ),
    "audit-tables": Command(
        "compute what published tables of counts reveal together, such as hidden cells",
        _audit_tables,
        "attack:run_audit_tables",
    ),
    "query": Command("run SQL, or a file of it, with the functions registered", _query, "query:run_query"),
    "serve": Command(serve_options.WORDS, serve_options.options, "serve:run_serve", progress=False),
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
