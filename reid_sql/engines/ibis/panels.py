"""Columns of people by the structure of a warehouse's table: few rows of it come to the client."""

from collections.abc import Callable, Sequence
from functools import reduce
from operator import or_

import pyarrow as pa
from ibis.expr.types import Table

from reid_sql.engines.drawn_rows import Values, find_panels_in
from reid_sql.parameters import MAX_COLUMNS


def find_panels(
    frame: Table,
    counted: Sequence[str],
    ask: Callable[[Callable[[], Table]], pa.Table],
    named: Sequence[str] = (),
) -> list[str]:
    """Return columns of people by the structure of a draw of rows, which `ask` fetches."""
    schema = frame.schema()
    plain = [
        name for name, kind in schema.items() if kind.is_primitive() or kind.is_string() or kind.is_date()
    ]

    def draw(values: Values, limit: int) -> pa.Table:
        rows = frame.select(plain[:MAX_COLUMNS])
        tests = [rows[name].isin(each) for name, each in values.items()]
        return ask(lambda: (rows.filter(reduce(or_, tests)) if tests else rows).limit(limit))

    return find_panels_in(plain, draw, counted, named)
