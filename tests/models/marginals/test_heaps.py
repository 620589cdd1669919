"""A heap has its own share, and the values around it theirs; a table with heaps is not understated."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from reid_sql.models.evidence import rows_from_columns
from reid_sql.models.marginals.fit_column import fit_ordered
from reid_sql.models.people.evidence import evidence_from_rows
from reid_sql.models.people.fit import fit, from_json, to_json
from reid_sql.models.population_risk.answer import answer
from reid_sql.parameters import Integers

PEOPLE, SAMPLE = 20_000, 500
Draw = Callable[[np.random.Generator], Integers]


def amounts(rng: np.random.Generator) -> Integers:
    return np.round(np.exp(rng.normal(10, 1, PEOPLE))).astype(np.int64)


def with_zeros(rng: np.random.Generator) -> Integers:
    return np.where(rng.random(PEOPLE) < 0.3, 0, amounts(rng))


def top_coded(rng: np.random.Generator) -> Integers:
    return np.minimum(amounts(rng), 60_000)


def rounded_by_some(rng: np.random.Generator) -> Integers:
    own = amounts(rng)
    return np.where(rng.random(PEOPLE) < 0.4, np.round(own, -4), own)


def birthdays_with_unknown_days(rng: np.random.Generator) -> Integers:
    year, day = rng.integers(1980, 2005, PEOPLE), rng.integers(0, 365, PEOPLE)
    return year * 365 + np.where(rng.random(PEOPLE) < 0.3, 0, day)


HEAPED = (with_zeros, top_coded, rounded_by_some, birthdays_with_unknown_days)


@pytest.mark.parametrize("draw", HEAPED, ids=lambda draw: draw.__name__)
def test_uniqueness_of_a_heaped_column_is_within_its_interval(draw: Draw) -> None:
    rng = np.random.default_rng(7)
    people = list(zip(draw(rng).tolist(), rng.integers(0, 6, PEOPLE).tolist(), strict=True))
    truth = sum(n == 1 for n in Counter(people).values()) / PEOPLE
    amount, region = (
        [str(value) for value in column] for column in zip(*people[:SAMPLE], strict=True)
    )
    row = answer(
        evidence_from_rows(rows_from_columns({"amount": amount, "region": region})), [PEOPLE]
    )[0]
    assert row.uniqueness_low <= truth <= row.uniqueness_high


@pytest.mark.parametrize("heap", [0, 500, 998])
def test_a_heap_has_the_share_of_its_records(heap: int) -> None:
    values = [str(value) for value in sorted({*range(0, 1000, 3), 1, heap})]
    counts = np.array([100.0 if value == str(heap) else 1.0 for value in values])
    column = fit_ordered("amount", values, counts, 256)
    place = values.index(str(heap))
    assert column.mass[place] == pytest.approx(100 / counts.sum(), rel=0.01)
    assert column.mass[: len(values)].max() == column.mass[place]
    assert column.mass.sum() == pytest.approx(1)
    unseen = {str(round(at)) for at in column.unseen_places.tolist()}
    assert unseen.isdisjoint(values)
    assert unseen | set(values) >= {str(at) for at in range(999)}


def test_a_smooth_column_has_no_heap() -> None:
    counts = np.random.default_rng(3).poisson(30, 80).astype(float)
    column = fit_ordered("age", [str(age) for age in range(80)], counts, 256)
    assert np.unique(column.bins[:80]).size == 80
    assert (np.diff(column.bins[:80]) == 1).all()  # all stay in order on one scale


@pytest.mark.parametrize("values", [40, 200, 1200])
@pytest.mark.parametrize("heap", [0, 3])
def test_no_bin_is_without_a_category(heap: int, values: int) -> None:
    """A heap next to the least value has a bin of its own; its cell of the scale has none."""
    counts = np.where(np.arange(values) == heap, 40 * values, 6).astype(float)
    column = fit_ordered("income", [str(value) for value in range(values)], counts, 256)
    assert (column.bins == column.bins[heap]).sum() == 1
    assert sorted(set(column.bins.tolist())) == list(range(len(column.bin_mass)))
    assert (column.bin_mass > 0).all()


def test_a_model_of_a_column_with_a_heap_is_read_back() -> None:
    """The text of such a model was refused: it had a bin without a category."""
    rng = np.random.default_rng(7)
    incomes = np.where(rng.random(900) < 0.3, 0, np.round(rng.gamma(2, 20, 900))).astype(int)
    people = {
        "sex": ["FM"[sex] for sex in rng.integers(0, 2, 900)],
        "income": [str(income) for income in incomes],
    }
    evidence = evidence_from_rows(rows_from_columns(people))
    model = fit(evidence)
    read = from_json(to_json(model))
    expected = model.scored(evidence.drawn).probability
    assert read.scored(evidence.drawn).probability == pytest.approx(expected, rel=1e-5)
