"""What a reduction is: its arguments, relations and arrays. An engine's implementation is found by its place.

A reduction belongs to a family, a module of `reid_sql.reductions`, which declares it and writes its SQL: a
function of the reduction's name, for DuckDB and whatever translates the text. An engine that counts it itself
has a function of that name in `reid_sql/engines/<engine>/reductions/<family>.py`; of what an engine does not
count, DuckDB answers, unless the declaration gives a reason why the engine lacks it.
"""

import importlib
import pkgutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Final

from reid_sql.errors import OutOfDomainError
from reid_sql.parameters import (
    NULLS,
    QUASI_IDENTIFIERS,
    TABLE,
    TOLERANCE,
    VALUE_OR_DROP,
    Arguments,
    ColumnNames,
    Columns,
    Domain,
    Groups,
    Household,
    Key,
    fold_case,
)

FAMILIES: Final = "reid_sql.reductions"
ENGINES: Final = "reid_sql.engines"
DUCKDB: Final = "duckdb"  # whose implementation is the SQL text
NULL_REPORT_COLUMNS: Final = {"records_dropped": "BIGINT", "nulls": "VARCHAR"}
REFUSAL_SEVERAL_VALUES: Final = (
    "sensitive must have one value for each person in a class where people are counted, got people of "
    "several, who would make it look more diverse than it is; pass a table with one value a person, such as "
    "the gravest"
)
REFUSAL_SEVERAL_IN_TABLE: Final = (
    "sensitive must have one value for each person where a class is compared with the table's people, got "
    "people of several, who have no share of their own; pass a table with one value a person, such as the "
    "gravest"
)


REFUSAL_SEVERAL_RECORDS: Final = (
    "people must have one value in each column of the scenario, got people of several; "
    "pass a table with a row a person"
)
REFUSAL_COLLATION: Final = (
    "columns must distinguish texts that differ, got a collation of its own for one of {}; pass a view that "
    "has decode(encode(name)) in its place, or where its texts are within a value create_sort_key(name, 'ASC "
    "NULLS LAST')"
)
REFUSAL_INTERVAL: Final = (
    "columns must have values of which equal ones are one value, got an INTERVAL in one of {}, of which 1 month equals "
    "30 days; cast it in a view to VARCHAR, or to seconds by epoch(name)"
)
REFUSAL_REPEATED_KEY: Final = (
    "key must differ between records, got a value that occurs more than once; pass a column whose values are "
    "distinct, or none"
)
REFUSAL_UNIDENTIFIED: Final = (
    "{} must have a value in every row, got none (NULL or NaN) of '{}' in {} of {} rows; leave these rows "
    "out, or name each of them: coalesce({}, 'row ' || …)"
)
REFUSAL_UNIDENTIFIED_ROW: Final = (
    "entity must have a value in every row, got one without (NULL or NaN); leave such rows out, or name each "
    "of them: coalesce(id, 'row ' || …)"
)
# parameters of which a value identifies the person of a row
IDENTIFYING: Final = ("entity", "key", "person")
REFUSAL_KEY_WITH_ENTITY: Final = (
    "key must be left out where people are counted, got '{}'; entity names each of them"
)

REFUSAL_HOUSEHOLD_WITH_ENTITY: Final = "household must be left out where people are counted, got '{}'; pass a table with a row a person"


@dataclass(frozen=True)
class Argument:
    """A parameter of a reduction; one without a default must be given, unless it is optional and NULL."""

    name: str
    domain: Domain
    default: str | float | tuple[float, ...] | None = None
    optional: bool = False


