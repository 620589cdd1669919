"""Of which tables a call counts each row for a person, and by which columns: rows may not be people."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from reid_sql.errors import MissingCodesWarning, RowsNotPeopleWarning
from reid_sql.function import Function
from reid_sql.models.columns.units import UNIT_HOUSEHOLD, UNIT_PERSON, UNIT_VALUE
from reid_sql.parameters import TABLE, Arguments
from reid_sql.reduction import identifying_column

if TYPE_CHECKING:
    from reid_sql.models.columns.nobodies import IdentifierCounts

IS_REPORTED: ContextVar[bool] = ContextVar("reid_is_reported", default=False)


@dataclass(frozen=True)
class CountedRows:
    """The parameters of the tables whose rows are counted, and the columns that the call names.

    Those that are `counted` distinguish people, or are sensitive; the others have a role of their own.
    """

    tables: tuple[str, ...]
    counted: tuple[str, ...]
    named: tuple[str, ...]
    takes_entity: bool
    coded: tuple[str, ...] = ()  # columns of which a missing-value code counts as a value
    coded_tables: tuple[str, ...] = ()  # the parameters of the tables that have them


def find_counted_rows(declared: Function, arguments: Arguments) -> CountedRows:
    """Find whose rows a call counts for people.

    An entity identifies the people of the table, and of those that the function always compares it with.
    """
    by_entity = arguments.get("entity") is not None
    tables = [
        p.name
        for p in declared.parameters
        if p.domain.has_people(by_entity=by_entity) and arguments[p.name] is not None
    ]
    roles: dict[bool, list[str]] = {True: [], False: []}
    for p in declared.parameters:
        is_counted = p.domain.role == "counted" or p.name == "sensitive"
        if is_counted or p.domain.role in {"column", "groups", "household"}:
            roles[is_counted] += _names(arguments[p.name])
    people = {p.name for p in declared.parameters if p.domain.has_codes()}
    people |= set(find_identified_tables(declared, arguments))
    more = [name for each in ("by", "weight") for name in _names(arguments.get(each))]
    return CountedRows(
        tuple(tables),
        counted=tuple(roles[True]),
        named=tuple(roles[False]),
        takes_entity=arguments.get("entity", "") is None,
        coded=tuple(dict.fromkeys([*roles[True], *more])),
        coded_tables=tuple(
            p.name
            for p in declared.parameters
            if p.name in people and arguments[p.name] is not None
        ),
    )


def find_watched_columns(
    declared: Function, arguments: Arguments
) -> dict[str, tuple[tuple[str, str], ...]]:
    """Find, for each table, the columns of people and households, of which a value may stand for nobody."""
    watched: dict[str, tuple[tuple[str, str], ...]] = {
        table: ((UNIT_PERSON, column),)
        for table, (role, column) in find_identified_tables(declared, arguments).items()
        if role in {"entity", "person"}
    }
    sensitive = _names(arguments.get("sensitive")) if "tbl" in arguments else ()
    if sensitive:
        watched["tbl"] = (*watched.get("tbl", ()), *((UNIT_VALUE, column) for column in sensitive))
    if isinstance(household := arguments.get("household"), str):
        watched["tbl"] = (*watched.get("tbl", ()), (UNIT_HOUSEHOLD, household))
    return watched


def list_watched_columns(
    declared: Function, arguments: Arguments
) -> Iterator[tuple[Any, str, str]]:
    """List the same, each table with the column and what its values are."""
    for table, columns in find_watched_columns(declared, arguments).items():
        for frame, (unit, column) in product(list_tables(arguments[table]), columns):
            yield frame, column, unit


def _names(value: str | Sequence[str] | None) -> Sequence[str]:
    return [value] if isinstance(value, str) else value or ()


def find_identified_tables(declared: Function, arguments: Arguments) -> dict[str, tuple[str, str]]:
    """Find the tables in which a column identifies the people or records, if the call names one.

    A population that is always passed has the same people as the table; an optional one has its own.
    """
    named = identifying_column(arguments)
    if named is None:
        return {}
    domain = next(each.domain for each in declared.parameters if each.name == named[0])
    return {
        table.name: named
        for table in declared.parameters
        if table.domain.lists_people
        and table.name != "marginals"
        and arguments[table.name] is not None
        and domain.columns_in(named[1], "tbl" if table.domain == TABLE else table.name)
    }


def list_identified_tables(
    declared: Function, arguments: Arguments
) -> Iterator[tuple[Any, str, str]]:
    """List the same, each table with the parameter that names the column, and the column."""
    for table, named in find_identified_tables(declared, arguments).items():
        for frame in list_tables(arguments[table]):
            yield frame, *named


def list_tables(argument: Any) -> list[Any]:  # noqa: ANN401 - a table of any engine
    """The tables of an argument, which is one of them or a list.

    >>> list_tables("january"), list_tables(["march", "april"])
    (['january'], ['march', 'april'])
    """
    return list(argument) if isinstance(argument, list | tuple) else [argument]


@contextmanager
def report_people() -> Iterator[None]:
    """Warn of nothing meanwhile: a command, or the gate, looks at people itself, and reports them."""
    token = IS_REPORTED.set(True)
    try:
        yield
    finally:
        IS_REPORTED.reset(token)


def warn_of_values(column: str, counts: "IdentifierCounts", unit: str = UNIT_PERSON) -> None:
    """Warn of the same, and of missing-value codes of a sensitive column, which nothing else looks for."""
    from reid_sql.models.columns.nobodies import describe_codes_of_values  # noqa: PLC0415 - it reads lists of words

    warn_of_nobodies(column, counts, unit)
    if unit == UNIT_VALUE and (caution := describe_codes_of_values(column, counts)):
        warnings.warn(caution, MissingCodesWarning, stacklevel=3)


def warn_of_nobodies(column: str, counts: "IdentifierCounts", unit: str = UNIT_PERSON) -> None:
    """Warn of values of a column of people or households that may stand for nobody."""
    from reid_sql.models.columns.nobodies import describe_nobodies  # noqa: PLC0415 - it reads lists of words

    if caution := describe_nobodies(column, counts, unit):
        warnings.warn(caution, RowsNotPeopleWarning, stacklevel=3)
