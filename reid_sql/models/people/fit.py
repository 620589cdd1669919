"""Fit a model of people to counts: tree, donors and their weights, overdispersion, repeated people."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from reid_sql.models.marginals.column import Column
from reid_sql.models.marginals.fit_column import column_of_known_shares, fit_nominal, fit_ordered
from reid_sql.models.people.donors import MAX_DONORS, fit_donors
from reid_sql.models.people.evidence import PeopleEvidence, row_keys, same_counts
from reid_sql.models.people.functional_dependencies import (
    choose_dependencies,
    drop_columns,
    find_dependencies,
    link_columns,
)
from reid_sql.models.people.latent_classes import fit_classes, is_list
from reid_sql.models.people.model import (
    MIN_WEIGHT,
    Mixture,
    PeopleModel,
    SampleRecords,
    add_classes,
    fit_mixture,
)
from reid_sql.models.people.overdispersion import (
    ShapeLikelihood,
    posterior_of_shapes,
    shape_likelihood,
    subtable_likelihoods,
)
from reid_sql.models.people.repeated_people import find_groups, find_repeated_people
from reid_sql.models.people.tree import PairTables, max_bins, rake_tree

MIN_CLASS_WEIGHT: Final = 0.5  # of latent classes, above which sub-tables are compared with them


def fit(evidence: PeopleEvidence, seed: int = 0) -> PeopleModel:
    """Fit the model; the same evidence and seed give the same model.

    Columns that others determine are linked to them, and the rest is fitted without. Columns of known shares
    always stay.

    >>> from reid_sql.models.people.evidence import count_records
    >>> model = fit(count_records(np.array([[0], [0], [1], [1]]), ["sex"], [["F", "M"]], [False]))
    >>> model.cell_probability([["F"]]).probability.round(3).tolist()
    [0.486]
    """
    dependencies = choose_dependencies(find_dependencies(evidence), [len(own) for own in evidence.values])
    dependencies = [one for one in dependencies if one.determined not in evidence.known_shares]
    if not dependencies:
        return _fit_cached(evidence, seed)
    dropped = sorted({one.determined for one in dependencies})
    free = [j for j in range(len(evidence.columns)) if j not in dropped]
    model = _fit_cached(drop_columns(evidence, dropped), seed)
    columns = dict(zip(free, model.marginals, strict=True))
    columns |= dict(zip(dropped, fit_columns(drop_columns(evidence, free)), strict=True))
    marginals = tuple(columns[j] for j in sorted(columns))
    linked = link_columns(evidence, dependencies, marginals)
    return replace(model, columns=evidence.columns, marginals=marginals, determined=linked)


@contextmanager
def cached_fits() -> Iterator[None]:
    """Within it, the same counts and seed are fitted once, for callers that ask one table several questions.

    The cache is dropped at the end, since models contain records of persons.
    """
    _CACHES.append([])
    try:
        yield
    finally:
        _CACHES.pop()


_CACHES: Final[list[list[tuple[PeopleEvidence, int, PeopleModel]]]] = []


def _fit_cached(evidence: PeopleEvidence, seed: int) -> PeopleModel:
    cache = _CACHES[-1] if _CACHES else []
    for other, other_seed, model in cache:
        if other_seed == seed and same_counts(evidence, other):
            return model
    fitted = _fit_free_columns(evidence, seed)
    cache.append((evidence, seed, fitted))
    return fitted


def _fit_free_columns(evidence: PeopleEvidence, seed: int) -> PeopleModel:
    columns = fit_columns(evidence)
    tables = PairTables(columns, evidence)
    tree = tables.spanning_tree()
    of_tree = Mixture(rake_tree(tree, list(evidence.known_shares)), 1.0, None)
    if evidence.weighted or evidence.known_shares:  # donors have neither weights nor known shares
        others = subtable_likelihoods(tables, evidence.drawn, np.random.default_rng([seed, 2]))
        return _fit_tree(of_tree, evidence, others, seed)
    donors = fit_donors(columns, evidence.drawn[:MAX_DONORS])
    mixture, of_shares = fit_mixture(tree, donors), Mixture(tree, 1 - MIN_WEIGHT, donors)
    if is_list(columns):
        latent = fit_classes(columns, evidence.drawn)
        mixture, of_shares = (add_classes(each, latent) for each in (mixture, of_shares))
    classes = of_shares.classes if of_shares.class_weight > MIN_CLASS_WEIGHT else None
    others = subtable_likelihoods(tables, evidence.drawn, np.random.default_rng([seed, 2]), classes)
    log_q_without = partial(of_shares.log_q_without_class, records=evidence.records)
    model = replace(
        _fit_tree(of_tree, evidence, others, seed),
        repeated_people=find_repeated_people(log_q_without, evidence),
        groups=find_groups(tables, evidence.drawn, np.random.default_rng([seed, 5])),
    )
    with_donors, of_shares_fitted = (_with_mixture(model, each, evidence) for each in (mixture, of_shares))
    return replace(with_donors, of_shares=of_shares_fitted)


def _fit_tree(
    of_tree: Mixture, evidence: PeopleEvidence, others: Sequence[ShapeLikelihood], seed: int
) -> PeopleModel:
    """The model of the tree alone; `others` are likelihoods of the shapes by sub-tables."""
    own = full_table_likelihood(of_tree, evidence, seed)
    shapes, columns = posterior_of_shapes(own, others), of_tree.tree.columns
    parts = evidence.columns, columns, of_tree, shapes, shapes, evidence.histogram, seed
    return PeopleModel(*parts, likelihoods=(own, *others))


def _with_mixture(model: PeopleModel, mixture: Mixture, evidence: PeopleEvidence) -> PeopleModel:
    """The model of another mixture, whose repeats show other shapes."""
    own, others = full_table_likelihood(mixture, evidence, model.seed), model.likelihoods[1:]
    return replace(
        model,
        mixture=mixture,
        shapes=posterior_of_shapes(own, others),
        sample=leave_records_out(mixture, evidence),
        likelihoods=(own, *others),
    )


def fit_columns(evidence: PeopleEvidence) -> tuple[Column, ...]:
    """Fit each column by itself."""
    bins = max_bins(len(evidence.columns))
    columns = []
    for j, (name, values, counts) in enumerate(
        zip(evidence.columns, evidence.values, evidence.counts, strict=True)
    ):
        if j in evidence.known_shares:
            columns.append(column_of_known_shares(name, values, *evidence.known_shares[j], bins))
        else:
            fit_one = fit_ordered if evidence.ordered[j] else fit_nominal
            columns.append(fit_one(name, values, counts, bins))
    return tuple(columns)


def leave_records_out(mixture: Mixture, evidence: PeopleEvidence) -> SampleRecords:
    """Score each donor without one record of it, and look its class size up."""
    assert mixture.donors is not None  # noqa: S101  # the caller checks it
    codes, drawn = mixture.donors.codes, evidence.drawn[:MAX_DONORS]
    key = row_keys(np.concatenate([codes, drawn]))
    size = np.zeros(int(key.max()) + 1, dtype=np.int64)
    size[key[len(codes) :]] = evidence.drawn_size[:MAX_DONORS]
    return SampleRecords(mixture.log_q_left_out(), size[key[: len(codes)]], mixture.donors.count)


def full_table_likelihood(mixture: Mixture, evidence: PeopleEvidence, seed: int) -> ShapeLikelihood:
    """Likelihood of the shapes by the repeats of the full table."""
    log_q = mixture.population_log_q(seed)
    unique = int(evidence.histogram.records[evidence.histogram.class_size == 1].sum())
    return shape_likelihood(log_q, evidence.records, evidence.records - unique)
