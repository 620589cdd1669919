"""What the first tier leaves of tests/udfs/test_audit_tables.py."""

import polars as pl
import pytest

import reid_sql.polars as rp


@pytest.mark.real_data
def test_adult_by_occupation_and_country(data: str) -> None:
    """Of 252 cells of 1 to 4 people, hidden by that rule, one is recovered: the only one of its country."""
    adult = pl.read_parquet(f"{data}/adult.parquet")
    counted = rp.safe_table(
        adult, ["occupation", "native_country"], k=5, totals="margins"
    ).collect()
    inner = (pl.col("total_over").list.len() == 0) & (pl.col("records") < 5)
    hidden = counted.with_columns(records=pl.when(~inner).then("records"))
    found = rp.audit_tables([hidden], highest=4).collect()
    assert found.filter(kind="suppressed").height == 252
    assert found.filter(finding="recovered")["cell"].to_list() == [
        "occupation = Machine-op-inspct, native_country = Holand-Netherlands"
    ]
