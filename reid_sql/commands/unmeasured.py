"""The columns of a file that a command did not measure: each with the people whom it singles out."""

from collections.abc import Sequence
from typing import Any

import duckdb

from reid_sql.check.exact_figures import ColumnAlone, ReleasedColumns
from reid_sql.check.masked_columns import Words, describe_unmeasured
from reid_sql.check.masking import Mask, ReportPage
from reid_sql.parameters import MAX_COLUMNS, fold_case, quoted
from reid_sql.sources.unique_columns import count_unique
from reid_sql.terminal.runner import run

NOTHING_HIDDEN = Mask(1)  # the command's other counts are exact, too


def table_columns(con: duckdb.DuckDBPyConnection, table: str) -> list[str]:
    """List the columns of a table."""
    return [row[0] for row in con.execute("DESCRIBE FROM query_table(?)", [table]).fetchall()]


def unmeasured_columns(
    con: duckdb.DuckDBPyConnection,
    table: str,
    measured: Sequence[str],
    what: str,
    *,
    entity: str | None = None,
    key: str | None = None,
) -> dict[str, Any]:
    """Count the people whom each column of a table that nothing measured singles out, and all of them.

    The column of people, or the key that only the holder of the data has, is none of them. `what` names the
    table.
    """
    measured_names = set(map(fold_case, measured))
    identifiers = {fold_case(name) for name in (entity, key) if name is not None}
    columns = [name for name in table_columns(con, table) if fold_case(name) not in identifiers]
    unmeasured = [name for name in columns if fold_case(name) not in measured_names]
    together = tuple(columns[:MAX_COLUMNS])
    sets = [[name] for name in unmeasured] + ([list(together)] if together else [])
    person = "*" if entity is None else f"DISTINCT {quoted(entity)}"
    counts = con.execute(f"SELECT count(*), count({person}) FROM query_table(?)", [table])
    rows, people = counts.fetchall()[0]
    unique = count_unique(
        lambda sql: run(con, sql, words="columns").rows, table, sets, rows, entity
    )
    alone = [ColumnAlone(*each) for each in zip(unmeasured, unique, strict=False)]
    alone.sort(key=lambda each: 0 if each.unique is None else -each.unique)
    released = ReleasedColumns(
        tuple(alone),
        (),
        (),
        together,
        len(columns) - len(together),
        unique=unique[-1] if together else None,
    )
    words = Words(
        f"In {what}, measured by no figure here",
        f"Every column of {what} is measured here.",
        f"of {what}",
    )
    return dict(ReportPage(describe_unmeasured(released, people, NOTHING_HIDDEN, words)))
