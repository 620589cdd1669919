"""How people write dates in text, and the one reading that fits all values of a column.

05.08.1943 is read as day and month, or as month and day. Which one is meant follows from other values of the
column, of which a day is above 12; where none is, nobody but its owner knows, and nothing is guessed. A
month may have its name, in the languages of the other words (sensitive_columns.toml): none of these names is
another month elsewhere.
"""

import re
from collections.abc import Mapping
from datetime import date
from typing import Final, NamedTuple

from reid_sql.models.columns.spelling import words_of_name

DAY: Final = "(0?[1-9]|[12][0-9]|3[01])"
MONTH: Final = "(0?[1-9]|1[0-2])"
YEAR: Final = "([0-9]{4})"
SHORT_YEAR: Final = "([0-9]{2})"
MARKS: Final = (".", "/", "-")
MONTHS: Final = (  # in small letters
    "january jan januar jänner janvier janv enero ene gennaio gen januari janeiro styczeń stycznia sty",
    "february feb februar février fevrier févr fév fev febrero febbraio februari fevereiro luty lutego lut",
    "march mar märz mrz mär mars marzo maart mrt março marco marzec marca",
    "april apr avril avr abril abr aprile kwiecień kwietnia kwi",
    "may mai mayo maggio mag mei maio maj maja",
    "june jun juni juin junio giugno giu junho czerwiec czerwca cze",
    "july jul juli juillet juil julio luglio lug julho lipiec lipca lip",
    "august aug août aout agosto ago augustus augusti sierpień sierpnia sie",
    "september sep sept septembre septiembre settembre set setembro wrzesień września wrz",
    "october oct oktober okt octobre octubre ottobre ott outubro out październik października paź",
    "november nov novembre noviembre novembro listopad listopada lis",
    "december dec dezember dez décembre decembre déc diciembre dic dicembre dezembro grudzień grudnia gru",
)
NAME: Final = "[^0-9 .,/-]{3,}"  # of a month, where nothing else of the text has three letters
ORDINAL: Final = "([0-9])(st|nd|rd|th|er|º)"
NAMED_MONTH: Final = "%B"
BEGINNINGS: Final = "|".join(
    sorted({name[:3] for names in MONTHS for name in names.split() if len(name) > 2})  # noqa: PLR2004
)
WITH_NAME: Final = f"(?i:{BEGINNINGS})[^0-9 .,/-]*[.]?"
DAY_OF_NAMED: Final = f"{DAY}(?:st|nd|rd|th|er|º)?"
CLOCK: Final = "[0-9]{1,2}:[0-9]{2}"
TIME_FORMS: Final = {  # of what may stand behind a date, which is left out
    " %H:%M": f" {CLOCK}",
    " %H:%M:%S": f" {CLOCK}:[0-9]{{2}}",
    " %I:%M %p": f" {CLOCK} [AaPp][Mm]",
    " %I:%M:%S %p": f" {CLOCK}:[0-9]{{2}} [AaPp][Mm]",
}
TIME_PATTERN: Final = f"({'|'.join(TIME_FORMS.values())})"
# Matched against the whole text: year first, or day or month first, with a year of four digits or two.
DATE_PATTERN: Final = (
    "("
    "[0-9]{4}-[0-9]{2}-[0-9]{2}([ T].*)?|[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}|"
    f"{DAY}[./-]{DAY}[./-]([0-9]{{4}}|[0-9]{{2}})|"
    f"{DAY_OF_NAMED}([ ./-]|[.] | de )?{WITH_NAME}([ /-]|, | de )?([0-9]{{4}}|[0-9]{{2}})|"
    f"{WITH_NAME} {DAY_OF_NAMED},? ([0-9]{{4}}|[0-9]{{2}})|{YEAR}[ -]{WITH_NAME}[ -]{DAY}|"
    f"{YEAR}年{MONTH}月{DAY}日|{YEAR}년 ?{MONTH}월 ?{DAY}일"
    f"){TIME_PATTERN}?"
)
ISO: Final = "%Y-%m-%d"

NAMES_OF_DATES: Final = frozenset(  # as words of names are compared
    [
        "date",
        "datum",
        "fecha",
        "data",
        "dob",
        "birthdate",
        "birthday",
        "born",
        "дата",
        "生年月日",
        "日付",
        "ημερομηνια",
        "tarih",
        "dato",
    ]
)


