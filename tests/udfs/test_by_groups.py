"""Groups of a table: each answered as a table of its own is, by a loop over its records."""

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.reduction import OF_GROUPS
from reid_sql_udfs import declared
from tests.engines.asking import same
from tests.tables import (
    Row,
    by_both,
    by_duckdb,
    by_polars,
    class_sizes,
    frames,
    histogram,
    kept,
    keys,
    risk,
)

GROUPED = [name for name, function in declared().items() if function.grouped]
Answers = list[dict[str, Any]]


def parts(frame: pl.DataFrame, by: list[str]) -> list[tuple[Row, list[Row]]]:
    """The values of each group, as databases compare them, with its rows of all columns."""
    rows, places = keys(frame), [frame.get_column_index(name) for name in by]
    groups: dict[Row, list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[place] for place in places), []).append(row)
    return list(groups.items())


def told(answers: Answers, by: list[str]) -> dict[Row, Answers]:
    """The rows of each group by its values."""
    found: dict[Row, Answers] = {}
    values = keys(pl.DataFrame(answers).select(by)) if answers else []
    for group, row in zip(values, answers, strict=True):
        found.setdefault(group, []).append({name: cell for name, cell in row.items() if name not in by})
    return found


@given(frames(min_rows=1, max_columns=4), st.sampled_from(["value", "drop"]), st.data())
def test_each_group_is_counted_as_in_a_loop(frame: pl.DataFrame, nulls: str, data: st.DataObject) -> None:
    by = data.draw(st.lists(st.sampled_from(frame.columns), min_size=1, max_size=2, unique=True))
    qi = data.draw(st.lists(st.sampled_from(frame.columns), min_size=1, max_size=3, unique=True))
    places = [frame.get_column_index(name) for name in qi]
    groups = dict(parts(frame, by))
    for answers in by_both("risk_summary", {"t": frame}, qi, by=by, nulls=nulls):
        typed = pl.DataFrame([{name: row[name] for name in by} for row in answers], frame.select(by).schema)
        assert len(answers) == len(groups)
        assert set(keys(typed)) == set(groups)
        for group, found in zip(keys(typed), answers, strict=True):
            rows = kept([tuple(row[place] for place in places) for row in groups[group]], nulls)
            assert found["records_dropped"] == len(groups[group]) - len(rows)
            if rows:
                expected = risk(rows, class_sizes(rows, rows, nulls), 0.2)
                assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-12)
            else:
                assert (found["records"], found["k"], found["threshold"]) == (0, None, None)


TOWNS = pl.DataFrame(
    {
        "state": ["a", "a", "a", "a", None, None, "b"],
        "age": [1, 1, 1, 2, 1, None, None],
        "sex": ["F", "F", "F", "M", "F", "F", "M"],
        "person": [1, 1, 2, 3, 1, 4, 5],
    }
)
HISTOGRAM: dict[Any, list[tuple[Any, ...]]] = {
    ("a",): [(1, 1, 1, 0), (3, 1, 3, 0)],
    (None,): [(1, 1, 1, 1)],
    ("b",): [(None, 0, 0, 1)],
}
OF_PEOPLE: dict[Any, list[tuple[Any, ...]]] = {
    ("a",): [(1, 1, 1, 0), (2, 1, 2, 0)],
    (None,): [(1, 1, 1, 1)],
    ("b",): [(None, 0, 0, 1)],
}


@pytest.mark.parametrize(("entity", "expected"), [(None, HISTOGRAM), ("person", OF_PEOPLE)])
def test_histograms_of_groups_tell_what_was_dropped(
    entity: str | None, expected: dict[Any, list[tuple[Any, ...]]]
) -> None:
    more = {"entity": entity} if entity else {}
    both = by_both("class_size_histogram", {"t": TOWNS}, ["age", "sex"], by=["state"], nulls="drop", **more)
    for answers in both:
        cells = ("class_size", "classes", "records", "records_dropped")
        listed = {
            group: sorted([tuple(row[name] for name in cells) for row in rows], key=str)
            for group, rows in told(answers, ["state"]).items()
        }
        assert listed == expected


@pytest.mark.parametrize("function", GROUPED)
@pytest.mark.parametrize("entity", [None, "person"])
def test_a_group_is_answered_as_its_own_table(function: str, entity: str | None) -> None:
    more: dict[str, Any] = {"entity": entity} if entity else {}
    tables = {"t": TOWNS, "p": TOWNS} if function == "journalist_risk" else {"t": TOWNS}
    both = by_both(function, tables, ["age", "sex"], by=["state"], **more)
    same(*both)
    for state in ("a", "b", None):
        part = {**tables, "t": TOWNS.filter(pl.col("state").eq_missing(state))}
        alone = by_polars(function, *part.values(), ["age", "sex"], **more)
        same(told(both[1], ["state"])[(state,)], alone)


def test_a_column_may_be_among_both() -> None:
    duck, polars = by_both("risk_summary", {"t": TOWNS}, ["state", "age"], by=["state"])
    same(duck, polars)
    assert {row["state"]: row["classes"] for row in duck} == {"a": 2, "b": 1, None: 2}


def test_no_column_of_an_answer_may_name_a_group() -> None:
    for name in GROUPED:
        columns = {**declared()[name].columns, **getattr(declared()[name].reduction, "columns", {})}
        assert {*columns} <= {*OF_GROUPS}


def by_sql(by: Any, **options: Any) -> Answers:
    more = "".join(f", {name} := {value!r}" for name, value in options.items())
    return by_duckdb(f"FROM risk_summary(t, ['age'], by := {by!r}{more})", t=TOWNS.rename({"sex": "k"}))


def by_frame(by: Any, **options: Any) -> Answers:
    return by_polars("risk_summary", TOWNS.rename({"sex": "k"}), ["age"], by=by, **options)


@pytest.mark.parametrize("ask", [by_sql, by_frame])
@pytest.mark.parametrize(
    ("by", "options", "sentence"),
    [
        (
            ["k"],
            {},
            "by must not name a column as the answer names its own, got 'k'; rename the column in a view",
        ),
        (["stat"], {}, "by must be columns of the table, got 'stat'; did you mean 'state'?"),
        ([], {}, "by must name 1 to 64 columns, got 0"),
        (["state", "state"], {}, "by must be distinct, got 'state' twice"),
        (
            ["state"],
            {"nulls": "wildcard"},
            "by must be asked with nulls := 'value' or 'drop', got 'wildcard'",
        ),
    ],
)
def test_bad_groups_are_refused(
    ask: Callable[..., Answers], by: list[str], options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(Exception) as refused:  # noqa: PT011 - DuckDB's, or one of ours
        ask(by, **options)
    assert sentence.removeprefix("by ") in str(refused.value)


def test_the_histogram_of_the_loop_is_that_of_one_group() -> None:
    rows = [(row["age"], row["sex"]) for row in TOWNS.filter(pl.col("state") == "a").to_dicts()]
    expected = [(*line, None, 0, "value") for line in histogram(rows, class_sizes(rows, rows, "value"))]
    answers = told(by_polars("class_size_histogram", TOWNS, ["age", "sex"], by=["state"]), ["state"])
    assert sorted(tuple(row.values()) for row in answers[("a",)]) == expected
