"""One binding of a body for every engine that speaks Arrow.

Row functions: NULLs out, body, NULLs back. Table functions: the reduction's columns as lists, the answer as a list of
structs.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from inspect import Parameter as Argument
from inspect import Signature
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reid_sql.domains import Floats, Number
from reid_sql.errors import ReidError
from reid_sql.function import Function, Parameter


def kernel(declared: Function) -> Callable[..., pa.Array]:
    """Bind the function's body to Arrow arrays of numbers: doubles out, NULL wherever an argument is NULL."""

    def call(*columns: pa.Array) -> pa.Array:
        length = max(len(column) for column in columns)
        arrays = [np.broadcast_to(_doubles(column), length) for column in columns]
        valid = np.logical_and.reduce(
            [np.broadcast_to(column.is_valid().to_numpy(zero_copy_only=False), length) for column in columns]
        )
        given = [_checked(parameter, array[valid]) for parameter, array in zip(declared.parameters, arrays, strict=True)]
        answer = np.full(length, np.nan)
        answer[valid] = declared.body(*given)
        return pa.array(answer, mask=~valid)

    return _named(call, [parameter.name for parameter in declared.parameters])


def _checked(parameter: Parameter, values: Floats) -> Floats:
    return parameter.domain.check(parameter.name, values) if isinstance(parameter.domain, Number) else values


def _named(call: Callable[..., pa.Array], names: list[str]) -> Callable[..., pa.Array]:
    """Give the callable parameters of these names: DuckDB counts them."""
    parameters = [Argument(name, Argument.POSITIONAL_ONLY) for name in names]
    call.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return call


def _doubles(column: pa.Array) -> Floats:
    doubles: Floats = pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False)
    return doubles


ARROW_TYPES: Final = {
    "BIGINT": pa.int64(),
    "DOUBLE": pa.float64(),
    "VARCHAR": pa.string(),
    "VARCHAR[]": pa.list_(pa.string()),
}


def table_kernel(declared: Function) -> Callable[..., pa.Array]:
    """Bind the body to the reduction's columns as lists, then its own parameters: a refusal or a list of structs a row."""
    answers = pa.list_(pa.struct([(name, ARROW_TYPES[kind]) for name, kind in declared.columns.items()]))
    answer = pa.struct([("refusal", pa.string()), ("answers", answers)])

    def call(*columns: pa.Array) -> pa.Array:
        length = max(len(column) for column in columns)
        rows = [[column[min(row, len(column) - 1)] for column in columns] for row in range(length)]
        if declared.per_record:
            return pa.concat_arrays([_in_columns(_answered(declared, row), answer) for row in rows])
        return pa.array([_answered(declared, row) for row in rows], type=answer)

    inputs = declared.reduction.inputs if declared.reduction else {}
    return _named(call, [*inputs, *(parameter.name for parameter in declared.own_parameters)])


def _in_columns(answered: dict[str, Any], answer: pa.DataType) -> pa.Array:
    """Make one row of the answer for each record of its arrays, which a list of dictionaries would be slow for."""
    found, types = answered["answers"], answer.field("answers").type
    arrays = [pa.array(found[field.name] if found else [], field.type) for field in types.value_type]
    rows = pa.StructArray.from_arrays(arrays, fields=list(types.value_type))
    listed = pa.ListArray.from_arrays(pa.array([0, len(rows)], pa.int32()), rows)
    return pa.StructArray.from_arrays([pa.array([answered["refusal"]], pa.string()), listed], fields=list(answer))


def _answered(declared: Function, cells: list[pa.Scalar]) -> dict[str, Any]:
    """Call the body once: the reduction's columns and the parameters as Arrow scalars in; rows or a refusal out."""
    inputs = declared.reduction.inputs if declared.reduction else {}
    counted = len(inputs)
    arrays = {name: _array(cell) for name, cell in zip(inputs, cells[:counted], strict=True)}
    own = {p.name: cell.as_py() for p, cell in zip(declared.own_parameters, cells[counted:], strict=True)}
    try:
        answer = answer_columns if declared.per_record else answer_rows
        return {"refusal": None, "answers": answer(declared, arrays, own)}
    except ReidError as error:  # the engine would wrap the sentence in its own
        return {"refusal": str(error), "answers": []}


def answer_rows(declared: Function, arrays: Mapping[str, Any], own: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Call the body with the reduction's arrays, if it has one, and its own parameters; one dictionary a row."""
    found = _called(declared, arrays, own)
    return [asdict(row) for row in found] if declared.many else [asdict(found)]


def answer_columns(declared: Function, arrays: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Call the body of an answer for each record: its arrays by name, what is said of all repeated for each."""
    found = vars(_called(declared, arrays, own))
    length = max(len(values) for values in found.values() if isinstance(values, np.ndarray))
    return {name: values if isinstance(values, np.ndarray) else [values] * length for name, values in found.items()}


def _called(declared: Function, arrays: Mapping[str, Any], own: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a body's answer
    reduction = declared.reduction
    return declared.body(*([reduction.arrays(**arrays)] if reduction and reduction.arrays else []), **own)


def _array(cell: pa.Scalar) -> Any:  # noqa: ANN401 - numbers as an array, lists of them as a matrix, else a list
    values = cell.values if cell.is_valid else pa.array([], pa.int64())
    if len(values) and pa.types.is_list(values.type) and pa.types.is_integer(values.type.value_type):
        return values.flatten().to_numpy(zero_copy_only=False).reshape(len(values), -1)
    numbers = pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
    return values.to_numpy(zero_copy_only=False) if numbers else values.to_pylist()
