"""Classes that break a rule on sensitive values go: what stays, and the least loss, counted by hand."""

from collections import Counter
from fractions import Fraction
from math import isclose, log

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from reid_sql.models.generalization.criteria import Close, Criterion, Distinct, Diverse, Frequent
from reid_sql.models.generalization.lattice import (
    DistinctRecords,
    Lattice,
    LevelCodes,
    Node,
    make_loss,
)
from reid_sql.models.generalization.search import Search
from reid_sql.models.generalization.suppression import MAX_ROUNDS, Requirement, Rule, Rules
from tests.models.generalization.brute import Labels, entropy_loss, form, lattice, nodes, tables

Drawn = tuple[pl.DataFrame, list[Labels]]
CRITERIA: list[Criterion] = [
    *(Distinct(2), Distinct(2.5), Diverse(1.5), Diverse(2)),
    *(Close(0.05), Close(0.21), Close(0.4), Frequent(0.5), Frequent(0.71)),
]


def holds(criterion: Criterion, values: list[int], everyone: list[int]) -> bool:
    """The definition, by exact shares."""
    counts = Counter(values)
    shares = {value: Fraction(each, len(values)) for value, each in counts.items()}
    match criterion:
        case Distinct(least=least):
            return len(counts) >= least
        case Diverse(least=least):
            return -sum(float(p) * log(p) for p in shares.values()) >= log(least) - 1e-9
        case Frequent(alpha=alpha):
            return float(max(shares.values())) <= alpha * (1 + 1e-9)
        case Close(t=t):
            table = {
                value: Fraction(each, len(everyone)) for value, each in Counter(everyone).items()
            }
            return float(
                sum(abs(shares.get(v, Fraction(0)) - p) for v, p in table.items()) / 2
            ) <= t * (1 + 1e-9)
    raise AssertionError(criterion)


def stays(coarse: pl.DataFrame, values: list[int], k: int, rules: list[Criterion]) -> list[bool]:
    """Which records stay, when whole classes go as often as some break a rule."""
    classes: dict[tuple[object, ...], list[int]] = {}
    for at, row in enumerate(coarse.iter_rows()):
        classes.setdefault(row, []).append(at)
    remaining = [True] * len(coarse)
    while True:
        everyone = [value for value, each in zip(values, remaining, strict=True) if each]
        broken = [
            records
            for records in classes.values()
            if remaining[records[0]]
            and not (
                len(records) >= k
                and all(holds(r, [values[at] for at in records], everyone) for r in rules)
            )
        ]
        if not broken:
            return remaining
        for at in (at for records in broken for at in records):
            remaining[at] = False


def with_values(table: pl.DataFrame, hierarchies: list[Labels], values: list[int]) -> Lattice:
    """The lattice with the sensitive column after the others, which has one level."""
    whole = table.with_columns(s=pl.Series(values, dtype=pl.Int64))
    codes = [[list(range(max(values) + 1))]]
    return lattice(whole, [*hierarchies, *codes])


@st.composite
def sensitive(draw: st.DrawFn) -> tuple[pl.DataFrame, list[Labels], list[int]]:
    table, hierarchies = draw(tables(records=40))
    value = st.sampled_from([0, 0, 0, 1, 1, 2, 3])
    return table, hierarchies, draw(st.lists(value, min_size=len(table), max_size=len(table)))


