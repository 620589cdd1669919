"""Attacks on a synthetic table against loops over people: distances, links, inferences, scores, curves."""

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reid_sql.models.comparison.linkage import newcombe_interval
from reid_sql.models.synthetic.attacks import (
    AuditedAttack,
    Distances,
    RocCurve,
    attack_by_nearest_records,
)
from reid_sql.models.synthetic.audit import STATUS_NO_PREDICATE, audit, single_out
from reid_sql.models.synthetic.audited_tables import draw_people
from reid_sql.models.synthetic.membership import attack_membership, score_members
from tests.audited import ALL, ORDINAL, Row, encode, encode_row, measure

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["p", "q", "r", None]),
        st.sampled_from([None, 1, 2, 5, 50]),
        st.sampled_from([0, 3, 4]),
        st.sampled_from(["x", "y"]),
    ),
    min_size=1,
    max_size=8,
)
WHOLE = (0.0, 1.0)


@given(ROWS, ROWS, ROWS)
@settings(max_examples=60)
def test_links_and_inferences_are_those_of_loops(
    original: list[Row], synthetic: list[Row], holdout: list[Row]
) -> None:
    every = [*original, *synthetic, *holdout]
    distances = [measure(every, at) for at in range(4)]

    def nearest(person: Row, columns: Sequence[int]) -> list[int]:
        away = [sum(distances[at](person[at], other[at]) for at in columns) for other in synthetic]
        return [place for place, each in enumerate(away) if each == min(away)]

    def chance_of_link(person: Row, half: tuple[int, int], rest: tuple[int, int]) -> float:
        one, other = nearest(person, half), nearest(person, rest)
        return len(set(one) & set(other)) / (len(one) * len(other))

    def is_right(person: Row, at: int, place: int) -> bool:
        return distances[at](person[at], synthetic[place][at]) <= ALL // 20

    def chance_of_value(person: Row, at: int) -> float:
        near = nearest(person, [other for other in range(4) if other != at])
        return sum(is_right(person, at, place) for place in near) / len(near)

    tables = encode(original, synthetic, holdout).in_order()
    people = draw_people(tables, 100, np.random.default_rng(0))
    link, *inferred = attack_by_nearest_records(tables, people, np.random.default_rng(0), WHOLE)
    shares = {
        f"c{half[0]}, c{half[1]} / c{rest[0]}, c{rest[1]}": [
            sum(chance_of_link(person, half, rest) for person in table) / len(table)
            for table in (original, holdout)
        ]
        for half, rest in (((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2)))
    }
    assert [link.original, link.holdout] == pytest.approx(shares[link.column_name or ""])
    assert link.excess == pytest.approx(max(one - other for one, other in shares.values()))
    for table, figure in ((original, "original"), (holdout, "holdout")):
        for at, row in enumerate(inferred):
            expected = sum(chance_of_value(person, at) for person in table) / len(table)
            assert getattr(row, figure) == pytest.approx(expected)
    for at, row in enumerate(inferred):
        right = [
            is_right(person, at, place) for person in original for place in range(len(synthetic))
        ]
        assert row.baseline == pytest.approx(sum(right) / len(right))
    assert link.baseline == pytest.approx(1 / len(synthetic))


