"""One binding of a body to all groups of a table, for an engine that calls it by Arrow."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from reid_sql.engines.arrow import ARROW_TYPES, answered, named_like, of_group
from reid_sql.engines.arrow_rows import array_of
from reid_sql.errors import ReidError
from reid_sql.function import Function
from reid_sql.interruption import checkpoint
from reid_sql.reduction import OF_NO_RECORD, refuse_many_groups


def group_kernel(declared: Function) -> Callable[..., pa.Array]:
    """Bind the body to the columns of each group as a list of lists, for a list of rows each, or a refusal.

    The last argument tells whether the table is divided, or a whole one in one group. Where there is no group
    at all, the body gets no record, and refuses.
    """
    inputs: Mapping[str, str] = declared.reduction.inputs if declared.reduction else {}
    rows = pa.list_(pa.struct([(name, ARROW_TYPES[kind]) for name, kind in declared.columns.items()]))
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
            answer_of_group = _of_nobody(declared, cells) or answered(declared, [*cells, *own], answer_of)
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
