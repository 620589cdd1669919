"""The sample's classes, by what a population table holds of them."""

from typing import Final

from reid_sql.models.classes.disclosure import PopulationHistogram
from reid_sql.parameters import TABLE
from reid_sql.reduction import ANY_NULLS, BY, ENTITY, QI, TBL, WILDCARDS, Argument, Reduction

POPULATION_HISTOGRAM: Final = Reduction(
    __name__,
    name="population_histogram",
    words="the histogram of the sample's records by the size of their class in the population",
    arguments=(TBL, Argument("population_tbl", TABLE), QI, ENTITY, BY, ANY_NULLS),
    columns={
        "class_size": "BIGINT",
        "classes": "BIGINT",
        "records": "BIGINT",
        "uncovered": "BIGINT",
        "blank_records": "BIGINT",
    },
    arrays=PopulationHistogram,
    fallback={"spark": WILDCARDS, "ibis": {**WILDCARDS, "by": ()}},
)
