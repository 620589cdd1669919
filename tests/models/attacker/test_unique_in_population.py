"""u(S) by a population table and by a fitted model."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from reid_sql.errors import OutOfDomainError, UnknownNameError
from reid_sql.models.attacker import adversary, adversary_summary, knowledge
from reid_sql.models.attacker.adversary import KnownRecords
from reid_sql.models.classes import disclosure
from reid_sql.models.people.fit import fit
from reid_sql.models.population.subset_uniqueness import unique_share_by_subset
from reid_sql.parameters import Integers
from tests.people_tables import three_columns

MODEL = fit(three_columns(300))
NAMES = MODEL.columns


def people(codes: Sequence[Sequence[int]], members: Integers | None = None) -> KnownRecords:
    ones = np.ones(len(codes), dtype=np.int64)
    return KnownRecords(ones, np.array(codes), [[] for _ in codes], members)


def choose_methods(*groups: tuple[Sequence[str], float], **more: Any) -> dict[str, Any]:
    reported = [{"columns": list(columns), "probability": chance} for columns, chance in groups]
    return {"population": 5_000, "groups": reported} | more


TOWN = people([[1, 1, 1], [1, 2, 1], [2, 2, 2], [2, 3, 2], [3, 3, 3]])


def test_a_model_says_how_many_of_those_alone_are_alone_in_the_population() -> None:
    unique = unique_share_by_subset(MODEL, 5_000)
    by_one = adversary.score_known_records(
        TOWN, choose_methods(([NAMES[0]], 1.0), (NAMES[1:], 0.0)), model=MODEL
    )
    by_all = adversary.score_known_records(TOWN, choose_methods((NAMES, 1.0)), model=MODEL)
    assert by_one.prosecutor.tolist() == [0, 0, 0, 0, 1]
    assert by_one.journalist == pytest.approx([0, 0, 0, 0, min(1.0, 5 * unique([0]) / 1)])
    assert by_all.journalist == pytest.approx(np.full(5, min(1.0, 5 * unique([0, 1, 2]) / 5)))
    assert by_all.status == knowledge.STATUS_MODEL


def test_columns_that_tell_nobody_apart_in_the_sample_may_do_so_in_the_population() -> None:
    unique = unique_share_by_subset(MODEL, 5_000)
    alike = people([[1, 1, 1], [2, 2, 1], [3, 3, 1]])  # the third column is the same for all
    scenario = choose_methods(([NAMES[0]], 1.0), ([NAMES[1]], 0.0), ([NAMES[2]], 0.5))
    found = adversary.score_known_records(alike, scenario, model=MODEL).journalist
    want = (min(1.0, unique([0])) + min(1.0, unique([0, 2]))) / 2
    assert found == pytest.approx(np.full(3, want))
    assert unique([0, 2]) > unique([0])


def test_a_sample_that_is_the_population_needs_no_model() -> None:
    found = adversary.score_known_records(
        TOWN, choose_methods((NAMES, 1.0), population=5), model=MODEL
    )
    assert found.journalist.tolist() == [1.0] * 5
    assert found.status == "ok"


def test_the_worst_case_rests_on_the_same_model() -> None:
    rows = {
        row.measure: row
        for row in adversary_summary.summarize_adversary(
            TOWN, choose_methods((NAMES, 0.25)), model=MODEL
        )
    }
    assert rows["journalist"].reduction_median == pytest.approx(0.75)
    assert rows["prosecutor"].status == "ok"
    settings = adversary_summary.summarize_settings(
        TOWN, choose_methods((NAMES, 0.25)), [0.5], model=MODEL
    )
    assert settings[0].status == knowledge.STATUS_MODEL


def test_a_model_that_lacks_a_column_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="of the model, got 'sx'; did you mean 'sex'"):
        adversary.score_known_records(TOWN, choose_methods((["sx", *NAMES[1:]], 1.0)), model=MODEL)


def test_letters_of_either_case_name_a_column_of_the_model_as_in_sql() -> None:
    names = [name.upper() for name in NAMES]
    found, same = (
        adversary.score_known_records(TOWN, choose_methods((each, 1.0)), model=MODEL)
        for each in (names, NAMES)
    )
    assert found.journalist.tolist() == same.journalist.tolist()
    assert names != list(NAMES)


def test_only_one_of_them_can_say_who_is_unique() -> None:
    both = people([[1, 1, 1], [2, 2, 2]], np.array([1, 0]))
    with pytest.raises(
        OutOfDomainError, match="population_tbl and model must not both be given, got both"
    ):
        adversary.score_known_records(both, choose_methods((NAMES, 1.0)), model=MODEL)


def test_records_that_only_the_population_holds_have_no_risk_and_those_it_lacks_are_described() -> (
    None
):
    codes = np.array([[1, 1], [1, 2], [2, 1], [2, 2]])
    both = KnownRecords(np.array([1, 2, 1, 0]), codes, [[]] * 4, np.array([1, 1, 0, 4]))
    scenario = {
        "population": 7,
        "groups": [{"columns": ["a"], "probability": 0.5}, {"columns": ["b"], "probability": 0.5}],
    }
    found = adversary.score_known_records(both, scenario)
    # (1, 1) is alone by both columns in both tables; (2, 1) is alone by a in the table, not in the
    # population, which lacks it, so that by both columns the table alone counts.
    assert found.journalist.tolist() == [0.25, 0.0, 0.25, 0.0]
    assert found.prosecutor.tolist() == [0.25, 0.0, 0.5, 0.0]
    assert found.overall[3] == found.marketer[3] == 0
    assert found.status == disclosure.STATUS_UNCOVERED.format(3)
    summary = adversary_summary.summarize_adversary(both, scenario)
    assert {row.records for row in summary} == {4}
    assert summary[1].average == pytest.approx(0.5 / 4)


def test_drawn_sets_look_records_up_too(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    codes, members = np.unique(rng.integers(1, [9, 4, 6, 5], (900, 4)), axis=0, return_counts=True)
    records = rng.binomial(members, 0.3)
    both = KnownRecords(records, codes, [[] for _ in codes], members)
    scenario = choose_methods(*(([name], 0.5) for name in "abcd"))
    exact = adversary.score_known_records(both, scenario)
    monkeypatch.setattr(adversary, "MAX_ENUMERATED_SETS", 1)
    drawn = [
        adversary.score_known_records(both, scenario, trials=2_000, seed=seed) for seed in range(8)
    ]
    off = np.array([each.journalist - exact.journalist for each in drawn])
    error = np.array([np.maximum(each.standard_error, 1e-12) for each in drawn])
    assert exact.journalist.max() > 0
    assert np.abs(off / error).max() < 5.5
    assert np.abs(off).max() > 0
