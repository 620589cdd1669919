"""Inference with abstention, against loops over people and every rule; leaks that are planted, and none."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reid_sql.models.synthetic.audit import STATUS_HOLDOUT_OVERLAPS
from reid_sql.models.synthetic.audited_tables import (
    AuditedTables,
    Holders,
    OrderedTables,
    draw_people,
)
from reid_sql.models.synthetic.released_inference import InferenceRisk, measure_inference
from reid_sql.models.synthetic.sure_inference import (
    RULES,
    Counts,
    Trial,
    audit_sure_inference,
    list_subsets,
)
from tests.audited import Row, encode, encode_people

ROW: st.SearchStrategy[Row] = st.tuples(
    *(st.sampled_from(values) for values in (["p", "q", None], [1, 2], [0, 3], ["x", "y", "z"]))
)
PEOPLE = st.lists(st.lists(ROW, min_size=1, max_size=3), min_size=1, max_size=9)
TARGET = 3
Person = list[tuple[int, ...]]


class Success(NamedTuple):
    attacked: bool
    right: bool


def attack(
    person: Person,
    released: Sequence[Person],
    known: Sequence[int],
    rule: tuple[int, int],
    missing: int,
) -> Success:
    """What an attacker does with each row of a person, and whether one of those that she attacks is right.

    Missing people of the class count as ones that agree.
    """
    percent, least = rule
    attacked = right = False
    for row in person:
        agreeing = [
            {other[TARGET] for other in own if all(other[at] == row[at] for at in known)}
            for own in released
        ]
        matches = [values for values in agreeing if values]
        counts = Counter(value for values in matches for value in values).most_common()
        if not counts or (len(counts) > 1 and counts[0][1] == counts[1][1]):
            continue
        value, times = counts[0]
        is_large = len(matches) + missing >= least
        is_sure = 100 * (times + missing) >= percent * (len(matches) + missing)
        if is_large and is_sure and times > len(matches) - times:
            attacked = True
            right = right or value == row[TARGET]
    return Success(attacked, right)


def persons(holders: Holders, tables: OrderedTables) -> list[Person]:
    ends = np.r_[holders.starts, len(holders.rows)]
    return [
        [tuple(map(int, tables.codes[:, row])) for row in holders.rows[start:end]]
        for start, end in pairwise(ends)
    ]


def count(successes: list[Success]) -> Counts:
    return Counts(
        len(successes), sum(each.attacked for each in successes), sum(e.right for e in successes)
    )


def assert_counted(tables: AuditedTables, *, is_released: bool) -> None:
    """Every figure is that of the loops, and no rule would have served better on the choosing half."""
    ordered = tables.in_order()
    people = draw_people(ordered, 1000, np.random.default_rng(0))
    trial = Trial(ordered, people, np.random.default_rng(1))
    tried, released = persons(people.holders, ordered), persons(ordered.synthetic_people, ordered)
    is_own = is_released and bool(people.is_original.all())

    def measure(known: Sequence[int], rule: tuple[int, int], some: Any, *, without: bool) -> Counts:
        return count(
            [
                attack(
                    tried[at],
                    [other for place, other in enumerate(released) if not without or place != at],
                    known,
                    rule,
                    int(without),
                )
                for at in np.flatnonzero(some)
            ]
        )

    subsets = list_subsets([0, 1, 2], 2)
    attacks = trial.attack(TARGET, subsets, 0.9, is_released=is_released)
    assert sorted(each.known for each in attacks) == sorted(subsets)
    assert [each.strength for each in attacks] == sorted(
        (e.strength for e in attacks), reverse=True
    )
    original, chooses = people.is_original, trial.is_choosing
    for each in attacks:
        assert each.counts == measure(each.known, each.rule, original & ~chooses, without=False)
        others = original if is_own else ~original
        if each.control_rule is None:
            assert is_released
            assert each.control in (Counts(int(np.count_nonzero(others & ~chooses)), 0, 0), None)
        else:
            control = measure(each.known, each.control_rule, others & ~chooses, without=is_own)
            assert each.control == (control if control.people else None)
        if is_released:
            controls = [
                measure(each.known, rule, others & chooses, without=is_own) for rule in RULES
            ]
            chosen = (
                0 if each.control_rule is None else controls[RULES.index(each.control_rule)].right
            )
            same = measure(each.known, each.rule, original & chooses, without=False)
            if is_alike(same, controls[RULES.index(each.rule)]):
                assert each.control_rule == each.rule
            else:
                assert chosen == max(filter(None, map(precise, controls)), default=0)
            every = [measure(each.known, rule, original & chooses, without=False) for rule in RULES]
            served = [c.right for c in every if c.attacked and 10 * c.right >= 9 * c.attacked]
            assert each.strength[0] == bool(served)
            assert not served or every[RULES.index(each.rule)].right == max(served)


def precise(counts: Counts) -> int | None:
    """How many are right, unless nobody is attacked or fewer than 9 in 10 are right, by a one-sided test."""
    doubt = NormalDist().inv_cdf(0.95) * (0.9 * 0.1 * counts.attacked) ** 0.5
    return (
        counts.right if counts.attacked and counts.right >= 0.9 * counts.attacked - doubt else None
    )


def is_alike(one: Counts, other: Counts) -> bool:
    """Whether the precision of the other is not clearly lower, at 1 in 10,000, by the test of two shares."""
    if not one.attacked or not other.attacked:
        return False
    pooled = (one.right + other.right) / (one.attacked + other.attacked)
    variance = pooled * (1 - pooled) * (1 / one.attacked + 1 / other.attacked)
    gap = one.right / one.attacked - other.right / other.attacked
    return bool(gap <= NormalDist().inv_cdf(0.9999) * variance**0.5)


@given(PEOPLE)
@settings(max_examples=15)
def test_a_released_table_is_attacked_with_and_without_each_persons_record(
    people: list[list[Row]],
) -> None:
    tables = encode_people(people, [], [])
    assert_counted(replace(tables, synthetics=tables.originals), is_released=True)


@given(PEOPLE, PEOPLE, PEOPLE)
@settings(max_examples=15)
def test_a_synthetic_table_is_attacked_for_people_of_both_sides(
    original: list[list[Row]], synthetic: list[list[Row]], holdout: list[list[Row]]
) -> None:
    assert_counted(encode_people(original, synthetic, holdout), is_released=False)


@given(st.lists(ROW, min_size=1, max_size=12), st.lists(ROW, min_size=1, max_size=12))
@settings(max_examples=15)
def test_records_are_people_where_nothing_names_them(
    released: list[Row], holdout: list[Row]
) -> None:
    for others in ([], holdout):
        tables = encode(released, [], others)
        assert_counted(replace(tables, synthetics=tables.originals), is_released=True)


def draw(rng: np.random.Generator, people: int) -> list[Row]:
    """People whose value in the last column hangs on the first one, and not on the others."""
    first, second, third = (rng.integers(0, size, people).tolist() for size in (4, 30, 40))
    noise = rng.integers(0, 6, people).tolist()
    is_typical = (rng.random(people) < 0.5).tolist()
    last = [
        str(a if typical else n) for a, n, typical in zip(first, noise, is_typical, strict=True)
    ]
    return [(str(a), b, c, d) for a, b, c, d in zip(first, second, third, last, strict=True)]


def plant(rows: list[Row], size: int) -> list[Row]:
    """Put three people in ten in places of their own, each of so many people who share a value."""
    few = 3 * len(rows) // 10
    shared = [
        (row[0], 100 + at // size, row[2], str(at // size % 6)) for at, row in enumerate(rows[:few])
    ]
    return [*shared, *rows[few:]]


def test_inference_of_three_people_in_ten_is_found_in_a_synthetic_table() -> None:
    """The values of these people were memorized; nothing else is sure at this precision."""
    rng = np.random.default_rng(3)
    drawn, others, holdout = (draw(rng, 1000) for _ in range(3))
    original = plant(drawn, 3)
    elsewhere = [(a, 100 + at // 3, c, d) for at, (a, _, c, d) in enumerate(holdout[:300])]
    synthetic = [*original[:300], *others[300:]]
    tables = encode(original, synthetic, [*elsewhere, *holdout[300:]], [False] * 4).in_order()
    people = draw_people(tables, 10_000, np.random.default_rng(0))
    share, precision, strongest, _ = audit_sure_inference(tables, people, np.random.default_rng(0))
    assert share.column_name is not None
    assert share.column_name.startswith("c3 / ")
    assert precision.original is not None
    assert precision.original >= 0.95
    assert share.original is not None
    assert share.original >= 0.9 * 0.3
    assert share.low is not None
    assert share.low > 0.15
    assert strongest.excess is not None
    assert strongest.excess >= 0.9 * 0.3
    assert share.risk == pytest.approx((share.original - share.holdout) / (1 - share.holdout))  # type: ignore[operator]


def test_inference_of_three_people_in_ten_is_found_in_a_released_table() -> None:
    """Classes of 10 people share a value: others' records reveal it, so nearly none of it is an excess."""
    rng = np.random.default_rng(4)
    rows = plant([(a, b % 3, 0, d) for a, b, _, d in draw(rng, 1000)], 10)
    best = risks(rows)[0]
    assert best.columns == ["c1"]
    assert best.precision is not None
    assert best.precision >= 0.95
    assert best.recall >= 0.9 * 0.3
    assert best.excess < 0.02


