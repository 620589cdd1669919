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
from reid_sql.models.synthetic.matches import RULES
from reid_sql.models.synthetic.released_inference import InferenceRisk, measure_inference
from reid_sql.models.synthetic.sure_inference import (
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


class Loops:
    """The attack by loops over people, on both halves of them."""

    def __init__(self, tables: AuditedTables, *, is_released: bool) -> None:
        self.tables, self.is_released = tables.in_order(), is_released
        self.people = draw_people(self.tables, 1000, np.random.default_rng(0))
        self.trial = Trial(
            self.tables, self.people, np.random.default_rng(1), is_released=is_released
        )
        self.tried = persons(self.people.holders, self.tables)
        self.released = persons(self.tables.synthetic_people, self.tables)
        original, chooses = self.people.is_original, self.trial.is_choosing
        self.takes_out = is_released and bool(original.all())
        control = original if self.takes_out else ~original
        self.choosing, self.measured = original & chooses, original & ~chooses
        self.choosing_control, self.measured_control = control & chooses, control & ~chooses

    def try_person(
        self, place: int, columns: Sequence[int], rule: tuple[int, int], *, without: bool
    ) -> Success:
        """What a rule does about a person, where told so without their own records."""
        rest = [person for at, person in enumerate(self.released) if not without or at != place]
        return attack(self.tried[place], rest, columns, rule, int(without))

    def measure(
        self, columns: Sequence[int], rule: tuple[int, int], people: Any, *, without: bool = False
    ) -> Counts:
        successes = [
            self.try_person(place, columns, rule, without=without)
            for place in np.flatnonzero(people).tolist()
        ]
        attacked = sum(success.attacked for success in successes)
        return Counts(len(successes), attacked, sum(success.right for success in successes))

    def count_joint(self, people: Any, row: SureAttack, *, without: bool) -> int:
        """About how many people the rule, or where it abstains the baseline, is right."""
        assert row.control_rule is not None
        right = 0
        for place in np.flatnonzero(people).tolist():
            first = self.try_person(place, row.columns, row.rule, without=without)
            second = self.try_person(place, row.control_columns, row.control_rule, without=without)
            right += first.right if first.attacked else second.right
        return right

    def limit(self) -> float:
        """The precision of a baseline: halfway from a guess of the most frequent value to 0.9."""
        holders = Counter(
            value for person in self.released for value in {r[TARGET] for r in person}
        )
        guess = min(holders, key=lambda value: (-holders[value], value))
        places = np.flatnonzero(self.choosing)
        right = [any(row[TARGET] == guess for row in self.tried[place]) for place in places]
        return min(0.9, (sum(right) / max(1, len(right)) + 0.9) / 2)


def assert_counted(tables: AuditedTables, *, is_released: bool) -> None:
    """Every figure is that of the loops, and no rule would have served better on the choosing half."""
    loops = Loops(tables, is_released=is_released)
    subsets = list_subsets([0, 1, 2], 2)
    attacks = loops.trial.attack(TARGET, subsets, [0.9])[0]
    assert sorted(row.columns for row in attacks) == sorted(subsets)
    strengths = [row.strength for row in attacks]
    assert strengths == sorted(strengths, reverse=True)
    for row in attacks:
        assert row.counts == loops.measure(row.columns, row.rule, loops.measured)
    if is_released:
        assert_released(loops, attacks, [*subsets, ()])
        return
    for row in attacks:
        assert (row.control_columns, row.control_rule) == (row.columns, row.rule)
        expected = loops.measure(row.columns, row.rule, loops.measured_control)
        assert row.control == (expected if expected.people else None)


def assert_released(
    loops: Loops, attacks: list[SureAttack], subsets: list[tuple[int, ...]]
) -> None:
    """The baseline is the best precise rule of any columns, and each rule the best of its own."""
    limit = loops.limit()
    controls = [
        loops.measure(columns, rule, loops.choosing_control, without=loops.takes_out)
        for columns in subsets
        for rule in RULES
    ]
    precise = [c.right for c in controls if c.right >= limit * c.attacked - 1e-9]
    best = max(precise, default=0)
    for row in attacks:
        served = [loops.measure(row.columns, rule, loops.choosing) for rule in RULES]
        rights = [c.right for c in served if c.attacked and 10 * c.right >= 9 * c.attacked]
        assert row.strength[0] == bool(rights)
        assert not rights or served[RULES.index(row.rule)].right == max(rights)
        if row.control_rule is None:
            assert best == 0
            people = int(np.count_nonzero(loops.measured_control))
            assert row.control in (Counts(people, 0, 0), None)
            assert row.joint_right == row.counts.right
        else:
            assert_baseline(loops, row, best, limit)


def assert_baseline(loops: Loops, row: SureAttack, best: int, limit: float) -> None:
    """The control is the baseline alone, or after the rule itself where that is right more often."""
    assert row.control_rule is not None
    alone = partial(loops.measure, row.control_columns, row.control_rule, without=loops.takes_out)
    chosen = alone(loops.choosing_control)
    assert chosen.right == best > 0
    assert chosen.right >= limit * chosen.attacked - 1e-9
    joint = partial(loops.count_joint, row=row, without=loops.takes_out)
    expected = alone(loops.measured_control)
    if joint(loops.choosing_control) > chosen.right:
        assert row.control is None or row.control.right == joint(loops.measured_control)
    else:
        assert row.control == (expected if expected.people else None)
    assert row.joint_right == loops.count_joint(loops.measured, row, without=False)


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
