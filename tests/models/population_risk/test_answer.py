from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from reid_sql.charts.risk_charts import forecast_chart
from reid_sql.charts.spec import Strokes
from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.numerics.quantiles import clopper_pearson_upper
from reid_sql.models.people.diagnostics import summarize_model
from reid_sql.models.people.evidence import PeopleEvidence, count_records
from reid_sql.models.people.fit import fit
from reid_sql.models.people.overdispersion import STATUS_OVERDISPERSED
from reid_sql.models.population_risk import doubts, shares
from reid_sql.models.population_risk.answer import (
    PopulationRisk,
    answer,
    estimate_sentence,
    fit_sample,
)
from reid_sql.models.population_risk.doubts import find_doubts
from reid_sql.models.population_risk.intervals import (
    Comparison,
    SampleShare,
    Share,
    SharesByShape,
    add_population_variance,
    measure_spread,
    padded_interval,
)
from reid_sql.models.population_risk.shares import count_kinds, predict_shares, prove_bounds
from tests.cells import each_cell
from tests.people_tables import of_values, three_columns

ENDS = ("uniqueness", "correctness", "below_k")


def check(row: PopulationRisk) -> None:
    for name in ENDS:
        low, middle, high = (getattr(row, name + end) for end in ("_low", "", "_high"))
        assert 0 <= low <= (low if middle is None else middle) <= high <= 1, name
        provable = [getattr(row, f"{name}_provable_{end}") for end in ("low", "high")]
        assert 0 <= provable[0] <= low <= high, name
        assert provable[0] <= provable[1] <= 1, name
    for end in (
        ("_low", "", "_high") if row.uniqueness is not None else ("_low", "_high")
    ):  # who is unique is matched correctly, and in a class smaller than k
        least = min(getattr(row, f"correctness{end}"), getattr(row, f"below_k{end}"))
        assert getattr(row, f"uniqueness{end}") <= least + 1e-9, end
    assert row.status
    assert row.sentence.endswith(".")


def test_at_the_samples_size_it_is_the_count() -> None:
    evidence = of_values([["a", "a", "b", "c", None, None, None]], [False])
    row = answer(evidence, [7], k=3)[0]
    assert (row.uniqueness, row.uniqueness_low, row.uniqueness_high) == (2 / 7, 2 / 7, 2 / 7)
    assert (row.correctness, row.below_k) == (4 / 7, 4 / 7)
    assert (row.method, row.status) == ("counted", shares.STATUS_COUNTED)
    for name in ENDS:
        assert getattr(row, f"{name}_provable_low") == getattr(row, name)
        assert getattr(row, f"{name}_provable_high") == getattr(row, name)


@pytest.mark.parametrize("records", [150, 500])
def test_shares_and_their_ends_fall_as_the_population_grows(records: int) -> None:
    sizes = [records * 2**power for power in range(24)]
    rows = answer(three_columns(records), sizes[::-1])[::-1]
    for row in rows:
        check(row)
    for name in ENDS:
        for end in ("", "_low", "_high", "_provable_low", "_provable_high"):
            found = [getattr(row, name + end) for row in rows[1:]]
            assert found == sorted(found, reverse=True), name + end


@pytest.mark.parametrize("seed", range(5))
def test_shares_of_any_table_do_not_contradict_each_other(seed: int) -> None:
    """Columns of few values, of skewed ones, of ages and of nearly distinct numbers, at several sizes."""
    rng = np.random.default_rng(seed)
    records = int(rng.choice([20, 60, 150, 400]))
    kinds = (
        rng.integers(0, 2, records),
        rng.zipf(1.7, records) % 1000,
        np.round(rng.normal(40, 15, records)),
        rng.geometric(0.3, records),
        rng.integers(0, 50 * records, records),
    )
    columns = [kinds[place] for place in rng.choice(5, int(rng.integers(1, 5)), replace=False)]
    texts = [[str(value) for value in column] for column in columns]
    for row in answer(
        of_values(texts, [True] * len(texts)), [records + 1, 10 * records, 1e6, 67e6]
    ):
        check(row)


