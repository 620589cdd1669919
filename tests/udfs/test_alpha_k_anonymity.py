import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sensitive import both, hold
from tests.tables import frames


@given(
    frames(min_rows=1),
    st.sampled_from(["general"]),
    st.sampled_from(["value", "drop"]),
    st.sampled_from([0.3, 0.5, 1.0]),
)
def test_every_class_by_hand(
    frame: pl.DataFrame, variant: str, nulls: str, threshold: float
) -> None:
    hold(frame, "alpha_k_anonymity", variant, nulls, threshold)


def test_a_class_offends_by_its_share_or_by_its_size() -> None:
    frame = pl.DataFrame(
        {
            "zip": [1, 1, 1, 2, 2, 2, 3],
            "disease": ["flu", "flu", "cold", "flu", "cold", "gout", "flu"],
        }
    )
    for alpha, k, classes in ((0.5, 1, 2), (0.7, 1, 1), (1.0, 1, 0), (1.0, 3, 1), (0.5, 4, 3)):
        for answer in both("alpha_k_anonymity", frame, ["zip"], "disease", threshold=alpha, k=k):
            assert (
                answer[0]["offending_classes"],
                answer[0]["threshold_k"],
                answer[0]["value"],
            ) == (
                classes,
                k,
                1,
            )
        for answer in both(
            "disclosing_classes",
            frame,
            ["zip"],
            "disease",
            threshold=alpha,
            k=k,
            measure="alpha_k_anonymity",
        ):
            assert len(answer) == classes


def test_a_part_of_a_record_is_refused() -> None:
    frame = pl.DataFrame({"zip": [1], "disease": ["flu"]})
    with pytest.raises(
        Exception, match=r"k must be a whole number of records from 1 to 1e[+]15, got 1"
    ):
        both("alpha_k_anonymity", frame, ["zip"], "disease", k=1.5)