@dataclass(frozen=True)
class Reduction:
    """What an engine counts: arguments, columns with SQL types, and the arrays that a model gets.

    `family` is the module that declares it. Every reduction of a table also reports how NULLs were treated,
    in the columns of `NULL_REPORT_COLUMNS`. `absences` gives by engine the reason why it lacks the reduction.
    `fallback` names by engine the arguments, and their values, for which DuckDB answers in place of an engine
    that counts the reduction itself; without a value it is any but NULL.
    """

    family: str
    name: str
    words: str
    arguments: tuple[Argument, ...]
    columns: Mapping[str, str]
    arrays: type | None = None
    rowwise: bool = False  # whether each of its rows is a table of its own, with NULLs of its own
    whole: bool = False  # whether it is one row, of whole columns as lists
    # that are answered at once, where a model is fitted to each at length
    max_groups: int | None = None
    absences: Mapping[str, str] = field(default_factory=dict)
    # whether it compares a class with the whole table, where a person has one value
    of_shares: bool = False
    measures_of_shares: tuple[str, ...] = ()  # its argument `measure` by which it does so
    fallback: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    # why it is not asked of people, or by group
    reasons: Mapping[str, str] = field(default_factory=dict)

    @property
    def inputs(self) -> dict[str, str]:
        """The columns that a body gets as arrays, with their SQL types."""
        wanted = fields(self.arrays) if self.arrays else ()
        return {each.name: {**self.columns, **NULL_REPORT_COLUMNS}[each.name] for each in wanted}

    def compares_shares(self, arguments: Arguments) -> bool:
        """Whether a call compares a class with the whole table, where a person has one value."""
        return self.of_shares or arguments.get("measure") in self.measures_of_shares

    @property
    def counting(self) -> str:
        """The column that adds up to nothing where every record of a group was dropped."""
        return "classes" if "classes" in self.columns else "records"

    @property
    def keyed(self) -> bool:
        """Whether its `keys` stand for the numbers in the answer's column `record`."""
        named = any(
            each.name == KEY.name or (each.name == ENTITY.name and not each.optional)
            for each in self.arguments
        )
        return self.whole and named and "position" in self.columns

    def arguments_of(self, engine: str) -> list[str]:
        """The arguments by which the engine counts: without those with which DuckDB answers."""
        by_duckdb = {name for name, words in self.fallback.get(engine, {}).items() if not words}
        return [argument.name for argument in self.arguments if argument.name not in by_duckdb]

    def uses_fallback(self, engine: str, arguments: Arguments) -> bool:
        """Whether DuckDB answers these arguments from what the engine reads."""
        if not has_implementation(self.family, engine):
            return True
        fallback = self.fallback.get(engine, {})
        return any(
            arguments.get(name) in words if words else arguments.get(name) is not None
            for name, words in fallback.items()
        )


# The columns of a table of one row per person after the user's: how many people the class of the row has,
# and the sum of their weights. No table of a user's has such names.
CLASS_PEOPLE: Final = "\x01people of the class"
CLASS_WEIGHT: Final = "\x01weight of the class"
PERSON: Final = "\x01person"  # of a row for each sensitive value of theirs in a class
# DuckDB answers where NULL may be any value: each distinct record is compared with all others.
WILDCARDS: Final[Mapping[str, tuple[str, ...]]] = {"nulls": ("wildcard",), "tolerance": ()}
# The arguments that most reductions share.
TBL: Final = Argument("tbl", TABLE)
QI: Final = Argument("qi", QUASI_IDENTIFIERS)
ANY_NULLS: Final = Argument("nulls", NULLS, "value")
# where NULL cannot match anything
DROPPABLE_NULLS: Final = Argument("nulls", VALUE_OR_DROP, "value")
# by how much equal values may differ
WITHIN: Final = Argument("tolerance", TOLERANCE, optional=True)
KEY: Final = Argument("key", Key(), optional=True)
HOUSEHOLD: Final = Argument("household", Household(), optional=True)
# The column that identifies people, where rows are not people
ENTITY: Final = Argument("entity", Key(), optional=True)
DIVIDING: Final = Columns("by")
BY: Final = Argument("by", Groups(), optional=True)  # the columns whose values divide the table
# The prefix of these columns' names in a reduction, so that none can clash with one of its own.
GROUP: Final = "reid: "
MAX_FITTED_GROUPS: Final = 1000  # groups, of which each takes a model of people a second or more
# The result columns of a group whose records were all dropped; all others are NULL.
OF_NO_RECORD: Final = {
    "records": 0,
    "status": "not available: nulls := 'drop' leaves no record of the group",
}


# options that say how values of the columns that they name are compared
COMPARING: Final = ("scenario", "marginals", "tables", "bins", "tolerance")


