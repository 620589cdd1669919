"""What there is to say of a fitted model of people in one line."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from reid_sql.models.classes.disclosure import OK
from reid_sql.models.copula.copula_file import CopulaSummary
from reid_sql.models.people.diagnostics import Diagnostics
from reid_sql.models.people.people_model import PeopleModel
from reid_sql.models.people.tree import ROOT

FEW: Final = 100
OF_FEW: Final = "fewer than 100 records: intervals were measured on larger samples"
NOTHING_REPEATS: Final = (
    "no record repeats in the sample: how many people share a cell rests on the model alone"
)
WITHOUT_DONORS: Final = (
    "the tree alone: donors know of no weights, of no shares from outside, and are in no file"
)
NO_CORRELATION: Final = None


@dataclass(frozen=True)
class PeopleSummary:
    """A model of people by its name: what it was fitted to, and what it is made of."""

    model: str
    records: int
    columns: list[str]
    ordered: list[str]
    values: int  # of all columns together
    tree: list[str]  # each column with the one that it depends on, or that it follows from
    tree_weight: float  # beside the donors
    donors: int  # records of the sample that the model holds
    entropy: float  # nats
    shape: float  # a of the residual: the larger, the less real cells scatter around the model's
    total_correlation: float  # nats that the columns tell of each other
    interaction_information: float | None  # nats, of the three columns that tell the most beyond pairs
    kl_divergence: float | None  # nats, of the people from the model
    predictive_check: float  # standard deviations
    status: str


def summary(name: str, model: PeopleModel, found: Diagnostics) -> PeopleSummary:
    """Describe the model, and what diagnostics found of it."""
    tree = model.stack.tree
    shown = [
        column.name if parent == ROOT else f"{column.name} on {tree.columns[parent].name}"
        for column, parent in zip(tree.columns, tree.parents, strict=True)
    ]
    shown += [f"{model.columns[tie.column]} follows {model.columns[tie.source]}" for tie in model.ties]
    shape = float(np.exp(model.shapes @ model.scatter.log_shapes(model.records)))
    return PeopleSummary(
        name,
        model.records,
        list(model.columns),
        _ordered(model),
        _values(model),
        shown,
        model.stack.weight,
        model.donors,
        -float(model.drawn_log_q.mean()),
        shape,
        found.total_correlation,
        None if found.interaction is None else found.interaction.nats,
        found.kl_divergence,
        found.worst.away,
        _status(model),
    )


def in_short(name: str, model: PeopleModel) -> CopulaSummary:
    """Describe the model beside copulas: it has no correlation and no calibration."""
    ordered = _ordered(model)
    told = f"{len(model.columns) - len(ordered)} nominal, {len(ordered)} ordered"
    return CopulaSummary(
        name,
        model.records,
        list(model.columns),
        ordered,
        _values(model),
        NO_CORRELATION,
        told,
        model.method,
        1.0,
        _status(model),
    )


def _ordered(model: PeopleModel) -> list[str]:
    return [column.name for column in model.marginals if column.ordered]


def _values(model: PeopleModel) -> int:
    return sum(len(column.seen) for column in model.marginals)


def _status(model: PeopleModel) -> str:
    notes = [OF_FEW] * (model.records < FEW) + [WITHOUT_DONORS] * (model.donors == 0)
    notes += [NOTHING_REPEATS] * bool(model.histogram.class_size.max() == 1 < model.records)
    return "; ".join([*notes, *model.notes]) or OK
