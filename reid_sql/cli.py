"""The command `reid-sql`."""

import argparse
import csv
import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

import duckdb

from reid_sql import __version__, register, screen
from reid_sql.check import command as check
from reid_sql.domains import NULLS, QUASI_IDENTIFIERS, THRESHOLD, sql_text
from reid_sql.engines import duckdb as engine
from reid_sql.errors import OutOfDomainError, ReidError, UnknownNameError
from reid_sql.function import Function
from reid_sql.models.pitman_yor import CLASS_SIZE
from reid_sql.models.scenario import scenario
from reid_sql.plot import check_plot_file, draw_forecast
from reid_sql.runner import Answer, run, sentence
from reid_sql.source import open_source
from reid_sql.suggestion import suggestion
from reid_sql_udfs import declared

PASSED: Final = 0
REFUSED: Final = 2
STOPPED: Final = 130
POINTS: Final = 40  # of the curve that is drawn


class Parser(argparse.ArgumentParser):
    """A parser that refuses in one sentence."""

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print with its usage."""
        unknown = re.search(r"(?:unrecognized arguments: |invalid choice: ')(-{0,2}[\w-]+)", message)
        known = [option for action in self._actions for option in (action.option_strings or list(action.choices or []))]
        hint = suggestion(unknown[1], known, "words") if unknown else f"see {self.prog} --help"
        raise OutOfDomainError(f"{self.prog} cannot take these arguments: {message}; {hint}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command: 0 done, 1 a check failed, 2 refused with one sentence or not judged, 130 stopped by Ctrl-C."""
    try:
        options = _parser().parse_args(arguments)
        outcome: int = options.run(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        screen.console(error=True).print("reid-sql: stopped")
        sys.stdout.flush()
        os._exit(STOPPED)  # a query that does not end at once must not hold the terminal
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PASSED
    except (ReidError, duckdb.Error, OSError, UnicodeDecodeError) as error:
        print(f"reid-sql: {sentence(error)}", file=sys.stderr)  # noqa: T201 - one line, never wrapped
        return REFUSED
    return outcome


def _parser() -> Parser:
    parser = Parser(prog="reid-sql", description="Re-identification risk, counted where the data is.")
    parser.add_argument("--version", action="version", version=f"reid-sql {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _risk_options(commands.add_parser("risk", help="measure a file: summary, class sizes, who stands out, a verdict"))
    _forecast_options(commands.add_parser("forecast", help="forecast the risk of a sample to larger populations"))
    _adversary_options(commands.add_parser("adversary", help="measure a file against an attacker who knows part of it"))
    check.add(commands)
    query = commands.add_parser("query", help="run a file of SQL with the functions there")
    query.add_argument("file", metavar="FILE.sql", help="the SQL, or - for standard input")
    query.add_argument("--database", metavar="FILE.duckdb", default=":memory:", help="the DuckDB database to run it on")
    query.add_argument("--json", action="store_true", help="print each answer as one line of JSON")
    query.set_defaults(run=_query)
    functions = commands.add_parser("functions", help="list every function with its signature, words and source")
    functions.add_argument("--json", action="store_true", help="print JSON")
    functions.set_defaults(run=_functions)
    sql = commands.add_parser("sql", help="write the functions that need no Python as SQL for any DuckDB client")
    sql.add_argument("--permanent", action="store_true", help="keep the functions in the database, not in the session alone")
    sql.set_defaults(run=_sql)
    return parser


def _source_options(parser: argparse.ArgumentParser, *, qi: bool = True) -> None:
    words = "the quasi-identifiers, by comma (quote a name that has one)"
    parser.add_argument("file", metavar="FILE", help="CSV, Parquet, JSON or DuckDB file")
    if qi:
        parser.add_argument("--qi", required=True, metavar="A,B,C", help=words)
    parser.add_argument("--table", help="the table of a DuckDB file")
    parser.add_argument("--memory-limit", metavar="SIZE", help="the most memory to use, such as 2GB; more goes to disk")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _risk_options(parser: argparse.ArgumentParser) -> None:
    _source_options(parser)
    parser.add_argument("--threshold", default="0.2", help="the risk above which a record counts as at risk (default 0.2)")
    parser.add_argument("--nulls", default="value", help="NULL as a value (default), as a wildcard, or drop such records")
    parser.add_argument("--stand-out", metavar="N", default="0", help="show the N most exposed combinations of values")
    parser.set_defaults(run=_risk)


def _forecast_options(parser: argparse.ArgumentParser) -> None:
    _source_options(parser)
    parser.add_argument("--population", required=True, metavar="N[,N]", help="the sizes to forecast to, such as 67e6")
    parser.add_argument("--k", default="5", help="count people in classes smaller than this (default 5)")
    parser.add_argument("--nulls", default="value", help="NULL as a value (default), or drop such records")
    parser.add_argument("--plot", metavar="FILE", help="draw the curve with its band to a PNG or SVG file")
    parser.set_defaults(run=_forecast)


def _adversary_options(parser: argparse.ArgumentParser) -> None:
    _source_options(parser, qi=False)
    parser.add_argument(
        "--scenario", required=True, metavar="FILE", help="what the attacker may know: a .toml or .json file, or a shipped name"
    )
    parser.add_argument("--threshold", default="0.2", help="the risk above which a record counts as at risk (default 0.2)")
    parser.add_argument("--nulls", default="value", help="NULL as a value (default), as a wildcard, or drop such records")
    parser.add_argument("--sensitivity", action="store_true", help="show all 81 settings of the four parameters too")
    parser.set_defaults(run=_adversary)


def _opened(options: argparse.Namespace) -> tuple[duckdb.DuckDBPyConnection, list[Any]]:
    """Open the file: a connection, and the arguments by which the functions take the table and its columns."""
    columns = [name for name in next(csv.reader([options.qi], skipinitialspace=True), []) if name]
    QUASI_IDENTIFIERS.check(columns, columns)
    con, table = _opened_table(options)
    return con, [table, columns]


def _opened_table(options: argparse.Namespace) -> tuple[duckdb.DuckDBPyConnection, str]:
    con, table = open_source(options.file, options.table)
    if options.memory_limit:
        _limit_memory(con, options.memory_limit)
    return con, table


def _risk(options: argparse.Namespace) -> int:
    threshold = float(THRESHOLD.check("threshold", _number("threshold", options.threshold)))
    count = int(_number("--stand-out", options.stand_out))
    nulls = f"nulls := '{NULLS.check('nulls', options.nulls)}'"
    con, given = _opened(options)
    risk = run(con, f"FROM risk_summary(?, ?, threshold := {threshold!r}, {nulls})", given, "summary").records()[0]
    sizes = run(con, f"FROM class_size_histogram(?, ?, {nulls})", given, "class sizes").records()
    shown = _stand_out(con, given, nulls, count) if count else None
    if options.json:
        page = {"summary": risk, "histogram": sizes} | ({"stand_out": shown.records()} if shown else {})
        print(json.dumps(page, ensure_ascii=False, default=str))  # noqa: T201
    else:
        screen.console().print(screen.risk_page(risk, sizes, shown, given[1]))
    return PASSED


def _forecast(options: argparse.Namespace) -> int:
    populations = [_number("--population", text) for text in options.population.split(",")]
    k = int(CLASS_SIZE.check("k", _number("k", options.k)))
    nulls = f"nulls := '{NULLS.check('nulls', options.nulls)}'"
    if options.plot:
        check_plot_file(options.plot)
    con, given = _opened(options)
    forecast = f"FROM pyc_forecast(?, ?, ?, k := {k}, {nulls})"
    found = run(con, forecast, [*given, populations], "forecast").records()
    if options.plot:
        measured = run(con, f"FROM correctness_curve(?, ?, {nulls})", given, "curve").records()
        first, last = measured[-1]["n"], max(populations)
        path = [first * (last / first) ** (step / POINTS) for step in range(POINTS)] + [last]
        drawn = run(con, forecast, [*given, path], "forecast").records()
        draw_forecast(options.plot, measured, drawn, f"Right matches by {', '.join(given[1])}")
    if options.json:
        print(json.dumps(found, ensure_ascii=False))  # noqa: T201
    else:
        screen.console().print(screen.forecast_page(found, k))
    return PASSED


def _adversary(options: argparse.Namespace) -> int:
    threshold = float(THRESHOLD.check("threshold", _number("threshold", options.threshold)))
    nulls = f"nulls := '{NULLS.check('nulls', options.nulls)}'"
    known = scenario(options.scenario)
    con, table = _opened_table(options)
    given = [table, known.text()]
    found = run(con, f"FROM adversary_summary(?, ?, threshold := {threshold!r}, {nulls})", given, "summary").records()
    settings = run(con, f"FROM adversary_sensitivity(?, ?, {nulls})", given, "sensitivity") if options.sensitivity else None
    if options.json:
        page = {"scenario": json.loads(known.text()), "summary": found}
        print(json.dumps(page | ({"sensitivity": settings.records()} if settings else {}), ensure_ascii=False))  # noqa: T201
    else:
        screen.console().print(screen.adversary_page(known.name or options.scenario, known.assumptions, found, settings))
    return PASSED


def _stand_out(con: duckdb.DuckDBPyConnection, given: list[Any], nulls: str, count: int) -> Answer:
    listed = f"""SELECT class_size, * EXCLUDE (class_size, records, records_dropped, nulls)
                 FROM equivalence_classes(?, ?, {nulls}) ORDER BY ALL LIMIT {count}"""
    return run(con, listed, given, "who stands out")


def _limit_memory(con: duckdb.DuckDBPyConnection, size: str) -> None:
    try:
        con.execute(f"SET memory_limit = {sql_text(size)}")
    except duckdb.Error:
        raise OutOfDomainError(f"--memory-limit must be a size, got '{size}'; write it like 2GB") from None


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise OutOfDomainError(f"{name} must be a number, got '{text}'; write it with digits, such as 5 or 0.2") from None


def _query(options: argparse.Namespace) -> int:
    if options.file != "-" and not Path(options.file).is_file():
        raise UnknownNameError(f"FILE.sql must be an existing file, got '{options.file}'; pass its path, or - for standard input")
    text = sys.stdin.read() if options.file == "-" else Path(options.file).read_text(encoding="utf-8")
    con = duckdb.connect(options.database)
    register(con)
    for statement in con.extract_statements(text):
        answer = run(con, statement, None, "query")
        if statement.type not in SHOWN or not answer.columns:
            continue
        if options.json:
            print(json.dumps(answer.records(), ensure_ascii=False, default=str))  # noqa: T201
        else:
            screen.console().print(screen.answer_table(answer))
        sys.stdout.flush()  # what is answered is shown before the next statement runs
    return PASSED


SHOWN: Final = (
    duckdb.StatementType.SELECT,
    duckdb.StatementType.EXPLAIN,
    duckdb.StatementType.CALL,
    duckdb.StatementType.PRAGMA,
    duckdb.StatementType.EXECUTE,
    duckdb.StatementType.RELATION,
)


def _functions(options: argparse.Namespace) -> int:
    functions = declared()
    if options.json:
        print(json.dumps([_described(found) for found in functions.values()], ensure_ascii=False))  # noqa: T201
        return PASSED
    for found in functions.values():
        screen.console().print(screen.function_lines(found.signature, found.words, found.source))
    return PASSED


def _described(found: Function) -> dict[str, Any]:
    return {
        "name": found.name,
        "kind": found.kind,
        "signature": found.signature,
        "words": found.words,
        "source": found.source,
        "needs_python": engine.needs_python(found),
    }


def _sql(options: argparse.Namespace) -> int:
    functions = declared()
    left_out = [name for name, found in functions.items() if engine.needs_python(found)]
    print(f"-- reid-sql {__version__}: the functions that need no Python")  # noqa: T201
    if left_out:
        print(f"-- left out, as they need it: {', '.join(left_out)}")  # noqa: T201
    print(engine.script(functions, permanent=options.permanent), end="")  # noqa: T201
    return PASSED


if __name__ == "__main__":
    sys.exit(main())
