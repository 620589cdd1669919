"""What the command line takes: an option given twice is refused, and every refusal is one sentence."""

import argparse
import re
from collections.abc import Sequence
from typing import Any, Final, NoReturn

from reid_sql import __version__
from reid_sql.commands import (
    adversary,
    advise,
    check,
    compare,
    completion,
    forecast,
    functions,
    prepare,
    profile,
    qar,
    query,
    risk,
    sql,
    validate,
)
from reid_sql.commands.options import progress_options
from reid_sql.errors import OutOfDomainError

# In the order of the help; each is a file of its name.
COMMANDS: Final = (
    *(profile, risk, forecast, validate, adversary, qar, check, advise, prepare, compare),
    *(query, functions, sql, completion),
)
AT_ONCE: Final = (functions, sql, completion)  # nobody waits for these


class Once(argparse.Action):
    """An option with a value, which contradicts itself where it is given twice."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002 - argparse hands it
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Keep the value, or refuse a second one."""
        given = namespace.__dict__.setdefault("given_once", {})
        if self.option_strings and self.dest in given:
            name, first = option_string or self.dest, given[self.dest]
            raise OutOfDomainError(
                f"{name} must be given once, got '{first}' and '{values}'; leave one of them"
            )
        given[self.dest] = values
        setattr(namespace, self.dest, values)


class Parser(argparse.ArgumentParser):
    """A parser that refuses in one sentence."""

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - what argparse takes
        super().__init__(*arguments, **options)
        self.register("action", None, Once)
        self.register("action", "store", Once)

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        """Read the words; a command itself refuses those that it does not know, as it knows what is near."""
        found, left = self.parse_known_args(args, namespace)
        if left:
            getattr(found, "parser", self).error(f"unrecognized arguments: {' '.join(left)}")
        return found

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print with its usage."""
        unknown = re.search(r"(?:unrecognized arguments: |invalid choice: ')(-{0,2}[\w-]+)", message)
        hint = f"see {self.prog} --help"
        if unknown:
            from reid_sql.suggestion import suggestion  # noqa: PLC0415 - loads DuckDB

            hint = suggestion(unknown[1], self._words(), "words")
        raise OutOfDomainError(f"{self.prog} cannot take these arguments: {message}; {hint}")

    def _words(self) -> list[str]:
        """The options and commands that there are."""
        return [
            word for action in self._actions for word in (*action.option_strings, *(action.choices or []))
        ]


def parser() -> Parser:
    """The parser of the command and of its commands."""
    made = Parser(prog="reid-sql", description="Re-identification risk, counted where the data is.")
    made.add_argument("--version", action="version", version=f"reid-sql {__version__}")
    commands = made.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for module in COMMANDS:
        command = commands.add_parser(module.__name__.rpartition(".")[2], help=module.WORDS)
        module.options(command)
        if module not in AT_ONCE:
            progress_options(command)
        command.set_defaults(run=module.run_command, parser=command, whole=made)
    return made