def test_the_upper_end_is_at_most_what_is_provable() -> None:
    evidence = three_columns(500)
    members, row = count_kinds(evidence.histogram, 5), answer(evidence, [5000])[0]
    for name in ENDS:
        # the share of which so few or fewer are held in 2.5 % of samples
        grid = np.linspace(0, 1, 200_001)
        cap = (
            grid[np.argmax(binom.cdf(members[name], 500, grid) <= 0.025)]
            if members[name] < 500
            else 1.0
        )
        assert getattr(row, name + "_high") <= cap + 1e-4
        assert clopper_pearson_upper(members[name], 500) == pytest.approx(cap, abs=1e-5)


def test_no_estimate_is_below_what_is_provable() -> None:
    """Classes of one size each, unlike any table of people: the model repeats people more than they can."""
    numbers = [(18 + i * i % 70, i % 2, i * 7 % 23) for i in range(2000)]
    columns = [[str(value) for value in column] for column in zip(*numbers, strict=True)]
    for row in answer(of_values(columns, [True, False, True]), [1e4, 1e6, 67e6]):
        check(row)


def test_the_same_seed_gives_the_same_answer() -> None:
    one, two = (answer(three_columns(300), [1e4], seed=5) for _ in range(2))
    assert one == two
    assert one != answer(three_columns(300), [1e4], seed=6)


def test_fewer_than_a_hundred_records() -> None:
    row = answer(three_columns(60), [6000])[0]
    check(row)
    assert doubts.STATUS_FEW_RECORDS in row.status
    assert row.uniqueness_low == 0
    assert row.uniqueness_high == row.uniqueness_provable_high
    assert row.sentence.startswith("This sample cannot tell: between 0 and ")
    assert "95" not in row.sentence


def test_a_column_that_never_repeats_may_be_an_identifier_or_not() -> None:
    evidence = of_values([[str(n) for n in range(200)], ["x", "y"] * 100], [False, False])
    row = answer(evidence, [1e5])[0]
    check(row)
    assert doubts.STATUS_NEAR_IDENTIFIER in row.status
    assert (row.uniqueness_low, row.uniqueness_high) == (0, 1)
    assert row.sentence.startswith(
        "This sample cannot tell: between 0 and 100 % of 100,000 people are"
    )
    assert "95" not in row.sentence


def test_no_record_repeats_but_every_column_does() -> None:
    """The model then predicts from the columns alone: an assumption that does not lower the upper end.

    Of 200 records 2.5 pairs should agree, too few to call the columns a key.
    """
    codes = np.stack(
        np.unravel_index(np.random.default_rng(3).permutation(8000)[:200], (20, 20, 20)), axis=1
    )
    names = [str(n) for n in range(20)]
    row = answer(count_records(codes, list("abc"), [names] * 3, [False] * 3), [3e4])[0]
    check(row)
    assert doubts.ASSUMPTION_MODEL in row.assumptions
    assert row.uniqueness_high == row.uniqueness_provable_high == 1
    assert row.uniqueness is not None and row.uniqueness < 0.8  # noqa: PT018
    assert row.status == doubts.STATUS_NO_REPEATS


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("values", [["a"] * 300, ["7"] * 300, [None] * 300])
def test_all_alike(values: list[str | None], ordered: bool) -> None:  # noqa: FBT001
    row = answer(of_values([values], [ordered]), [1e6])[0]
    check(row)
    assert doubts.STATUS_ALL_EQUAL in row.status
    assert row.uniqueness is not None and row.uniqueness < 0.01  # noqa: PT018


@pytest.mark.parametrize("value", ["a", "3", None])
def test_one_record(value: str | None) -> None:
    for ordered in (False, True):
        row = answer(of_values([[value]], [ordered]), [100])[0]
        check(row)
        assert doubts.STATUS_FEW_RECORDS in row.status
    assert answer(of_values([[value]], [False]), [1])[0].uniqueness == 1


def test_a_population_not_much_larger() -> None:
    row = answer(three_columns(500), [700])[0]
    assert doubts.STATUS_NOT_LARGER in row.status


