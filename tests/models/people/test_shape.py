import numpy as np
import pytest

from reid_sql.models.one_answer import interval
from reid_sql.models.one_answer.interval import Width
from reid_sql.models.people import shape
from reid_sql.models.people.shape import LOG_SHAPES, Repeats


@pytest.mark.parametrize("log_a", [-2.0, 0.0, 2.0])
def test_repeats_of_a_simulated_population_tell_the_shape(log_a: float) -> None:
    """Cells with gamma weights of shape a, a sample of them: the likeliest shape is near a."""
    rng = np.random.default_rng(7)
    a, n = np.exp(log_a), 20_000
    q = np.full(200_000, 1 / 200_000)
    weights = rng.gamma(a, 1 / a, len(q)) * q
    sizes = rng.poisson(n * weights)
    repeated = int(sizes[sizes > 1].sum())
    drawn = np.log(q[:3000])
    found = shape.repeats(drawn, n, repeated)
    assert LOG_SHAPES[np.argmax(found.likelihood)] == pytest.approx(log_a, abs=0.4)
    assert found.entropy == pytest.approx(np.log(200_000))


def test_subtables_that_agree_decide() -> None:
    """Sub-tables that all say ln a = 1 + β (H − 8) put the full table there, but for the shift."""
    flat = Repeats(8.0, np.zeros(len(LOG_SHAPES)))
    told = [Repeats(8.0, -50 * (LOG_SHAPES - 1.0) ** 2) for _ in range(30)]
    weights = shape.posterior(flat, told)
    assert weights.sum() == pytest.approx(1)
    assert weights @ LOG_SHAPES == pytest.approx(1.0 + shape.LAW.shift, abs=0.1)


def test_without_evidence_the_prior_speaks() -> None:
    flat = Repeats(8.0, np.zeros(len(LOG_SHAPES)))
    weights = shape.posterior(flat, [])
    assert weights @ LOG_SHAPES == pytest.approx(shape.INTERCEPT[0] + shape.LAW.shift, abs=0.1)


def test_row_keys_tell_distinct_records_apart() -> None:
    codes = np.random.default_rng(0).integers(0, 3, (500, 6))
    _, want = np.unique(codes, axis=0, return_inverse=True)
    pairs = {(a, b) for a, b in zip(shape.row_keys(codes).tolist(), want.ravel().tolist(), strict=True)}
    assert len(pairs) == len(np.unique(want))


@pytest.mark.parametrize("level", [0.0, 0.001, 0.3, 0.9, 1.0])
def test_an_interval_holds_its_estimate(level: float) -> None:
    weights = np.full(5, 0.2)
    found = interval.spread(np.full(5, level), weights, 0.1, (level, 300), Width(0.2, 0.5, 1.0))
    share = interval.share(found, 1.0, 1.0)
    assert 0 <= share.low <= share.estimate <= share.high <= 1
    assert share.estimate == pytest.approx(level)
    wider = interval.share(found, 2.0, 1.0)
    assert wider.low <= share.low
    assert wider.high >= share.high
    assert interval.share(found, 2.0, level).high == pytest.approx(level)
