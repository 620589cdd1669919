"""What is no table of counts is refused in one sentence, in SQL, Python and by the command."""

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import reid_sql
from reid_sql.cli import main
from reid_sql.errors import ReidError

Row = dict[str, Any]
PUBLISHED: dict[str, tuple[list[Row], str]] = {
    "negative": ([{"a": "x", "records": -1}], "count must be whole numbers of at least 0"),
    "a share": ([{"a": "x", "records": 0.5}], "count must be whole numbers of at least 0"),
    "NaN": ([{"a": "x", "records": float("nan")}], "count must be whole numbers of at least 0"),
    "contradicting": (
        [{"a": "x", "records": 30}, {"a": "y", "records": 1}, {"a": None, "records": 12}],
        "tables must be of counts that some table of people has",
    ),
    "no row": ([], "must contain at least one record, got 0"),
    "no category": ([{"records": 3}], "tables must have a column of categories"),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_what_is_no_table_of_counts_is_refused_in_one_sentence(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, words = PUBLISHED[name]
    table = pa.Table.from_pylist(rows or [{"a": "x", "records": 3}]).slice(0 if rows else 1)
    pq.write_table(table, tmp_path / "t.parquet")
    with duckdb.connect() as con:
        con.register("t", table)
        with pytest.raises(ReidError, match=words):
            reid_sql.audit_tables(con, [table])
        reid_sql.register(con)
        with pytest.raises(duckdb.Error, match=words):
            con.execute("FROM audit_tables(['t'])").fetchall()
    assert main(["audit", str(tmp_path / "t.parquet")]) == 2
    captured = capsys.readouterr()
    assert words in " ".join(captured.err.split())
    assert "Traceback" not in captured.err


def test_a_table_in_which_all_counts_are_hidden_says_nothing() -> None:
    table = pa.table({"a": ["x", "y", None], "records": pa.nulls(3, pa.int64())})
    with duckdb.connect() as con:
        found = reid_sql.audit_tables(con, [table]).to_arrow_table().to_pylist()
    assert {(row["cell"], row["low"], row["high"]) for row in found} == {
        ("a = x", 1, None),
        ("a = y", 1, None),
        ("total", 2, None),
    }
    assert {row["finding"] for row in found} == {"protected"}
