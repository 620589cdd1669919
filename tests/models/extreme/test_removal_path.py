import numpy as np
import pytest

from reid_sql.errors import OutOfDomainError
from reid_sql.models.extreme.extreme_risk import Level
from reid_sql.models.extreme.quasi_identifiers import Codes, choose
from reid_sql.models.extreme.record_contributions import contributions
from reid_sql.models.extreme.record_order import by_order
from reid_sql.models.extreme.removal_path import By, path
from tests.qar import coded, draw, table_risk

PEOPLE = draw(8, 60, 7, 5)
CHOSEN = choose(coded(PEOPLE), 3)
LEVEL = Level(0.1, 0.5)


@pytest.mark.parametrize("by", ["exact", "dt", "u_plus", "u_star", "entropy", "pls"])
def test_each_step_has_the_risk_of_what_remains_and_stays_above_the_bound(by: By) -> None:
    found = path(CHOSEN, LEVEL, 20, by)
    assert [row.step for row in found] == list(range(21))
    for row in found:
        gone = {other.record for other in found[: row.step + 1]}
        left = [values for record, values in enumerate(PEOPLE) if record not in gone]
        assert len(left) == 60 - row.step
        assert row.risk == pytest.approx(table_risk(left, 3, 0.1, 0.5), rel=1e-9)
        assert row.bound is not None
        assert row.bound <= (row.risk or 0)
        assert row.status == "ok"


def test_once_computed_orders_run_from_the_highest_score() -> None:
    found = contributions(CHOSEN, LEVEL)
    proxies = by_order(CHOSEN, found.contribution)
    scores = {
        "dt": found.contribution,
        "u_plus": found.u_plus,
        "u_star": found.u_star,
        "entropy": proxies.entropy,
    }
    for by, score in scores.items():
        assert score is not None
        order = [row.record for row in path(CHOSEN, LEVEL, 20, by)][1:]  # type: ignore[arg-type]
        assert order == sorted(range(60), key=lambda record: (-score[record], record))[:20]


def test_where_nothing_helps_it_says_so() -> None:
    keyed = choose(coded([[number, *row] for number, row in enumerate(PEOPLE, 1)]), 1)
    assert [(row.risk, row.status[:44]) for row in path(keyed, LEVEL, 5)] == [
        (1.0, "risk is 1: every record is unique for some q")
    ]
    few = path(choose(coded([row[:4] for row in PEOPLE]), 3), LEVEL, 5)
    assert [(row.risk, row.status[:22]) for row in few] == [(None, "risk is not available:")]


def test_it_stops_where_no_removal_leaves_a_risk() -> None:
    found = [path(choose(coded(draw(seed, 9, 6, 4)), 2), LEVEL, 8) for seed in range(30)]
    stopped = [rows for rows in found if len(rows) < 9]
    assert stopped
    for rows in stopped:
        assert rows[-1].status.startswith(("stopped: no further removal", "risk is"))


def test_what_cannot_be_removed_is_refused() -> None:
    with pytest.raises(
        OutOfDomainError,
        match="remove must be below the 60 records of the table, got 60; pass a smaller number",
    ):
        path(CHOSEN, LEVEL, 60)
    nominal = choose(Codes(["zip", "a"], [False, True], [np.array([1, 2])] * 2, np.arange(2)), 1)
    with pytest.raises(OutOfDomainError, match="remove must be below the 2 records"):
        path(nominal, LEVEL, 2)


def test_an_order_that_the_table_lacks_is_refused() -> None:
    table = coded(PEOPLE)
    nominal = Codes(table.names, [False] * 7, table.codes, table.position)
    with pytest.raises(
        OutOfDomainError,
        match="by must be an order that the table has, got 'entropy'; entropy and pls are not",
    ):
        path(choose(nominal, 3), LEVEL, 2, "entropy")
