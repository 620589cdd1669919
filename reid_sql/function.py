"""What a function is: its name, parameters, words, source, body and, where an engine says it better, its spelling.

A decorator declares the function below it and hands it back unchanged. Engines bind what is declared; nothing
else lists the functions.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal, TypeVar, get_args, get_origin, get_type_hints

from reid_sql.domains import DRAWN, MODEL, TABLE, Domain, Floats, Values
from reid_sql.models.classes.disclosure import Integers
from reid_sql.reductions import Argument, Reduction

Body = TypeVar("Body", bound=Callable[..., Any])
Kind = Literal["row", "window", "table", "model", "scored", "drawn"]
REQUIRED: Final = inspect.Parameter.empty
LAST: Final = ("key", "nulls")  # of a reduction's parameters, which come after the body's own
SQL_TYPES: Final[Mapping[Any, str]] = {
    int: "BIGINT",
    int | None: "BIGINT",
    float: "DOUBLE",
    float | None: "DOUBLE",
    int | None: "BIGINT",
    str: "VARCHAR",
    list[str]: "VARCHAR[]",
    Floats: "DOUBLE",  # of an answer for each record
    Integers: "BIGINT",
}


@dataclass(frozen=True)
class Parameter:
    """A parameter of the function; `default` is REQUIRED where there is none."""

    name: str
    domain: Domain
    default: Any = REQUIRED


@dataclass(frozen=True)
class Function:
    """A declared function, with everything an engine, the catalogue and the documents need to know."""

    name: str
    kind: Kind
    parameters: tuple[Parameter, ...]
    columns: Mapping[str, str]
    source: str
    body: Callable[..., Any] = field(repr=False)
    reduction: Reduction | None = None
    duckdb: str | None = None
    per_record: bool = (
        False  # whether the answer is arrays over distinct records, for every record that holds one
    )
    models: bool = False  # whether it keeps or finds fitted models, which a database has for itself

    @property
    def words(self) -> str:
        """The first sentence of the docstring."""
        return (inspect.getdoc(self.body) or "").split("\n\n", 1)[0].replace("\n", " ")

    @property
    def signature(self) -> str:
        """The call as SQL spells it."""
        if self.kind == "window":
            return f"{self.name}(c1, …)"
        shown = [
            p.name if p.default is REQUIRED else f"{p.name} := {sql_literal(p.default)}"
            for p in self.parameters
        ]
        if self.kind == "model":
            shown.append("c1, …")
        return f"{self.name}({', '.join(shown)})"

    @property
    def relays(self) -> bool:
        """Whether the reduction itself is the answer."""
        return self.reduction is not None and self.kind == "table" and not self.columns

    @property
    def many(self) -> bool:
        """Whether the answer has a row for each of many things, or is one row."""
        return get_origin(get_type_hints(self.body)["return"]) is list

    @property
    def own_parameters(self) -> tuple[Parameter, ...]:
        """The parameters that the body takes beside the reduction or the scores; it may share some with the reduction."""
        given = {"model": 1, "scored": 2, "drawn": 2}.get(self.kind, 1 if self.reduction else 0)
        taken = list(inspect.signature(self.body).parameters)[given:]
        return tuple(parameter for name in taken for parameter in self.parameters if parameter.name == name)


FUNCTIONS: Final[dict[str, Function]] = {}


def sql_literal(value: Any) -> str:
    """Spell a default as SQL."""
    if value is None:
        return "NULL"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def signature_of(function: Function) -> inspect.Signature:
    """Give the call's signature in Python: as in SQL, with the options by position or by name."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature(
        [inspect.Parameter(p.name, kind, default=p.default) for p in function.parameters]
    )


def function(*, source: str, duckdb: str | None = None) -> Callable[[Body], Body]:
    """Declare a row function: arrays of doubles in, an array of doubles out, NULL wherever an argument is NULL.

    `duckdb` spells the body in DuckDB's own words over the parameters' names; they arrive as checked doubles.
    """

    def declare(body: Body) -> Body:
        _add(
            Function(
                body.__name__,
                "row",
                _parameters(body),
                {body.__name__: "DOUBLE"},
                source,
                body,
                duckdb=duckdb,
            )
        )
        return body

    return declare


def window_function(*, reduction: Reduction, source: str) -> Callable[[Body], Body]:
    """Declare a function of a record's values among those of all records; the engine counts."""

    def declare(body: Body) -> Body:
        parameters = (Parameter("columns", Values()),)
        columns = {body.__name__: next(iter(reduction.columns.values()))}
        _add(Function(body.__name__, "window", parameters, columns, source, body, reduction))
        return body

    return declare


