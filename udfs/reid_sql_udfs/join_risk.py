"""What a join singles out."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes import joins
from reid_sql.models.classes.joins import JoinLines, JoinRisk
from reid_sql.reductions.joins import JOIN


@table_function(
    "left, right, on, qi, right_qi, entity, k, nulls",
    answer=Answer.ROWS,
    reduction=JOIN,
    question=Question.CLASS_SIZES,
    source="classes of people before and after an inner join; minimal unions of columns as in SUDA",
)
def join_risk(lines: JoinLines) -> list[JoinRisk]:
    """Count whom joining two tables singles out although neither table does alone, by column.

    The first row is the inner join by `on` with all of `right_qi`; the others join one of these columns
    alone, the one that adds most first. A class is the people with the same values of `qi`, of the columns of
    the right table, or of both in the join. `singled_out` counts people in a class of fewer than `k` people
    (2: unique) in the join alone.

    `on` identifies people: `'id'`, a list, or `{'id': 'person_id'}` where `right` has another name. Joins of
    repeated keys multiply rows; a class counts people, and an attacker knows the worst row of each. If `on`
    does not identify people, such as a postcode, pass `entity`, the column of `left` that does; the right
    table alone then singles out people by the values that it adds to them. A value of `on` that is NULL or
    NaN matches nothing. Who matches nothing is in no class of the join, and counted in `left_only` and
    `right_only`. Refuses empty tables, and `on` of unlike types.

    >>> import numpy as np
    >>> three = lambda number: np.array([number] * 3)
    >>> singled_out, four = np.array([3, 3, 0]), [three(4)] * 3
    >>> lines = JoinLines(np.arange(3), [None, "job", "job"], three(2), three(4), three(0), three(0),
    ...     singled_out, singled_out, three(0), *four, three(0), three(0), three(0))
    >>> join_risk(lines)[0].sentence
    'Of 4 people in both tables, the join singles out 3 (75.0 %) whom neither table singles out alone.'
    """
    return joins.join_risk(lines)
