import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy.stats import genpareto

from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes.quasi_identifiers import choose_quasi_identifiers
from reid_sql.models.extreme.extreme_risk import (
    Level,
    bootstrap_interval,
    estimate_extreme_risk,
    fit_tail,
    growth,
    rank_quasi_identifiers,
    select_highest,
)
from tests.qar import coded, distinct, draw, law, risk, table_risk, threshold

COUNTS = st.lists(st.integers(1, 300), min_size=1, max_size=120)
LEVELS = st.sampled_from([(0.01, 0.05), (0.001, 0.05), (0.1, 0.5), (0.05, 0.2), (0.5, 1.0)])


@given(COUNTS, st.sampled_from([0.001, 0.05, 0.1, 0.25, 0.5, 0.9, 1.0]))
def test_the_threshold_is_definition_8_of_hyndman_and_fan(counts: list[int], tail: float) -> None:
    level = Level(1e-9, tail)
    fits = fit_tail(select_highest(np.array(counts), level)[None], 1000, len(counts), level)
    # a place is rounded to 12 decimals
    found, rounding = fits.threshold[0] * 1000, 1e-12 * np.ptp(counts)
    quantile = np.quantile(counts, 1 - tail, method="median_unbiased")
    assert found == pytest.approx(quantile, rel=1e-12, abs=rounding)
    assert found == pytest.approx(float(threshold(counts, tail)), rel=1e-12, abs=rounding)


@given(COUNTS, LEVELS, st.integers(301, 5000))
def test_the_risk_is_the_quantile_of_the_law_with_the_same_moments(
    counts: list[int], level: tuple[float, float], records: int
) -> None:
    found = fit_tail(
        select_highest(np.array(counts), Level(*level))[None], records, len(counts), Level(*level)
    )
    expected = risk(counts, records, *level)
    assert found.risk[0] == pytest.approx(
        np.nan if expected is None else expected, rel=1e-9, nan_ok=True
    )
    if expected is not None:
        u = threshold(counts, level[1])
        logits = [
            np.log(c / (records - c)) - np.log(float(u / (records - u))) for c in counts if c > u
        ]
        assert (found.shape[0], found.scale[0]) == pytest.approx(law(logits), rel=1e-6)
        assert found.exceedances[0] == len(logits)


def test_rows_are_fitted_as_if_alone() -> None:
    generator = np.random.default_rng(3)
    tables = generator.integers(1, 40, (50, 60))
    records = generator.integers(40, 45, 50)
    level = Level(0.05, 0.3)
    top = np.stack([select_highest(row, level) for row in tables])
    together = fit_tail(top, records, 60, level).risk
    alone = [
        fit_tail(top[row : row + 1], int(records[row]), 60, level).risk[0] for row in range(50)
    ]
    assert together == pytest.approx(alone, rel=1e-13, nan_ok=True)
    assert [None if np.isnan(found) else found for found in together] == [
        expected if expected is None else pytest.approx(expected, rel=1e-9)
        for expected in (
            risk(row.tolist(), int(size), 0.05, 0.3)
            for row, size in zip(tables, records, strict=True)
        )
    ]


def test_moments_find_the_law_that_drew_the_excesses() -> None:
    for shape, scale in [(-0.3, 0.5), (0.0, 0.2), (0.3, 0.1)]:
        excesses = genpareto.rvs(shape, scale=scale, size=200_000, random_state=1)
        u, records = 2000.0, 10**12
        base = np.log(u) - np.log(1e6 - u)
        counts = np.sort(records / (1 + np.exp(-(base + excesses)))).astype(np.int64)
        top = np.r_[int(u * 1e6), counts][None]
        found = fit_tail(top, records, 200_001, Level(1e-6, 1.0))
        assert found.shape[0] == pytest.approx(shape, abs=0.01)
        assert found.scale[0] == pytest.approx(scale, rel=0.01)


@given(st.floats(-3, 1, allow_subnormal=False), st.floats(0.01, 8))
def test_growth_to_the_last_digits_and_at_its_limit(shape: float, reach: float) -> None:
    with mp.workdps(60):
        exact = reach if shape == 0 else mp.expm1(mpf(shape) * mpf(reach)) / mpf(shape)
        assert growth(np.array([shape]), reach)[0] == pytest.approx(float(exact), rel=1e-13)


@pytest.mark.parametrize("shape", [0.0, 1e-300, -1e-17, 1e-12, -9.9e-9, 1.01e-8])
def test_growth_is_smooth_through_nought(shape: float) -> None:
    with mp.workdps(60):
        exact = mpf(3) if shape == 0 else mp.expm1(mpf(shape) * 3) / mpf(shape)
        assert growth(np.array([shape]), 3.0)[0] == pytest.approx(float(exact), rel=1e-14)


