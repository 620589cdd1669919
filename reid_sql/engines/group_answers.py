"""Answers from what an engine counted: of a whole table, or of each of its groups."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

import pyarrow as pa

from reid_sql.engines.arrow import (
    ARROW_TYPES,
    answer_rows,
    answered,
    arrays_of,
    named_like,
    of_group,
)
from reid_sql.engines.arrow_rows import array_of
from reid_sql.errors import ReidError
from reid_sql.function import Function
from reid_sql.models.interruption import checkpoint
from reid_sql.reduction import NULL_REPORT_COLUMNS, OF_NO_RECORD, group_names, refuse_many_groups


def answered_by_group(
    declared: Function,
    table: pa.Table,
    by: Sequence[str],
    own: Mapping[str, Any],
    keys: Sequence[Hashable] | None = None,
) -> pa.Table:
    """Answer for each group; of one of which every record was dropped nothing but that is known.

    `keys` has what distinguishes the group of each row, by default its values as they are written.
    """
    places: dict[Hashable, list[int]] = {}
    divided = table.select(group_names(by))
    written = keys or [repr(list(values.values())) for values in divided.to_pylist()]
    for place, key in enumerate(written):
        places.setdefault(key, []).append(place)
    refuse_many_groups(len(places), declared.reduction.max_groups if declared.reduction else None)
    group_rows = [_answers(declared, table.take(each), own) for each in places.values()]
    answers = table_of(
        [row for rows in group_rows for row in rows], {**declared.columns, **NULL_REPORT_COLUMNS}
    )
    firsts = [each[0] for each, rows in zip(places.values(), group_rows, strict=True) for _ in rows]
    groups = divided.take(firsts).rename_columns(list(by))
    for name in answers.column_names:
        groups = groups.append_column(name, answers[name])
    return groups


def _answers(declared: Function, part: pa.Table, own: Mapping[str, Any]) -> list[dict[str, Any]]:
    how = _how_nulls_were_treated(part)
    reduction: Any = declared.reduction
    if not _compute().sum(part[reduction.counting]).as_py():
        known = {name: value for name, value in OF_NO_RECORD.items() if name in declared.columns}
        return [dict.fromkeys(declared.columns) | known | how]
    first = next(iter(reduction.columns))
    arrays = arrays_of(part.sort_by(first).select(list(reduction.inputs)))
    return [row | how for row in of_group(declared, arrays, own)]


def _how_nulls_were_treated(counts: pa.Table) -> dict[str, Any]:
    """What each row says of the treatment of NULLs; all NULL where there is no row."""
    return {name: _compute().max(counts[name]).as_py() for name in NULL_REPORT_COLUMNS}


def _compute() -> ModuleType:
    """Arrow's functions: they take long to import, and SQL in DuckDB does without."""
    return import_module("pyarrow.compute")


def table_of(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> pa.Table:
    """The rows as a table of these columns, whose types are SQL's."""
    return pa.Table.from_pylist(
        rows, pa.schema([(name, ARROW_TYPES[kind]) for name, kind in columns.items()])
    )


def answer_whole(declared: Function, counts: pa.Table, own: Mapping[str, Any]) -> pa.Table:
    """Answer for a whole table, from what an engine counted of it, with how NULLs were treated."""
    reduction: Any = declared.reduction
    ordered = counts.sort_by(next(iter(reduction.columns))).select(list(reduction.inputs))
    how = _how_nulls_were_treated(counts)
    rows = [row | how for row in answer_rows(declared, arrays_of(ordered), own)]
    return table_of(rows, {**declared.columns, **NULL_REPORT_COLUMNS})


def group_kernel(declared: Function) -> Callable[..., pa.Array]:
    """Bind the body to the columns of each group as a list of lists, for a list of rows each, or a refusal.

    The last argument is whether the table is divided, or a whole one in one group. Where there is no group
    at all, the body gets no record, and refuses.
    """
    inputs: Mapping[str, str] = declared.reduction.inputs if declared.reduction else {}
    rows = pa.list_(
        pa.struct([(name, ARROW_TYPES[kind]) for name, kind in declared.columns.items()])
    )
    answer = pa.struct([("refusal", pa.string()), ("answers", pa.list_(rows))])

    def call(*columns: pa.Array) -> pa.Array:
        parts, own = columns[: len(inputs)], [column[0] for column in columns[len(inputs) : -1]]
        answer_of = of_group if columns[-1][0].as_py() else None
        groups = [
            column[0].values if column[0].is_valid else [pa.scalar(None, column.type.value_type)]
            for column in parts
        ]
        answers: list[list[dict[str, Any]]] = []
        if refusal := _of_many(declared, len(groups[0])):
            return array_of([{"refusal": refusal, "answers": []}], answer)
        for cells in zip(*groups, strict=True):
            checkpoint(len(answers) / len(groups[0]))
            answer_of_group = _of_nobody(declared, cells) or answered(
                declared, [*cells, *own], answer_of
            )
            if answer_of_group["refusal"]:
                return array_of([{"refusal": answer_of_group["refusal"], "answers": []}], answer)
            answers.append(answer_of_group["answers"])
        return array_of([{"refusal": None, "answers": answers}], answer)

    own_names = [parameter.name for parameter in declared.own_parameters]
    return named_like(call, [*inputs, *own_names, "divided"])


def _of_many(declared: Function, groups: int) -> str | None:
    """The refusal of more groups than can be answered at once."""
    try:
        refuse_many_groups(groups, declared.reduction.max_groups if declared.reduction else None)
    except ReidError as error:  # the engine would wrap the sentence in its own
        return str(error)
    return None


def _of_nobody(declared: Function, cells: Sequence[pa.Scalar]) -> dict[str, Any] | None:
    """The answer for a group of which every record was dropped; None for others, and for a table of none.

    Such a group has one line, of nothing.
    """
    if not cells[0].is_valid or len(cells[0].values) != 1 or cells[0].values[0].is_valid:
        return None
    known = {name: value for name, value in OF_NO_RECORD.items() if name in declared.columns}
    return {"refusal": None, "answers": [dict.fromkeys(declared.columns) | known]}
