"""Columns that look like identifiers and repeat: then rows are not people.

In a panel, rows are repeated records of people. Within each value of the column of people, whatever its name,
columns that describe a person are constant.
"""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np

from reid_sql.models.columns.column_profile import MAX_CATEGORIES, MIN_SHARE_IDENTIFIED
from reid_sql.models.columns.direct_identifiers import IDENTIFIER_NAME
from reid_sql.models.columns.missing_value_codes import TOTAL_WORDS
from reid_sql.models.columns.nobodies import (
    IdentifierCounts,
    count_rows_of_nobodies,
    find_nobody_codes,
)
from reid_sql.models.columns.spelling import word_form
from reid_sql.parameters import Integers, sql_text
from reid_sql.parameters.document import toml_text

MAX_IDENTIFIERS: Final = 8  # columns that are looked at

MIN_REPEATS: Final = 20  # rows that share a value with an earlier row
MIN_SHARE_REPEATED: Final = 0.5  # of the rows share their value with another
MAX_ROWS_OF_PERSON: Final = 50  # on average; a value of more rows is rather a place or a category
MIN_AGREEMENT: Final = 0.9  # beyond chance, of a column that is constant within the values
MIN_EXPECTED_DISAGREEMENTS: Final = 10  # were the rows of a value drawn from all rows


class RepeatedColumn(NamedTuple):
    """A column whose values repeat as those of people: distinct values, rows with one, and all rows.

    Of the rows with a value, those `of_nobody` have one that stands for nobody.
    """

    name: str
    values: int
    filled: int
    rows: int
    of_nobody: int = 0

    @property
    def identifies_all(self) -> bool:
        """Whether nearly all rows have a value, so that people can be counted by it."""
        return self.filled - self.of_nobody >= MIN_SHARE_IDENTIFIED * self.rows


def likely(columns: Sequence[str], counted: Sequence[str], named: Sequence[str] = ()) -> list[str]:
    """Return the columns that are named like an identifier, but for those that are known to be none.

    Of the columns that are `counted`, only one that names a person: with it among them, a class has a
    person's rows, not people.
    """
    quasi, none = ({name.lower() for name in each} for each in (counted, named))
    return [
        name
        for name in columns
        if IDENTIFIER_NAME.search(name)
        and name.lower() not in none
        and (name.lower() not in quasi or names_a_person(name))
    ][:MAX_IDENTIFIERS]


def repeating(
    names: Sequence[str],
    distinct: Sequence[int],
    records: Sequence[int],
    counted: Sequence[str] = (),
    *,
    of_rows: int,
) -> list[RepeatedColumn]:
    """Return the columns with several distinct values, and fewer than records with a value, of so many rows.

    A quasi-identifier of few values is a category, whatever its name.
    """
    quasi = {name.lower() for name in counted}
    rows = zip(names, distinct, records, strict=True)
    fewest = {name: MAX_CATEGORIES if name.lower() in quasi else 1 for name in names}
    return [
        RepeatedColumn(name, values, filled, of_rows)
        for name, values, filled in rows
        if fewest[name] < values < filled
    ]


def repeating_people(
    columns: Iterable[RepeatedColumn], counts: Iterable[IdentifierCounts]
) -> list[RepeatedColumn]:
    """Return the columns that repeat without their codes for nobody, with the rows of values for nobody.

    >>> column, codes = RepeatedColumn("pid", 41, 50, 50), [("unknown", 10)]
    >>> repeating_people([column], [IdentifierCounts([10, 1], codes, 40, 0, None, None)])
    []
    >>> repeating_people([column], [IdentifierCounts([10, 2], codes, 39, 0, None, None)])[0].of_nobody
    10

    Rows of totals are no people, so that they repeat.

    >>> totals = IdentifierCounts([10, 1], [("Total", 10)], 40, 0, None, None)
    >>> [each.of_nobody for each in repeating_people([column], [totals])]
    [10]
    """
    repeated = []
    for column, counted in zip(columns, counts, strict=True):
        codes = [
            each for each in find_nobody_codes(counted) if word_form(each[0]) not in TOTAL_WORDS
        ]
        # a warehouse counts no others where all codes are words
        people = counted.others or column.values - len(codes)
        rows = column.filled - sum(size for _, size in codes)
        if rows > people or len(codes) < len(counted.codes):
            repeated.append(column._replace(of_nobody=count_rows_of_nobodies(counted)))
    return repeated


