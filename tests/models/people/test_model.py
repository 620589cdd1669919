import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chisquare

from reid_sql.errors import OutOfDomainError
from reid_sql.models.copula.copula_file import compute_checksum
from reid_sql.models.fitted_model import FittedModel
from reid_sql.models.people import fit as fit_module
from reid_sql.models.people import overdispersion
from reid_sql.models.people.evidence import PeopleEvidence
from reid_sql.models.people.fit import cache_fits, fit, from_json, to_json
from reid_sql.models.people.model import PeopleModel, sample_codes
from reid_sql.models.population_risk import shares
from tests.cells import each_cell
from tests.models.people.test_tree import every_cell
from tests.people_tables import AGES, three_columns

EVIDENCE = three_columns(500)
MODEL = fit(EVIDENCE)


def test_it_serves_as_any_fitted_model() -> None:
    assert isinstance(MODEL, FittedModel)


def test_scores_by_look_up_are_the_mean_over_shapes() -> None:
    q = np.exp(np.random.default_rng(0).uniform(-12, -2, 5000))
    shapes = np.exp(MODEL.overdispersion.log_shapes(1e5))
    want = overdispersion.uniqueness(q[:, None], shapes, 1e5) @ MODEL.shapes
    np.testing.assert_allclose(MODEL.overdispersion.uniqueness(q, 1e5), want, atol=2e-3)
    want = overdispersion.correctness(q[:, None], shapes, 1e5) @ MODEL.shapes
    np.testing.assert_allclose(MODEL.overdispersion.correctness(q, 1e5), want, atol=2e-3)
    sizes = np.array([1e3, 1e5, 1e3])
    found = MODEL.overdispersion.uniqueness(q[:3], sizes)
    assert found[1] == pytest.approx(MODEL.overdispersion.uniqueness(q[1:2], 1e5)[0], abs=2e-3)


def test_a_person_beside_others_is_not_unique() -> None:
    q = np.array([1e-3, 1e-3, 1e-3, 1e-2])
    xi, kappa = MODEL.overdispersion.known(q, np.array([1, 2, 30, 1]), 5000)
    assert xi[1] == xi[2] == 0
    assert xi[0] > xi[3] > 0
    assert (kappa <= 1 / np.array([1, 2, 30, 1])).all()
    assert xi[0] <= kappa[0]


def test_at_the_samples_size_what_is_seen_is_all() -> None:
    xi, kappa = MODEL.overdispersion.known(np.array([1e-3, 1e-3]), np.array([1, 4]), 500)
    np.testing.assert_allclose(xi, [1, 0])
    np.testing.assert_allclose(kappa, [1, 0.25])


def test_the_kept_file_has_the_tree_and_no_record() -> None:
    text = to_json(MODEL)
    remaining = from_json(text)
    assert remaining.sample is None
    assert to_json(MODEL) == text
    cells, many = every_cell(remaining.marginals)
    np.testing.assert_allclose(
        remaining.mixture.log_q(cells),
        MODEL.mixture.tree.log_q(cells[:, list(MODEL.free_columns)]),
        atol=1e-5,
    )
    assert (np.exp(remaining.mixture.log_q(cells)) * many).sum() == pytest.approx(1, abs=1e-5)
    assert remaining.cell_probability([["F"], ["33"], [None]]).probability[0] > 0
    one, other = (shares.forecast(model, [1e4])[0].uniqueness for model in (MODEL, remaining))
    assert other == pytest.approx(one, abs=0.03)


@each_cell(
    "change",
    [
        {"version": 4},
        {"ties": [{}]},
        {"order": [0, 0, 1]},
        {"classes": []},
        {"shapes": [1.0]},
        {"seed": -1},
        {"columns": []},
        {"class_size": [0]},
    ],
)
def test_a_file_that_lacks_a_part_is_refused(change: dict[str, object]) -> None:
    content = json.loads(to_json(MODEL)) | change
    content.pop("sha256")
    content["sha256"] = compute_checksum(content)
    with pytest.raises(OutOfDomainError, match="a saved model must"):
        from_json(json.dumps(content))


