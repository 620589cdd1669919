"""A step: what each value of a column becomes, as an SQL expression, a Polars expression and words.

NULL stays NULL, a value that the step does not understand stays as it is, and all that a step gives is text.
Both engines give the same text. The SQL uses only what other dialects have, too.
"""

from dataclasses import dataclass, field
from math import floor
from typing import Final, Protocol

from reid_sql.models.columns.dates import MONTHS, NAME, NAMED_MONTH, ORDINAL
from reid_sql.models.columns.marked_numbers import number_pattern
from reid_sql.parameters import plain_number, sql_text
from reid_sql.parameters.domain import number_replacements

ALL: Final = "*"  # what every value of a column becomes that is left out: one value, and not NULL
OTHER: Final = "other"
# What is a number, and a day: the same in all dialects, so without their own casts of whatever text.
POWER: Final = "[eE]([+]?[0-9]{1,2}|-[0-9]{1,2}|-[12][0-9][0-9])"
NUMBER: Final = f"^ *[+-]?([0-9]{{1,30}}([.][0-9]{{0,20}})?|[.][0-9]{{1,20}})({POWER})? *$"
DAY: Final = "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"
NARROW, NARROW_DIGITS, WIDE = 28, 9, 38  # digits of decimals; few, as not every dialect has as many
ROUNDING: Final = 1e-9  # 0.29 * 100 is below 29
DATE_PARTS: Final = ("month", "quarter", "year", "decade")


class Step(Protocol):
    """What a value becomes."""

    @property
    def words(self) -> str:
        """Describe the step, to follow the column's name."""
        ...

    def sql(self, value: str) -> str:
        """Write the step in DuckDB's SQL, applied to this expression."""
        ...

    def polars(self, value: str) -> str:
        """Write the step as Python source of a Polars expression, applied to this one."""
        ...


def text(value: str) -> str:
    """The value as text, in SQL."""
    return f"CAST({value} AS VARCHAR)"


def polars_text(value: str) -> str:
    """The value as text, in Polars."""
    return f"{value}.cast(pl.String)"


def written(number: float) -> str:
    """Write a number as people do.

    >>> written(20.0), written(-2.5), written(1e6)
    ('20', '-2.5', '1000000')
    """
    return str(int(number)) if number == floor(number) else repr(number)


def sql_number(value: str, marks: str = "") -> str:
    """The value as a number, NULL where it is none, in SQL; a cast that fails stops some dialects."""
    words = text(value)
    plain = plain_number(words, marks) if marks else words
    test = f"regexp_matches({words}, {sql_text(_form_of_numbers(marks))})"
    return f"CASE WHEN {test} THEN TRY_CAST(trim({plain}) AS DOUBLE) END"


def _form_of_numbers(marks: str) -> str:
    """The pattern of what is a number: 12.05.1980 is none, though it is one without its points."""
    return f"^ *({number_pattern(marks)}) *$" if marks else NUMBER


