"""The search finds the least loss of all forms, as an exhaustive count of every form by Polars does."""

from math import inf, isclose

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reid_sql.models.generalization.lattice import LOSS_LABELS, Node, make_loss
from reid_sql.models.generalization.search import CountedNode, Search, Verdict
from reid_sql.models.generalization.suppression import Requirement
from tests.models.generalization.brute import (
    Labels,
    entropy_loss,
    form,
    lattice,
    nodes,
    sizes,
    tables,
)

Drawn = tuple[pl.DataFrame, list[Labels]]


def meets(asked: Requirement, coarse: pl.DataFrame) -> tuple[bool, pl.Series]:
    """Whether some cut of whole class sizes does, and which records then stay; the smallest cut."""
    size = sizes(coarse)
    for cut in range(1, len(coarse) + 1):
        remaining = size >= cut
        left = [int(each) for each in size.filter(remaining)]
        classes = coarse.filter(remaining).unique().height
        if not left or len(coarse) - len(left) > asked.suppressible:
            break
        fine = min(left) >= asked.k and left.count(1) <= asked.unique
        fine = fine and classes / len(left) <= asked.average + 1e-9
        bad = ((sum(1 / each > t for each in left), share) for t, share in asked.shares)
        if fine and all(found / len(left) <= share + 1e-9 for found, share in bad):
            return True, remaining
    return False, size < 0


def loss_by_hand(
    word: str, table: pl.DataFrame, coarse: pl.DataFrame, remaining: pl.Series
) -> float:
    if word == "entropy":
        return entropy_loss(table, coarse, remaining)
    classes = [int(each) for each in coarse.filter(remaining).group_by(coarse.columns).len()["len"]]
    if word == "class_size":
        return sum(classes) / len(classes) / len(table)
    return (sum(each**2 for each in classes) + (len(table) - sum(classes)) * len(table)) / len(
        table
    ) ** 2


def exhaustive(word: str, drawn: Drawn, asked: Requirement) -> dict[Node, float]:
    table, hierarchies = drawn
    found = {}
    for node in nodes(hierarchies):
        coarse = form(table, hierarchies, node)
        met, remaining = meets(asked, coarse)
        if met:
            found[node] = loss_by_hand(word, table, coarse, remaining)
    return found


@st.composite
def requirements(draw: st.DrawFn, records: int) -> Requirement:
    share = st.sampled_from([0.0, 0.05, 0.2, 0.5])
    asked = Requirement(records, draw(st.integers(0, records // 2)), draw(st.integers(1, 6)))
    if draw(st.booleans()):
        return asked
    return Requirement(
        records,
        asked.suppressible,
        draw(st.sampled_from([1, asked.k])),
        tuple(draw(st.lists(st.tuples(st.sampled_from([0.2, 0.5]), share), max_size=2))),
        draw(st.sampled_from([inf, 0, 3])),
        draw(st.sampled_from([1.0, 0.5, 0.2])),
    )


@settings(max_examples=150, deadline=None)
@given(st.data(), tables(), st.sampled_from(list(LOSS_LABELS)))
def test_the_search_finds_the_least_loss(data: st.DataObject, drawn: Drawn, word: str) -> None:
    table, hierarchies = drawn
    asked = data.draw(requirements(len(table)))
    due = exhaustive(word, drawn, asked)
    made = lattice(table, hierarchies)
    found = Search(made, asked, make_loss(word, made)).run()
    assert found.optimal
    assert (found.best is None) == (not due)
    if found.best is not None:
        assert isclose(found.best.loss, min(due.values()), rel_tol=1e-9, abs_tol=1e-12)
        assert isclose(due[found.best.node], found.best.loss, rel_tol=1e-9, abs_tol=1e-12)
    for each in found.counted:
        assert (each.node in due) == (each.outcome.cut is not None)
        assert isclose(due.get(each.node, inf), each.loss, rel_tol=1e-9, abs_tol=1e-12)


@settings(max_examples=100, deadline=None)
@given(st.data(), tables(), st.sampled_from(list(LOSS_LABELS)), st.integers(0, 10))
def test_a_stopped_search_promises_no_more_than_is_true(
    data: st.DataObject, drawn: Drawn, word: str, patience: int
) -> None:
    table, hierarchies = drawn
    asked = data.draw(requirements(len(table)))
    due = exhaustive(word, drawn, asked)
    made = lattice(table, hierarchies)
    left = iter(range(patience))
    found = Search(made, asked, make_loss(word, made), stop=lambda: next(left, None) is None).run()
    assert found.bound <= min(due.values(), default=inf) + 1e-9
    if found.optimal and due:
        assert found.best is not None
        assert isclose(found.best.loss, min(due.values()), rel_tol=1e-9, abs_tol=1e-12)
    if found.best is not None:
        assert found.best.node in due


@settings(max_examples=60, deadline=None)
@given(st.data(), tables())
def test_what_a_judge_refuses_is_not_released(data: st.DataObject, drawn: Drawn) -> None:
    """A judge of any taste, which no order of forms foretells."""
    table, hierarchies = drawn
    asked = data.draw(requirements(len(table)))
    liked = {node: data.draw(st.booleans()) for node in nodes(hierarchies)}
    due = {node: loss for node, loss in exhaustive("entropy", drawn, asked).items() if liked[node]}
    made = lattice(table, hierarchies)

    def judge(found: CountedNode) -> Verdict:
        return Verdict(is_met=liked[found.node])

    found = Search(made, asked, make_loss("entropy", made), judge).run()
    assert (found.best is None) == (not due)
    if found.best is not None:
        assert found.best.loss == pytest.approx(min(due.values()))


def test_a_lattice_without_end_gives_the_best_so_far() -> None:
    """More nodes than bounds are kept for: a form that is met, and no claim that none loses less."""
    column = [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]
    table = pl.DataFrame({f"c{at}": [at % 4, 1, 2, 3, 0, 1] * 5 for at in range(15)})
    made = lattice(table, [column] * 15)
    assert made.nodes == 3**15
    found = Search(made, Requirement(30, 0, 3), make_loss("entropy", made)).run()
    assert found.best is not None
    assert min(sizes(form(table, [column] * 15, found.best.node)).to_list()) >= 3
    assert not found.optimal
    assert found.bound == 0.0
