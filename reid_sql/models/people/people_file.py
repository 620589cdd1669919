"""A kept model of people as text: plain JSON with a version and a checksum, of the tree alone.

Donors are records of persons, so none is kept: the file holds values with their shares, and chances of values
given those of one other column. The shape's weights are those of the tree alone. Reading trusts nothing:
every part is checked before a model is made, and nothing in the text is ever run.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from reid_sql.models.classes.disclosure import Histogram, Integers
from reid_sql.models.copula.copula_file import MAX_SEED, checksum, model_of, text_of
from reid_sql.models.marginals.column import Column, Rarity
from reid_sql.models.people.people_model import PeopleModel
from reid_sql.models.people.shape import LOG_SHAPES
from reid_sql.models.people.stack import Stack
from reid_sql.models.people.ties import UNTOLD, Tie
from reid_sql.models.people.tree import ROOT, Chances, Tree
from reid_sql.parameters import Floats

FORMAT: Final = "reid-sql model of people"
VERSION: Final = 1
WITH_TIES: Final = 2  # the version that has columns that follow from others
DIGITS: Final = 7  # of a chance
CLOSE: Final = 1e-4  # to 1, of what must add up to it
MOST_COLUMNS: Final = 64
FARTHEST_RARITY: Final = 100.0  # logarithm of a share over the mean


def to_json(model: PeopleModel) -> str:
    """Write the tree as JSON: the same text for the same model."""
    tree = model.stack.tree
    ties = {"ties": [_tie(model, tie) for tie in model.ties]} if model.ties else {}
    content = {
        "format": FORMAT,
        "version": WITH_TIES if model.ties else VERSION,
        "donors": "none: the file holds no record of a person",
        "seed": model.seed,
        "class_size": model.histogram.class_size.tolist(),
        "classes": model.histogram.classes.tolist(),
        "shapes": _digits(model.tree_shapes),
        "order": list(tree.order),
        "columns": [_column(tree, j) for j in range(len(tree.columns))],
        **ties,
    }
    return text_of(content | {"sha256": checksum(content)})


def from_json(text: str) -> PeopleModel:
    """Read a model; refuses a text that is none, of another version, or changed since it was written."""
    return model_of(text, FORMAT, (VERSION, WITH_TIES), _model)


def _column(tree: Tree, j: int) -> dict[str, Any]:
    chances = tree.chances.get(j)
    return _alone(tree.columns[j]) | {
        "parent": tree.parents[j],
        "chances": [] if chances is None else [_digits(row) for row in np.exp(chances.log_chance)],
    }


def _tie(model: PeopleModel, tie: Tie) -> dict[str, Any]:
    told = {"place": tie.column, "source": tie.source, "goes": tie.goes.tolist(), "slip": tie.slip}
    return _alone(model.marginals[tie.column]) | told


def _alone(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "ordered": column.ordered,
        "values": list(column.seen),
        "mass": _digits(column.mass),
        "multiplicity": _digits(column.multiplicity),
        "bins": column.bins.tolist(),
        "unseen_places": column.unseen_places.tolist(),
        "rarity": [_digits(column.rarity.weight), _digits(column.rarity.log_ratio)],
    }


def _model(content: Mapping[str, Any]) -> PeopleModel:
    told = content["columns"]
    if not isinstance(told, list) or not 1 <= len(told) <= MOST_COLUMNS:
        raise ValueError("columns")
    columns = tuple(_read_column(one) for one in told)
    every, ties = _read_ties(columns, content.get("ties", []))
    if bool(ties) != (content["version"] == WITH_TIES):
        raise ValueError("ties")
    names = tuple(column.name for column in every)
    if len(set(names)) < len(names):
        raise ValueError("columns")
    tree = _tree(columns, told, _integers(content["order"], 0, len(told) - 1))
    sizes, classes = _integers(content["class_size"], 1, 10**15), _integers(content["classes"], 1, 10**15)
    if not len(sizes) or len(sizes) != len(classes) or (np.diff(sizes) <= 0).any():
        raise ValueError("class_size")
    shapes, seed = _shares(content["shapes"]), content["seed"]
    if len(shapes) != len(LOG_SHAPES) or type(seed) is not int or not 0 <= seed <= MAX_SEED:
        raise ValueError("shapes or seed")
    histogram = Histogram(sizes, classes, sizes * classes)
    return PeopleModel(names, every, Stack(tree, 1.0, None), shapes, shapes, histogram, seed, ties=ties)


def _read_ties(
    kept: tuple[Column, ...], told: Sequence[Mapping[str, Any]]
) -> tuple[tuple[Column, ...], tuple[Tie, ...]]:
    """Put columns that follow in their places among the others; each must follow from one of the others."""
    if not isinstance(told, list) or len(kept) + len(told) > MOST_COLUMNS:
        raise ValueError("ties")
    wide = range(len(kept) + len(told))
    places = _integers([one["place"] for one in told], 0, wide[-1]).tolist()
    others = [j for j in wide if j not in places]
    if len(others) != len(kept):
        raise ValueError("place")
    columns = dict(zip(others, kept, strict=True))
    columns |= {place: _read_column(one) for place, one in zip(places, told, strict=True)}
    ties = []
    for place, one in zip(places, told, strict=True):
        source, slip = one["source"], one["slip"]
        if type(source) is not int or source not in others or type(slip) is not float or not 0 < slip < 1:
            raise ValueError("source or slip")
        goes = _integers(one["goes"], UNTOLD, len(columns[place].seen) - 1)
        if len(goes) != len(columns[source].mass):
            raise ValueError("goes")
        ties.append(Tie(place, source, goes, slip))
    return tuple(columns[j] for j in wide), tuple(ties)


def _tree(columns: tuple[Column, ...], told: Sequence[Mapping[str, Any]], order: Integers) -> Tree:
    parents = [one["parent"] for one in told]
    if sorted(order.tolist()) != list(range(len(columns))) or not all(type(p) is int for p in parents):
        raise ValueError("order")
    chances, before = {}, {ROOT}
    for j in order.tolist():
        if parents[j] not in before:
            raise ValueError("parent")
        before.add(j)
        if parents[j] != ROOT:
            shape = len(columns[parents[j]].bin_mass), len(columns[j].bin_mass)
            rows = [_shares(row) for row in told[j]["chances"]]
            if len(rows) != shape[0] or any(len(row) != shape[1] for row in rows):
                raise ValueError("chances")
            chances[j] = Chances(np.log(np.maximum(np.stack(rows), np.finfo(float).tiny)))
    return Tree(columns, tuple(parents), tuple(order.tolist()), chances)


def _read_column(told: Mapping[str, Any]) -> Column:
    name, ordered, values = told["name"], told["ordered"], told["values"]
    if type(name) is not str or type(ordered) is not bool or not isinstance(values, list) or not values:
        raise TypeError("column")
    if any(not isinstance(value, str | None) for value in values) or len(set(values)) < len(values):
        raise ValueError("values")
    mass, many = _shares(told["mass"]), _numbers(told["multiplicity"])
    bins, places = _integers(told["bins"], 0, len(mass) - 1), _numbers(told["unseen_places"])
    alike = len(mass) == len(many) == len(bins) == len(values) + len(places) + 1
    if not alike or (many < 1).any() or (mass <= 0).any() or set(bins.tolist()) != set(range(bins.max() + 1)):
        raise ValueError("mass, multiplicity or bins")
    if (np.diff(places) <= 0).any():
        raise ValueError("unseen_places")
    weight, log_ratio = told.get("rarity", [[1.0], [0.0]])
    rarity = Rarity(_shares(weight), _numbers(log_ratio))
    if len(rarity.weight) != len(rarity.log_ratio) or (np.abs(rarity.log_ratio) > FARTHEST_RARITY).any():
        raise ValueError("rarity")
    return Column(name, tuple(values), ordered, mass, many, bins, None, mass[: len(values)], places, rarity)


def _shares(told: object) -> Floats:
    found = _numbers(told)
    if (found < 0).any() or abs(float(found.sum()) - 1) > CLOSE:
        raise ValueError("shares")
    return np.asarray(found / found.sum())


def _numbers(told: object) -> Floats:
    if not isinstance(told, list) or any(type(value) not in (int, float) for value in told):
        raise TypeError("numbers expected")
    return np.array(told, dtype=np.float64)


def _integers(told: object, low: int, high: int) -> Integers:
    if not isinstance(told, list) or any(
        type(value) is not int or not low <= value <= high for value in told
    ):
        raise TypeError("whole numbers expected")
    return np.array(told, dtype=np.int64)


def _digits(values: Floats) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in values.tolist()]
