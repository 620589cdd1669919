"""The made-up town to try things on."""

from reid_sql.demo import town
from reid_sql.function import Answer, Question, table_function


@table_function(
    "",
    answer=Answer.ROWS,
    question=Question.CLASS_SIZES,
    source="made up, by the seeded generator `reid_sql.demo.generate`",
)
def demo_people() -> list[town.Person]:
    """List the 3,000 people of a made-up town, to try the functions on.

    `reid_sql.demo.people()` returns the path of the same file. Missing values are NULL.

    >>> len(demo_people())
    3000
    """
    return town.everybody()
