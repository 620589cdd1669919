import numpy as np
import pytest

from reid_sql.models.extreme.extreme_risk import Level
from reid_sql.models.extreme.extreme_risk_estimate import estimate, interval, risks
from reid_sql.models.extreme.quasi_identifiers import choose
from tests.qar import coded, distinct, draw, risk, table_risk, threshold

PEOPLE = draw(5, 200, 12, 9)


@pytest.mark.slow
def test_the_estimate_of_a_table() -> None:
    found = estimate(choose(coded(PEOPLE), 3), Level())
    assert found.risk == pytest.approx(table_risk(PEOPLE, 3, 0.01, 0.05), rel=1e-9)
    assert found.risk_low is not None
    assert found.risk_high is not None
    assert found.threshold < found.risk_low < found.risk_high < 1
    above = sum(count > threshold(distinct(PEOPLE, 3), 0.05) for count in distinct(PEOPLE, 3))
    assert (found.quasi_identifiers, found.exceedances, found.records, found.status) == (
        220,
        above,
        200,
        "ok",
    )


def test_the_interval_is_that_of_drawing_quasi_identifiers_again() -> None:
    counts = distinct(draw(5, 300, 12, 7), 3)
    low, high = interval(np.array(counts), 300, Level(0.01, 0.2), 3)
    generator = np.random.default_rng(1)
    drawn = [risk(generator.choice(counts, len(counts)).tolist(), 300, 0.01, 0.2) for _ in range(1500)]
    expected = np.quantile([value for value in drawn if value is not None], [0.025, 0.975])
    assert [low, high] == pytest.approx(expected, abs=0.01)
    assert (low, high) == interval(np.array(counts), 300, Level(0.01, 0.2), 3)


def test_a_key_is_a_risk_of_one_and_named() -> None:
    rows = [[number, *row] for number, row in enumerate(PEOPLE, 1)]
    found = estimate(choose(coded(rows), 1), Level(0.01, 0.9))
    assert (found.risk, found.risk_low, found.shape) == (1.0, None, None)
    assert found.status == "risk is 1: every record is unique for (c0)"
    assert estimate(choose(coded(rows), 2), Level()).status.endswith(
        "for (c0, c1), (c0, c2), (c0, c3) and 9 more"
    )


def test_no_fit_says_why() -> None:
    few = estimate(choose(coded([row[:5] for row in PEOPLE]), 3), Level())
    assert (few.risk, few.risk_low) == (None, None)
    assert few.status.startswith(
        "risk is not available: 0 quasi-identifiers exceed the threshold and a fit needs 5; pass more"
    )
    alike = estimate(choose(coded([[1, 1, *[row[0]] * 9] for row in PEOPLE]), 1), Level(0.01, 0.9))
    assert alike.risk is None
    assert alike.status.startswith("risk is not available: ")


def test_equal_risks_above_the_threshold_have_no_fit() -> None:
    rows = [[1, 1, 1, 1, *[1 + number % 3] * 6] for number in range(20)]
    found = estimate(choose(coded(rows), 1), Level(0.01, 0.9))
    assert (found.risk, found.exceedances) == (None, 6)
    assert found.status.startswith(
        "risk is not available: all quasi-identifiers above the threshold have the same risk; pass more"
    )


def test_a_sample_is_said_to_be_one() -> None:
    found = estimate(choose(coded(PEOPLE), 3, 70, 2), Level(0.01, 0.2))
    assert found.quasi_identifiers == 70
    assert found.status.endswith("measured on a sample of 70 of the 220 quasi-identifiers, seed 2")
    assert (
        risks(choose(coded(PEOPLE), 3, 70, 2))[0].status
        == "measured on a sample of 70 of the 220 quasi-identifiers, seed 2"
    )


def test_quasi_identifiers_riskiest_first() -> None:
    found = risks(choose(coded(PEOPLE), 2))
    counts = [row.distinct_values for row in found]
    assert counts == sorted(distinct(PEOPLE, 2), reverse=True)
    assert [row.risk for row in found] == [count / 200 for count in counts]
    places = [[int(name[1:]) for name in row.quasi_identifier] for row in found]
    assert [len({tuple(row[place] for place in chosen) for row in PEOPLE}) for chosen in places] == counts
