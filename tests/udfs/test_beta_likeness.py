import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tests.sensitive import MEASURES, both, hold
from tests.tables import frames


@given(
    frames(min_rows=1),
    st.sampled_from(MEASURES["beta_likeness"]),
    st.sampled_from(["value", "drop"]),
    st.sampled_from([0, 0.5, 1, 3]),
)
def test_every_class_by_hand(
    frame: pl.DataFrame, variant: str, nulls: str, threshold: float
) -> None:
    hold(frame, "beta_likeness", variant, nulls, threshold)


def test_a_share_that_doubles_gains_one() -> None:
    frame = pl.DataFrame({"zip": [1, 1, 2, 2], "disease": ["flu", "flu", "cold", "gout"]})
    for answer in both(
        "disclosing_classes", frame, ["zip"], "disease", threshold=0, measure="beta_likeness"
    ):
        assert {row["zip"]: row["value"] for row in answer} == {1: 1, 2: 1}


def test_no_beta_holds_where_a_rare_value_is_too_frequent() -> None:
    """A share of 1/4 may grow by -ln(1/4) = 1.386 at the most; alone in its class it grows by 3."""
    frame = pl.DataFrame({"zip": [1, 2, 2, 2], "disease": ["gout", "flu", "flu", "flu"]})
    for answer in both("beta_likeness", frame, ["zip"], "disease", variant="enhanced"):
        assert answer[0]["value"] == float("inf")
        assert answer[0]["status"].startswith(
            "infinite_beta: in some class, a value is more frequent than"
        )
