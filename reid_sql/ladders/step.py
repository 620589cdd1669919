"""A step: what each value of a column becomes, as an SQL expression, a Polars expression and words.

NULL stays NULL, a value that the step does not understand stays as it is, and all that a step gives is text.
Both engines give the same text.
"""

from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING, Final, Protocol

from reid_sql.domains import sql_text

if TYPE_CHECKING:
    import polars as pl

ALL: Final = "*"  # what every value of a column becomes that is left out: one value, and not NULL
OTHER: Final = "other"
LIMIT: Final = "1e15"  # numbers beyond are no whole numbers any more, and stay as they are
ROUNDING: Final = 1e-9  # 0.29 * 100 lies below 29
DATE_PARTS: Final = ("month", "quarter", "year", "decade")


class Step(Protocol):
    """What a value becomes."""

    @property
    def words(self) -> str:
        """What is done, as a person would say it after the column's name."""
        ...

    def sql(self, value: str) -> str:
        """Spell it in DuckDB's SQL, of a value that is spelled so."""
        ...

    def polars(self, value: str) -> str:
        """Spell it as Python's source of a Polars expression, of one that is spelled so."""
        ...


def expression(step: Step, column: str) -> "pl.Expr":
    """Give the step as a Polars expression of a column, under the column's name.

    >>> import polars as pl
    >>> pl.DataFrame({"age": [23, 37]}).select(expression(Bands(10), "age"))["age"].to_list()
    ['20 to 29', '30 to 39']
    """
    import polars as pl  # noqa: PLC0415 - SQL alone needs none

    source = f"({step.polars(f'pl.col({column!r})')}).alias({column!r})"
    return eval(source, {"pl": pl, "__builtins__": {}})  # type: ignore[no-any-return] # noqa: S307 - ours, data quoted


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


@dataclass(frozen=True)
class Bands:
    """Numbers in bands of a width, the first of which begins at 0; below and above its ends, one value each.

    `whole` numbers are in bands like '20 to 29', others in ones like '[20, 30)'. Without a width, only what
    lies beyond the ends changes. An end must be a multiple of the width.

    >>> Bands(10, below=20).words, Bands(0.5).words, Bands(None, above=90).words
    ('in bands of 10, below 20 as one', 'in bands of 0.5', '90 or more as one')
    """

    width: float | None
    below: float | None = None
    above: float | None = None
    whole: bool = True

    @property
    def words(self) -> str:
        """What is done, as a person would say it after the column's name."""
        told = [] if self.width is None else [f"in bands of {written(self.width)}"]
        low = [] if self.below is None else [f"below {written(self.below)}"]
        high = [] if self.above is None else [f"{written(self.above)} or more"]
        ends = " and ".join((*low, *high))
        each = " each" if low and high else ""
        return ", ".join((*told, *([f"{ends}{each} as one"] if ends else [])))

    @property
    def _digits(self) -> int:
        """Digits after the point of the width."""
        return next((at for at in range(16) if (self.width or 0) * 10**at % 1 == 0), 15)

    def sql(self, value: str) -> str:
        """Spell it in SQL."""
        number = f"TRY_CAST(replace({text(value)}, '_', ' ') AS DOUBLE)"  # 1_000 is a number in DuckDB alone
        ends = [
            *([] if self.below is None else [(f"{number} < {self.below!r}", f"below {written(self.below)}")]),
            *(
                []
                if self.above is None
                else [(f"{number} >= {self.above!r}", f"{written(self.above)} or more")]
            ),
        ]
        cases = "".join(f" WHEN {test} THEN {sql_text(label)}" for test, label in ends)
        inside = text(value) if self.width is None else self._sql_band(number)
        finite = f"abs({number}) < {LIMIT}"
        return f"CASE WHEN {finite} IS NOT TRUE THEN {text(value)}{cases} ELSE {inside} END"

    def _sql_band(self, number: str) -> str:
        digits, scale = self._digits, 10**self._digits
        each = round((self.width or 1) * scale)
        if not digits:
            low = f"CAST(floor({number} / {each}) * {each} AS BIGINT)"
            last = f"' to ' || ({low} + {each - 1})" if self.whole else f"', ' || ({low} + {each}) || ')'"
            return f"{low} || {last}" if self.whole else f"'[' || {low} || {last}"
        low = f"floor({number} * {scale} / {each} + {ROUNDING}) * {each}"
        ends = (f"CAST(({low}{more}) / {scale} AS DECIMAL(38, {digits}))" for more in ("", f" + {each}"))
        return f"'[' || {next(ends)} || ', ' || {next(ends)} || ')'"

    def polars(self, value: str) -> str:
        """Spell it in Polars."""
        words = polars_text(value)
        number = f"{words}.str.strip_chars().cast(pl.Float64, strict=False)"
        found = f"pl.when(({number}.abs() < {LIMIT}).fill_null(False).not_()).then({words})"
        if self.below is not None:
            found += f".when({number} < {self.below!r}).then(pl.lit({f'below {written(self.below)}'!r}))"
        if self.above is not None:
            found += f".when({number} >= {self.above!r}).then(pl.lit({f'{written(self.above)} or more'!r}))"
        return f"{found}.otherwise({words if self.width is None else self._polars_band(number)})"

    def _polars_band(self, number: str) -> str:
        digits, scale = self._digits, 10**self._digits
        each = round((self.width or 1) * scale)
        if not digits:
            low = f"({number} / {each}).floor().cast(pl.Int64, strict=False) * {each}"
            first, last = (polars_text(f"({low} + {more})") for more in (0, each - (1 if self.whole else 0)))
            form = "{} to {}" if self.whole else "[{}, {})"
            return f"pl.format({form!r}, {first}, {last})"
        low = f"({number} * {scale} / {each} + {ROUNDING}).floor() * {each}"
        kind = f"pl.Decimal(38, {digits})"
        first, last = (polars_text(f"(({low} + {more}) / {scale}).cast({kind})") for more in (0, each))
        return f"pl.format('[{{}}, {{}})', {first}, {last})"


