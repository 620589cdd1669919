"""Latent classes of yes/no columns, against sums over all records and against counted populations."""

from itertools import product

import numpy as np
import pytest

from reid_sql.models.people.evidence import PeopleEvidence, count_records
from reid_sql.models.people.fit import fit, fit_columns
from reid_sql.models.people.tree import LatentClasses, fit_classes, is_list
from reid_sql.models.population_risk.answer import answer


def shopping(people: int, items: int, seed: int) -> np.ndarray:
    """What people buy; how much of everything is a gamma variable of the person."""
    rng = np.random.default_rng(seed)
    amount = rng.gamma(1.2, 1 / 1.2, people)
    share = 0.55 / np.arange(2, items + 2) ** 0.75
    return (rng.random((people, items)) < 1 - np.exp(-amount[:, None] * share * 1.3)).astype(
        np.int64
    )


def listed(codes: np.ndarray) -> PeopleEvidence:
    names = [f"c{j}" for j in range(codes.shape[1])]
    return count_records(codes, names, [["0", "1"]] * len(names), [False] * len(names))


def fitted(codes: np.ndarray) -> LatentClasses:
    evidence = listed(codes)
    return fit_classes(fit_columns(evidence), evidence.drawn)


def all_records(columns: int) -> np.ndarray:
    return np.array(list(product([0, 1], repeat=columns)))


def test_chances_of_all_records_add_up_to_the_values_seen() -> None:
    classes = fitted(shopping(600, 10, 1))
    total = float(np.exp(classes.log_q(all_records(10))).sum())
    seen = np.prod([column.mass[:2].sum() for column in classes.columns])
    assert seen * 0.99 < total <= 1 + 1e-9


def test_chances_of_some_columns_are_sums_over_the_others() -> None:
    classes = fitted(shopping(600, 10, 2))
    some = [0, 3, 7]
    records = all_records(10)
    chance = np.exp(classes.log_q(records))
    rng = np.random.default_rng(0)
    drawn = classes.draw(4000, rng)[:, some]
    counted = {one: float((drawn == one).all(axis=1).mean()) for one in product([0, 1], repeat=3)}
    for one, share in counted.items():
        summed = float(chance[(records[:, some] == one).all(axis=1)].sum())
        assert share == pytest.approx(summed, abs=0.03)
    log_q = classes.draw_log_q_of(some, 4000, np.random.default_rng(1))
    entropy = -sum(share * np.log(share) for share in counted.values() if share)
    assert -log_q.mean() == pytest.approx(entropy, abs=0.05)


def test_records_left_out_are_as_likely_as_records_that_were_not_fitted() -> None:
    codes = shopping(8000, 25, 3)
    classes = fitted(codes[:400])
    fresh = classes.log_q(codes[400:]).mean()
    left_out = classes.log_q_left_out(codes[:400]).mean()
    spread = classes.log_q(codes[400:]).std() / 20  # of the mean of 400 records
    assert left_out == pytest.approx(fresh, abs=3 * spread)


def test_a_table_of_few_columns_is_no_list() -> None:
    assert not is_list(fit_columns(listed(shopping(200, 9, 4))))
    assert is_list(fit_columns(listed(shopping(200, 10, 4))))
    assert fit(listed(shopping(200, 9, 4))).mixture.classes is None


@pytest.mark.parametrize(("records", "seed"), [(400, 1), (400, 2), (1500, 3)])
def test_one_cause_common_to_all_columns_is_not_understated(records: int, seed: int) -> None:
    codes = shopping(10_000, 30, seed)
    sizes = np.unique(codes, axis=0, return_counts=True)[1]
    unique, classes = float((sizes == 1).sum()) / 10_000, len(sizes) / 10_000
    row = answer(listed(codes[:records]), [10_000])[0]
    assert row.uniqueness_low <= unique <= row.uniqueness_high < row.uniqueness_low + 0.25
    assert row.correctness_low <= classes <= row.correctness_high
    assert row.uniqueness == pytest.approx(unique, abs=0.06)
