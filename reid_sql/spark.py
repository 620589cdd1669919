"""The functions for Spark: `import reid_sql.spark as rs`, then the same names as in SQL.

Table functions take a DataFrame first and give a DataFrame. Spark counts; what comes to the driver is the
reduced statistics, never more than a stated size. Row functions take column names, Columns or numbers and are
Columns; `register(spark)` puts them into Spark SQL under the same names.
"""

from collections.abc import Callable, Sequence
from inspect import Parameter
from typing import Any

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, SparkSession

from reid_sql.domains import Column, Columns, Table
from reid_sql.engines import spark as engine
from reid_sql.engines import spark_models as models
from reid_sql.engines.spark_catalogue import why_not
from reid_sql.engines.spark_functions import register as register_functions
from reid_sql.engines.spark_functions import row_column
from reid_sql.errors import UnavailableError
from reid_sql.function import Answer, Function, signature_of
from reid_sql_udfs import declared

FUNCTIONS = declared()
__all__ = ["register", *FUNCTIONS]  # noqa: PLE0604 - names they are


def __getattr__(name: str) -> Callable[..., Any]:
    if name not in FUNCTIONS:
        raise AttributeError(f"module {__name__!r} has no function {name!r}")
    bound = bind(FUNCTIONS[name])
    globals()[name] = bound
    return bound


def __dir__() -> list[str]:
    return __all__


def register(spark: SparkSession) -> list[str]:
    """Put the row functions, and the table functions that need no table, into the session's SQL; gives their names.

    They are temporary functions of this session and leave nothing in the catalogue. Twice is harmless.
    """
    return register_functions(spark, FUNCTIONS.values())


def bind(function: Function) -> Callable[..., SparkColumn | DataFrame]:
    """Make the Spark function of a declared function; one that Spark does not have says so when it is called."""
    kinds = {
        Answer.COUNT: _window,
        Answer.VALUE: _row,
        Answer.SCORE: _model,
        Answer.BESIDE: _scored,
        Answer.DRAWN: _drawn,
    }
    made = _missing(function) if why_not(function) else kinds.get(function.answer, _table)(function)
    made.__name__ = made.__qualname__ = function.name
    made.__doc__ = function.body.__doc__
    return made


def _missing(function: Function) -> Callable[..., DataFrame]:
    def call(*_: Any, **__: Any) -> DataFrame:  # noqa: ANN401 - whatever it is called with
        got = f"{function.name} must be asked of DuckDB or Polars, got a call of Spark: {why_not(function)}"
        raise UnavailableError(f"{got}; ask it about a sample there")

    return call


def _window(function: Function) -> Callable[..., DataFrame]:
    def call(tbl: DataFrame, *columns: str, name: str = function.name) -> DataFrame:
        return engine.class_size(tbl, columns, name)

    return call


def _row(function: Function) -> Callable[..., SparkColumn]:
    signature = signature_of(function)

    def call(*arguments: Any, **named: Any) -> SparkColumn:  # noqa: ANN401 - names, Columns or numbers
        return row_column(function, list(signature.bind(*arguments, **named).arguments.values()))

    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def _model(function: Function) -> Callable[..., SparkColumn]:
    signature = signature_of(function)
    columns = Parameter("columns", Parameter.VAR_POSITIONAL)
    signature = signature.replace(parameters=[*signature.parameters.values(), columns])
    own = 1 + len(function.own_parameters)

    def call(*arguments: Any, **named: Any) -> SparkColumn:  # noqa: ANN401 - names, Columns or numbers
        model, *given = signature.bind(*arguments, **named).args
        return models.model_column(function, model, given[: own - 1], given[own - 1 :])

    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def _scored(function: Function) -> Callable[..., DataFrame]:
    return _with_options(function, ("tbl", "model"), models.scored_frame)


def _drawn(function: Function) -> Callable[..., DataFrame]:
    return _with_options(function, ("model", "n"), models.drawn_frame)


def _with_options(
    function: Function, first: Sequence[str], answer: Callable[..., DataFrame]
) -> Callable[..., DataFrame]:
    signature = signature_of(function)

    def call(*arguments: Any, **named: Any) -> DataFrame:  # noqa: ANN401 - a frame, a name or a model, options
        given = signature.bind(*arguments, **named)
        given.apply_defaults()
        options = dict(given.arguments)
        return answer(function, *(options.pop(name) for name in first), options)

    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def _table(function: Function) -> Callable[..., DataFrame]:
    signature = signature_of(function)
    frames = [parameter.name for parameter in function.parameters if isinstance(parameter.domain, Table)]
    listed = next((p.name for p in function.parameters if isinstance(p.domain, Columns)), None)
    single = [p.name for p in function.parameters if isinstance(p.domain, Column)]

    def call(*arguments: Any, **named: Any) -> DataFrame:  # noqa: ANN401 - a frame, a name or a model, options
        given = signature.bind(*arguments, **named)
        given.apply_defaults()
        options = dict(given.arguments)
        tables = [options.pop(name) for name in frames]
        columns = options.pop(listed) if listed else [options.pop(name) for name in single]
        return engine.table_frame(function, tables, columns, options)

    call.__signature__ = signature  # type: ignore[attr-defined]
    return call
