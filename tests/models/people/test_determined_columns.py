"""Columns that follow from others: against all cells of a small model, summed over by brute force."""

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from reid_sql.errors import OutOfDomainError
from reid_sql.models.copula.copula_file import compute_checksum
from reid_sql.models.people.diagnostics import diagnose, summarize
from reid_sql.models.people.fit import fit, from_json, to_json
from reid_sql.models.people.model import PeopleModel, sample_codes
from reid_sql.models.population.people_subsets import PeopleSubsets, SubsetShapes
from reid_sql.models.population.subset_uniqueness import DRAWS, unique_share_by_subset
from tests.cells import each_cell
from tests.models.people.test_tree import every_cell
from tests.people_tables import of_values

ZIPS, SIZES = 9, (40, 60, 35, 30, 25, 20, 15, 10, 2)


def table(*, numbers: bool = False) -> list[list[str | None]]:
    """State, city and postal code, of which the first two follow from the last, and a sex."""
    rng = np.random.default_rng(4)
    code = rng.permutation(np.repeat(np.arange(ZIPS), SIZES))
    city, sex = code // 2, (rng.random(len(code)) < 0.3 + 0.05 * code).astype(int)
    codes: list[str | None] = [str(10 * own) if numbers else f"z{own}" for own in code.tolist()]
    states = [None if own == 0 else f"s{own}" for own in (city // 2).tolist()]
    cities: list[str | None] = [f"c{own}" for own in city.tolist()]
    return [states, cities, codes, [f"x{own}" for own in sex.tolist()]]


EVIDENCE = of_values(table(), [False] * 4)
MODEL = fit(EVIDENCE)
ORDERED = fit(of_values(table(numbers=True), [False, False, True, False]))
NUMBER_OF_CODE = {f"z{code}": str(10 * code) for code in range(ZIPS + 1)}
CHOICES = np.array([choice for choice in product([False, True], repeat=4) if any(choice)])


def cells_of(model: PeopleModel) -> tuple[np.ndarray, np.ndarray]:
    """Every cell of all columns, and the probability of all values that its categories stand for."""
    cells, many = every_cell(model.marginals)
    return cells, model.scored(cells).probability * many


def test_columns_that_follow_are_tied_to_what_stays() -> None:
    assert [(tie.column, tie.source) for tie in MODEL.determined] == [(0, 2), (1, 2)]
    assert MODEL.free_columns == (2, 3)
    for tie in MODEL.determined:
        rows = EVIDENCE.drawn[:, [tie.source, tie.column]]
        assert all(tie.code_of_source[source] == code for source, code in rows.tolist())
        assert 0 < tie.exception_chance < 0.02
    reported = summarize("m", MODEL, diagnose(MODEL, EVIDENCE)).tree
    assert {"c0 determined by c2", "c1 determined by c2"} < set(reported)


@pytest.mark.parametrize("model", [MODEL, ORDERED])
def test_probabilities_of_all_cells_add_up_to_1(model: PeopleModel) -> None:
    assert cells_of(model)[1].sum() == pytest.approx(1, rel=1e-6)


def test_a_city_adds_nothing_to_its_code() -> None:
    alone = fit(of_values(table()[2:], [False] * 2))
    whole = MODEL.cell_probability([["s1"], ["c2"], ["z4"], ["x1"]]).probability[0]
    assert whole == pytest.approx(alone.cell_probability([["z4"], ["x1"]]).probability[0], rel=0.02)
    other = MODEL.cell_probability([["s1"], ["c0"], ["z4"], ["x1"]]).probability[0]
    assert 0 < other < whole / 100


@each_cell("model", [MODEL, ORDERED])
@each_cell(
    "person",
    [["s1", "c2", "z4", "x1"], [None, "c1", "z2", "x0"], ["s1", "c0", "z9", "x1"], ["?"] * 4],
)
def test_the_others_are_summed_over(model: PeopleModel, person: list[str | None]) -> None:
    cells, q = cells_of(model)
    if model is ORDERED:  # whose postal codes are numbers
        person = [*person[:2], NUMBER_OF_CODE.get(person[2] or ""), person[3]]
    codes = model.codes([[value] for value in person])[0]
    found = PeopleSubsets(model, codes).scores(CHOICES, 1e5)[0]
    for chosen, share in zip(CHOICES, found, strict=True):
        alike = (cells[:, chosen] == codes[chosen]).all(axis=1)
        several = np.prod(
            [c.multiplicity[codes[j]] for j, c in enumerate(model.marginals) if chosen[j]]
        )
        assert share == pytest.approx(q[alike].sum() / several, rel=1e-4), chosen


@each_cell("chosen", CHOICES)
def test_unique_people_are_those_of_all_cells_within_the_chance_of_the_draws(
    chosen: np.ndarray,
) -> None:
    people = 3000.0
    cells, q = cells_of(MODEL)
    back = np.unique(cells[:, chosen], axis=0, return_inverse=True)[1].ravel()
    several = np.prod(
        [MODEL.marginals[j].multiplicity[cells[:, j]] for j in np.flatnonzero(chosen)], axis=0
    )
    of_cell = np.bincount(back, q)[back] / several
    shapes = np.exp(SubsetShapes(MODEL).log_shapes(chosen[None, :], people)[0])
    xi = ((1 + people * of_cell[:, None] / shapes) ** -(shapes + 1)) @ MODEL.shapes
    want = float(q @ xi)
    chance = np.sqrt(max(float(q @ xi**2) - want**2, 0.0) / DRAWS)
    # nobody who is drawn lives in another city
    slips = sum(tie.exception_chance for tie in MODEL.determined)
    found = unique_share_by_subset(MODEL, people)(np.flatnonzero(chosen).tolist())
    assert found == pytest.approx(want, abs=4 * chance + 2e-3 * want + slips)


def test_fewer_columns_have_the_entropy_of_their_own_law() -> None:
    """Entropies of choices of columns, as every cell gives them; none has more than two that a tree joins."""
    shapes = SubsetShapes(MODEL)
    mass = [column.mass for column in MODEL.marginals]
    state, city, code, _ = (float(-(own @ np.log(own))) for own in mass)
    chosen = np.array(
        [[True, False, False, False], [False, True, True, False], [True, True, True, False]]
    )
    several = float(mass[2] @ np.log(MODEL.marginals[2].multiplicity))
    found = shapes._entropies(chosen)  # noqa: SLF001
    assert found == pytest.approx([state, code + several, code + several], abs=0.15)
    assert city > state


def test_who_is_drawn_lives_in_the_city_of_the_code() -> None:
    rows = sample_codes(MODEL, np.arange(2000), 1)
    texts = dict(zip(MODEL.columns, MODEL.texts(rows), strict=True))
    for code, city in zip(texts["c2"], texts["c1"], strict=True):
        assert code is not None
        assert city == f"c{int(code[1:]) // 2}"


def test_a_kept_file_holds_what_follows() -> None:
    read = from_json(to_json(MODEL))
    assert read.columns == MODEL.columns
    cells, _ = every_cell(MODEL.marginals)
    assert read.scored(cells).probability == pytest.approx(
        MODEL.scored(cells).probability, rel=1e-5
    )


@each_cell(
    "part, value",
    [
        ("place", 9),
        ("place", 1),
        ("source", 0),
        ("slip", 0),
        ("goes", [0]),
        ("goes", [99] * 10),
        ("mass", []),
    ],
)
def test_a_damaged_tie_is_refused(part: str, value: object) -> None:
    content = json.loads(to_json(MODEL))
    content["ties"][0][part] = value
    content.pop("sha256")
    content["sha256"] = compute_checksum(content)
    with pytest.raises(OutOfDomainError, match="a saved model must"):
        from_json(json.dumps(content))


def test_shares_from_outside_keep_a_column() -> None:
    reported = replace(EVIDENCE, known_shares={1: ([f"c{j}" for j in range(5)], np.ones(5))})
    model = fit(reported)
    assert 1 in model.free_columns
