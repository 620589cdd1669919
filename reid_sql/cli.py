"""The command `reid-sql`."""

import argparse
import io
import os
import re
import signal
import sys
import threading
from collections.abc import Sequence
from types import FrameType
from typing import Final, NoReturn

import duckdb

from reid_sql import __version__, screen
from reid_sql.commands import adversary, advise, check, forecast, functions, qar, query, risk, sql
from reid_sql.commands.given import PASSED
from reid_sql.errors import OutOfDomainError, ReidError
from reid_sql.runner import sentence
from reid_sql.suggestion import suggestion

COMMANDS: Final = (
    risk,
    forecast,
    adversary,
    qar,
    check,
    advise,
    query,
    functions,
    sql,
)  # each a file of its name
REFUSED: Final = 2
STOPPED: Final = 130
TERMINATED: Final = 143
INTERRUPTED: Final = "Query interrupted"  # what DuckDB makes of Ctrl-C in a query of the main thread


class Parser(argparse.ArgumentParser):
    """A parser that refuses in one sentence."""

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print with its usage."""
        unknown = re.search(r"(?:unrecognized arguments: |invalid choice: ')(-{0,2}[\w-]+)", message)
        known = [
            option
            for action in self._actions
            for option in (action.option_strings or list(action.choices or []))
        ]
        hint = suggestion(unknown[1], known, "words") if unknown else f"see {self.prog} --help"
        raise OutOfDomainError(f"{self.prog} cannot take these arguments: {message}; {hint}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command: 0 done, 1 a check failed, 2 refused with one sentence or not judged, 130 stopped by Ctrl-C, 143 by SIGTERM."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal need not know every letter
    stop = Stop()
    try:
        options = _parser().parse_args(arguments)
        outcome: int = options.run(options)
        sys.stdout.flush()
    except (KeyboardInterrupt, RuntimeError) as error:
        if isinstance(error, RuntimeError) and str(error) != INTERRUPTED:
            raise
        screen.console(error=True).print("reid-sql: stopped")
        sys.stdout.flush()
        os._exit(stop.code)  # a query that does not end at once must not hold the terminal
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PASSED
    except (ReidError, duckdb.Error, OSError, UnicodeError, ImportError, MemoryError) as error:
        print(f"reid-sql: {sentence(error)}", file=sys.stderr)  # noqa: T201 - one line, never wrapped
        return REFUSED
    return outcome


class Stop:
    """The end by SIGTERM as by Ctrl-C: what was begun is taken away."""

    def __init__(self) -> None:
        """Take SIGTERM for Ctrl-C, in the main thread alone, which alone may."""
        self.code = STOPPED
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, self)

    def __call__(self, _: int, __: FrameType | None) -> None:
        """Stop what runs."""
        self.code = TERMINATED
        raise KeyboardInterrupt


def _parser() -> Parser:
    parser = Parser(prog="reid-sql", description="Re-identification risk, counted where the data is.")
    parser.add_argument("--version", action="version", version=f"reid-sql {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for module in COMMANDS:
        command = commands.add_parser(module.__name__.rpartition(".")[2], help=module.WORDS)
        module.options(command)
        command.set_defaults(run=module.run_command)
    return parser


if __name__ == "__main__":
    sys.exit(main())
