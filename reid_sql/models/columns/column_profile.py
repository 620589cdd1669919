"""The profile of a column: how far it distinguishes records, its missing-value codes, its likely role.

The role of a column follows from how many values it has, how they are written, and its name. The profile
suggests what to do with a column; it never decides.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from math import isnan, log
from typing import Any, Final

from reid_sql.errors import NoRecordsError
from reid_sql.models.columns.dates import is_called_date
from reid_sql.models.columns.direct_identifiers import (
    CONTACT,
    IDENTIFIER_NAME,
    NAME,
    is_called_person,
    kind_by_name,
)
from reid_sql.models.columns.missing_value_codes import (
    MIN_SHARE_OF_FORM,
    MissingValueCode,
    NumberRange,
    ValuesBeside,
    count_missing_values,
    find_missing_value_codes,
    values_beside,
)
from reid_sql.models.columns.sensitive_columns import reason_by_name
from reid_sql.models.numerics.quantiles import percent
from reid_sql.parameters import Floats, Integers, Row

CODE_NAME: Final = re.compile(
    r"(^|_|\b)((zip|post|postal)_?(code)?|code|plz|fips|icd_?\d*)$", re.IGNORECASE
)
# of things that are numbered, such as treatments
NUMBER_NAME: Final = re.compile(
    r"((^|[_\W])(no|num|key|#)|nr|number|nummer|n[uú]mero|num[eé]ro|numer|kennung|номер|番号|编号|号码|번호)[.:]?$",
    re.IGNORECASE,
)
# Names of survey weights; a plain "weight" may be that of a body, which no scale gives beyond the limit.
WEIGHT_NAME: Final = re.compile(
    r"(^|_)(\w*wgt|pweight|(survey|sampl\w*|instance|person|household|design|final|expansion)_?(weight|wt)\w*"
    r"|weight_?x\d+)$",
    re.IGNORECASE,
)
BODY_WEIGHT_NAME: Final = re.compile(r"(^|_)(weights?|wt|poids|gewicht)$", re.IGNORECASE)
MAX_BODY_WEIGHT: Final = 1500  # in pounds or kilograms
PADDED_PATTERN: Final = "0[0-9]+"
# so few distinct values are categories, and too few to recognise an identifier
MAX_CATEGORIES: Final = 20
# so few distinct whole numbers encode categories rather than amounts
MAX_NUMBER_CATEGORIES: Final = 10
MIN_RECORDS_PER_CATEGORY: Final = 5  # mean number of records of a category
MIN_SENTENCE_LENGTH: Final = 30  # mean number of characters of a sentence
# mean number of records of a sentence that is chosen from a list
MIN_RECORDS_PER_LISTED_TEXT: Final = 100
MIN_CODE_DIGITS: Final = 5  # numbers that all have so many digits are codes, not amounts

EMPTY: Final = "empty"
CONSTANT: Final = "constant"
IDENTIFIER: Final = "identifier"
REPEATED_IDENTIFIER: Final = "repeated identifier"
DATE: Final = "date"
CODE: Final = "code"
NUMBER: Final = "number"
WEIGHT: Final = "survey weight"
CATEGORY: Final = "category"
FREE_TEXT: Final = "free text"
OTHER: Final = "other"
NUMERIC_TYPES: Final = ("integer", "decimal", "float")
DATE_TYPES: Final = ("date", "timestamp")
TIME_TYPES: Final = (*DATE_TYPES, "time")
TYPES_WITHOUT_CODES: Final = ("boolean", "time")

MAX_GAPS_IN_SEQUENCE: Final = 6
# Names that R, pandas and readers of CSV give to the numbers of rows, which have no name in the file.
ROW_NUMBER_NAME: Final = re.compile(
    r"^(|column0+|unnamed: ?\d+|row_?(names?|numbers?|nr)?|index|x\.?1?|\.\.\.1)$", re.IGNORECASE
)


@dataclass(frozen=True)
class ColumnForm:
    """How a column's values are written, without the candidates for missing-value codes.

    Of the distinct `values`, `numbers` are numbers, `whole` whole numbers, `dates` dates, `padded` digits
    after a zero, `spaced` have two spaces or more, and `words` no digit. `shortest`, `longest` and `letters`
    count characters: of one value, and of all.
    """

    name: str
    kind: str
    values: int
    numbers: int
    whole: int = 0
    least: float = 0.0
    greatest: float = 0.0
    dates: int = 0
    padded: int = 0
    spaced: int = 0
    shortest: int = 0
    longest: int = 0
    letters: int = 0
    words: int = 0


def classify_column(form: ColumnForm, values: int, records: int, *, has_gaps: bool = False) -> str:
    """Classify the column; `values` and `records` are those without NULL and missing-value codes.

    Of one value and gaps, others can know whether somebody has it.

    >>> person = ColumnForm("person_id", "text", 30, 0, 0, 0, 0, 0, 0, 0, 6, 6, 180)
    >>> classify_column(person, 30, 30), classify_column(person, 30, 90)
    ('identifier', 'repeated identifier')

    Of the numbers 1 to 600, 9 may be missing-value codes, such as 99; no other record has them.

    >>> row = ColumnForm("nr", "integer", 591, 591, 591, 1, 600)
    >>> classify_column(row, 600, 600)
    'identifier'
    """
    if values < 2:  # noqa: PLR2004 - one value distinguishes no records, unless some lack it
        of_one = CATEGORY if has_gaps else CONSTANT
        return of_one if values else EMPTY
    if form.kind in TIME_TYPES or are_dates(form):
        return DATE
    if form.kind == "boolean":
        return CATEGORY
    if form.kind not in ("text", *NUMERIC_TYPES):
        return OTHER
    if is_identifier(form, values, records):
        return IDENTIFIER if values == records else REPEATED_IDENTIFIER
    return (
        _classify_numbers(form, values)
        if is_numeric(form)
        else _classify_texts(form, values, records)
    )


def is_numeric(form: ColumnForm) -> bool:
    """Whether the column contains numbers, perhaps written as text."""
    return form.kind in NUMERIC_TYPES or (
        form.kind == "text" and form.values > 0 and form.numbers >= MIN_SHARE_OF_FORM * form.values
    )


def is_identifier(form: ColumnForm, values: int, records: int) -> bool:
    """Whether values identify people: by the column's name, or because no two records share one."""
    if values <= MAX_CATEGORIES:
        return False
    if IDENTIFIER_NAME.search(form.name):
        are_names = form.kind == "text" and form.words >= MIN_SHARE_OF_FORM * form.values
        return values == records or not (are_names and is_called_person(form.name))
    is_number = NUMBER_NAME.search(form.name) is not None  # of a treatment, which it does not name
    is_sensitive = reason_by_name(form.name) is not None and not is_number
    if values < records or CODE_NAME.search(form.name) or is_sensitive:
        return False
    if is_numeric(form):
        # the form lacks numbers that may be missing-value codes, such as 99: among `values` they are
        if _are_grouped(form):
            return True
        gaps = form.greatest - form.least + 1 - values
        is_sequence = gaps <= MAX_GAPS_IN_SEQUENCE or bool(ROW_NUMBER_NAME.search(form.name))
        return form.whole == form.numbers and is_sequence
    return form.kind == "text" and not _is_prose(form)


