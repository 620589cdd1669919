"""Inference with abstention, against loops over people and every rule; leaks that are planted, and none."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
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
    SureAttack,
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


def assert_counted(  # noqa: C901, PLR0915 - every figure of one attack
    tables: AuditedTables, *, is_released: bool
) -> None:
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

    def mixed(some: Any, each: SureAttack) -> int:
        """About how many the rule, and where it abstains the baseline, is right without own records."""
        assert each.control_rule is not None
        right = 0
        for at in np.flatnonzero(some):
            left = [other for place, other in enumerate(released) if not is_own or place != at]
            own = attack(tried[at], left, each.known, each.rule, int(is_own))
            other = attack(tried[at], left, each.control_known, each.control_rule, int(is_own))
            right += own.right if own.attacked else other.right
        return right

    subsets = list_subsets([0, 1, 2], 2)
    attacks = trial.attack(TARGET, subsets, 0.9, is_released=is_released)
    assert sorted(each.known for each in attacks) == sorted(subsets)
    assert [each.strength for each in attacks] == sorted(
        (e.strength for e in attacks), reverse=True
    )
    original, chooses = people.is_original, trial.is_choosing
    others = original if is_own else ~original
    best, limit = 0, 0.0
    if is_released:
        holders = Counter(value for own in released for value in {row[TARGET] for row in own})
        guess = min(holders, key=lambda value: (-holders[value], value))
        chosen = [
            any(row[TARGET] == guess for row in tried[at])
            for at in np.flatnonzero(original & chooses)
        ]
        limit = min(0.9, (sum(chosen) / max(1, len(chosen)) + 0.9) / 2)
        controls = [
            measure(known, rule, others & chooses, without=is_own)
            for known in [*subsets, ()]
            for rule in RULES
        ]
        precise = [c.right for c in controls if c.right >= limit * c.attacked - 1e-9]
        best = max(precise, default=0)
    for each in attacks:
        assert each.counts == measure(each.known, each.rule, original & ~chooses, without=False)
        if each.control_rule is None:
            assert is_released
            assert best == 0
            assert each.control in (Counts(int(np.count_nonzero(others & ~chooses)), 0, 0), None)
            assert each.joint_right == each.counts.right
        else:
            known = each.control_known
            assert is_released or (known, each.control_rule) == (each.known, each.rule)
            alone = partial(measure, known, each.control_rule, without=is_own)
            expected = alone(others & ~chooses)
            if is_released and mixed(others & chooses, each) > alone(others & chooses).right:
                assert each.control is None or each.control.right == mixed(others & ~chooses, each)
            else:
                assert each.control == (expected if expected.people else None)
        if is_released and each.control_rule is not None:
            control = measure(
                each.control_known, each.control_rule, others & chooses, without=is_own
            )
            assert control.right == best > 0
            assert control.right >= limit * control.attacked - 1e-9
            joint = 0
            for at in np.flatnonzero(original & ~chooses):
                own = attack(tried[at], released, each.known, each.rule, 0)
                other = attack(tried[at], released, each.control_known, each.control_rule, 0)
                joint += own.right if own.attacked else other.right
            assert each.joint_right == joint
        if is_released:
            every = [measure(each.known, rule, original & chooses, without=False) for rule in RULES]
            served = [c.right for c in every if c.attacked and 10 * c.right >= 9 * c.attacked]
            assert each.strength[0] == bool(served)
            assert not served or every[RULES.index(each.rule)].right == max(served)


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
    # where she abstains, a person's own record tips a few classes of the baseline's columns
    assert best.excess_low < 0
    assert best.excess < 0.05


def risks(rows: list[Row], holdout: list[Row] | None = None) -> list[InferenceRisk]:
    tables = encode(rows, [], holdout or [], [False] * 4)
    return measure_inference(replace(tables, synthetics=tables.originals), 3, 0.95, 10_000, 0)


@pytest.mark.parametrize("noise", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("values", ["wxyz", "xy"])
def test_own_records_add_no_more_than_other_columns_leave_open(values: str, noise: float) -> None:
    """One column gives the value away but for the noise, whatever columns single people out."""
    rng = np.random.default_rng(9)
    firsts, noisy = rng.integers(0, 20, 1000), rng.random(1000) < noise
    drawn = rng.integers(0, len(values), 1000)
    rows = [
        (str(a), at, at % 10, values[d if other else a % len(values)])
        for at, (a, d, other) in enumerate(zip(firsts.tolist(), drawn.tolist(), noisy, strict=True))
    ]
    best = risks(rows)[0]
    added = noise * (1 - 1 / len(values))
    assert best.baseline_columns == ["c0"]
    assert best.excess_low <= added <= best.excess_high
    assert all(each.excess_low <= added for each in risks(rows))
    # control: nothing else gives it away
    alone = risks([(row[1], row[1] % 500, row[2], row[3]) for row in rows])[0]
    assert alone.excess > 0.5


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
