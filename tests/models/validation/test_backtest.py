from collections import Counter

import numpy as np
import pytest

from reid_sql.errors import OutOfDomainError
from reid_sql.models.population.population_uniqueness import METHODS
from reid_sql.models.validation.backtest import CANNOT_TELL, backtest
from reid_sql.models.validation.subsample import evidence_of

RNG = np.random.default_rng(11)
TOWN = np.stack([RNG.geometric(0.1, 800), RNG.integers(0, 6, 800), RNG.geometric(0.3, 800)], axis=1)


def test_evidence_is_what_a_loop_counts() -> None:
    evidence = evidence_of(TOWN)
    classes = Counter(map(tuple, TOWN.tolist()))
    sizes = Counter(classes.values())
    assert dict(zip(evidence.histogram.class_size, evidence.histogram.classes, strict=True)) == sizes
    alone = [Counter(column) for column in TOWN.T.tolist()]
    expected = Counter(
        (size, round(float(np.log(800 * np.prod([alone[j][v] / 800 for j, v in enumerate(key)]))), 3))
        for key, size in classes.items()
    )
    lines = evidence.class_size > 0
    counted = zip(
        evidence.class_size[lines], evidence.log_expected[lines], evidence.classes[lines], strict=True
    )
    assert {(int(a), round(float(b), 3)): int(c) for a, b, c in counted} == expected
    pairs = evidence.pairs
    assert pairs is not None
    assert int(np.asarray(pairs.records)[np.asarray(pairs.second) == -2][0]) == sizes[1]
    two = Counter(zip(TOWN[:, 0].tolist(), TOWN[:, 2].tolist(), strict=True))
    told = {
        (int(str(a)), int(str(b))): int(n)
        for a, b, n, i, j in zip(
            pairs.first_value, pairs.second_value, pairs.records, pairs.first, pairs.second, strict=True
        )
        if (i, j) == (1, 3)
    }
    assert told == two


def test_a_row_for_each_method_and_fraction_with_the_truth_counted() -> None:
    rows = backtest(TOWN, [0.5, 0.2], samples=3)
    assert [(row.method, row.fraction) for row in rows] == [(m, f) for f in (0.5, 0.2) for m in METHODS]
    classes = Counter(map(tuple, TOWN.tolist()))
    truth = sum(size == 1 for size in classes.values()) / 800
    for row in rows:
        assert row.uniqueness == pytest.approx(truth)
        assert row.status == CANNOT_TELL
        if row.error is not None and row.bias is not None and row.worst is not None:
            assert abs(row.bias) <= row.error <= row.worst
        assert (row.auc is not None) == (row.method == "copula")
        assert row.samples == 3


def test_the_bound_errs_upwards_by_what_samples_overstate() -> None:
    rows = {row.method: row for row in backtest(TOWN, [0.2], samples=5)}
    bound, copula = rows["bound"], rows["copula"]
    assert bound.bias is not None
    assert copula.error is not None
    assert bound.bias > 0
    assert copula.error < abs(bound.bias)
    assert copula.auc is not None
    assert copula.auc > 0.8  # independent columns: the copula knows the chance of every cell


def test_the_same_seed_gives_the_same_rows() -> None:
    assert backtest(TOWN, [0.2], 1, 4) == backtest(TOWN, [0.2], 1, 4)


def test_samples_too_small_are_refused() -> None:
    with pytest.raises(
        OutOfDomainError, match=r"fractions must leave samples of at least 50 records, got 0\.05 of 800"
    ):
        backtest(TOWN, [0.05])
    with pytest.raises(
        OutOfDomainError, match="fractions must be a share of the records above 0 and below 1, got 1;"
    ):
        backtest(TOWN, [1.0])
    with pytest.raises(
        OutOfDomainError, match="samples must be a whole number of samples from 1 to 1000, got 0;"
    ):
        backtest(TOWN, [0.5], 0)
