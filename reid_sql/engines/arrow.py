"""One binding of a body for every engine that speaks Arrow.

Row functions: NULLs out, body, NULLs back. Table functions: the reduction's columns as lists, the answer as a
list of structs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from reid_sql.engines import registry
from reid_sql.engines.arrow_rows import (
    array_of,
    doubles_of,
    numbers_in,
    numbers_of,
    structs_of,
    truths_in,
)
from reid_sql.errors import NoRecordsError, ReidError, TooFewRecordsError
from reid_sql.function import Answer, Function
from reid_sql.models.classes.disclosure import STATUS_REFUSED
from reid_sql.models.fitted_model import FittedModel, Scores
from reid_sql.models.interruption import checkpoint
from reid_sql.parameters import Arguments, Flags, Floats, Integers
from reid_sql.parameters.outputs import Parameter

BLOCK: Final = 1 << 16  # values that become Python's own at once


def kernel(declared: Function) -> Callable[..., pa.Array]:
    """Bind the function's body to Arrow arrays of numbers: doubles out, NULL wherever an argument is NULL."""

    def call(*columns: pa.Array) -> pa.Array:
        length, whole = (
            max(len(column) for column in columns),
            [_whole(column) for column in columns],
        )
        arrays = [np.broadcast_to(_doubles(column), length) for column in whole]
        valid = np.logical_and.reduce(
            [np.broadcast_to(truths_in(column.is_valid()), length) for column in whole]
        )
        arguments = [
            _checked(parameter, array[valid])
            for parameter, array in zip(declared.parameters, arrays, strict=True)
        ]
        answer = np.full(length, np.nan)
        answer[valid] = declared.body(*arguments)
        return doubles_of(answer, valid)

    return call


def _checked(parameter: Parameter, values: Floats) -> Floats:
    checked: Floats = parameter.domain.check_numbers(parameter.name, values, of_column=True)
    return checked


def _doubles(column: pa.Array) -> Floats:
    return numbers_in(column.cast(pa.float64()))


def model_kernel(declared: Function) -> Callable[..., pa.Array]:
    """Bind a function of records under a model: a refusal or an answer a row.

    Takes the records' values as lists of texts, their numbers of records where the answer has many columns,
    the text by which the database is known, the name of the model, and the function's own parameters.
    """
    counted = declared.answer is Answer.SCORED_TABLE
    kind = (
        pa.struct([(n, ARROW_TYPES[t]) for n, t in declared.columns.items()])
        if counted
        else pa.float64()
    )
    answer = pa.struct([("refusal", pa.string()), ("answer", kind)])

    def call(*columns: pa.Array) -> pa.Array:
        import pyarrow.compute as pc  # noqa: PLC0415 - it takes long to import, and only scores need it

        length = max(len(column) for column in columns)
        values, *rest = (_repeated(column, length) for column in columns)
        sizes = [numbers_in(rest.pop(0))] if counted else []
        database, names, *parameters = rest
        valid = names.is_valid()
        for cells in parameters:
            valid = pc.and_(valid, cells.is_valid())
        refusal: str | None = None
        parts: list[tuple[Integers, Any]] = []
        for name in pc.unique(names.filter(valid)):
            rows = np.flatnonzero(truths_in(pc.and_(valid, pc.equal(names, name))))
            some = numbers_of(rows, pa.int64())
            try:
                with registry.within(database[0].as_py()):
                    model = registry.known(name.as_py(), of_column=not counted)
                codes = record_codes(model, _columns_of(values.take(some)))
                scores = _scored(
                    declared,
                    model.scored(codes),
                    [s[rows] for s in sizes],
                    [c.take(some) for c in parameters],
                )
            except ReidError as error:
                refusal = str(error)
                break
            parts.append((rows, scores))
        refusals = _repeated(array_of([refusal], pa.string()), length)
        return pa.StructArray.from_arrays(
            [refusals, _answers(kind, length, parts)], fields=list(answer)
        )

    return call


def model_answer(declared: Function, cells: Scores, numbers: Sequence[pa.Array]) -> pa.Array:
    """Answer for records of scored cells: NULL wherever a parameter of the function's own is NULL."""
    valid = np.full(len(cells.probability), fill_value=True)
    for column in numbers:
        valid &= truths_in(column.is_valid())
    rows = np.flatnonzero(valid)
    complete_cells = cells.taken(rows)
    answer = np.full(len(valid), np.nan)
    parameters = [column.take(numbers_of(rows, pa.int64())) for column in numbers]
    answer[rows] = _scored(declared, complete_cells, [], parameters)
    return doubles_of(answer, valid)


def _scored(
    declared: Function, cells: Scores, sizes: Sequence[Integers], columns: Sequence[pa.Array]
) -> Any:  # noqa: ANN401 - an array, or a dataclass of arrays
    parameters = [
        _checked(parameter, _doubles(column))
        if parameter.domain.form == "number"
        else column[0].as_py()  # a word
        for parameter, column in zip(declared.own_parameters, columns, strict=True)
    ]
    return declared.body(cells, *sizes, *parameters)


