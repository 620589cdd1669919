"""What the first tier leaves of tests/udfs/test_compare.py."""

from typing import Any

import polars as pl
import pytest

from tests.tables import ADULT10, by_both
from tests.udfs.test_compare import row_of


@pytest.mark.real_data
def test_adult_in_bands_and_with_values_suppressed(adult: str) -> None:
    qi = ADULT10[:5]
    whole = pl.read_parquet(adult).select(qi).with_row_index("id").head(3000)
    bands = (pl.col("age") // 10 * 10).cast(pl.String) + "s"
    rare = pl.len().over("occupation", "marital_status") < 20
    cut = whole.with_columns(bands.alias("age")).with_columns(
        pl.when(rare).then(None).otherwise(pl.col("occupation")).alias("occupation")
    )
    people, forms = ({row[0]: row[1:] for row in each.rows()} for each in (whole, cut))
    sizes: dict[Any, list[int]] = {}
    for key, row in forms.items():
        sizes.setdefault(row, []).append(key)
    by_class = {row: tuple(keys) for row, keys in sizes.items()}
    for answer in by_both("compare", {"o": whole, "r": cut}, qi, key="id"):
        found = row_of(answer)
        assert (
            found["cells_suppressed"]
            == cut["occupation"].null_count() - whole["occupation"].null_count()
        )
        assert found["correct_links"] <= sum(1 for _ in by_class) / len(forms)
        assert (
            found["correct_candidates"]
            <= found["correct_links"]
            < row_of(answer, "original")["correct_links"]
        )
    assert len(people) == len(forms)