@dataclass(frozen=True)
class Bands:
    """Numbers in bands of a width, the first of which begins at 0; below and above its ends, one value each.

    `whole` numbers are in bands like '20 to 29', others in ones like '[20, 30)'. Of the `marks` of 1.265,50,
    the first is between thousands, and the second before a fraction; a unit may follow. Without a width, only
    what lies beyond the ends changes. An end must be a multiple of the width. The SQL for a column of an
    `integer` type interprets no text.

    >>> Bands(10, below=20).words, Bands(0.5).words, Bands(None, above=90).words
    ('in bands of 10, below 20 as one', 'in bands of 0.5', '90 or more as one')
    """

    width: float | None
    below: float | None = None
    above: float | None = None
    whole: bool = True
    integer: bool = field(default=False, compare=False)
    marks: str = field(default="", compare=False)

    @property
    def words(self) -> str:
        parts = [] if self.width is None else [f"in bands of {written(self.width)}"]
        labels = [label for _, label in self._ends]
        each = " each" if len(labels) > 1 else ""
        return ", ".join((*parts, *([f"{' and '.join(labels)}{each} as one"] if labels else [])))

    @property
    def _ends(self) -> list[tuple[str, str]]:
        """The condition on a number beyond each end, and what it becomes."""
        ends = []
        if self.below is not None:
            ends.append((f"< {self.below!r}", f"below {written(self.below)}"))
        if self.above is not None:
            ends.append((f">= {self.above!r}", f"{written(self.above)} or more"))
        return ends

    @property
    def _digits(self) -> int:
        """Digits after the point of the width."""
        return next((at for at in range(16) if (self.width or 0) * 10**at % 1 == 0), 15)

    @property
    def _limit(self) -> str:
        """From where numbers stay as they are: beyond, a double does not hold every band."""
        return f"1e{15 - self._digits}"

    def sql(self, value: str) -> str:
        number = value if self.integer else sql_number(value, self.marks)
        # the least integer has no abs
        magnitude = f"CAST({number} AS DOUBLE)" if self.integer else number
        ends = "".join(
            f" WHEN {number} {test} THEN {sql_text(label)}" for test, label in self._ends
        )
        inside = text(value) if self.width is None else self._sql_band(number)
        banded = f"CASE{ends} ELSE {inside} END" if ends else inside
        return f"CASE WHEN abs({magnitude}) < {self._limit} THEN {banded} ELSE {text(value)} END"

    def _sql_band(self, number: str) -> str:
        digits, scale = self._digits, 10**self._digits
        each = round((self.width or 1) * scale)
        if not digits:
            low = f"CAST(floor({number} / {each}) * {each} AS BIGINT)"
            first, last = text(low), text(f"{low} + {each - 1 if self.whole else each}")
            return (
                f"{first} || ' to ' || {last}"
                if self.whole
                else f"'[' || {first} || ', ' || {last} || ')'"
            )
        low = f"floor({number} * {scale} / {each} + {ROUNDING}) * {each}"
        kind = f"DECIMAL({NARROW if digits <= NARROW_DIGITS else WIDE}, {digits})"
        first, last = (
            text(f"CAST(({low}{more}) / {scale} AS {kind})") for more in ("", f" + {each}")
        )
        return f"'[' || {first} || ', ' || {last} || ')'"

    def polars(self, value: str) -> str:
        words = plain = polars_text(value)
        if self.marks:
            for old, new in number_replacements(self.marks):
                plain += f".str.replace_all({old!r}, {new!r}, literal=True)"
        form = _form_of_numbers(self.marks)
        number = f"pl.when({words}.str.contains({form!r})).then({plain}).str.strip_chars(' ').cast(pl.Float64)"
        small = f"pl.when(({number}.abs() < {self._limit}).fill_null(False).not_()).then({words})"
        for test, label in self._ends:
            small += f".when({number} {test}).then(pl.lit({label!r}))"
        return f"{small}.otherwise({words if self.width is None else self._polars_band(number)})"

    def _polars_band(self, number: str) -> str:
        digits, scale = self._digits, 10**self._digits
        each = round((self.width or 1) * scale)
        if not digits:
            low = f"({number} / {each}).floor().cast(pl.Int64, strict=False) * {each}"
            first, last = (
                polars_text(f"({low} + {more})") for more in (0, each - (1 if self.whole else 0))
            )
            form = "{} to {}" if self.whole else "[{}, {})"
            return f"pl.format({form!r}, {first}, {last})"
        low = f"({number} * {scale} / {each} + {ROUNDING}).floor() * {each}"
        kind = f"pl.Decimal(38, {digits})"
        first, last = (
            polars_text(f"(({low} + {more}) / {scale}).cast({kind}, strict=False)")
            for more in (0, each)
        )
        return f"pl.format('[{{}}, {{}})', {first}, {last})"


@dataclass(frozen=True)
class DatePart:
    """Dates as their month, quarter, year or decade; `form` is how dates are written that are text.

    Without a form, text must begin with year, month and day, such as 1980-03-02. In a form `%B` is the name
    of a month, also a short one, in each language that is read.
    """

    part: str
    form: str | None = None

    @property
    def words(self) -> str:
        return f"to its {self.part}"

    def sql(self, value: str) -> str:
        plain = text(value)
        if self.form is None:
            day = f"left({plain}, 10)"
            is_day = f"regexp_matches({day}, {sql_text(DAY)})"
            return f"CASE WHEN {is_day} THEN {self._sql_part(day)} ELSE {plain} END"
        return f"coalesce({self._sql_part(day_in_sql(plain, self.form))}, {plain})"

    def _sql_part(self, day: str) -> str:
        return {
            "month": f"left({day}, 7)",
            "quarter": f"left({day}, 4) || '-Q' || CASE {_quarters(f'substring({day}, 6, 2)')} ELSE '4' END",
            "year": f"left({day}, 4)",
            "decade": f"left({day}, 3) || '0s'",
        }[self.part]

    def polars(self, value: str) -> str:
        plain = polars_text(value)
        if self.form is None:
            day = f"{plain}.str.head(10)"
            day = f"pl.when({day}.str.contains({DAY!r})).then({day})"
        else:
            written = plain
            if NAMED_MONTH in self.form:
                small = f"{plain}.str.to_lowercase().str.replace({ORDINAL!r}, '${{1}}')"
                numbers = {
                    name: f"-{month:02}-"
                    for month, names in enumerate(MONTHS, 1)
                    for name in names.split()
                }
                name = f"{small}.str.extract({f'({NAME})'!r}).replace_strict({numbers!r}, default=None)"
                written = f"{small}.str.replace({f'{NAME}[.]?'!r}, {name})"
            form = _with_number(self.form)
            day = f"{written}.str.to_date({form!r}, strict=False).dt.strftime('%Y-%m-%d')"
        quarter = f"(({day}.str.slice(5, 2).cast(pl.Int64) + 2) // 3)"
        expressions = {
            "month": f"{day}.str.head(7)",
            "quarter": f"pl.format('{{}}-Q{{}}', {day}.str.head(4), {quarter})",
            "year": f"{day}.str.head(4)",
            "decade": f"pl.format('{{}}0s', {day}.str.head(3))",
        }[self.part]
        return f"pl.coalesce({expressions}, {plain})"


