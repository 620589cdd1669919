from collections import Counter
from itertools import product
from math import log

import numpy as np
import pytest
from scipy.stats import nbinom

from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.people import diagnostics, overdispersion
from reid_sql.models.people.evidence import count_records
from reid_sql.models.people.fit import MAX_SCORED, fit
from tests.people_tables import three_columns


def plain_entropy(rows: list[tuple[int, ...]]) -> float:
    """Entropy by its definition, and half of (classes − 1)/n."""
    counts = Counter(rows).values()
    total = sum(counts)
    return -sum(c / total * log(c / total) for c in counts) + (len(counts) - 1) / (2 * total)


def test_interaction_information_by_its_definition() -> None:
    """I(X; Y; Z) = I(X; Y) − I(X; Y | Z), each from its entropies."""
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 3, (400, 3))
    codes[:, 2] = np.where(rng.random(400) < 0.6, (codes[:, 0] + codes[:, 1]) % 3, codes[:, 2])
    x, y, z = (codes[:, [j]].tolist() for j in range(3))

    def h(*columns: list[list[int]]) -> float:
        return plain_entropy(
            [tuple(v for part in row for v in part) for row in zip(*columns, strict=True)]
        )

    mutual = h(x) + h(y) - h(x, y)
    given = h(x, z) + h(y, z) - h(x, y, z) - h(z)
    assert diagnostics.interaction_information(codes) == pytest.approx(mutual - given, abs=1e-12)
    assert mutual - given < -0.1


@pytest.mark.parametrize("same", [True, False])
def test_copies_are_redundant_and_sums_are_synergistic(same: bool) -> None:  # noqa: FBT001
    x, y = (np.array(own) for own in zip(*product(range(4), repeat=2), strict=True))
    third = x if same else (x + y) % 4
    codes = np.repeat(np.stack([x, x if same else y, third], axis=1), 50, axis=0)
    found = diagnostics.interaction_information(codes)
    assert found == pytest.approx(log(4) if same else -log(4), abs=0.02)


def test_the_three_columns_beyond_pairs_are_found_and_reported() -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, (2000, 5))
    codes[:, 4] = codes[:, 0] ^ codes[:, 2]
    names = ["a", "b", "c", "d", "e"]
    evidence = count_records(codes, names, [["0", "1"]] * 5, [False] * 5)
    found = diagnostics.find_synergy(evidence)
    assert found is not None
    assert found.columns == (0, 2, 4)
    assert found.nats == pytest.approx(-log(2), abs=0.01)
    reported = diagnostics.diagnose(fit(evidence), evidence).describe(names)
    assert "triple_dependence: a, c and e share 0.69 nats that no two of them share" in reported


def test_no_three_columns_can_be_counted() -> None:
    rng = np.random.default_rng(1)
    codes = np.stack([np.arange(300), *rng.integers(0, 100, (2, 300))], axis=1)
    values = [[str(v) for v in range(300)]] * 3
    assert (
        diagnostics.find_synergy(count_records(codes, ["a", "b", "c"], values, [False] * 3)) is None
    )


@pytest.mark.parametrize("cells", [20, 500])
def test_the_entropy_of_a_law_that_is_known(cells: int) -> None:
    rng = np.random.default_rng(0)
    law = rng.dirichlet(np.full(cells, 2.0))
    sizes = np.bincount(rng.choice(cells, 1500, p=law))
    size, classes = np.unique(sizes[sizes > 0], return_counts=True)
    true = -float(law @ np.log(law))
    found = diagnostics.sample_entropy(Histogram(size, classes, size * classes))
    assert found == pytest.approx(true, abs=0.05)
    assert (
        diagnostics.sample_entropy(Histogram(np.array([1]), np.array([9]), np.array([9]))) is None
    )


def test_the_divergence_of_a_table_whose_law_is_known() -> None:
    """Σ p ln p/q over all cells of a table that no pair of columns tells of, the model left as it is."""
    rng = np.random.default_rng(3)
    law = rng.dirichlet(np.full(27, 0.5))
    cells = np.array(list(product(range(3), repeat=3)))
    codes = cells[rng.choice(27, 20_000, p=law)]
    model = fit(count_records(codes, ["a", "b", "c"], [["0", "1", "2"]] * 3, [False] * 3))
    q = np.exp(model.mixture.log_q(cells[:, list(model.free_columns)]))
    some = law > 0
    true = float(law[some] @ np.log(law[some] / q[some]))
    log_q = np.log(q[some])
    # of a mean of records
    deviation = np.sqrt(law[some] @ (log_q - law[some] @ log_q) ** 2 / MAX_SCORED)
    assert diagnostics.kl_divergence(model) == pytest.approx(true, abs=3 * float(deviation))


def test_total_correlation_of_independent_columns_and_of_copies() -> None:
    rng = np.random.default_rng(0)
    free = rng.integers(0, 4, (3000, 3))
    copies = np.repeat(rng.integers(0, 4, (3000, 1)), 3, axis=1)
    found = [
        diagnostics.total_correlation(
            fit(count_records(codes, ["a", "b", "c"], [list("0123")] * 3, [False] * 3))
        )
        for codes in (free, copies)
    ]
    assert found[0] == pytest.approx(0, abs=0.05)
    assert found[1] == pytest.approx(2 * log(4), abs=0.1)


def test_what_the_model_expects_is_the_negative_binomial_of_each_drawn_record() -> None:
    """Records of a class: 1 + others, who are negative binomial of shape a + 1 and mean n q (a + 1)/a."""
    model = fit(three_columns(400))
    q, n = np.exp(model.drawn_log_q)[:200], 400
    for check in diagnostics.predictive_checks(model):
        by_shape = []
        for a in np.exp(model.overdispersion.log_shapes(n)):
            others = nbinom(a + 1, a / (a + n * q))
            by_shape.append(others.cdf(check.below - 2).mean())
        of_all = overdispersion.below_k(
            np.exp(model.drawn_log_q)[:200, None],
            np.exp(model.overdispersion.log_shapes(n)),
            n,
            check.below,
        )
        np.testing.assert_allclose(of_all.mean(axis=0), by_shape, atol=1e-9)
        sizes = model.histogram.class_size
        members = sum(
            int(r)
            for s, r in zip(sizes, model.histogram.records, strict=True)
            if int(s) < check.below
        )
        assert check.observed == members / n
        assert 0 <= check.low <= check.expected <= check.high <= 1
        assert abs(check.away) < 3


def test_a_register_of_repeated_people_fails_the_check() -> None:
    """Rare records that stand twice each: no scatter of cells foretells that there are pairs alone."""
    rng = np.random.default_rng(2)
    rare = np.repeat(rng.integers(0, 40, (250, 4)), 2, axis=0)
    evidence = count_records(rare, list("abcd"), [[str(v) for v in range(40)]] * 4, [False] * 4)
    found = diagnostics.diagnose(fit(evidence), evidence)
    assert abs(found.worst.away) > 3
    assert any("predictive_check: " in note for note in found.describe(list("abcd")))
