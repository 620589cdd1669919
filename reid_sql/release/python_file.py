"""A release as a Python file: a function for each table that makes it of a Polars frame."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from reid_sql.control_characters import escape_control_characters
from reid_sql.errors import ReidError
from reid_sql.hierarchies.step import ALL
from reid_sql.models.release.criteria import SIZE
from reid_sql.release.form import RESCUED, SMALL

if TYPE_CHECKING:
    from reid_sql.release.form import Form
    from reid_sql.release.sought import Sought, TableForm

FIRST: Final = '"""A release by reid-sql'


def python_file(made: "Sought") -> str:
    """Write a function for each table, named `released_` and the table's name."""
    if not made.passed:
        raise ReidError(
            f"a release must pass the policy to be written, got {made.verdict}; change the policy"
        )
    name = escape_control_characters(made.policy.name.replace("\n", " ")).replace('"', "'").replace("\\", "/")
    head = [f'{FIRST}, by the policy {name}."""', "", "import polars as pl"]
    functions = [line for table in made.tables for line in ("", "", *_function(made, table))]
    return "\n".join([*head, *functions]) + "\n"


def _stage(form: "Form", stage: Sequence[str]) -> Iterator[str]:
    """Blank columns in records of small classes that are then alike with enough others of them."""
    small, rescued = f"pl.len().over({form.names!r}) < {form.cut}", f"pl.col({RESCUED!r})"
    others = [SMALL, *(name for name in form.names if name not in stage)]
    told = f"pl.col({SMALL!r}) & (pl.len().over({others!r}) >= {form.cut})"
    yield f"    made = made.with_columns(({small}).alias({SMALL!r}))"
    yield f"    made = made.with_columns(({told}).alias({RESCUED!r}))"
    for name in stage:
        text = f"pl.col({name!r}).cast(pl.String)"
        blank = f"pl.when({rescued}).then(pl.lit({ALL!r})).otherwise({text}).alias({name!r})"
        yield f"    made = made.with_columns({blank})"
    yield f"    made = made.drop({SMALL!r}, {RESCUED!r})"


def _round(form: "Form") -> Iterator[str]:
    """Leave out the classes that are small or break a rule."""
    counts = {SIZE: form.names, **form.counts}
    for name, parts in counts.items():
        counted = f"pl.len().over({parts!r})" if parts else "pl.len()"
        yield f"    made = made.with_columns({counted}.alias({name!r}))"
    small = [f"(pl.col({SIZE!r}) >= {form.cut})"] if form.cut > 1 else []
    met = [f"({rule.polars(repr(form.names), at)})" for at, rule in form.numbered]
    yield f"    made = made.filter({' & '.join([*small, *met])}).drop({list(counts)!r})"


def _function(made: "Sought", table: "TableForm") -> Iterator[str]:
    if table.form is None:
        raise ReidError("no form of the table meets the policy")
    levels = table.form.levels
    called = f"released_{re.sub(r'[^0-9A-Za-z_]', '_', table.table.name)}"
    yield f"def {called}(frame: pl.LazyFrame) -> pl.LazyFrame:"
    shipped = table.shipped(made.policy.preparing.keep)
    yield "    made = frame.lazy().with_columns(["  # a selection of constants alone would be one record
    for name in shipped:
        spelled = levels[name][0].python(levels[name][1]) if name in levels else f"pl.col({name!r})"
        yield f"        {spelled},"
    yield f"    ]).select({shipped!r})"
    columns = table.form.names
    for stage in table.form.stages:
        yield from _stage(table.form, stage)
    if table.form.rules:
        yield from (line for _ in range(table.form.rounds) for line in _round(table.form))
        yield "    return made"
        return
    kept = f".filter(pl.len().over({columns!r}) >= {table.form.cut})" if table.form.cut > 1 else ""
    yield f"    return made{kept}"
