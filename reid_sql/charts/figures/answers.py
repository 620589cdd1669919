"""What a picture is drawn from: the rows that a function answers, in whatever frame they come."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from reid_sql.errors import NoRecordsError, OutOfDomainError, WrongTypeError

Row: TypeAlias = Mapping[str, Any]


def rows_of(
    picture: str, answer: object, function: str, columns: Sequence[str], key: str | None = None
) -> list[Row]:
    """Read the rows; refuses a frame that is not the function's answer, an empty one, and several groups.

    The frame is a relation of DuckDB, a frame of Polars, pandas or Arrow, or a list of rows by column name.
    `key` is the column of which one group holds each value once.
    """
    names, rows = _read(picture, answer, function)
    missing = [name for name in columns if name not in names]
    rule = f"{picture} must be given the answer of {function}"
    if missing:
        raise OutOfDomainError(f"{rule}, got a table without '{missing[0]}'; pass what {function} answers")
    if not rows:
        raise NoRecordsError(f"{rule}, got no rows; ask {function} about a table with records")
    held = [str(row[key]) for row in rows] if key else []
    if len(set(held)) < len(held):
        twice = next(value for value in held if held.count(value) > 1)
        raise OutOfDomainError(
            f"{rule} of one group, got {key} '{twice}' more than once; keep the rows of one group first"
        )
    return rows


def tables_of(picture: str, page: object, command: str, columns: Sequence[str]) -> list[Row]:
    """The tables of what a command prints as JSON: of the whole page, or one of its tables."""
    found = page.get("tables", [page]) if isinstance(page, Mapping) else []
    if not found or not all(set(table) >= set(columns) for table in found):
        rule = f"{picture} must be given what reid-sql {command} --json prints, got {type(page).__name__}"
        raise WrongTypeError(f"{rule} without tables that have {columns[-1]}; pass json.loads of it")
    return list(found)


def _read(picture: str, answer: object, function: str) -> tuple[Sequence[str], list[Row]]:
    if isinstance(answer, Sequence) and all(isinstance(row, Mapping) for row in answer):
        return list(answer[0]) if answer else [], list(answer)
    frame = answer.collect() if hasattr(answer, "collect") and hasattr(answer, "lazy") else answer
    if not hasattr(frame, "__arrow_c_stream__"):
        rule = f"{picture} must be given the answer of {function}, got {type(answer).__name__}"
        raise WrongTypeError(f"{rule}; pass a relation of DuckDB or a frame of Polars, pandas or Arrow")
    import pyarrow as pa  # noqa: PLC0415 - help is shown without it

    table = pa.table(frame)
    return table.column_names, table.to_pylist()
