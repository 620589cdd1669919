"""Every engine counts tables of all types as a loop does.

REID_SQL_DRAWN says of how many (docs/reliability.md).
"""

import os
from collections import Counter
from collections.abc import Iterator

import duckdb
import polars as pl
import pytest

import reid_sql
import reid_sql.polars as rp
from reid_sql.engines.polars.frames import SPLITS_LISTS_OF_STRUCTS
from reid_sql.errors import OutOfDomainError
from tests.all.reliability.drawn import sizes, table

DRAWN = int(os.environ.get("REID_SQL_DRAWN", "100"))
AT_ONCE = 50


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        reid_sql.register(connection)
        yield connection


@pytest.mark.parametrize("first", range(0, DRAWN, AT_ONCE))
def test_duckdb_counts_as_a_loop_does(con: duckdb.DuckDBPyConnection, first: int) -> None:
    for seed in range(first, min(first + AT_ONCE, DRAWN)):
        drawn = table(seed)
        expected, listed = sizes(drawn), ", ".join(drawn.column_names)
        con.execute(
            "CREATE OR REPLACE TABLE drawn AS FROM (SELECT *, row_number() OVER () AS place FROM drawn)"
        )
        found = con.execute(
            f"SELECT equivalence_class_size({listed}) FROM drawn ORDER BY place"
        ).fetchall()
        assert [size for (size,) in found] == expected, seed
        asked = con.execute(
            f"SELECT class_size, classes, records FROM class_size_histogram(drawn, {drawn.column_names})"
        )
        counted = Counter(expected)
        assert asked.fetchall() == [(k, n // k, n) for k, n in sorted(counted.items())], seed
        summary = con.execute(
            f"SELECT k, unique_records, records FROM risk_summary(drawn, {drawn.column_names})"
        )
        assert summary.fetchall() == [(min(expected), counted[1], len(expected))], seed
        con.execute("DROP TABLE drawn")


@pytest.mark.parametrize("first", range(0, DRAWN, AT_ONCE))
def test_polars_counts_as_a_loop_does(first: int) -> None:
    for seed in range(first, min(first + AT_ONCE, DRAWN)):
        drawn = table(seed)
        expected, frame = sizes(drawn), pl.DataFrame(pl.from_arrow(drawn))
        if SPLITS_LISTS_OF_STRUCTS and any("List(Struct" in str(kind) for kind in frame.dtypes):
            with pytest.raises(
                OutOfDomainError, match="must not be lists of structs before Polars 2"
            ):
                rp.risk_summary(frame, frame.columns).collect()
            continue
        assert (
            frame.select(rp.equivalence_class_size(*frame.columns)).to_series().to_list()
            == expected
        ), seed
        counted = Counter(expected)
        histogram = rp.class_size_histogram(frame, frame.columns).select(
            "class_size", "classes", "records"
        )
        assert histogram.collect().rows() == [(k, n // k, n) for k, n in sorted(counted.items())], (
            seed
        )
        summary = rp.risk_summary(frame, frame.columns).select("k", "unique_records", "records")
        assert summary.collect().rows() == [(min(expected), counted[1], len(expected))], seed
