"""Individual risk of each record, with survey weights."""

from reid_sql.function import Answer, table_function
from reid_sql.models.population import individual_risk as model
from reid_sql.models.population.individual_risk import Form, IndividualRisk, WeightedRecords
from reid_sql.reductions.records import WEIGHTED_RECORDS


@table_function(
    "tbl, qi, weight, form, key, nulls, entity",
    answer=Answer.PER_RECORD,
    reduction=WEIGHTED_RECORDS,
    one_row_per_person=True,
    source="Benedetti & Franconi 1998 (exact form)",
)
def individual_risk(weighted: WeightedRecords, form: Form = "exact") -> IndividualRisk:
    """Probability that a match on each record is right, from the survey's weights.

    The mean of 1/F over the F people that the class may have, given its records and the sum of their weights.
    Without `weight` the risk is 1/class_size. `form := 'approximate'` is sdcMicro's.
    `expected_reidentifications` sums the risk over all records. `record` is the value of the column `key`, or
    without `key` the position in the scan, from 0. Refuses an empty table, and weights that are missing,
    negative or zero. With `entity`, the column that identifies people (NULL is one person), the sample is of
    people: a class counts its people, and an attacker knows one row of each, that of their smallest class; a
    person has the smallest of their weights, and `record` is the person; else one row per person is assumed.

    >>> import numpy as np
    >>> individual_risk(WeightedRecords(np.array([1, 2]), np.array([10.0, 2.0]))).risk.round(4).tolist()
    [0.2558, 0.5]
    """
    return model.score_weighted_records(weighted, form)
