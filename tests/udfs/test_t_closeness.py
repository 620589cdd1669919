import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sensitive import both, hold
from tests.tables import by_duckdb, by_polars, frames

NUMBERS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from([-3.5, 0.0, 0.25, 1.0, 7.0, 1e6])),
    min_size=1,
    max_size=14,
)
# Table 3 of Li et al.: nine people in three classes; the salaries of the first are the three lowest.
PAID = pl.DataFrame(
    {"zip": [476] * 3 + [4790] * 3 + [479] * 3, "salary": [3, 4, 5, 6, 11, 8, 7, 9, 10]}
)
DISEASES = [
    "ulcer",
    "gastritis",
    "cancer",
    "gastritis",
    "flu",
    "bronchitis",
    "bronchitis",
    "pneumonia",
    "cancer",
]


@given(frames(min_rows=1), st.sampled_from(["value", "drop"]), st.sampled_from([0.0, 0.2, 0.5]))
def test_every_class_by_hand(frame: pl.DataFrame, nulls: str, threshold: float) -> None:
    hold(frame, "t_closeness", "equal", nulls, threshold)


@given(NUMBERS, st.sampled_from(["ordered", "numeric"]), st.sampled_from([0.0, 0.2, 0.5]))
def test_along_a_line_the_earth_moves_as_the_linear_programme_says(
    rows: list[tuple[int, float]], variant: str, t: float
) -> None:
    hold(
        pl.DataFrame(rows, schema={"a": pl.Int64, "s": pl.Float64}, orient="row"),
        "t_closeness",
        variant,
        "value",
        t,
    )


def test_the_figures_of_li_et_al() -> None:
    """The salaries 3k, 4k, 5k are 0.375 away from all nine, and 6k, 8k, 11k only 0.167."""
    for answer in both(
        "disclosing_classes",
        PAID,
        ["zip"],
        "salary",
        variant="ordered",
        threshold=0,
        measure="t_closeness",
    ):
        found = {row["zip"]: row["value"] for row in answer}
        assert found[476] == pytest.approx(0.375)
        assert found[4790] == pytest.approx(0.167, abs=5e-4)
    for answer in both(
        "t_closeness", PAID.with_columns(pl.Series("disease", DISEASES)), ["zip"], "disease"
    ):
        assert answer[0]["value"] == pytest.approx(
            4 / 9
        )  # by hand: 2/9 + 1/9 + 1/9 has to move into the first class


@pytest.mark.parametrize("variant", ["ordered", "numeric"])
def test_null_has_no_place_and_the_status_says_so(variant: str) -> None:
    frame = pl.DataFrame({"zip": [1, 1, 2, 2], "salary": [3.0, 4.0, None, 4.0]})
    for answer in both("t_closeness", frame, ["zip"], "salary", variant=variant):
        assert (
            answer[0]["value"],
            answer[0]["offending_classes"],
            answer[0]["offending_share"],
        ) == (
            None,
            None,
            None,
        )
        assert answer[0]["status"].startswith("no_order: a sensitive value is NULL or not finite")
    for answer in both(
        "disclosing_classes", frame, ["zip"], "salary", variant=variant, measure="t_closeness"
    ):
        assert sorted((row["zip"], row["value"]) for row in answer) == [(1, None), (2, None)]
    for answer in both("t_closeness", frame, ["zip"], "salary", variant=variant, nulls="drop"):
        assert (
            answer[0]["value"] is not None,
            answer[0]["records_dropped"],
            answer[0]["status"],
        ) == (
            True,
            1,
            "ok",
        )


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_numbers_that_are_not_finite_have_no_place_on_a_line_of_numbers(number: float) -> None:
    frame = pl.DataFrame({"zip": [1, 1, 2], "salary": [3.0, number, 4.0]})
    for answer in both("t_closeness", frame, ["zip"], "salary", variant="numeric"):
        assert answer[0]["value"] is None


def test_the_largest_numbers_keep_their_distance() -> None:
    frame = pl.DataFrame({"zip": [1, 2, 3], "salary": [-1.7e308, 0.0, 1.7e308]})
    for answer in both("t_closeness", frame, ["zip"], "salary", variant="numeric"):
        assert answer[0]["value"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("variant", "sentence"),
    [
        (
            "ordered",
            (
                "numbers, dates, times, booleans or ENUMs for variant := 'ordered', "
                "got 'salary'; cast it to one of them, or"
            ),
        ),
        (
            "numeric",
            "numbers for variant := 'numeric', got 'salary'; cast it to a number, or pass variant := 'equal'",
        ),
    ],
)
def test_words_have_no_order(variant: str, sentence: str) -> None:
    frame = pl.DataFrame({"zip": [1, 2], "salary": ["high", "low"]})
    with pytest.raises(Exception, match=f"sensitive must be a column of {sentence}"):
        both("t_closeness", frame, ["zip"], "salary", variant=variant)


def test_an_enum_has_the_order_it_was_given() -> None:
    words, levels = ["low", "middle", "middle", "high"], ["low", "middle", "high"]
    frame = pl.DataFrame({"zip": [1, 1, 2, 2], "salary": pl.Series(words, dtype=pl.Enum(levels))})
    cast = (
        f"(SELECT zip, salary::ENUM({', '.join(repr(level) for level in levels)}) AS salary FROM t)"
    )
    found = by_duckdb(
        f"WITH e AS {cast} FROM t_closeness(e, ['zip'], 'salary', variant := 'ordered')", t=frame
    )
    assert found == by_polars("t_closeness", frame, ["zip"], "salary", variant="ordered")
    assert found[0]["value"] == pytest.approx(0.25)


def test_one_value_alone_is_close_to_itself() -> None:
    frame = pl.DataFrame({"zip": [1, 1, 2], "salary": [3, 3, 3]})
    for variant in ("equal", "ordered", "numeric"):
        for answer in both("t_closeness", frame, ["zip"], "salary", variant=variant):
            assert answer[0]["value"] == 0
