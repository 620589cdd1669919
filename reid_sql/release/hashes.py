"""The report on a release names what was released: the hash of its SQL, and that of its rows."""

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from reid_sql.check.digest import seal
from reid_sql.check.duckdb_table import DuckDBRelease
from reid_sql.parameters import quoted
from reid_sql.release.files import sql_file

if TYPE_CHECKING:
    from reid_sql.release.transformation import Outcome

BATCH: Final = 100_000  # rows that are fetched at once


def state_hashes(made: "Outcome", releases: Sequence[DuckDBRelease]) -> None:
    """Add the hashes to each table of the gate's report, beside that of the source, and seal it anew.

    The SQL is that of the file for DuckDB, which is written only for a release that passes.
    """
    if made.report is None:
        return
    sql = hashlib.sha256(sql_file(made).encode()).hexdigest() if made.passed else None
    for page, release, table in zip(made.report["tables"], releases, made.tables, strict=True):
        if table.transformation is not None:
            columns = table.shipped(made.policy.preparing.keep)
            select = table.transformation.select(columns, release.engine.whole)
            rows = hash_rows(release, f"FROM ({select})", columns)
            page["release"] = {"sql_sha256": sql, "rows_sha256": rows}
    seal(made.report)


def hash_rows(release: DuckDBRelease, relation: str, columns: Sequence[str]) -> str:
    """Return the hash of rows whatever their order: that of the sorted hashes of each, one a line.

    A row is its values as text, each after its number of bytes and a colon, "-" for NULL, commas between.
    """
    texts = [f"{quoted(name)}::VARCHAR" for name in columns]
    values = [f"coalesce(strlen({text}) || ':' || {text}, '-')" for text in texts]
    row = " || ',' || ".join(values)
    hashes = release.engine.con.execute(f"SELECT sha256({row}) {relation} ORDER BY 1")
    whole = hashlib.sha256()
    while rows := hashes.fetchmany(BATCH):
        whole.update("".join(f"{row[0]}\n" for row in rows).encode())
    return whole.hexdigest()
