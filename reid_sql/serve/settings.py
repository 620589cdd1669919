"""What a policy sets of a call, and the columns that a call names."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from reid_sql.check.measure import argument_of
from reid_sql.check.policy_model import Check, TablePolicy, columns_named
from reid_sql.errors import OutOfDomainError
from reid_sql.function import Function
from reid_sql.parameters import Document, ModelName, Tables, list_text
from reid_sql.parameters.outputs import REQUIRED, Parameter

SAFE_TABLE: Final = "safe_table"
MASKED_FUNCTIONS: Final = frozenset({SAFE_TABLE, "class_size_histogram"})  # of every policy
CLIENTS_CHOICE: Final = {(SAFE_TABLE, "totals")}
IDENTITIES: Final = {"entity", "person", "key"}  # name people, and have no classes
# what is measured within the classes, and what joins people: of any column, the sizes of its classes
BESIDE_CLASSES: Final = {"sensitive", "weight", "value", "household", "on"}


@dataclass(frozen=True)
class NamedColumns:
    """The columns whose combinations an answer counts, and all that it hangs on."""

    counted: frozenset[str]
    all: frozenset[str]


def fold(names: Iterable[str]) -> frozenset[str]:
    """Return names as they are compared."""
    return frozenset(name.casefold() for name in names)


def listed(value: Any) -> list[Any]:  # noqa: ANN401 - a name, names or none
    """Return one name, or several, as a list."""
    return [] if value is None else list(value) if isinstance(value, list | tuple) else [value]


def columns_of(
    function: Function, arguments: Mapping[str, Any], columns: Sequence[str]
) -> NamedColumns:
    """Return the columns of a call; `columns` are those of its table, all of them if it names none."""
    counted: set[str] = set()
    beside: set[str] = set()
    for parameter in function.parameters:
        value = arguments.get(parameter.name)
        if isinstance(value, str) and parameter.domain.role in {"counted", "groups"}:
            value = [value]
        if parameter.name in IDENTITIES:
            continue
        if isinstance(parameter.domain, Document):
            names: Iterable[str] = _columns_of_scenario(value)
        else:
            named = [parameter.domain.columns_in(value, each) for each in ("left", "right")]
            names = columns if None in named else [name for each in named for name in each or ()]
        (beside if parameter.name in BESIDE_CLASSES else counted).update(names)
    return NamedColumns(fold(counted), fold(counted | beside))


def _columns_of_scenario(scenario: str | None) -> list[str]:
    groups = json.loads(scenario).get("groups", []) if scenario else []
    return [str(column) for group in groups for column in group.get("columns", [])]


def set_people(
    table: TablePolicy, function: Function, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments with whom the policy counts: other people are refused."""
    names = {parameter.name for parameter in function.parameters}
    if table.entity and "entity" not in names:
        raise OutOfDomainError(
            f"a function must count people by '{table.entity}', got {function.name}"
            ", which counts rows; call one that takes entity"
        )
    chosen = dict(arguments)
    for name, due in (("entity", table.entity), ("nulls", table.nulls)):
        if name in names and _plain(chosen.setdefault(name, due)) != _plain(due):
            _refuse_other(name, due)
    return chosen


def set_by_policy(
    table: TablePolicy, function: Function, arguments: Mapping[str, Any], below: int
) -> dict[str, Any]:
    """Return the arguments of a call with what the checks of its table set; other values are refused.

    A client chooses tables, some of the policy's columns, and the totals of a table of cells.
    """
    chosen = set_people(table, function, arguments)
    checks = [check for check in table.checks if check.measure.function == function.key]
    if not checks and function.key not in MASKED_FUNCTIONS:
        names = sorted({each.measure.function for each in table.checks} | MASKED_FUNCTIONS)
        raise OutOfDomainError(
            f"a function must be one that the policy uses for {table.name}, got {function.name}; "
            f"call {' or '.join(names)}"
        )
    for parameter in function.parameters:
        if parameter.domain.role == "counted" or parameter.name == "sensitive":
            _choose_columns(table, checks, parameter, chosen)
        elif parameter.domain.role == "groups":
            _refuse_other_groups(checks, listed(chosen.get(parameter.name)))
    options = _options_of(function, checks, below)
    differing = [
        [
            name
            for name in option
            if _plain(arguments.get(name, option[name])) != _plain(option[name])
        ]
        for option in options
    ]
    wrong, nearest = min(zip(differing, options, strict=True), key=lambda pair: len(pair[0]))
    if wrong:
        _refuse_other(wrong[0], nearest[wrong[0]])
    return chosen | {name: value for name, value in nearest.items() if value is not None}