@settings(max_examples=150, deadline=None)
@given(
    sensitive(),
    st.lists(st.sampled_from(CRITERIA), min_size=1, max_size=2),
    st.integers(1, 4),
    st.sampled_from([0.0, 0.1, 0.3, 0.5]),
    st.sampled_from(["entropy", "discernibility", "class_size"]),
)
def test_the_search_finds_the_least_loss_under_rules(
    drawn: tuple[pl.DataFrame, list[Labels], list[int]],
    criteria: list[Criterion],
    k: int,
    share: float,
    word: str,
) -> None:
    table, hierarchies, values = drawn
    asked = Requirement(len(table), int(share * len(table)), k)
    due: dict[Node, tuple[float, list[bool]]] = {}
    made = lattice(table, hierarchies)
    for node in nodes(hierarchies):
        coarse = form(table, hierarchies, node)
        remaining = stays(coarse, values, k, criteria)
        if any(remaining) and len(remaining) - sum(remaining) <= asked.suppressible:
            sizes = coarse.filter(remaining).group_by(coarse.columns).len()["len"].to_list()
            lost = {
                "entropy": entropy_loss(table, coarse, pl.Series(remaining)),
                "class_size": sum(remaining) / len(sizes) / len(table),
                "discernibility": (
                    sum(n * n for n in sizes) + (len(remaining) - sum(remaining)) * len(remaining)
                )
                / len(remaining) ** 2,
            }
            due[node] = (lost[word], remaining)
    rules = Rules(
        with_values(table, hierarchies, values),
        len(hierarchies),
        [Rule(0, each) for each in criteria],
    )
    found = Search(made, asked, make_loss(word, made), rules=rules).run()
    assert found.optimal
    assert (found.best is None) == (not due)
    for each in found.counted:
        assert (each.node in due) == (each.outcome.cut is not None)
        if each.node in due:
            least, remaining = due[each.node]
            assert isclose(each.loss, least, rel_tol=1e-9, abs_tol=1e-12)
            assert each.outcome.suppressed == len(remaining) - sum(remaining)
            assert each.outcome.rounds <= MAX_ROUNDS
            folded = made.records_at(each.node)
            left = folded.counts[~rules.gone(each.node, folded, each.outcome)]
            assert left.sum() == sum(remaining)
    if found.best is not None:
        assert isclose(
            found.best.loss, min(loss for loss, _ in due.values()), rel_tol=1e-9, abs_tol=1e-12
        )


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=5), st.sampled_from(CRITERIA), st.data())
def test_no_part_of_a_class_that_meets_a_rule_is_larger_than_reported(
    members: list[int], criterion: Criterion, data: st.DataObject
) -> None:
    """Every part of the class, one by one; the table's shares are those of the class and of others."""
    if not sum(members):
        return
    others = data.draw(st.lists(st.integers(0, 20), min_size=len(members), max_size=len(members)))
    table = [own + other for own, other in zip(members, others, strict=True)]
    everyone = [value for value, each in enumerate(table) for _ in range(each)]
    parts = np.stack(np.meshgrid(*(np.arange(each + 1) for each in members), indexing="ij"), -1)
    most = 0
    for part in parts.reshape(-1, len(members)).tolist():
        values = [value for value, each in enumerate(part) for _ in range(each)]
        if len(values) > most and holds(criterion, values, everyone):
            most = len(values)
    codes = np.array([value for value, each in enumerate(members) if each])
    one = LevelCodes((np.zeros(1, dtype=np.int64),), np.array([sum(members)]))
    own = LevelCodes((np.arange(len(members)),), np.array(members))
    folded = DistinctRecords(np.zeros((1, 1), dtype=np.int64), np.array([sum(members)]))
    pairs = DistinctRecords(np.array([[0] * len(codes), codes]), np.array(members)[codes])
    rules = Rules(Lattice([one, own], pairs), 1, [Rule(0, criterion)])
    counts = rules.counts((0,), folded)[0]
    shares = np.array(table) / sum(table)
    reported = float(criterion.max_records(counts, shares, 0.0)[0])
    assert reported >= most - 1e-9
    assert reported <= sum(members)


def test_a_class_goes_for_what_the_others_that_go_made_of_the_table() -> None:
    """The last class goes first; the second is too far from a table without it, and goes then."""
    members = np.array([[150, 150], [10, 30], [0, 60]])
    sizes = members.sum(axis=1)
    own, other = (
        LevelCodes((np.arange(3),), sizes),
        LevelCodes((np.arange(2),), members.sum(axis=0)),
    )
    classes, values = np.nonzero(members)
    pairs = DistinctRecords(np.array([classes, values]), members[classes, values])
    rules = Rules(Lattice([own, other], pairs), 1, [Rule(0, Close(0.2))])
    folded, asked = DistinctRecords(np.arange(3)[None], sizes), Requirement(400, 100)
    outcome = rules.judge((0,), folded, asked.judge(sizes), asked)
    assert (outcome.suppressed, outcome.rounds) == (100, 2)
    assert rules.gone((0,), folded, outcome).tolist() == [False, True, True]
    assert rules.judge((0,), folded, asked.judge(sizes), Requirement(400, 99)).cut is None
