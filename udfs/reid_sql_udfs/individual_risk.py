"""Individual risk of each record, with survey weights."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.population import individual_risk as model
from reid_sql.models.population.individual_risk import Form, IndividualRisk, WeightedRecords
from reid_sql.reductions.records import WEIGHTED_RECORDS


@table_function(
    "tbl, qi, weight, form, key, nulls, entity, household",
    answer=Answer.PER_RECORD,
    reduction=WEIGHTED_RECORDS,
    one_row_per_person=True,
    question=Question.POPULATION,
    source="Benedetti & Franconi 1998 (exact form); Skinner & Shlomo 2008",
)
def individual_risk(weighted: WeightedRecords, form: Form = "exact") -> IndividualRisk:
    """Estimate by Benedetti and Franconi's formula the probability that a match on each record is right.

    The risk is the mean of 1/F over the possible numbers F of people of the class in the population, given
    the number of its records and the sum of their weights. Without `weight`, it is 1/class_size.
    `form := 'approximate'` uses sdcMicro's approximation. Refuses an empty table, and weights that are
    missing, negative or zero.

    The formula looks at no other class. Where most of the sample's lone records are unique in the population,
    as in a sparse survey, the risk is far too low, and so is its sum, `benedetti_franconi_sum`.
    `expected_reidentifications` is how many matches are right by loglinear_risk (`nb_correctness`), each
    class with the sampled fraction of its weights. `status` reports where the sum is below this number
    (`no_upper_bound`), and where there is none, as main effects repeat the sample (`no_expected_number`).

    With `household`, `household_risk` is the risk that at least one member of the record's household is
    identified: 1 − Π (1 − risk), as in sdcMicro. A person without a household (NULL) is a household of one.

    One row per person is assumed. With `entity`, a class counts its people, each person has the row of their
    smallest class and the smallest of their weights, and `record` is the person.

    >>> import numpy as np
    >>> individual_risk(WeightedRecords(np.array([1, 2]), np.array([10.0, 2.0]))).risk.round(4).tolist()
    [0.2558, 0.5]
    """
    return model.score_weighted_records(weighted, form)
