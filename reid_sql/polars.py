"""The functions for Polars: `import reid_sql.polars as rp`, then the same names as in SQL.

Row functions take column names, expressions or numbers and are expressions; table functions take a LazyFrame
or DataFrame first and give a LazyFrame. Nothing is collected before you collect.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import polars as pl

from reid_sql.domains import Column, Columns, Table
from reid_sql.engines import polars as engine
from reid_sql.engines import polars_models
from reid_sql.function import Answer, Function, signature_of
from reid_sql_udfs import declared

FUNCTIONS = declared()
__all__ = list(FUNCTIONS)


def __getattr__(name: str) -> Callable[..., Any]:
    if name not in FUNCTIONS:
        raise AttributeError(f"module {__name__!r} has no function {name!r}")
    bound = bind(FUNCTIONS[name])
    globals()[name] = bound
    return bound


def __dir__() -> list[str]:
    return __all__


def bind(function: Function) -> Callable[..., pl.Expr | pl.LazyFrame]:
    """Make the Polars function of a declared function."""
    made = BINDINGS.get(function.answer, _table)(function)
    made.__name__ = made.__qualname__ = function.name
    made.__doc__ = function.body.__doc__
    return made


def _window(function: Function) -> Callable[..., pl.Expr]:
    def call(*columns: engine.IntoColumn) -> pl.Expr:
        return engine.class_size(columns).alias(function.name)

    return call


def _row(function: Function) -> Callable[..., pl.Expr]:
    signature = signature_of(function)

    def call(*arguments: Any, **named: Any) -> pl.Expr:  # noqa: ANN401 - names, expressions or numbers
        return engine.row_expression(function, list(signature.bind(*arguments, **named).arguments.values()))

    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def _table(function: Function) -> Callable[..., pl.LazyFrame]:
    signature = signature_of(function)
    frames = [parameter.name for parameter in function.parameters if isinstance(parameter.domain, Table)]

    listed = next((p.name for p in function.parameters if isinstance(p.domain, Columns)), None)
    single = [p.name for p in function.parameters if isinstance(p.domain, Column)]

    def call(*arguments: Any, **named: Any) -> pl.LazyFrame:  # noqa: ANN401 - frames, names and options
        given = signature.bind(*arguments, **named)
        given.apply_defaults()
        options = dict(given.arguments)
        tables = [options.pop(name) for name in frames]
        columns = options.pop(listed) if listed else [options.pop(name) for name in single]
        return engine.table_frame(function, tables, columns, options)

    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def _model(function: Function) -> Callable[..., pl.Expr]:
    own = len(function.own_parameters)

    def call(model: Any, *arguments: Any) -> pl.Expr:  # noqa: ANN401 - a name or a model, numbers, columns
        return polars_models.model_expression(function, model, arguments[:own], arguments[own:])

    return call


def _scored(function: Function) -> Callable[..., pl.LazyFrame]:
    signature = signature_of(function)

    def call(*arguments: Any, **named: Any) -> pl.LazyFrame:  # noqa: ANN401 - frames, names and options
        given = signature.bind(*arguments, **named)
        given.apply_defaults()
        options = dict(given.arguments)
        return polars_models.scored_frame(function, options.pop("tbl"), options.pop("model"), options)

    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def _drawn(function: Function) -> Callable[..., pl.LazyFrame]:
    signature = signature_of(function)

    def call(*arguments: Any, **named: Any) -> pl.LazyFrame:  # noqa: ANN401 - frames, names and options
        given = signature.bind(*arguments, **named)
        given.apply_defaults()
        options = dict(given.arguments)
        return polars_models.drawn_frame(function, options.pop("model"), options.pop("n"), options)

    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


BINDINGS: Final[Mapping[Answer, Callable[[Function], Callable[..., pl.Expr | pl.LazyFrame]]]] = {
    Answer.COUNT: _window,
    Answer.VALUE: _row,
    Answer.SCORE: _model,
    Answer.BESIDE: _scored,
    Answer.DRAWN: _drawn,
}
