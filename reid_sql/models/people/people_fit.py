"""Fit a model of people to an engine's counts: a tree of pairs, donors, weights and the residual's shape.

The weights are those of the donors.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

import numpy as np

from reid_sql.models.marginals.column import Column
from reid_sql.models.marginals.nominal import given_column, nominal_column
from reid_sql.models.marginals.ordered import ordered_column
from reid_sql.models.people import donors_fit, following, shape
from reid_sql.models.people.curves import Seen
from reid_sql.models.people.people_evidence import PeopleEvidence, same_counts
from reid_sql.models.people.people_model import DRAWS, PeopleModel
from reid_sql.models.people.raking import raked
from reid_sql.models.people.stack import Stack, stacked
from reid_sql.models.people.ties import ties_of
from reid_sql.models.people.tree import PairTables, most_bins
from reid_sql.models.people.twins import groups, twins

METHOD: Final = "people"


def fit(evidence: PeopleEvidence, seed: int = 0) -> PeopleModel:
    """Fit the model; the same evidence and seed give the same model.

    Columns that follow from others are tied to them, and the rest is fitted without; those whose shares are
    given from outside stay.

    >>> from reid_sql.models.people.people_evidence import counted
    >>> model = fit(counted(np.array([[0], [0], [1], [1]]), ["sex"], [["F", "M"]], [False]))
    >>> model.cell_probability([["F"]]).probability.round(3).tolist()
    [0.486]
    """
    found = following.dependences(evidence)
    left = following.followers(found, [len(own) for own in evidence.values])
    left = [one for one in left if one.follows not in evidence.given]
    if not left:
        return _fitted(evidence, seed)
    gone = {one.follows for one in left}
    kept = [j for j in range(len(evidence.columns)) if j not in gone]
    model = _fitted(following.without(evidence, sorted(gone)), seed)
    columns = dict(zip(kept, model.marginals, strict=True))
    columns |= dict(zip(sorted(gone), fit_columns(following.without(evidence, kept)), strict=True))
    every = tuple(columns[j] for j in sorted(columns))
    return replace(model, columns=evidence.columns, marginals=every, ties=ties_of(evidence, left, every))


@contextmanager
def once() -> Iterator[None]:
    """Within it, the same counts and seed are fitted once: by who asks for several answers from one table.

    What was fitted is forgotten at the end, as it holds records of persons.
    """
    _REMEMBERED.append([])
    try:
        yield
    finally:
        _REMEMBERED.pop()


_REMEMBERED: Final[list[list[tuple[PeopleEvidence, int, PeopleModel]]]] = []


def _fitted(evidence: PeopleEvidence, seed: int) -> PeopleModel:
    remembered = _REMEMBERED[-1] if _REMEMBERED else []
    for other, its_seed, model in remembered:
        if its_seed == seed and same_counts(evidence, other):
            return model
    found = _fitted_anew(evidence, seed)
    remembered.append((evidence, seed, found))
    return found


def _fitted_anew(evidence: PeopleEvidence, seed: int) -> PeopleModel:
    columns = fit_columns(evidence)
    tables = PairTables(columns, evidence)
    tree = tables.tree()
    alone = evidence.weighted or bool(evidence.given)  # donors know of no weights and of nothing from outside
    own = Stack(raked(tree, list(evidence.given)), 1.0, None)
    stack = own if alone else stacked(tree, donors_fit.fit_donors(columns, evidence.drawn[: donors_fit.MOST]))
    others = shape.subtables(tables, evidence.drawn, np.random.default_rng([seed, 2]))
    told, of_tree = (own_repeats(one, evidence, seed) for one in (stack, own))
    shapes, tree_shapes = (shape.posterior(one, others) for one in (told, of_tree))
    fitted = evidence.columns, columns, stack, shapes, tree_shapes, evidence.histogram, seed
    if alone:
        return PeopleModel(*fitted, told=(told, *others))
    return PeopleModel(
        *fitted,
        seen=seen_of(stack, evidence),
        told=(told, *others),
        twins=twins(tree, evidence),
        groups=groups(tables, evidence.drawn, np.random.default_rng([seed, 5])),
    )


def fit_columns(evidence: PeopleEvidence) -> tuple[Column, ...]:
    """Fit each column by itself."""
    bins = most_bins(len(evidence.columns))
    found = []
    for j, (name, values, counts) in enumerate(
        zip(evidence.columns, evidence.values, evidence.counts, strict=True)
    ):
        if j in evidence.given:
            found.append(given_column(name, values, *evidence.given[j], bins))
        else:
            fitted = ordered_column if evidence.ordered[j] else nominal_column
            found.append(fitted(name, values, counts, bins))
    return tuple(found)


def seen_of(stack: Stack, evidence: PeopleEvidence) -> Seen:
    """Leave each donor out of the model once, and look its class up."""
    assert stack.donors is not None  # noqa: S101  # asked of fits alone
    codes, drawn = stack.donors.codes, evidence.drawn[: donors_fit.MOST]
    key = shape.row_keys(np.concatenate([codes, drawn]))
    size = np.zeros(int(key.max()) + 1, dtype=np.int64)
    size[key[len(codes) :]] = evidence.drawn_size[: donors_fit.MOST]
    return Seen(stack.log_q_left_out(), size[key[: len(codes)]], stack.donors.count)


def own_repeats(stack: Stack, evidence: PeopleEvidence, seed: int) -> shape.Repeats:
    """What the full table's own repeats say of the shape."""
    log_q = stack.drawn_log_q(DRAWS, np.random.default_rng([seed, 1]))
    unique = int(evidence.histogram.records[evidence.histogram.class_size == 1].sum())
    return shape.repeats(log_q, evidence.records, evidence.records - unique)