def model_function(*, source: str) -> Callable[[Body], Body]:
    """Declare a function of a record under a fitted model: its cell's Estimates and numbers in, an array of doubles out.

    In SQL the model comes first and the record's values come last; a NULL among them is a value.
    """

    def declare(body: Body) -> Body:
        parameters = (Parameter("model", MODEL), *_parameters(body)[1:])
        _add(
            Function(body.__name__, "model", parameters, {body.__name__: "DOUBLE"}, source, body, models=True)
        )
        return body

    return declare


def scored_function(*, source: str) -> Callable[[Body], Body]:
    """Declare a table function that puts scores beside a table's records, each distinct record scored once.

    The body gets the Estimates of distinct records' cells, their numbers of records, and its own parameters;
    it gives a dataclass of arrays, whose fields become columns beside the table's.
    """

    def declare(body: Body) -> Body:
        parameters = (Parameter("tbl", TABLE), Parameter("model", MODEL), *_parameters(body)[2:])
        _add(Function(body.__name__, "scored", parameters, _columns(body), source, body, models=True))
        return body

    return declare


def drawn_function(*, source: str) -> Callable[[Body], Body]:
    """Declare a table function of records drawn from a fitted model, as many as are asked for and none held.

    The body gets the model, places in an endless sample, and its own parameters; it gives codes, (places,
    columns).
    """

    def declare(body: Body) -> Body:
        parameters = (Parameter("model", MODEL), Parameter("n", DRAWN), *_parameters(body)[2:])
        _add(Function(body.__name__, "drawn", parameters, {}, source, body, models=True))
        return body

    return declare


def table_function(
    *,
    source: str,
    reduction: Reduction | None = None,
    duckdb: str | None = None,
    per_record: bool = False,
    models: bool = False,
    leading: Sequence[str] = (),
) -> Callable[[Body], Body]:
    """Declare a table function: the engine reduces the table, the body answers from the reduced arrays.

    Without a reduction it is a function of its parameters alone.

    The body gives a dataclass for one row, a list of them for many; its fields become the columns. A body
    that gives back what it got says that the reduction itself is the answer. `duckdb` is the answer as a
    SELECT list over the reduction, with $name for a checked parameter. The body's further parameters become
    the function's, after the table and its columns and before `key` and `nulls`; those named as `leading`
    come before the table. With `per_record` it gives a dataclass of arrays over the distinct records, and the
    answer has a row for every record: `record` (its key, else its 0-based scan position), then the fields.
    `models` says that the body keeps or finds fitted models.
    """

    def declare(body: Body) -> Body:
        counted = reduction.arguments if reduction else ()
        shared = {a.name for a in counted}
        named = per_record or (reduction is not None and reduction.keyed)
        told = [a for a in counted if named or a.name != "key"]
        first = [Parameter(a.name, a.domain, _default(a)) for a in told if a.name not in LAST]
        own = [p for p in _parameters(body)[1 if reduction else 0 :] if p.name not in shared]
        last = [Parameter(a.name, a.domain, _default(a)) for a in told if a.name in LAST]
        found = [*first, *own, *last]
        parameters = tuple(sorted(found, key=lambda p: (p.name not in leading, p.default is not REQUIRED)))
        columns = _columns(body)
        _add(
            Function(
                body.__name__,
                "table",
                parameters,
                columns,
                source,
                body,
                reduction,
                duckdb,
                per_record,
                models,
            )
        )
        return body

    return declare


def _default(argument: Argument) -> Any:
    return REQUIRED if argument.default is None and not argument.optional else argument.default


def _parameters(body: Callable[..., Any]) -> tuple[Parameter, ...]:
    hints = get_type_hints(body, include_extras=True)
    found = inspect.signature(body).parameters.values()
    return tuple(Parameter(p.name, _domain(hints[p.name]), p.default) for p in found)


def _columns(body: Callable[..., Any]) -> Mapping[str, str]:
    """Columns of the answer by the fields of what the body returns; none where it returns what it got."""
    hints = get_type_hints(body)
    answer = hints.pop("return")
    if answer is next(iter(hints.values()), None):
        return {}
    row = get_args(answer)[0] if get_origin(answer) is list else answer
    return {f.name: SQL_TYPES[get_type_hints(row)[f.name]] for f in fields(row)}


def _domain(hint: Any) -> Domain:
    return next((part for part in get_args(hint)[1:] if isinstance(part, Domain)), Values())


def _add(declared: Function) -> None:
    FUNCTIONS[declared.name] = declared
