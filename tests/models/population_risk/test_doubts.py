"""Scores of a model have the doubts that population_risk has on the same sample and population."""

import json
from dataclasses import replace

import numpy as np
import pytest

from reid_sql.errors import OutOfDomainError
from reid_sql.models.copula.calibration import record_risk
from reid_sql.models.copula.copula_file import compute_checksum
from reid_sql.models.fitted_model import Doubt
from reid_sql.models.people.evidence import PeopleEvidence, count_records
from reid_sql.models.people.fit import fit, from_json, to_json
from reid_sql.models.people.model import PeopleModel
from reid_sql.models.population_risk.answer import answer
from reid_sql.models.population_risk.doubts import NOT_OF_SCORES, find_doubts
from reid_sql.parameters import Integers


def codes_of(status: str) -> set[str]:
    return {each.partition(":")[0] for each in status.split("; ")} - {"ok"}


def evidence_of(codes: Integers) -> PeopleEvidence:
    coded = [np.unique(column, return_inverse=True) for column in codes.T]
    names = [[str(value) for value in seen.tolist()] for seen, _ in coded]
    table = np.stack([code.ravel() for _, code in coded], axis=1)
    return count_records(table, [f"c{j}" for j in range(len(names))], names, [False] * len(names))


def doubted(codes: Integers) -> PeopleModel:
    evidence = evidence_of(codes)
    model = fit(evidence)
    return replace(model, doubts=find_doubts(model, evidence))


def plain(rng: np.random.Generator, records: int) -> Integers:
    weights = [1 / np.arange(1, many + 1) ** 0.7 for many in (20, 10, 60)]
    return np.stack([rng.choice(len(w), records, p=w / w.sum()) for w in weights], axis=1)


def even(rng: np.random.Generator, records: int) -> Integers:
    """All 12,000 cells are as frequent as each other."""
    return np.stack([rng.integers(0, many, records) for many in (20, 10, 60)], axis=1)


def residents(rng: np.random.Generator, records: int) -> Integers:
    """A third of the people live in 40 institutions, whose residents agree in all but one column."""
    codes = np.stack([rng.integers(0, many, records) for many in (400, 30, 20, 2)], axis=1)
    shared = np.stack([rng.integers(0, many, 40) for many in (400, 30, 20)], axis=1)
    inside = rng.random(records) < 1 / 3
    codes[inside, :3] = shared[rng.integers(0, 40, int(inside.sum()))]
    return codes


def households(rng: np.random.Generator, records: int) -> Integers:
    """Whole households of one to four, who share a street and an income."""
    home = np.repeat(np.arange(records), rng.integers(1, 5, records))[:records]
    street, income = rng.integers(0, 300, records)[home], rng.integers(0, 400, records)[home]
    return np.stack([street, income, rng.integers(0, 40, records)], axis=1)


def house_numbers(rng: np.random.Generator, records: int) -> Integers:
    """A court, a year, and the number of a case, which restarts in each year of each court."""
    court, year, number = np.meshgrid(range(20), range(10), range(60), indexing="ij")
    cases = np.stack([court.ravel(), year.ravel(), number.ravel()], axis=1)
    return cases[rng.permutation(len(cases))[:records]]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (plain, set()),
        (even, {"even_classes"}),
        (residents, {"overdispersed"}),
        (households, {"repeated_people"}),
        (house_numbers, {"fewer_repeats"}),
    ],
)
def test_scores_have_every_doubt_of_population_risk(made, expected) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001
    rng = np.random.default_rng(7)
    codes = made(rng, 1500)
    model = doubted(codes)
    read = from_json(to_json(model))
    populations = [1500 * ratio for ratio in (2.5, 13.0, 60.0, 700.0, 3e4)]  # none that was tried
    exempt = {status.partition(":")[0] for status in NOT_OF_SCORES} | {"determined", "not_larger"}
    some = codes[:2].astype(str).T.tolist()
    for people, row in zip(populations, answer(evidence_of(codes), populations), strict=True):
        wanted = codes_of(row.status) - exempt
        for each in (model, read):
            cells = each.cell_probability(some)
            for sample in ("known", "ignored"):
                status = record_risk(cells, np.array([1, 1]), people, sample).status
                assert all(codes_of(one) >= wanted for one in status.tolist())
                assert made is not plain or status.tolist() == ["ok", "ok"]
    assert expected <= {code for doubt in model.doubts for code in codes_of(doubt.status)}


@pytest.mark.parametrize("records", [4, 12, 60])
def test_a_toy_table_has_no_doubt_but_that_it_is_small(records: int) -> None:
    for made in (plain, households):
        cells = doubted(made(np.random.default_rng(records), records)).cell_probability(
            [["0"], ["0"], ["0"]]
        )
        for status in record_risk(cells, np.array([1]), 1e4, "ignored").status.tolist():
            assert codes_of(status) - {"new_value", "unknown_value"} <= {
                "few_records",
                "no_repeats",
            }
        cells.refuse_doubts(1e4)


@pytest.mark.parametrize("made", [residents, house_numbers])
def test_a_score_without_a_status_is_refused_where_scores_are_far_too_low(made) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001
    """The sample is drawn from a population whose unique people are counted."""
    rng = np.random.default_rng(7)
    population = made(rng, 12_000)
    _, place, size = np.unique(population, axis=0, return_inverse=True, return_counts=True)
    rows = rng.permutation(12_000)[:1500]
    truth = (size[place.ravel()][rows] == 1).mean()
    model = doubted(population[rows])
    cells = model.cell_probability(population[rows].astype(str).T.tolist())
    assert cells.uniqueness(12_000).mean() < 0.8 * truth
    for each in (model, from_json(to_json(model))):
        with pytest.raises(OutOfDomainError, match="use score_records"):
            each.cell_probability([["1"]] * len(model.columns)).refuse_doubts([12_000.0])


def test_doubts_are_for_populations_of_a_size() -> None:
    model = replace(
        doubted(plain(np.random.default_rng(7), 500)),
        doubts=(Doubt("a: b", 10, 20, understates=True),),
    )
    cells = model.cell_probability([["0"] * 3, ["0"] * 3, ["0"] * 3])
    assert cells.status_at([9.0, 20.0, 21.0]).tolist() == ["ok", "a: b", "ok"]
    assert from_json(to_json(model)).doubts == model.doubts


def test_an_earlier_file_says_that_its_doubts_are_not_known() -> None:
    content = json.loads(to_json(doubted(plain(np.random.default_rng(7), 500))))
    for part in ("sha256", "doubts", "ties"):
        content.pop(part)
    content["version"] = 1
    read = from_json(json.dumps(content | {"sha256": compute_checksum(content)}))
    assert [codes_of(one.status) for one in read.doubts] == [{"old_file"}]


@pytest.mark.parametrize(
    "doubts",
    [None, [["a", 0.0, 1.0]], [["a", "0", 1.0, True]], [[1, 0.0, 1.0, True]], [["a", 0.0, 1.0, 2]]],
)
def test_damaged_doubts_are_refused(doubts: object) -> None:
    content = json.loads(to_json(doubted(plain(np.random.default_rng(7), 500))))
    content.pop("sha256")
    content["doubts"] = doubts
    with pytest.raises(OutOfDomainError, match="a saved model must"):
        from_json(json.dumps(content | {"sha256": compute_checksum(content)}))
