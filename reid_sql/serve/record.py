"""The counts that were published: none that is below the mask may follow from all of them."""

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import duckdb
import pyarrow as pa

from reid_sql.errors import OutOfDomainError, UnavailableError
from reid_sql.serve.masks import Cells, ask

MAX_CELLS: Final = 2_000  # of a table, which an audit takes some seconds for
PROTECTED: Final = "protected"  # what an audit finds of a cell that nobody can compute
AUDITED: Final = "reid_published"
REMEDY: Final = "ask for fewer or coarser columns"
REFUSAL_OTHER_PEOPLE: Final = (
    f"an answer must count the people of the answers before, got counts that do not add up; {REMEDY}"
)


class Record:
    """A DuckDB file of the owner's, with each count that left."""

    def __init__(self, file: str | Path = ":memory:") -> None:
        """Open the record, or begin one."""
        self._lock = threading.Lock()
        self._con = duckdb.connect(str(file))
        self._con.execute("""CREATE TABLE IF NOT EXISTS published (
            asked_at TIMESTAMP DEFAULT current_timestamp, tbl VARCHAR, cell VARCHAR, records BIGINT)""")

    def add(self, data: duckdb.DuckDBPyConnection, table: str, cells: Cells, below: int) -> None:
        """Record the counts of a table, unless a group below the mask follows from all that are recorded."""
        with self._lock:  # two clients may not ask for two halves at once
            counts: dict[str, dict[str, int | None]] = {table: {}}
            for name, cell, count in self._con.execute("SELECT tbl, cell, records FROM published").fetchall():
                counts.setdefault(name, {})[cell] = count
            known = counts.pop(table)
            merged, new = _merge(known, cells)
            if not new:
                return
            if len(merged) > MAX_CELLS:
                rule = f"the published counts of a table must be at most {MAX_CELLS:,}, got more"
                raise UnavailableError(f"{rule}; ask the owner for a new record")
            for other in counts.values():
                _refuse_near(new, other, below)
            _refuse_findings(data, merged, below)
            self._con.execute("BEGIN")
            self._con.executemany(
                "DELETE FROM published WHERE tbl = $1 AND cell = $2", [(table, cell) for cell in new]
            )
            self._con.executemany(
                "INSERT INTO published (tbl, cell, records) VALUES ($1, $2, $3)",
                [(table, cell, count) for cell, count in new.items()],
            )
            self._con.execute("COMMIT")


def _merge(
    known: Mapping[str, int | None], cells: Cells
) -> tuple[dict[str, int | None], dict[str, int | None]]:
    """Return all counts, and those that are new; one that is hidden in one answer may be shown in another."""
    merged, new = dict(known), {}
    for categories, count in cells:
        cell = json.dumps(categories, sort_keys=True)
        before = merged.get(cell)
        if None not in (before, count) and before != count:
            raise OutOfDomainError(REFUSAL_OTHER_PEOPLE)
        if cell not in merged or (before is None and count is not None):
            merged[cell] = new[cell] = count
    return merged, new


def _refuse_findings(data: duckdb.DuckDBPyConnection, counts: Mapping[str, int | None], below: int) -> None:
    """Audit all counts of a table together; whatever is not proved to be protected is refused."""
    cells = [json.loads(cell) for cell in counts]
    names = sorted({name for cell in cells for name in cell})
    columns = {f"c{place}": pa.array([cell.get(name) for cell in cells]) for place, name in enumerate(names)}
    data.register(AUDITED, pa.table({**columns, "records": pa.array(counts.values(), pa.int64())}))
    try:
        found = ask(data, "audit_tables", {"tables": [AUDITED], "k": below, "columns": list(columns)})
    except duckdb.InvalidInputException:
        raise OutOfDomainError(REFUSAL_OTHER_PEOPLE) from None
    findings = zip(found["finding"].to_pylist(), found["status"].to_pylist(), strict=True)
    if any(each != PROTECTED or status.startswith("bounds_not_tight") for each, status in findings):
        rule = f"an answer must reveal no group of fewer than {below} with those before, got one that does"
        raise OutOfDomainError(f"{rule}; {REMEDY}")


def _refuse_near(new: Mapping[str, int | None], other: Mapping[str, int | None], below: int) -> None:
    """Refuse a count that differs from that of another table by fewer people than the mask."""
    pairs = ((count, other.get(cell)) for cell, count in new.items())
    if any(0 < abs(one - two) < below for one, two in pairs if one is not None and two is not None):
        rule = f"a count must differ from that of another table by 0 or at least {below}, got a nearer one"
        raise OutOfDomainError(f"{rule}; {REMEDY}")
