"""Sums of a table of which some cells are hidden.

Whoever knows everybody's sum subtracts the shown ones: the hidden cells are known together. So are those of
each group of another column that theirs determine, as a region's sum less those of its shown towns. A sum of
other cells follows only where their count does, which the record refuses for few people.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from reid_sql.errors import OutOfDomainError
from reid_sql.parameters import quoted
from reid_sql.serve.linked_sums import LARGEST_CONTRIBUTOR
from reid_sql.serve.record import EarlierSums
from reid_sql.serve.settings import listed

FEW_PEOPLE: Final = "few_people"  # the rule of safe_table
HIDDEN: Final = frozenset(["primary", "secondary"])  # the statuses of cells that are hidden in turn
PUBLISHED: Final = "published"  # the status of a cell that is shown
SHOWN_CELLS: Final = "reid_shown_cells"
REFUSAL_HIDDEN_SUM: Final = (
    "sums must be of groups that hide nothing, or of one column, got some with a hidden one that could follow; "
    "ask for coarser groups, or for count(*) alone"
)
PLACE: Final = "reid_place"  # of a shown cell, from 1; all hidden ones have 0


def refuse_narrow_values(data: duckdb.DuckDBPyConnection, arguments: Mapping[str, Any]) -> None:
    """Refuse sums of few different values: that of zeros and ones counts those who have a one."""
    value = arguments.get("value")
    if value is None:
        return
    groups = ", ".join(quoted(name) for name in listed(arguments["by"])) or "()"
    [(fewest,)] = data.execute(
        f"""SELECT min(different) FROM (SELECT count(DISTINCT {quoted(value)}) AS different
        FROM memory.main.{quoted(arguments["tbl"])} GROUP BY {groups} HAVING count(*) >= $1)""",
        [arguments["k"]],
    ).fetchall()
    if fewest is not None and fewest < arguments["k"]:
        raise OutOfDomainError(
            f"a sum must be of at least {arguments['k']} different values in each cell, got fewer of {value}; "
            f"group by {value}, or by coarser columns"
        )


def join_hidden_cells(
    data: duckdb.DuckDBPyConnection,
    arguments: Mapping[str, Any],
    answer: pa.Table,
    before: EarlierSums,
) -> EarlierSums:
    """Refuse sums beside hidden ones that could follow; hidden cells of one column are one group together."""
    hidden = answer.filter(pc.not_equal(answer["status"], PUBLISHED))
    by = listed(arguments["by"])
    if not hidden.num_rows:
        return before
    if len(by) > 1 or arguments.get("entity") or not _is_for_counts(hidden):
        raise OutOfDomainError(REFUSAL_HIDDEN_SUM)
    column = by[0].casefold()
    source = _number_cells(data, before.source, by[0], answer)
    names = {name.casefold(): name for name in data.sql(f"FROM {source} LIMIT 0").columns}
    determined = [names[name] for name in sorted(before.determined - {column})]
    if _are_few(data, arguments, source, determined):
        raise OutOfDomainError(REFUSAL_HIDDEN_SUM)
    sums = [
        ([{column: PLACE}.get(name, name) for name in groups], earlier)
        for groups, earlier in before.sums
    ]
    return EarlierSums(source, before.determined, sums)


def _is_for_counts(hidden: pa.Table) -> bool:
    """Whether cells are hidden for few people; one hidden for its sum may follow where its count is shown."""
    rules, statuses = hidden["unsafe"].to_pylist(), hidden["status"].to_pylist()
    return set(statuses) <= HIDDEN and all(not each or FEW_PEOPLE in each for each in rules)


def _number_cells(
    data: duckdb.DuckDBPyConnection, source: str, column: str, answer: pa.Table
) -> str:
    """Write the table with the number of each person's cell; refuses values that do not find their cell."""
    shown = answer.filter(pc.equal(answer["status"], PUBLISHED))
    places = pa.array(range(1, shown.num_rows + 1), pa.int64())
    data.register(SHOWN_CELLS, pa.table({"reid_cell": shown[column], PLACE: places}))
    numbered = f"""(SELECT t.*, coalesce({PLACE}, 0) AS {PLACE} FROM {source} AS t
        LEFT JOIN {SHOWN_CELLS} ON t.{quoted(column)} IS NOT DISTINCT FROM reid_cell)"""
    counts = data.sql(
        f"SELECT {PLACE}, count(*) FROM {numbered} WHERE {PLACE} > 0 GROUP BY ALL"
    ).fetchall()
    if dict(counts) != dict(zip(places.to_pylist(), shown["records"].to_pylist(), strict=True)):
        raise OutOfDomainError(
            f"groups of a sum must have values that an answer gives back, got others of {column}; cast it in a view"
        )
    return numbered


def _are_few(
    data: duckdb.DuckDBPyConnection,
    arguments: Mapping[str, Any],
    source: str,
    determined: Sequence[str],
) -> bool:
    """Whether the hidden cells are of few people or values together, or mostly of one person.

    So must they be in each group of a column that theirs determine.
    """
    value = f"coalesce({quoted(arguments['value'])}::DOUBLE, 0)"
    sets = ", ".join(["()", *(f"({quoted(name)})" for name in determined)])
    [(is_few,)] = data.execute(
        f"""SELECT bool_or(people < $1 OR different < $1 OR largest > {LARGEST_CONTRIBUTOR[1]} * total) FROM (
        SELECT count(*) AS people, count(DISTINCT {value}) AS different, max(abs({value})) AS largest,
        sum(abs({value})) AS total FROM {source} WHERE {PLACE} = 0 GROUP BY GROUPING SETS ({sets}))""",
        [arguments["k"]],
    ).fetchall()
    return bool(is_few)
