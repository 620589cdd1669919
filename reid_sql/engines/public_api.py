"""The public API of the dataframe engines: names, signatures, checks and refusals over any adapter.

`reid_sql.polars`, `reid_sql.spark` and `reid_sql.ibis` are this over an adapter each: positional and named
arguments alike, in the order of SQL.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from inspect import Parameter as Argument
from inspect import Signature
from typing import Any, Final

from reid_sql.engines import registry
from reid_sql.engines.contract import Adapter, Kind, RecordAdapter, refuse_columns_in_a_row
from reid_sql.errors import (
    UnavailableError,
    UnknownParameterError,
    WrongCallError,
    WrongTypeError,
    suggestion,
)
from reid_sql.function import (
    Answer,
    Function,
    refuse_lacked,
    resolve_name,
    signature_of,
)
from reid_sql.models.fitted_model import FittedModel
from reid_sql.parameters import Arguments, describe_value, is_number

GROUND: Final = "duckdb"  # the engine that has every function, as a function is declared for SQL


def documented(module: str, declared: Function) -> str:
    """Describe a function of the public module, and why the engine lacks it, or one of its outputs."""
    return describe_outputs(declared, module.rpartition(".")[2])


def describe_outputs(declared: Function, engine: str = GROUND) -> str:
    """Describe each output."""
    parts = []
    for each in declared.all_outputs:
        heading = f"With {each.selector}={each.word!r}: " if each.word else ""
        reason = each.absence(engine)
        parts.append(f"{heading}{without_example(each)}")
        parts += [f"Not on {engine.capitalize()}: {reason}."] if reason else []
    return "\n\n".join(parts)


def without_example(declared: Function) -> str:
    """Return the body's docstring without its example, which is the model's, and the source."""
    text = (inspect.getdoc(declared.body) or declared.words).partition(">>>")[0].strip()
    return f"{text}\n\nSource: {declared.source}.".replace(" := ", "=")


Call = Callable[..., Any]
Answering = Callable[[Function, Arguments], Any]
ENGINES: Final = "reid_sql.engines"
TITLES: Final = {"duckdb": "DuckDB"}


def engines() -> list[str]:
    """The engines that there are, by the folders of their adapters."""
    modules = pkgutil.iter_modules(importlib.import_module(ENGINES).__path__)
    return sorted({GROUND, *(each.name for each in modules if each.ispkg)})


def title(engine: str) -> str:
    """The engine's name as its makers write it."""
    return TITLES.get(engine, engine.title())


def public(
    module: str,
    adapter: Adapter[Any, Any],
    functions: Mapping[str, Function],
    fallback: Answering | None = None,
) -> Callable[[str], Call]:
    """Give the `__getattr__` of a public module: each function bound when it is first asked for.

    `fallback` answers a function of a table whose reduction the engine does not implement.
    """

    @cache
    def bound(name: str) -> Call:
        if (of := resolve_name(name, functions)) != name:
            return bound(of)
        if name in functions:
            call = bind(adapter, functions[name], fallback)
            call.__doc__ = documented(module, functions[name])
            return call
        hint = "" if name.startswith("_") else f"; {suggestion(name, list(functions), 'functions')}"
        raise AttributeError(f"module {module!r} has no function {name!r}{hint}")

    return bound


def bind(adapter: Adapter[Any, Any], declared: Function, fallback: Answering | None = None) -> Call:
    """Make the engine's function of a declared function; one that is absent says so when it is called."""
    reason = declared.absence(adapter.ENGINE)
    if reason:
        call = _missing(adapter, declared, reason)
    elif declared.answer in SHAPES:
        call = SHAPES[declared.answer](adapter, declared)
    else:
        call = _table(adapter, declared, fallback)
    call.__name__ = call.__qualname__ = declared.name
    return call


def _missing(adapter: Adapter[Any, Any], declared: Function, reason: str) -> Call:
    def call(*_: Any, **__: Any) -> Any:  # noqa: ANN401 - whatever it is called with
        raise _refuse_missing(adapter, declared, reason)

    return call