@given(ROWS, ROWS, ROWS)
@settings(max_examples=60)
def test_scores_of_membership_are_those_of_loops(
    original: list[Row], synthetic: list[Row], holdout: list[Row]
) -> None:
    every = [*original, *synthetic, *holdout]
    distances = [measure(every, at) for at in range(4)]
    persons = sorted({*original, *holdout}, key=lambda row: encode_row(row, every))

    def away(one: Row, other: Row) -> int:
        return sum(distances[at](one[at], other[at]) for at in range(4))

    def to_others(person: Row) -> list[int]:
        return sorted(away(person, other) for other in persons)

    def next_person(person: Row) -> int:
        return (
            0
            if [*original, *holdout].count(person) > 1
            else to_others(person)[min(1, len(persons) - 1)]
        )

    common = float(np.median([next_person(person) for person in persons]))

    def scores(person: Row) -> dict[str, float]:
        away_from = [away(person, record) for record in synthetic]
        shares = [sum(r[at] == person[at] for r in synthetic) / len(synthetic) for at in range(4)]
        expected = len(synthetic) * math.prod(shares)
        of_class = [record for record in synthetic if record[:3] == person[:3]]
        left_out = [
            any(
                all(record[at] == person[at] for at in range(4) if at != out)
                for record in synthetic
            )
            for out in range(4)
        ]
        radius = to_others(person)[min(5, len(persons) - 1)]
        return {
            "equal_record": float(person in synthetic),
            "rare_equal_record": -math.log(1 - math.exp(-expected)) if person in synthetic else 0.0,
            "equal_but_one_column": sum(left_out),
            "class_conditional": of_class.count(person) / max(1, len(of_class)),
            "nearest_record": -min(away_from),
            "nearest_of_rare_person": (next_person(person) + 1) / (min(away_from) + 1),
            "density_ratio": sum(each <= radius for each in away_from),
            "local_neighbourhood": sum(each <= common for each in away_from),
        }

    tables = encode(original, synthetic, holdout).in_order()
    rows = np.flatnonzero(tables.originals + tables.controls)
    found = score_members(tables, rows, WHOLE)
    for place, person in enumerate(persons):
        expected = scores(person)
        assert {name: each[place] for name, each in found.items()} == pytest.approx(expected)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=2, max_size=30),
    st.integers(0, 9),
)
def test_a_curve_is_that_of_all_pairs_and_all_thresholds(
    people: list[tuple[int, bool]], seed: int
) -> None:
    scores, labels = np.array([float(s) for s, _ in people]), np.array([m for _, m in people])
    if labels.all() or not labels.any():
        labels[0] = not labels[0]
    members, others = scores[labels], scores[~labels]
    curve = RocCurve(scores)
    area, *shares = curve.measure("any", labels)
    pairs = [(m > o) + (m == o) / 2 for m in members for o in others]
    assert area.original == pytest.approx(sum(pairs) / len(pairs))
    for row, allowed in zip(shares, (0.01, 0.001), strict=True):
        cuts = [cut for cut in {*scores, 9.0} if np.mean(others >= cut) <= allowed]
        cut = min(cuts)
        assert (row.original, row.holdout) == pytest.approx(
            (np.mean(members >= cut), np.mean(others >= cut))
        )
    permuted = np.random.default_rng(seed).permutation(labels)
    again = [row.excess for row in curve.measure("any", permuted)]
    assert curve.excesses(np.array([labels, permuted]))[1].tolist() == pytest.approx(again)


def test_the_interval_of_an_area_contains_it_in_95_of_100_draws() -> None:
    """Of normal scores a standard deviation apart, the area is Phi(1 / sqrt 2); in 500 draws."""
    rng, truth, contained = np.random.default_rng(2), 0.5 * (1 + math.erf(0.5)), 0
    for _ in range(500):
        scores = np.r_[rng.normal(1, 1, 80), rng.normal(0, 1, 120)]
        area = next(iter(RocCurve(scores).measure("any", np.arange(200) < 80)))
        assert area.low is not None
        assert area.high is not None
        contained += area.low <= truth - 0.5 <= area.high
    assert 460 <= contained <= 490


@given(ROWS, ROWS, ROWS)
@settings(max_examples=60)
def test_univariate_predicates_are_all_those_of_the_synthetic_table(
    original: list[Row], synthetic: list[Row], holdout: list[Row]
) -> None:
    """Each value that one record has, and both ends of numbers; people of both sides are as many."""
    size = min(len(original), len(holdout))
    original, holdout = original[:size], holdout[:size]
    predicates: list[Callable[[Row], bool]] = []
    for at in range(4):
        column = [row[at] for row in synthetic]
        predicates += [holds(at, "=", value) for value in set(column) if column.count(value) == 1]
        known = [value for value in column if value is not None]
        if ORDINAL[at] and known:
            predicates += [holds(at, "<", min(known)), holds(at, ">", max(known))]
    single = [each for each in predicates if sum(map(each, synthetic)) == 1]
    row = next(
        iter(single_out(encode(original, synthetic, holdout).in_order(), np.random.default_rng(0)))
    )
    if not single:
        assert (row.original, row.status) == (None, STATUS_NO_PREDICATE)
        return
    shares = [np.mean([sum(map(p, table)) == 1 for p in single]) for table in (original, holdout)]
    assert (row.original, row.holdout) == pytest.approx(tuple(shares))


def holds(at: int, relation: str, value: Any) -> Callable[[Row], bool]:
    """A predicate of one column, which no missing value fulfils but its own."""
    if relation == "=":
        return lambda row: bool(row[at] == value)
    return lambda row: (
        row[at] is not None and bool(row[at] <= value if relation == "<" else row[at] >= value)
    )


