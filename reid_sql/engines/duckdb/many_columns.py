"""Macros of any number of columns: how they are spelled, and the window that counts by them."""

from collections.abc import Callable, Sequence
from typing import Final

from reid_sql.function import sql_literal
from reid_sql.parameters import MAX_COLUMNS

SPELLED: Final = 16  # numbers of columns that have a spelling of their own


def spelled(
    make: Callable[[Sequence[str]], str], before: Sequence[str], ungiven: str, spellings: int = SPELLED
) -> str:
    """A macro of 1 to 64 columns: one spelling each for a few, and one with defaults for the rest.

    The text of spellings grows with the square of their number, and so does the time to make them.
    """
    columns = [f"c{place}" for place in range(1, MAX_COLUMNS + 1)]
    each = [
        f"({', '.join([*before, *columns[:count]])}) AS {make(columns[:count])}"
        for count in range(1, spellings + 1)
    ]
    shown = [*columns[: spellings + 1], *(f"{column} := {ungiven}" for column in columns[spellings + 1 :])]
    return ", ".join([*each, f"({', '.join([*before, *shown])}) AS {make(columns)}"])


def met_first(parameter: str, body: str) -> str:
    """The body behind a case that never is, which the optimiser drops.

    Where a macro is made, DuckDB binds its body, and stops at the first parameter whose type it must know: of
    what stands behind it nothing is bound, neither there nor where another macro that calls it is made.
    """
    return f"CASE WHEN {parameter} IS NULL AND false THEN NULL ELSE {body} END"


def window(name: str, people: Sequence[str], columns: Sequence[str]) -> str:
    """What the function of this name counts, the columns checked; `people` tells people apart, if given."""
    example = sql_literal(f"{name}({', '.join(['person_id'] * len(people) + ['age', 'sex'])})")
    names = f"[{', '.join(f'alias(row({each}))' for each in [*people, *columns])}]"
    checked = f"{'reid_are_people' if people else 'reid_are_columns'}({names}, {example})"
    exact = f"reid_are_exact(row({', '.join([*people, *columns])}))"
    counted = f"CASE WHEN {checked} AND {exact} THEN {window_of(people, columns)} END"
    return met_first([*people, *columns][0], counted)


def window_of(people: Sequence[str], columns: Sequence[str]) -> str:
    """Count the records of a window, or its people by a column: in a struct, in which NULL counts as one.

    DuckDB 2.0 breaks down where a row without names holds an array.
    """
    counted = f"DISTINCT {{'person': {people[0]}}}" if people else "*"
    return f"count({counted}) OVER (PARTITION BY {', '.join(columns)})"
