"""What a model of people is fitted to: values, pairs and class sizes counted, and records drawn."""

from typing import Final

from reid_sql.models.evidence_kinds import CLASS_SIZE as SIZES
from reid_sql.models.evidence_kinds import DRAWN_RECORD as DRAWN
from reid_sql.models.people.evidence import MAX_DRAWN as MOST_DRAWN
from reid_sql.models.people.evidence import EvidenceRows, max_combinations
from reid_sql.parameters import MAX_COLUMNS, OPTIONAL_TABLE, SEED, WEIGHT
from reid_sql.reduction import BY, DROPPABLE_NULLS, MAX_FITTED_GROUPS, QI, TBL, Argument, Reduction
from reid_sql.reductions.pairs import PAIRS

__all__ = ["DRAWN", "LOOKED_AT", "MOST_DRAWN", "MOST_LINES", "PEOPLE", "SIZES"]
MOST_LINES: Final = tuple(max_combinations(columns) for columns in range(1, MAX_COLUMNS + 1))
LOOKED_AT: Final = 32_768  # rows: these show first which pairs of columns have very many combinations
PEOPLE: Final = Reduction(
    __name__,
    name="people",
    words="how often each value, each pair of values of two columns and each class size occurs, and some "
    "records drawn",
    arguments=(
        TBL,
        QI,
        Argument("weight", WEIGHT, optional=True),
        Argument("marginals", OPTIONAL_TABLE, optional=True),
        Argument("seed", SEED, 0),
        BY,
        DROPPABLE_NULLS,
    ),
    columns={
        "line": "BIGINT",
        **{name: kind for name, kind in PAIRS.columns.items() if name != "cell"},
        "texts": "VARCHAR[]",
    },
    arrays=EvidenceRows,
    distinct=True,
    max_groups=MAX_FITTED_GROUPS,
)