def day_in_sql(plain: str, form: str) -> str:
    """Write the day of a text as year, month and day; NULL of a text that is not of the form."""
    if NAMED_MONTH not in form:  # 'epoch' would be a date
        parts = f"CASE WHEN regexp_matches({plain}, '[0-9]') THEN {plain} END"
    else:
        small = f"regexp_replace(lower({plain}), {sql_text(ORDINAL)}, '\\1')"
        name = f"regexp_extract({small}, {sql_text(NAME)})"
        cases = " ".join(
            f"WHEN {name} IN ({', '.join(map(sql_text, names.split()))}) THEN '-{month:02}-'"
            for month, names in enumerate(MONTHS, 1)
        )
        parts = f"regexp_replace({small}, {sql_text(f'{NAME}[.]?')}, CASE {cases} END)"
    return f"strftime(try_strptime({parts}, {sql_text(_with_number(form))}), '%Y-%m-%d')"


def _with_number(form: str) -> str:
    """Write a form for texts whose month has its number, between dashes, in place of its name."""
    return form.replace(NAMED_MONTH, "-%m-")


def _quarters(month: str) -> str:
    """Write the first three quarters as cases of the month's two digits."""
    return " ".join(f"WHEN {month} <= '{3 * at:02}' THEN '{at}'" for at in range(1, 4))


@dataclass(frozen=True)
class Prefix:
    """Codes as their first characters, with `*` for the rest."""

    length: int

    @property
    def words(self) -> str:
        return f"to its first {'character' if self.length == 1 else f'{self.length} characters'}"

    def sql(self, value: str) -> str:
        plain = text(value)
        short = f"left({plain}, {self.length}) || '*'"
        return f"CASE WHEN length({plain}) > {self.length} THEN {short} ELSE {plain} END"

    def polars(self, value: str) -> str:
        plain = polars_text(value)
        short = f"pl.format('{{}}*', {plain}.str.head({self.length}))"
        return f"pl.when({plain}.str.len_chars() > {self.length}).then({short}).otherwise({plain})"


@dataclass(frozen=True)
class Common:
    """Only these values as they are, each other one as `other`: rare ones are not named.

    They are the values of at least `least` records.
    """

    kept: tuple[str, ...]
    least: float = field(default=2.0, compare=False)

    @property
    def words(self) -> str:
        few = "value" if len(self.kept) == 1 else f"{len(self.kept)} values"
        return f"with its most frequent {few}, the others as one"

    def sql(self, value: str) -> str:
        listed = ", ".join(sql_text(each) for each in self.kept)
        kept = f"WHEN {text(value)} IN ({listed}) THEN {text(value)} " if self.kept else ""
        return f"CASE WHEN {value} IS NULL THEN NULL {kept}ELSE '{OTHER}' END"

    def polars(self, value: str) -> str:
        plain = polars_text(value)
        kept = f".when({plain}.is_in({list(self.kept)!r})).then({plain})" if self.kept else ""
        return f"pl.when({value}.is_null()).then(pl.lit(None, pl.String)){kept}.otherwise(pl.lit({OTHER!r}))"


@dataclass(frozen=True)
class Grouped:
    """Values as the group that each is in, by a list of pairs; a value that is in none stays as it is."""

    pairs: tuple[tuple[str, str], ...]  # value and group

    @property
    def words(self) -> str:
        return f"in {len({group for _, group in self.pairs})} groups"

    def sql(self, value: str) -> str:
        names = dict.fromkeys(group for _, group in self.pairs)
        inside = {name: [each for each, group in self.pairs if group == name] for name in names}
        cases = " ".join(
            f"WHEN {text(value)} IN ({', '.join(sql_text(each) for each in values)}) THEN {sql_text(name)}"
            for name, values in inside.items()
        )
        return f"CASE {cases} ELSE {text(value)} END"

    def polars(self, value: str) -> str:
        plain = polars_text(value)
        old, new = (list(each) for each in zip(*self.pairs, strict=True))
        return f"{plain}.replace_strict({old!r}, {new!r}, default={plain})"


@dataclass(frozen=True)
class Drop:
    """Every value, NULL too, becomes the same: the column distinguishes nobody."""

    @property
    def words(self) -> str:
        return "left out"

    def sql(self, value: str) -> str:  # noqa: ARG002 - whatever the value
        return sql_text(ALL)

    def polars(self, value: str) -> str:  # noqa: ARG002 - whatever the value
        return f"pl.lit({ALL!r})"