def _options_of(function: Function, checks: Sequence[Check], below: int) -> list[dict[str, Any]]:
    """Return what each check sets, and what another check, or the default, sets where it does not."""
    fixed = [each for each in function.parameters if not _is_chosen(function, each)]
    options = [_settings_of(check, fixed) for check in checks] or [{}]
    of_checks = {name: value for option in reversed(options) for name, value in option.items()}
    defaults = {each.name: None if each.default is REQUIRED else each.default for each in fixed}
    options = [defaults | of_checks | option for option in options]
    if function.name == SAFE_TABLE:
        options = [option | {"k": max(below, option["k"] or 0)} for option in options]
    return options


def _is_chosen(function: Function, parameter: Parameter) -> bool:
    """Whether a client chooses it, or the rules of people and columns."""
    domain = parameter.domain
    is_table = domain.is_table or isinstance(domain, Tables | ModelName)
    of_columns = domain.role in {"counted", "groups"} or parameter.name == "sensitive"
    is_free = (function.name, parameter.name) in CLIENTS_CHOICE
    return is_table or of_columns or is_free or parameter.name in {"entity", "nulls"}


def _settings_of(check: Check, parameters: Iterable[Parameter]) -> dict[str, Any]:
    """Return what a check sets."""
    renamed = dict(check.measure.renamed)
    return {
        each.name: argument_of(each, check.parameters)
        if each.name not in renamed
        else check.parameters[renamed[each.name]]
        for each in parameters
        if each.name not in check.measure.unused
    }


def _choose_columns(
    table: TablePolicy, checks: Sequence[Check], parameter: Parameter, chosen: dict[str, Any]
) -> None:
    """Refuse columns that the policy does not name for this; all columns are its quasi-identifiers."""
    due = [*table.quasi_identifiers, *(name for check in checks for name in check.counted)]
    if parameter.name == "by":  # of a table of cells
        due = [name for name in columns_named(table) if name != table.entity]
    elif parameter.name == "sensitive":
        due = [*table.sensitive, *(check.sensitive for check in checks if check.sensitive)]
    if parameter.name != "sensitive" and chosen.get(parameter.name) is None and due:
        chosen[parameter.name] = list(dict.fromkeys(due))
    if wrong := [
        name for name in listed(chosen.get(parameter.name)) if str(name).casefold() not in fold(due)
    ]:
        raise OutOfDomainError(
            f"{parameter.name} must be columns that the policy names for it, got '{wrong[0]}'; "
            f"name some of {', '.join(dict.fromkeys(due)) or 'none'}"
        )


def _refuse_other_groups(checks: Sequence[Check], by: Sequence[str]) -> None:
    """Refuse groups that are no check's."""
    due = [check.by for check in checks if check.by]
    if by and fold(map(str, by)) not in [fold(each) for each in due]:
        way = f"write by := {list_text(due[0])}" if due else f"omit it, or call {SAFE_TABLE}"
        raise OutOfDomainError(f"by must be that of a check of the policy, got another; {way}")


def _refuse_other(name: str, due: Any) -> None:  # noqa: ANN401 - a setting
    raise OutOfDomainError(
        f"{name} must be that of the policy, {'none' if due is None else list_text(due)}, got another; "
        "omit it"
    )


def _plain(value: Any) -> Any:  # noqa: ANN401 - an argument
    """Return a value as it is compared: 3 is 3.0, a list of one is that one, names have no case."""
    if isinstance(value, list | tuple):
        return _plain(value[0]) if len(value) == 1 else [_plain(each) for each in value]
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return float(value)
    return value.casefold() if isinstance(value, str) else value
