import numpy as np
import pytest

from reid_sql.models.extreme.extreme_risk import Level
from reid_sql.models.extreme.quasi_identifiers import choose
from reid_sql.models.extreme.record_contributions import contributions, rows
from tests.qar import coded, distinct, draw, table_risk, unique, without

PEOPLE = draw(8, 60, 7, 5)


def test_contributions_are_differences_of_risks_computed_from_scratch() -> None:
    found = rows(choose(coded(PEOPLE), 3), Level(0.1, 0.5))
    whole = table_risk(PEOPLE, 3, 0.1, 0.5)
    assert whole is not None
    expected = [table_risk(without(PEOPLE, record), 3, 0.1, 0.5) for record in range(60)]
    assert [row.contribution for row in found] == pytest.approx(
        [whole - (risk or np.nan) for risk in expected], abs=1e-12
    )
    assert [row.record for row in found] == list(range(60))
    assert {row.status for row in found} == {"ok"}


def test_proxies_weigh_uniqueness_by_risk() -> None:
    found = contributions(choose(coded(PEOPLE), 3), Level(0.1, 0.5))
    alone, risk = np.array(unique(PEOPLE, 3)), np.array(distinct(PEOPLE, 3)) / 60
    assert found.u_plus == pytest.approx(alone @ risk)
    assert found.u_star == pytest.approx(alone @ (1 - risk))
    assert found.unique.tolist() == alone.sum(axis=1).tolist()


def test_a_key_leaves_nothing_to_contribute() -> None:
    table = [[number, *row] for number, row in enumerate(PEOPLE, 1)]
    assert {row.contribution for row in rows(choose(coded(table), 1), Level(0.1, 0.9))} == {0.0}


def test_what_is_missing_is_said_on_every_row() -> None:
    for row in rows(choose(coded([row[:4] for row in PEOPLE]), 3), Level()):
        assert row.contribution is None
        assert row.status.startswith("risk is not available: 0 quasi-identifiers exceed the threshold")


def test_a_record_without_which_there_is_no_fit() -> None:
    found = [
        row for seed in range(200) for row in rows(choose(coded(draw(seed, 12, 5, 3)), 2), Level(0.1, 0.7))
    ]
    lost = [row for row in found if row.contribution is None and "is not available: without" in row.status]
    assert lost
    assert {row.status for row in lost} == {
        "contribution is not available: without the record there is no fit"
    }
