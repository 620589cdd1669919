"""What the first tier leaves of tests/udfs/test_same_counts.py."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import by_both, frames
from tests.udfs.test_same_counts import by_columns, with_people


@given(frames(min_rows=1, max_columns=4), st.data(), st.sampled_from([0.01, 0.3, 1.0]))
def test_every_function_counts_a_set_of_columns_the_same(
    frame: pl.DataFrame, data: st.DataObject, at_least: float
) -> None:
    table, people = with_people(frame, data)
    names, width = frame.columns, frame.width
    for risk, minimal in zip(
        by_both("attribute_risk", {"t": table}, names, max_size=width, **people),
        by_both("quasi_identifiers", {"t": table}, names, at_least=at_least, **people),
        strict=True,
    ):
        counted = by_columns(risk)
        reaching = {
            each
            for each, row in counted.items()
            if row["unique_records"] / row["records"] >= at_least
        }
        assert {tuple(row["columns"]) for row in minimal if row["columns"]} == {
            each for each in reaching if not any(set(other) < set(each) for other in reaching)
        }
        for row in minimal:
            if row["columns"]:
                same = counted[tuple(row["columns"])]
                for figure in ("records", "classes", "unique_records"):
                    assert row[figure] == same[figure]
    for size in range(1, width + 1):
        for choices in by_both(
            "qar_risk", {"t": table}, names, p=size, **people, output="quasi_identifiers"
        ):
            for row in choices:
                assert row["distinct_values"] == counted[tuple(row["quasi_identifier"])]["classes"]
    for chosen, row in counted.items():
        for summary in by_both("risk_summary", {"t": table}, list(chosen), **people):
            assert summary[0]["unique_records"] == row["unique_records"]