def hint(identifiers: Sequence[RepeatedColumn], option: str | None) -> str:
    """Write one sentence of advice for each; without an option to count people, one row each is asked for.

    So it is where rows lack a value, or have one of nobody: people who are counted by it would be one.
    """
    sentences = []
    for column in identifiers:
        advice = "pass a row of each"
        if option is not None and column.identifies_all:
            advice = f"count them with {option} {write_name(option, column.name)}"
        sentences.append(
            f"Column '{column.name}' looks like an identifier and repeats ({column.values:,} values in "
            f"{column.filled:,} rows): if it identifies people, {advice}."
        )
    return " ".join(sentences)


def write_name(option: str, name: str) -> str:
    """Write a column after an option, or the key of a policy, so that it can be copied.

    >>> [write_name(option, "Patient ID") for option in ("--entity", "entity :=", "entity =")]
    ["'Patient ID'", "'Patient ID'", '"Patient ID"']
    >>> [write_name(option, "pid") for option in ("--entity", "entity :=", "entity =")]
    ['pid', 'pid', '"pid"']
    """
    if name.isidentifier() and not option.endswith(" ="):
        return name
    if option.startswith("--"):
        return shlex.quote(name)
    return sql_text(name) if option.endswith(":=") else toml_text(name)


def names_a_person(name: str) -> bool:
    """Whether an identifier's name says that it is a person's, or does not say whose it is.

    >>> [names_a_person(name) for name in ("id", "patient_id", "visit_customer_nr", "hospital_id")]
    [True, True, True, False]
    >>> [names_a_person(name) for name in ("Versichertennummer", "Member No.", "Nr PESEL", "Fallnummer")]
    [True, True, True, False]
    """
    match = IDENTIFIER_NAME.search(name)
    if match is None or match["case"] is not None:
        return False
    return match.start() == 0 or match["person"] is not None or match["national"] is not None


def find_people_columns(codes: Mapping[str, Integers], candidates: Sequence[str]) -> list[str]:
    """Find the candidates within whose values two other columns are constant that describe no place or kind.

    `codes` number the values of each column, −1 for NULL. Of a city that determines its state, both are
    constant within a postcode; so neither of the two columns may determine the other.

    >>> person = np.repeat(np.arange(60), 3)
    >>> columns = {"nr": person, "sex": person % 2, "origin": person // 2 % 3, "year": np.arange(180) % 3}
    >>> find_people_columns(columns, ["nr"])
    ['nr']
    """
    return [name for name in candidates if _identifies_people(name, codes)]


def _identifies_people(name: str, codes: Mapping[str, Integers]) -> bool:
    is_present = codes[name] >= 0
    _, first, person, sizes = np.unique(
        codes[name][is_present], return_index=True, return_inverse=True, return_counts=True
    )
    people, rows = len(sizes), int(sizes.sum())
    repeats = rows - people
    if people <= MAX_CATEGORIES or repeats < MIN_REPEATS or rows > MAX_ROWS_OF_PERSON * people:
        return False
    if sizes[sizes > 1].sum() < MIN_SHARE_REPEATED * rows:
        return False
    values_of_columns = (values[is_present] for other, values in codes.items() if other != name)
    constant = [
        values[first]
        for values in values_of_columns
        if _is_constant(values, first, person, repeats)
    ]
    return any(_are_independent(*pair) for pair in combinations(constant, 2))


def _is_constant(values: Integers, first: Integers, person: Integers, repeats: int) -> bool:
    """Whether the rows of a person agree with their first one, and would not by chance."""
    of_people = values[first]
    counts = np.bincount(of_people + 1)
    by_chance = float(np.sum((counts / len(of_people)) ** 2))
    is_unique = int(np.count_nonzero(counts)) == len(of_people)
    if is_unique or (1 - by_chance) * repeats < MIN_EXPECTED_DISAGREEMENTS:
        return False
    agreeing = (int(np.sum(values == of_people[person])) - len(of_people)) / repeats
    return (agreeing - by_chance) / (1 - by_chance) >= MIN_AGREEMENT


def _are_independent(one: Integers, other: Integers) -> bool:
    """Whether neither of two columns determines the other."""
    pairs = len(np.unique(np.stack([one, other]), axis=1).T)
    return pairs > max(len(np.unique(one)), len(np.unique(other)))