def _are_grouped(form: ColumnForm) -> bool:
    """Whether whole numbers all have as many digits, and marks between three of them, as 732 829 320 has.

    So numbers of people and of telephones are written; amounts differ in length.
    """
    length = _length_with_marks(form)
    is_even = form.shortest == form.longest == length > len(f"{form.greatest:.0f}")
    return form.kind == "text" and is_even and form.whole == form.numbers


def _length_with_marks(form: ColumnForm) -> int:
    """How long the greatest number is with marks between its thousands; with a currency it is longer."""
    digits = len(f"{form.greatest:.0f}")
    return digits + (digits - 1) // 3


def _classify_numbers(form: ColumnForm, values: int) -> str:
    is_even = form.shortest == form.longest <= _length_with_marks(form)
    digits = is_even and form.longest >= MIN_CODE_DIGITS and form.whole == form.numbers
    if (form.kind == "text" and (form.padded or digits)) or CODE_NAME.search(form.name):
        return CODE
    is_heavy = BODY_WEIGHT_NAME.search(form.name) and form.greatest > MAX_BODY_WEIGHT
    if WEIGHT_NAME.search(form.name) or is_heavy:
        return WEIGHT
    return CATEGORY if form.whole == form.numbers and values <= MAX_NUMBER_CATEGORIES else NUMBER


