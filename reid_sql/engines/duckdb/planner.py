"""The planner: a call of a function as the SQL that DuckDB runs for it.

DuckDB calls it when it binds `FROM risk_summary(people, ['age', 'sex'])`, through `query()` in the function's
macro. It returns text and looks nothing up: DuckDB resolves the tables and columns that the text names.
Where somebody listens, such as a page that shows answers, it records the calls.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from reid_sql.engines import registry
from reid_sql.engines.counted_rows import (
    IS_REPORTED,
    CountedRows,
    find_counted_rows,
    find_identified_tables,
    find_watched_columns,
    list_tables,
)
from reid_sql.engines.duckdb.answers import (
    answer_over,
    check_arguments,
    reduction_arguments,
    score_records,
)
from reid_sql.engines.duckdb.names import qualified
from reid_sql.engines.duckdb.source import DuckDBSource
from reid_sql.errors import OutOfDomainError, ReidError
from reid_sql.function import Answer, Function, refuse_lacked
from reid_sql.parameters import MODEL, Arguments, ColumnNames
from reid_sql.reduction import (
    PERSON,
    REFUSAL_KEY_WITH_ENTITY,
    implementation,
    refuse_groups_named_like_results,
    refuse_household_with_entity,
)
from reid_sql.sql.people import one_row_per_person, one_row_per_value
from reid_sql.sql.text import text

MAX_CALLS: Final = 100  # that a listener remembers


@dataclass(frozen=True)
class PlannedCall:
    """A call: its tables as FROM items, and what it counts of them.

    The `items` have a row for a person, as far as the call knows; in each of the `watched` a column names
    people or households: the item, which of them, and the column. In those that are `coded`, missing-value
    codes count as values.
    """

    function: str
    items: tuple[str, ...]
    rows: CountedRows
    watched: tuple[tuple[str, str, str], ...] = ()
    coded: tuple[str, ...] = ()


Calls = deque[PlannedCall]
LISTENERS: Final[list[Calls]] = []


def listen() -> Calls:
    """Record calls from now on, the last ones."""
    calls: Calls = deque(maxlen=MAX_CALLS)
    LISTENERS.append(calls)
    return calls


def stop_listening(calls: Calls) -> None:
    """Record no more calls there."""
    LISTENERS[:] = [each for each in LISTENERS if each is not calls]


@contextmanager
def planned_calls() -> Iterator[Calls]:
    """Record the calls that are planned meanwhile."""
    calls = listen()
    try:
        yield calls
    finally:
        stop_listening(calls)


def record_call(declared: Function, checked: Arguments) -> bool:
    """Record a call of a table, where somebody listens; return whether somebody does."""
    if not LISTENERS:
        return False
    rows = find_counted_rows(declared, checked)
    items = _items_of(checked, rows.tables)
    watched = tuple(
        (item, *each)
        for name, columns in find_watched_columns(declared, checked).items()
        for item in _items_of(checked, [name])
        for each in columns
    )
    coded = _items_of(checked, rows.coded_tables if rows.coded else ())
    for each in LISTENERS if items or watched or coded else ():
        each.append(PlannedCall(declared.key, items, rows, watched, coded))
    return True


def _items_of(checked: Arguments, names: ColumnNames) -> tuple[str, ...]:
    """What the tables of these arguments are called in SQL, each once."""
    return tuple(dict.fromkeys(each.item for each in _sources_of(checked[name] for name in names)))


def _sources_of(values: Iterable[Any]) -> list[DuckDBSource]:
    """The tables among the values, which may be lists of tables."""
    return [
        each for value in values for each in list_tables(value) if isinstance(each, DuckDBSource)
    ]


def plan(
    find: Callable[[str], Function],
    database: str,
    may_read_files: bool,  # noqa: FBT001 - as the macro passes it
    name: str,
    *values: Any,  # noqa: ANN401 - whatever SQL passes
) -> str:
    """Write the query of a call of the function of this name, with the values of its parameters in order."""
    try:
        with registry.within(database):
            declared = find(name)
            number = len(declared.parameters)
            for lacked, value in zip(declared.lacked, values[number:], strict=True):
                if value is not None:
                    refuse_lacked(declared, lacked, value)
            return write_plan(declared, values[:number], database, may_read_files=may_read_files)
    except ReidError as error:
        return refuse(str(error))


def refuse(sentence: str) -> str:
    """Write a query that raises the sentence while it is bound, whatever is selected of it."""
    return f"FROM system.main.query(system.main.error({text(sentence)})::VARCHAR)"


def write_plan(
    declared: Function, values: Sequence[Any], database: str, *, may_read_files: bool = True
) -> str:
    """Write the query of a call, with every function of DuckDB under its full name."""
    checked = check_arguments(declared, values, may_read_files=may_read_files)
    declared, checked = declared.choose(checked)
    if not record_call(declared, checked) and not IS_REPORTED.get():
        # each table warns of values that stand for nobody as it is counted
        checked = _mark_tables(checked, watched=find_watched_columns(declared, checked))
    return qualified(write_answer(declared, checked, database))


def _mark_tables(checked: Arguments, **marks: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, of which each table has its columns of people in a field."""
    return _change_tables(
        checked,
        lambda name, table: replace(
            table, **{field: columns[name] for field, columns in marks.items() if name in columns}
        ),
    )


