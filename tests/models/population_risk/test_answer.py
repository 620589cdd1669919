import numpy as np
import pytest
from scipy.stats import binom

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.numerics.quantiles import clopper_pearson_upper
from reid_sql.models.people.evidence import count_records
from reid_sql.models.population_risk import answer as risk
from reid_sql.models.population_risk.answer import PopulationRisk, answer
from reid_sql.models.population_risk.shares import (
    IntervalWidth,
    Share,
    Shares,
    add_population_variance,
    count_kinds,
    interval,
    measure_spread,
)
from tests.people_tables import of_values, three_columns

ENDS = ("uniqueness", "correctness", "below_k")


def check(row: PopulationRisk) -> None:
    for name in ENDS:
        low, middle, high = (getattr(row, name + end) for end in ("_low", "", "_high"))
        assert 0 <= low <= middle <= high <= 1, name
    assert row.uniqueness <= row.correctness + 1e-9
    assert row.status
    assert row.sentence.endswith(".")


def test_at_the_samples_size_it_is_the_count() -> None:
    evidence = of_values([["a", "a", "b", "c", None, None, None]], [False])
    row = answer(evidence, [7], k=3)[0]
    assert (row.uniqueness, row.uniqueness_low, row.uniqueness_high) == (2 / 7, 2 / 7, 2 / 7)
    assert (row.correctness, row.below_k) == (4 / 7, 4 / 7)
    assert (row.method, row.status) == ("counted", risk.STATUS_COUNTED)


def test_shares_fall_as_the_population_grows() -> None:
    rows = answer(three_columns(500), [500, 1000, 1e4, 1e6, 1e9])
    for row in rows:
        check(row)
    for name in ENDS:
        found = [getattr(row, name) for row in rows]
        assert found == sorted(found, reverse=True)


def test_the_upper_end_is_at_most_what_is_provable() -> None:
    evidence = three_columns(500)
    held, row = count_kinds(evidence.histogram, 5), answer(evidence, [5000])[0]
    for name in ENDS:
        # the share of which so few or fewer are held in 2.5 % of samples
        grid = np.linspace(0, 1, 200_001)
        cap = grid[np.argmax(binom.cdf(held[name], 500, grid) <= 0.025)] if held[name] < 500 else 1.0
        assert getattr(row, name + "_high") <= cap + 1e-4
        assert clopper_pearson_upper(held[name], 500) == pytest.approx(cap, abs=1e-5)


def test_the_same_seed_gives_the_same_answer() -> None:
    one, two = (answer(three_columns(300), [1e4], seed=5) for _ in range(2))
    assert one == two
    assert one != answer(three_columns(300), [1e4], seed=6)


def test_fewer_than_a_hundred_records() -> None:
    row = answer(three_columns(60), [6000])[0]
    check(row)
    assert risk.STATUS_FEW_RECORDS in row.status
    assert row.uniqueness_low == 0


def test_nothing_repeats() -> None:
    evidence = of_values([[str(n) for n in range(200)], ["x", "y"] * 100], [False, False])
    row = answer(evidence, [1e5])[0]
    check(row)
    assert risk.STATUS_NO_REPEATS in row.status
    assert row.uniqueness_high == 1


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("values", [["a"] * 300, ["7"] * 300, [None] * 300])
def test_all_alike(values: list[str | None], ordered: bool) -> None:  # noqa: FBT001
    row = answer(of_values([values], [ordered]), [1e6])[0]
    check(row)
    assert risk.STATUS_ALL_EQUAL in row.status
    assert row.uniqueness < 0.01


@pytest.mark.parametrize("value", ["a", "3", None])
def test_one_record(value: str | None) -> None:
    for ordered in (False, True):
        row = answer(of_values([[value]], [ordered]), [100])[0]
        check(row)
        assert risk.STATUS_FEW_RECORDS in row.status
    assert answer(of_values([[value]], [False]), [1])[0].uniqueness == 1


def test_a_population_not_much_larger() -> None:
    row = answer(three_columns(500), [700])[0]
    assert risk.STATUS_NOT_LARGER in row.status