def test_multivariate_predicates_fit_the_people_of_a_copied_table_and_nobody_else() -> None:
    rng = random.Random(4)  # noqa: S311 - no secret
    original = [(f"n{n}", rng.randrange(20), rng.randrange(40), "x") for n in range(60)]
    holdout = [(f"m{n}", rng.randrange(40), rng.randrange(40), "x") for n in range(60)]
    rows = {row.attack: row for row in audit(encode(original, original, holdout), 100, 0)}
    row = rows["singling_out_multivariate"]
    assert row.original == 1
    assert row.holdout is not None
    assert row.holdout < 0.5
    assert row.low is not None
    assert row.low > 0.4


def people(rng: random.Random, records: int) -> list[Row]:
    return [
        (rng.choice("abcdefgh"), rng.randrange(60), rng.randrange(30), rng.choice("xy"))
        for _ in range(records)
    ]


def strongest(original: list[Row], synthetic: list[Row], holdout: list[Row]) -> AuditedAttack:
    tables = encode(original, synthetic, holdout).in_order()
    rng = np.random.default_rng(0)
    return list(attack_membership(tables, draw_people(tables, 10**6, rng), rng, WHOLE))[-1]


@pytest.mark.parametrize("copied", [0, 30])
@pytest.mark.all
def test_copies_are_found_by_the_strongest_membership_attack(copied: int) -> None:
    """30 copies among 300 records are found in 9 of 10 tables; without any, 3 of 20 at most are blamed."""
    rng, found = random.Random(8), 0  # noqa: S311 - no secret
    for _ in range(40):
        original, holdout = people(rng, 300), people(rng, 300)
        row = strongest(original, people(rng, 300 - copied) + original[:copied], holdout)
        assert row.low is not None
        found += row.low > 0
    assert found >= 18 if copied else found <= 3


@pytest.mark.parametrize("columns", [3, 20])
def test_distances_do_not_depend_on_the_blocks_in_which_they_are_measured(columns: int) -> None:
    """Of 20 columns, the sums need more than 16 bits; blocks are smaller than the records."""
    rng = random.Random(1)  # noqa: S311 - no secret
    some = [
        (rng.choice("abcdefgh"), rng.choice([None, *range(300)]), rng.randrange(60))
        for _ in range(900)
    ]
    rows = [tuple(record[at % 3] for at in range(columns)) for record in some]
    tables = encode(rows, rows, rows, ordinal=[at % 3 > 0 for at in range(columns)]).in_order()
    distances, places = Distances(tables), np.arange(tables.codes.shape[1])
    distance = [measure([*rows] * 3, at, ordinal=at % 3 > 0) for at in range(columns)]
    drawn = [tuple(rng.choice(places) for _ in range(2)) for _ in range(200)]
    whole: dict[int, Any] = {}
    every = sorted(set(rows), key=lambda row: encode_row(row, rows))
    for (block, by_column), (_, total) in zip(
        distances.by_column(places, places, WHOLE),
        distances.total(places, places, WHOLE),
        strict=True,
    ):
        assert block.stop - block.start < len(places)
        assert (by_column.sum(axis=0) == total).all()
        whole |= {block.start + at: each for at, each in enumerate(np.moveaxis(by_column, 1, 0))}
    for one, other in drawn:
        names = [int(name[1:]) for name in tables.names]
        expected = [distance[at](every[one][at], every[other][at]) for at in names]
        assert whole[one][:, other].tolist() == expected


def test_the_interval_of_an_excess_contains_it_in_95_of_100_draws() -> None:
    rng, contained = np.random.default_rng(3), 0
    for _ in range(1000):
        one, other = rng.binomial(300, 0.1) / 300, rng.binomial(200, 0.04) / 200
        low, high = newcombe_interval((one, 300), (other, 200))
        contained += low <= 0.06 <= high
    assert 930 <= contained <= 970


def test_one_column_and_no_holdout_are_said_to_be_no_ground_for_an_attack() -> None:
    tables = encode([("p",), ("q",)], [("p",), ("r",)], [])
    rows = audit(tables, 10, 0)
    said = {row.attack: row.status for row in rows}
    assert (
        said["singling_out_multivariate"]
        == said["linkability"]
        == "one_column: the attack needs two or more columns"
    )
    needs = "no_holdout: a verdict needs holdout, people of the same kind who were not used"
    assert said["strongest_membership"] == said["singling_out_univariate"] == needs
    assert all(row.excess is None for row in rows)
