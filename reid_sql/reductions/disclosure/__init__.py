"""What each class gives away about a sensitive column."""

from collections.abc import Mapping
from typing import Final

from reid_sql.models.classes import sensitive
from reid_sql.parameters import PROBABILITY
from reid_sql.reduction import BY, DROPPABLE_NULLS, ENTITY, TBL, Argument, Reduction

REFUSAL_BY_SENSITIVE: Final = sensitive.REFUSAL_BY_SENSITIVE
NEARLY_ALL: Final = 0.9  # classes per cell, from which on classes of one value are separated first
OF_CLASSES: Final = (TBL, Argument("qi", sensitive.QI), Argument("sensitive", sensitive.SENSITIVE))
# Distances in an order need the values of each class and of the table in that order.
IN_ORDER: Final = {"variant": tuple(word for word in sensitive.DISTANCES.words if word != "equal")}
# A warehouse counts the records of a whole table; DuckDB those of people, and of groups.
IN_TABLE: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {"ibis": {"entity": (), "by": ()}}
NO_INFINITY: Final = "its doubles are never infinite, as the measure can be"


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
    return Reduction(
        __name__,
        name=name,
        words="how many classes, and records or people, have each size and each value of the measure",
        arguments=(*OF_CLASSES, *options, ENTITY, BY, DROPPABLE_NULLS),
        columns={"class_size": "BIGINT", "value": "DOUBLE", "classes": "BIGINT", "records": "BIGINT"},
        arrays=sensitive.ClassValues,
        of_shares=of_shares,
        fallback=fallback,
    )


def offending(measure: Reduction, *thresholds: Argument) -> Reduction:
    """The classes that offend the thresholds, with their values of the measure."""
    return Reduction(
        __name__,
        name=f"{measure.name}_classes",
        words="the classes that offend a threshold of the measure",
        arguments=(*measure.arguments[:-3], *thresholds, ENTITY, DROPPABLE_NULLS),
        columns={"class_size": "BIGINT", "value": "DOUBLE"},
        of_shares=measure.of_shares,
        fallback=measure.fallback,
        reasons={"by": "its rows are the classes of one table"},
    )


L_DIVERSITY: Final = measured(
    "l_diversity",
    Argument("variant", sensitive.DIVERSITIES, "distinct"),
    Argument("c", sensitive.CONCENTRATION, 3),
)
T_CLOSENESS: Final = measured(
    "t_closeness",
    Argument("variant", sensitive.DISTANCES, "equal"),
    of_shares=True,
    fallback={"spark": IN_ORDER, "ibis": {**IN_TABLE["ibis"], **IN_ORDER}},
)
ALPHA_K_ANONYMITY: Final = measured("alpha_k_anonymity")
BETA_LIKENESS: Final = measured(
    "beta_likeness", Argument("variant", sensitive.LIKENESSES, "basic"), of_shares=True
)
DELTA_DISCLOSURE: Final = measured(
    "delta_disclosure", Argument("variant", sensitive.PRESENCES, "present"), of_shares=True
)
MEASURES: Final = (L_DIVERSITY, T_CLOSENESS, ALPHA_K_ANONYMITY, BETA_LIKENESS, DELTA_DISCLOSURE)
L_DIVERSITY_CLASSES: Final = offending(L_DIVERSITY, Argument("l", sensitive.DIVERSITY, 2))
T_CLOSENESS_CLASSES: Final = offending(T_CLOSENESS, Argument("t", sensitive.CLOSENESS, 0.2))
ALPHA_K_ANONYMITY_CLASSES: Final = offending(
    ALPHA_K_ANONYMITY, Argument("alpha", PROBABILITY, 0.5), Argument("k", sensitive.MIN_K, 2)
)
BETA_LIKENESS_CLASSES: Final = offending(BETA_LIKENESS, Argument("beta", sensitive.GAIN, 1))
DELTA_DISCLOSURE_CLASSES: Final = offending(DELTA_DISCLOSURE, Argument("delta", sensitive.GAIN, 1))
