"""Scripts by which bash, zsh and fish complete commands and options, made from the parser itself."""

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from reid_sql.commands.options import PASSED
from reid_sql_udfs import declared

FILES: Final = ("FILE", "POLICY", "RELEASED")  # metavars of files
FUNCTION_NAME: Final = ("functions", "name")  # the command and argument whose values are functions
BASH: Final = (
    "_reid_sql() {",
    '  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" words=""',
    '  local command="${COMP_WORDS[1]}"',
    '  if [ "$cur" = "=" ]; then cur=""',
    '  elif [ "$prev" = "=" ]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi',
    "  COMPREPLY=()",
    '  case "$command:$prev" in',
)
ZSH: Final = (
    "  )",
    "  if (( CURRENT == 2 )); then _describe command commands; return; fi",
    '  local command="$words[2]"',
    "  shift words; (( CURRENT-- ))",
    '  case "$command" in',
)


@dataclass(frozen=True)
class Word:
    """An option, or an argument if it has no names: its help, and what its value may be."""

    names: tuple[str, ...]
    words: str
    takes: bool
    file: bool
    choices: tuple[str, ...]
    repeated: bool


@dataclass(frozen=True)
class Command:
    """A command: its help line, options and arguments."""

    name: str
    words: str
    options: tuple[Word, ...]
    arguments: tuple[Word, ...]


def run_completion(options: argparse.Namespace) -> int:
    """Print the script of the shell."""
    print("\n".join(SHELLS[options.shell](list(_commands(options.whole)))))  # noqa: T201
    return PASSED


def _commands(parser: argparse.ArgumentParser) -> Iterator[Command]:
    """List the commands of the parser with their options and arguments."""
    # argparse has no public list of its actions and their kinds.
    subcommands = argparse._SubParsersAction  # noqa: SLF001
    (made,) = (each for each in parser._actions if isinstance(each, subcommands))  # noqa: SLF001
    help_lines = {each.dest: each.help or "" for each in made._choices_actions}  # noqa: SLF001
    for name, command in made.choices.items():
        words = [_word(name, action) for action in command._actions]  # noqa: SLF001
        options = tuple(word for word in words if word.names)
        yield Command(name, help_lines[name], options, tuple(word for word in words if not word.names))


def _word(command: str, action: argparse.Action) -> Word:
    called = str(action.metavar or "")
    choices = tuple(map(str, action.choices or ()))
    if (command, action.dest) == FUNCTION_NAME:
        choices = tuple(declared())
    file = any(word in called for word in FILES)
    repeated = isinstance(action, argparse._AppendAction)  # noqa: SLF001
    return Word(tuple(action.option_strings), action.help or "", action.nargs != 0, file, choices, repeated)


def _bash(commands: list[Command]) -> Iterator[str]:
    """Write a function that looks at the command and at the previous word."""
    yield from BASH
    for command in commands:
        for word in command.options:
            if word.takes:
                named = "|".join(f"{command.name}:{name}" for name in word.names)
                yield f"    {named}) {_values(word)}; return ;;"
    yield "  esac"
    yield '  if [ "$COMP_CWORD" = 1 ]; then words=' + _quoted(" ".join(each.name for each in commands))
    yield '  else case "$command:$cur" in'
    for command in commands:
        listed = " ".join(name for word in command.options for name in word.names)
        yield f"    {command.name}:-*) words={_quoted(listed)} ;;"
        for word in command.arguments[:1]:
            yield f"    {command.name}:*) {_values(word)}; return ;;"
    yield from ("  esac; fi", '  COMPREPLY=($(compgen -W "$words" -- "$cur"))', "}")
    yield "complete -F _reid_sql reid-sql"


def _values(word: Word) -> str:
    if word.choices:
        return f'COMPREPLY=($(compgen -W {_quoted(" ".join(word.choices))} -- "$cur"))'
    return 'compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur"))' if word.file else ":"


def _zsh(commands: list[Command]) -> Iterator[str]:
    """Write a function that describes the commands, and passes the rest to _arguments."""
    yield from ("#compdef reid-sql", "_reid_sql() {", "  local -a commands=(")
    yield from (f"    {_quoted(f'{each.name}:{each.words}')}" for each in commands)
    yield from ZSH
    for command in commands:
        specs = [_quoted(each) for word in command.options for each in _described(word)]
        specs += [_quoted(f"{place}:{_action(word)}") for place, word in enumerate(command.arguments, 1)]
        yield f"    {command.name}) _arguments {' '.join(specs)} ;;"
    yield from ("  esac", "}")
    yield 'if [ "$funcstack[1]" = _reid_sql ]; then _reid_sql "$@"; else compdef _reid_sql reid-sql; fi'


def _described(word: Word) -> Iterator[str]:
    words = word.words
    for sign in "\\:[]":
        words = words.replace(sign, f"\\{sign}")
    for name in word.names:
        value = f":{_action(word)}" if word.takes else ""
        yield f"{'*' if word.repeated else ''}{name}[{words}]{value}"


def _action(word: Word) -> str:
    return f"value:({' '.join(word.choices)})" if word.choices else f"value:{'_files' if word.file else ' '}"


def _fish(commands: list[Command]) -> Iterator[str]:
    """Write a line for each command, option and argument."""
    yield "complete -c reid-sql -f"
    for command in commands:
        yield f"complete -c reid-sql -n __fish_use_subcommand -a {command.name} -d {_in_fish(command.words)}"
    for command in commands:
        here = f"complete -c reid-sql -n '__fish_seen_subcommand_from {command.name}'"
        for word in command.options:
            names = " ".join(
                f"-{'l' if name.startswith('--') else 's'} {name.lstrip('-')}" for name in word.names
            )
            yield f"{here} {names}{_in_fish_values(word) if word.takes else ''} -d {_in_fish(word.words)}"
        for word in command.arguments:
            yield f"{here}{_in_fish_values(word).replace(' -x', '').replace(' -r', '')}"


def _in_fish_values(word: Word) -> str:
    if word.choices:
        return f" -x -a {_in_fish(' '.join(word.choices))}"
    return " -r -F" if word.file else " -x"


def _quoted(text: str) -> str:
    """Quote a text for bash and zsh."""
    return "'" + text.replace("'", "'\\''") + "'"


def _in_fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SHELLS: Final[Mapping[str, Callable[[list[Command]], Iterator[str]]]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}
