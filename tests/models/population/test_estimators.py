"""Every estimator of population uniqueness under the same trials.

Whatever joins the table of methods is put through them.
"""

from itertools import pairwise

import numpy as np
import pytest

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.copula.gaussian_copula import PairCounts
from reid_sql.models.population.evidence import UniquenessEvidence
from reid_sql.models.population.population_uniqueness import COUNTED, EVERY, Method, estimates

SAMPLES = {
    "all unique": {1: 40},
    "all alike": {40: 1},
    "pairs alone": {2: 20},
    "many sizes": {1: 60, 2: 25, 3: 12, 5: 6, 9: 3, 20: 1},
    "hardly unique": {1: 2, 30: 8},
}
GROWTH = [1.0, 1.01, 2.0, 5.0, 9.9, 10.0, 30.0, 1e3, 1e6]


def evidence(classes: dict[int, int]) -> UniquenessEvidence:
    """Classes whose expected counts vary, and two columns whose pairs make them up, for a copula."""
    sizes = np.repeat(list(classes), list(classes.values()))
    expected = np.log(sizes * np.random.default_rng(0).uniform(0.4, 1.6, len(sizes)))
    pairs = of_pairs(sizes)
    none, lines = np.zeros(len(sizes), dtype=np.int64), len(pairs.records)
    return UniquenessEvidence(
        np.r_[sizes, np.zeros(lines, dtype=np.int64)],
        np.r_[expected, np.full(lines, np.nan)],
        np.r_[np.ones(len(sizes), dtype=np.int64), np.zeros(lines, dtype=np.int64)],
        np.r_[none, pairs.first],
        np.r_[none, pairs.second],
        [*[None] * len(sizes), *pairs.label],
        [*[None] * len(sizes), *pairs.first_value],
        [*[None] * len(sizes), *pairs.second_value],
        np.r_[none, pairs.records],
        [*[0.0] * len(sizes), *pairs.mass],
    )


def of_pairs(sizes: np.ndarray[tuple[int], np.dtype[np.int64]]) -> PairCounts:
    """Counts of two columns, ten values wide, of which each pair of values is a class."""
    one, other = np.divmod(np.arange(len(sizes)), 10)
    rows: list[tuple[int, int, str | None, str | None, str | None, int]] = []
    for number, (name, values) in enumerate((("a", one), ("b", other)), 1):
        counts = np.bincount(values, sizes)
        rows += [(number, 0, name, str(v), None, int(n)) for v, n in enumerate(counts.tolist()) if n]
    rows += [(1, 2, None, str(a), str(b), int(n)) for a, b, n in zip(one, other, sizes, strict=True)]
    rows.append((0, -2, None, None, None, int((sizes == 1).sum())))
    first, second, label, first_value, second_value, records = zip(*rows, strict=True)
    counted = np.array(records)
    return PairCounts(
        np.arange(len(rows)),
        np.array(first),
        np.array(second),
        label,
        first_value,
        second_value,
        counted,
        [float(n) for n in records],
    )


@pytest.fixture(params=list(EVERY))
def method(request: pytest.FixtureRequest) -> Method:
    name: Method = request.param
    return name


def test_nothing_is_refused(method: Method) -> None:
    nobody = np.zeros(0, dtype=np.int64)
    with pytest.raises(NoRecordsError, match="the table must hold at least one record"):
        EVERY[method](UniquenessEvidence(nobody, nobody.astype(np.float64), nobody), 100.0)


def test_a_population_below_the_sample_is_refused(method: Method) -> None:
    with pytest.raises(
        OutOfDomainError, match="population must be at least the 40 records of the sample, got 39"
    ):
        EVERY[method](evidence(SAMPLES["all unique"]), 39.0)


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_population_that_is_the_sample_is_counted(method: Method, sample: str) -> None:
    classes = SAMPLES[sample]
    people = sum(size * count for size, count in classes.items())
    row = estimates(evidence(classes), people, method)[0]
    assert (row.uniqueness, row.uniqueness_low, row.uniqueness_high) == (classes.get(1, 0) / people,) * 3
    assert row.status == COUNTED


@pytest.mark.parametrize("sample", SAMPLES)
def test_there_is_a_share_within_its_interval_or_a_reason(method: Method, sample: str) -> None:
    told = evidence(SAMPLES[sample])
    for growth in GROWTH[1:]:
        found = EVERY[method](told, 40 * 20 * growth)
        assert found.status
        if found.uniqueness is None:
            assert found.status != "ok"
            continue
        assert 0 <= found.uniqueness <= 1
        for end, sign in ((found.low, 1), (found.high, -1)):
            assert end is None or sign * (found.uniqueness - end) >= -1e-12
            assert end is None or 0 <= end <= 1
        assert (found.low is not None and found.high is not None) or found.status != "ok"


# Where a method begins to fall: `dankar` takes another estimator up to a tenth, and `pyc` keeps the sample's
# own classes, so that the first to come may be unique where hardly anybody of the sample is.
FALLS_FROM = {"dankar": 10.0, "pyc": 2.0}


@pytest.mark.parametrize("sample", SAMPLES)
def test_more_people_never_make_a_larger_share_unique(method: Method, sample: str) -> None:
    told = evidence(SAMPLES[sample])
    records = int(told.histogram.records.sum())
    populations = [
        float(round(records * growth)) for growth in GROWTH if growth >= FALLS_FROM.get(method, 1.0)
    ]
    found = [EVERY[method](told, people).uniqueness for people in populations]
    shares = [share for share in found if share is not None]
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(shares))


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_order_of_the_evidence_does_not_matter(method: Method, sample: str) -> None:
    classes = SAMPLES[sample]
    turned = dict(reversed(classes.items()))
    one, other = (
        EVERY[method](UniquenessEvidence(h.class_size, np.log(h.class_size * 0.7), h.classes), 1e5)
        for h in (plain(classes), plain(turned))
    )
    assert one.uniqueness == (
        other.uniqueness if other.uniqueness is None else pytest.approx(other.uniqueness)
    )
    assert one.status == other.status


def plain(classes: dict[int, int]) -> Histogram:
    size, count = np.array(list(classes)), np.array(list(classes.values()))
    return Histogram(size, count, size * count)
