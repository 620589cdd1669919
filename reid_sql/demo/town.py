"""The people of people.csv, as records."""

import csv
from dataclasses import dataclass
from pathlib import Path

from reid_sql.demo import people


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


def everybody() -> list[Person]:
    """All people of the town, in the order of the file.

    >>> everybody()[0].postcode
    '04102'
    """
    with Path(people()).open(encoding="utf-8", newline="") as file:
        return [_person(**line) for line in csv.DictReader(file)]


def _person(age: str, education: str, occupation: str, **fields: str) -> Person:
    return Person(
        age=int(age), education=education or None, occupation=occupation or None, **fields
    )
