"""A call of a function of reid-sql: names of served tables and constants, and no text of a client."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from reid_sql.errors import OutOfDomainError, UnknownNameError, WrongCallError, suggestion
from reid_sql.function import Function, output_of
from reid_sql.parameters import Document, ModelName, Tables
from reid_sql.parameters.outputs import Parameter
from reid_sql.serve.allowed import ALLOWED, check_type
from reid_sql.serve.derived_columns import DerivedColumn
from reid_sql.serve.tree import Node, arguments_of, path_of
from reid_sql_udfs import declared

OF_VALUES: Final = ["table", "by", "probabilities", "hierarchies"]  # keys of a scenario


@dataclass(frozen=True)
class Call:
    """A call of a table function: its arguments by name, tables by their names as served."""

    function: Function
    arguments: Mapping[str, Any]
    tables: tuple[str, ...]
    is_plain: bool = False  # whether plain SQL asks for cells
    derived: tuple[DerivedColumn, ...] = ()  # columns that it computes


class Served(Protocol):
    """The tables that are served, by their names without case, and what computes constants."""

    tables: dict[str, str]

    def compute(self, nodes: Collection[Node]) -> tuple[Any, ...]:
        """Compute constants."""


class Arguments:
    """The arguments of one call, on their way from a tree to values."""

    def __init__(self, reader: Served, function: Function, client: str) -> None:
        self.reader, self.function, self.client = reader, function, client
        self.parameters = {parameter.name: parameter for parameter in function.parameters}
        self.tables: list[str] = []

    def read(self, arguments: list[tuple[str, Node]]) -> Call:
        """Read all arguments: names of tables, and constants."""
        if len(arguments) > len(self.parameters):
            raise WrongCallError(
                f"{self.function.name} must have at most {len(self.parameters)} arguments"
                f", got {len(arguments)}; write {self.function.signature}"
            )
        nodes: dict[str, Node] = {}
        for place, (name, node) in enumerate(arguments):
            parameter = self._parameter(name.lower()) if name else self.function.parameters[place]
            if parameter.name in nodes or (not name and len(nodes) < place):
                raise WrongCallError(
                    f"an argument must be given once and in order, got {parameter.name}; "
                    f"write {self.function.signature}"
                )
            nodes[parameter.name] = node
        values = {
            name: ".".join(node["column_names"])
            for name, node in nodes.items()
            if node.get("type") == "COLUMN_REF" and _is_table(self.parameters[name])
        }
        constants = {name: node for name, node in nodes.items() if name not in values}
        for name, node in constants.items():
            _refuse_variable(name, node)
        values.update(zip(constants, self.reader.compute(constants.values()), strict=True))
        read = {name: self._value(self.parameters[name], values[name]) for name in nodes}
        return Call(self._output(read), read, tuple(dict.fromkeys(self.tables)))

    def _output(self, read: Mapping[str, Any]) -> Function:
        """The output that the arguments choose."""
        function = self.function
        if not function.outputs:
            return function
        chooser = self.parameters[function.selector]
        word = read.get(chooser.name, chooser.default)
        return function.outputs[chooser.domain.from_sql(chooser.name, word)]

    def _parameter(self, name: str) -> Parameter:
        if name in self.parameters:
            return self.parameters[name]
        raise UnknownNameError(
            f"{self.function.name} must have only known parameters, got '{name}'; "
            f"{suggestion(name, list(self.parameters), 'parameters')}"
        )

    def _value(self, parameter: Parameter, value: Any) -> Any:  # noqa: ANN401 - what SQL can write
        if isinstance(parameter.domain, Document):
            _refuse_scenario_of_values(value)
        if value is None:
            return None
        if isinstance(parameter.domain, ModelName):
            return f"{self.client}: {value}"
        if not _is_table(parameter):
            return value
        if isinstance(value, list):
            return [self._table(parameter.name, each) for each in value]
        return self._table(parameter.name, value)

    def _table(self, parameter: str, name: object) -> str:
        served = self.reader.tables.get(str(name).casefold().removeprefix("main."))
        if served is None:
            nearest = suggestion(str(name), sorted(self.reader.tables.values()), "tables")
            raise UnknownNameError(
                f"{parameter} must be a table that is served, got '{name}'; {nearest}"
            )
        self.tables.append(served)
        return served


def describe_calls(keys: Collection[str]) -> list[str]:
    """How outputs of functions are called, by their keys."""
    return [output_of(key, declared()).call for key in keys]


def _is_table(parameter: Parameter) -> bool:
    return parameter.domain.is_table or isinstance(parameter.domain, Tables)


def _refuse_variable(name: str, node: Node) -> None:
    """Refuse an argument that is no constant."""
    kind = node.get("type")
    if kind == "FUNCTION" and path_of(node, "function_name")[-1] in ALLOWED["constants"].split():
        for _, each in arguments_of(node):
            _refuse_variable(name, each)
    elif kind == "OPERATOR_CAST":
        check_type(node)
        _refuse_variable(name, node["child"])
    elif kind != "VALUE_CONSTANT":
        raise OutOfDomainError(
            f"{name} must be a constant, or the name of a table where one is due, got another expression; "
            "write the value, or a text in single quotes"
        )


def _refuse_scenario_of_values(scenario: object) -> None:
    """Refuse a scenario that names values: its answer would confirm who is in the table."""
    keys: list[str] = []
    try:
        json.loads(
            str(scenario), object_pairs_hook=lambda pairs: keys.extend(key for key, _ in pairs)
        )
    except (ValueError, RecursionError):
        keys = OF_VALUES[:1]
    if wrong := [key for key in keys if key in OF_VALUES]:
        raise OutOfDomainError(
            f"a scenario must be JSON text that names no values, got one with {wrong[0]}; "
            "give each group a probability"
        )
