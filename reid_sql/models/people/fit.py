"""Fit a model of people to counts: tree, latent classes, overdispersion, repeated people; its text."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any, Final

import numpy as np

from reid_sql.models.classes.disclosure import count_people
from reid_sql.models.copula.copula_file import MAX_SEED, content_to_text, read_model
from reid_sql.models.fitted_model import Doubt
from reid_sql.models.marginals.column import Column, Rarity
from reid_sql.models.marginals.fit_column import column_from_shares, fit_nominal, fit_ordered
from reid_sql.models.people.evidence import (
    PeopleEvidence,
    order_columns,
    reorder_columns,
    same_counts,
    select_columns,
)
from reid_sql.models.people.functional_dependencies import (
    UNKNOWN,
    DeterminedColumn,
    choose_dependencies,
    find_dependencies,
    link_columns,
    list_free_columns,
)
from reid_sql.models.people.model import (
    Mixture,
    PeopleModel,
    SampleRecords,
    mix_classes,
)
from reid_sql.models.people.overdispersion import (
    LOG_SHAPES,
    ShapeLikelihood,
    posterior_of_shapes,
    shape_likelihood,
    subtable_likelihoods,
)
from reid_sql.models.people.repeated_people import find_groups, find_repeated_people
from reid_sql.models.people.tree import (
    ROOT,
    ChanceTable,
    PairTables,
    Tree,
    fit_classes,
    is_list,
    max_bins,
    rake_tree,
)
from reid_sql.parameters import Floats, Integers, Rows

MIN_MASS: Final = 1e-12  # of a value whose records have no weight
MAX_SCORED: Final = 1000  # records of the sample that predict its population
MIN_CLASS_WEIGHT: Final = 0.5  # of latent classes, above which sub-tables are compared with them


def fit(evidence: PeopleEvidence, seed: int = 0) -> PeopleModel:
    """Fit the model; the same evidence and seed give the same model.

    Columns that others determine are linked to them, and the rest is fitted without. Columns of known shares
    always stay.

    >>> from reid_sql.models.people.evidence import count_records
    >>> model = fit(count_records(np.array([[0], [0], [1], [1]]), ["sex"], [["F", "M"]], [False]))
    >>> model.cell_probability([["F"]]).probability.round(3).tolist()
    [0.469]
    """
    order = order_columns(evidence)
    model = _fit_in_order(reorder_columns(evidence, order), seed)
    marginals = dict(zip(order, model.marginals, strict=True))
    determined = [
        replace(one, column=order[one.column], source=order[one.source]) for one in model.determined
    ]
    return replace(
        model,
        columns=evidence.columns,
        marginals=tuple(marginals[j] for j in range(len(order))),
        determined=tuple(sorted(determined, key=lambda one: one.column)),
        free_columns=tuple(order[j] for j in model.free_columns),
    )


def _fit_in_order(evidence: PeopleEvidence, seed: int) -> PeopleModel:
    chosen = choose_dependencies(find_dependencies(evidence), evidence.values)
    dependencies = [one for one in chosen if one.determined not in evidence.known_shares]
    if not dependencies:
        return _fit_cached(evidence, seed)
    dropped = sorted(one.determined for one in dependencies)
    free = list_free_columns(evidence, dependencies)
    model = _fit_cached(select_columns(evidence, free), seed)
    columns = dict(zip(free, model.marginals, strict=True))
    columns |= dict(zip(dropped, fit_columns(select_columns(evidence, dropped)), strict=True))
    marginals = tuple(columns[j] for j in sorted(columns))
    linked = link_columns(evidence, dependencies, marginals)
    return replace(
        model,
        columns=evidence.columns,
        marginals=marginals,
        determined=linked,
        free_columns=tuple(free),
    )


@contextmanager
def cache_fits() -> Iterator[None]:
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
    of_tree = Mixture(rake_tree(tree, list(evidence.known_shares)))
    if evidence.weighted or evidence.known_shares:  # records have neither weights nor known shares
        subtables = subtable_likelihoods(tables, evidence.drawn, np.random.default_rng([seed, 2]))
        model = _fit_tree(of_tree, evidence, subtables, seed)
        return _weigh_people(model, evidence) if evidence.weighted else model
    mixture = of_tree
    if is_list(columns):
        some, count = np.unique(evidence.drawn[:MAX_SCORED], axis=0, return_counts=True)
        mixture = mix_classes(
            tree, fit_classes(columns, evidence.drawn), some, count.astype(np.float64)
        )
    classes = mixture.classes if mixture.class_weight > MIN_CLASS_WEIGHT else None
    subtables = subtable_likelihoods(
        tables, evidence.drawn, np.random.default_rng([seed, 2]), classes
    )
    log_q_without = partial(mixture.log_q_without_class, records=evidence.records)
    model = replace(
        _fit_tree(of_tree, evidence, subtables, seed),
        repeated_people=find_repeated_people(log_q_without, evidence),
        groups=find_groups(tables, evidence.drawn, np.random.default_rng([seed, 5])),
    )
    full_table = full_table_likelihood(mixture, evidence, seed)
    return replace(
        model,
        mixture=mixture,
        shapes=posterior_of_shapes(full_table, subtables),
        sample=leave_records_out(mixture, evidence),
    )


def _weigh_people(model: PeopleModel, evidence: PeopleEvidence) -> PeopleModel:
    """Rake a model of the sample to the shares of its weights.

    Records repeat by the law of the sample, in which some people are likelier than others. So the tree, the
    values that are not seen and the residual are fitted to counts; weights move the shares of the values
    seen. Fitted to sums of weights, a value of one record counted as one of several, and people seemed less
    unique.
    """
    tree = model.mixture.tree
    columns = []
    for column, counts, weights in zip(
        tree.columns, evidence.counts, evidence.value_weights, strict=True
    ):
        change = np.ones(len(column.mass))
        change[: len(counts)] = weights / counts
        mass = np.maximum(column.mass * change, MIN_MASS)
        columns.append(replace(column, mass=mass / mass.sum()))
    people = Mixture(rake_tree(replace(tree, columns=tuple(columns)), range(len(columns))))
    return replace(
        model,
        marginals=tuple(columns),
        mixture=people,
        effective_records=evidence.effective_records,
    )


def _fit_tree(
    of_tree: Mixture, evidence: PeopleEvidence, subtables: Sequence[ShapeLikelihood], seed: int
) -> PeopleModel:
    """The model of the tree alone; `subtables` are likelihoods of the shapes."""
    full_table = full_table_likelihood(of_tree, evidence, seed)
    shapes, columns = posterior_of_shapes(full_table, subtables), of_tree.tree.columns
    parts = evidence.columns, columns, of_tree, shapes, shapes, evidence.histogram, seed
    places = tuple(range(len(columns)))
    return PeopleModel(*parts, free_columns=places)


def fit_columns(evidence: PeopleEvidence) -> tuple[Column, ...]:
    """Fit each column by itself."""
    bins = max_bins(len(evidence.columns))
    columns = []
    for j, (name, values, counts) in enumerate(
        zip(evidence.columns, evidence.values, evidence.counts, strict=True)
    ):
        if j in evidence.known_shares:
            columns.append(column_from_shares(name, values, *evidence.known_shares[j], bins))
        else:
            fit_one = fit_ordered if evidence.ordered[j] else fit_nominal
            columns.append(fit_one(name, values, counts, bins))
    return tuple(columns)


def leave_records_out(mixture: Mixture, evidence: PeopleEvidence) -> SampleRecords:
    """Score distinct records of the sample, each without one record of it, and look its class size up."""
    drawn = evidence.drawn[:MAX_SCORED]
    codes, first, count = np.unique(drawn, axis=0, return_index=True, return_counts=True)
    return SampleRecords(
        mixture.log_q_left_out(codes), evidence.drawn_size[first], count.astype(np.float64)
    )


def full_table_likelihood(mixture: Mixture, evidence: PeopleEvidence, seed: int) -> ShapeLikelihood:
    """Likelihood of the shapes by the repeats of the full table."""
    log_q = mixture.population_log_q(seed)
    unique = int(evidence.histogram.records[evidence.histogram.class_size == 1].sum())
    return shape_likelihood(log_q, evidence.records, evidence.records - unique)


# A model of people as text: JSON with a version and a checksum, of the tree alone.
#
# The file contains no record of a person: it has values with their shares, and chances of values given those
# of one other column. The shapes' weights are those of the tree alone. Reading trusts nothing: every part is
# checked before a model is made, and nothing in the text is ever run.


FORMAT: Final = "reid-sql model of people"
VERSION: Final = 3
VERSIONS_WITHOUT_DOUBTS: Final = (1, 2)
STATUS_EARLIER_VERSION: Final = (
    "old_file: an earlier version saved the model without its doubts, so fit it again"
)
DIGITS: Final = 7  # of a chance
SUM_TOLERANCE: Final = 1e-4
MAX_COLUMNS: Final = 64
MAX_COUNT: Final = 10**15
MAX_LOG_RARITY: Final = 100.0


def to_json(model: PeopleModel) -> str:
    """Write the tree as JSON: the same text for the same model."""
    tree = model.mixture.tree.reorder(np.argsort(model.free_columns).tolist())
    columns, determined, histogram = [], [], model.histogram
    for j, column in enumerate(tree.columns):
        table = np.exp(tree.chances[j].log_chance) if j in tree.chances else ()
        chances = [_round_numbers(row) for row in table]
        columns.append(_write_column(column) | {"parent": tree.parents[j], "chances": chances})
    for one in model.determined:
        goes, slip = one.code_of_source.tolist(), one.exception_chance
        link = {"place": one.column, "source": one.source, "goes": goes, "slip": slip}
        determined.append(_write_column(model.marginals[one.column]) | link)
    # people, where these are no whole classes
    has_classes = np.issubdtype(histogram.classes.dtype, np.integer)
    key, counts = ("classes", histogram.classes) if has_classes else ("people", histogram.records)
    doubts = [
        [one.status, one.least, one.most if one.most < inf else None, one.understates]
        for one in model.doubts
    ]
    content = {
        "format": FORMAT,
        "version": VERSION,
        "records": "none: the file contains no record of a person",
        "seed": model.seed,
        "class_size": histogram.class_size.tolist(),
        key: counts.tolist(),
        "shapes": _round_numbers(model.tree_shapes),
        "order": list(tree.order),
        "columns": columns,
        "ties": determined,
        "doubts": doubts,
    }
    return content_to_text(content)


def from_json(text: str) -> PeopleModel:
    """Read a model; refuses another format, another version, and a text changed since it was written."""
    return read_model(text, FORMAT, (*VERSIONS_WITHOUT_DOUBTS, VERSION), _read_model)


def _write_column(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "ordered": column.ordered,
        "values": list(column.seen),
        "mass": _round_numbers(column.mass),
        "multiplicity": _round_numbers(column.multiplicity),
        "bins": column.bins.tolist(),
        "unseen_places": column.unseen_places.tolist(),
        "rarity": [_round_numbers(column.rarity.weight), _round_numbers(column.rarity.log_ratio)],
    }


def _read_model(content: Mapping[str, Any]) -> PeopleModel:
    written = content["columns"]
    _require(isinstance(written, list) and 1 <= len(written) <= MAX_COLUMNS, "columns")
    free = tuple(_read_column(one) for one in written)
    marginals, determined = _read_determined(free, content.get("ties", []))
    names = tuple(column.name for column in marginals)
    _require(len(set(names)) == len(names), "columns")
    tree = _read_tree(free, written, _read_integers(content["order"], 0, len(written) - 1))
    sizes = _read_integers(content["class_size"], 1, MAX_COUNT)
    are_people = "people" in content
    counted = _read_integers(content["people" if are_people else "classes"], 1, MAX_COUNT)
    _require(0 < len(sizes) == len(counted) and (np.diff(sizes) > 0).all(), "class_size")
    shapes, seed = _read_shares(content["shapes"]), content["seed"]
    is_seed = type(seed) is int and 0 <= seed <= MAX_SEED
    _require(is_seed and len(shapes) == len(LOG_SHAPES), "shapes or seed")
    histogram = count_people(sizes, counted if are_people else sizes * counted)
    determined_places = {one.column for one in determined}
    places = tuple(j for j in range(len(names)) if j not in determined_places)
    parts = names, marginals, Mixture(tree), shapes, shapes, histogram, seed
    doubts: tuple[Doubt, ...] = (Doubt(STATUS_EARLIER_VERSION),)
    if content["version"] == VERSION:
        doubts = tuple(_read_doubt(*one) for one in content["doubts"])
    return PeopleModel(*parts, determined=determined, free_columns=places, doubts=doubts)


def _read_doubt(status: object, least: object, most: object, understates: object) -> Doubt:
    if not isinstance(status, str) or not isinstance(understates, bool):
        raise TypeError("doubts")
    ends = _read_numbers([least, 0 if most is None else most]).tolist()
    return Doubt(status, ends[0], inf if most is None else ends[1], understates)


def _read_determined(
    free: tuple[Column, ...], written: Rows
) -> tuple[tuple[Column, ...], tuple[DeterminedColumn, ...]]:
    """Insert determined columns among the others; the source of each must be one of the others."""
    _require(isinstance(written, list) and len(free) + len(written) <= MAX_COLUMNS, "ties")
    places_of_all = range(len(free) + len(written))
    places = _read_integers([one["place"] for one in written], 0, places_of_all[-1]).tolist()
    free_places = [j for j in places_of_all if j not in places]
    _require(len(free_places) == len(free), "place")
    columns = dict(zip(free_places, free, strict=True))
    columns |= dict(zip(places, map(_read_column, written), strict=True))
    determined = []
    for place, one in zip(places, written, strict=True):
        source, slip = one["source"], one["slip"]
        is_source = type(source) is int and source in free_places
        _require(is_source and type(slip) is float and 0 < slip < 1, "source or slip")
        goes = _read_integers(one["goes"], UNKNOWN, len(columns[place].seen) - 1)
        _require(len(goes) == len(columns[source].mass), "goes")
        determined.append(DeterminedColumn(place, source, goes, slip))
    return tuple(columns[j] for j in places_of_all), tuple(determined)


def _read_tree(columns: tuple[Column, ...], written: Rows, order: Integers) -> Tree:
    parents = [one["parent"] for one in written]
    is_order = sorted(order.tolist()) == list(range(len(columns)))
    _require(is_order and all(type(parent) is int for parent in parents), "order")
    chances, before = {}, {ROOT}
    for j in order.tolist():
        _require(parents[j] in before, "parent")
        before.add(j)
        if parents[j] != ROOT:
            shape = len(columns[parents[j]].bin_mass), len(columns[j].bin_mass)
            rows = [_read_shares(row) for row in written[j]["chances"]]
            _require([len(row) for row in rows] == [shape[1]] * shape[0], "chances")
            chances[j] = ChanceTable(np.log(np.maximum(np.stack(rows), np.finfo(float).tiny)))
    return Tree(columns, tuple(parents), tuple(order.tolist()), chances)


def _read_column(written: Mapping[str, Any]) -> Column:
    name, ordered, values = written["name"], written["ordered"], written["values"]
    if [*map(type, (name, ordered, values))] != [str, bool, list] or not values:
        raise TypeError("column")
    are_texts = all(isinstance(value, str | None) for value in values)
    _require(are_texts and len(set(values)) == len(values), "values")
    mass, many = _read_shares(written["mass"]), _read_numbers(written["multiplicity"])
    bins = _read_integers(written["bins"], 0, len(mass) - 1)
    places = _read_numbers(written["unseen_places"])
    same_length = len(mass) == len(many) == len(bins) == len(values) + len(places) + 1
    in_domain = same_length and (many >= 1).all() and (mass > 0).all()
    has_all_bins = in_domain and set(bins.tolist()) == set(range(bins.max() + 1))
    _require(has_all_bins, "mass, multiplicity or bins")
    _require((np.diff(places) > 0).all(), "unseen_places")
    weight, log_ratio = written.get("rarity", [[1.0], [0.0]])
    rarity = Rarity(_read_shares(weight), _read_numbers(log_ratio))
    same_length = len(rarity.weight) == len(rarity.log_ratio)
    _require(same_length and (np.abs(rarity.log_ratio) <= MAX_LOG_RARITY).all(), "rarity")
    return Column(
        name, tuple(values), ordered, mass, many, bins, None, mass[: len(values)], places, rarity
    )


def _require(is_valid: bool | np.bool_, part: str) -> None:  # noqa: FBT001 - the condition itself
    """Refuse a text of which a part is not as it was written; NaN meets no condition."""
    if not is_valid:
        raise ValueError(part)


def _read_shares(written: object) -> Floats:
    shares = _read_numbers(written)
    is_one = abs(float(shares.sum()) - 1) <= SUM_TOLERANCE
    _require(is_one and (shares >= 0).all(), "shares")
    return np.asarray(shares / shares.sum())


def _read_numbers(written: object) -> Floats:
    if not isinstance(written, list) or any(type(value) not in (int, float) for value in written):
        raise TypeError("numbers expected")
    return np.array(written, dtype=np.float64)


def _read_integers(written: object, low: int, high: int) -> Integers:
    if not isinstance(written, list) or any(
        type(value) is not int or not low <= value <= high for value in written
    ):
        raise TypeError("whole numbers expected")
    return np.array(written, dtype=np.int64)


def _round_numbers(values: Floats) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in values.tolist()]
