"""The made-up town to try things on."""

import csv
from dataclasses import dataclass
from pathlib import Path

from reid_sql.demo import people
from reid_sql.function import Answer, Question, table_function


@dataclass(frozen=True)
class Person:
    """One of the town, whom nobody knows: all are made up."""

    age: int  # years
    sex: str  # F or M
    postcode: str  # one of 24 districts
    marital_status: str  # single, married, divorced or widowed
    education: str | None  # the highest degree; 2 % are missing
    occupation: str | None  # the line of work; 2 % are missing
    diagnosis: str  # what nobody should learn


@table_function(
    "",
    answer=Answer.ROWS,
    question=Question.CLASS_SIZES,
    source="made up, by the seeded generator `reid_sql.demo.generate`",
)
def demo_people() -> list[Person]:
    """List the 3,000 people of a made-up town, to try the functions on.

    `reid_sql.demo.people()` returns the path of the same file. Missing values are NULL.

    >>> len(demo_people())
    3000
    """
    with Path(people()).open(encoding="utf-8", newline="") as file:
        return [_person(**line) for line in csv.DictReader(file)]


def _person(age: str, education: str, occupation: str, **fields: str) -> Person:
    return Person(
        age=int(age), education=education or None, occupation=occupation or None, **fields
    )
