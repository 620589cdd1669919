"""What the signature of a body declares: its parameters, and the columns of its answer.

Of a function of several outputs a parameter chooses one, which refuses the parameters of another.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import chain
from typing import Any, Final, get_args, get_origin, get_type_hints

from reid_sql.errors import OutOfDomainError
from reid_sql.parameters import Arguments, Floats, Integers, NameLists, TextColumn, Values
from reid_sql.parameters.domain import Domain, list_text
from reid_sql.parameters.words import Choice

REQUIRED: Final = inspect.Parameter.empty
REFUSAL_OF_OUTPUT: Final = "{} must be left out {}, got a value; it changes nothing there"


@dataclass(frozen=True)
class Parameter:
    """A parameter of the function; `default` is REQUIRED where there is none."""

    name: str
    domain: Domain
    default: Any = REQUIRED

    def has_default(self, value: Any) -> bool:  # noqa: ANN401 - an argument
        """Whether the value is the default, as it is declared or as it is read."""
        if value is None or self.default is None:
            return value is self.default
        read = self.domain.from_python(self.name, self.default)
        return list_text(value) in {list_text(self.default), list_text(read)}


SQL_TYPES: Final[Mapping[Any, str]] = {
    int: "BIGINT",
    int | None: "BIGINT",
    float: "DOUBLE",
    float | None: "DOUBLE",
    str: "VARCHAR",
    str | None: "VARCHAR",
    list[str]: "VARCHAR[]",
    list[int]: "BIGINT[]",
    Floats: "DOUBLE",  # these of an answer in arrays, one a column
    Integers: "BIGINT",
    Integers | None: "BIGINT",
    TextColumn: "VARCHAR",
    TextColumn | None: "VARCHAR",
    NameLists: "VARCHAR[]",
}


def parameters_of(body: Callable[..., Any]) -> tuple[Parameter, ...]:
    """The parameters of a body, each of the domain that its type hint has."""
    hints = get_type_hints(body, include_extras=True)
    signature = inspect.signature(body).parameters.values()
    return tuple(
        Parameter(
            p.name,
            next(
                (part for part in get_args(hints[p.name])[1:] if isinstance(part, Domain)), Values()
            ),
            p.default,
        )
        for p in signature
    )


def columns_of(body: Callable[..., Any]) -> Mapping[str, str]:
    """Columns of the answer by the fields of what the body returns."""
    answer = get_type_hints(body)["return"]
    row = get_args(answer)[0] if get_origin(answer) is list else answer
    return {f.name: SQL_TYPES[get_type_hints(row)[f.name]] for f in fields(row)}


@dataclass(frozen=True)
class Output:
    """One of several outputs of a function: the parameter that chooses it, and its words.

    The first output is declared under the function's name, and its word is the default; another one is `of`
    that function. `shared` has the domains of parameters that differ between the outputs: what none but an
    output may be, its own domain refuses.
    """

    selector: str
    words: tuple[str, ...]
    of: str = ""
    shared: Mapping[str, Domain] = field(default_factory=dict)


def choose_arguments(
    public: Sequence[Parameter],
    chosen: Sequence[Parameter],
    selector: str,
    arguments: Arguments,
    rule: str,
) -> dict[str, Any]:
    """Return an output's arguments among those of the function; refuse those of another output.

    `rule` says in a refusal which output is asked for.
    """
    taken = {parameter.name for parameter in chosen}
    for parameter in public:
        is_taken = parameter.name in taken or parameter.name == selector
        if not is_taken and not parameter.has_default(arguments[parameter.name]):
            raise OutOfDomainError(REFUSAL_OF_OUTPUT.format(parameter.name, rule))
    merged = {parameter.name: parameter for parameter in public}
    options = {}
    for parameter in chosen:
        name, value, shared = parameter.name, arguments[parameter.name], merged[parameter.name]
        if value is None and shared.default is None:
            if parameter.default is REQUIRED:
                raise OutOfDomainError(
                    f"{name} must be passed {rule}, got NULL; pass {parameter.domain.label}"
                )
            value = parameter.default
        is_checked = parameter.domain == shared.domain and parameter.default == shared.default
        options[name] = value if is_checked else parameter.domain.from_python(name, value)
    return options


def merge_parameters(
    first: Sequence[Parameter],
    outputs: Sequence[Sequence[Parameter]],
    output: Output,
    words: tuple[str, ...],
    place: int | None,
) -> tuple[Parameter, ...]:
    """The parameters of all outputs, each once; one that outputs differ in, or not all require, is optional.

    `first` are those so far. What chooses stands where the first declaration names it, else last.
    """
    chooser = Parameter(output.selector, Choice(words), words[0])
    public = list(first)
    if output.selector not in {parameter.name for parameter in public}:
        public.insert(len(public) if place is None else place, chooser)
    listed = list(chain(*outputs))
    domains = {p.name: p.domain for p in (*reversed(listed), *public)} | dict(output.shared)
    defaults: dict[str, list[Any]] = {p.name: [] for p in (*public, *listed)}
    for parameter in listed:
        defaults[parameter.name].append(parameter.default)
    merged = {
        name: Parameter(name, domains[name], _merge_defaults(each, len(outputs)))
        for name, each in defaults.items()
        if each
    }
    merged[output.selector] = chooser
    return tuple(merged[name] for name in defaults)


def _merge_defaults(defaults: Sequence[Any], outputs: int) -> Any:  # noqa: ANN401 - whatever it is
    """The default that outputs share; None where they differ, or where only some require an argument."""
    is_alike = all(each == defaults[0] for each in defaults)
    is_optional = REQUIRED in defaults and len(defaults) < outputs
    return defaults[0] if is_alike and not is_optional else None