def _refuse_missing(
    adapter: Adapter[Any, Any], declared: Function, reason: str
) -> UnavailableError:
    engines_with_it = " or ".join(
        title(e) for e in engines() if e != adapter.ENGINE and not declared.absence(e)
    )
    got = f"{declared.call} must be called on {engines_with_it}, got a call on {title(adapter.ENGINE)}: {reason}"
    return UnavailableError(f"{got}; call it there on a sample")


def _count(adapter: Adapter[Any, Any], declared: Function) -> Call:
    def answer(options: dict[str, Any]) -> Any:  # noqa: ANN401 - names, expressions or a frame first
        columns = options.pop("columns", ())
        if options["entity"] is None and len(declared.parameters) > 1:
            raise WrongTypeError(OF_NO_RECORD)
        if "tbl" in options:
            options["tbl"] = _as_table(adapter.TABLE, "tbl", options["tbl"])
        return adapter.count(declared, columns, **options)

    return _signed(declared, adapter.counting(declared), answer)


def _value(adapter: RecordAdapter[Any, Any], declared: Function) -> Call:
    def answer(options: dict[str, Any]) -> Any:  # noqa: ANN401 - names, expressions or numbers
        if declared.selector:
            chooser = next(p for p in declared.parameters if p.name == declared.selector)
            options[chooser.name] = chooser.domain.from_python(chooser.name, options[chooser.name])
        chosen, options = declared.choose(options)
        return adapter.value(
            chosen, [_of_records(adapter.COLUMN, *each) for each in options.items()]
        )

    return _signed(declared, signature_of(declared), answer)