def record_codes(model: FittedModel, columns: Sequence[pa.Array]) -> Integers:
    """Codes of records given by column as texts; the model looks at each distinct text once."""
    if len(columns) != len(model.columns):
        return model.codes([[]] * len(columns))
    coded = []
    for place, column in enumerate(columns):
        encoded = column.dictionary_encode(null_encoding="encode")
        codes_of_texts = model.column_codes(place, encoded.dictionary.to_pylist())
        coded.append(codes_of_texts[numbers_in(encoded.indices)])
    return np.stack(coded, axis=1)


def _repeated(column: pa.Array, length: int) -> pa.Array:
    column = _whole(column)
    return column if len(column) == length else pa.repeat(column[0], length)


def _whole(column: pa.Array) -> pa.Array:
    """The column in one piece, as an engine may hand on several."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _columns_of(lists: pa.ListArray) -> list[pa.Array]:
    """Columns of lists that are all as long as the first."""
    width = len(lists[0])
    flat = lists.flatten()
    places = [np.arange(place, len(flat), width) for place in range(width)]
    return [flat.take(numbers_of(rows, pa.int64())) for rows in places]


# Rows, and what was found for them: an array, or a dataclass of arrays.
Parts = Sequence[tuple[Integers, Any]]


def _answers(kind: pa.DataType, length: int, parts: Parts) -> pa.Array:
    """Answers of some rows; NULL in all others."""
    missing = np.ones(length, dtype=bool)
    for rows, _ in parts:
        missing[rows] = False
    if not pa.types.is_struct(kind):
        return _spread(kind, missing, parts)
    fields = [
        _spread(one.type, missing, [(rows, getattr(scores, one.name)) for rows, scores in parts])
        for one in kind
    ]
    return structs_of(fields, kind, ~missing)


def _spread(kind: pa.DataType, missing: Flags, parts: Parts) -> pa.Array:
    if pa.types.is_string(kind):
        texts: npt.NDArray[Any] = np.full(len(missing), None, dtype=np.object_)
        for rows, part in parts:
            texts[rows] = part
        return array_of(texts.tolist(), kind)
    column = np.zeros(len(missing), dtype=parts[0][1].dtype if parts else np.float64)
    for rows, part in parts:
        column[rows] = part
    return numbers_of(column, kind, ~missing)


ARROW_TYPES: Final = {
    "BIGINT": pa.int64(),
    "DOUBLE": pa.float64(),
    "VARCHAR": pa.string(),
    "VARCHAR[]": pa.list_(pa.string()),
    "BIGINT[]": pa.list_(pa.int64()),
}


def rows_type(declared: Function) -> pa.DataType:
    """The type of a function's rows as one list."""
    return pa.list_(
        pa.struct([(name, ARROW_TYPES[kind]) for name, kind in declared.columns.items()])
    )


def reply_type(answers: pa.DataType) -> pa.DataType:
    """The type of a refusal, or of answers."""
    return pa.struct([("refusal", pa.string()), ("answers", answers)])


def table_kernel(declared: Function) -> Callable[..., pa.Array]:
    """Bind the body to the reduction's columns as lists, then its own parameters, for structs or a refusal.

    The structs are a list of one a row.
    """
    answer = reply_type(rows_type(declared))

    def call(*columns: pa.Array) -> pa.Array:
        length = max((len(column) for column in columns), default=1)
        rows = [[column[min(row, len(column) - 1)] for column in columns] for row in range(length)]
        if declared.models:
            with registry.within(rows[0][0].as_py()):
                answered_rows = [answered(declared, row[1:]) for row in rows]
        else:
            answered_rows = [answered(declared, row) for row in rows]
        if declared.columnar:
            return pa.concat_arrays([_in_columns(each, answer) for each in answered_rows])
        return array_of(answered_rows, answer)

    return call


def _in_columns(answered: dict[str, Any], answer: pa.DataType) -> pa.Array:
    """Make one row of the answer for each place of its arrays; a list of dictionaries would be slow."""
    per_row, types = answered["answers"], answer.field("answers").type
    columns = (per_row[field.name] if per_row else [] for field in types.value_type)
    arrays = []
    for column, field in zip(columns, types.value_type, strict=True):
        is_array = isinstance(column, np.ndarray) and column.dtype != np.object_
        if isinstance(column, pa.Array):
            arrays.append(column)
            continue
        if is_array and not pa.types.is_string(field.type):
            arrays.append(numbers_of(column, field.type))
            continue
        texts = list(column)
        if len(texts) > 1 and texts.count(texts[0]) == len(texts):  # a figure of all rows
            places = numbers_of(np.zeros(len(texts)), pa.int64())
            arrays.append(array_of(texts[:1], field.type).take(places))
        else:
            arrays.append(array_of(texts, field.type))
    rows = pa.StructArray.from_arrays(arrays, fields=list(types.value_type))
    listed = pa.ListArray.from_arrays(array_of([0, len(rows)], pa.int32()), rows)
    return pa.StructArray.from_arrays(
        [array_of([answered["refusal"]], pa.string()), listed], fields=list(answer)
    )