def test_a_column_that_follows_from_another_is_named() -> None:
    towns = [str(n % 20) for n in range(400)]
    row = answer(of_values([towns, [str(int(t) // 4) for t in towns]], [False, False]), [4000])[0]
    assert "c0 determines c1: c1 adds nothing" in row.status


def test_foreign_data_have_no_lower_end() -> None:
    """Every person twice: a sample of 10 % hardly shows it, and nothing says that anybody is unique."""
    rng = np.random.default_rng(2)
    row = answer(of_values([[str(v) for v in rng.integers(0, 10**6, 400)]], [False]), [1e4])[0]
    check(row)
    evidence = three_columns(400)
    fitted = risk.FittedSample(evidence, None, (), is_certain=True)
    found = risk._row(evidence, 1e6, 5, _claimed(), fitted)  # noqa: SLF001
    assert risk.STATUS_UNLIKE_PEOPLE in found.status
    assert (found.uniqueness_low, found.correctness_low, found.below_k_low) == (0, 0, 0)
    assert "unlike" in found.sentence


def _claimed() -> Shares:
    high = Share(0.5, 0.4, 0.6)
    return Shares(high, high, high)


def test_sixty_four_columns() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (150, 64))
    values = [["a", "b", None]] * 64
    evidence = count_records(codes, [f"c{j}" for j in range(64)], values, [False] * 64)
    check(answer(evidence, [1e6])[0])


def test_refusals() -> None:
    evidence = three_columns(200)
    with pytest.raises(OutOfDomainError, match="at least the 200 records of the sample, got 100; pass"):
        answer(evidence, [1e6, 100])
    with pytest.raises(NoRecordsError):
        count_records(np.empty((0, 1), dtype=np.int64), ["a"], [[]], [False])


def test_the_sentence_can_be_quoted() -> None:
    said = risk.sentence(("age", "sex", "zip"), 67e6, Share(0.008, 0.004, 0.015))
    assert said.startswith(
        "Of 67 million people, about 0.8 % (0.4 to 1.5 %) are unique by age, sex and zip, if the table is a "
        "random sample of them. For 95 of 100"
    )


def fingerprints(models: int, records: int) -> PopulationRisk:
    """Devices of some models, each of which decides ten traits but for one in five hundred."""
    rng = np.random.default_rng(5)
    model = (models * rng.random(records) ** 3).astype(np.int64)
    traits = np.minimum(rng.zipf(1.5, (models, 10)), 20)[model]
    slip = rng.random((records, 10)) < 0.002
    rows = np.where(slip, rng.integers(1, 21, (records, 10)), traits)
    codes = np.stack([np.unique(own, return_inverse=True)[1] for own in rows.T], axis=1)
    values = [[str(v) for v in range(int(own.max()) + 1)] for own in codes.T]
    return answer(count_records(codes, [f"c{j}" for j in range(10)], values, [False] * 10), [1e6])[0]


def test_cells_that_scatter_far_leave_no_lower_end() -> None:
    row = fingerprints(400, 2000)
    check(row)
    assert risk.STATUS_OVERDISPERSED in row.status
    assert (row.uniqueness_low, row.correctness_low, row.below_k_low) == (0, 0, 0)
    assert "unlike" in row.sentence
    ordinary = answer(three_columns(2000), [1e6])[0]
    assert risk.STATUS_OVERDISPERSED not in ordinary.status


def test_the_chance_of_the_population_itself_widens_the_interval() -> None:
    """A population of 2,000 of whom 10 are unique comes out at 4 to 18 of them in 95 %."""
    wide = add_population_variance(0.0, 0.005, 0.1, 1.0)
    spread = measure_spread(
        np.array([0.005]), np.array([1.0]), wide, (0.005, 200), IntervalWidth(0.0, 0.0, 1.96)
    )
    found = interval(spread, 1.96, 1.0)
    low, high = binom.ppf([0.025, 0.975], 2000, 0.005) / 2000
    assert found.low == pytest.approx(low, abs=0.0015)
    assert found.high == pytest.approx(high, abs=0.0015)


def test_a_sample_that_would_hide_that_everybody_stands_twice_has_no_lower_end() -> None:
    """Of 100,000 people, each twice, a sample of 300 shows no pair in most draws; one of 3,000 shows some."""
    rng = np.random.default_rng(0)
    place = np.arange(100_000) // 2
    hidden = np.mean([len(np.unique(rng.choice(place, 300, replace=False))) == 300 for _ in range(300)])
    assert hidden > 0.05
    small, large = (answer(three_columns(n), [1e5])[0] for n in (300, 3000))
    assert risk.STATUS_SMALL_SAMPLE in small.status
    assert (small.uniqueness_low, small.correctness_low, small.below_k_low) == (0, 0, 0)
    assert risk.STATUS_SMALL_SAMPLE not in large.status
    assert large.correctness_low > 0
