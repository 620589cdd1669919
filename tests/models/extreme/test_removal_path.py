from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import genpareto

from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes.quasi_identifiers import Codes, choose_quasi_identifiers
from reid_sql.models.extreme.extreme_risk import (
    Level,
    count_distinct_values,
    fit_tail,
    select_highest,
)
from reid_sql.models.extreme.record_contributions import (
    compute_order_proxies,
    measure_contributions,
)
from reid_sql.models.extreme.removal_path import By, bound_risk, largest_shape, remove_records
from tests.qar import coded, distinct, draw, risk, table_risk


@settings(max_examples=25)
@given(
    st.integers(0, 10**6),
    st.integers(5, 9),
    st.integers(2, 5),
    st.sampled_from([(0.1, 0.5), (0.01, 0.3), (0.5, 1.0), (0.05, 0.5)]),
)
def test_no_removal_of_any_records_gets_below(
    seed: int, records: int, values: int, level: tuple[float, float]
) -> None:
    rows = draw(seed, records, 6, values)
    chosen = choose_quasi_identifiers(coded(rows), 2)
    most = largest_shape(Level(*level)) or 1
    bounds = bound_risk(chosen, count_distinct_values(chosen), Level(*level), 4)
    for step, bound in enumerate(bounds):
        for removed in combinations(range(records), step):
            counts = distinct([row for record, row in enumerate(rows) if record not in removed], 2)
            left = records - step
            found = risk(counts, left, *level)
            shape = fit_tail(
                select_highest(np.array(counts), Level(*level))[None],
                left,
                len(counts),
                Level(*level),
            ).shape[0]
            assert found is None or found >= bound - 1e-12 or shape > most


def test_below_the_largest_shape_the_quantile_is_at_least_the_mean() -> None:
    for alpha, tail in [(0.01, 0.05), (0.001, 0.05), (0.1, 0.5)]:
        most = largest_shape(Level(alpha, tail))
        assert most is not None
        for shape in [-50.0, -1.0, -1e-3, 1e-3, 0.2, most - 1e-3]:
            law = genpareto(shape, scale=0.7)
            assert law.ppf(1 - alpha / tail) >= law.mean()
        law = genpareto(most + 1e-3, scale=0.7)
        assert law.ppf(1 - alpha / tail) < law.mean()


def test_it_is_sharp_where_one_record_makes_each_class() -> None:
    rows = [[number, number, 1] for number in range(1, 11)]
    chosen = choose_quasi_identifiers(coded(rows), 1)
    assert bound_risk(
        chosen, count_distinct_values(chosen), Level(0.1, 0.4), 3
    ).tolist() == pytest.approx([1, 1, 1, 1])


PEOPLE = draw(8, 60, 7, 5)
CHOSEN = choose_quasi_identifiers(coded(PEOPLE), 3)
LEVEL = Level(0.1, 0.5)


@pytest.mark.parametrize("by", ["exact", "dt", "u_plus", "u_star", "entropy", "pls"])
def test_each_step_has_the_risk_of_what_remains_and_stays_above_the_bound(by: By) -> None:
    found = remove_records(CHOSEN, LEVEL, 20, by)
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
    found = measure_contributions(CHOSEN, LEVEL)
    proxies = compute_order_proxies(CHOSEN, found.contribution)
    scores = {
        "dt": found.contribution,
        "u_plus": found.u_plus,
        "u_star": found.u_star,
        "entropy": proxies.entropy,
    }
    for by, score in scores.items():
        assert score is not None
        order = [row.record for row in remove_records(CHOSEN, LEVEL, 20, by)][1:]  # type: ignore[arg-type]
        assert order == sorted(range(60), key=lambda record: (-score[record], record))[:20]


def test_where_nothing_helps_it_says_so() -> None:
    keyed = choose_quasi_identifiers(
        coded([[number, *row] for number, row in enumerate(PEOPLE, 1)]), 1
    )
    assert [
        (row.risk, row.status.partition(":")[0]) for row in remove_records(keyed, LEVEL, 5)
    ] == [(1.0, "stays_certain")]
    few = remove_records(choose_quasi_identifiers(coded([row[:4] for row in PEOPLE]), 3), LEVEL, 5)
    assert [(row.risk, row.status.partition(":")[0]) for row in few] == [
        (None, "too_few_exceedances")
    ]


def test_it_stops_where_no_removal_leaves_a_risk() -> None:
    found = [
        remove_records(choose_quasi_identifiers(coded(draw(seed, 9, 6, 4)), 2), LEVEL, 8)
        for seed in range(30)
    ]
    stopped = [rows for rows in found if len(rows) < 9]
    assert stopped
    for rows in stopped:
        assert rows[-1].status.startswith(
            ("stopped: ", "stays_certain: ", "certain: ", "too_few_exceedances: ", "equal_risks: ")
        )


def test_what_cannot_be_removed_is_refused() -> None:
    with pytest.raises(
        OutOfDomainError,
        match="remove must be below the 60 records of the table, got 60; pass a smaller number",
    ):
        remove_records(CHOSEN, LEVEL, 60)
    nominal = choose_quasi_identifiers(
        Codes(["zip", "a"], [False, True], [np.array([1, 2])] * 2, np.arange(2)), 1
    )
    with pytest.raises(OutOfDomainError, match="remove must be below the 2 records"):
        remove_records(nominal, LEVEL, 2)


def test_an_order_that_the_table_lacks_is_refused() -> None:
    table = coded(PEOPLE)
    nominal = Codes(table.names, [False] * 7, table.codes, table.position)
    with pytest.raises(
        OutOfDomainError,
        match="by must be an order that the table has, got 'entropy'; '",
    ):
        remove_records(choose_quasi_identifiers(nominal, 3), LEVEL, 2, "entropy")
