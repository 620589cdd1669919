import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import NULLS, by_both, class_sizes, frames, kept, keys, subsets

PEOPLE = pl.DataFrame(
    {
        "age": [20, 30, 40, 20, 40],
        "sex": ["F", "F", "F", "M", "M"],
        "state": ["CA", "CA", "TX", "NY", "CA"],
    }
)


def test_the_check_figures_of_distinction_and_separation() -> None:
    for answer in by_both("attribute_risk", {"t": PEOPLE}, ["age", "sex", "state"]):
        found = {"+".join(row["columns"]): (row["distinction"], row["separation"]) for row in answer}
        assert found == {
            "age": pytest.approx((0.6, 0.8)),
            "sex": pytest.approx((0.4, 0.6)),
            "state": pytest.approx((0.6, 0.7)),
            "age+sex": (1.0, 1.0),
            "age+state": (1.0, 1.0),
            "sex+state": pytest.approx((0.8, 0.9)),
            "age+sex+state": (1.0, 1.0),
        }


@given(frames(min_rows=2, max_columns=4), st.sampled_from(NULLS), st.integers(1, 3))
def test_pairs_told_apart_by_every_subset(frame: pl.DataFrame, nulls: str, max_size: int) -> None:
    if nulls == "drop" and any(frame[name].is_null().all() for name in frame.columns):
        return
    frame = frame.filter(pl.all_horizontal(pl.all().is_not_null())) if nulls == "drop" else frame
    if frame.height == 0:
        return
    for answer in by_both("attribute_risk", {"t": frame}, frame.columns, max_size=max_size, nulls=nulls):
        assert [tuple(row["columns"]) for row in answer] == subsets(frame.columns, min(max_size, frame.width))
        for row in answer:
            rows = kept(keys(frame.select(row["columns"])), nulls)
            n, alike = len(rows), sum(class_sizes(rows, rows, nulls)) - len(rows)
            assert row["separation"] == (
                pytest.approx(1 - alike / (n * (n - 1)), abs=1e-15) if n > 1 else None
            )
            assert row["distinction"] == (None if nulls == "wildcard" else len(set(rows)) / n)
            assert (row["status"] == "ok") == (n > 1 and nulls != "wildcard")


def test_one_record_has_no_pair_and_says_so() -> None:
    for answer in by_both("attribute_risk", {"t": PEOPLE[:1]}, ["age"]):
        assert answer[0]["separation"] is None
        assert (
            answer[0]["status"]
            == "separation is not available: fewer than two records leave no pair to tell apart"
        )


@pytest.mark.real_data
def test_engines_agree_on_adult(adult: str) -> None:
    columns = ["age", "sex", "race", "native_country", "occupation"]
    duck, polars = by_both("attribute_risk", {"t": pl.read_parquet(adult)}, columns)
    assert len(duck) == 25
    assert [row["classes"] for row in duck] == [row["classes"] for row in polars]
    assert [row["separation"] for row in duck] == pytest.approx(
        [row["separation"] for row in polars], rel=1e-14
    )
