"""Answers for each group of a table, as SQL over a reduction that has the groups' columns before its own."""

from collections.abc import Sequence
from typing import Final

from reid_sql.engines.duckdb.awaited import awaited
from reid_sql.function import Function
from reid_sql.parameters import sql_text
from reid_sql.reduction import GROUP, HOW_NULLS, NOBODY, Reduction

# Every column by its name, those of the groups by their own.
OWN_NAMES: Final = rf"SELECT COLUMNS('^(?s:(?:{GROUP})?(.*))$') AS '\1'"


def by_group(declared: Function, reduction: Reduction, answer: str) -> str:
    """Answer for each group, by what the reduction has beside its own columns; else for the whole.

    Of a group of which every record was dropped nothing but that is known. A bare name may be a parameter's.
    """
    names = (name for name in declared.columns if name != "records")
    known = ", ".join(f"CASE WHEN g.records > 0 THEN g.{name}{_nobody(name)} END AS {name}" for name in names)
    each = f"SELECT {_groups(reduction)}, {answer} GROUP BY ALL"
    return f"{OWN_NAMES} FROM (SELECT * REPLACE ({known}) FROM ({each}) AS g WHERE {every_column('g')})"


def every_column(row: str) -> str:
    """Ask for all columns: the optimiser drops a check that stands in one that nobody selects."""
    return f"{row}::VARCHAR <> ''"


def awaited_by_group(
    declared: Function, reduction: Reduction, own: Sequence[str], divided: str, source: str
) -> str:
    """The same by a Python body, which is begun once: it is given the arrays of each group in a list.

    `divided` says whether there are groups, or the whole table is one.

    The groups stand in one list, so that what a body says of one comes beside its values.
    """
    first = next(iter(reduction.columns))
    names = [f"reid_array_{place}" for place in range(1, len(reduction.inputs) + 1)]
    arrays = zip(reduction.inputs, names, strict=True)
    held = ", ".join(f"list({column} ORDER BY {first} ASC) AS {name}" for column, name in arrays)
    how = ", ".join(f"max({name}) AS {name}" for name in HOW_NULLS)
    parts = f"SELECT {_groups(reduction)}, {held}, {how} FROM {source} GROUP BY ALL"
    every = f"SELECT list(reid_part) AS reid_parts FROM ({parts}) AS reid_part"
    given = [f"list_transform(reid_parts, lambda reid_p: reid_p.{name})" for name in names]
    called = awaited(declared, [*given, *own, divided], f"reid_parts FROM ({every})")
    each = f"SELECT unnest(reid_parts) AS reid_part, unnest(answers) AS reid_rows FROM ({called})"
    rows = f"SELECT reid_part, unnest(reid_rows) AS reid_row FROM ({each})"
    treated = ", ".join(f"{name} AS {name}" for name in HOW_NULLS)
    apart = f"SELECT unnest(reid_part), unnest(reid_row) FROM ({rows})"
    told = f"SELECT * EXCLUDE ({', '.join([*names, *HOW_NULLS])}), {treated} FROM ({apart})"
    return f"{OWN_NAMES} FROM ({told})"


def _groups(reduction: Reduction) -> str:
    return f"* EXCLUDE ({', '.join([*reduction.columns, *HOW_NULLS])})"


def _nobody(name: str) -> str:
    return f" ELSE {sql_text(str(NOBODY[name]))}" if name in NOBODY else ""
