"""Individual risk of Benedetti and Franconi: the mean of 1/F for the class of a record with survey weights.

Given f records in the sample, the F people of the class are negative binomial with success chance p = f/F̂,
F̂ the sum of the class's weights: the risk is Σ over h ≥ f of P(F = h)/h. Without weights, p = 1 and the risk
is 1/f. Source: Benedetti & Franconi 1998; Polettini 2003.
"""

from dataclasses import dataclass
from math import fsum
from typing import Annotated, Final, Literal

import numpy as np

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.disclosure import NO_RECORDS, OK
from reid_sql.models.numerics import quadrature
from reid_sql.models.numerics.quantiles import ROUNDING_TOLERANCE
from reid_sql.parameters import MAX_PEOPLE, Choice, Floats, Integers

FORM: Final = Choice(("exact", "approximate"))
Form = Annotated[Literal["exact", "approximate"], FORM]
REFUSAL_BAD_WEIGHT: Final = (
    "weight must be a number above 0 for every record, got a missing, negative or zero one; "
    "mend the column, or leave weight out"
)
REFUSAL_HEAVY_WEIGHTS: Final = (
    f"the weights must add up to at most {MAX_PEOPLE:g} people, got more; "
    "divide the column, whose sum is the population, or leave weight out"
)
STATUS_LIGHT_WEIGHTS: Final = (
    "light_weights: {} records have too small weights and count as the whole of their class"
)


@dataclass(frozen=True)
class WeightedRecords:
    """Distinct records: their numbers, and the sum of their class's weights (NaN, if one is bad).

    Without weights the sum is the class's size: the number of its records, unless people are counted, of whom
    some are in a smaller class, too.
    """

    records: Integers  # (distinct,)
    mass: Floats  # (distinct,)
    class_size: Integers | None = None  # (distinct,); None where it is the number of records


@dataclass(frozen=True)
class IndividualRisk:
    """Risk of each distinct record, the estimated people of its class, and the right matches to expect.

    The matches are over all records. A household's risk follows from its members', record by record.
    """

    class_size: Integers
    population_class_size: Floats
    risk: Floats
    # chance that a match on a member of the household is right; else NULL
    household_risk: float | None
    expected_reidentifications: float
    status: str


def score_weighted_records(weighted: WeightedRecords, form: Form = "exact") -> IndividualRisk:
    """Give the risk of each distinct record; 'approximate' is sdcMicro's form.

    Refuses an empty table, bad weights, and a population that no function takes.

    >>> answer = score_weighted_records(WeightedRecords(np.array([1, 2]), np.array([10.0, 2.0])))
    >>> answer.risk.round(6).tolist(), round(answer.expected_reidentifications, 6)
    ([0.255843, 0.5], 1.255843)
    """
    FORM.check("form", form)
    if not len(weighted.records):
        raise NoRecordsError(NO_RECORDS)
    if not (weighted.mass > 0).all() or np.isinf(weighted.mass).any():
        raise OutOfDomainError(REFUSAL_BAD_WEIGHT)
    if weighted.mass.sum() > MAX_PEOPLE * (1 + ROUNDING_TOLERANCE):
        raise OutOfDomainError(REFUSAL_HEAVY_WEIGHTS)
    sizes = weighted.records if weighted.class_size is None else weighted.class_size
    f = sizes.astype(np.float64)
    p = np.minimum(f / weighted.mass, 1.0)
    risks = (
        quadrature.expected_inverse_negative_binomial(f, f, p)
        if form == "exact"
        else _approximate_risk(f, p)
    )
    light = int(weighted.records[weighted.mass < f * (1 - ROUNDING_TOLERANCE)].sum())
    status = STATUS_LIGHT_WEIGHTS.format(light) if light else OK
    return IndividualRisk(sizes, weighted.mass, risks, None, fsum(weighted.records * risks), status)


def _approximate_risk(f: Floats, p: Floats) -> Floats:
    """p/(f − (1 − p)) beyond two records; for one and two the exact form, with q = 1 − p.

    p/q ln(1/p) for one record, p/q − (p/q)² ln(1/p) for two.
    """
    return np.where(
        f > 2,  # noqa: PLR2004
        p / (f - (1 - p)),
        quadrature.expected_inverse_negative_binomial(f, f, p),
    )
