from itertools import combinations
from math import isqrt, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr

from reid_sql.models.classes.quasi_identifiers import Codes, choose_quasi_identifiers
from reid_sql.models.extreme.extreme_risk import Level
from reid_sql.models.extreme.record_contributions import (
    compare_proxies,
    explain_too_many_cells,
    explain_unordered,
    list_contributions,
    measure_contributions,
    predict_by_partial_least_squares,
    record_entropies,
)
from tests.qar import coded, distinct, draw, table_risk, unique, within, without

PEOPLE = draw(8, 60, 7, 5)


def test_contributions_are_differences_of_risks_computed_from_scratch() -> None:
    found = list_contributions(choose_quasi_identifiers(coded(PEOPLE), 3), Level(0.1, 0.5))
    whole = table_risk(PEOPLE, 3, 0.1, 0.5)
    assert whole is not None
    expected = [table_risk(without(PEOPLE, record), 3, 0.1, 0.5) for record in range(60)]
    assert [row.contribution for row in found] == pytest.approx(
        [whole - (risk or np.nan) for risk in expected], abs=1e-12
    )
    assert [row.record for row in found] == list(range(60))
    assert {row.status for row in found} == {"ok"}


def test_proxies_weigh_uniqueness_by_risk() -> None:
    found = measure_contributions(choose_quasi_identifiers(coded(PEOPLE), 3), Level(0.1, 0.5))
    alone, risk = np.array(unique(PEOPLE, 3)), np.array(distinct(PEOPLE, 3)) / 60
    assert found.u_plus == pytest.approx(alone @ risk)
    assert found.u_star == pytest.approx(alone @ (1 - risk))
    assert found.unique.tolist() == alone.sum(axis=1).tolist()


def test_a_key_leaves_nothing_to_contribute() -> None:
    table = [[number, *row] for number, row in enumerate(PEOPLE, 1)]
    assert {
        row.contribution
        for row in list_contributions(choose_quasi_identifiers(coded(table), 1), Level(0.1, 0.9))
    } == {0.0}


def test_what_is_missing_is_said_on_every_row() -> None:
    for row in list_contributions(
        choose_quasi_identifiers(coded([row[:4] for row in PEOPLE]), 3), Level()
    ):
        assert row.contribution is None
        assert row.status.startswith(
            "too_few_exceedances: only 0 of the quasi-identifiers exceed the threshold"
        )


def test_a_record_without_which_there_is_no_fit() -> None:
    found = [
        row
        for seed in range(200)
        for row in list_contributions(
            choose_quasi_identifiers(coded(draw(seed, 12, 5, 3)), 2), Level(0.1, 0.7)
        )
    ]
    lost = [row for row in found if row.contribution is None and "no_fit_without: " in row.status]
    assert lost
    assert {row.status for row in lost} == {
        "no_fit_without: contribution is not available, since without the record there is no fit"
    }


LEVEL = Level(0.1, 0.3)


def test_correlations_and_rankings_pair_by_pair() -> None:
    chosen = choose_quasi_identifiers(coded(draw(3, 120, 8, 6)), 3)
    exact = measure_contributions(chosen, LEVEL)
    found = {row.proxy: row for row in compare_proxies(chosen, LEVEL)}
    x, y = exact.u_plus, exact.contribution
    assert found["u_plus"].pearson == pytest.approx(pearsonr(x, y).statistic)
    dx, dy = np.sign(np.subtract.outer(x, x)), np.sign(np.subtract.outer(y, y))
    assert found["u_plus"].kendall == pytest.approx(
        (dx * dy).sum() / np.sqrt((dx != 0).sum() * (dy != 0).sum())
    )
    wins = np.sign(np.subtract.outer(x[y > 0], x[y <= 0]))
    assert found["u_plus"].auc == pytest.approx(((wins + 1) / 2).mean())
    assert all(row.status == "ok" for row in found.values())


def test_where_there_is_nothing_to_compare_it_says_so() -> None:
    none = compare_proxies(choose_quasi_identifiers(coded(draw(3, 50, 3, 6)), 3), LEVEL)
    assert {row.status.partition(":")[0] for row in none} == {"too_few_exceedances"}
    keyed = compare_proxies(
        choose_quasi_identifiers(
            coded([[number, *row] for number, row in enumerate(draw(3, 50, 4, 3), 1)]), 2
        ),
        LEVEL,
    )
    assert {row.status for row in keyed} == {
        "constant: not available, since all records have the same value"
    }


