from collections import Counter

import numpy as np
import pytest

from reid_sql.errors import OutOfDomainError, UnknownNameError
from reid_sql.models.evidence import PAIR
from reid_sql.models.population.backtest import (
    STATUS_WITHIN_TABLE,
    Backtest,
    backtest,
    choose_methods,
)
from reid_sql.models.population.population_uniqueness import METHODS
from reid_sql.models.population.subsample import count_sample

RNG = np.random.default_rng(11)
TOWN = np.stack([RNG.geometric(0.1, 800), RNG.integers(0, 6, 800), RNG.geometric(0.3, 800)], axis=1)


def test_evidence_is_what_a_loop_counts() -> None:
    evidence = count_sample(TOWN)
    classes = Counter(map(tuple, TOWN.tolist()))
    sizes = Counter(classes.values())
    assert (
        dict(zip(evidence.histogram.class_size, evidence.histogram.classes, strict=True)) == sizes
    )
    alone = [Counter(column) for column in TOWN.T.tolist()]
    expected = Counter(
        (
            size,
            round(float(np.log(800 * np.prod([alone[j][v] / 800 for j, v in enumerate(key)]))), 3),
        )
        for key, size in classes.items()
    )
    counted = zip(evidence.class_size, evidence.log_expected, evidence.classes, strict=True)
    assert {(int(a), round(float(b), 3)): int(c) for a, b, c in counted} == expected
    rows = evidence.rows
    assert rows is not None
    assert rows.unique_records == sizes[1]
    pair = rows.select(PAIR, 1, 3).tolist()
    two = Counter(zip(TOWN[:, 0].tolist(), TOWN[:, 2].tolist(), strict=True))
    assert {
        (int(str(rows.first_value[row])), int(str(rows.second_value[row]))): int(rows.records[row])
        for row in pair
    } == two


def over(rows: list[Backtest]) -> dict[tuple[str, float, str], Backtest]:
    return {(row.method, row.fraction, row.figure): row for row in rows if row.sample is None}


def test_figures_of_each_method_and_fraction_with_the_truth_counted() -> None:
    rows = backtest(TOWN, [0.5, 0.2], samples=3)
    pairs = list(dict.fromkeys((row.method, row.fraction) for row in rows))
    assert pairs == [(m, f) for f in (0.5, 0.2) for m in METHODS]
    classes = Counter(map(tuple, TOWN.tolist()))
    truths = {
        "uniqueness": sum(size == 1 for size in classes.values()) / 800,
        "correctness": len(classes) / 800,
    }
    found = over(rows)
    for method, fraction in pairs:
        for figure in [each for each in truths if (method, fraction, f"{each}_error") in found]:
            reported = [
                r for r in rows if (r.method, r.fraction, r.figure) == (method, fraction, figure)
            ]
            assert [row.sample for row in reported] == [1, 2, 3]
            assert [row.truth for row in reported] == pytest.approx([truths[figure]] * 3)
            errors = [row.value - truths[figure] for row in reported if row.value is not None]
            ends = [(r.low, r.high) for r in reported if r.low is not None and r.high is not None]
            members = [low <= truths[figure] <= high for low, high in ends]
            error, bias, share = (
                found[method, fraction, f"{figure}_{name}"] for name in ("error", "bias", "held")
            )
            assert (error.counted, share.counted) == (len(errors), len(members))
            assert error.status == STATUS_WITHIN_TABLE
            if errors:
                assert error.value == pytest.approx(sum(map(abs, errors)) / len(errors))
                assert error.high == pytest.approx(max(map(abs, errors)))
                assert bias.value == pytest.approx(sum(errors) / len(errors))
            assert share.value == (pytest.approx(sum(members) / len(members)) if members else None)
        assert ((method, fraction, "auc") in found) == (method in {"people", "copula"})
    assert {row.counted for row in rows if row.sample} == {400, 160}


def test_what_a_method_says_is_what_a_loop_over_the_sample_says() -> None:
    rows = backtest(TOWN, [0.25], samples=2, seed=3, methods=["bound"])
    rng = np.random.default_rng([3, 200])
    for row in rows[:2]:
        sample = Counter(map(tuple, TOWN[rng.permutation(800)[:200]].tolist()))
        assert row.value == pytest.approx(sum(size == 1 for size in sample.values()) / 200)


def test_persons_are_those_outside_the_samples() -> None:
    rows = backtest(TOWN, [0.5], samples=2, methods=["people"])
    found = over(rows)
    assert found["people", 0.5, "auc"].counted == 800
    tenths = [row for row in rows if row.figure == "tenth"]
    assert sum(row.counted for row in tenths) == 800
    assert all(row.low <= row.value <= row.high for row in tenths)  # type: ignore[operator]
    gap = sum(row.counted * abs(row.value - row.truth) for row in tenths) / 800  # type: ignore[operator]
    assert found["people", 0.5, "reliability"].value == pytest.approx(gap)


def test_the_bound_errs_upwards_by_what_samples_overstate() -> None:
    found = over(backtest(TOWN, [0.2], samples=5, methods=["bound", "copula"]))
    bias, error = (
        found[method, 0.2, name].value
        for method, name in (("bound", "uniqueness_bias"), ("copula", "uniqueness_error"))
    )
    assert bias is not None
    assert error is not None
    assert bias > 0
    assert error < abs(bias)
    auc = found["copula", 0.2, "auc"].value
    assert auc is not None
    assert auc > 0.8  # independent columns: the copula knows the chance of every cell


def test_a_method_that_refuses_says_why() -> None:
    with pytest.raises(UnknownNameError, match="methods must be one of 'people', 'bound'"):
        choose_methods(["peple"])
    alike = np.zeros((200, 2), dtype=np.int64)
    for row in backtest(alike, [0.5], samples=1, methods=["loglinear", "snb"]):
        assert row.truth == 0.0
        if row.sample and row.value is None:
            assert row.status != "ok"


def test_fractions_are_usual_where_none_is_given() -> None:
    rows = backtest(TOWN, samples=1, methods=["bound"])
    assert {row.fraction for row in rows} == {0.1}  # a hundredth of 800 records is too few
    assert {row.fraction for row in backtest(TOWN[:490], samples=1, methods=["bound"])} == {0.5}
    assert backtest(TOWN[:20], samples=1, methods=["bound"])[0].counted == 10
    with pytest.raises(
        OutOfDomainError, match="the table must contain at least 20 records for samples of a half"
    ):
        backtest(TOWN[:19], methods=["bound"])


def test_the_same_seed_gives_the_same_rows() -> None:
    assert backtest(TOWN, [0.2], 1, 4) == backtest(TOWN, [0.2], 1, 4)


def test_samples_too_small_are_refused() -> None:
    with pytest.raises(
        OutOfDomainError,
        match=r"fractions must leave samples of at least 50 records, got 0\.05 of 800",
    ):
        backtest(TOWN, [0.05])
    with pytest.raises(
        OutOfDomainError,
        match="fractions must be a share of the records above 0 and below 1, got 1;",
    ):
        backtest(TOWN, [1.0])
    with pytest.raises(
        OutOfDomainError, match="samples must be a whole number of samples from 1 to 1000, got 0;"
    ):
        backtest(TOWN, [0.5], 0)
