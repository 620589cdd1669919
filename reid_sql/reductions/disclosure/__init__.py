"""What each class gives away about a sensitive column."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes import sensitive
from reid_sql.parameters import PROBABILITY, Choice, Number
from reid_sql.reduction import BY, DROPPABLE_NULLS, ENTITY, TBL, Argument, Reduction

REFUSAL_BY_SENSITIVE: Final = sensitive.REFUSAL_BY_SENSITIVE
NEARLY_ALL: Final = 0.9  # classes per cell, from which on classes of one value are separated first
OF_CLASSES: Final = (TBL, Argument("qi", sensitive.QI), Argument("sensitive", sensitive.SENSITIVE))
# Distances in an order need the values of each class and of the table in that order.
IN_ORDER: Final = {"variant": tuple(word for word in sensitive.DISTANCES.words if word != "equal")}
# A warehouse counts the records of a whole table; DuckDB those of people, and of groups.
IN_TABLE: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {"ibis": {"entity": (), "by": ()}}
DEFAULT_K: Final = 2  # records in a class, under (α, k)-anonymity
NO_INFINITY: Final = "its doubles are never infinite, as the measure can be"


# The variants of a measure, and the one that it has unless another is named.
VARIANTS: Final[Mapping[str, tuple[Choice, str]]] = {
    "l_diversity": (sensitive.DIVERSITIES, "distinct"),
    "t_closeness": (sensitive.DISTANCES, "equal"),
    "beta_likeness": (sensitive.LIKENESSES, "basic"),
    "delta_disclosure": (sensitive.PRESENCES, "present"),
}


def measured(
    name: str,
    *options: Argument,
    of_shares: bool = False,
    fallback: Mapping[str, Mapping[str, tuple[str, ...]]] = IN_TABLE,
) -> Reduction:
    """How many classes have each size and each value of the measure; the options say which variant of it.

    `records` are those in the classes; with `entity`, which names the person of each row, people by the size
    of their smallest class and the worst value of their classes.
    """
    variant = [Argument("variant", *VARIANTS[name])] if name in VARIANTS else []
    return Reduction(
        __name__,
        name=name,
        words="how many classes, and records or people, have each size and each value of the measure",
        arguments=(*OF_CLASSES, *variant, *options, ENTITY, BY, DROPPABLE_NULLS),
        columns={"class_size": "BIGINT", "value": "DOUBLE", "classes": "BIGINT", "records": "BIGINT"},
        arrays=sensitive.ClassValues,
        of_shares=of_shares,
        fallback=fallback,
    )


L_DIVERSITY: Final = measured("l_diversity", Argument("c", sensitive.CONCENTRATION, 3))
T_CLOSENESS: Final = measured(
    "t_closeness",
    of_shares=True,
    fallback={"spark": IN_ORDER, "ibis": {**IN_TABLE["ibis"], **IN_ORDER}},
)
ALPHA_K_ANONYMITY: Final = measured("alpha_k_anonymity")
BETA_LIKENESS: Final = measured("beta_likeness", of_shares=True)
DELTA_DISCLOSURE: Final = measured("delta_disclosure", of_shares=True)
MEASURES: Final = (L_DIVERSITY, T_CLOSENESS, ALPHA_K_ANONYMITY, BETA_LIKENESS, DELTA_DISCLOSURE)
NAMES: Final = tuple(each.name for each in MEASURES)
# What a class of each measure is compared with, and what it is unless it is given.
THRESHOLDS: Final[Mapping[str, tuple[Number, float]]] = {
    "l_diversity": (sensitive.DIVERSITY, 2),
    "t_closeness": (sensitive.CLOSENESS, 0.2),
    "alpha_k_anonymity": (PROBABILITY, 0.5),
    "beta_likeness": (sensitive.GAIN, 1),
    "delta_disclosure": (sensitive.GAIN, 1),
}
VARIANT: Final = Choice(tuple(word for words, _ in VARIANTS.values() for word in words.words), optional=True)
THRESHOLD: Final = Number(
    "a number from 0 to 1e+9",
    "pass what a class must not be beyond, such as 2 values",
    0.0,
    1e9,
    optional=True,
)


@dataclass(frozen=True)
class Criterion:
    """What a class is compared with: a measure, its variant, the threshold, and for one its records."""

    measure: str
    options: Mapping[str, Any]  # the variant, if the measure has some, and c
    threshold: float
    k: int | None


def read_criterion(
    measure: str, variant: str | None, threshold: float | None, c: float, k: int | None
) -> Criterion:
    """Read the criterion, each part the measure's own unless it is given; refuse parts of another measure."""
    if k is not None and measure != ALPHA_K_ANONYMITY.name:
        rule = f"k must be used with measure := '{ALPHA_K_ANONYMITY.name}', got '{measure}'"
        raise OutOfDomainError(f"{rule}; leave it out")
    domain, default = THRESHOLDS[measure]
    limit = default if threshold is None else domain.check_one("threshold", threshold)
    options: dict[str, Any] = {"c": c} if measure == L_DIVERSITY.name else {}
    if measure in VARIANTS:
        words, usual = VARIANTS[measure]
        options["variant"] = usual if variant is None else words.check("variant", variant)
    elif variant is not None:
        rule = f"variant must be left out with measure := '{measure}', got '{variant}'"
        raise OutOfDomainError(f"{rule}; the measure has none")
    smallest = DEFAULT_K if measure == ALPHA_K_ANONYMITY.name and k is None else k
    return Criterion(measure, options, limit, smallest)


DISCLOSING_CLASSES: Final = Reduction(
    __name__,
    name="disclosing_classes",
    words="the classes that disclose more of a sensitive column than a measure allows",
    arguments=(
        *OF_CLASSES,
        Argument("measure", Choice(NAMES), L_DIVERSITY.name),
        Argument("variant", VARIANT, optional=True),
        Argument("threshold", THRESHOLD, optional=True),
        Argument("c", sensitive.CONCENTRATION, 3),
        Argument("k", replace(sensitive.MIN_K, optional=True), optional=True),
        ENTITY,
        DROPPABLE_NULLS,
    ),
    columns={"class_size": "BIGINT", "value": "DOUBLE"},
    measures_of_shares=tuple(each.name for each in MEASURES if each.of_shares),
    fallback=T_CLOSENESS.fallback,
    reasons={"by": "its rows are the classes of one table"},
)