def test_a_risk_of_one_is_one_and_no_fit_is_not_a_number() -> None:
    level = Level(0.1, 0.9)
    rows = np.array([[2, 3, 4, 5, 6, 7, 9], [2, 3, 3, 3, 3, 3, 3], [2, 2, 2, 3, 4, 5, 6]])
    found = fit_tail(rows, 9, 7, level)
    assert found.risk[0] == 1
    assert np.isnan(found.risk[1])
    assert np.isnan(found.risk[2])
    assert found.certain.tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("alpha", "tail", "sentence"),
    [
        (
            0.05,
            0.05,
            (
                "alpha must be below tail, the share that the law is fitted to, "
                "got 0.05 and 0.05; pass a smaller alpha"
            ),
        ),
        (0.5, 0.05, "alpha must be below tail"),
        (0.0, 0.05, "alpha must be a probability above 0 and below 1, got 0"),
        (0.01, 1.5, "tail must be a share above 0 and at most 1, got 1.5"),
        (float("nan"), 0.05, "alpha must be a probability"),
    ],
)
def test_levels_outside_their_domain_are_refused(alpha: float, tail: float, sentence: str) -> None:
    with pytest.raises(OutOfDomainError, match=sentence):
        Level(alpha, tail)


PEOPLE = draw(5, 200, 12, 9)


def test_the_estimate_of_a_table() -> None:
    found = estimate_extreme_risk(choose_quasi_identifiers(coded(PEOPLE), 3), Level())
    assert found.risk == pytest.approx(table_risk(PEOPLE, 3, 0.01, 0.05), rel=1e-9)
    assert found.risk_low is not None
    assert found.risk_high is not None
    assert found.threshold < found.risk_low < found.risk_high < 1
    counts = distinct(PEOPLE, 3)
    limit = threshold(counts, 0.05)
    above = sum(count > limit for count in counts)
    assert (found.quasi_identifiers, found.exceedances, found.records, found.status) == (
        220,
        above,
        200,
        "ok",
    )


@pytest.mark.all
def test_the_interval_is_that_of_drawing_quasi_identifiers_again() -> None:
    counts = distinct(draw(5, 300, 12, 7), 3)
    low, high = bootstrap_interval(np.array(counts), 300, Level(0.01, 0.2), 3)
    generator = np.random.default_rng(1)
    drawn = [
        risk(generator.choice(counts, len(counts)).tolist(), 300, 0.01, 0.2) for _ in range(1500)
    ]
    expected = np.quantile([value for value in drawn if value is not None], [0.025, 0.975])
    assert [low, high] == pytest.approx(expected, abs=0.01)
    assert (low, high) == bootstrap_interval(np.array(counts), 300, Level(0.01, 0.2), 3)


def test_a_key_is_a_risk_of_one_and_named() -> None:
    rows = [[number, *row] for number, row in enumerate(PEOPLE, 1)]
    found = estimate_extreme_risk(choose_quasi_identifiers(coded(rows), 1), Level(0.01, 0.9))
    assert (found.risk, found.risk_low, found.shape) == (1.0, None, None)
    assert found.status == "certain: every record is unique for (c0)"
    assert estimate_extreme_risk(choose_quasi_identifiers(coded(rows), 2), Level()).status.endswith(
        "for (c0, c1), (c0, c2), (c0, c3) and 9 more"
    )


def test_no_fit_says_why() -> None:
    few = estimate_extreme_risk(
        choose_quasi_identifiers(coded([row[:5] for row in PEOPLE]), 3), Level()
    )
    assert (few.risk, few.risk_low) == (None, None)
    assert few.status.startswith(
        "too_few_exceedances: only 0 of the quasi-identifiers exceed the threshold, and a fit needs 5"
    )
    alike = estimate_extreme_risk(
        choose_quasi_identifiers(coded([[1, 1, *[row[0]] * 9] for row in PEOPLE]), 1),
        Level(0.01, 0.9),
    )
    assert alike.risk is None
    assert alike.status.startswith("equal_risks: ")


def test_equal_risks_above_the_threshold_have_no_fit() -> None:
    rows = [[1, 1, 1, 1, *[1 + number % 3] * 6] for number in range(20)]
    found = estimate_extreme_risk(choose_quasi_identifiers(coded(rows), 1), Level(0.01, 0.9))
    assert (found.risk, found.exceedances) == (None, 6)
    assert found.status.startswith(
        "equal_risks: all quasi-identifiers above the threshold have the same risk"
    )


def test_a_sample_is_said_to_be_one() -> None:
    found = estimate_extreme_risk(
        choose_quasi_identifiers(coded(PEOPLE), 3, 70, 2), Level(0.01, 0.2)
    )
    assert found.quasi_identifiers == 70
    assert found.status.endswith(
        "quasi_identifiers_drawn: measured on a sample of 70 of the 220 quasi-identifiers, seed 2"
    )
    assert (
        rank_quasi_identifiers(choose_quasi_identifiers(coded(PEOPLE), 3, 70, 2))[0].status
        == "quasi_identifiers_drawn: measured on a sample of 70 of the 220 quasi-identifiers, seed 2"
    )


def test_quasi_identifiers_riskiest_first() -> None:
    found = rank_quasi_identifiers(choose_quasi_identifiers(coded(PEOPLE), 2))
    counts = [row.distinct_values for row in found]
    assert counts == sorted(distinct(PEOPLE, 2), reverse=True)
    assert [row.risk for row in found] == [count / 200 for count in counts]
    places = [[int(name[1:]) for name in row.quasi_identifier] for row in found]
    assert [
        len({tuple(row[place] for place in chosen) for row in PEOPLE}) for chosen in places
    ] == counts