def is_called_date(name: str) -> bool:
    """Whether a column is called a date, whose values may be written as none: 43831, in a spreadsheet.

    >>> [is_called_date(name) for name in ("Fecha alta", "geboortedatum", "update")]
    [True, True, False]
    """
    return any(word in NAMES_OF_DATES or word.endswith("datum") for word in words_of_name(name))


class DateForm(NamedTuple):
    """A way of writing dates: as strptime has it, a pattern of whole texts, and where its parts are."""

    form: str
    pattern: str
    order: str  # of year, month and day; a short year is a small letter


def _date_form(form: str) -> DateForm:
    """Return the form with its pattern: of a named month the day may be an ordinal number."""
    day = DAY_OF_NAMED if NAMED_MONTH in form else DAY
    parts = {"d": day, "m": MONTH, "B": f"({NAME})[.]?", "Y": YEAR, "y": SHORT_YEAR}
    written = re.split("%(.)", form)
    patterns = (parts[each] if place % 2 else re.escape(each) for place, each in enumerate(written))
    return DateForm(form, "".join(patterns), "".join(written[1::2]))


NUMBERED_FORMS: Final = tuple(
    mark.join(order)
    for mark in MARKS
    for order in (
        *(("%Y", "%m", "%d"), ("%d", "%m", "%Y"), ("%m", "%d", "%Y")),
        *(("%d", "%m", "%y"), ("%m", "%d", "%y")),
    )
)
NAMED_FORMS: Final = tuple(
    f"{form}{year}"
    for form in (
        "%d %B ",
        "%d. %B ",
        "%d %B, ",
        "%d-%B-",
        "%d/%B/",
        "%d%B",
        "%d de %B de ",
        "%B %d, ",
        "%B %d ",
    )
    for year in ("%Y", "%y")
)
EASTERN_FORMS: Final = ("%Y年%m月%d日", "%Y년 %m월 %d일", "%Y년%m월%d일")
DATE_FORMS: Final = tuple(
    _date_form(form)
    for form in (*NUMBERED_FORMS, *NAMED_FORMS, "%Y-%B-%d", "%Y %B %d", *EASTERN_FORMS)
    if form != ISO
)
NO_TIMES: Final[Mapping[str, int]] = {}
NO_FORM: Final = "the dates of {} were not coarsened: {:,} of its {:,} values are dates in no one way of writing; write them alike"
SEVERAL_FORMS: Final = (
    "the dates of {0} were not coarsened: all {1:,} values fit day and month in either order; write which one in "
    'prepare.hierarchies, such as {{ date = "year", form = "{2}" }}'
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
    parts = dict(zip(form.order, match.groups(), strict=True))
    month = parts.get("m") or number_month(parts["B"])
    try:
        return date(int(parts["Y"]), int(month), int(parts["d"]))
    except ValueError:
        return None


def number_month(name: str) -> int:
    """Return the number of a month, 0 of none.

    >>> [number_month(name) for name in ("Mai", "MRZ", "octobre", "Room")]
    [5, 3, 10, 0]
    """
    places = (at for at, names in enumerate(MONTHS, 1) if name.lower() in names.split())
    return next(places, 0)


def choose_date_form(
    column: str, fitting: Mapping[str, int], values: int, times: Mapping[str, int] = NO_TIMES
) -> tuple[str | None, str]:
    """Choose the form that all values fit, `fitting` counts those of each; else say why there is none.

    The `times` of day behind the dates are counted by their form, too: all values have one, or none has.

    >>> choose_date_form("birth", {"%d.%m.%Y": 9, "%m.%d.%Y": 4}, 9)
    ('%d.%m.%Y', '')
    >>> choose_date_form("birth", {"%d/%m/%Y": 9, "%m/%d/%Y": 9}, 9)[1][:60]
    'the dates of birth were not coarsened: all 9 values fit day '
    >>> choose_date_form("birth", {"%d.%m.%Y": 9}, 9, {" %H:%M": 9, " %H:%M:%S": 0})
    ('%d.%m.%Y %H:%M', '')
    """
    timed = [form for form, count in times.items() if count == values]
    if not timed and any(times.values()):
        return None, NO_FORM.format(column, values - max(times.values()), values)
    time = timed[0] if timed else ""
    forms = [f"{each.form}{time}" for each in DATE_FORMS if fitting.get(each.form, 0) == values]
    full = [form for form in forms if "%Y" in form]
    if len(full) == 1:
        return full[0], ""
    if full:
        return None, SEVERAL_FORMS.format(column, values, full[0])
    if forms:
        return None, SHORT_YEARS.format(column)
    return None, NO_FORM.format(column, values - max(fitting.values(), default=0), values)
