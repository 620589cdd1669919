"""The commands and their arguments, and a parser that refuses in one sentence.

Nothing here loads an engine or a model: whoever asks for help waits for neither. Where an option is a
parameter of a function, its default and its domain are those of the function's declaration.
"""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from reid_sql import __version__
from reid_sql.commands.arguments import (
    ADDS,
    FILE_OR_CONNECTION,
    add_audit,
    add_compare,
    add_completion,
    add_dossier,
    add_entity,
    add_format,
    add_html,
    add_nulls,
    add_plot,
    add_policies,
    add_policy,
    add_progress,
    add_safe,
    add_serve,
    add_source,
    add_sql,
    add_threshold,
    add_tolerance,
)
from reid_sql.commands.options import PASSED, Parser

DIALECTS: Final = (
    "the dialect of --sql: duckdb, postgres, snowflake, bigquery, databricks, spark or trino"
)


@dataclass(frozen=True)
class Command:
    """A command: its help line, its arguments, what runs it, as `module:function`, and an example."""

    help: str
    arguments: Callable[[Parser], None]
    run: str
    example: str
    progress: bool = True
    duckdb: bool = True  # whether DuckDB is loaded first


def parser() -> Parser:
    """Make the parser of `reid-sql` and of its commands."""
    whole = Parser(
        prog="reid-sql", description="Re-identification risk, counted where the data is."
    )
    whole.add_argument("--version", action="version", version=f"reid-sql {__version__}")
    subparsers = whole.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        subparser = subparsers.add_parser(
            name,
            help=command.help,
            description=f"{command.help[0].upper()}{command.help[1:]}.",
            epilog=f"example: reid-sql {name} {command.example}",
        )
        command.arguments(subparser)
        if command.progress:
            add_progress(subparser)
        subparser.set_defaults(command=command, parser=subparser, whole=whole)
    return whole


def add_profile(parser: Parser) -> None:
    """Add the file and the columns of it."""
    add_source(parser, None)
    add_html(parser)
    parser.option("--columns", f"only these columns, {ADDS}", "A,B,C", action="append", default=[])


def add_report(parser: Parser) -> None:
    """Add the file and its page."""
    add_source(parser, None)
    parser.option(
        "--population",
        "the number of people that the file is a sample of, such as 67e6: adds the risk there",
        "N",
    )
    parser.option("--html", "write the report as one HTML file for people", "FILE")


def add_explore(parser: Parser) -> None:
    """Add the file, and which counts the page masks."""
    add_source(parser, None)
    parser.option("--mask", "mask counts below N on the page (default 1: none)", "N", default="1")


def add_init(parser: Parser) -> None:
    """Add the file, the folder or the connection."""
    add_source(
        parser,
        None,
        file=f"{FILE_OR_CONNECTION}; or a folder, of whose tables each is in the policy",
    )
    parser.option(
        "--catalogue",
        "read roles of columns from tags in dbt's manifest or schema.yml, a data contract (ODCS 3), a data "
        "package (Frictionless) or an event of check --openlineage",
        "FILE",
    )


def add_risk(parser: Parser) -> None:
    """Add the file, and what is measured of it."""
    add_source(parser, file=FILE_OR_CONNECTION, required=False)
    add_html(parser)
    add_threshold(parser)
    add_nulls(parser)
    add_entity(parser)
    add_tolerance(parser)
    parser.option(
        "--population",
        "the number of people that the file is a sample of, such as 67e6 or 67,000,000: adds the risk there",
        "N[,N]",
        action="append",
    )
    parser.option("--k", "with --population: count people in classes smaller than this (default 5)")
    parser.option(
        "--points",
        "with --entity: the people who are singled out by this number of their rows, such as 1,2,3,4",
        "P[,P]",
        action="append",
    )
    add_plot(parser, "the forecast of --population, --points or --validate")
    parser.option("--stand-out", "show the N most exposed combinations of values", "N", default="0")
    words = (
        "measure instead how far each method of population_uniqueness errs on samples of the file, with these "
        "sampling fractions (default 0.1,0.01; more settings in SQL: reid-sql functions validate_risk)"
    )
    fractions = {"dest": "fractions", "action": "append", "nargs": "?", "const": ""}
    parser.option("--validate", words, "F[,F]", **fractions)
    parser.option("--methods", "with --validate: these methods (default all)", "A,B")
    parser.option(
        "--scenario",
        "measure instead the risk against an attacker who knows part of the columns, in place of --qi: a .toml "
        "or .json file, or a shipped name",
        "FILE",
    )
    parser.option(
        "--sensitivity",
        "with --scenario: show all 81 settings of the four parameters too",
        action="store_true",
    )
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--population-file",
        metavar="FILE",
        help="with --scenario: a file of the population, which shows who is unique in it",
    )
    group.add_argument(
        "--model",
        choices=("people", "copula"),
        help="with --scenario: estimate who is unique in the population by this model, not by Pitman's",
    )


