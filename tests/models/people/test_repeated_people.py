"""Records that repeat beyond chance, against samples of populations in which the twins are known."""

import numpy as np
import pytest
from scipy.stats import binom, nbinom

from reid_sql.models.people import repeated_people
from reid_sql.models.people.evidence import PeopleEvidence, count_records
from reid_sql.models.people.fit import fit
from reid_sql.models.people.repeated_people import RepeatedPeople
from reid_sql.models.population_risk import doubts
from reid_sql.models.population_risk.answer import answer
from tests.cells import each_cell

PEOPLE, SAMPLE = 20_000, 2_000


def population(homes: int, each: int, seed: int) -> np.ndarray:
    """Homes of so many people who are alike in all columns; homes are alike by chance alone."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, 13)
    columns = [rng.choice(12, homes, p=shares / shares.sum()) for _ in range(5)]
    return np.repeat(np.stack(columns, axis=1), each, axis=0)


def sampled(people: np.ndarray, seed: int) -> PeopleEvidence:
    rows = people[np.random.default_rng([seed, 1]).choice(len(people), SAMPLE, replace=False)]
    codes = np.stack([np.unique(own, return_inverse=True)[1] for own in rows.T], axis=1)
    values = [[f"v{v}" for v in np.unique(own)] for own in rows.T]
    return count_records(codes, list("abcde"), values, [False] * 5)


@each_cell("shape", [0.01, 0.5, 3.0, 100.0])
@each_cell("expected", [1e-6, 1e-3, 0.3, 5.0, 60.0])
def test_alone_is_that_of_the_negative_binomial(expected: float, shape: float) -> None:
    law = nbinom(shape, shape / (shape + expected))
    found = repeated_people.single_chance(np.array([expected]), np.array([shape]))[0]
    assert found == pytest.approx(law.pmf(1) / -np.expm1(law.logpmf(0)), rel=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_without_twins_chance_is_enough(seed: int) -> None:
    found = fit(sampled(population(PEOPLE, 1, seed), seed)).repeated_people
    assert not found.beyond_chance
    assert found.max_duplicates(SAMPLE / PEOPLE) == 0
    assert found.min_share_left("uniqueness", 0.1, 5) == 1


@pytest.mark.parametrize("each", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_the_interval_holds_the_number_of_twins_within_a_fifth(seed: int, each: int) -> None:
    found = fit(sampled(population(PEOPLE // each, each, seed), seed)).repeated_people
    one, other = (
        RepeatedPeople(end, end, 9.0).max_duplicates(SAMPLE / PEOPLE)
        for end in (found.low, found.high)
    )
    assert 0 < one <= (each - 1) * 1.15  # people who are alike by chance count, too
    assert other >= 0.8 * (each - 1)  # a part counts as scatter
    assert other < 2 * each


@each_cell("twins_of", [[1, 1], [0, 2], [0, 0, 0, 4], [0, 4, 5], [0, 0, 0, 1, 2, 3]])
@each_cell("others", [[0], [0, 0, 1], [0, 1, 2, 3, 4]])
def test_what_is_left_is_no_more_than_any_law_of_twins_leaves(
    twins_of: list[int], others: list[int]
) -> None:
    fraction, k = 0.05, 5
    mean = float(np.mean(twins_of))
    seen = binom(1 + mean, fraction) if mean.is_integer() else None
    # just one of those seen at all
    chance = 1 - seen.pmf(1) / seen.sf(0) if seen else mean * fraction / 2
    given = RepeatedPeople(chance, chance, 9.0)
    sizes = np.add.outer(1 + np.array(others), np.array(twins_of)).ravel()
    before = 1 + np.array(others)
    assert (sizes == 1).mean() >= (before == 1).mean() * given.min_share_left(
        "uniqueness", fraction, k
    ) - 1e-9
    assert (1 / sizes).mean() >= (1 / before).mean() * given.min_share_left(
        "correctness", fraction, k
    ) - 1e-9
    if others == [0]:  # twins alone: Markov's inequality
        assert (sizes < k).mean() >= given.min_share_left("below_k", fraction, k) - 1e-9


def test_lower_ends_hold_where_homes_share_every_column() -> None:
    people = population(PEOPLE // 2, 2, 9)
    evidence = sampled(people, 9)
    row = answer(evidence, [PEOPLE])[0]
    assert doubts.STATUS_REPEATED_PEOPLE in row.status
    assert row.uniqueness_low == 0  # nobody is alone: each has a twin
    classes = len(np.unique(people, axis=0)) / PEOPLE
    assert row.correctness_low <= classes <= row.correctness_high
    bare = answer(sampled(population(PEOPLE, 1, 9), 9), [PEOPLE])[0]
    assert doubts.STATUS_REPEATED_PEOPLE not in bare.status
    assert bare.uniqueness_low > 0


@pytest.mark.parametrize(
    ("share", "times"), [(1, 2), (1, 5), (0.3, 2), (0.1, 2), (0.2, 6), (0.05, 12)]
)
def test_upper_ends_contain_the_truth_where_the_sample_repeats_people_whom_the_population_has_once(
    share: float, times: int
) -> None:
    """As after a join: some persons of the sample have several equal rows."""
    people = population(PEOPLE, 1, 3)
    _, place, size = np.unique(people, axis=0, return_inverse=True, return_counts=True)
    truth = float((size[place.ravel()] == 1).mean())
    rng = np.random.default_rng([times, round(100 * share)])
    rows = people[rng.choice(PEOPLE, SAMPLE, replace=False)]
    repeated = np.repeat(rows, np.where(rng.random(SAMPLE) < share, times, 1), axis=0)
    codes = np.stack([np.unique(own, return_inverse=True)[1] for own in repeated.T], axis=1)
    values = [[f"v{v}" for v in np.unique(own)] for own in repeated.T]
    row = answer(
        count_records(rng.permutation(codes), list("abcde"), values, [False] * 5), [PEOPLE]
    )[0]
    assert doubts.STATUS_REPEATED_PEOPLE in row.status
    low = row.uniqueness_low if row.uniqueness is None else row.uniqueness
    assert low <= truth <= row.uniqueness_high


@pytest.mark.parametrize("chance", [0.0, 0.03, 0.4, 1.0])
def test_which_classes_are_one_persons_by_bayes_rule(chance: float) -> None:
    """Simulated: a class is one person's with probability τ, else its size has a negative binomial law."""
    rng, shape, expected = np.random.default_rng(4), 0.8, 1.5
    one_person = rng.random(400_000) < chance
    by_law = rng.negative_binomial(shape, shape / (shape + expected), 2_000_000)
    size = np.where(one_person, 9, by_law[by_law > 0][:400_000])
    for at_least in (2, 4):
        several = size >= at_least
        simulated = one_person[several].mean()
        given = np.full(2, expected), shape, np.array([at_least, 1]), chance
        assert repeated_people.repeat_chances(*given) == pytest.approx([simulated, 0.0], abs=0.01)