@dataclass(frozen=True)
class DatePart:
    """Dates as their month, quarter, year or decade; `form` is how dates are written that are text.

    Without a form, text must begin with year, month and day.
    """

    part: str
    form: str | None = None

    @property
    def words(self) -> str:
        """What is done, as a person would say it after the column's name."""
        return f"to its {self.part}"

    def sql(self, value: str) -> str:
        """Spell it in SQL."""
        plain = text(value)
        day = f"left({plain}, 10)" if self.form is None else plain
        told = f"CASE WHEN regexp_matches({day}, '[0-9]') THEN {day} END"  # 'epoch' would be a date
        time = f"try_strptime({told}, {sql_text(self.form or '%Y-%m-%d')})"
        year = f"year({time})"
        found = {
            "month": f"strftime({time}, '%Y-%m')",
            "quarter": f"strftime({time}, '%Y') || '-Q' || quarter({time})",
            "year": f"strftime({time}, '%Y')",
            "decade": f"({year} - {year} % 10) || 's'",
        }[self.part]
        return f"coalesce({found}, {plain})"

    def polars(self, value: str) -> str:
        """Spell it in Polars."""
        plain = polars_text(value)
        time = (
            f"{plain}.str.head(10).str.to_date('%Y-%m-%d', strict=False)"
            if self.form is None
            else f"{plain}.str.to_date({self.form!r}, strict=False)"
        )
        year = f"{time}.dt.year()"
        found = {
            "month": f"{time}.dt.strftime('%Y-%m')",
            "quarter": f"pl.format('{{}}-Q{{}}', {time}.dt.strftime('%Y'), {time}.dt.quarter())",
            "year": f"{time}.dt.strftime('%Y')",
            "decade": f"pl.format('{{}}s', {year} - {year} % 10)",
        }[self.part]
        return f"pl.coalesce({found}, {plain})"


@dataclass(frozen=True)
class Prefix:
    """Codes as their first characters, with `*` for the rest."""

    length: int

    @property
    def words(self) -> str:
        """What is done, as a person would say it after the column's name."""
        return f"to its first {'character' if self.length == 1 else f'{self.length} characters'}"

    def sql(self, value: str) -> str:
        """Spell it in SQL."""
        plain = text(value)
        short = f"left({plain}, {self.length}) || '*'"
        return f"CASE WHEN length({plain}) > {self.length} THEN {short} ELSE {plain} END"

    def polars(self, value: str) -> str:
        """Spell it in Polars."""
        plain = polars_text(value)
        short = f"pl.format('{{}}*', {plain}.str.head({self.length}))"
        return f"pl.when({plain}.str.len_chars() > {self.length}).then({short}).otherwise({plain})"


@dataclass(frozen=True)
class Common:
    """Only these values as they are, each other one as `other`: rare ones are not named."""

    kept: tuple[str, ...]

    @property
    def words(self) -> str:
        """What is done, as a person would say it after the column's name."""
        few = "value" if len(self.kept) == 1 else f"{len(self.kept)} values"
        return f"with its most frequent {few}, the others as one"

    def sql(self, value: str) -> str:
        """Spell it in SQL."""
        listed = ", ".join(sql_text(each) for each in self.kept)
        kept = f"WHEN {text(value)} IN ({listed}) THEN {text(value)} " if self.kept else ""
        return f"CASE WHEN {value} IS NULL THEN NULL {kept}ELSE '{OTHER}' END"

    def polars(self, value: str) -> str:
        """Spell it in Polars."""
        plain = polars_text(value)
        kept = f".when({plain}.is_in({list(self.kept)!r})).then({plain})" if self.kept else ""
        return f"pl.when({value}.is_null()).then(pl.lit(None, pl.String)){kept}.otherwise(pl.lit({OTHER!r}))"


@dataclass(frozen=True)
class Grouped:
    """Values as the group that each is in, by a list of pairs; a value that is in none stays as it is."""

    pairs: tuple[tuple[str, str], ...]  # value and group

    @property
    def words(self) -> str:
        """What is done, as a person would say it after the column's name."""
        return f"in {len({group for _, group in self.pairs})} groups"

    def sql(self, value: str) -> str:
        """Spell it in SQL."""
        names = dict.fromkeys(group for _, group in self.pairs)
        inside = {name: [each for each, group in self.pairs if group == name] for name in names}
        cases = " ".join(
            f"WHEN {text(value)} IN ({', '.join(sql_text(each) for each in values)}) THEN {sql_text(name)}"
            for name, values in inside.items()
        )
        return f"CASE {cases} ELSE {text(value)} END"

    def polars(self, value: str) -> str:
        """Spell it in Polars."""
        plain = polars_text(value)
        old, new = (list(each) for each in zip(*self.pairs, strict=True))
        return f"{plain}.replace_strict({old!r}, {new!r}, default={plain})"


@dataclass(frozen=True)
class Drop:
    """Every value, NULL too, as the same: the column tells nobody apart any more."""

    @property
    def words(self) -> str:
        """What is done, as a person would say it after the column's name."""
        return "left out"

    def sql(self, value: str) -> str:  # noqa: ARG002 - whatever the value
        """Spell it in SQL."""
        return sql_text(ALL)

    def polars(self, value: str) -> str:  # noqa: ARG002 - whatever the value
        """Spell it in Polars."""
        return f"pl.lit({ALL!r})"
