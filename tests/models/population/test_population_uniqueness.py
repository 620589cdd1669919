"""All methods on any histogram: a share or a reason, and the truth where the sample is the population.

Huge histograms are among them; the truth is counted.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.population import (
    dankar,
    ewens,
    loglinear_uniqueness,
    pitman_interval,
    population_uniqueness,
    sample_bound,
)
from reid_sql.models.population.estimate import Estimate
from reid_sql.models.population.evidence import UniquenessEvidence
from reid_sql.models.population.population_uniqueness import METHODS, Method, estimates
from reid_sql.models.pyc import pitman_yor_forecast
from tests.histograms import CLASSES, huge


def evidence(classes: dict[int, int]) -> UniquenessEvidence:
    size, count = np.array(list(classes)), np.array(list(classes.values()))
    return UniquenessEvidence(size, np.log(size * 0.7), count)


@pytest.mark.slow
@settings(max_examples=15)
@given(CLASSES, st.floats(1.0001, 1e7))
def test_each_method_gives_a_share_or_a_reason(classes: dict[int, int], growth: float) -> None:
    given_sample = evidence(classes)
    records = sum(size * count for size, count in classes.items())
    sampled = classes.get(1, 0) / records
    rows = estimates(given_sample, records * growth)
    variants: tuple[Method, ...] = ("pitman_asymptotic", "pitman_negative")
    assert [row.method for row in rows] == list(METHODS)
    for row in [*rows, *(estimates(given_sample, records * growth, name)[0] for name in variants)]:
        if row.uniqueness is None:
            assert row.status != "ok"
            assert row.unique_records is None
            continue
        assert 0 <= row.uniqueness <= 1
        assert row.unique_records == pytest.approx(row.uniqueness * records * growth)
        assert row.uniqueness <= sampled * (1 + 1e-9) or sample_bound.EXCEEDED in row.status
        assert row.status != "ok"  # an interval of the people alone was measured to hold what it says
        if row.uniqueness_low is not None and row.uniqueness_high is not None:
            assert row.uniqueness_low - 1e-12 <= row.uniqueness <= row.uniqueness_high + 1e-12


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("ewens", ewens.CHANCE),
        ("pitman", pitman_interval.MISSES),
        ("loglinear_nb", loglinear_uniqueness.PARAMETRIC),
        ("pyc", pitman_yor_forecast.MISSES),
        ("pyc, κ", pitman_yor_forecast.MISSES),
        ("pyc, V_5", pitman_yor_forecast.MISSES),
    ],
)
def test_a_status_tells_what_the_page_says_was_measured(root: Path, row: str, told: str) -> None:
    """Held, of how many, truths below and above the intervals: the sums over the fractions."""
    page = (root / "docs" / "population_uniqueness.md").read_text(encoding="utf-8")
    table = page.partition("truths below it, above it")[2]
    line = table.partition(f"\n| {row} | ")[2].partition("\n")[0]
    cells = re.findall(r"(\d+) of (\d+); (\d+), (\d+)", line)
    held, cases, below, above = (sum(map(int, column)) for column in zip(*cells, strict=True))
    assert held + below + above == cases
    one_sided = rf"{below} and above it in {above}|in {below} and {above}|in {below}, above it in {above}"
    assert re.search(rf"{held} of {cases} samples|of {cases} samples.*({one_sided})", told)


@given(CLASSES)
def test_a_whole_population_is_counted(classes: dict[int, int]) -> None:
    records = sum(size * count for size, count in classes.items())
    for row in estimates(evidence(classes), records):
        assert (row.uniqueness, row.uniqueness_low, row.uniqueness_high) == (classes.get(1, 0) / records,) * 3
        assert row.status == population_uniqueness.COUNTED


@pytest.mark.slow
def test_a_thousand_million_records_of_eight_thousand_million_people() -> None:
    whole = huge()
    given_sample = UniquenessEvidence(whole.class_size, np.log(whole.class_size * 0.9), whole.classes)
    with np.errstate(all="raise", under="ignore"):
        rows = estimates(given_sample, 8e9)
    # They need the pairs of values.
    assert [row.method for row in rows if row.uniqueness is None] == ["people", "copula"]
    assert all(0 < (row.uniqueness or 0.1) < 0.2 for row in rows)


def test_class_sizes_alone_do_not_fit_a_model_of_people() -> None:
    row = estimates(evidence({1: 5, 2: 3}), 1_000, "people")[0]
    assert (row.uniqueness, row.unique_records, row.uniqueness_high) == (None, None, None)
    assert row.status.startswith(
        "not available: a model of people needs counts of values and pairs, and records"
    )


def test_refusals() -> None:
    with pytest.raises(
        OutOfDomainError,
        match="population must be at least the 5 records of the sample, got 4; pass the size",
    ):
        estimates(evidence({1: 5}), 4)
    with pytest.raises(NoRecordsError):
        estimates(evidence({}), 4)


@pytest.mark.parametrize(
    "lines", [([1], [0.3], [9]), ([1, 4], [1.0, 4.0], [5, 2])], ids=["all unique", "one column"]
)
def test_no_log_linear_model_is_fitted_to_what_it_would_repeat(
    lines: tuple[list[int], list[float], list[int]],
) -> None:
    sizes, expected, classes = lines
    for row in estimates(UniquenessEvidence(np.array(sizes), np.log(expected), np.array(classes)), 1_000):
        if row.method.startswith("loglinear"):
            assert (row.uniqueness, row.status) == (None, loglinear_uniqueness.NOT_FITTED)


def one(share: float | None) -> Estimate:
    return Estimate(share, None, None, "ok" if share is not None else "none")


@pytest.mark.parametrize(
    ("fraction", "pitman", "snb", "zayatz", "chosen"),
    [
        (0.1, 0.3, 0.2, 0.1, "by pitman"),
        (0.1, None, 0.2, 0.1, "by zayatz"),
        (0.2, 0.3, 0.1, 0.2, "by snb"),
        (0.2, 0.3, 0.2, 0.1, "by zayatz"),
        (0.2, 0.3, None, 0.1, "by zayatz"),
    ],
)
def test_the_rule_of_dankar(
    fraction: float, pitman: float | None, snb: float | None, zayatz: float, chosen: str
) -> None:
    of = {"pitman": lambda: one(pitman), "snb": lambda: one(snb), "zayatz": lambda: one(zayatz)}
    assert dankar.choose(fraction, of).status == chosen


def test_a_tenth_that_was_rounded_up_to_whole_records_is_a_tenth() -> None:
    classes = {1: 3_000, 2: 100, 57: 1}  # 3,257 records of 32,561 people
    rows = {row.method: row for row in estimates(evidence(classes), 32_561)}
    assert rows["dankar"].status.startswith("by pitman")
    assert rows["dankar"].uniqueness == rows["pitman"].uniqueness
    beyond = {row.method: row for row in estimates(evidence({**classes, 58: 1}), 32_561)}
    assert beyond["dankar"].status.startswith(("by snb", "by zayatz"))


def test_the_interval_of_loglinear_nb_holds_what_follows_the_model() -> None:
    rng, held = np.random.default_rng(4), 0
    for _ in range(40):
        expected = rng.gamma(0.5, 4.0, 20_000)
        people = rng.poisson(10 * expected * rng.gamma(0.8, 1 / 0.8, expected.size))
        seen = rng.binomial(people, 0.1)
        lines = UniquenessEvidence(
            seen[seen > 0], np.log(expected[seen > 0]), np.ones((seen > 0).sum(), dtype=np.int64)
        )
        row = estimates(lines, float(people.sum()), "loglinear_nb")[0]
        assert row.uniqueness_low is not None
        assert row.uniqueness_high is not None
        held += row.uniqueness_low <= (people == 1).sum() / people.sum() <= row.uniqueness_high
    assert held >= 34


def test_where_counts_are_as_good_as_poisson_there_is_an_interval_too() -> None:
    rng = np.random.default_rng(6)
    expected = rng.gamma(0.5, 4.0, 2_000)
    seen = rng.poisson(expected)
    lines = UniquenessEvidence(
        seen[seen > 0], np.log(expected[seen > 0]), np.ones((seen > 0).sum(), dtype=np.int64)
    )
    row = estimates(lines, 10 * float(seen.sum()), "loglinear_nb")[0]
    assert row.uniqueness_low is not None
    assert row.uniqueness_high is not None
    assert row.uniqueness_low <= (row.uniqueness or 0) <= row.uniqueness_high
    assert row.status.startswith(loglinear_uniqueness.PARAMETRIC)