def _change_tables(
    checked: Arguments, change: Callable[[str, DuckDBSource], DuckDBSource]
) -> dict[str, Any]:
    """The arguments, of which each table is changed."""

    def changed(name: str, value: Any) -> Any:  # noqa: ANN401 - any argument
        if isinstance(value, list):
            return [changed(name, each) for each in value]
        return change(name, value) if isinstance(value, DuckDBSource) else value

    return {name: changed(name, value) for name, value in checked.items()}


def write_answer(declared: Function, checked: Arguments, database: str) -> str:
    """Write the query of checked arguments; it reads no table twice.

    A view may draw its rows anew each time that a query names it (`WHERE random() < 0.5`, a sample, uuid()):
    counts that belong together would come from different rows. DuckDB computes a table that is named once
    and materialized once, and only the columns that the query reads.
    """
    # each table refuses rows without a value in the column of its people
    checked = _mark_tables(checked, identified_by=find_identified_tables(declared, checked))
    query = _write_answer(declared, checked, database)
    sources = {each.item: each for each in _sources_of(checked.values())}
    repeated = [each for each in sources.values() if each.count_reads(query) > 1]
    if not repeated:
        return query
    names = {each.item: f"reid_table_{place}" for place, each in enumerate(repeated, 1)}
    materialized = ", ".join(
        f"{name} AS MATERIALIZED (FROM {item})" for item, name in names.items()
    )
    renamed = _change_tables(
        checked, lambda _, table: table.rename(names[table.item]) if table.item in names else table
    )
    return f"WITH {materialized} {_write_answer(declared, renamed, database)}"


def _write_answer(declared: Function, checked: Arguments, database: str) -> str:
    """Write the answer over its reduction."""
    if declared.answer is Answer.SCORED_TABLE:
        return score_records(declared, checked, database)
    options = {p.name: p.domain.literal(checked[p.name]) for p in declared.own_parameters}
    reduced = write_reduction(declared, checked, database)
    has_households = declared.answer is Answer.PER_RECORD and checked.get("household") is not None
    is_divided = checked.get("by") is not None
    return answer_over(
        declared, options, database, reduced, is_divided=is_divided, has_households=has_households
    )


def write_reduction(declared: Function, checked: Arguments, database: str = "") -> str | None:
    """Write the query of the reduction that the function answers from, if it has one."""
    reduction = declared.reduction
    if reduction is None:
        return None
    arguments = reduction_arguments(declared, checked)
    by = arguments.get("by")
    if by is not None:
        refuse_groups_named_like_results(by, declared.answer_columns)
    if declared.one_row_per_person and checked["entity"] is not None:
        refuse_household_with_entity(checked.get("household"))
        arguments |= _people_in_place(
            checked, arguments, of_shares=reduction.compares_shares(checked)
        )
    if any(each.domain is MODEL for each in reduction.arguments):
        arguments["database"] = database
    written: str = implementation(reduction, "duckdb")(**arguments)
    if isinstance(sensitive := arguments.get("sensitive"), str):  # not a list, of several
        for source in _sources_of(checked.values()):
            written = source.check_sensitive(sensitive, written)
    return written


def _people_in_place(
    checked: Arguments, arguments: Arguments, *, of_shares: bool
) -> dict[str, Any]:
    """The table with a row for each person, or for each sensitive value of theirs; the person is the key."""
    qi, entity, nulls, by = (
        checked["qi"],
        checked["entity"],
        arguments["nulls"] or "value",
        arguments.get("by") or (),
    )
    if "sensitive" in arguments:
        sensitive = checked["sensitive"]
        tbl = one_row_per_value(
            checked["tbl"], qi, sensitive, entity, nulls, by, of_shares=of_shares
        )
        return {"tbl": tbl, "entity": PERSON}
    tbl = one_row_per_person(checked["tbl"], qi, entity, nulls, by, arguments.get("weight"))
    if "key" not in arguments:
        return {"tbl": tbl}
    if arguments["key"] is not None:
        raise OutOfDomainError(REFUSAL_KEY_WITH_ENTITY.format(arguments["key"]))
    return {"tbl": tbl, "key": entity}
