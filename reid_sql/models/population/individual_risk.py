"""Individual risk of Benedetti and Franconi: the mean of 1/F for the class of a record with survey weights.

Given f records in the sample, the F people of the class are negative binomial with success chance p = f/F̂,
F̂ the sum of the class's weights: the risk is Σ over h ≥ f of P(F = h)/h. Without weights, p = 1 and the risk
is 1/f. Source: Benedetti & Franconi 1998; Polettini 2003.

The estimator sees no class but the record's own. Of a record that is alone with weight w it expects
ln w/(w − 1) right matches, whether a country has one such person or w: where most of those who are alone in
the sample are alone in the population, it is far too low (.05 for .9 at w = 100). How many right matches to
expect is therefore estimated by the log-linear model with negative binomial counts (Skinner & Shlomo 2008),
which sees how often the record's values occur: the class has f people and a negative binomial number beyond
the sample. In its sampled fraction p = f/F̂, N q = μ/p for μ records expected of it by main effects.
"""

from dataclasses import dataclass
from math import fsum
from typing import Annotated, Final, Literal

import numpy as np

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.numerics import quadrature
from reid_sql.models.numerics.quantiles import ROUNDING_TOLERANCE
from reid_sql.models.population.loglinear import fit_shape, is_saturated
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
STATUS_NO_UPPER_BOUND: Final = "no_upper_bound: expected_reidentifications are more than the risk of Benedetti and Franconi adds up to"
STATUS_NO_EXPECTED_NUMBER: Final = "no_expected_number: main effects repeat the sample, so nothing bounds the risk of its lone records"
MAX_SHORTFALL: Final = (
    0.9  # of the expected number, that the estimator's sum may be without a status
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
    # (distinct,), of the count that independent columns would give; None or NaN without weights
    log_expected: Floats | None = None


@dataclass(frozen=True)
class IndividualRisk:
    """Risk of each distinct record by Benedetti and Franconi, and the right matches to expect of all.

    These are by a log-linear model; the sum of the risks is beside them. A household's risk follows from its
    members', record by record.
    """

    class_size: Integers
    population_class_size: Floats
    risk: Floats
    # chance that a match on a member of the household is right; else NULL
    household_risk: float | None
    expected_reidentifications: float | None
    benedetti_franconi_sum: float
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
        raise NoRecordsError
    if not (weighted.mass > 0).all() or np.isinf(weighted.mass).any():
        raise OutOfDomainError(REFUSAL_BAD_WEIGHT)
    if weighted.mass.sum() > MAX_PEOPLE * (1 + ROUNDING_TOLERANCE):
        raise OutOfDomainError(REFUSAL_HEAVY_WEIGHTS)
    sizes = weighted.records if weighted.class_size is None else weighted.class_size
    f = sizes.astype(np.float64)
    p = np.minimum(f / weighted.mass, 1.0)
    risks = quadrature.expected_inverse_negative_binomial(f, f, p)
    if form == "approximate":
        # p/(f − (1 − p)) beyond two records; for one and two the exact form, with q = 1 − p:
        # p/q ln(1/p) for one record, p/q − (p/q)² ln(1/p) for two.
        risks = np.where(f > 2, p / (f - (1 - p)), risks)  # noqa: PLR2004
    light = int(weighted.records[weighted.mass < f * (1 - ROUNDING_TOLERANCE)].sum())
    notes = [STATUS_LIGHT_WEIGHTS.format(light)] * (light > 0)
    total = fsum(weighted.records * risks)
    expected, doubts = _expect_matches(weighted, sizes, p, total)
    status = "; ".join([*notes, *doubts]) or OK
    return IndividualRisk(sizes, weighted.mass, risks, None, expected, total, status)


def _expect_matches(
    weighted: WeightedRecords, sizes: Integers, p: Floats, total: float
) -> tuple[float | None, list[str]]:
    """Expected right matches by the log-linear model, and what they say of the estimator's sum.

    Where main effects repeat the sample, as of one column, the model adds nothing to it. The sum then holds
    if no record is alone: the people of a class of several are about the sum of its weights.
    """
    if weighted.log_expected is None or not np.isfinite(weighted.log_expected).all():
        return total, []
    if (p >= 1).all():  # the sample is the population
        return total, []
    expected = np.exp(weighted.log_expected)
    if is_saturated(sizes, weighted.log_expected) or (sizes == sizes[0]).all():
        is_alone = (sizes == 1) & (p < 1)
        return (None, [STATUS_NO_EXPECTED_NUMBER]) if is_alone.any() else (total, [])
    shape = fit_shape(sizes, expected, np.ones_like(sizes))
    if np.isinf(shape):
        right = quadrature.expected_inverse_poisson(sizes, (1 / p - 1) * expected)
    else:
        chance = (shape + expected) / (shape + expected / p)
        right = quadrature.expected_inverse_negative_binomial(sizes, shape + sizes, chance)
    matches = fsum(weighted.records * right)
    is_lower = total < MAX_SHORTFALL * matches and matches - total > 1
    return matches, [STATUS_NO_UPPER_BOUND] * is_lower