def add_check(parser: Parser) -> None:
    """Add the policies, the reports and the engine."""
    add_policies(parser)
    parser.option("--json-report", "write the report as JSON", "FILE")
    parser.option("--junit", "write the verdicts as JUnit XML", "FILE")
    parser.option("--html", "write the report as one HTML file for people", "FILE")
    parser.option(
        "--openlineage",
        "write the verdicts as an event of OpenLineage, which data catalogues read",
        "FILE",
    )
    parser.option(
        "--tags",
        "write the role of each column as a tag, for a data catalogue or dbt (a properties file)",
        "FILE",
    )
    parser.option("--baseline", "an earlier JSON report: fail only if a figure got worse", "FILE")
    parser.option(
        "--prepare",
        "if the policy is not met, search for a release that meets it, and show it in the HTML report",
        action="store_true",
    )
    parser.option(
        "--time-limit",
        "the time limit of that search, in place of the policy's prepare.time_limit",
        "SECONDS",
    )
    parser.option(
        "--engine",
        "duckdb; spark, for a policy whose files are Spark's tables or paths; ibis, for one with a url",
        "NAME",
    )
    parser.option(
        "--plan",
        "print the statements that a warehouse would run, and their number, without running them",
        action="store_true",
    )
    parser.option(
        "--risky-records",
        "show the N rarest combinations with their values; by default no report contains a record",
        "N",
        default="0",
    )


def add_prepare(parser: Parser) -> None:
    """Add the policy, and what is written of its release."""
    add_policy(parser)
    parser.option(
        "--release",
        "write the rows of the release to safe.parquet or .csv, or a file for each table to a folder",
        "FILE",
    )
    parser.option("--sql", "write the release as SQL: a view or a table for each", "FILE")
    parser.add_argument("--dialect", default="duckdb", metavar="NAME", help=DIALECTS)
    parser.option(
        "--method", "global recoding, local recoding, or best: the one that loses less", "NAME"
    )
    parser.option("--target", "show how well the other columns still predict this column", "COLUMN")
    parser.option("--polars", "write the release as Python with Polars", "FILE")
    parser.option(
        "--write-hierarchies",
        "write the hierarchies as TOML, to edit and put in the policy, and do not search",
        "FILE",
    )
    parser.option("--json-report", "write the gate's report on the release as JSON", "FILE")
    parser.option("--html", "write that report and the ten best transformations as HTML", "FILE")
    add_plot(parser, "risk against loss of the transformations")


def add_query(parser: Parser) -> None:
    """Add the SQL and its database."""
    parser.option(
        "file", "a file of SQL, the SQL itself in quotes, or - for standard input", "FILE.sql"
    )
    parser.option(
        "--database", "the DuckDB database to run it on", "FILE.duckdb", default=":memory:"
    )
    add_plot(parser, "the answer of a function that has a chart")
    add_format(parser)


def add_functions(parser: Parser) -> None:
    """Add the words by which functions are found."""
    parser.option(
        "name",
        "one function, with its parameters, result columns, engines and an example; or a part of a name, "
        "or words, such as unique population: the functions that have them all",
        "NAME",
        nargs="*",
    )
    users = "analyst, pipeline or officer"
    parser.option(
        "--for", f'a question, such as "who stands out", or {users}', "QUESTION", dest="question"
    )
    parser.option("--skill", "print the skill that agents read, and no list", action="store_true")
    add_format(parser)


