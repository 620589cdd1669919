import numpy as np
import pytest
from scipy.stats import pearsonr

from reid_sql.models.extreme.extreme_risk import Level
from reid_sql.models.extreme.proxy_agreement import agreements
from reid_sql.models.extreme.quasi_identifiers import choose
from reid_sql.models.extreme.record_contributions import contributions
from tests.qar import coded, draw

LEVEL = Level(0.1, 0.3)


def test_correlations_and_rankings_pair_by_pair() -> None:
    chosen = choose(coded(draw(3, 120, 8, 6)), 3)
    exact = contributions(chosen, LEVEL)
    found = {row.proxy: row for row in agreements(chosen, LEVEL)}
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
    none = agreements(choose(coded(draw(3, 50, 3, 6)), 3), LEVEL)
    assert {row.status[:25] for row in none} == {"risk is not available: 0 "}
    keyed = agreements(
        choose(coded([[number, *row] for number, row in enumerate(draw(3, 50, 4, 3), 1)]), 2), LEVEL
    )
    assert {row.status for row in keyed} == {"not available: all records have the same value"}
