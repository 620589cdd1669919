"""How people write dates in text, and the one reading that fits all values of a column.

05.08.1943 is read as day and month, or as month and day. Which one is meant follows from other values of the
column, of which a day is above 12; where none is, nobody but its owner knows, and nothing is guessed.
"""

import re
from collections.abc import Mapping
from datetime import date
from typing import Final, NamedTuple

DAY: Final = "(0?[1-9]|[12][0-9]|3[01])"
MONTH: Final = "(0?[1-9]|1[0-2])"
YEAR: Final = "([0-9]{4})"
SHORT_YEAR: Final = "([0-9]{2})"
MARKS: Final = (".", "/", "-")
# Matched against the whole text: year first, or day or month first, with a year of four digits or two.
DATE_PATTERN: Final = (
    "[0-9]{4}-[0-9]{2}-[0-9]{2}([ T].*)?|[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}|"
    f"{DAY}[./-]{DAY}[./-]([0-9]{{4}}|[0-9]{{2}})"
)
ISO: Final = "%Y-%m-%d"


class DateForm(NamedTuple):
    """A way of writing dates: as strptime has it, a pattern of whole texts, and where its parts are."""

    form: str
    pattern: str
    order: str  # of year, month and day; a short year is a small letter


def _list_forms() -> tuple[DateForm, ...]:
    parts = {"D": ("%d", DAY), "M": ("%m", MONTH), "Y": ("%Y", YEAR), "y": ("%y", SHORT_YEAR)}
    orders = ("YMD", "DMY", "MDY", "DMy", "MDy")
    return tuple(
        DateForm(
            mark.join(parts[part][0] for part in order),
            f"\\{mark}".join(parts[part][1] for part in order),
            order,
        )
        for mark in MARKS
        for order in orders
        if (order, mark) != ("YMD", "-")
    )


DATE_FORMS: Final = _list_forms()
NO_FORM: Final = "the dates of {} were not coarsened: {:,} of its {:,} values are dates in no one way of writing; write them alike"
SEVERAL_FORMS: Final = (
    "the dates of {0} were not coarsened: all {1:,} values fit day and month in either order; write which one in "
    'prepare.hierarchies, such as {{ date = "year", format = "{2}" }}'
)
SHORT_YEARS: Final = "the dates of {} were not coarsened: its years have two digits, of no known century; write them with four"


def read_date(text: str, form: DateForm) -> date | None:
    """Read a text as one form has it.

    >>> [read_date("5.3.1966", form) for form in DATE_FORMS if form.form == "%d.%m.%Y"]
    [datetime.date(1966, 3, 5)]
    """
    match = re.fullmatch(form.pattern, text)
    if match is None or "y" in form.order:
        return None
    parts = dict(zip(form.order, map(int, match.groups()), strict=True))
    try:
        return date(parts["Y"], parts["M"], parts["D"])
    except ValueError:
        return None


def choose_date_form(
    column: str, fitting: Mapping[str, int], values: int
) -> tuple[str | None, str]:
    """Choose the form that all values fit, `fitting` counts those of each; else say why there is none.

    >>> choose_date_form("birth", {"%d.%m.%Y": 9, "%m.%d.%Y": 4}, 9)
    ('%d.%m.%Y', '')
    >>> choose_date_form("birth", {"%d/%m/%Y": 9, "%m/%d/%Y": 9}, 9)[1][:60]
    'the dates of birth were not coarsened: all 9 values fit day '
    """
    forms = [each.form for each in DATE_FORMS if fitting.get(each.form, 0) == values]
    full = [form for form in forms if "%Y" in form]
    if len(full) == 1:
        return full[0], ""
    if full:
        return None, SEVERAL_FORMS.format(column, values, full[0])
    if forms:
        return None, SHORT_YEARS.format(column)
    return None, NO_FORM.format(column, values - max(fitting.values(), default=0), values)