class Needs(Enum):
    """What an answer needs of the values of its columns; a warehouse sends no more to the client."""

    CODES = "which values are equal"
    KNOWN_CODES = "which values are equal, and NaN is none, as in a column of people or households"
    POSITIONS = "which values are equal, and which numbers and dates they are"
    VALUES = "the values"

    @property
    def is_by_code(self) -> bool:
        """Whether numbers that stand for the values are enough."""
        return self in {Needs.CODES, Needs.KNOWN_CODES}

    def serves(self, needed: "Needs") -> bool:
        """Whether what was fetched for this need is enough for the other."""
        return self is needed or (self is Needs.POSITIONS and needed.is_by_code)


def columns_as_codes(
    needs: Needs, arguments: Arguments, columns: ColumnNames, *, is_drawn: bool = False
) -> dict[str, Needs]:
    """Choose the columns of which numbers may stand for values, with what the answer needs of them.

    Where a model of people draws some of the records, it draws them by their values, so that each engine
    draws the same: `is_drawn` then needs the values. An option that names columns says how their values are
    compared, so it needs them. The answer has the values of groups, and weights are numbers.
    """
    is_compared = any(arguments.get(name) is not None for name in COMPARING)
    is_compared = is_compared or (is_drawn and needs is Needs.POSITIONS)
    if needs is Needs.VALUES or is_compared:
        return {}
    sent = {*(arguments.get("by") or ()), arguments.get("weight")}
    people = {arguments.get("entity"), arguments.get("household")}
    return {
        name: Needs.KNOWN_CODES if name in people else needs for name in columns if name not in sent
    }


@dataclass(frozen=True)
class CodedCall:
    """A call of a function that may need less than the values of its columns."""

    needs: Needs
    arguments: Arguments

    def choose_codes(
        self, columns: ColumnNames, has_many_records: Callable[[], bool]
    ) -> dict[str, Needs]:
        """Choose columns as `columns_as_codes`; records are counted where a model of people may draw some."""
        is_drawn = self.needs is Needs.POSITIONS and has_many_records()
        return columns_as_codes(self.needs, self.arguments, columns, is_drawn=is_drawn)


def group_names(by: ColumnNames) -> list[str]:
    """What the columns that divide the table are called in a reduction of dataframes: by number.

    >>> group_names(["state", "year"])
    ['reid: 1', 'reid: 2']
    """
    return [f"{GROUP}{place}" for place, _ in enumerate(by, 1)]


def union(columns: ColumnNames, more: Sequence[str]) -> list[str]:
    """All columns, each once: those, and the others that are not among them."""
    return list(dict.fromkeys([*columns, *more]))


@cache
def reductions() -> Mapping[str, Reduction]:
    """Every reduction that a package declares, by name."""
    families = importlib.import_module(FAMILIES)
    modules = (
        importlib.import_module(f"{FAMILIES}.{family.name}")
        for family in pkgutil.iter_modules(families.__path__)
    )
    declared = (
        each for module in modules for each in vars(module).values() if isinstance(each, Reduction)
    )
    return {reduction.name: reduction for reduction in sorted(declared, key=lambda each: each.name)}


@cache
def has_implementation(family: str, engine: str) -> bool:
    """Whether the engine counts the reductions of the family itself.

    >>> has_implementation("reid_sql.reductions.evidence", "ibis")
    False
    """
    module = Path(__file__).parent.joinpath(
        "engines", engine, "reductions", f"{_name_of(family)}.py"
    )
    return engine == DUCKDB or module.exists()


def implementation(reduction: Reduction, engine: str) -> Any:  # noqa: ANN401 - the engine's own
    """The engine's implementation: the function of the reduction's name in its own file of the family."""
    module = f"{ENGINES}.{engine}.reductions.{_name_of(reduction.family)}"
    return getattr(
        importlib.import_module(reduction.family if engine == DUCKDB else module), reduction.name
    )


def _name_of(family: str) -> str:
    return family.rpartition(".")[2]


def refuse_entity(columns: ColumnNames, entity: str | None, nulls: str) -> None:
    """Refuse to count people by one of the quasi-identifiers, and where NULL may be any value."""
    if entity is None:
        return
    if fold_case(entity) in (fold_case(column) for column in columns):
        raise OutOfDomainError(
            f"entity must not be a quasi-identifier, got '{entity}'; an attacker who knows it needs nothing else: leave it out of one of them"
        )
    if nulls == "wildcard":
        raise OutOfDomainError(
            "entity must be used with nulls := 'value' or 'drop', got 'wildcard'; first reduce the table to one row per person"
        )


