"""People with several records: the least loss of all forms, where whole people are removed, by loops."""

from collections import defaultdict
from math import inf, isclose

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from reid_sql.models.generalization.lattice import DistinctRecords, Lattice, LevelCodes, make_loss
from reid_sql.models.generalization.search import Search
from reid_sql.models.generalization.suppression import PeopleRules, Requirement
from tests.models.generalization.brute import entropy_loss, form, lattice, nodes, tables
from tests.models.generalization.test_search import Drawn


def staying(rows: list[tuple[int, ...]], people: list[int], k: int) -> list[bool]:
    """Remove everybody with a row in a class of fewer than k people, until there is none."""
    alive = set(people)
    while True:
        inside: dict[tuple[int, ...], set[int]] = defaultdict(set)
        for row, person in zip(rows, people, strict=True):
            if person in alive:
                inside[row].add(person)
        small = {person for members in inside.values() if len(members) < k for person in members}
        if not small:
            return [person in alive for person in people]
        alive -= small


@settings(max_examples=120, deadline=None)
@given(st.data(), tables(), st.integers(1, 4), st.integers(0, 4))
def test_the_search_finds_the_least_loss_of_whole_people(
    data: st.DataObject, drawn: Drawn, k: int, removable: int
) -> None:
    table, hierarchies = drawn
    people = data.draw(st.lists(st.integers(0, 7), min_size=len(table), max_size=len(table)))
    known = {}
    for node in nodes(hierarchies):
        coarse = form(table, hierarchies, node)
        remains = staying(list(coarse.iter_rows()), people, k)
        gone = {person for person, stays in zip(people, remains, strict=True) if not stays}
        if any(remains) and len(gone) <= removable:
            known[node] = entropy_loss(
                table, coarse, table.select(stays=np.array(remains))["stays"]
            )
    whole = lattice(table, hierarchies)
    rows, inverse, counts = np.unique(
        np.array([*table.to_numpy().T, people]), axis=1, return_inverse=True, return_counts=True
    )
    own = LevelCodes((np.arange(8),), np.bincount(people, minlength=8))
    made = Lattice(
        [*whole.level_codes, own], DistinctRecords(rows, counts), [1.0] * len(hierarchies) + [0.0]
    )
    assert inverse.size == len(table)
    everything = Requirement(len(table), len(table))
    found = Search(
        made, everything, make_loss("entropy", made), rules=PeopleRules(k, removable)
    ).run()
    assert found.optimal
    assert (found.best is None) == (not known)
    best = inf if found.best is None else found.best.loss
    assert isclose(best, min(known.values(), default=inf), rel_tol=1e-9, abs_tol=1e-12)
    for each in found.counted:
        assert (each.node[:-1] in known) == (each.outcome.cut is not None)
