"""What registering makes: the macros, their comments, and how each Python function is called.

It is stored next to this file, so that registering imports no function and no model; `python -m
tools.prepared` writes it anew, and a test compares it. A set of functions other than the shipped one is
prepared when asked.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from reid_sql.function import Function

FILE: Final = "prepared.json"


@dataclass(frozen=True)
class PythonFunction:
    """How DuckDB calls a Python function; types of None are any number of arguments of any type."""

    types: list[Any] | None
    answer: str
    is_volatile: bool  # whether each call counts, so that none is folded away or made twice


@dataclass(frozen=True)
class Prepared:
    """The macros by name with their definitions, those of the bare names, and the Python functions."""

    names: list[str]
    macros: Mapping[str, str]
    macros_before_get_type: Mapping[str, str]  # those that DuckDB 1.4 needs in place of the same names
    bare_macros: Mapping[str, str]
    comments: str
    python: Mapping[str, PythonFunction]

    def text(self) -> str:
        """The stored form."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"


def prepared(functions: "Mapping[str, Function]") -> Prepared:
    """What was stored, or what is prepared for another set of functions."""
    stored: dict[str, Any] = json.loads(resources.files(__package__).joinpath(FILE).read_text("utf-8"))
    if stored["names"] != list(functions):
        return prepare(functions)
    python = {name: PythonFunction(**each) for name, each in stored.pop("python").items()}
    return Prepared(**stored, python=python)


def prepare(functions: "Mapping[str, Function]") -> Prepared:
    """Prepare the macros and Python functions from the declarations."""
    from reid_sql.engines.duckdb.macros import (  # noqa: PLC0415
        bare_definitions,
        comments,
        definitions,
        definitions_before_get_type,
    )
    from reid_sql.engines.duckdb.python import python_functions  # noqa: PLC0415

    bound = python_functions(functions.values())
    python = {name: PythonFunction(each.types, each.answer, each.volatile) for name, each in bound.items()}
    return Prepared(
        list(functions),
        definitions(functions),
        definitions_before_get_type(functions),
        bare_definitions(functions),
        comments(functions),
        python,
    )
