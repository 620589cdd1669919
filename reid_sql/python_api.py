"""The functions of a table asked of a DuckDB connection, answered before the next line runs.

`reid_sql.fit_copula(con, …)` is one of them: what `con.sql("FROM fit_copula(…)")` gives runs only when
it is read, and a model that it fits does not exist before.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import Parameter as Argument
from inspect import Signature
from typing import Any, Final
from uuid import uuid4

import duckdb
import polars as pl
import pyarrow as pa

from reid_sql.engines.counted_rows import report_people
from reid_sql.engines.duckdb import connection_of, register
from reid_sql.engines.duckdb.planner import planned_calls
from reid_sql.engines.file_headers import refuse_repeated_names
from reid_sql.engines.polars.tables import from_arrow_stream
from reid_sql.engines.public_api import bound, checked, describe_outputs
from reid_sql.errors import (
    MissingCodesWarning,
    OutOfDomainError,
    RowsNotPeopleWarning,
    UnavailableError,
    WrongTypeError,
)
from reid_sql.function import Function, signature_of
from reid_sql.models.fitted_model import FittedModel
from reid_sql.parameters import describe_value
from reid_sql.parameters.outputs import Parameter
from reid_sql.sources.identifiers import describe_calls
from reid_sql.sources.missing_value_codes import describe_codes_of_calls
from reid_sql.terminal.runner import sentence
from reid_sql_udfs import declared

Call = Callable[..., duckdb.DuckDBPyRelation]
CONNECTION: Final = Argument("con", Argument.POSITIONAL_OR_KEYWORD)
FRAMES: Final = (duckdb.DuckDBPyRelation, pl.DataFrame, pl.LazyFrame, pa.Table)


def call_of(name: str) -> Call:
    """Return the function as a call; a function of single records refuses, as it belongs into a SELECT."""
    function = declared()[name]
    call = _of_records(function) if function.answer.of_rows else _of_a_table(function)
    call.__name__ = call.__qualname__ = name
    call.__module__ = "reid_sql"
    call.__doc__ = describe_outputs(function)
    return call


def _of_records(function: Function) -> Call:
    def call(*_: Any, **__: Any) -> duckdb.DuckDBPyRelation:  # noqa: ANN401 - whatever it is called with
        raise UnavailableError(
            f"{function.name} must be called in a SELECT list, got a call of its own; write con.sql('SELECT *, {function.signature} FROM …')"
        )

    return call


def _of_a_table(function: Function) -> Call:
    signature = signature_of(function)
    signature = Signature([CONNECTION, *signature.parameters.values()])

    def call(*arguments: Any, **named: Any) -> duckdb.DuckDBPyRelation:  # noqa: ANN401 - as SQL takes them
        if arguments:
            connection_of(arguments[0])  # a call without it would lack another argument
        values_by_name = bound(function, signature, arguments, named)
        con = connection_of(values_by_name.pop("con"))
        options = checked(function, values_by_name)
        frames: dict[str, Any] = {}
        values = [_value(p, options[p.name], frames) for p in function.parameters]
        place = register(con, declared())
        return _answered(con, f"{place}.{function.name}", values, frames)

    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def _answered(
    con: duckdb.DuckDBPyConnection, name: str, values: Sequence[Any], frames: Mapping[str, Any]
) -> duckdb.DuckDBPyRelation:
    """Call with each frame registered under a temporary name; the answer is materialized."""
    try:
        for shown, frame in frames.items():
            con.register(shown, frame)
        with planned_calls() as calls, report_people():
            answer = con.sql(f"FROM {name}({', '.join('?' * len(values))})", params=values)
            # DuckDB 1.5 cannot materialize a relation.
            can = hasattr(duckdb.DuckDBPyRelation, "materialize")
            materialized = answer.materialize() if can else con.from_arrow(answer.to_arrow_table())
        if caution := describe_calls(calls, con.sql, "entity ="):
            warnings.warn(caution, RowsNotPeopleWarning, stacklevel=3)
        if caution := describe_codes_of_calls(calls, con.sql):
            warnings.warn(caution, MissingCodesWarning, stacklevel=3)
    except duckdb.InvalidInputException as error:
        raise OutOfDomainError(sentence(error)) from None
    else:
        return materialized
    finally:
        for shown in frames:
            con.unregister(shown)


def _value(parameter: Parameter, value: Any, frames: dict[str, Any]) -> Any:  # noqa: ANN401 - as SQL takes it
    """Return the value as SQL takes it; a frame is collected, and replaced by its temporary name."""
    # Asked whether it is a model, a LazyFrame resolves its schema, and warns.
    if not isinstance(value, FRAMES) and isinstance(value, FittedModel):
        raise WrongTypeError(
            f"{parameter.name} must be the name of a fitted model, got {describe_value(value)}; see fitted_models() for those there are"
        )
    named = partial(_table, parameter.name, frames=frames)
    converted = parameter.domain.convert_tables(parameter.name, value, named)
    return list(converted) if isinstance(converted, tuple) else converted


def _table(name: str, value: Any, frames: dict[str, Any]) -> str | None:  # noqa: ANN401 - a name or a frame
    if value is None or isinstance(value, str):
        return value
    of_pandas = (type(value).__module__.partition(".")[0], type(value).__name__) == (
        "pandas",
        "DataFrame",
    )
    # a stream can be read once, and a table is counted
    if not of_pandas and not isinstance(value, FRAMES):
        raise WrongTypeError(
            f"{name} must be a table, a file or a frame, got {type(value).__name__}; write its name as a text, or pass a relation or a frame"
        )
    if not isinstance(value, pl.LazyFrame):  # which cannot have two columns of one name
        refuse_repeated_names(name, map(str, getattr(value, "column_names", value.columns)), str)
    shown = f"reid_given_{uuid4().hex}"
    has_objects = of_pandas and any(kind == "object" for kind in value.dtypes)
    if has_objects:
        # as Arrow and Polars have them: DuckDB makes some Python objects equal
        table = from_arrow_stream(value)
        if table is None:
            raise OutOfDomainError(
                f"{name} must have columns of one type each, got Python objects that Arrow cannot represent; make texts of them"
            )
        value = table
    frames[shown] = value
    return shown