@each_cell("part", ["mass", "multiplicity", "bins", "values", "parent", "chances", "unseen_places"])
@each_cell("value", [None, [], [1.5], "x", -7])
def test_a_broken_column_is_refused(part: str, value: object) -> None:
    content = json.loads(to_json(MODEL))
    has = "unseen_places" if part == "unseen_places" else "chances"
    j = next(j for j, column in enumerate(content["columns"]) if column[has])
    content["columns"][j][part] = value
    content.pop("sha256")
    content["sha256"] = compute_checksum(content)
    with pytest.raises(OutOfDomainError, match="a saved model must"):
        from_json(json.dumps(content))


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "nothing", '{"format": "reid-sql model of people"}']
)
def test_what_is_no_model_is_refused(text: str) -> None:
    with pytest.raises(OutOfDomainError, match="a saved model must"):
        from_json(text)
    changed = to_json(MODEL).replace('"seed":0', '"seed":1')
    with pytest.raises(OutOfDomainError, match="checksum"):
        from_json(changed)


def test_samples_are_the_same_whoever_asks_for_which() -> None:
    whole = sample_codes(MODEL, np.arange(5000), 3)
    np.testing.assert_array_equal(whole[[4999, 7]], sample_codes(MODEL, np.array([4999, 7]), 3))
    texts = MODEL.texts(whole)
    assert set(texts[0]) == {"F", "M"}
    counts = [texts[0].count(sex) for sex in ("F", "M")]
    share = np.array(
        [dict(zip(MODEL.marginals[0].seen, MODEL.marginals[0].mass, strict=False))[s] for s in "FM"]
    )
    assert chisquare(counts, share / share.sum() * 5000).pvalue > 1e-4
    assert set(texts[1]) <= {*AGES, "29", "40"}
    assert None in texts[2]


def test_marginals_from_outside_are_kept_to() -> None:
    reported = replace(EVIDENCE, known_shares={0: (["F", "M", "X"], np.array([30.0, 60.0, 10.0]))})
    column = fit(reported).marginals[0]
    share = dict(zip(column.seen, column.mass, strict=False))
    assert share == pytest.approx({"F": 0.3, "M": 0.6, "X": 0.1}, abs=1e-5)


def test_columns_are_counted() -> None:
    with pytest.raises(OutOfDomainError, match="must be the 3 of the model"):
        MODEL.cell_probability([["F"]])


def test_the_tree_keeps_to_shares_from_outside() -> None:
    reported = replace(
        EVIDENCE,
        known_shares={1: (AGES, np.arange(1.0, 11.0)), 2: (["A", "B", "C", None], np.ones(4))},
    )
    model = fit(reported)
    assert model.sample is None
    cells, many = every_cell(model.marginals)
    q = np.exp(model.mixture.log_q(cells[:, list(model.free_columns)])) * many
    assert q.sum() == pytest.approx(1)
    for j, want in (
        (1, dict(zip(AGES, np.arange(1, 11) / 55, strict=True))),
        (2, dict.fromkeys("ABC", 0.25)),
    ):
        got = np.bincount(cells[:, j], q)
        values = model.marginals[j].seen
        for value, share in want.items():
            assert got[values.index(value)] == pytest.approx(share, abs=1e-4)


def test_weights_are_recognised_by_the_tree_alone() -> None:
    model = fit(replace(EVIDENCE, value_weights=EVIDENCE.counts))
    assert model.sample is None
    assert shares.forecast(model, [1e4])[0].uniqueness < 1


def test_within_once_the_same_counts_are_fitted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    fits = []
    anew = fit_module._fit_free_columns  # noqa: SLF001

    def counting(evidence: PeopleEvidence, seed: int) -> PeopleModel:
        fits.append(seed)
        return anew(evidence, seed)

    monkeypatch.setattr(fit_module, "_fit_free_columns", counting)
    with cache_fits():
        one, again = (fit(three_columns(300)) for _ in range(2))
        assert fits == [0]
        assert again.mixture is one.mixture
        fit(three_columns(300), seed=1)
        fit(three_columns(300, seed=5))
        assert fits == [0, 1, 0]
    fit(EVIDENCE)
    assert fits == [0, 1, 0, 0]
