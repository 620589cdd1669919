import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sensitive import MEASURES, both, hold
from tests.tables import frames


@given(
    frames(min_rows=1),
    st.sampled_from(MEASURES["delta_disclosure"]),
    st.sampled_from(["value", "drop"]),
    st.sampled_from([0, 0.5, 1, 3]),
)
def test_every_class_by_hand(
    frame: pl.DataFrame, variant: str, nulls: str, threshold: float
) -> None:
    hold(frame, "delta_disclosure", variant, nulls, threshold)


def test_a_class_that_lacks_a_value_rules_it_out() -> None:
    frame = pl.DataFrame({"zip": [1, 1, 2, 2], "disease": ["flu", "cold", "flu", "flu"]})
    for variant, value, status in (
        ("present", 0.6931471805599453, "ok"),
        ("all", float("inf"), "infinite_delta: some class lacks"),
    ):
        for answer in both("delta_disclosure", frame, ["zip"], "disease", variant=variant):
            assert answer[0]["value"] == pytest.approx(value)
            assert answer[0]["status"].startswith(status)
