"""audit_tables in SQL, Polars and Python: one answer, whatever a table is, and the figures of adult."""

from pathlib import Path

import duckdb
import polars as pl
import pytest

import reid_sql
import reid_sql.polars as rp
from reid_sql.errors import ReidError

ROWS = [("N", "F", None), ("N", "M", 20), ("N", None, 23), ("S", None, 18), (None, None, 41)]
FIRST = pl.DataFrame(ROWS, schema=["region", "sex", "records"], orient="row")
SECOND = pl.DataFrame({"region": ["N", "S"], "drug": ["yes", "yes"], "records": [21, 18]})


def test_names_frames_files_and_typed_columns_give_one_answer(tmp_path: Path) -> None:
    expected = rp.audit_tables([FIRST, SECOND]).collect()
    FIRST.write_csv(tmp_path / "first.csv")
    with duckdb.connect() as con:
        con.register('odd "name', SECOND)
        con.execute(
            "CREATE VIEW second AS SELECT region::ENUM('N', 'S') AS region, drug, records::DOUBLE AS records "
            'FROM "odd ""name"'
        )
        for tables in (["f", "second"], [FIRST, "second"], [str(tmp_path / "first.csv"), SECOND]):
            con.register("f", FIRST)
            found = reid_sql.audit_tables(con, tables).pl()
            assert found.drop("tables").equals(expected.drop("tables"))
    assert [
        (row["cell"], row["kind"], row["low"], row["revealed_by"]) for row in expected.to_dicts()
    ] == [
        ("region = N, drug not listed", "difference", 2, "several_tables"),
        ("region = N, sex = F", "suppressed", 3, "one_table"),
    ]


def test_one_table_needs_no_list_and_no_table_is_refused() -> None:
    assert rp.audit_tables(FIRST).collect().equals(rp.audit_tables([FIRST]).collect())
    with pytest.raises(ReidError, match="tables must be a list of 1 to 64 tables, got 0"):
        rp.audit_tables([])
    with duckdb.connect() as con:
        con.register("f", FIRST)
        with pytest.raises(ReidError, match="got 0"):
            reid_sql.audit_tables(con, [])
        for several in ([FIRST.head(0)], [FIRST, FIRST.head(0)], [FIRST.head(0), FIRST]):
            with pytest.raises(ReidError, match="must contain at least one record, got 0"):
                reid_sql.audit_tables(con, several)
            with pytest.raises(ReidError, match="must contain at least one record, got 0"):
                rp.audit_tables(several).collect()


def test_columns_that_differ_by_capitals_alone_are_refused() -> None:
    """One would replace the other, and cells of different people would be one."""
    table = pl.DataFrame({"A": ["x", "w"], "a": ["y", "z"], "records": [1, None]})
    with pytest.raises(Exception, match="columns of tables must differ by more than capitals"):
        rp.audit_tables([table]).collect()
