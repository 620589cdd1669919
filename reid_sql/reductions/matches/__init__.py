"""People who have all the items that an attacker knows of one of them."""

from typing import Final

from reid_sql.models.classes.matching import Matches
from reid_sql.parameters import COMBINATIONS, PERSON_OR_ITEM, POINTS, SAMPLES, SEED
from reid_sql.reduction import DROPPABLE_NULLS, TBL, Argument, Reduction

PRIME: Final = 2147483647  # modulus of the draws, the same on every engine
MATCHES: Final = Reduction(
    __name__,
    name="matches",
    words="of how many people the sets hold what an attacker knows of a target, with the weight of such "
    "targets",
    arguments=(
        TBL,
        Argument("person", PERSON_OR_ITEM),
        Argument("item", PERSON_OR_ITEM),
        Argument("points", POINTS, 2),
        Argument("exact_up_to", COMBINATIONS, 1_000_000),
        Argument("samples", SAMPLES, 10_000),
        Argument("seed", SEED, 0),
        DROPPABLE_NULLS,
    ),
    columns={"matches": "BIGINT", "weight": "DOUBLE", "people": "BIGINT", "draws": "BIGINT"},
    arrays=Matches,
    reasons={
        "entity": "its person names the column that identifies people",
        "by": "its targets are drawn from the people of one table",
    },
    distinct=True,
)
