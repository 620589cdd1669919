from collections import Counter
from math import exp

import duckdb
import polars as pl
import pytest
from hypothesis import given, settings

import reid_sql.polars as rp
from tests.tables import by_both, by_duckdb, drop_nulls, frames, keys

TOWN = pl.DataFrame(
    {
        "age": [20, 20, 30, 30, 30, None, 40],
        "sex": ["F", "M", "F", "F", "M", "M", "F"],
        "id": ["p1", "p2", "p3", "p4", "p5", "p6", "p7"],
    }
)
QI = ["age", "sex"]


@settings(max_examples=15)
@given(frames(min_rows=1, max_columns=4))
def test_main_effects_are_products_of_shares(frame: pl.DataFrame) -> None:
    for nulls in ("value", "drop"):
        rows = drop_nulls(keys(frame), nulls)
        if not rows:
            continue
        margins = [Counter(row[place] for row in rows) for place in range(frame.width)]
        places = [
            place for place, row in enumerate(keys(frame)) if nulls == "value" or None not in row
        ]
        answers = by_both(
            "loglinear_risk", {"t": frame}, frame.columns, sampling_fraction=0.25, nulls=nulls
        )
        for answer in answers:
            assert [line["record"] for line in answer] == places
            for row, line in zip(rows, answer, strict=True):
                expected = float(len(rows))
                for margin, value in zip(margins, row, strict=True):
                    expected *= margin[value] / len(rows)
                alone = rows.count(row) == 1
                assert line["class_size"] == rows.count(row)
                assert line["uniqueness"] == pytest.approx(
                    exp(-3 * expected) if alone else 0.0, rel=1e-9
                )
                assert 0 < line["correctness"] <= 1 / rows.count(row) + 1e-12


@pytest.mark.parametrize("interactions", [0, 2])
def test_engines_agree_on_interactions_and_keys(interactions: int) -> None:
    given_options = {"sampling_fraction": 0.1, "interactions": interactions, "key": "id"}
    duck, polars = by_both("loglinear_risk", {"t": TOWN}, QI, **given_options)
    assert {line["record"] for line in duck} == set(TOWN["id"])
    for one, other in zip(
        *(sorted(answer, key=lambda line: str(line["record"])) for answer in (duck, polars)),
        strict=True,
    ):
        assert one == {
            name: pytest.approx(value) if isinstance(value, float) else value
            for name, value in other.items()
        }


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            "['age'], 2",
            "sampling_fraction must be a share of the population of at least 1e-12 and at most 1, got 2;",
        ),
        (
            "['age'], 0.1, interactions := 1",
            "interactions must be 0 or 2, got 1; pass 0 for main effects",
        ),
        (
            "['age'], 0.1, interactions := 3",
            "interactions must be 0 or 2, got 3; pass 0 for main effects",
        ),
        (
            "['age'], 0.1, key := 'di'",
            "quasi-identifiers, weight and key must be columns of the table, got 'di'; did you mean 'id'?",
        ),
        (
            "['aeg'], 0.1",
            "quasi-identifiers must be columns of the table, got 'aeg'; did you mean 'age'?",
        ),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call: str, sentence: str) -> None:
    with pytest.raises(duckdb.Error) as refused:
        by_duckdb(f"FROM loglinear_risk(t, {call})", t=TOWN)
    assert str(refused.value).startswith(f"Invalid Input Error: {sentence}")


def test_polars_is_lazy_and_refuses_the_same() -> None:
    assert isinstance(rp.loglinear_risk(TOWN, QI, 0.1), pl.LazyFrame)
    with pytest.raises(ValueError, match="did you mean 'id'"):
        rp.loglinear_risk(TOWN, QI, 0.1, key="di")