TOWN = 80_000


def homes(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """People of homes of one to four who share a street and an income, each with an age; and their homes."""
    rng = np.random.default_rng(seed)
    size = 1 + rng.binomial(3, 0.3, TOWN)
    home = np.repeat(np.arange(TOWN), size)[:TOWN]
    street, income = rng.integers(0, 300, TOWN)[home], rng.integers(0, 400, TOWN)[home]
    return np.stack([street, income, rng.integers(0, 40, TOWN)], axis=1), home


def drawn(people: np.ndarray, order: np.ndarray) -> PeopleEvidence:
    rows = people[order[:SAMPLE]]
    codes = np.stack([np.unique(own, return_inverse=True)[1] for own in rows.T], axis=1)
    values = [[f"v{v}" for v in np.unique(own)] for own in rows.T]
    return count_records(codes, ["street", "income", "age"], values, [False] * 3)


@pytest.mark.parametrize("seed", range(3))
def test_households_that_were_sampled_whole_are_no_random_sample(seed: int) -> None:
    people, home = homes(seed)
    rng = np.random.default_rng([seed, 2])
    whole = np.argsort(rng.permutation(TOWN)[home], kind="stable")
    _, place, size = np.unique(people, axis=0, return_inverse=True, return_counts=True)
    truth = float((size[place.ravel()] == 1).mean())
    row = answer(drawn(people, whole), [TOWN])[0]
    assert doubts.STATUS_GROUP_SAMPLE in row.status
    assert row.uniqueness_low == 0
    assert row.uniqueness_high >= truth
    one_by_one = answer(drawn(people, rng.permutation(TOWN)), [TOWN])[0]
    assert doubts.STATUS_GROUP_SAMPLE not in one_by_one.status
    assert one_by_one.uniqueness_low <= truth <= one_by_one.uniqueness_high
