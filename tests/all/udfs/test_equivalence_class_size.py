"""What the first tier leaves of tests/udfs/test_equivalence_class_size.py."""

import polars as pl
import pytest

import reid_sql.polars as rp
from tests.tables import ADULT10, by_duckdb


@pytest.mark.real_data
def test_adult_has_the_published_number_of_unique_records(adult: str) -> None:
    sql = (
        "SELECT count(*) FILTER (k = 1) AS u FROM (SELECT "
        f"equivalence_class_size({', '.join(ADULT10)}) AS k FROM '{adult}')"
    )
    assert by_duckdb(sql) == [{"u": 24_802}]
    assert (
        pl.scan_parquet(adult)
        .filter(rp.equivalence_class_size(*ADULT10) == 1)
        .select(pl.len())
        .collect()
        .item()
        == 24_802
    )
