"""Exact sums against an attacker who tries all by hand; drawn ones within their standard error."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reid_sql.errors import UnknownNameError
from reid_sql.models.attacker import adversary, adversary_summary, knowledge
from reid_sql.models.attacker.adversary import AdversaryRisk, KnownRecords
from reid_sql.models.attacker.knowledge import STATUS_PITMAN
from reid_sql.models.attacker.scenario import scenario
from tests.attacker import Record, attack

COLUMNS = ["a", "b", "c", "d"]
VALUES = [None, "1", "2", "3", "4"]
PROBABILITIES = st.sampled_from([0.0, 1.0, 0.5, 0.3, 0.875])


def known(
    records: list[Record],
    columns: list[str],
    reported: list[str],
    people: list[Record] | None = None,
) -> KnownRecords:
    every = [*columns, *reported]
    own, others = (
        [tuple(record[column] for column in every) for record in each]
        for each in (records, people or [])
    )
    distinct = list(dict.fromkeys([*own, *others]))
    codes = [[VALUES.index(value) for value in each[: len(columns)]] for each in distinct]
    texts = [list(each[len(columns) :]) for each in distinct]
    members = None if people is None else np.array([others.count(each) for each in distinct])
    return KnownRecords(
        np.array([own.count(each) for each in distinct]), np.array(codes), texts, members
    )


def scored(
    records: list[Record],
    asked: dict[str, Any],
    nulls: str,
    people: list[Record] | None = None,
) -> list[tuple[float, ...]]:
    columns = [column for group in asked["groups"] for column in group["columns"]]
    reported = list(
        dict.fromkeys(
            [*(g["by"] for g in asked["groups"] if "by" in g), *asked.get("hierarchies", {})]
        )
    )
    found = adversary.score_known_records(known(records, columns, reported, people), asked, nulls)
    keys = list(
        dict.fromkeys(
            tuple(record[column] for column in [*columns, *reported]) for record in records
        )
    )
    places = [
        keys.index(tuple(record[column] for column in [*columns, *reported])) for record in records
    ]
    return [
        (found.prosecutor[p], found.journalist[p], found.marketer[p], found.overall[p])
        for p in places
    ]


@st.composite
def attacks(draw: st.DrawFn) -> tuple[list[Record], dict[str, Any], str]:
    """Draw a small table, and a scenario with any of what scenarios have."""
    values = st.sampled_from(VALUES)
    records: list[Record] = draw(
        st.lists(st.fixed_dictionaries(dict.fromkeys(COLUMNS, values)), min_size=1, max_size=8)
    )
    parts = draw(
        st.sampled_from(
            [["abcd"], ["ab", "cd"], ["a", "b", "cd"], ["a", "b", "c", "d"], ["c", "a"]]
        )
    )
    groups: list[dict[str, Any]] = []
    for part in parts:
        group: dict[str, Any] = {"columns": list(part)}
        if draw(st.booleans()):
            group["probability"] = draw(PROBABILITIES)
        else:
            by = {"1": draw(PROBABILITIES), "2": draw(PROBABILITIES)}
            group |= {
                "by": draw(st.sampled_from("abcd")),
                "probabilities": by,
                "otherwise": draw(PROBABILITIES),
            }
            group["values_may_be_absent"] = True
        groups.append(group)
    asked: dict[str, Any] = {
        "population": draw(st.sampled_from([len(records), 20, 1e6])),
        "groups": groups,
    }
    for name in (
        "presence_disclosed",
        "presence_discovered",
        "uniqueness_confirmed",
        "link_confirmed",
    ):
        asked[name] = draw(st.sampled_from([0.0, 0.2, 0.8, 1.0]))
    shapes: list[dict[str, Any]] = [
        {},
        {"broader": {"1": ["2", "3"], "2": ["4"]}},
        {"includes_all": ["3"]},
        {"broader": {"1": ["2"]}, "includes_all": ["4"]},
    ]
    column, shape = draw(st.sampled_from("".join(parts))), draw(st.sampled_from(shapes))
    steps = shape.get("broader", {})
    named = {
        *steps,
        *(each for broader in steps.values() for each in broader),
        *shape.get("includes_all", []),
    }
    if named & {record[column] for record in records}:
        asked["hierarchies"] = {column: shape}
    return records, asked, draw(st.sampled_from(["value", "wildcard"]))


@settings(max_examples=150)
@given(attacks())
def test_the_exact_sum_is_what_going_through_everything_by_hand_gives(
    drawn: tuple[list[Record], dict[str, Any], str],
) -> None:
    records, asked, nulls = drawn
    for found, expected in zip(
        scored(records, asked, nulls), attack(records, asked, nulls), strict=True
    ):
        assert found == pytest.approx(expected, abs=1e-12)


@settings(max_examples=150)
@given(attacks(), st.data())
def test_beside_a_population_table_each_record_is_looked_up_there(
    drawn: tuple[list[Record], dict[str, Any], str], data: st.DataObject
) -> None:
    records, asked, nulls = drawn
    another = st.fixed_dictionaries(dict.fromkeys(COLUMNS, st.sampled_from(VALUES)))
    others = data.draw(st.lists(another, max_size=6))
    missing = data.draw(st.integers(0, len(records)))  # the table may lack some of its own sample
    people = [*records[missing:], *others]
    expected = attack(records, asked, nulls, people)
    for found, risks in zip(scored(records, asked, nulls, people), expected, strict=True):
        assert found == pytest.approx(risks, abs=1e-12)


@pytest.fixture
def town() -> KnownRecords:
    rng = np.random.default_rng(3)
    codes, records = np.unique(
        rng.integers(1, [9, 3, 5, 4, 3], (400, 5)), axis=0, return_counts=True
    )
    return KnownRecords(records, codes, [[str(row[1])] for row in codes])


TOWN = {
    "population": 10_000,
    "presence_disclosed": 0.5,
    "uniqueness_confirmed": 0.6,
    "link_confirmed": 0.7,
    "groups": [
        {"columns": ["age"], "by": "sex", "probabilities": {"1": 0.7}, "otherwise": 0.2},
        *({"columns": [column], "probability": 0.4} for column in ("sex", "zip", "race", "work")),
    ],
}


def test_drawn_sets_agree_with_the_exact_sum_within_their_standard_error(
    town: KnownRecords, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = adversary.score_known_records(town, TOWN)
    assert exact.status == STATUS_PITMAN
    assert not exact.standard_error.any()
    monkeypatch.setattr(adversary, "MAX_ENUMERATED_SETS", 1)
    drawn = [
        adversary.score_known_records(town, TOWN, trials=2_000, seed=seed) for seed in range(12)
    ]
    assert drawn[0].status.startswith("knowledge_drawn: 2000 knowledge sets were drawn")
    for measure in adversary.MEASURES:
        off = np.array([_off(each, exact, measure) for each in drawn])
        assert np.abs(off).max() < 5.5
        # The bound is the largest of the four measures': none may spread more widely than it says.
        assert np.sqrt((off**2).mean()) < 1.15
    spread = np.array([_off(each, exact, "marketer") for each in drawn])
    assert np.sqrt((spread**2).mean()) > 0.3


def _off(drawn: AdversaryRisk, exact: AdversaryRisk, measure: str) -> Any:
    error = np.maximum(drawn.standard_error, 1e-12)
    return (getattr(drawn, measure) - getattr(exact, measure)) / error


def test_the_same_seed_draws_the_same_sets(
    town: KnownRecords, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adversary, "MAX_ENUMERATED_SETS", 1)
    first, again, other = (
        adversary.score_known_records(town, TOWN, trials=200, seed=seed) for seed in (7, 7, 8)
    )
    assert (first.overall == again.overall).all()
    assert (first.overall != other.overall).any()


def test_more_than_the_stated_number_of_sets_are_drawn() -> None:
    codes = np.arange(1, 4)[:, None] * np.ones((1, 17), dtype=np.int64)
    people = KnownRecords(np.ones(3, dtype=np.int64), codes, [[], [], []])
    groups = [{"columns": [f"c{place}"], "probability": 0.5} for place in range(17)]
    drawn = adversary.score_known_records(people, {"population": 9, "groups": groups}, trials=100)
    assert "100 knowledge sets were drawn" in drawn.status
    certain = [*groups[:16], {"columns": ["c16"], "probability": 1.0}]
    assert (
        "drawn"
        not in adversary.score_known_records(people, {"population": 9, "groups": certain}).status
    )
    assert knowledge.MAX_ENUMERATED_SETS == 2**16


def test_knowledge_that_tells_nobody_apart_is_counted_once() -> None:
    codes = np.array([[1, 1, 5], [2, 2, 5], [3, 3, 5]])
    people = KnownRecords(np.array([1, 2, 3]), codes, [[], [], []])
    groups = [{"columns": [name], "probability": 0.5} for name in "abc"]
    given = scenario({"population": 9, "groups": groups})
    assert (
        adversary.compute_expectations(people, given, "value", trials=100, seed=0).sets == 3
    )  # nothing, b, and a, to which b adds nothing


def test_where_the_sample_leaves_no_estimate_uniqueness_is_certain_and_the_status_says_so() -> None:
    people = KnownRecords(np.ones(3, dtype=np.int64), np.array([[1], [2], [3]]), [[], [], []])
    found = adversary.score_known_records(
        people, {"population": 1000, "groups": [{"columns": ["a"], "probability": 0.5}]}
    )
    assert found.journalist.tolist() == [0.5, 0.5, 0.5]
    assert found.status.startswith(
        "taken_as_unique: 1 of 2 knowledge sets have no estimate in the population"
    )


def test_a_sample_that_is_the_population_makes_prosecutor_and_journalist_one() -> None:
    people = KnownRecords(np.array([1, 2, 4]), np.array([[1], [2], [3]]), [[], [], []])
    found = adversary.score_known_records(
        people, {"population": 7, "groups": [{"columns": ["a"], "probability": 0.3}]}
    )
    assert found.journalist.tolist() == found.prosecutor.tolist() == [0.3, 0.0, 0.0]
    assert found.status == "ok"


def test_one_record_is_alone_whatever_is_known() -> None:
    people = KnownRecords(np.array([1]), np.array([[1]]), [[]])
    found = adversary.score_known_records(
        people, {"population": 1, "groups": [{"columns": ["a"], "probability": 0.1}]}
    )
    assert [*found.prosecutor, *found.marketer, *found.overall] == [1.0, 1.0, 1.0]


def test_each_subject_may_have_groups_of_its_own() -> None:
    records: list[Record] = [
        *(
            {"a": first, "b": second, "c": state}
            for first in "112"
            for second in "12"
            for state in "12"
        ),
        {"a": "3", "b": "1", "c": "1"},
        {"a": "3", "b": "3", "c": "2"},
    ]
    groups = [
        {"columns": ["a", "b"], "by": "c", "probabilities": {"1": 0.5}, "otherwise": 0.0},
        {"columns": ["a"], "by": "c", "probabilities": {"2": 0.5}, "otherwise": 0.0},
        {"columns": ["b"], "by": "c", "probabilities": {"2": 0.25}, "otherwise": 0.0},
    ]
    asked = {"population": 60, "groups": groups}
    who = KnownRecords(
        np.ones(len(records), dtype=np.int64),
        np.array([[VALUES.index(record[name]) for name in "ab"] for record in records]),
        [[record["c"]] for record in records],
    )
    found = adversary.score_known_records(who, asked)
    rows = zip(found.prosecutor, found.journalist, found.marketer, found.overall, strict=True)
    for row, expected in zip(rows, attack(records, asked), strict=True):
        assert row == pytest.approx(expected, abs=1e-12)
    worst = adversary.compute_worst_case(who, scenario(asked), "value")
    assert worst.prosecutor.sum() == 2  # those of a = 3


def test_groups_of_many_kinds_of_subject_are_counted_one_by_one() -> None:
    kinds = np.zeros((30, 10))
    for kind in range(10):
        kinds[3 * kind : 3 * kind + 3, kind] = 0.5
    assert knowledge.count_sets(kinds) == 10 * 2**3
    assert knowledge.count_sets(np.full((4, 3), 0.5)) == 2**4


def test_what_only_rests_on_counts_is_ok_and_the_rest_names_pitman(town: KnownRecords) -> None:
    found = adversary_summary.summarize_adversary(town, TOWN)
    assert [row.status for row in found] == [
        "ok",
        STATUS_PITMAN,
        "ok",
        STATUS_PITMAN,
    ]
    never = adversary_summary.summarize_adversary(town, TOWN | {"uniqueness_confirmed": 0.0})
    assert [row.status for row in never] == ["ok", STATUS_PITMAN, "ok", "ok"]


def test_a_value_that_only_dropped_records_have_and_an_idle_hierarchy_are_noted() -> None:
    people = KnownRecords(
        np.array([1, 1, 2]), np.array([[1], [2], [3]]), [["x", "p"], ["y", "q"], ["z", "q"]]
    )
    groups = [
        {"columns": ["b"], "by": "a", "probabilities": {"x": 0.5, "w": 0.5}, "otherwise": 0.1}
    ]
    asked = {"population": 4, "groups": groups, "hierarchies": {"b": {"includes_all": ["*"]}}}
    with pytest.raises(
        UnknownNameError, match="must tell probabilities for values of 'a', got 'w'"
    ):
        adversary.score_known_records(people, asked)
    found = adversary.score_known_records(people, asked, "drop")
    assert found.prosecutor.tolist() == [0.5, 0.1, 0.0]
    assert found.status == (
        "unused_probability: groups[1] has a probability for 'w', a value of 'a' that no record has; "
        "unused_hierarchy: hierarchies.b contains none of the values of 'b' in this table"
    )


def test_blank_records_are_nobody_elses_match() -> None:
    people = KnownRecords(np.array([1, 1, 4]), np.array([[1, 1], [2, 0], [0, 0]]), [[], [], []])
    asked = {"population": 6, "groups": [{"columns": ["a", "b"], "probability": 1}]}
    found = adversary.score_known_records(people, asked, "wildcard")
    assert found.prosecutor.tolist() == [1.0, 1.0, 0.0]
    assert found.marketer == pytest.approx([1.0, 1.0, 1 / 6])
    assert found.status.startswith(
        "blank_records: 4 records have no value in the scenario's columns"
    )
