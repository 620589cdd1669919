"""Mistakes that the arguments of a call show: columns one by one, and a name in place of its value."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from reid_sql.errors import WrongCallError
from reid_sql.function import Function


def refuse_columns_in_a_row(declared: Function, arguments: Sequence[Any]) -> None:
    """Refuse columns that are passed one by one: the second would be read as the parameter after the list."""
    given = zip(declared.parameters, arguments, strict=False)
    for (columns, first), (after, second) in pairwise(given):
        if (
            columns.domain.role == "counted"
            and isinstance(first, str)
            and isinstance(second, str)
            and first.isidentifier()
            and second.isidentifier()
            and not after.domain.may_be_text(second)
        ):
            rule = f"{columns.name} must be one list of columns, got several arguments"
            raise WrongCallError(f"{rule}; write ['{first}', '{second}']")


def refuse_names_of_options(declared: Function, arguments: Sequence[Any]) -> None:
    """Refuse a parameter's name as the value of one that takes no such text."""
    names = {*(parameter.name for parameter in declared.parameters), *declared.lacked}
    for parameter, value in zip(declared.parameters, arguments, strict=False):
        if isinstance(value, str) and value in names and not parameter.domain.may_be_text(value):
            rule = f"{parameter.name} must be a value, got '{value}', the name of a parameter"
            raise WrongCallError(f"{rule}; to set an option, write entity := 'pid'")