def answered(declared: Function, cells: list[pa.Scalar]) -> dict[str, Any]:
    """Call the body once: the reduction's columns and the parameters in; rows or a refusal out."""
    try:
        return {"refusal": None, "answers": answer_cells(declared, cells)}
    except ReidError as error:  # the engine would wrap the sentence in its own
        return {"refusal": str(error), "answers": []}


def answer_cells(declared: Function, cells: list[pa.Scalar]) -> Any:  # noqa: ANN401 - rows, or columns
    """Call the body once with Arrow scalars: the reduction's columns, and the parameters."""
    answer = answer_columns if declared.columnar else answer_rows
    counted = len(declared.reduction.inputs) if declared.reduction else 0
    return answer(
        declared, read_arrays(declared, cells[:counted]), read_options(declared, cells[counted:])
    )


def read_arrays(declared: Function, cells: Sequence[pa.Scalar]) -> dict[str, Any]:
    """The reduction's columns as a body takes them."""
    inputs = declared.reduction.inputs if declared.reduction else {}
    return {
        name: _values(cell.values if cell.is_valid else pa.nulls(0, pa.int64()))
        for name, cell in zip(inputs, cells, strict=True)
    }


def read_options(declared: Function, cells: Sequence[pa.Scalar]) -> dict[str, Any]:
    """The values of the body's own parameters."""
    return {p.name: cell.as_py() for p, cell in zip(declared.own_parameters, cells, strict=True)}


def answer_rows(
    declared: Function, arrays: Mapping[str, Any], options: Arguments
) -> list[dict[str, Any]]:
    """Call the body with the reduction's arrays, if any, and its own parameters; one dictionary a row."""
    result = call_body(declared, arrays, options)
    return [asdict(row) for row in result] if declared.answer is Answer.ROWS else [asdict(result)]


def of_groups(
    declared: Function, groups: Sequence[Mapping[str, Any]], options: Arguments
) -> list[list[dict[str, Any]]]:
    """The same for groups among others: of one that is too small, a row whose status says so."""
    if declared.body_of_groups is None or declared.reduction is None:
        answered = []
        for arrays in groups:
            try:
                answered.append(answer_rows(declared, arrays, options))
            except TooFewRecordsError as error:
                status = {"status": STATUS_REFUSED.format(error)}
                answered.append([dict.fromkeys(declared.columns) | status])
        return answered
    make: Any = declared.reduction.arrays
    answers = declared.body_of_groups([make(**arrays) for arrays in groups], **options)
    return [[asdict(row)] for row in answers]


def answer_columns(
    declared: Function, arrays: Mapping[str, Any], parameters: Arguments
) -> dict[str, Any]:
    """Call the body of an answer in arrays: these by name, and figures of all rows repeated for each."""
    return columns_of(call_body(declared, arrays, parameters))


def columns_of(answer: Any) -> dict[str, Any]:  # noqa: ANN401 - a dataclass of arrays
    """The columns of an answer in arrays, by name."""
    values_by_field = vars(answer)
    length = max(
        len(values) for values in values_by_field.values() if isinstance(values, np.ndarray)
    )
    return {
        name: _column(values) if isinstance(values, np.ndarray) else [values] * length
        for name, values in values_by_field.items()
    }


def _column(values: npt.NDArray[Any]) -> Any:  # noqa: ANN401 - an array, of lists Arrow's
    """The values of a column; lists, of which many rows share one, are turned into Arrow's once each."""
    if values.dtype != np.object_:
        return values
    _, first, place = np.unique(
        np.fromiter(map(id, values), np.int64, len(values)), return_index=True, return_inverse=True
    )
    return array_of(values[first].tolist(), pa.list_(pa.string())).take(
        numbers_of(place, pa.int64())
    )


def call_body(declared: Function, arrays: Mapping[str, Any], options: Arguments) -> Any:  # noqa: ANN401
    """The body's answer from the reduction's arrays, if any, and its own parameters."""
    reduction = declared.reduction
    if arrays and not len(next(iter(arrays.values()))):
        raise NoRecordsError
    return declared.body(
        *([reduction.arrays(**arrays)] if reduction and reduction.arrays else []), **options
    )


def arrays_of(table: pa.Table) -> dict[str, Any]:
    """Give the columns of a reduced table as a body takes them."""
    return {name: _values(table[name].combine_chunks()) for name in table.column_names}


def _values(values: pa.Array) -> Any:  # noqa: ANN401 - an array, a matrix or a list
    # By a setting of the connection
    listed = pa.types.is_list(values.type) or pa.types.is_large_list(values.type)
    if len(values) and listed and pa.types.is_integer(values.type.value_type):
        return numbers_in(values.flatten()).reshape(len(values), -1)
    numbers = pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
    return numbers_in(values) if numbers else _listed(values)


def _listed(values: pa.Array) -> list[Any]:
    """The values as Python's own, some at a time: nothing else in the process runs while Arrow makes them."""
    items: list[Any] = []
    for start in range(0, len(values), BLOCK):
        checkpoint()
        items += values.slice(start, BLOCK).to_pylist()
    return items
