"""The profile of a column: how far it tells records apart, its marks for missing values, what to think of."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from math import log
from typing import Any, Final

from reid_sql.errors import NoRecordsError
from reid_sql.models.classes.disclosure import NO_RECORDS
from reid_sql.models.columns import look as looks
from reid_sql.models.columns.sentinel import Numbers, Sentinel, sentinels
from reid_sql.models.numerics.percent import percent
from reid_sql.parameters import Floats, Integers

SHOWN: Final = 5  # marks that a suggestion names
SUGGESTED: Final = {
    looks.IDENTIFIER: "leave it out: each of its {values:,} values is of one record, so that it names "
    "people by itself",
    looks.REPEATED_IDENTIFIER: "take it as entity if it tells people apart: it is named like an identifier "
    "and repeats ({values:,} values in {known:,} records), so that a row is not a person",
    looks.DATED: "a quasi-identifier if it is known of people (birth, admission): {alone}; a month or a "
    "year tells less",
    looks.CODE: "a quasi-identifier if it places people (postcode, profession), sensitive if nobody should "
    "learn it (diagnosis): {alone}; its first characters tell less",
    looks.NUMBER: "a quasi-identifier if others can know it (age, children): {alone}; bands tell less",
    looks.CATEGORY: "a quasi-identifier if it can be seen or known (sex, origin, profession), else perhaps "
    "sensitive: {alone}",
    looks.FREE_TEXT: "leave it out, or read it before it is released: text may name people, and {alone}",
    looks.CONSTANT: "no quasi-identifier: all records that have a value have the same",
    looks.EMPTY: "leave it out: it has no value",
    looks.OTHER: "take what is in it as columns of their own: values within values are compared as a whole, "
    "and {alone}",
}


@dataclass(frozen=True)
class ColumnCounts:
    """What is counted of each column: its records by distinct value, and how these are written.

    The latter as in `look.Form`.
    `candidates` are values that may be marks for a missing one, each as its records, a colon and its text.
    """

    place: Integers  # (columns,)
    column_name: Sequence[str]  # (columns,)
    column_type: Sequence[str]  # (columns,)
    records: Integers  # (columns,)
    missing: Integers  # (columns,)
    distinct_values: Integers  # (columns,)
    unique_records: Integers  # (columns,)
    pairs_alike: Sequence[int]  # (columns,)
    n_log_n: Floats  # (columns,)
    numbers: Integers  # (columns,)
    whole: Integers  # (columns,)
    least: Floats  # (columns,)
    greatest: Floats  # (columns,)
    dates: Integers  # (columns,)
    padded: Integers  # (columns,)
    spaced: Integers  # (columns,)
    shortest: Integers  # (columns,)
    longest: Integers  # (columns,)
    letters: Integers  # (columns,)
    candidates: Sequence[Sequence[str]]  # (columns,)


@dataclass(frozen=True)
class ColumnProfile:
    """A column: figures in which NULL is a value like any other, and what it looks like."""

    column_name: str
    column_type: str
    records: int
    distinct_values: int  # distinct values of the column, NULL not counted
    uniqueness: float
    separation: float | None  # share of the pairs of records that the column tells apart
    entropy_bits: float  # bits that the value of a record tells about it
    missing: float  # share of the records that are NULL
    sentinels: list[str]  # values that look like a mark for a missing one, the most frequent first
    sentinel_records: list[int]  # records that hold each of them
    looks_like: str
    suggestion: str  # what to think of, and why; never a decision


def profiles(counts: ColumnCounts) -> list[ColumnProfile]:
    """Profile each column. Refuses an empty table.

    >>> import numpy as np
    >>> whole, real = (lambda n: np.array([n])), (lambda x: np.array([float(x)]))
    >>> sex = ColumnCounts(whole(1), ["sex"], ["text"], whole(4), whole(0), whole(3), whole(1), [2],
    ...     real(2 * np.log(2)), *[whole(0)] * 2, *[real(0)] * 2, *[whole(0)] * 3, *[whole(1)] * 2, whole(2),
    ...     [["1:?"]])
    >>> found = profiles(sex)[0]
    >>> found.sentinels, found.looks_like, found.entropy_bits
    (['?'], 'category', 1.5)
    """
    columns = [getattr(counts, each.name) for each in fields(ColumnCounts)]
    names = [each.name for each in fields(ColumnCounts)]
    rows = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    if not rows or not int(rows[0]["records"]):
        raise NoRecordsError(NO_RECORDS)
    return [_profile(row) for row in rows]


def _profile(row: dict[str, Any]) -> ColumnProfile:
    records, missing, values = (int(row[name]) for name in ("records", "missing", "distinct_values"))
    form, marks = _form(row), _marks(row)
    known = records - missing - sum(mark.records for mark in marks)
    seen = looks.look(form, values - len(marks), known)
    pairs = records * (records - 1)
    separation = (pairs - int(row["pairs_alike"])) / pairs if pairs else None
    uniqueness = int(row["unique_records"]) / records
    return ColumnProfile(
        column_name=form.name,
        column_type=form.kind,
        records=records,
        distinct_values=values,
        uniqueness=uniqueness,
        separation=separation,
        entropy_bits=max(0.0, (log(records) - float(row["n_log_n"]) / records) / log(2)),
        missing=missing / records,
        sentinels=[mark.text for mark in marks],
        sentinel_records=[mark.records for mark in marks],
        looks_like=seen,
        suggestion=_suggestion(seen, values - len(marks), known, _alone(uniqueness, separation))
        + _of_marks(marks),
    )


def _form(row: dict[str, Any]) -> looks.Form:
    """How the values are written that can be no marks."""
    values = int(row["distinct_values"]) - len(row["candidates"])
    counted = ("numbers", "whole", "dates", "padded", "spaced", "shortest", "longest", "letters")
    whole: dict[str, Any] = {name: int(row[name]) for name in counted}
    ends = float(row["least"]), float(row["greatest"])
    return looks.Form(
        row["column_name"], row["column_type"], values, least=ends[0], greatest=ends[1], **whole
    )


def _marks(row: dict[str, Any]) -> list[Sentinel]:
    """The values that look like marks for a missing one."""
    form = _form(row)
    numbers = Numbers(form.numbers, form.least, form.greatest) if looks.of_numbers(form) else None
    split = (candidate.partition(":") for candidate in row["candidates"])
    candidates = [Sentinel(_written(text, form.kind), int(count)) for count, _, text in split]
    named = looks.NAMED_LIKE_PEOPLE.search(form.name) and form.values > looks.FEW
    return sentinels(
        candidates, None if named else numbers
    )  # nines among people's own numbers are one of them


def _written(text: str, kind: str) -> str:
    """The value as every engine writes it."""
    if kind in ("text", "other"):
        return text
    if kind in looks.TIMED:
        return text[:10]
    return "NaN" if text.lower() == "nan" else str(int(float(text)))


def _alone(uniqueness: float, separation: float | None) -> str:
    apart = "" if separation is None else f" and tells {percent(separation)} of the pairs apart"
    return f"alone it singles out {percent(uniqueness)} of the records{apart}"


def _suggestion(seen: str, values: int, known: int, alone: str) -> str:
    return SUGGESTED[seen].format(values=values, known=known, alone=alone)


def _of_marks(marks: Sequence[Sentinel]) -> str:
    """What stands in places of missing values, and what to do."""
    told = held_by([mark.text for mark in marks], [mark.records for mark in marks])
    return f"; {told}: make it NULL if it is one" if told else ""


def marks_of(profiled: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The columns that hold marks for missing values, each with what `held_by` says of it.

    >>> row = {"column_name": "age", "sentinels": [], "sentinel_records": []}
    >>> list(marks_of([row, {"column_name": "sex", "sentinels": ["?"], "sentinel_records": [2]}]))
    ['sex']
    """
    return {
        row["column_name"]: held_by(row["sentinels"], row["sentinel_records"], row["column_name"])
        for row in profiled
        if row["sentinels"]
    }


def held_by(sentinels: Sequence[str], records: Sequence[int], column: str = "") -> str:
    """How many records hold a mark for a missing value, in a sentence without its full stop, or nothing.

    >>> held_by(["?"], [1836], "workclass")
    "1,836 records hold '?' in workclass, which looks like a mark for a missing value and counts as a value"
    """
    if not sentinels:
        return ""
    told, held = ", ".join(f"'{each}'" for each in sentinels[:SHOWN]), sum(records)
    where = f" in {column}" if column else ""
    words = f"{held:,} record{' holds' if held == 1 else 's hold'} {told}{where}"
    return f"{words}, which looks like a mark for a missing value and counts as a value"