def by_definition(rows: list[list[int]], p: int) -> list[float]:
    """Record by record: joint ecdf, its ecdf, the interval that holds it, entropy."""
    found: list[list[int]] = [[] for _ in rows]
    subsets = list(combinations(range(len(rows[0])), p))
    bins, total = isqrt(len(subsets)), len(rows)
    for places in subsets:
        joint = [sum(all(other[c] <= row[c] for c in places) for other in rows) for row in rows]
        for record, value in enumerate(joint):
            share = sum(other <= value for other in joint)
            found[record].append(next(m for m in range(1, bins + 1) if share * bins <= m * total))
    return [
        -sum(q * log(q) for q in (cells.count(m) / len(cells) for m in set(cells)))
        for cells in found
    ]


@given(st.integers(0, 10**6), st.integers(1, 15), st.integers(1, 5), st.integers(1, 3))
def test_entropy_is_what_the_definition_says(seed: int, records: int, values: int, p: int) -> None:
    rows = draw(seed, records, 6, values)
    assert record_entropies(choose_quasi_identifiers(coded(rows), p)) == pytest.approx(
        by_definition(rows, p), abs=1e-12
    )


def test_threads_add_up() -> None:
    table = coded(draw(1, 60_000, 5, 9))
    small = coded(draw(1, 60_000, 5, 9)[:100])
    assert len(record_entropies(choose_quasi_identifiers(table, 2))) == 60_000
    assert record_entropies(choose_quasi_identifiers(small, 2)).shape == (100,)


def test_what_has_no_order_is_named() -> None:
    assert explain_unordered(coded([[1, 2]])) == ""
    missing = Codes(["age"], [True], [np.array([1, 0])], np.arange(2))
    assert (
        explain_unordered(missing)
        == "null_order: 'age' contains NULL, which has no order, so pass nulls := 'drop'"
    )


def test_distributions_beyond_the_memory_are_refused() -> None:
    wide = coded([[1, 1], [1000, 1000]])
    less, enough = (choose_quasi_identifiers(within(wide, limit), 2) for limit in (10, 100))
    assert explain_too_many_cells(enough) == ""
    assert (
        explain_too_many_cells(less)
        == "too_many_cells: entropy needs 1000000 cells, too many for memory_limit"
    )


DRAWN = np.random.default_rng(2)
COLUMNS = DRAWN.normal(size=(300, 8)) @ DRAWN.normal(size=(8, 8))
RESPONSE = (COLUMNS[:, 0] + COLUMNS[:, 3] ** 2 + DRAWN.normal(size=300) > 1).astype(float)


@pytest.mark.parametrize("factors", [1, 2, 3, 8])
def test_it_is_least_squares_within_the_krylov_space(factors: int) -> None:
    x = (COLUMNS - COLUMNS.mean(axis=0)) / COLUMNS.std(axis=0)
    step = x.T @ (RESPONSE - RESPONSE.mean())
    space = [step / np.linalg.norm(step)]
    for _ in range(factors - 1):
        step = x.T @ (x @ space[-1])
        space.append(step / np.linalg.norm(step))
    basis = x @ np.linalg.qr(np.stack(space, axis=1))[0]
    fitted = (
        RESPONSE.mean() + basis @ np.linalg.lstsq(basis, RESPONSE - RESPONSE.mean(), rcond=None)[0]
    )
    assert predict_by_partial_least_squares(list(COLUMNS.T), RESPONSE, factors) == pytest.approx(
        fitted, abs=1e-8
    )


def test_constant_columns_and_responses_foresee_the_mean() -> None:
    assert predict_by_partial_least_squares([np.ones(4)], [1, 0, 1, 0]).tolist() == [0.5] * 4
    assert predict_by_partial_least_squares([np.arange(4)], [1, 1, 1, 1]).tolist() == [1.0] * 4


def test_more_factors_than_columns_are_no_harm() -> None:
    assert predict_by_partial_least_squares([np.arange(4)], [0, 0, 1, 1], 9) == pytest.approx(
        np.array([-0.1, 0.3, 0.7, 1.1])
    )
