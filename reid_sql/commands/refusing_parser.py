"""A parser of arguments that refuses in one sentence, and options that are given once."""

import argparse
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from reid_sql.errors import OutOfDomainError


class Once(argparse.Action):
    """An option with a value; a second value would contradict the first."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002 - argparse passes it
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Store the value, or refuse a second one."""
        given = namespace.__dict__.setdefault("given_once", {})
        if self.option_strings and self.dest in given:
            name, first = option_string or self.dest, given[self.dest]
            raise OutOfDomainError(
                f"{name} must be given once, got '{first}' and '{values}'; omit one of them"
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
        """Parse the arguments; the command's own parser refuses unknown ones and suggests the nearest."""
        namespace_read, unknown = self.parse_known_args(args, namespace)
        if unknown:
            getattr(namespace_read, "parser", self).error(f"unrecognized arguments: {' '.join(unknown)}")
        return namespace_read

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print with its usage."""
        from reid_sql.suggestion import suggestion  # noqa: PLC0415 - loads DuckDB

        hint = f"see {self.prog} --help"
        if unknown := re.search(r"unrecognized arguments: (\S+)", message):
            hint = suggestion(unknown[1], self._option_names(), "options")
        elif chosen := re.search(r"argument (\S+): invalid choice: '(.*?)' \(choose", message):
            hint = suggestion(chosen[2], self._choices_of(chosen[1]), "choices")
            message = f"argument {chosen[1]}: invalid choice: '{chosen[2]}'"
        raise OutOfDomainError(f"{self.prog} cannot take these arguments: {message}; {hint}")

    def _option_names(self) -> list[str]:
        return [word for action in self._actions for word in action.option_strings if word.startswith("--")]

    def _choices_of(self, name: str) -> list[str]:
        """List the choices of an option or argument, by its name in argparse's message."""
        return [
            str(word)
            for action in self._actions
            if name in {*action.option_strings, "/".join(action.option_strings), action.metavar, action.dest}
            for word in action.choices or []
        ]