def _score(adapter: RecordAdapter[Any, Any], declared: Function) -> Call:
    """Parameters given by name leave their places to the next: f('m', 'age', population=9) names a column."""
    columns = Argument("columns", Argument.VAR_POSITIONAL)
    signature = signature_of(declared)
    signature = signature.replace(parameters=[*signature.parameters.values(), columns])

    def call(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - a name or a model, numbers, columns
        refuse_unknown(declared, signature, named)
        places = [p.name for p in declared.parameters if p.name not in named]
        options = dict(zip(places, arguments, strict=False)) | named
        options = bound(declared, signature_of(declared), (), options)
        rest = arguments[len(places) :]
        numbers = [
            _of_records(adapter.COLUMN, p.name, options[p.name]) for p in declared.own_parameters
        ]
        cells = [_of_records(adapter.COLUMN, "columns", column) for column in rest]
        return adapter.score(declared, known_model(options["model"]), numbers, cells)

    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def _beside(adapter: RecordAdapter[Any, Any], declared: Function) -> Call:
    def answer(options: dict[str, Any]) -> Any:  # noqa: ANN401 - a frame, a name or a model, options
        frame, model = options.pop("tbl"), options.pop("model")
        frame = _as_table(adapter.TABLE, "tbl", frame)
        options = checked(declared, options)
        return adapter.scored_table(declared, frame, known_model(model), options)

    return _signed(declared, signature_of(declared), answer)


def _table(adapter: Adapter[Any, Any], declared: Function, fallback: Answering | None) -> Call:
    def answer(options: dict[str, Any]) -> Any:  # noqa: ANN401 - frames, names and options
        for p in declared.parameters:
            convert = partial(_as_table, adapter.TABLE, p.name)
            options[p.name] = p.domain.convert_tables(p.name, options[p.name], convert)
        chosen, options = declared.choose(checked(declared, options))
        if reason := chosen.absence(adapter.ENGINE):
            raise _refuse_missing(adapter, chosen, reason)
        if fallback and chosen.uses_fallback(adapter.ENGINE, options):
            return fallback(chosen, options)
        return adapter.table(chosen, options)

    return _signed(declared, signature_of(declared), answer)


def _signed(
    declared: Function, signature: Signature, answer: Callable[[dict[str, Any]], Any]
) -> Call:
    """Answer a call by its arguments, bound to a signature."""

    def call(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - what users pass
        return answer(bound(declared, signature, arguments, named))

    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


SHAPES: Final[Mapping[Answer, Callable[[Any, Function], Call]]] = {
    Answer.WINDOW: _count,
    Answer.SCALAR: _value,
    Answer.MODEL_SCORE: _score,
    Answer.SCORED_TABLE: _beside,
}


def bound(
    declared: Function, signature: Signature, arguments: Sequence[Any], named: Arguments
) -> dict[str, Any]:
    """The arguments by their parameters, defaults filled in; refuses unknown, missing or too many ones."""
    refuse_unknown(declared, signature, named)
    name = declared.name
    places = [p for p in signature.parameters.values() if p.kind is Argument.POSITIONAL_OR_KEYWORD]
    rule = f"{name} must be called as {name}{signature}"
    if len(arguments) > len(places) and all(
        p.kind is not Argument.VAR_POSITIONAL for p in signature.parameters.values()
    ):
        raise WrongCallError(f"{rule}, got {len(arguments)} arguments; pass at most {len(places)}")
    for place in places[: len(arguments)]:
        if place.name in named:
            raise WrongCallError(f"{rule}, got '{place.name}' by place and by name; pass it once")
    missing = [
        p.name
        for p in places[len(arguments) :]
        if p.default is Argument.empty and p.name not in named
    ]
    if missing:
        which = "a required argument" if len(missing) == 1 else "required arguments"
        lacked = ", ".join(f"'{each}'" for each in missing)
        raise WrongCallError(
            f"{rule}, got a call missing {which}: {lacked}; pass {' and '.join(missing)}"
        )
    refuse_columns_in_a_row(declared, arguments)
    filled = signature.bind(*arguments, **named)
    filled.apply_defaults()
    return dict(filled.arguments)


def refuse_unknown(declared: Function, signature: Signature, named: Arguments) -> None:
    """Refuse a named argument that is no parameter: with the reason, or offer the nearest one."""
    names = [p.name for p in signature.parameters.values() if p.kind is not Argument.VAR_POSITIONAL]
    for name in named:
        if name in declared.lacked:
            refuse_lacked(declared, name, named[name])
        elif name not in names:
            raise UnknownParameterError(
                f"parameters of {declared.name} must be named as it has them, got '{name}'; "
                f"{suggestion(name, names, 'parameters')}"
            )


def checked(declared: Function, options: Arguments) -> dict[str, Any]:
    """The options checked against their domains: whole numbers whole, documents as texts.

    Frames and columns are left as they are.
    """
    domains = {p.name: p.domain for p in declared.parameters}
    return {name: domains[name].from_python(name, value) for name, value in options.items()}


OF_NO_RECORD: Final = (
    "entity must be the column that identifies people, got NULL; "
    "name it, or count records by equivalence_class_size"
)


def known_model(model: Any) -> FittedModel:  # noqa: ANN401 - a name or a model
    """The model of this name, or the model itself."""
    if not isinstance(model, str | FittedModel):
        raise WrongTypeError(
            f"model must be the name of a fitted model or a model, got {describe_value(model)}; "
            "see fitted_models() for those there are"
        )
    return registry.known(model)


def _of_records(kind: Kind, name: str, value: Any) -> Any:  # noqa: ANN401 - a column, name or number
    if value is None or isinstance(value, (str, *kind.types)) or is_number(value):
        return value
    raise WrongTypeError(
        f"{name} must be the name of a column, {kind.words} or a number, got {describe_value(value)}; "
        f"{kind.remedy}"
    )


def _as_table(kind: Kind, name: str, frame: Any) -> Any:  # noqa: ANN401 - a frame, or what is none
    """Return the engine's frame, read from what it accepts in place of one; else refuse."""
    if isinstance(frame, kind.types):
        return frame
    table = None if kind.convert is None else kind.convert(frame)
    if table is None:
        raise WrongTypeError(
            f"{name} must be {kind.words}, got {type(frame).__name__}; {kind.remedy}"
        )
    return table
