import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.models.numerics.quantiles import quantiles_by_count
from tests.attacker import attack
from tests.tables import by_duckdb, by_polars

PEOPLE = pl.DataFrame(
    {"age": [20, 20, 30, 40, 40, 40, 50], "sex": ["F", "M", "F", "F", "F", "M", "M"]}
)
SCENARIO: dict[str, Any] = {
    "population": 1000,
    "link_confirmed": 0.5,
    "groups": [{"columns": ["age"], "probability": 0.25}, {"columns": ["sex"], "probability": 0.5}],
}


def test_each_measure_over_all_records_beside_the_worst_case() -> None:
    worst_case = SCENARIO | {"groups": [{"columns": ["age", "sex"], "probability": 1}]}
    risks, worst = (np.array(attack(PEOPLE.to_dicts(), each)) for each in (SCENARIO, worst_case))
    duck = by_duckdb(
        f"FROM adversary_summary(t, '{json.dumps(SCENARIO)}', threshold := 0.3)", t=PEOPLE
    )
    assert duck == by_polars("adversary_summary", PEOPLE, SCENARIO, 0.3)
    assert [row["measure"] for row in duck] == ["prosecutor", "journalist", "marketer", "overall"]
    for place, row in enumerate(duck):
        mine, theirs = risks[:, place], worst[:, place]
        reduction = 1 - mine[theirs > 0] / theirs[theirs > 0]
        for values, prefix in ((mine, ""), (reduction, "reduction_")):
            found = [
                row[f"{prefix}{name}"] for name in ("lower_quartile", "median", "upper_quartile")
            ]
            assert found == pytest.approx(np.quantile(values, [0.25, 0.5, 0.75]))
        assert row["average"] == pytest.approx(mine.mean())
        assert row["highest"] == pytest.approx(mine.max())
        assert row["records_at_risk"] == pytest.approx((mine > 0.3).mean())
        assert row["worst_median"] == pytest.approx(np.median(theirs))
        assert row["worst_average"] == pytest.approx(theirs.mean())
        assert row["worst_records_at_risk"] == pytest.approx((theirs > 0.3).mean())
        assert (row["records_compared"], row["records"], row["threshold"]) == (
            (theirs > 0).sum(),
            7,
            0.3,
        )


def test_where_nobody_is_at_risk_there_is_nothing_to_reduce_and_the_status_says_so() -> None:
    pairs = pl.DataFrame({"age": [20, 20, 30, 30]})
    scenario = {"population": 100, "groups": [{"columns": ["age"], "probability": 0.5}]}
    row = by_duckdb(f"FROM adversary_summary(t, '{json.dumps(scenario)}')", t=pairs)[0]
    assert (row["reduction_median"], row["records_compared"]) == (None, 0)
    assert (
        row["status"]
        == "no_reduction: reduction is not available, since no record is at risk in the worst case"
    )


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.1, 0.5, 1.0]), st.integers(1, 4)), min_size=1, max_size=8
    ),
    st.floats(0, 1),
)
def test_quantiles_of_repeated_values(pairs: list[tuple[float, int]], share: float) -> None:
    values, records = (np.array(side) for side in zip(*pairs, strict=True))
    expected = np.quantile(np.repeat(values, records), share)
    assert quantiles_by_count(values, records, [share])[0] == pytest.approx(expected, abs=1e-12)
