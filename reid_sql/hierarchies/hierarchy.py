"""Hierarchies: a column's steps from fine to coarse, as a policy writes them or as its data suggest."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, floor
from pathlib import Path
from typing import Any, Final

from reid_sql.errors import OutOfDomainError, UnknownNameError, suggestion
from reid_sql.hierarchies.steps import (
    ALL,
    DATE_PARTS,
    Bands,
    Common,
    DatePart,
    Drop,
    Grouped,
    Prefix,
    Step,
)
from reid_sql.models.columns import column_profile
from reid_sql.parameters import Choice, Number, quoted
from reid_sql.parameters.document import Place, shown

MAX_BANDS: Final = 25  # the most that the narrowest bands make
MIN_BANDS: Final = 2  # bands that the widest make
MAX_STEPS: Final = 4  # widths, or lengths of beginnings, of one hierarchy
ROUND_WIDTHS: Final = tuple(digit * 10.0**power for power in range(-9, 16) for digit in (1, 2, 5))
COMMON_SHARES: Final = (0.01, 0.05, 0.2)  # of the records, which a value must have to stay as it is
MIN_RECORDS_OF_A_VALUE: Final = 10  # records that a value has at least which a step names
# How much wider all numbers spread than 98 % of them, from which the ends are one value each
MIN_OUTLYING_SPREAD: Final = 1.5
WIDTH: Final = Number(
    "a number from 1e-9 to 1e15", "write the width of the bands, such as 5", 1e-9, 1e15
)
END: Final = Number(
    "a number from -1e15 to 1e15", "write where the end begins, such as 90", -1e15, 1e15
)
LENGTH: Final = Number(
    "a whole number from 1 to 1000",
    "write how many characters stay, such as 3",
    1.0,
    1000.0,
    whole=True,
)
RARE_BELOW: Final = Number(
    "a whole number from 2 to 1e15",
    "write how many records keep a value, such as 100",
    2.0,
    1e15,
    whole=True,
)
PART: Final = Choice(DATE_PARTS)
KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "bands": ("below", "above"),
    "date": ("form",),
    "prefix": (),
    "rare": (),
    "groups": (),
    "above": ("below",),
    "below": (),
}


@dataclass(frozen=True)
class Hierarchy:
    """A column and its steps; level 0 is the column as it is, level 1 the first step, the last leaves it out.

    >>> from reid_sql.hierarchies.steps import Bands
    >>> age = Hierarchy("age", (Bands(10), Drop()))
    >>> age.levels, age.words(1), age.sql(2)
    (3, 'age in bands of 10', "'*'")
    """

    column: str
    steps: tuple[Step, ...]

    @property
    def levels(self) -> int:
        """How many forms there are, with the column as it is."""
        return len(self.steps) + 1

    def with_bands(self, **form: Any) -> "Hierarchy":  # noqa: ANN401 - the fields of bands
        """Return the hierarchy with bands for whole numbers, an integer type or marks in numbers."""
        steps = (replace(each, **form) if isinstance(each, Bands) else each for each in self.steps)
        return replace(self, steps=tuple(steps))

    def words(self, level: int) -> str:
        """What is done at the level, in words."""
        return f"{self.column} {self.steps[level - 1].words if level else 'as it is'}"

    def sql(self, level: int, value: str | None = None) -> str:
        """Write the column at the level in SQL; `value` is an expression in place of its name."""
        expression_ = quoted(self.column) if value is None else value
        return self.steps[level - 1].sql(expression_) if level else expression_

    def python(self, level: int) -> str:
        """Write the Polars expression as Python."""
        column = f"pl.col({self.column!r})"
        return (
            f"({self.steps[level - 1].polars(column)}).alias({self.column!r})" if level else column
        )


def make_hierarchy(column: str, steps: Sequence[Step]) -> Hierarchy:
    """Make a hierarchy that ends with leaving the column out."""
    ended = bool(steps) and isinstance(steps[-1], Drop)
    return Hierarchy(column, (*steps, *(() if ended else (Drop(),))))


@dataclass(frozen=True)
class Facts:
    """What a hierarchy depends on: a column's kind, range of numbers, text lengths and frequent values.

    `numbers` are all that can be no marks; `near_low` and `near_high` hold 98 % of the records between them.
    `frequent` are values with their records, the most frequent first; there may be more values.
    """

    column: str
    looks_like: str
    records: int
    numbers: bool = False
    whole: bool = True
    low: float = 0.0
    high: float = 0.0
    near_low: float = 0.0
    near_high: float = 0.0
    shortest: int = 0
    longest: int = 0
    frequent: tuple[tuple[str, int], ...] = ()
    integer: bool = False  # by the column's type
    marks: str = ""  # in texts of numbers, between thousands and before the fraction
    marks_note: str = ""  # that there are two readings
    date_form: str | None = None  # how the dates of a text are written, if not as 1980-03-02
    date_note: str = ""  # why they cannot be read


def propose(facts: Facts, widest: float | None = None) -> Hierarchy:
    """Propose a hierarchy; every one ends with leaving the column out, which is all there is for free text.

    `widest` is the width of the last bands, if the column must be in bands of at most that width.

    >>> [step.words for step in propose(Facts("age", "number", 100, True, True, 17, 90, 17, 90)).steps]
    ['in bands of 5', 'in bands of 10', 'in bands of 20', 'left out']
    >>> code = Facts("zip", "code", 100, shortest=5, longest=5)
    >>> [step.words for step in propose(code).steps][:2]
    ['to its first 4 characters', 'to its first 3 characters']
    """
    kinds = {
        column_profile.DATE: _date_parts,
        column_profile.NUMBER: _bands,
        column_profile.CODE: _prefixes,
        column_profile.CATEGORY: _common_values,
    }
    if widest is not None:
        # The widest is a multiple of each narrower width. Open ends would be wider than it.
        narrower = widths(facts.low, facts.high, whole=facts.whole)
        bands = [*(width for width in narrower if _is_multiple(widest, width)), widest]
        return make_hierarchy(facts.column, [Bands(width, whole=facts.whole) for width in bands])
    proposal = kinds.get(facts.looks_like)
    return make_hierarchy(facts.column, list(proposal(facts)) if proposal else [])


def keep_common(facts: Facts, least: float) -> Common:
    """Keep the values of at least so many records."""
    return Common(tuple(value for value, records in facts.frequent if records >= least), least)


def _date_parts(facts: Facts) -> Iterator[Step]:
    if not facts.date_note:
        yield from (DatePart(part, facts.date_form) for part in DATE_PARTS)


def _bands(facts: Facts) -> Iterator[Step]:
    below, above = facts.low, facts.high
    if facts.high - facts.low > MIN_OUTLYING_SPREAD * (facts.near_high - facts.near_low) > 0:
        below, above = facts.near_low, facts.near_high
    proposed = list(widths(below, above, whole=facts.whole))
    if (below, above) == (facts.low, facts.high):
        yield from (Bands(width, whole=facts.whole) for width in proposed)
        return
    ended = []  # the ends are multiples of the width, between which most records are
    for width in proposed:
        low, high = ceil(facts.near_low / width) * width, floor(facts.near_high / width) * width
        end_below = low if low - facts.low > width else None
        end_above = high if facts.high - high > width and high > low else None
        ended.append(Bands(width, whole=facts.whole, below=end_below, above=end_above))
    if ended:
        yield replace(ended[0], width=None)
    yield from ended


def widths(low: float, high: float, *, whole: bool) -> Iterator[float]:
    """Return up to four widths of bands, each a multiple of the one before, as people choose them: 5, 10, 20.

    >>> list(widths(17, 90, whole=True)), list(widths(1, 16, whole=True)), list(widths(0, 1, whole=False))
    ([5.0, 10.0, 20.0], [2.0, 4.0], [0.05, 0.1, 0.2, 0.4])
    """
    spread = high - low
    least = max(spread / MAX_BANDS, 2.0 if whole else 0.0)
    width = next((each for each in ROUND_WIDTHS if each >= least), spread)
    for _ in range(MAX_STEPS):
        if not 0 < width <= spread / MIN_BANDS:
            return
        yield width
        width = next(
            (
                each
                for each in ROUND_WIDTHS
                if _is_multiple(each, width) and each <= spread / MIN_BANDS
            ),
            2 * width,
        )


def _is_multiple(width: float, other: float) -> bool:
    times = width / other
    return times > 1.5 and abs(times - round(times)) < 1e-6  # noqa: PLR2004 - more than itself


def _prefixes(facts: Facts) -> Iterator[Step]:
    lengths = range(facts.longest - 1, 0, -1)
    distance = max(1, ceil(len(lengths) / MAX_STEPS))
    yield from (Prefix(length) for length in lengths[::distance])


def _common_values(facts: Facts) -> Iterator[Step]:
    """Keep fewer values at each step, and at least one: keeping none is leaving the column out."""
    steps = [
        keep_common(facts, max(MIN_RECORDS_OF_A_VALUE, share * facts.records))
        for share in COMMON_SHARES
    ]
    first = Common(tuple(value for value, _ in facts.frequent))
    for before, step in pairwise((first, *steps)):
        if step.kept and len(step.kept) < len(before.kept):
            yield step


def merging_steps(values: Sequence[int]) -> list[int]:
    """Places of the steps that leave fewer values than the one before; `values` has those of level 0 first.

    >>> merging_steps([80, 80, 9])
    [1]
    """
    return [at for at, (before, after) in enumerate(pairwise(values)) if after < before]


@dataclass(frozen=True)
class Rare:
    """Values of fewer records together: which they are hangs on the table."""

    least: float


@dataclass(frozen=True)
class WrittenHierarchy:
    """A hierarchy as it is written, before the table is known.

    `values` are those that a file has: the column may have no others.
    """

    column: str
    steps: tuple[Step | Rare, ...]
    values: frozenset[str] | None = None

    def of(self, facts: Facts) -> Hierarchy:
        """Return the hierarchy for the table."""
        steps = [
            keep_common(facts, step.least) if isinstance(step, Rare) else step
            for step in self.steps
        ]
        return make_hierarchy(self.column, steps).with_bands(whole=facts.whole)


# Classifications whose codes begin with those of the coarser class, and ages and dates.
STANDARD: Final[Mapping[str, tuple[Step, ...]]] = {
    "age": (Bands(5, above=90), Bands(10, above=90), Bands(20, above=80)),
    "date": tuple(DatePart(part) for part in DATE_PARTS),
    "postcode": tuple(Prefix(length) for length in (4, 3, 2, 1)),
    "isco": tuple(Prefix(length) for length in (3, 2, 1)),  # ISCO-08: minor, sub-major, major group
    "nace": tuple(Prefix(length) for length in (4, 3, 2)),  # 62.01 or 6201: group, division
    "icd10": (Prefix(3), Prefix(1)),  # E11.9: category, letter of the chapter
}
STANDARD_NAME: Final = Choice(tuple(STANDARD))


def read_hierarchy(place: Place, column: str, folder: Path) -> WrittenHierarchy:
    """Read the steps at the column's name, a standard hierarchy, or the file of one, seen from the folder.

    Leaving the column out is added as the last step.
    """
    if not isinstance(place.values[column], Mapping):
        written: list[Step | Rare] = []
        for each in place.tables(column):
            written.append(_read_step(each, written))
        return WrittenHierarchy(column, tuple(written))
    named = place.table(column)
    if "standard" in named.values:
        named.only(("standard",))
        name = STANDARD_NAME.check(named.at("standard"), named.text("standard"))
        return WrittenHierarchy(column, STANDARD[name])
    if "arx" not in named.values:
        got = ", ".join(named.values) or "none"
        raise OutOfDomainError(
            f'{named.where} must be a list of steps, a standard hierarchy or a file of ARX, got {got}; write it like {{ arx = "age.csv" }}'
        )
    named.only(("arx", "separator"))
    separator = SEPARATOR.check(named.at("separator"), named.text("separator", ";"))
    steps, values = read_arx(named.at("arx"), folder / named.text("arx"), separator)
    return WrittenHierarchy(column, steps, values)


def _read_step(place: Place, before: Sequence[Step | Rare]) -> Step | Rare:
    kind = next((kind for kind in KINDS if kind in place.values), None)
    if kind is None:
        got = ", ".join(place.values) or "none"
        raise OutOfDomainError(
            f"{place.where} must be a step of one of the kinds {', '.join(KINDS)}, got {got}; write it like {{ bands = 5 }}"
        )
    place.only((kind, *KINDS[kind]))
    if kind == "date":
        form = place.text("form") if "form" in place.values else None
        return DatePart(PART.check(place.at("date"), place.text("date")), form)
    if kind == "prefix":
        return Prefix(int(place.number("prefix", LENGTH)))
    if kind == "rare":
        return Rare(place.number("rare", RARE_BELOW))
    return _read_groups(place, before) if kind == "groups" else _read_bands(place)


def _read_bands(place: Place) -> Bands:
    width = place.number("bands", WIDTH) if "bands" in place.values else None
    ends = {key: place.number(key, END) for key in ("below", "above") if key in place.values}
    for key, end in ends.items():
        if width is not None and abs(end / width - round(end / width)) > 1e-9:  # noqa: PLR2004 - rounding
            raise OutOfDomainError(
                f"{place.at(key)} must be a multiple of the width of the bands, {shown(width)}, got {shown(end)}; write another end"
            )
    if len(ends) > 1 and ends["below"] > ends["above"]:
        raise OutOfDomainError(
            f"{place.at('below')} must not be above {shown(ends['above'])}, where the upper end begins, got {shown(ends['below'])}; write a lower one"
        )
    return Bands(width, ends.get("below"), ends.get("above"))


def _read_groups(place: Place, before: Sequence[Step | Rare]) -> Grouped:
    """Read groups; their members are values, or groups of the step before, whose members then they hold."""
    groups = place.table("groups")
    grouped = before[-1].pairs if before and isinstance(before[-1], Grouped) else ()
    pairs: dict[str, str] = {}
    for group in groups.values:
        for member in groups.texts(group):
            for value in [value for value, of in grouped if of == member] or [member]:
                if value in pairs:
                    raise OutOfDomainError(
                        f"{groups.where} must contain each value once, got '{value}' twice; leave it in one group"
                    )
                pairs[value] = group
    if not pairs:
        raise OutOfDomainError(
            f'{groups.where} must contain at least one group with a value, got none; write it like groups = {{ Europe = ["DE", "FR"] }}'
        )
    return Grouped((*pairs.items(), *((value, of) for value, of in grouped if value not in pairs)))


# Hierarchies of ARX: a CSV file with a row for each value, and a column for each level.
#
# The first column has the value, the next ones what it becomes. ARX separates columns by semicolons. No
# message contains a value of the file.


SEPARATOR: Final = Choice((";", ",", "|", "\t"))
MIN_COLUMNS: Final = 2


def read_arx(where: str, path: Path, separator: str) -> tuple[tuple[Grouped, ...], frozenset[str]]:
    """Read the levels, without a last one that is `*` for all, and the values that the file has."""
    if not path.is_file():
        near = [other.name for other in path.parent.glob("*.csv") if other.is_file()]
        raise UnknownNameError(
            f"{where} must be an existing file, got '{path.name}'; {suggestion(path.name, near, 'files beside it')}"
        )
    rows = _read_rows(where, path, separator)
    if not rows or len(rows[0]) < MIN_COLUMNS:
        raise OutOfDomainError(
            f"{where} must have a column of values and one for each level, got '{path.name}' with fewer than {MIN_COLUMNS} columns; name the separator"
        )
    for line, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise OutOfDomainError(
                f"{where} must have equally many columns in each row, got {len(row)} in row {line} of '{path.name}' and {len(rows[0])} in row 1; complete the row"
            )
    levels = list(zip(*rows, strict=True))
    _refuse_inconsistent(where, path, levels)
    values, coarser = levels[0], levels[1:]
    if set(coarser[-1]) == {ALL}:
        coarser = coarser[:-1]
    steps = tuple(Grouped(tuple(zip(values, level, strict=True))) for level in coarser)
    return steps, frozenset(values)


def _read_rows(where: str, path: Path, separator: str) -> list[list[str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return [row for row in csv.reader(file, delimiter=separator, strict=True) if row]
    except UnicodeDecodeError:
        raise OutOfDomainError(
            f"{where} must be a file in UTF-8, got '{path.name}' with a byte that is not; save it in UTF-8"
        ) from None
    except csv.Error:
        raise OutOfDomainError(
            f"{where} must be a file of CSV, got '{path.name}' with a quote that does not end; correct the quotes"
        ) from None


def _refuse_inconsistent(where: str, path: Path, levels: Sequence[Sequence[str]]) -> None:
    """Refuse a value that is there twice, and a label of which a later level splits the values."""
    first: dict[str, int] = {}
    for line, value in enumerate(levels[0], 1):
        if value in first:
            raise OutOfDomainError(
                f"{where} must have each value once, got one in the rows {first[value]} and {line} of '{path.name}'; remove one of the rows"
            )
        first[value] = line
    for level in range(1, len(levels) - 1):
        above: dict[str, tuple[str, int]] = {}
        for line, (label, coarser) in enumerate(
            zip(levels[level], levels[level + 1], strict=True), 1
        ):
            expected, earlier = above.setdefault(label, (coarser, line))
            if expected != coarser:
                raise OutOfDomainError(
                    f"{where} must merge values at each level, got level {level + 1} of '{path.name}', which splits those of rows {earlier} and {line}; correct one of them"
                )
