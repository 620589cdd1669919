"""People who have all the points that an attacker knows of one: items of a set, or rows of a table."""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from reid_sql.models.classes.matching import Matches
from reid_sql.parameters import (
    PERSON_OR_ITEM,
    POINTS,
    SEED,
    Column,
    Columns,
    Number,
    Numbers,
)
from reid_sql.reduction import DROPPABLE_NULLS, TBL, Argument, Reduction

Counts = TypeVar("Counts")  # what an engine counts: a relation, or the text of a query
PRIME: Final = 2147483647  # modulus of the draws, the same on every engine
ALL_POINTS: Final = 2147483647  # a number of points that nobody has: all of a person's are known
MAX_JOINED: Final = 4  # points that are joined one by one; the few who have them are compared with the others
ENTITY_COLUMN: Final = Column("entity and columns")
ENTITY_AND_COLUMNS: Final = Columns("entity and columns")
KNOWN_ROWS: Final = Numbers(
    Number(
        "a whole number of known rows from 1 to 16",
        "pass how many rows of a person an attacker knows, or NULL for all",
        1.0,
        16.0,
        whole=True,
    ),
    optional=True,
    is_one_enough=True,
    example="2 or [1, 2, 3, 4]",
)
SAMPLES: Final = Number(
    "a whole number of draws from 2 to 1e+8",
    "pass how many targets to draw, such as 10000",
    2.0,
    1e8,
    whole=True,
)
COMBINATIONS: Final = Number(
    "a whole number of combinations from 0 to 1e+12",
    "pass up to how many combinations of items to count exactly, such as 1000000",
    0.0,
    1e12,
    whole=True,
)
DEFAULT_POINTS: Final = (1, 2, 3, 4)
COLUMNS: Final = {
    "points": "BIGINT",  # 0 where all of a person's are known
    "matches": "BIGINT",
    "weight": "DOUBLE",
    "people": "BIGINT",
    "people_with_fewer": "BIGINT",
    "draws": "BIGINT",
}
DRAWS: Final = (
    Argument("exact_up_to", COMBINATIONS, 1_000_000),
    Argument("samples", SAMPLES, 10_000),
    Argument("seed", SEED, 0),
    DROPPABLE_NULLS,
)
BY_REASON: Final = "its targets are drawn from the people of one table"
MATCHES: Final = Reduction(
    __name__,
    name="matches",
    words="how many people have the rows that an attacker knows of a target, with the weight of such targets",
    arguments=(
        TBL,
        Argument("person", PERSON_OR_ITEM),
        Argument("item", PERSON_OR_ITEM),
        Argument("points", POINTS, 2),
        *DRAWS,
    ),
    columns=COLUMNS,
    arrays=Matches,
    reasons={"entity": "its person names the column that identifies people", "by": BY_REASON},
    distinct=True,
)
ROW_MATCHES: Final = Reduction(
    __name__,
    name="row_matches",
    words="how many people have the rows that an attacker knows of a target, with the weight of such targets",
    arguments=(
        TBL,
        Argument("entity", ENTITY_COLUMN),
        Argument("columns", ENTITY_AND_COLUMNS),
        Argument("points", KNOWN_ROWS, DEFAULT_POINTS),
        *DRAWS,
    ),
    columns=COLUMNS,
    arrays=Matches,
    reasons={"by": BY_REASON},
    distinct=True,
)


def known_points(points: Sequence[float] | None) -> list[int]:
    """Return each number of points once, in order; of NULL, more than anybody has.

    >>> known_points([2, 1, 2]), known_points(None) == [ALL_POINTS]
    ([1, 2], True)
    """
    return [ALL_POINTS] if points is None else sorted({int(each) for each in points})


def implement(count: Callable[..., Counts]) -> tuple[Callable[..., Counts], ...]:
    """Bind matches and row_matches to an engine's count, whose first column is the person's."""

    def matches(*, person: str, item: str, points: int, **given: Any) -> Counts:  # noqa: ANN401 - the others
        label = Columns(PERSON_OR_ITEM.words)
        return count(**given, label=label, columns=[person, item], points=[points])

    def row_matches(
        *,
        entity: str,
        columns: Sequence[str],
        points: Sequence[float] | None,
        **given: Any,  # noqa: ANN401 - the others
    ) -> Counts:
        names, known = [entity, *columns], known_points(points)
        return count(**given, label=ENTITY_AND_COLUMNS, columns=names, points=known)

    return matches, row_matches
