import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import (
    NULLS,
    blank,
    by_both,
    class_sizes,
    drop_nulls,
    frames,
    keys,
    risk,
)


@given(frames(min_rows=1), st.sampled_from(NULLS), st.sampled_from([0.0, 0.2, 1 / 3, 0.5, 1.0]))
def test_every_measure_equals_exact_counting(
    frame: pl.DataFrame, nulls: str, threshold: float
) -> None:
    rows = drop_nulls(keys(frame), nulls)
    if not rows:
        return
    expected = risk(rows, class_sizes(rows, rows, nulls), threshold)
    for answer in by_both(
        "risk_summary", {"t": frame}, frame.columns, threshold=threshold, nulls=nulls
    ):
        null_report = {"records_dropped": frame.height - len(rows), "nulls": nulls}
        assert {name: answer[0].pop(name) for name in null_report} == null_report
        assert answer[0].pop("blank_records") == blank(rows, nulls)
        assert answer == [pytest.approx(expected, rel=1e-12)]


def test_the_two_averages_of_classes_of_nine_and_one() -> None:
    frame = pl.DataFrame({"a": [1] * 9 + [2]})
    for answer in by_both("risk_summary", {"t": frame}, ["a"]):
        assert answer[0]["average_risk"] == pytest.approx(0.2)
        assert answer[0]["average_class_risk"] == pytest.approx(5 / 9)


def test_wildcards_match_as_the_check_figures_say() -> None:
    sexes = ["M", "M", "M", None, None, "F", "F", "M"]
    frame = pl.DataFrame({"sex": sexes, "zip": [4711, 4711, 4711, 4711, 4711, 4712, None, None]})
    for answer in by_both("risk_summary", {"t": frame}, ["sex", "zip"], nulls="wildcard"):
        assert answer[0]["highest_risk"] == 1 / 2
        assert answer[0]["average_risk"] == pytest.approx(143 / 672)


@pytest.mark.parametrize("nulls", NULLS)
def test_a_table_of_nulls_alone(nulls: str) -> None:
    frame = pl.DataFrame(
        {"a": pl.Series([None] * 3, dtype=pl.String), "b": pl.Series([None] * 3, dtype=pl.Int64)}
    )
    if nulls == "drop":
        with pytest.raises(Exception, match="the table must contain at least one record, got 0"):
            by_both("risk_summary", {"t": frame}, ["a", "b"], nulls=nulls)
    else:
        assert [
            answer[0]["k"]
            for answer in by_both("risk_summary", {"t": frame}, ["a", "b"], nulls=nulls)
        ] == [3, 3]