def risks(rows: list[Row], holdout: list[Row] | None = None) -> list[InferenceRisk]:
    tables = encode(rows, [], holdout or [], [False] * 4)
    return measure_inference(replace(tables, synthetics=tables.originals), 3, 0.95, 10_000, 0)


def test_unique_people_are_inferred_from_their_own_record_alone() -> None:
    rows = [("a", at, at, "xyz"[at % 3]) for at in range(60)]
    best = risks(rows)[0]
    assert (best.precision, best.recall, best.baseline_recall, best.excess) == (1, 1, 0, 1)
    assert best.baseline_precision is None


def test_a_holdout_of_the_same_people_is_no_baseline() -> None:
    """The table knows them, too, so their recall hides what own records give away."""
    rng = np.random.default_rng(5)
    rows, others = (
        [("a", int(at), int(at) % 7, "xyz"[at % 3]) for at in rng.permutation(900)] for _ in "ab"
    )
    rows, others = rows[:300], [row for row in others if row not in rows[:300]][:300]
    assert {each.status for each in risks(rows, rows)} >= {STATUS_HOLDOUT_OVERLAPS}
    assert risks(rows, rows)[0].excess < 0.05
    assert risks(rows, rows[:40] + others[40:])[0].status == STATUS_HOLDOUT_OVERLAPS
    assert STATUS_HOLDOUT_OVERLAPS not in {each.status for each in risks(rows, others)}
    assert risks(rows, others)[0].excess > 0.9


def test_few_draws_find_a_leak_where_nothing_leaks() -> None:
    """Of 40 draws, each interval of 95 % lies above 0 in one, and in more than 4 once in 200 runs."""
    false = Counter[tuple[str, str]]()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        original, synthetic, holdout = (draw(rng, 300) for _ in range(3))
        tables = encode(original, synthetic, holdout, [False] * 4).in_order()
        people = draw_people(tables, 10_000, rng)
        for row in audit_sure_inference(tables, people, rng):
            false[row.attack, row.figure] += row.low is not None and row.low > 0
    assert max(false.values()) <= 4