def _classify_texts(form: ColumnForm, values: int, records: int) -> str:
    if (
        _is_prose(form)
        and values > MAX_CATEGORIES
        and records < MIN_RECORDS_PER_LISTED_TEXT * values
    ):
        return FREE_TEXT
    return (
        CATEGORY
        if values <= MAX_CATEGORIES or records >= MIN_RECORDS_PER_CATEGORY * values
        else CODE
    )


def _is_prose(form: ColumnForm) -> bool:
    """Whether most values are sentences rather than words."""
    return (
        form.letters >= MIN_SENTENCE_LENGTH * max(1, form.values) or 2 * form.spaced > form.values
    )


UNREAD_DATE: Final = "date that is not read"
INCOMPLETE_IDENTIFIER: Final = "incomplete identifier"
# of the rows have a value of a column that is advised for people
MIN_SHARE_IDENTIFIED: Final = 0.95
ALONE: Final = "{alone}"
# What to do with a column of each kind, why, and what is safer.
SUGGESTIONS: Final = {
    IDENTIFIER: (
        "omit it",
        "each of its {values:,} values belongs to one record, so it identifies people by itself",
        "",
    ),
    REPEATED_IDENTIFIER: (
        "pass it as entity if it identifies people",
        "its name is an identifier's, and it repeats ({values:,} values in {known:,} records)",
        "",
    ),
    INCOMPLETE_IDENTIFIER: (
        "if it identifies people, name each row that lacks a value, or pass a row of each person",
        "its name is an identifier's, and it repeats ({values:,} values in {known:,} records)",
        "",
    ),
    WEIGHT: ("pass it as weight, not as a quasi-identifier", ALONE, "omit it from a release"),
    DATE: (
        "a quasi-identifier if others can know it (birth, admission)",
        ALONE,
        "a month or a year is safer",
    ),
    UNREAD_DATE: (
        "a quasi-identifier if others can know it (birth, admission)",
        ALONE,
        "write it as dates (43831 is 2020-01-01 in a spreadsheet), as a month or a year is safer",
    ),
    CODE: (
        "a quasi-identifier if others can know it (postcode, profession), else perhaps sensitive (diagnosis)",
        ALONE,
        "its first characters are safer",
    ),
    NAME: ("omit it if it names people", "names identify people, and {alone}", ""),
    CONTACT: (
        "omit it if people are reached by it",
        "a contact identifies people, and {alone}",
        "",
    ),
    NUMBER: ("a quasi-identifier if others can know it (age, children)", ALONE, "bands are safer"),
    CATEGORY: (
        "a quasi-identifier if others can know it (sex, origin, profession), else perhaps sensitive",
        ALONE,
        "",
    ),
    FREE_TEXT: ("omit it, or read it before the release", "text may name people, and {alone}", ""),
    CONSTANT: ("no quasi-identifier", "all records that have a value have the same", ""),
    EMPTY: ("omit it", "it has no value", ""),
    OTHER: (
        "split it into columns of their own",
        "values within values are compared as a whole, and {alone}",
        "",
    ),
}


