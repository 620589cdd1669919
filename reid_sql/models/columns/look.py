"""What a column looks like, by how many values it has, how they are written and what it is called."""

import re
from dataclasses import dataclass
from typing import Final

PEOPLE: Final = (
    "person|people|patient|subject|customer|client|member|user|respondent|employee|student|participant|"
    "citizen"
)
NAMED_LIKE_PEOPLE: Final = re.compile(
    rf"(^|_|\b)(id|uuid|guid|pid|ssn|nhs_number|mrn|({PEOPLE})(_?(id|nr|no|number|key|code))?)$",
    re.IGNORECASE,
)
NAMED_LIKE_A_CODE: Final = re.compile(
    r"(^|_|\b)((zip|post|postal)_?(code)?|code|plz|fips|icd_?\d*)$", re.IGNORECASE
)
# As the whole of a text: year first, or day or month first.
DATE: Final = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}([ T].*)?|[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{4}"
)
PADDED: Final = "0[0-9]+"
MOST: Final = 0.95  # of the values that a form must have to be the column's
FEW: Final = (
    20  # values that are categories however many records there are, and records too few to tell an identifier
)
FEW_NUMBERS: Final = 10  # whole numbers that are codes of categories rather than amounts
REPEATED: Final = 5  # records that a category's values have on average
SENTENCE: Final = 30  # characters of a value from which a text is one to read
WORN: Final = 100  # records that hold a sentence on average, from which it is one of a list
LONG_CODE: Final = 5  # digits, all values alike, from which they are a code and no amount

EMPTY: Final = "empty"
CONSTANT: Final = "constant"
IDENTIFIER: Final = "identifier"
REPEATED_IDENTIFIER: Final = "repeated identifier"
DATED: Final = "date"
CODE: Final = "code"
NUMBER: Final = "number"
CATEGORY: Final = "category"
FREE_TEXT: Final = "free text"
OTHER: Final = "other"
NUMERIC: Final = ("integer", "decimal", "float")
TIMED: Final = ("date", "timestamp", "time")


@dataclass(frozen=True)
class Form:
    """How a column's values are written, those aside that may be marks for a missing one.

    `values` is how many distinct ones there are; of them are `numbers` numbers, `whole` whole ones, `dates`
    dates, `padded` digits after a zero, and `spaced` have two spaces or more. `shortest`, `longest` and
    `letters` count characters, of one value and of all.
    """

    name: str
    kind: str
    values: int
    numbers: int
    whole: int
    least: float
    greatest: float
    dates: int
    padded: int
    spaced: int
    shortest: int
    longest: int
    letters: int


def look(form: Form, values: int, records: int) -> str:
    """What the column looks like; `values` and `records` are those without NULL and marks for it.

    >>> person = Form("person_id", "text", 30, 0, 0, 0, 0, 0, 0, 0, 6, 6, 180)
    >>> look(person, 30, 30), look(person, 30, 90)
    ('identifier', 'repeated identifier')
    """
    if values < 2:  # noqa: PLR2004 - one value tells nobody apart
        return CONSTANT if values else EMPTY
    if form.kind in TIMED or (form.kind == "text" and form.dates >= MOST * max(1, form.values)):
        return DATED
    if form.kind == "boolean":
        return CATEGORY
    if form.kind not in ("text", *NUMERIC):
        return OTHER
    if identifies(form, values, records):
        return IDENTIFIER if values == records else REPEATED_IDENTIFIER
    return _number(form, values) if of_numbers(form) else _text(form, values, records)


def of_numbers(form: Form) -> bool:
    """Whether the column holds numbers, be they written as text."""
    return form.kind in NUMERIC or (
        form.kind == "text" and form.values > 0 and form.numbers >= MOST * form.values
    )


def identifies(form: Form, values: int, records: int) -> bool:
    """Whether values look like names of people: by the column's own name, or as no two records share one."""
    if values <= FEW:
        return False
    if NAMED_LIKE_PEOPLE.search(form.name):
        return True
    if values < records:
        return False
    if of_numbers(form):
        return form.whole == form.numbers and form.greatest - form.least + 1 == form.numbers
    return form.kind == "text" and not _to_read(form)


def _number(form: Form, values: int) -> str:
    digits = form.shortest == form.longest >= LONG_CODE and form.whole == form.numbers
    if (form.kind == "text" and (form.padded or digits)) or NAMED_LIKE_A_CODE.search(form.name):
        return CODE
    return CATEGORY if form.whole == form.numbers and values <= FEW_NUMBERS else NUMBER


def _text(form: Form, values: int, records: int) -> str:
    if _to_read(form) and values > FEW and records < WORN * values:
        return FREE_TEXT
    return CATEGORY if values <= FEW or records >= REPEATED * values else CODE


def _to_read(form: Form) -> bool:
    """Whether most values are sentences rather than words."""
    return form.letters >= SENTENCE * max(1, form.values) or 2 * form.spaced > form.values
