"""Random tables, and their matches within a tolerance by comparing all pairs of rows."""

import calendar
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import duckdb

Row = tuple[Any, ...]
Same = Callable[[Any, Any], bool]


def later(day: date, months: int) -> date:
    """The day so many months later, the last of its month if that is shorter."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def number(value: Any) -> Fraction:
    """The decimal that the value is written as."""
    return Fraction(Decimal(repr(value) if isinstance(value, float) else value))


def differ_by(most: str) -> Same:
    limit = Fraction(most)
    return lambda a, b: abs(number(a) - number(b)) <= limit


def differ_by_percent(most: str) -> Same:
    share = Fraction(most) / 100
    return lambda a, b: abs(number(a) - number(b)) <= share * max(abs(number(a)), abs(number(b)))


def differ_by_time(most: timedelta) -> Same:
    return lambda a, b: abs(a - b) <= most


def differ_by_months(most: int) -> Same:
    return lambda a, b: max(a, b) <= later(min(a, b), most)


def differ_by_edit(a: str, b: str) -> bool:
    if len(a) > len(b):
        a, b = b, a
    if len(a) == len(b):
        return sum(one != other for one, other in zip(a, b, strict=True)) <= 1
    return len(b) == len(a) + 1 and any(b[:cut] + b[cut + 1 :] == a for cut in range(len(b)))


@dataclass(frozen=True)
class Kind:
    """A column's type, what its values may differ by, the rule, and how to draw a value."""

    sql: str
    allowance: float | str
    same: Same
    draw: Callable[[random.Random], Any]


DAY, NOON = date(2023, 12, 25), datetime(2024, 2, 28, 12)  # noqa: DTZ001 - no zones
KINDS = [
    Kind("INTEGER", 2, differ_by("2"), lambda r: r.randint(-6, 12)),
    Kind(
        "BIGINT",
        "2.7",
        differ_by("2.7"),
        lambda r: r.choice([2**63 - 1, 2**63 - 3, -(2**63), -(2**63) + 2]),
    ),
    Kind(
        "UTINYINT",
        "25 %",
        differ_by_percent("25"),
        lambda r: r.choice([0, 3, 4, 12, 15, 16, 20, 252, 255]),
    ),
    Kind(
        "SMALLINT",
        "10 %",
        differ_by_percent("10"),
        lambda r: r.choice([-100, -90, -91, -9, 0, 9, 10, 90, 99]),
    ),
    Kind(
        "HUGEINT",
        5,
        differ_by("5"),
        lambda r: r.choice([2**127 - 1, 2**127 - 5, -(2**127) + 1, 0, 5]),
    ),
    Kind(
        "HUGEINT",
        "50 %",
        differ_by_percent("50"),
        lambda r: r.choice([2**127 - 1, 2**126, 2**125, -(2**127) + 1, -(2**126), 1, 2]),
    ),
    Kind("DECIMAL(4,1)", "0.2", differ_by("0.2"), lambda r: Decimal(r.randint(-9, 9)) / 10),
    Kind("DECIMAL(38,38)", "0.1", differ_by("0.1"), lambda r: Decimal(r.randint(-9, 9)) / 10),
    Kind(
        "DECIMAL(9,2)",
        "12.5 %",
        differ_by_percent("12.5"),
        lambda r: Decimal(r.randint(-40, 40)) / 4,
    ),
    Kind("DOUBLE", 1.5, differ_by("1.5"), lambda r: r.randint(-30, 30) / 10),
    Kind("FLOAT", 1, differ_by("1"), lambda r: r.randint(-30, 30) / 10),
    Kind("DOUBLE", 0.1, differ_by("0.1"), lambda r: r.randint(-12, 12) / 10),
    Kind(
        "DOUBLE",
        "5 %",
        differ_by_percent("5"),
        lambda r: r.choice([1.9, 2.0, 1.805, 1.71, 0.0, -1.9, -2.0, 1e308, 0.95e308]),
    ),
    Kind(
        "DATE",
        "3 days",
        differ_by_time(timedelta(days=3)),
        lambda r: DAY + timedelta(r.randint(0, 20)),
    ),
    Kind("DATE", "1 month", differ_by_months(1), lambda r: DAY + timedelta(r.randint(0, 99))),
    Kind(
        "DATE",
        "1 year",
        differ_by_months(12),
        lambda r: r.choice(
            [date(2024, 2, 29), date(2023, 2, 28), date(2025, 2, 28), date(2025, 3, 1)]
        ),
    ),
    Kind(
        "TIMESTAMP",
        "2 hours",
        differ_by_time(timedelta(hours=2)),
        lambda r: NOON + timedelta(minutes=30 * r.randint(0, 20)),
    ),
    Kind(
        "TIMESTAMP_MS",
        "1 week",
        differ_by_time(timedelta(weeks=1)),
        lambda r: NOON + timedelta(days=r.randint(0, 30)),
    ),
    Kind(
        "VARCHAR",
        "1 edit",
        differ_by_edit,
        lambda r: "".join(r.choice("aäb") for _ in range(r.randint(0, 3))),
    ),
]


