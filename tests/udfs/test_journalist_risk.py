import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import NULLS, blank, by_both, class_sizes, drop_nulls, frames, keys, risk


@given(frames(min_rows=1), st.data(), st.sampled_from(NULLS))
def test_sizes_are_those_of_the_population(
    population: pl.DataFrame, data: st.DataObject, nulls: str
) -> None:
    chosen = data.draw(st.lists(st.integers(0, population.height - 1), min_size=1, unique=True))
    sample = population[chosen]
    rows, others = drop_nulls(keys(sample), nulls), drop_nulls(keys(population), nulls)
    if not rows:
        return
    expected = risk(rows, class_sizes(rows, others, nulls), 0.2)
    for answer in by_both(
        "journalist_risk", {"s": sample, "p": population}, population.columns, nulls=nulls
    ):
        assert answer[0]["uncovered_records"] == 0
        assert answer[0]["blank_records"] == blank(rows, nulls)
        assert {name: answer[0][name] for name in expected} == pytest.approx(expected, rel=1e-12)


@pytest.mark.newest
@given(frames(min_rows=2), st.data(), st.sampled_from(NULLS))
def test_records_that_the_population_lacks_count_with_their_own_class(
    frame: pl.DataFrame, data: st.DataObject, nulls: str
) -> None:
    cut = data.draw(st.integers(1, frame.height - 1))
    sample, population = frame[:cut], frame[cut:]
    rows, others = drop_nulls(keys(sample), nulls), drop_nulls(keys(population), nulls)
    if not rows:
        return
    own, found = class_sizes(rows, rows, nulls), class_sizes(rows, others, nulls)
    uncovered = sum(there < here for there, here in zip(found, own, strict=True))
    expected = risk(rows, [max(pair) for pair in zip(found, own, strict=True)], 0.2)
    for answer in by_both(
        "journalist_risk", {"s": sample, "p": population}, frame.columns, nulls=nulls
    ):
        assert answer[0]["uncovered_records"] == uncovered
        assert (answer[0]["status"] == "ok") == (uncovered == 0)
        assert {name: answer[0][name] for name in expected} == pytest.approx(expected, rel=1e-12)
