"""Log-linear risk against integrals over what is not known, and against published figures of adult."""

import duckdb
import mpmath
import numpy as np
import pytest

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.population import loglinear
from reid_sql.models.population.loglinear import FittedRecords
from tests.histograms import FEW, MORE, TENTH
from tests.tables import by_polars


def records(sizes: list[int], expected: list[float]) -> FittedRecords:
    return FittedRecords(np.array(sizes), np.log(expected), np.empty((len(sizes), 0), dtype=np.int64))


@pytest.mark.parametrize(("mu", "fraction", "shape"), [(0.5, 0.1, 0.7), (2.0, 0.01, 3.0), (0.01, 0.5, 0.1)])
def test_negative_binomial_uniqueness_is_the_mean_over_a_gamma_rate(
    mu: float, fraction: float, shape: float
) -> None:
    people = mu / fraction
    with mpmath.workdps(20):

        def weighed(rate: mpmath.mpf, more: float) -> mpmath.mpf:
            """Density of the rate, times the chance of one in the sample, and of no other beside it."""
            return (
                rate ** (shape - 1)
                * mpmath.exp(-rate * shape / people)
                * rate
                * mpmath.exp(-rate * (fraction + more))
            )

        top = mpmath.quad(
            lambda rate: weighed(rate, 1 - fraction), [0, people / 10, people, people * 10, people * 200]
        )
        whole = mpmath.quad(
            lambda rate: weighed(rate, 0), [0, people / 10, people, people * 10, people * 200]
        )
    found = loglinear.uniqueness(np.array([mu]), fraction, shape)[0]
    assert found == pytest.approx(float(top / whole), rel=1e-6)


def test_a_large_shape_is_poisson() -> None:
    mu = np.array([0.01, 1.0, 5.0])
    assert loglinear.uniqueness(mu, 0.2, 1e9) == pytest.approx(loglinear.uniqueness(mu, 0.2), rel=1e-6)


def test_a_whole_population_is_what_was_counted() -> None:
    found = loglinear.risk(records([1, 2, 4], [0.3, 5.0, 1.7]), 1.0)
    assert found.uniqueness.tolist() == [1, 0, 0]
    assert found.correctness.tolist() == pytest.approx([1, 0.5, 0.25])
    assert (found.tau1, found.tau2) == pytest.approx((1, 1))


def test_bad_input_is_refused() -> None:
    with pytest.raises(NoRecordsError):
        loglinear.risk(records([], []), 0.1)
    with pytest.raises(OutOfDomainError, match="interactions must be 0 or 2, got 1; pass 0 for main effects"):
        loglinear.risk(records([1], [1.0]), 0.1, 1)
    with pytest.raises(OutOfDomainError, match="sampling_fraction must be a share of the population"):
        loglinear.risk(records([1], [1.0]), 1.5)


def test_equal_classes_say_nothing_of_how_counts_vary() -> None:
    assert loglinear.ONE_SIZE in loglinear.risk(records([2, 2], [1.0, 3.0]), 0.1).status


def test_one_column_says_nothing_beyond_the_sample() -> None:
    assert loglinear.SATURATED in loglinear.risk(records([1, 3], [1.0, 3.0]), 0.1).status


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("columns", "tau1", "counted_unique"),
    [(FEW, 6.2, (65, 9)), (MORE, 381, (3_382, 343))],
    ids=["few", "more"],
)
def test_a_tenth_of_adult(
    con: duckdb.DuckDBPyConnection,
    adult: str,
    columns: list[str],
    tau1: float,
    counted_unique: tuple[int, int],
) -> None:
    con.execute(f"CREATE TEMP TABLE tenth AS {TENTH.format(adult)}")
    found = con.execute(
        f"SELECT any_value(tau1), any_value(nb_tau1) FROM loglinear_risk(tenth, {columns}, 0.1)"
    ).fetchall()[0]
    assert found[0] == pytest.approx(tau1, abs=0.5 if tau1 > 100 else 0.05)
    listed = ", ".join(columns)
    counted = f"SELECT *, count(*) OVER (PARTITION BY {listed}) AS people FROM '{adult}'"
    alone = con.execute(f"SELECT count(*) FROM ({counted}) WHERE people = 1").fetchall()[0][0]
    both = (
        f"SELECT {listed} FROM tenth GROUP BY ALL HAVING count(*) = 1 INTERSECT "
        f"SELECT {listed} FROM ({counted}) WHERE people = 1"
    )
    sampled = con.execute(f"SELECT count(*) FROM ({both})").fetchall()[0][0]
    assert (alone, sampled) == counted_unique
    tenth = con.sql("FROM tenth").pl()
    other = by_polars("loglinear_risk", tenth, columns, 0.1, interactions=2)[0]
    assert other["tau1"] < found[0]
    assert "understates the risk" in other["status"]
