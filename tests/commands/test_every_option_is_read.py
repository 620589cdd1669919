"""Each option that a command accepts is read by the code that the command runs."""

import argparse
import ast
import inspect
from importlib import import_module
from types import ModuleType

from reid_sql.commands import parser
from reid_sql.commands.parser import COMMANDS
from tests.cells import each_cell

# argparse itself, or what starts every command, reads these
OF_EVERY_COMMAND = {"help", "json", "progress", "parser", "run"}
SHARED = ("options", "tables", "output", "html")
CALLED = {"measure": ("attack",)}  # a module that another one calls


def names_read(module: ModuleType) -> set[str]:
    """The attributes and the texts of a module: `options.by`, or `function_options(…, "by")`."""
    tree = ast.parse(inspect.getsource(module))
    read = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return read | {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


@each_cell("name", COMMANDS)
def test_a_command_reads_every_option_that_it_accepts(name: str) -> None:
    runs = COMMANDS[name].run.partition(":")[0]
    modules = [
        import_module(f"reid_sql.commands.{each}")
        for each in {runs, *SHARED, *CALLED.get(runs, ())}
    ]
    read = set().union(*map(names_read, modules))
    (commands,) = (
        action.choices
        for action in parser.parser()._actions  # noqa: SLF001 - argparse has no other list
        if isinstance(action, argparse._SubParsersAction)  # noqa: SLF001
    )
    accepted = {action.dest for action in commands[name]._actions}  # noqa: SLF001
    assert accepted - read <= OF_EVERY_COMMAND
