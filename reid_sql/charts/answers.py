"""The answers that charts are drawn from: read from any frame, with another function's answer refused."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from reid_sql.errors import NoRecordsError, OutOfDomainError, WrongTypeError

Row: TypeAlias = Mapping[str, Any]


def rows_of(
    chart: str, answer: object, function: str, columns: Sequence[str], key: str | None = None
) -> list[Row]:
    """Read the rows; refuse another function's answer, an empty one, and several groups.

    The frame is a relation of DuckDB, a frame of Polars, pandas or Arrow, or a list of rows by column name.
    `key` is a column whose values are unique within one group.
    """
    names, rows = read_frame(chart, answer, function)
    missing = [name for name in columns if name not in names]
    rule = f"{chart} must be given the answer of {function}"
    if missing:
        raise OutOfDomainError(f"{rule}, got a table without '{missing[0]}'; pass the answer of {function}")
    if not rows:
        raise NoRecordsError(f"{rule}, got no rows; ask {function} about a table with records")
    keys = [str(row[key]) for row in rows] if key else []
    if len(set(keys)) < len(keys):
        twice = next(value for value in keys if keys.count(value) > 1)
        raise OutOfDomainError(
            f"{rule} of one group, got {key} '{twice}' more than once; keep the rows of one group first"
        )
    return rows


def tables_of(chart: str, page: object, command: str, columns: Sequence[str]) -> list[Row]:
    """Return the tables of what a command prints as JSON: a whole page, or one of its tables."""
    listed = page.get("tables", [page]) if isinstance(page, Mapping) else []
    if not listed or not all(set(table) >= set(columns) for table in listed):
        rule = f"{chart} must be given what reid-sql {command} --json prints, got {type(page).__name__}"
        raise WrongTypeError(f"{rule} without tables that have {columns[-1]}; pass json.loads of it")
    return list(listed)


def read_frame(chart: str, answer: object, function: str) -> tuple[Sequence[str], list[Row]]:
    """Read the columns and rows of a frame; refuse what is none."""
    if isinstance(answer, Sequence) and all(isinstance(row, Mapping) for row in answer):
        return list(answer[0]) if answer else [], list(answer)
    frame = answer.collect() if hasattr(answer, "collect") and hasattr(answer, "lazy") else answer
    if not hasattr(frame, "__arrow_c_stream__"):
        rule = f"{chart} must be given the answer of {function}, got {type(answer).__name__}"
        raise WrongTypeError(f"{rule}; pass a relation of DuckDB or a frame of Polars, pandas or Arrow")
    import pyarrow as pa  # noqa: PLC0415 - help is shown without it

    table = pa.table(frame)
    return table.column_names, table.to_pylist()
