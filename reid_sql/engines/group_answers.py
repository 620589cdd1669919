"""Answers for each group of a table, from the histograms of all groups, whatever engine counted."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from reid_sql.engines.arrow import ARROW_TYPES, answer_rows, arrays_of
from reid_sql.function import Function
from reid_sql.reduction import HOW_NULLS, NOBODY


def answered_by_group(
    declared: Function, table: pa.Table, by: Sequence[str], own: Mapping[str, Any]
) -> pa.Table:
    """Answer for each group; of one of which every record was dropped nothing but that is known."""
    places: dict[str, list[int]] = {}
    for place, values in enumerate(table.select(list(by)).to_pylist()):
        places.setdefault(repr(list(values.values())), []).append(place)
    found = [_answers(declared, table.take(each), own) for each in places.values()]
    types = {**declared.columns, **HOW_NULLS}
    answers = pa.Table.from_pylist(
        [row for rows in found for row in rows],
        pa.schema([(name, ARROW_TYPES[kind]) for name, kind in types.items()]),
    )
    firsts = [each[0] for each, rows in zip(places.values(), found, strict=True) for _ in rows]
    groups = table.select(list(by)).take(firsts)
    for name in answers.column_names:
        groups = groups.append_column(name, answers[name])
    return groups


def _answers(declared: Function, part: pa.Table, own: Mapping[str, Any]) -> list[dict[str, Any]]:
    how = {name: pc.max(part[name]).as_py() for name in HOW_NULLS}
    if not pc.sum(part["classes"]).as_py():
        known = {name: value for name, value in NOBODY.items() if name in declared.columns}
        return [dict.fromkeys(declared.columns) | known | how]
    reduction: Any = declared.reduction
    arrays = arrays_of(part.sort_by("class_size").select(list(reduction.inputs)))
    return [row | how for row in answer_rows(declared, arrays, own)]
