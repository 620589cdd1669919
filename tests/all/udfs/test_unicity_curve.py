"""What the first tier leaves of tests/udfs/test_unicity_curve.py."""

import polars as pl
import pytest

from tests.conftest import DATA
from tests.tables import by_polars
from tests.udfs.test_unicity_curve import ASKED, by_engines


@pytest.mark.real_data
@pytest.mark.parametrize("points", [1, 2, 3])
def test_draws_are_within_their_standard_error_of_what_is_counted(points: int) -> None:
    frame = pl.read_parquet(DATA / "baskets_groceries.parquet")
    exact = by_polars(
        "unicity", frame, *ASKED, points=points, sizes=[10, 1000, 9835], output="curve"
    )
    for seed in range(4):
        drawn = by_engines(
            frame, points=points, sizes=[10, 1000, 9835], exact_up_to=0, samples=2000, seed=seed
        )[0]
        for row, truth in zip(drawn, exact, strict=True):
            assert truth["standard_error"] == 0 < row["standard_error"] < 0.02
            assert abs(row["correctness"] - truth["correctness"]) < 4 * row["standard_error"]