@dataclass(frozen=True)
class Case:
    """Two tables of the same columns: one of equal values, the tolerant ones, and that of people."""

    kinds: tuple[Kind, ...]
    tables: tuple[list[Row], list[Row]]

    @property
    def columns(self) -> list[str]:
        """The columns that are compared; the first has equal values."""
        return ["sex", *(f"c{place}" for place, _ in enumerate(self.kinds))]

    @property
    def tolerance(self) -> dict[str, float | str]:
        """The parameter."""
        return {f"c{place}": kind.allowance for place, kind in enumerate(self.kinds)}

    def is_match(self, one: Row, other: Row) -> bool:
        """Whether two rows match in every column; NULL, NaN and infinities match only themselves."""
        rules: list[Same] = [lambda a, b: a == b, *(kind.same for kind in self.kinds)]
        return all(
            _agree(a, b, rule) for a, b, rule in zip(one[:-1], other[:-1], rules, strict=True)
        )

    def create(self, con: duckdb.DuckDBPyConnection) -> None:
        """Create the tables s and p."""
        types = ["VARCHAR", *(kind.sql for kind in self.kinds), "INTEGER"]
        listed = ", ".join(f"{c} {t}" for c, t in zip([*self.columns, "pid"], types, strict=True))
        for name, rows in zip("sp", self.tables, strict=True):
            con.execute(f"CREATE OR REPLACE TABLE {name} ({listed})")
            con.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(types))})", rows)


def _agree(a: Any, b: Any, rule: Same) -> bool:
    if a is None or b is None:
        return a is b
    if any(isinstance(each, float) and not math.isfinite(each) for each in (a, b)):
        return a == b or (math.isnan(a) and math.isnan(b))
    return rule(a, b)


def random_case(seed: int, rows: int = 14) -> Case:
    """Draw one or two tolerant columns, and tables with NULL and, among doubles, NaN and infinities."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    kinds = tuple(rng.sample(KINDS, rng.choice([1, 1, 1, 2, 2, 3])))

    def draw(kind: Kind) -> Any:
        if rng.random() < 0.08:
            return None
        if kind.sql in {"DOUBLE", "FLOAT"} and rng.random() < 0.1:
            return rng.choice([math.nan, math.inf, -math.inf])
        return kind.draw(rng)

    def table(size: int) -> list[Row]:
        return [
            (rng.choice(["F", "M", None]), *map(draw, kinds), rng.randint(1, size))
            for _ in range(size)
        ]

    return Case(kinds, (table(rng.randint(1, rows)), table(rng.randint(1, rows))))


def sizes(case: Case, rows: Sequence[Row], others: Sequence[Row], *, of_people: bool) -> list[int]:
    """How many of the others, or of their people, each row matches."""
    matches = [[other for other in others if case.is_match(row, other)] for row in rows]
    return [len({other[-1] for other in found}) if of_people else len(found) for found in matches]
