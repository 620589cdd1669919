"""Identical rows, columns that are nearly a key, full cells and even classes do not make a table seem safer.

The constants behind them were chosen on other tables: other numbers of people, records and columns.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from reid_sql.models.people.evidence import PeopleEvidence, count_records
from reid_sql.models.people.fit import fit
from reid_sql.models.population_risk.answer import PopulationRisk, answer
from reid_sql.models.population_risk.crowded_classes import drop_classes, find_crowded_classes
from reid_sql.models.population_risk.doubts import ASSUMPTION_CROWD
from reid_sql.models.population_risk.intervals import (
    Comparison,
    IntervalWidth,
    SampleShare,
    SharesByShape,
    estimate_interval,
)
from reid_sql.parameters import Integers
from tests.cells import each_cell

PEOPLE, SAMPLE = 20_000, 600


def count_evidence(codes: Integers, *, max_drawn: int = 10_000) -> PeopleEvidence:
    """Evidence of a table, with the values that it has, all of them nominal."""
    coded = [np.unique(column, return_inverse=True) for column in codes.T]
    names = [f"c{place}" for place in range(len(coded))]
    values = [[None if value < 0 else str(value) for value in seen.tolist()] for seen, _ in coded]
    table = np.stack([code.ravel() for _, code in coded], axis=1)
    return count_records(table, names, values, [False] * len(names), max_drawn=max_drawn)


def share_unique(codes: Integers) -> float:
    return float((np.unique(codes, axis=0, return_counts=True)[1] == 1).sum() / len(codes))


def share_below(codes: Integers, k: int) -> float:
    sizes = np.unique(codes, axis=0, return_counts=True)[1]
    return float(sizes[sizes < k].sum() / len(codes))


def ask_about(population: Integers, seed: int, sample: int = SAMPLE) -> PopulationRisk:
    rows = np.random.default_rng(seed).permutation(len(population))[:sample]
    return answer(count_evidence(population[rows]), [len(population)])[0]


def answers(rng: np.random.Generator, values: Sequence[int]) -> Integers:
    return np.stack([rng.integers(1, many + 1, PEOPLE) for many in values], axis=1)


@pytest.mark.parametrize(("share", "straight"), [(0.1, False), (0.3, False), (0.06, True)])
def test_identical_rows_do_not_understate_the_others(share: float, straight: bool) -> None:  # noqa: FBT001
    rng = np.random.default_rng(5)
    population = answers(rng, [4, 5, 6, 4, 5, 6, 4])
    crowd = rng.random(PEOPLE) < share
    population[crowd] = rng.integers(1, 5, int(crowd.sum()))[:, None] if straight else 0
    row, truth = ask_about(population, 1), share_unique(population)
    assert row.uniqueness_low <= truth <= row.uniqueness_high
    assert row.uniqueness == pytest.approx(truth, abs=0.1)
    assert ASSUMPTION_CROWD in row.assumptions


def test_ordinary_answers_have_no_crowd_and_repeat_as_expected() -> None:
    row = ask_about(answers(np.random.default_rng(6), [4, 5, 6, 4, 5]), 1)
    assert ASSUMPTION_CROWD not in row.assumptions
    assert row.status == "ok"


@pytest.mark.parametrize("max_drawn", [10_000, 400])
def test_evidence_without_a_crowd_is_that_of_the_other_records(max_drawn: int) -> None:
    rng = np.random.default_rng(7)
    codes = answers(rng, [4, 5, 6, 4, 5, 6])[:SAMPLE]
    codes[:60] = 0
    evidence = count_evidence(codes, max_drawn=max_drawn)
    crowd = find_crowded_classes(fit(evidence), evidence)
    assert crowd is not None
    assert crowd.crowd == 60
    left, expected = drop_classes(evidence, crowd), count_evidence(codes[60:])
    assert left.values == expected.values
    assert left.histogram.class_size.tolist() == expected.histogram.class_size.tolist()
    assert left.histogram.records.tolist() == expected.histogram.records.tolist()
    assert _as_lists(dict(enumerate(left.counts))) == _as_lists(dict(enumerate(expected.counts)))
    for pair, counted in expected.pairs.items():
        assert [part.tolist() for part in left.pairs[pair]] == [part.tolist() for part in counted]


def test_columns_of_which_one_determines_another_but_in_a_crowd() -> None:
    """Without the crowd, the second column adds nothing, and the model of the others has none of it."""
    rng = np.random.default_rng(4)
    code, other = rng.integers(0, 60, PEOPLE), rng.integers(0, 40, PEOPLE)
    population = np.stack([code, code % 7, other, rng.integers(0, 30, PEOPLE)], axis=1)
    population[rng.random(PEOPLE) < 0.1] = [3, 6, 1, 1]
    row, truth = ask_about(population, 2, 2000), share_unique(population)
    assert ASSUMPTION_CROWD in row.assumptions
    assert row.uniqueness_low <= truth <= row.uniqueness_high


def _as_lists(counts: Mapping[int, np.ndarray]) -> dict[int, list[float]]:
    return {place: own.tolist() for place, own in counts.items()}


def keys(kind: str) -> Integers:
    people, rng = np.arange(10_000), np.random.default_rng(2)
    if kind == "ticket of a day":
        day = np.sort(rng.integers(0, 365, len(people)))
        return np.stack([day, people - np.searchsorted(day, day)], axis=1)
    several = {"house of a street": 20, "person of a household": 4}[kind]
    return np.stack([people // several, people % several, rng.integers(0, 2, len(people))], axis=1)


@pytest.mark.parametrize("kind", ["house of a street", "person of a household", "ticket of a day"])
def test_columns_that_are_a_key_together_are_doubted(kind: str) -> None:
    population = keys(kind)
    assert share_unique(population) == 1
    row = ask_about(population, 3, 3000)
    assert "fewer_repeats: " in row.status
    assert row.uniqueness_high == row.uniqueness_provable_high == 1
    assert row.correctness_high == 1


@each_cell("kind", ["house of a street", "person of a household", "ticket of a day"])
@each_cell("records", [200, 400, 1000])
def test_few_records_of_a_key_do_not_pass_for_an_estimate(kind: str, records: int) -> None:
    """In few records, chance alone may leave no record repeated: no model rules out that all are unique."""
    row = ask_about(keys(kind), 5, records)
    assert row.uniqueness_high == row.correctness_high == row.below_k_high == 1


def test_an_estimate_of_a_likely_key_is_what_is_provable() -> None:
    row = ask_about(keys("house of a street"), 3, 3000)
    assert "possible_key: no two records agree in c0 and c1 together" in row.status
    assert row.uniqueness == row.uniqueness_high == 1


def nearly_keys(kind: str) -> Integers:
    """Numbers that are given again within a school, a voyage or an office, or that are not known for some."""
    people, rng = np.arange(18_000), np.random.default_rng(8)
    if kind == "lockers with a second key":
        place = (
            np.sort(rng.choice(16_000, len(people)))[np.argsort(rng.random(len(people)))] // 2 * 2
        )
        place = np.where(rng.random(len(people)) < 0.1, place, people)
        return np.stack([place // 90, place % 90], axis=1)
    if kind == "cabins, some not known":
        cabin = np.where(rng.random(len(people)) < 0.12, -1, people % 75)
        return np.stack([people // 75, cabin, rng.integers(0, 2, len(people))], axis=1)
    number = rng.permutation(22_000)[: len(people)]
    again = rng.random(len(people)) < 0.08
    number[again] = rng.permutation(number[again]) // 3 * 3
    return np.stack([number // 200, number % 200], axis=1)


@pytest.mark.parametrize(
    "kind", ["lockers with a second key", "cabins, some not known", "numbers given again"]
)
@pytest.mark.parametrize("records", [800, 1500])
def test_an_interval_of_columns_that_are_nearly_a_key_contains_the_truth(
    kind: str, records: int
) -> None:
    population = nearly_keys(kind)
    truth = share_unique(population)
    rows = [ask_about(population, seed, records) for seed in (1, 2, 3)]
    assert all(row.uniqueness_low <= truth <= row.uniqueness_high for row in rows)
    assert all(row.below_k_high >= share_below(population, 5) for row in rows)
    if records == 1500:
        errors = [abs(row.uniqueness - truth) for row in rows if row.uniqueness is not None]
        assert float(np.mean(errors)) < 0.16


@pytest.mark.parametrize("records", [200, 500, 1500])
def test_people_outside_of_full_cells_may_be_unique_while_few_of_them_repeat(records: int) -> None:
    """A post of each of 70 units for 55 %; the others have one of 9,000 posts in any unit."""
    rng, people = np.random.default_rng(9), 120_000
    unit = rng.integers(0, 70, people)
    post = np.where(rng.random(people) < 0.55, unit, 70 + rng.integers(0, 9000, people))
    population = np.stack([unit, post], axis=1)
    truth = share_unique(population)
    for seed in (1, 2, 3):
        row = ask_about(population, seed, records)
        assert row.uniqueness_low <= truth <= row.uniqueness_high
        assert row.below_k_high >= share_below(population, 5)


@pytest.mark.parametrize("each", [2, 3, 4])
@pytest.mark.parametrize("records", [400, 1800])
def test_classes_that_were_made_even_may_all_be_small(each: int, records: int) -> None:
    income = 900 + 11 * (np.arange(12_000) // each)
    row = ask_about(income[:, None], each, records)
    assert row.below_k_high == 1
    assert row.uniqueness_low == 0
    assert row.status != "ok"


def test_intervals_of_ordinary_columns_hold_and_stay_as_narrow_as_they_are() -> None:
    """What finds keys, full cells and even classes moves none of these; a wider constant would."""
    held, widths, statuses = 0, [], []
    for seed in range(12):
        rng = np.random.default_rng([seed, 77])
        many = rng.integers(4, 60, 3)
        weights = [1 / np.arange(1, size + 1) ** 0.7 for size in many]
        population = np.stack([rng.choice(len(w), PEOPLE, p=w / w.sum()) for w in weights], axis=1)
        row, truth = ask_about(population, seed), share_unique(population)
        held += row.uniqueness_low <= truth <= row.uniqueness_high
        widths.append(row.uniqueness_high - row.uniqueness_low)
        statuses.append(row.status)
    assert held >= 11
    assert statuses.count("ok") >= 11
    assert 0.05 < float(np.mean(widths)) < 0.3


@pytest.mark.parametrize("overdispersion", [0.0, 0.1, 5.0])
def test_an_overdispersed_table_has_an_interval_up_to_half_as_wide_again(
    overdispersion: float,
) -> None:
    """On the log-odds scale, without the padding of the ends; the part grows over a quarter of a nat."""
    by_shape = SharesByShape(np.array([0.3, 0.4]), 0.05)
    sample = SampleShare(300, 500, 50_000)

    def half_widths(comparison: Comparison) -> list[float]:
        share = estimate_interval(
            "uniqueness",
            by_shape,
            np.array([0.5, 0.5]),
            sample,
            IntervalWidth(1.0, 1.0),
            comparison=comparison,
            has_upper_bound=False,
        )
        ends = np.array([share.low + 0.0005, share.high - 0.0005])
        low, high = np.log((ends + 0.0004) / (1 - ends + 0.0004))
        centre = np.mean(np.log((by_shape.values + 0.0004) / (1 - by_shape.values + 0.0004)))
        return [float(centre - low), float(high - centre)]

    plain, wide = half_widths(Comparison()), half_widths(Comparison(overdispersion=overdispersion))
    expected = 1 + 0.5 * min(overdispersion / 0.25, 1.0)
    assert [b / a for a, b in zip(plain, wide, strict=True)] == pytest.approx(
        [expected] * 2, rel=1e-3
    )
