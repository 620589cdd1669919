"""What the first tier leaves of tests/udfs/test_unicity.py."""

import polars as pl
import pytest

from tests.conftest import DATA
from tests.tables import by_polars


@pytest.mark.real_data
def test_baskets_are_as_published_more_unique_with_more_items() -> None:
    frame = pl.read_parquet(DATA / "baskets_groceries.parquet")
    answer = by_polars(
        "unicity", frame, "basket", ["item"], points=[1, 2, 3], exact_up_to=10_000_000
    )
    assert [row["draws"] for row in answer] == [0, 0, 0]
    shares = [row["uniqueness"] for row in answer]
    assert shares == sorted(shares)
    curve = by_polars(
        "unicity",
        frame,
        "basket",
        ["item"],
        output="curve",
        points=2,
        exact_up_to=10_000_000,
        sizes=[9835],
    )
    assert curve[0]["uniqueness"] == pytest.approx(answer[1]["uniqueness"], rel=1e-12)
    assert curve[0]["correctness"] == pytest.approx(answer[1]["correctness"], rel=1e-12)
