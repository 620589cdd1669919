"""Answers from what an engine counted: of a whole table, or of each of its groups."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, Final

import pyarrow as pa

from reid_sql.engines.arrow import (
    ARROW_TYPES,
    answer_cells,
    answer_rows,
    arrays_of,
    of_groups,
    read_arrays,
    read_options,
    reply_type,
    rows_type,
)
from reid_sql.engines.arrow_rows import array_of
from reid_sql.errors import ReidError
from reid_sql.function import Function
from reid_sql.models.interruption import checkpoint
from reid_sql.parameters import Arguments, ColumnNames, Rows
from reid_sql.reduction import NULL_REPORT_COLUMNS, OF_NO_RECORD, group_names, refuse_many_groups

GROUPS_TOGETHER: Final = 32  # as many as answering them together pays


def answered_by_group(
    declared: Function,
    table: pa.Table,
    by: ColumnNames,
    options: Arguments,
    keys: Sequence[Hashable] | None = None,
) -> pa.Table:
    """Answer for each group, next to its values.

    `keys` has what distinguishes the group of each row, by default its values as they are written.
    """
    divided = table.select(group_names(by))
    written = keys or [repr(list(values.values())) for values in divided.to_pylist()]
    answers, firsts = answer_groups(declared, table, written, options)
    groups = divided.take(firsts).rename_columns(list(by))
    for name in answers.column_names:
        groups = groups.append_column(name, answers[name])
    return groups


def answer_groups(
    declared: Function, table: pa.Table, keys: Sequence[Hashable], options: Arguments
) -> tuple[pa.Table, list[int]]:
    """Answer for each group; of one of which every record was dropped nothing but that is known.

    `keys` has the group of each row. With each row of the answers comes the place of its group's first row.
    """
    places: dict[Hashable, list[int]] = {}
    for place, key in enumerate(keys):
        places.setdefault(key, []).append(place)
    _refuse_many(declared, len(places))
    parts = [table.take(each) for each in places.values()]
    group_rows = [
        [row | _how_nulls_were_treated(part) for row in rows]
        for part, rows in zip(
            parts,
            _answer_each(declared, [_arrays(declared, p) for p in parts], options),
            strict=True,
        )
    ]
    answers = table_of(
        [row for rows in group_rows for row in rows], {**declared.columns, **NULL_REPORT_COLUMNS}
    )
    firsts = [each[0] for each, rows in zip(places.values(), group_rows, strict=True) for _ in rows]
    return answers, firsts


def _arrays(declared: Function, part: pa.Table) -> dict[str, Any] | None:
    """The reduction's arrays of one group; None where every record of it was dropped."""
    reduction: Any = declared.reduction
    if not _compute().sum(part[reduction.counting]).as_py():
        return None
    return arrays_of(part.sort_by(next(iter(reduction.columns))).select(list(reduction.inputs)))


def _answer_each(
    declared: Function, groups: Sequence[dict[str, Any] | None], options: Arguments
) -> list[list[dict[str, Any]]]:
    """The rows of each group, from its arrays."""
    counted = [arrays for arrays in groups if arrays is not None]
    together = GROUPS_TOGETHER if declared.body_of_groups else 1
    rows: list[list[dict[str, Any]]] = []
    for start in range(0, len(counted), together):
        checkpoint(start / len(counted))
        rows += of_groups(declared, counted[start : start + together], options)
    found = iter(rows)
    return [
        [_answer_for_no_record(declared)] if arrays is None else next(found) for arrays in groups
    ]


def _how_nulls_were_treated(counts: pa.Table) -> dict[str, Any]:
    """What each row says of the treatment of NULLs; all NULL where there is no row."""
    return {name: _compute().max(counts[name]).as_py() for name in NULL_REPORT_COLUMNS}


def _compute() -> ModuleType:
    """Arrow's functions: they take long to import, and SQL in DuckDB does without."""
    return import_module("pyarrow.compute")


def table_of(rows: Rows, columns: Mapping[str, str]) -> pa.Table:
    """The rows as a table of these columns, whose types are SQL's."""
    return pa.Table.from_pylist(
        rows, pa.schema([(name, ARROW_TYPES[kind]) for name, kind in columns.items()])
    )


def answer_whole(declared: Function, counts: pa.Table, options: Arguments) -> pa.Table:
    """Answer for a whole table, from what an engine counted of it, with how NULLs were treated."""
    reduction: Any = declared.reduction
    ordered = counts.sort_by(next(iter(reduction.columns))).select(list(reduction.inputs))
    how = _how_nulls_were_treated(counts)
    rows = [row | how for row in answer_rows(declared, arrays_of(ordered), options)]
    return table_of(rows, {**declared.columns, **NULL_REPORT_COLUMNS})


def group_kernel(declared: Function) -> Callable[..., pa.Array]:
    """Bind the body to the columns of each group as a list of lists, for a list of rows each, or a refusal.

    The last argument is whether the table is divided, or a whole one in one group. Where there is no group
    at all, the body gets no record, and refuses.
    """
    inputs: Mapping[str, str] = declared.reduction.inputs if declared.reduction else {}
    answer = reply_type(pa.list_(rows_type(declared)))

    def call(*columns: pa.Array) -> pa.Array:
        parts, options = columns[: len(inputs)], [column[0] for column in columns[len(inputs) : -1]]
        groups = [
            column[0].values if column[0].is_valid else [pa.scalar(None, column.type.value_type)]
            for column in parts
        ]
        cells = list(zip(*groups, strict=True))
        try:
            _refuse_many(declared, len(cells))
            if columns[-1][0].as_py():
                read = [
                    None if _is_of_nobody(each[0]) else read_arrays(declared, each)
                    for each in cells
                ]
                answers = _answer_each(declared, read, read_options(declared, options))
            else:
                answers = [
                    [_answer_for_no_record(declared)]
                    if _is_of_nobody(each[0])
                    else answer_cells(declared, [*each, *options])
                    for each in cells
                ]
        except ReidError as error:  # the engine would wrap the sentence in its own
            return array_of([{"refusal": str(error), "answers": []}], answer)
        return array_of([{"refusal": None, "answers": answers}], answer)

    return call


def _refuse_many(declared: Function, groups: int) -> None:
    refuse_many_groups(groups, declared.reduction.max_groups if declared.reduction else None)


def _is_of_nobody(cell: pa.Scalar) -> bool:
    """Whether every record of a group was dropped: it has one line, of nothing. A table of none has none."""
    return cell.is_valid and len(cell.values) == 1 and not cell.values[0].is_valid


def _answer_for_no_record(declared: Function) -> dict[str, Any]:
    of_no_record = {name: value for name, value in OF_NO_RECORD.items() if name in declared.columns}
    return dict.fromkeys(declared.columns) | of_no_record
