"""How commands read the command line, refuse it, and print text; light, as help is shown with it."""

import argparse
import csv
import re
import sys
from argparse import Namespace
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NoReturn

from reid_sql.errors import OutOfDomainError
from reid_sql.terminal import progress

if TYPE_CHECKING:
    from typing import TextIO


PASSED: Final = 0
GROUPED: Final = re.compile(r"\d{1,3}(,\d{3})+")  # 67,000,000


def names(label: str, text: str) -> list[str]:
    """Read names separated by commas; a name that contains a comma is quoted as in CSV."""
    try:
        rows = list(csv.reader([text], skipinitialspace=True, strict=True))
    except csv.Error:
        raise OutOfDomainError(
            f"{label} must be one line of names by comma, got {text!r}; write them like age,sex and quote a name that has a comma"
        ) from None
    return [column for row in rows for column in row if column]


def all_names(label: str, texts: list[str]) -> list[str]:
    """Read lists of names separated by commas."""
    return [name for text in texts for name in names(label, text)]


def passed_options(options: Namespace, *options_read: str) -> dict[str, Any]:
    """Return those options that have a value, by their names."""
    values = {name: getattr(options, name) for name in options_read}
    return {name: value for name, value in values.items() if value not in (None, [])}


def number(label: str, text: str) -> float:
    """Read a number, or refuse the text."""
    try:
        return float(text)
    except ValueError:
        raise OutOfDomainError(
            f"{label} must be a number, got '{text}'; write it with digits, such as 5 or 0.2"
        ) from None


def numbers(label: str, texts: list[str]) -> list[float]:
    """Read lists of numbers separated by commas; an unambiguous comma may also separate thousands."""
    return [value for text in texts for value in _numbers(label, text)]


def _numbers(label: str, text: str) -> list[float]:
    if not GROUPED.fullmatch(text.strip()):
        return [number(label, part) for part in text.split(",")]
    parts = text.strip().split(",")
    if not any(part.startswith("0") for part in parts[1:]):  # 67,000 is no list: 000 is no number
        raise OutOfDomainError(
            f"{label} must show whether a comma separates numbers or thousands, got '{text}'; write {''.join(parts)}, or give {label} twice"
        )
    return [float("".join(parts))]


def pairs(label: str, texts: list[str]) -> dict[str, str]:
    """Read each text as a name and its value."""
    values: dict[str, str] = {}
    for each in texts:
        name, sign, value = each.rpartition("=")
        if not sign or name in values:
            raise OutOfDomainError(
                f"{label} must be a column and its value, once each, got {each}; write age=2"
            )
        values[name] = value
    return values


def require(option: str, value: object, other: str, *, is_passed: bool) -> None:
    """Refuse an option that has no effect without another one."""
    if value not in (None, False) and not is_passed:
        got = "it" if value is True else str(value)
        raise OutOfDomainError(
            f"{option} must come with {other}, got {got} alone; add {other} or omit it"
        )


SOURCE: Final = (
    "files",
    "table",
    "encoding",
    "delimiter",
    "quote",
    "header",
    "skip",
    "memory_limit",
    "format",
    "html",
    "progress",
    "help",
)  # options that a command reads whatever it measures


def refuse_unread(options: Namespace, what: str, *read: str) -> None:
    """Refuse the options of the command that have no effect on what is asked for."""
    for action in options.parser._actions:  # noqa: SLF001 - argparse has no public list
        name, is_read = action.dest, action.dest in (*SOURCE, *read)
        if action.option_strings and not is_read and getattr(options, name) != action.default:
            raise OutOfDomainError(
                f"{action.option_strings[0]} must not be given with {what}, got both; omit one of them"
            )


def printed(text: str, stream: "TextIO | None" = None) -> None:
    """Print the text unchanged, on standard output unless another stream is named; end the progress line."""
    progress.end()
    print(text, end="", file=stream or sys.stdout)


# A parser of arguments that refuses in one sentence, and options that are given once.


class Once(argparse.Action):
    """An option with a value; a second value would contradict the first."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002 - argparse passes it
        namespace: Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Store the value, or refuse a second one."""
        passed = namespace.__dict__.setdefault("passed_once", {})
        if self.option_strings and self.dest in passed:
            name, first = option_string or self.dest, passed[self.dest]
            raise OutOfDomainError(
                f"{name} must be given once, got '{first}' and '{values}'; omit one of them"
            )
        passed[self.dest] = values
        setattr(namespace, self.dest, values)


class Parser(argparse.ArgumentParser):
    """A parser that refuses in one sentence."""

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - what argparse takes
        super().__init__(*arguments, **options)
        self.register("action", None, Once)
        self.register("action", "store", Once)

    def option(self, name: str, words: str, metavar: str | None = None, **how: Any) -> None:  # noqa: ANN401
        """Add an option, or an argument, with the words that its help shows."""
        how |= {"metavar": metavar} if metavar else {}
        self.add_argument(name, help=words, **how)

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Namespace | None = None
    ) -> Namespace:
        """Parse the arguments; the command's own parser refuses unknown ones and suggests the nearest."""
        namespace_read, unknown = self.parse_known_args(args, namespace)
        if unknown:
            getattr(namespace_read, "parser", self).error(
                f"unrecognized arguments: {' '.join(unknown)}"
            )
        return namespace_read

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print with its usage."""
        from reid_sql.errors import suggestion  # noqa: PLC0415 - loads DuckDB

        hint = f"see {self.prog} --help"
        if unknown := re.search(r"unrecognized arguments: (\S+)", message):
            words = chain.from_iterable(action.option_strings for action in self._actions)
            options = [word for word in words if word.startswith("--")]
            hint = suggestion(unknown[1], options, "options")
        elif chosen := re.search(r"argument (\S+): invalid choice: '(.*?)' \(choose", message):
            # argparse's message names the option or argument in one of these ways
            choices = [
                str(word)
                for action in self._actions
                if chosen[1]
                in {
                    *action.option_strings,
                    "/".join(action.option_strings),
                    action.metavar,
                    action.dest,
                }
                for word in action.choices or []
            ]
            hint = suggestion(chosen[2], choices, "choices")
            message = f"argument {chosen[1]}: invalid choice: '{chosen[2]}'"
        raise OutOfDomainError(f"{self.prog} cannot take these arguments: {message}; {hint}")