def identifying_column(arguments: Arguments) -> tuple[str, str] | None:
    """The parameter that names the column which identifies people or records, and the column, if any does.

    >>> identifying_column({"tbl": "visits", "entity": None, "key": "row_id"})
    ('key', 'row_id')
    """
    columns = ((role, arguments.get(role)) for role in IDENTIFYING)
    return next(((role, column) for role, column in columns if isinstance(column, str)), None)


def refuse_unidentified(role: str, column: str, missing: int, rows: int) -> None:
    """Refuse rows without an identifier, which would count for one person, the least identifiable of all."""
    if missing:
        counts = f"{missing:,}", f"{rows:,}"
        raise OutOfDomainError(REFUSAL_UNIDENTIFIED.format(role, column, *counts, column))


def refuse_key_with_entity(key: str | None) -> None:
    """Refuse a key of records where people are counted, each of whom has one answer."""
    if key is not None:
        raise OutOfDomainError(REFUSAL_KEY_WITH_ENTITY.format(key))


def refuse_household_with_entity(household: str | None) -> None:
    """Refuse households where people are counted, of whom one row is left."""
    if household is not None:
        raise OutOfDomainError(REFUSAL_HOUSEHOLD_WITH_ENTITY.format(household))


def refuse_tolerance(tolerance: str | None, nulls: str) -> None:
    """Refuse a tolerance where NULL may be any value."""
    if tolerance is not None and nulls == "wildcard":
        raise OutOfDomainError(
            "tolerance must be used with nulls := 'value' or 'drop', got 'wildcard'; leave the tolerance out, or records with a NULL"
        )


def refuse_groups(nulls: str) -> None:
    """Refuse groups where NULL may be any value."""
    if nulls == "wildcard":
        raise OutOfDomainError(
            "by must be used with nulls := 'value' or 'drop', got 'wildcard'; ask about each group in a view of its own"
        )


def refuse_groups_named_like_results(by: ColumnNames, answer: Collection[str]) -> None:
    """Refuse columns that divide the table and are named like a column of the answer."""
    for column in by:
        if fold_case(column) in answer:
            raise OutOfDomainError(
                f"by must not name a column of the answer, got '{column}'; rename the column in a view"
            )


def refuse_many_groups(groups: int, most: int | None) -> None:
    """Refuse more groups than can be answered at once, where a model is fitted to each at length."""
    if most is not None and groups > most:
        raise OutOfDomainError(
            f"by must make at most {most} groups, because a model is fitted to each, got {groups}; name fewer or coarser columns, or ask about some of them in a view"
        )


def refuse_one_row_per_person(columns: ColumnNames, entity: str, nulls: str) -> None:
    """Refuse to make a sample of people by a quasi-identifier, and where NULL is no value of its own."""
    if nulls != "value":
        raise OutOfDomainError(
            f"entity must be used with nulls := 'value' where people are a sample, got '{nulls}'; pass a view without the rows that lack a value"
        )
    refuse_entity(columns, entity, nulls)


def refuse_key(columns: ColumnNames, key: str | None) -> None:
    """Refuse to tell by a quasi-identifier which record is whose."""
    if key is not None and fold_case(key) in (fold_case(column) for column in columns):
        raise OutOfDomainError(
            f"key must not be a quasi-identifier, got '{key}'; no attacker knows which record is whose; leave it out of one of them"
        )


def refusal_of_several(*, of_shares: bool) -> str:
    """The refusal of people of several sensitive values: in one class, or in the table."""
    return REFUSAL_SEVERAL_IN_TABLE if of_shares else REFUSAL_SEVERAL_VALUES


def refuse_several(people: int, *, of_shares: bool) -> None:
    """Refuse people of several sensitive values in one class, or in the table."""
    if people:
        raise OutOfDomainError(refusal_of_several(of_shares=of_shares))


def refuse_result_names(
    columns: ColumnNames, results: Sequence[str] = ("class_size", "records")
) -> None:
    """Refuse quasi-identifiers whose names the listing of classes needs for itself."""
    for column in columns:
        if fold_case(column) in {*results, *NULL_REPORT_COLUMNS}:
            raise OutOfDomainError(
                f"quasi-identifiers must not be named {', '.join(results)}, records_dropped or nulls where classes are listed, got '{column}'; rename the column in a view"
            )
