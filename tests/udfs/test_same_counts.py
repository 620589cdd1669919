"""Functions that count sets of columns give the same figures, and the laws of these figures are true."""

from collections import Counter
from typing import Any

import polars as pl
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.tables import by_both, frames

Figures = dict[tuple[str, ...], dict[str, Any]]


def by_columns(answer: list[dict[str, Any]], name: str = "columns") -> Figures:
    return {tuple(row[name]): row for row in answer}


def with_people(frame: pl.DataFrame, data: st.DataObject) -> tuple[pl.DataFrame, dict[str, str]]:
    """The table with a column of people who have several rows, or as it is."""
    if not data.draw(st.booleans()):
        return frame, {}
    people = data.draw(st.lists(st.none() | st.integers(1, 5), min_size=frame.height, max_size=frame.height))
    return frame.with_columns(pl.Series("person", people, dtype=pl.Int64)), {"entity": "person"}


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
            each for each, row in counted.items() if row["unique_records"] / row["records"] >= at_least
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
        for choices in by_both("qar_quasi_identifiers", {"t": table}, names, p=size, **people):
            for row in choices:
                assert row["distinct_values"] == counted[tuple(row["quasi_identifier"])]["classes"]
    for chosen, row in counted.items():
        for summary in by_both("risk_summary", {"t": table}, list(chosen), **people):
            assert summary[0]["unique_records"] == row["unique_records"]


@given(frames(min_rows=1, max_columns=4), st.data())
def test_a_column_more_makes_no_fewer_records_unique(frame: pl.DataFrame, data: st.DataObject) -> None:
    table, people = with_people(frame, data)
    for risk in by_both("attribute_risk", {"t": table}, frame.columns, max_size=frame.width, **people):
        counted = by_columns(risk)
        for one, row in counted.items():
            for other, more in counted.items():
                if set(one) < set(other):
                    assert more["unique_records"] >= row["unique_records"]
                    assert more["classes"] >= row["classes"]


@given(frames(min_rows=1, max_columns=4), st.data())
def test_whoever_is_unique_by_all_columns_has_a_smallest_set(
    frame: pl.DataFrame, data: st.DataObject
) -> None:
    table, people = with_people(frame, data)
    names, size = frame.columns, {"max_size": frame.width}
    assume(frame.height > 0)
    whole = by_both("attribute_risk", {"t": table}, names, **size, **people)
    sets = by_both("minimal_unique_subsets", {"t": table}, names, **size, **people)
    scores = by_both("suda_scores", {"t": table}, names, **size, **people)
    columns = by_both("column_contributions", {"t": table}, names, **size, **people)
    for risk, listed, scored, parts in zip(whole, sets, scores, columns, strict=True):
        subsets = Counter(row["record"] for row in listed)
        assert len(subsets) == by_columns(risk)[tuple(names)]["unique_records"]
        assert {row["record"]: row["subsets"] for row in scored} == subsets
        held = Counter((row["record"], name) for row in listed for name in row["columns"])
        assert {(row["record"], row["column_name"]): row["subsets"] for row in parts} == held
