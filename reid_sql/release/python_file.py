"""A release as a Python file: a function for each table that makes it of a Polars frame."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from reid_sql.errors import ReidError
from reid_sql.visible import visible

if TYPE_CHECKING:
    from reid_sql.release.prepared import Prepared, TableForm

FIRST: Final = '"""A release by reid-sql'


def python_file(made: "Prepared") -> str:
    """Write a function for each table, named `released_` and the table's name."""
    if not made.passed:
        raise ReidError(
            f"a release must pass the policy to be written, got {made.verdict}; change the policy"
        )
    name = visible(made.policy.name.replace("\n", " ")).replace('"', "'").replace("\\", "/")
    head = [f'{FIRST}, by the policy {name}."""', "", "import polars as pl"]
    functions = [line for table in made.tables for line in ("", "", *_function(made, table))]
    return "\n".join([*head, *functions]) + "\n"


def _function(made: "Prepared", table: "TableForm") -> Iterator[str]:
    if table.form is None:
        raise ReidError("no form of the table meets the policy")
    levels = table.form.levels
    called = f"released_{re.sub(r'[^0-9A-Za-z_]', '_', table.table.name)}"
    yield f"def {called}(frame: pl.LazyFrame) -> pl.LazyFrame:"
    yield f"    made = frame.lazy().select({'['}"
    for name in table.shipped(made.policy.preparing.keep):
        spelled = levels[name][0].python(levels[name][1]) if name in levels else f"pl.col({name!r})"
        yield f"        {spelled},"
    yield "    ])"
    columns = [each.column for each in table.ladders]
    kept = f".filter(pl.len().over({columns!r}) >= {table.form.cut})" if table.form.cut > 1 else ""
    yield f"    return made{kept}"