@dataclass(frozen=True)
class ColumnCounts:
    """Counts of each column: its records by distinct value, and how the values are written (`ColumnForm`).

    `candidates` are values that may be missing-value codes, each as its records, a colon and its text. Of the
    others, `words` have no digit, and the numbers or days at each end are listed in this way, too.
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
    number_rows: Integers  # (columns,)
    words: Integers  # (columns,)
    word_rows: Integers  # (columns,)
    other_records: Integers  # (columns,)
    high: Sequence[Sequence[str]]  # (columns,)
    low: Sequence[Sequence[str]]  # (columns,)
    candidates: Sequence[Sequence[str]]  # (columns,)


@dataclass(frozen=True)
class ColumnProfile:
    """A column: figures in which NULL is a value like any other, and its likely role."""

    column_name: str
    column_type: str
    records: int
    distinct_values: int  # distinct values of the column, NULL not counted
    uniqueness: float
    separation: float | None  # share of the pairs of records that the column distinguishes
    entropy_bits: float  # bits of information in a record's value
    missing: float  # share of the records that are NULL
    sentinels: list[str]  # missing-value codes, the most frequent first
    sentinel_records: list[int]  # records that have each of them
    looks_like: str
    suggestion: str  # what to consider, and why; never a decision


def profile_columns(counts: ColumnCounts) -> list[ColumnProfile]:
    """Profile each column; refuse an empty table.

    >>> import numpy as np
    >>> whole, real = (lambda n: np.array([n])), (lambda x: np.array([float(x)]))
    >>> sex = ColumnCounts(whole(1), ["sex"], ["text"], whole(4), whole(0), whole(3), whole(1), [2],
    ...     real(2 * np.log(2)), *[whole(0)] * 2, *[real(0)] * 2, *[whole(0)] * 3, *[whole(1)] * 2, whole(2),
    ...     whole(0), whole(2), whole(3), whole(3), *[[[]]] * 2, [["1:?"]])
    >>> profile = profile_columns(sex)[0]
    >>> profile.sentinels, profile.looks_like, profile.entropy_bits
    (['?'], 'category', 1.5)
    """
    columns = [getattr(counts, each.name) for each in fields(ColumnCounts)]
    names = [each.name for each in fields(ColumnCounts)]
    rows = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    if not rows or not int(rows[0]["records"]):
        raise NoRecordsError
    return [_profile_column(row) for row in rows]


def _profile_column(row: dict[str, Any]) -> ColumnProfile:
    records, missing, values = (
        int(row[name]) for name in ("records", "missing", "distinct_values")
    )
    form, codes = _column_form(row), _missing_value_codes(row)
    present, distinct = records - missing - sum(code.records for code in codes), values - len(codes)
    kind = classify_column(form, distinct, present, has_gaps=present < records)
    pairs = records * (records - 1)
    separation = (pairs - int(row["pairs_alike"])) / pairs if pairs else None
    uniqueness = int(row["unique_records"]) / records
    apart = "" if separation is None else f" and distinguishes {percent(separation)} of the pairs"
    alone = f"alone it singles out {percent(uniqueness)} of the records{apart}"
    note = count_missing_values([code.text for code in codes], [code.records for code in codes])
    return ColumnProfile(
        column_name=form.name,
        column_type=form.kind,
        records=records,
        distinct_values=values,
        uniqueness=uniqueness,
        separation=separation,
        entropy_bits=max(0.0, (log(records) - float(row["n_log_n"]) / records) / log(2)),
        missing=missing / records,
        sentinels=[code.text for code in codes],
        sentinel_records=[code.records for code in codes],
        looks_like=kind,
        suggestion=_suggest(
            kind_of_advice({**row, "looks_like": kind}, present / records),
            values=distinct,
            known=present,
            alone=alone,
        )
        + (f"; {note}, so make it NULL if it is one" if note else ""),
    )


def kind_of_advice(row: Row, share_known: float) -> str:
    """The kind of SUGGESTIONS: an identifier that many rows lack is another, and so are names and contacts.

    >>> column = {"column_name": "last_name", "column_type": "text", "distinct_values": 300}
    >>> kind_of_advice(column | {"looks_like": CODE}, 1)
    'name'
    >>> kind_of_advice(column | {"looks_like": CODE, "column_name": "data_owner_email"}, 1)
    'contact'
    >>> kind_of_advice(column | {"looks_like": REPEATED_IDENTIFIER}, 0.4)
    'incomplete identifier'
    """
    kind: str = row["looks_like"]
    if kind == REPEATED_IDENTIFIER and share_known < MIN_SHARE_IDENTIFIED:
        return INCOMPLETE_IDENTIFIER
    if kind in (CODE, CATEGORY, NUMBER):
        name = row["column_name"]
        values = row["distinct_values"]
        is_text = row["column_type"] == "text"
        if is_text and values > MAX_CATEGORIES and is_called_person(name):
            return NAME  # whose values are words, or it were an identifier
        if by_name := kind_by_name(name, values, is_text=is_text):
            return by_name
        return UNREAD_DATE if kind != CATEGORY and is_called_date(name) else kind
    return kind


def _suggest(kind: str, **figures: Any) -> str:  # noqa: ANN401 - of a text's placeholders
    """Write what to do with a column of this kind, why, and what is safer."""
    advice, reason, safer = SUGGESTIONS[kind]
    return f"{advice}: {reason.format(**figures)}{f'; {safer}' if safer else ''}"


def _column_form(row: dict[str, Any]) -> ColumnForm:
    """How the values are written, without the candidates for missing-value codes."""
    values = int(row["distinct_values"]) - len(row["candidates"])
    counted = ["numbers", "whole", "dates", "padded", "spaced", "shortest", "longest", "letters"]
    whole: dict[str, Any] = {name: int(row[name]) for name in [*counted, "words"]}
    ends = float(row["least"]), float(row["greatest"])
    return ColumnForm(
        row["column_name"], row["column_type"], values, least=ends[0], greatest=ends[1], **whole
    )


def _missing_value_codes(row: dict[str, Any]) -> list[MissingValueCode]:
    split = (candidate.partition(":") for candidate in row["candidates"])
    form = _column_form(row)
    candidates = [(text, int(count)) for count, _, text in split]
    return missing_values_of(form, candidates, values_beside(row, form.values))


def missing_values_of(
    form: ColumnForm, candidates: Iterable[tuple[str, int]], beside: ValuesBeside
) -> list[MissingValueCode]:
    """Select the missing-value codes of a column from the candidates, texts with their records."""
    numbers = NumberRange(form.numbers, form.least, form.greatest) if is_numeric(form) else None
    counts = Counter[str]()  # all moments of a day are one code
    for text, count in candidates:
        written = text  # the same for every engine
        if form.kind in TIME_TYPES:
            written = text[:10]
        elif form.kind not in {"text", "other"}:
            number = float(text)  # DuckDB writes one NaN as nan, another as -nan
            written = "NaN" if isnan(number) else str(int(number))
        counts[written] += count
    codes = [MissingValueCode(text, count) for text, count in counts.items()]
    # Among identifiers, nines are an identifier like the others.
    named = IDENTIFIER_NAME.search(form.name) and form.values > MAX_CATEGORIES
    if named:
        return find_missing_value_codes(codes, None)
    return find_missing_value_codes(codes, numbers, beside, are_days=are_dates(form))


def are_dates(form: ColumnForm) -> bool:
    """Whether the column contains dates, perhaps written as text."""
    return form.kind in DATE_TYPES or (
        form.kind == "text" and form.dates >= MIN_SHARE_OF_FORM * max(1, form.values)
    )
