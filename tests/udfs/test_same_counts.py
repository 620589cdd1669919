"""Functions that count sets of columns give the same figures, and the laws of these figures are true."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from reid_sql.check.gate import check
from tests.check.towns import PEOPLE, town
from tests.tables import by_both, by_duckdb, frames

Figures = dict[tuple[str, ...], dict[str, Any]]


def by_columns(answer: list[dict[str, Any]], name: str = "columns") -> Figures:
    return {tuple(row[name]): row for row in answer}


def with_people(frame: pl.DataFrame, data: st.DataObject) -> tuple[pl.DataFrame, dict[str, str]]:
    """The table with a column of people who have several rows, or as it is."""
    if not data.draw(st.booleans()):
        return frame, {}
    people = data.draw(st.lists(st.integers(1, 5), min_size=frame.height, max_size=frame.height))
    return frame.with_columns(pl.Series("person", people, dtype=pl.Int64)), {"entity": "person"}


@given(frames(min_rows=1, max_columns=4), st.data())
def test_a_column_more_makes_no_fewer_records_unique(
    frame: pl.DataFrame, data: st.DataObject
) -> None:
    table, people = with_people(frame, data)
    for risk in by_both(
        "attribute_risk", {"t": table}, frame.columns, max_size=frame.width, **people
    ):
        counted = by_columns(risk)
        for one, row in counted.items():
            for other, more in counted.items():
                if set(one) < set(other):
                    assert more["unique_records"] >= row["unique_records"]
                    assert more["classes"] >= row["classes"]


@given(frames(min_rows=1, max_columns=4), st.data())
@pytest.mark.all
def test_whoever_is_unique_by_all_columns_has_a_smallest_set(
    frame: pl.DataFrame, data: st.DataObject
) -> None:
    table, people = with_people(frame, data)
    names, size = frame.columns, {"max_size": frame.width}
    assume(frame.height > 0)
    whole = by_both("attribute_risk", {"t": table}, names, **size, **people)
    sets = by_both("suda_scores", {"t": table}, names, **size, **people, output="subsets")
    scores = by_both("suda_scores", {"t": table}, names, **size, **people)
    columns = by_both("suda_scores", {"t": table}, names, **size, **people, output="columns")
    for risk, listed, scored, parts in zip(whole, sets, scores, columns, strict=True):
        subsets = Counter(row["record"] for row in listed)
        assert len(subsets) == by_columns(risk)[tuple(names)]["unique_records"]
        assert {row["record"]: row["subsets"] for row in scored} == subsets
        held = Counter((row["record"], name) for row in listed for name in row["columns"])
        assert {(row["record"], row["column_name"]): row["subsets"] for row in parts} == held


@given(frames(min_rows=1, max_columns=4), st.integers(1, 3))
def test_extreme_risks_are_of_the_same_counts(frame: pl.DataFrame, size: int) -> None:
    assume(size <= frame.width)
    given = {"alpha": 0.1, "tail": 0.6, "p": size}
    for subsets, risks, parts, steps in zip(
        by_both("attribute_risk", {"t": frame}, frame.columns, max_size=size),
        by_both("qar_risk", {"t": frame}, frame.columns, **given),
        by_both("qar_risk", {"t": frame}, frame.columns, **given, output="contributions"),
        by_both(
            "qar_risk",
            {"t": frame},
            frame.columns,
            ranking="u_plus",
            remove=1,
            **given,
            output="elimination",
        )
        if frame.height > 1
        else [[], []],
        strict=True,
    ):
        counted = [row for row in subsets if len(row["columns"]) == size]
        shares = np.array([row["classes"] / row["records"] for row in counted])
        unique = np.array([row["unique_records"] for row in counted])
        [risk] = risks
        assert risk["quasi_identifiers"] == len(counted)
        assert risk["threshold"] == pytest.approx(
            np.quantile(shares, 0.4, method="median_unbiased"), 1e-12
        )
        assert risk["status"].startswith("certain: ") == (shares.max() == 1)
        assert sum(row["unique_quasi_identifiers"] for row in parts) == unique.sum()
        assert sum(row["u_plus"] for row in parts) == pytest.approx(unique @ shares, 1e-12)
        assert sum(row["u_star"] for row in parts) == pytest.approx(
            unique @ (1 - shares), 1e-12, 1e-12
        )
        assert steps == [] or steps[0]["risk"] == risk["risk"]


@given(frames(min_rows=1, max_columns=4))
def test_combinations_of_one_record_are_those_that_single_it_out(frame: pl.DataFrame) -> None:
    names, size = frame.columns, {"max_size": frame.width}
    for unsafe, listed in zip(
        by_both("unsafe_combinations", {"t": frame}, names, k=2, **size),
        by_both("suda_scores", {"t": frame}, names, **size, output="subsets"),
        strict=True,
    ):
        assert {each: row["records"] for each, row in by_columns(unsafe).items()} == Counter(
            tuple(row["columns"]) for row in listed
        )


def test_the_report_has_the_figures_of_the_columns_that_are_left(tmp_path: Path) -> None:
    names = ["age", "sex", "postcode"]
    counted = by_columns(by_duckdb(f"FROM attribute_risk('{PEOPLE}', {names})"))
    page = check(town(tmp_path, 'checks = [{ measure = "k", at_least = 5 }]', "mask_below = 1"))
    for row in page["tables"][0]["columns"]:
        left = counted[tuple(name for name in names if name != row["column"])]
        expected = left["distinction"]  # classes of records, which is the average risk
        # pages have 12 digits
        assert row["without"]["average_risk"] == pytest.approx(expected, rel=1e-11)
