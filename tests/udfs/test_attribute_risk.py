from collections import Counter
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from reid_sql.reductions.subsets import QUERIES
from tests.tables import NULLS, by_both, class_sizes, drop_nulls, frames, keys, subsets

PEOPLE = pl.DataFrame(
    {
        "age": [20, 30, 40, 20, 40],
        "sex": ["F", "F", "F", "M", "M"],
        "state": ["CA", "CA", "TX", "NY", "CA"],
    }
)


def test_the_check_figures_of_distinction_and_separation() -> None:
    for answer in by_both("attribute_risk", {"t": PEOPLE}, ["age", "sex", "state"]):
        found = {
            "+".join(row["columns"]): (row["distinction"], row["separation"]) for row in answer
        }
        assert found == {
            "age": pytest.approx((0.6, 0.8)),
            "sex": pytest.approx((0.4, 0.6)),
            "state": pytest.approx((0.6, 0.7)),
            "age+sex": (1.0, 1.0),
            "age+state": (1.0, 1.0),
            "sex+state": pytest.approx((0.8, 0.9)),
            "age+sex+state": (1.0, 1.0),
        }


def check(answer: list[dict[str, Any]], frame: pl.DataFrame, max_size: int, nulls: str) -> None:
    """Against pairs of records, one by one."""
    assert [tuple(row["columns"]) for row in answer] == subsets(
        frame.columns, min(max_size, frame.width)
    )
    for row in answer:
        every = keys(frame.select(row["columns"]))
        rows = drop_nulls(every, nulls)
        n, alike = len(rows), sum(class_sizes(rows, rows, nulls)) - len(rows)
        assert row["separation"] == (
            pytest.approx(1 - alike / (n * (n - 1)), abs=1e-15) if n > 1 else None
        )
        assert row["distinction"] == (None if nulls == "wildcard" else len(set(rows)) / n)
        unique = class_sizes(rows, rows, nulls).count(1)
        assert (row["records"], row["classes"], row["unique_records"]) == (
            n,
            len(set(rows)),
            unique,
        )
        assert (row["records_dropped"], row["nulls"]) == (len(every) - n, nulls)
        assert (row["status"] == "ok") == (
            n > 1 and nulls != "wildcard" and frame.width <= max_size
        )


@given(frames(min_rows=2, max_columns=4), st.sampled_from(NULLS), st.integers(1, 3))
def test_pairs_distinguished_by_every_subset(
    frame: pl.DataFrame, nulls: str, max_size: int
) -> None:
    if nulls == "drop" and any(frame[name].is_null().all() for name in frame.columns):
        return
    frame = frame.filter(pl.all_horizontal(pl.all().is_not_null())) if nulls == "drop" else frame
    if frame.height == 0:
        return
    for answer in by_both(
        "attribute_risk", {"t": frame}, frame.columns, max_size=max_size, nulls=nulls
    ):
        check(answer, frame, max_size, nulls)


@given(frames(min_rows=2, max_columns=4), st.sampled_from(NULLS), st.integers(3, 5))
@pytest.mark.all
def test_many_subsets_are_counted_from_codes(
    frame: pl.DataFrame, nulls: str, max_size: int
) -> None:
    copies = [frame.select(pl.all().name.suffix(f"_{turn}")) for turn in range(8 // frame.width)]
    wide = pl.concat(copies, how="horizontal")
    assume(len(subsets(wide.columns, min(max_size, wide.width))) > QUERIES)
    if nulls == "drop":
        known = frame.filter(pl.all_horizontal(pl.all().is_not_null()))
        assume(known.height > 0)
    for answer in by_both(
        "attribute_risk", {"t": wide}, wide.columns, max_size=max_size, nulls=nulls
    ):
        check(answer, wide, max_size, nulls)


@pytest.mark.all
def test_more_subsets_than_a_query_can_hold_are_counted_in_one_call() -> None:
    wide = pl.DataFrame({f"c{place}": [place % 3, place % 2, 0, 0] for place in range(32)})
    for answer in by_both("attribute_risk", {"t": wide}, wide.columns, max_size=4):
        assert len(answer) == 32 + 496 + 4960 + 35960
        for row in answer[:: len(answer) // 50]:
            counts = Counter(wide.select(row["columns"]).rows())
            alike = sum(size * (size - 1) for size in counts.values())
            assert (row["classes"], row["separation"]) == (
                len(counts),
                pytest.approx(1 - alike / 12),
            )


def test_one_record_has_no_pair_and_says_so() -> None:
    for answer in by_both("attribute_risk", {"t": PEOPLE[:1]}, ["age"]):
        assert answer[0]["separation"] is None
        assert (
            answer[0]["status"]
            == "one_record: separation is not available, since one record leaves no pair to compare"
        )
