"""Who is singled out by how few of their rows."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes import matching
from reid_sql.models.classes.matching import SinglingRows
from reid_sql.models.classes.quasi_identifiers import Codes
from reid_sql.reductions.qar import PERSON_ROWS


@table_function(
    "tbl, entity, columns, memory_mb, nulls",
    answer=Answer.ROWS,
    reduction=PERSON_ROWS,
    question=Question.UNIQUE_RECORDS,
    source="de Montjoye, Hidalgo, Verleysen & Blondel 2013; greedy set cover of Chvátal 1979",
)
def unicity_people(table: Codes) -> SinglingRows:
    """Find for each person a small number of their rows that singles them out, to see who is exposed.

    `entity` is the column that identifies people, `columns` are what an attacker knows of a row; equal rows
    of a person count once. The search is greedy: it takes the row that fewest people have, then the one that
    fewest of those have who still match, until nobody else does. `known_rows` is an upper bound: fewer rows
    may single the person out. If other people have all rows of a person, `matches` is the number of people
    who have them, including the person, and `known_rows` is the number of rows that leave only these people.
    `record` is the person. Refuses an empty table, and rows that so many people share that the search would
    take hours.

    >>> import numpy as np
    >>> ward, people = np.array([1, 2, 1]), np.array([0, 0, 1])
    >>> unicity_people(Codes(["ward"], [True], [ward], np.arange(3), people=people)).matches.tolist()
    [1, 2]
    """
    return matching.find_singling_rows(table)
