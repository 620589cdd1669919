"""Advice in the words of the command that prints it: an option in place of a parameter of SQL.

A rule of a function is one sentence for all who call it. It names parameters as SQL does: `total := 'Total'`.
A command has options of the same names, so that it prints the same sentence with `--total Total`.
"""

import argparse
import re
import shlex
from collections.abc import Sequence
from typing import Final

PARAMETER: Final = re.compile(r"\b([a-z][a-z_]*) := ('(?:[^']|'')*'|\[[^\]]*\]|[\w.+-]*\w)")
CALL: Final = re.compile(r"\b([a-z][a-z_]*)\(…, ([^()]*)\)")  # advice of another function
LISTED: Final = re.compile(r"'((?:[^']|'')*)'")
COMMANDS: Final = {"audit_tables": "audit", "safe_table": "safe"}  # by the function that they call
QUOTED: Final = re.compile(r'^\s|[",\n]')  # a name that a list of names must quote, as CSV does
QUOTE: Final = '"'
_options: dict[str, str] = {}  # of the command that runs, by the parameter


def use_options(parser: argparse.ArgumentParser | None) -> None:
    """Write advice with the options of a command from now on; in SQL's words without one."""
    _options.clear()
    for action in [] if parser is None else parser._actions:  # noqa: SLF001 - argparse lists them nowhere else
        for option in action.option_strings:
            if option.startswith("--"):
                _options[option[2:].replace("-", "_")] = option
                _options.setdefault(action.dest, option)


def in_options(text: str) -> str:
    """Write parameters that are options of the command as such; the others stay as SQL has them."""
    if ":=" not in text or not _options:
        return text
    return PARAMETER.sub(_write_option, CALL.sub(_write_command, text))


def _write_command(match: re.Match[str]) -> str:
    command = f"reid-sql {COMMANDS.get(match[1], match[1])}"
    options = PARAMETER.sub(
        lambda each: f"--{each[1].replace('_', '-')} {_write_value(each[2])}", match[2]
    )
    return f"{command} {options}"


def _write_option(match: re.Match[str]) -> str:
    option = _options.get(match[1])
    return match[0] if option is None else f"{option} {_write_value(match[2])}"


def _write_value(value: str) -> str:
    texts = [each.replace("''", "'") for each in LISTED.findall(value)]
    return write_list(texts) if texts else value.strip("[]")


def write_list(names: Sequence[str]) -> str:
    """Write names as a shell hands them to an option, which skips blanks behind a comma.

    >>> print(write_list(["age", " lead", "a,b"]))
    'age," lead","a,b"'
    """
    quoted = (
        f'"{name.replace(QUOTE, QUOTE * 2)}"' if QUOTED.search(name) else name for name in names
    )
    return shlex.quote(",".join(quoted))
