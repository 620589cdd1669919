"""The script by which a shell completes commands and options: shtab writes it from the parser."""

import argparse
from typing import Final

import shtab

from reid_sql.commands.options import PASSED
from reid_sql_udfs import declared

FILES: Final = ("FILE", "POLICY", "RELEASED")  # metavars of files
FUNCTION_NAME: Final = ("functions", "name")  # the command and argument whose values are functions


def run_completion(options: argparse.Namespace) -> int:
    """Print the script of the shell."""
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
    (made,) = (each for each in parser._actions if isinstance(each, subcommands))  # noqa: SLF001
    return list(made.choices.items())
