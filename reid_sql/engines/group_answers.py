"""Answers for each group of a table, from the histograms of all groups, whatever engine counted."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from reid_sql.engines.arrow import ARROW_TYPES, arrays_of, of_group
from reid_sql.function import Function
from reid_sql.reduction import NULL_REPORT_COLUMNS, OF_NO_RECORD, Reduction, group_names, refuse_many_groups


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
    types = {**declared.columns, **NULL_REPORT_COLUMNS}
    answers = pa.Table.from_pylist(
        [row for rows in group_rows for row in rows],
        pa.schema([(name, ARROW_TYPES[kind]) for name, kind in types.items()]),
    )
    firsts = [each[0] for each, rows in zip(places.values(), group_rows, strict=True) for _ in rows]
    groups = divided.take(firsts).rename_columns(list(by))
    for name in answers.column_names:
        groups = groups.append_column(name, answers[name])
    return groups


def _answers(declared: Function, part: pa.Table, own: Mapping[str, Any]) -> list[dict[str, Any]]:
    how = {name: pc.max(part[name]).as_py() for name in NULL_REPORT_COLUMNS}
    reduction: Any = declared.reduction
    if not pc.sum(part[reduction.counting]).as_py():
        known = {name: value for name, value in OF_NO_RECORD.items() if name in declared.columns}
        return [dict.fromkeys(declared.columns) | known | how]
    first = next(iter(reduction.columns))
    arrays = arrays_of(part.sort_by(first).select(list(reduction.inputs)))
    return [row | how for row in of_group(declared, arrays, own)]


def with_null_report(
    rows: Sequence[dict[str, Any]], reduction: Reduction, treated: pa.Table
) -> list[dict[str, Any]]:
    """Report in each row of a whole table's answer how NULLs were treated."""
    if reduction.rowwise:
        how = treated.select(list(NULL_REPORT_COLUMNS)).to_pylist()
    else:
        how = [{name: pc.max(treated[name]).as_py() for name in NULL_REPORT_COLUMNS}] * len(rows)
    return [row | treatment for row, treatment in zip(rows, how, strict=True)]