# In the order of the help.
COMMANDS: Final[Mapping[str, Command]] = {
    "report": Command(
        "report on a file: its columns, the risk by those that others can know, what to do next",
        add_report,
        "report:run_report",
        "people.csv --html report.html",
    ),
    "explore": Command(
        "open a page on this machine: choose what others know and how exact it is, and see the risk",
        add_explore,
        "explore:run_explore",
        "people.csv",
    ),
    "profile": Command(
        "list the columns of a file: which single people out, and codes for missing values",
        add_profile,
        "measure:run_profile",
        "people.csv",
    ),
    "init": Command(
        "write a starter policy for all tables of a file, a folder, a pattern or a connection, and a scenario",
        add_init,
        "init:run_init",
        "people.csv",
    ),
    "risk": Command(
        "measure a file: the risk in it, in a population and against an attacker, with a verdict",
        add_risk,
        "measure:run_risk",
        "people.csv --qi age,sex,zip --population 67e6",
    ),
    "check": Command(
        "check tables against a policy: exit 0 pass, 1 fail, 2 could not judge",
        add_check,
        "gate:run_check",
        "policy.toml --html report.html",
    ),
    "dossier": Command(
        "write one run of check as a document that a person can sign, or verify it",
        add_dossier,
        "dossier:run_dossier",
        "policy.toml --out dossier",
    ),
    "prepare": Command(
        "find the transformation of a table that meets a policy at the least loss, and write the release",
        add_prepare,
        "prepare:run_prepare",
        "policy.toml --release safe.parquet",
    ),
    "compare": Command(
        "compare a table with its release, with a later release, or with a table that is joined to it",
        add_compare,
        "compare:run_compare",
        "people.csv released.csv --qi age,sex,zip --key id",
    ),
    "audit": Command(
        "attack what was made of people: a synthetic table (--qi), or published tables of counts",
        add_audit,
        "attack:run_audit",
        "original.csv synthetic.csv --holdout holdout.csv --qi age,sex,zip",
    ),
    "safe": Command(
        "count people by categories, list unsafe cells, and hide them if asked",
        add_safe,
        "attack:run_safe",
        "people.csv --by region,sex,diagnosis --totals margins --suppress secondary",
    ),
    "query": Command(
        "run SQL, or a file of it, with the functions registered",
        add_query,
        "query:run_query",
        "\"FROM risk_summary('people.csv', ['age', 'sex'])\"",
    ),
    "serve": Command(
        "answer DuckDB clients and agents: answers leave, rows do not",
        add_serve,
        "serve:run_serve",
        "people.csv --log questions.jsonl",
        progress=False,
    ),
    "functions": Command(
        "list every function with its signature, summary and source",
        add_functions,
        "functions:run_functions",
        '--for "who stands out"',
        progress=False,
        duckdb=False,
    ),
    "sql": Command(
        "print SQL that needs no Python: functions for DuckDB, or the query of one call",
        add_sql,
        "query:run_sql",
        "\"risk_summary(people, ['age', 'sex'])\" --dialect snowflake",
        progress=False,
    ),
    "completion": Command(
        "print the script with which bash, zsh or fish completes commands and options",
        add_completion,
        "parser:run_completion",
        "bash > reid-sql.bash",
        progress=False,
        duckdb=False,
    ),
}

FILES: Final = ("FILE", "POLICY", "OTHER")  # metavars of files
FUNCTION_NAME: Final = ("functions", "name")  # the command and argument whose values are functions


def run_completion(options: argparse.Namespace) -> int:
    """Print the script by which the shell completes commands and options."""
    import shtab  # noqa: PLC0415 - only this command needs it

    from reid_sql_udfs import declared  # noqa: PLC0415 - the same

    for name, command in _commands(options.whole):
        for action in command._actions:  # noqa: SLF001 - argparse has no public list
            if (name, action.dest) == FUNCTION_NAME:
                action.choices = list(declared())
            elif any(word in str(action.metavar) for word in FILES):
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    print(shtab.complete(options.whole, options.shell))  # noqa: T201
    return PASSED


def _commands(parser: argparse.ArgumentParser) -> list[tuple[str, argparse.ArgumentParser]]:
    """List the commands of the parser by name."""
    subcommands = argparse._SubParsersAction  # noqa: SLF001 - no public name
    (commands,) = (each for each in parser._actions if isinstance(each, subcommands))  # noqa: SLF001
    return list(commands.choices.items())
