import json
from itertools import product
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from tests.attacker import attack
from tests.tables import by_duckdb, by_polars

PEOPLE = pl.DataFrame(
    {"age": [20, 20, 30, 40, 40, 40, 50], "sex": ["F", "M", "F", "F", "F", "M", "M"]}
)
GROUPS: list[dict[str, Any]] = [
    {"columns": ["age"], "probability": 0.25},
    {"columns": ["sex"], "probability": 0.5},
]
SCENARIO: dict[str, Any] = {"population": 1000, "groups": GROUPS}
PARAMETERS = ("presence_disclosed", "presence_discovered", "uniqueness_confirmed", "link_confirmed")
TEXT = json.dumps(SCENARIO)


def test_all_81_settings_are_what_each_gives_by_itself() -> None:
    duck = by_duckdb(f"FROM adversary_summary(t, '{TEXT}', output := 'sensitivity')", t=PEOPLE)
    assert duck == by_polars("adversary_summary", PEOPLE, SCENARIO, output="sensitivity")
    assert [tuple(row[name] for name in PARAMETERS) for row in duck] == list(
        product((0.2, 0.5, 0.8), repeat=4)
    )
    for row in duck:
        setting = {name: row[name] for name in PARAMETERS}
        known = {"population": 1000, "groups": [{"columns": ["age", "sex"], "probability": 1}]}
        risk, worst = (
            np.array(attack(PEOPLE.to_dicts(), each | setting))[:, 3] for each in (SCENARIO, known)
        )
        names = ("lower_quartile", "median", "upper_quartile")
        assert [row[name] for name in names] == pytest.approx(np.quantile(risk, [0.25, 0.5, 0.75]))
        assert [row[f"reduction_{name}"] for name in names] == pytest.approx(
            np.quantile(1 - risk / worst, [0.25, 0.5, 0.75])
        )
        assert row["average"] == pytest.approx(risk.mean())


def test_other_levels_may_be_asked_for() -> None:
    found = by_duckdb(
        f"FROM adversary_summary(t, '{TEXT}', levels := [1, 0], output := 'sensitivity')", t=PEOPLE
    )
    assert len(found) == 16
    assert (found[0]["median"], found[0]["status"]) == (
        0.0,
        "no_reduction: reduction is not available, since no record is at risk in the worst case",
    )


@pytest.mark.parametrize(
    ("levels", "sentence"),
    [
        (
            "[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]",
            "levels must be at most 6 numbers, got 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7",
        ),
        ("[2]", "levels must be a probability between 0 and 1, got 2"),
        ("[]", "levels must be a list of one or more numbers, got []"),
    ],
)
def test_bad_levels_are_refused(levels: str, sentence: str) -> None:
    with pytest.raises(duckdb.Error) as refused:
        by_duckdb(
            f"FROM adversary_summary(t, '{TEXT}', levels := {levels}, output := 'sensitivity')",
            t=PEOPLE,
        )
    assert sentence in str(refused.value)
