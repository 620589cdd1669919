"""Columns that look like identifiers and repeat: then rows are not people."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from reid_sql.models.columns.column_profile import IDENTIFIER_NAME, MAX_CATEGORIES, MIN_SHARE_IDENTIFIED

MAX_IDENTIFIERS: Final = 8  # columns that are looked at


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


def likely(every: Sequence[str], counted: Sequence[str], named: Sequence[str] = ()) -> list[str]:
    """Return the columns that are named like an identifier, but for those that are known to be none.

    Of the columns that are `counted`, only one that names a person: with it among them, a class has a
    person's rows, not people.
    """
    quasi, none = ({name.lower() for name in each} for each in (counted, named))
    return [
        name
        for name in every
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


def hint(identifiers: Sequence[RepeatedColumn], option: str | None) -> str:
    """Write one sentence of advice for each; without an option to count people, one row each is asked for.

    So it is where rows lack a value, or have one of nobody: people who are counted by it would be one.
    """
    return " ".join(_advise(each, option) for each in identifiers)


def _advise(column: RepeatedColumn, option: str | None) -> str:
    can_count = option is not None and column.identifies_all
    advice = f"count them with {option} {column.name}" if can_count else "pass a row of each"
    return (
        f"Column '{column.name}' looks like an identifier and repeats ({column.values:,} values in "
        f"{column.filled:,} rows): if it identifies people, {advice}."
    )


def names_a_person(name: str) -> bool:
    """Whether an identifier's name says that it is a person's, or does not say whose it is.

    >>> [names_a_person(name) for name in ("id", "patient_id", "visit_customer_nr", "hospital_id")]
    [True, True, True, False]
    """
    match = IDENTIFIER_NAME.search(name)
    return match is not None and (match.start() == 0 or match[3] is not None)
