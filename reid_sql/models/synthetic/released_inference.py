"""Inference with abstention on a released table: with and without each person's own record, or on others."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.classes.subset_counts import count_subsets
from reid_sql.models.comparison.linkage import newcombe_interval, wilson_interval
from reid_sql.models.synthetic.audit import doubt_holdout_of_released
from reid_sql.models.synthetic.audited_tables import AuditedTables, draw_people
from reid_sql.models.synthetic.sure_inference import (
    STATUS_NOBODY,
    Counts,
    SureAttack,
    Trial,
    list_subsets,
)
from reid_sql.parameters import Number

MIN_PRECISION: Final = Number(
    "a share from 0.5 to 1",
    "pass how often she must be right where she attacks, such as 0.95",
    0.5,
    1.0,
)
MinPrecision = Annotated[float, MIN_PRECISION]
STATUS_IMPRECISE: Final = "imprecise: where she is sure, she is right less often than min_precision"
MAX_SETS: Final = 10_000  # of known columns, for all sensitive columns together


@dataclass(frozen=True)
class InferenceRisk:
    """What an attacker who abstains infers of a sensitive column from some known columns."""

    sensitive: str  # the inferred column
    columns: list[str]  # the known columns
    rank: int  # 1 for the columns that served best on the choosing half
    # the rule: she attacks if more than half, and so many, of the matches have one value
    min_share: float
    min_people: int  # and if so many people match
    people: int  # the people of the measuring half
    attacked: float  # share of them whom she attacks
    precision: float | None  # share of the attacked about whom she is right
    precision_low: float | None
    precision_high: float | None
    recall: float  # share of the people about whom she is right
    # share of the attacked who have the most frequent value of the column
    guess_precision: float | None
    baseline_columns: list[
        str
    ]  # known columns of the baseline: of all, those right about most people
    baseline_attacked: (
        float  # `attacked` by them without the person's own record, or of the holdout
    )
    baseline_precision: float | None  # `precision` of the same
    baseline_recall: float  # `recall` of the same
    # `recall`, with the baseline's columns where she abstains, less `baseline_recall`: what own records add
    excess: float
    excess_low: float
    excess_high: float
    risk: float | None  # `excess` / (1 - `baseline_recall`), the risk that anonymeter reports
    status: str


def measure_inference(
    tables: AuditedTables, max_size: int, min_precision: float, targets: int, seed: int
) -> list[InferenceRisk]:
    """Attack each sensitive column by every set of the known columns; the worst column first."""
    if not np.sum(tables.originals):
        raise NoRecordsError
    ordered = tables.in_order()
    quasi, sensitive = ordered.places(sensitive=False), ordered.places(sensitive=True)
    sets = len(sensitive) * count_subsets(len(quasi), max_size)
    if sets > MAX_SETS:
        raise OutOfDomainError(
            f"the number of sets of known columns must be at most {MAX_SETS:,}, got {sets:,}; pass fewer "
            "columns or a smaller max_size"
        )
    draws = [np.random.default_rng([seed, family]) for family in range(2)]
    people = draw_people(ordered, targets, draws[0])
    trial = Trial(ordered, people, draws[1], is_released=True)
    subsets = list_subsets(quasi, max_size)
    attacks = [trial.attack(target, subsets, [min_precision])[0] for target in sensitive]
    attacks.sort(key=lambda each: each[0].strength, reverse=True)
    doubt = doubt_holdout_of_released(ordered)
    return [
        _risk(attack, rank, ordered.names, doubt)
        for each in attacks
        for rank, attack in enumerate(each, 1)
    ]


def _risk(attack: SureAttack, rank: int, names: Sequence[str], doubt: str | None) -> InferenceRisk:
    counts, control = attack.counts, attack.control or Counts(0, 0, 0)
    people, precision = counts.people, counts.precision
    ends = wilson_interval(precision, counts.attacked) if precision is not None else (None, None)
    joint = attack.joint_right / people
    low, high = newcombe_interval((joint, people), (control.recall, control.people))
    excess = joint - control.recall
    status = OK if attack.strength[0] else STATUS_IMPRECISE
    return InferenceRisk(
        names[attack.target],
        [names[place] for place in attack.columns],
        rank,
        attack.rule[0] / 100,
        attack.rule[1],
        people,
        counts.attacked / people,
        precision,
        ends[0],
        ends[1],
        counts.recall,
        attack.guessed / counts.attacked if counts.attacked else None,
        [names[place] for place in attack.control_columns],
        control.attacked / control.people,
        control.precision,
        control.recall,
        excess,
        low,
        high,
        excess / (1 - control.recall) if control.recall < 1 else None,
        doubt or (status if counts.attacked else STATUS_NOBODY),
    )