def test_a_column_that_follows_from_another_is_named() -> None:
    towns = [str(n % 20) for n in range(400)]
    row = answer(of_values([towns, [str(int(t) // 4) for t in towns]], [False, False]), [4000])[0]
    assert "determined: c0 determines c1, so c1 adds nothing" in row.status


def test_the_interval_reaches_main_effects_where_a_table_is_unlike_tables_of_people() -> None:
    fitted = fit_sample(three_columns(400), 1e3)
    assert fitted.model is not None
    usual, far_above, scattered = (
        predict_shares(fitted.model, 1e3, comparison=comparison)
        for comparison in (
            Comparison(),
            Comparison(dict.fromkeys(ENDS, 1e-3), above_main_effects=0.1),
            Comparison(overdispersion=1.0),
        )
    )
    for name in ENDS:
        one, above, other = (getattr(each, name) for each in (usual, far_above, scattered))
        assert above.low <= 1e-3 < above.estimate == one.estimate
        assert above.high > one.high
        assert other.low < one.low
        assert other.high >= one.high
        assert other.estimate == one.estimate


def test_main_effects_leave_the_record_out() -> None:
    """A value seen once has the share of an unseen one, so a column of postcodes is no alarm."""
    rng = np.random.default_rng(4)
    codes = np.stack(
        [rng.integers(0, 900, 600), rng.integers(0, 80, 600), rng.integers(0, 2, 600)], axis=1
    )
    codes = np.stack([np.unique(own, return_inverse=True)[1] for own in codes.T], axis=1)
    values = [[f"v{n}" for n in range(int(own.max()) + 1)] for own in codes.T]
    row = answer(count_records(codes, ["zip", "age", "sex"], values, [False] * 3), [6e4])[0]
    check(row)
    assert doubts.STATUS_UNLIKE_PEOPLE not in row.status


def test_sixty_four_columns() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (150, 64))
    values = [["a", "b", None]] * 64
    evidence = count_records(codes, [f"c{j}" for j in range(64)], values, [False] * 64)
    check(answer(evidence, [1e6])[0])


def test_refusals() -> None:
    evidence = three_columns(200)
    with pytest.raises(
        OutOfDomainError, match="at least the 200 records of the sample, got 100; pass"
    ):
        answer(evidence, [1e6, 100])
    with pytest.raises(NoRecordsError):
        count_records(np.empty((0, 1), dtype=np.int64), ["a"], [[]], [False])


def test_the_sentence_can_be_quoted() -> None:
    message = estimate_sentence(("age", "sex", "zip"), 67e6, Share(0.008, 0.004, 0.015))
    assert message.startswith(
        "Of 67 million people, about 0.8 % (0.4 to 1.5 %) are unique by age, sex and zip, if the table is a "
        "random sample of them with one row per person. For 95 of 100"
    )


def fingerprints(models: int, records: int) -> PeopleEvidence:
    """Devices of some models, each of which decides ten traits but for one in five hundred."""
    rng = np.random.default_rng(5)
    model = (models * rng.random(records) ** 3).astype(np.int64)
    traits = np.minimum(rng.zipf(1.5, (models, 10)), 20)[model]
    slip = rng.random((records, 10)) < 0.002
    rows = np.where(slip, rng.integers(1, 21, (records, 10)), traits)
    codes = np.stack([np.unique(own, return_inverse=True)[1] for own in rows.T], axis=1)
    values = [[str(v) for v in range(int(own.max()) + 1)] for own in codes.T]
    return count_records(codes, [f"c{j}" for j in range(10)], values, [False] * 10)


def test_cells_that_scatter_far_are_named() -> None:
    row = answer(fingerprints(400, 2000), [1e6])[0]
    check(row)
    assert STATUS_OVERDISPERSED in row.status
    assert doubts.STATUS_REPEATED_PEOPLE in row.status
    # no estimate where both come together
    assert row.sentence.startswith("This sample cannot tell: ")
    assert (row.uniqueness, row.correctness, row.below_k) == (None, None, None)
    assert "95" not in row.sentence
    ordinary = answer(three_columns(2000), [1e6])[0]
    assert STATUS_OVERDISPERSED not in ordinary.status


def test_overdispersion_is_a_doubt_of_every_share_of_the_model() -> None:
    evidence = fingerprints(400, 2000)
    fitted = fit(evidence)
    model = replace(fitted, doubts=find_doubts(fitted, evidence))  # as fit_people keeps it
    assert STATUS_OVERDISPERSED in summarize_model("m", model).status
    row = shares.forecast(model, [1e6])[0]
    assert STATUS_OVERDISPERSED in row.status
    assert shares.STATUS_OF_MODEL not in row.status  # which claims the coverage of reference tables


def test_a_chart_shows_the_interval_where_there_is_no_estimate() -> None:
    row = {"population": 1e6, "uniqueness": None, "uniqueness_low": 0.1, "uniqueness_high": 0.6}
    (interval,) = forecast_chart("uniqueness", [row]).marks
    assert isinstance(interval, Strokes)
    assert interval.ends[0][1][1] == 0.6


def test_the_chance_of_the_population_itself_widens_the_interval() -> None:
    """A population of 2,000 of whom 10 are unique comes out at 4 to 18 of them in 95 %."""
    assert add_population_variance(0.0, 0.005, 0.1) == pytest.approx(0.1 * 0.005 * 0.995)
    spread, endless = (
        measure_spread(
            SharesByShape(np.array([0.005]), 0.0), np.array([1.0]), SampleShare(1, 200, people)
        )
        for people in (2000, 1e15)
    )
    deviation = np.sqrt(spread.deviation**2 - endless.deviation**2)
    ends = (spread.centre - 1.96 * deviation, spread.centre + 1.96 * deviation)
    found = padded_interval(spread.estimate, ends, spread.margin, 1.0)
    low, high = binom.ppf([0.025, 0.975], 2000, 0.005) / 2000
    assert found.low == pytest.approx(low, abs=0.0015)
    assert found.high == pytest.approx(high, abs=0.0015)


def test_a_sample_that_would_hide_that_everybody_is_there_twice_says_so() -> None:
    """Of 100,000 people, each twice, a sample of 300 shows no pair in most draws; one of 3,000 shows some."""
    rng = np.random.default_rng(0)
    place = np.arange(100_000) // 2
    hidden = np.mean(
        [len(np.unique(rng.choice(place, 300, replace=False))) == 300 for _ in range(300)]
    )
    assert hidden > 0.05
    small, large = (answer(three_columns(n), [1e5])[0] for n in (300, 3000))
    assert doubts.ASSUMPTION_NOBODY_TWICE in small.assumptions
    assert doubts.ASSUMPTION_NOBODY_TWICE not in large.assumptions


def fewest_below(sizes: tuple[int, ...], unseen: int, size: int) -> int:
    """People in classes below `size`, the fewest over all ways in which unseen people join classes."""
    if not unseen:
        return sum(one for one in sizes if one < size)
    grown = {tuple(sorted((*sizes[:j], sizes[j] + 1, *sizes[j + 1 :]))) for j in range(len(sizes))}
    grown.add(tuple(sorted((*sizes, 1))))
    return min(fewest_below(one, unseen - 1, size) for one in grown)


@each_cell("sizes", [(1, 1, 1), (1, 2, 2, 4), (3, 3), (1, 1, 2, 3)])
@each_cell("unseen", [1, 2, 4])
def test_provable_lower_ends_are_below_every_population(
    sizes: tuple[int, ...], unseen: int
) -> None:
    found, classes = np.unique(sizes, return_counts=True)
    people = sum(sizes) + unseen
    bounds = prove_bounds(Histogram(found, classes, found * classes), people, 3, random_sample=True)
    assert bounds.low["uniqueness"] * people <= fewest_below(sizes, unseen, 2) + 1e-9
    assert bounds.low["below_k"] * people <= fewest_below(sizes, unseen, 3) + 1e-9
    assert bounds.low["correctness"] * people == pytest.approx(len(sizes))
    least = fewest_below(sizes, unseen, 2)
    assert bounds.low["uniqueness"] * people == pytest.approx(least)  # one person lifts one class


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_registers_of_few_wide_columns_are_not_understated(seed: int) -> None:
    """Area, day of birth and sex hardly repeat together in a sample, but nothing else ties them."""
    rng, people = np.random.default_rng(seed), 60_000
    area = rng.integers(0, 40, people)
    born = (rng.beta(1.5, 1.8, people) * 80 * 365).astype(np.int64)
    codes = np.stack([area, born, rng.integers(0, 2, people)], axis=1)
    unique = float((np.unique(codes, axis=0, return_counts=True)[1] == 1).sum()) / people
    row = answer(of_values(codes[:400].astype(str).T.tolist(), [False, True, False]), [people])[0]
    assert row.uniqueness_low <= unique <= row.uniqueness_high
    assert row.uniqueness is not None and row.uniqueness > unique - 0.05  # noqa: PT018
