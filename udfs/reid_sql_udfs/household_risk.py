"""Risk of households."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes import disclosure
from reid_sql.models.classes.disclosure import HouseholdRisk, Households
from reid_sql.parameters import Threshold
from reid_sql.reduction import Needs
from reid_sql.reductions.records import HOUSEHOLDS


@table_function(
    "tbl, household, columns, threshold, nulls",
    answer=Answer.ROW,
    reduction=HOUSEHOLDS,
    question=Question.CLASS_SIZES,
    source="Templ, Kowarik & Meindl 2015 (hierarchical risk of sdcMicro)",
    needs=Needs.CODES,
)
def household_risk(kinds: Households, threshold: Threshold = 0.2) -> HouseholdRisk:
    """Summarise the risk that at least one member of a household is identified.

    One row per person is assumed. A person without a household (NULL) is a household of one. Each member has
    a risk r = 1/class_size on the `columns`. The risk of the household is, as in sdcMicro, 1 − Π (1 − r). An
    attacker may also know all members: `k`, `unique_households`, `uniqueness` and `average_class_risk`
    describe classes of households whose members have the same values, in any order. Refuses an empty table
    and a threshold outside [0, 1].

    >>> import numpy as np
    >>> two, quarter, half = np.array([2]), np.array([0.4375]), np.array([0.5])
    >>> household_risk(Households(two, two, quarter, half, two)).average_risk
    0.4375
    """
    return disclosure.household_risk(kinds, threshold)
