"""What uniqueness in the population is estimated from."""

from typing import Final

from reid_sql.models.evidence_kinds import DRAWN_RECORD as DRAWN
from reid_sql.models.population.evidence import UniquenessEvidence
from reid_sql.models.population.population_uniqueness import METHOD
from reid_sql.reduction import BY, DROPPABLE_NULLS, MAX_FITTED_GROUPS, QI, TBL, Argument, Reduction
from reid_sql.reductions.pairs import PAIRS

__all__ = ["DRAWN", "EVIDENCE", "OF_COPULAS", "OF_INDEPENDENCE", "OF_PAIRS", "OF_PEOPLE", "SEED"]
# The methods that ask what independent columns would hold, for pairs of values, and for records drawn.
OF_INDEPENDENCE: Final = ("all", "loglinear", "loglinear_nb")
OF_COPULAS: Final = ("all", "copula")
OF_PEOPLE: Final = ("all", "people")
OF_PAIRS: Final = (*OF_COPULAS, "people")
SEED: Final = 0  # of the draw, as population_risk has it by default
EVIDENCE: Final = Reduction(
    __name__,
    name="evidence",
    words="how many classes have each size, and each logarithm of the count that independent columns would "
    "hold, to a thousandth; pairs of values, and some records drawn",
    arguments=(TBL, QI, Argument("method", METHOD, "all"), BY, DROPPABLE_NULLS),
    columns={
        "place": "BIGINT",
        "class_size": "BIGINT",
        "log_expected": "DOUBLE",
        "classes": "DOUBLE",  # parts of classes where people count in their smallest one
        **{name: kind for name, kind in PAIRS.columns.items() if name != "cell"},
        "texts": "VARCHAR[]",
    },
    arrays=UniquenessEvidence,
    distinct=True,
    max_groups=MAX_FITTED_GROUPS,
)
