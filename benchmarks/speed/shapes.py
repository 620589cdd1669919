"""The shapes of the data: which quasi-identifiers, of which type, how often tied."""

from dataclasses import dataclass
from itertools import product
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["integer", "string", "huge"]  # the last: integers, ten times as many rows
Ties: TypeAlias = Literal["unique", "tied"]


@dataclass(frozen=True)
class Column:
    """A quasi-identifier: the codes 0 to values - 1, the skew favours low ones, and DuckDB's words for it."""

    name: str
    values: int
    skew: float
    words: str


# The first three are the classic trio, by which nearly everybody is unique; codes of sex are those of ISO
# 5218.
UNIQUE: Final = (
    Column("date_of_birth", 36_525, 0.8, "(DATE '1925-01-01' + date_of_birth::INTEGER)::VARCHAR"),
    Column("postcode", 6_000, 1.5, "format('{:05d}', postcode)"),
    Column("sex", 2, 1.0, "format('sex {}', sex + 1)"),
    Column("birthplace", 35_000, 2.0, "format('municipality {:05d}', birthplace)"),
    Column("employer", 200_000, 3.0, "format('{:06d} Company Ltd', employer)"),
    Column("occupation", 412, 1.5, "format('occupation {:03d}', occupation)"),
    Column("income", 2_000, 2.0, "format('EUR {}00 a year', income)"),
    Column("height", 90, 1.0, "format('{} cm tall', 120 + height)"),
    Column("weight", 100, 1.2, "format('{} kg heavy', 40 + weight)"),
    Column("household", 8, 2.0, "format('{} persons', 1 + household)"),
)
TIED: Final = (
    Column("sex", 2, 1.0, "format('sex {}', sex + 1)"),
    Column("age_band", 6, 1.0, "format('{} to {} years', 15 * age_band, 15 * age_band + 14)"),
    Column("region", 13, 1.5, "format('region {:02d} of 13', region + 1)"),
    Column(
        "marital_status",
        3,
        1.5,
        "['married or partnered', 'never married', 'divorced/widowed'][marital_status + 1]",
    ),
    Column(
        "employment", 3, 2.0, "['employed', 'not in labour force', 'unemployed'][employment + 1]"
    ),
    Column("education", 3, 1.5, "['secondary', 'university', 'primary'][education + 1]"),
    Column("housing", 2, 1.5, "['owner-occupied', 'rented dwelling'][housing + 1]"),
    Column("urban", 2, 1.5, "['urban', 'rural municipality'][urban + 1]"),
    Column("insurance", 2, 3.0, "['statutory', 'private insurance'][insurance + 1]"),
    Column("birth_country", 2, 3.0, "['born in the country', 'born abroad'][birth_country + 1]"),
)
COLUMNS: Final[dict[str, tuple[Column, ...]]] = {"unique": UNIQUE, "tied": TIED}


@dataclass(frozen=True)
class Shape:
    """The first columns of one of the tables."""

    width: int
    kind: Kind
    ties: Ties

    @property
    def table(self) -> str:
        return f"{self.kind}_{self.ties}"

    @property
    def columns(self) -> list[str]:
        return [column.name for column in COLUMNS[self.ties][: self.width]]

    @property
    def words(self) -> str:
        return f"{self.width} {self.kind}, {'nearly all unique' if self.ties == 'unique' else 'heavily tied'}"


KINDS: Final[tuple[Kind, ...]] = ("integer", "string")
TIES: Final[tuple[Ties, ...]] = ("unique", "tied")
SHAPES: Final = tuple(
    Shape(width, kind, ties) for kind, width, ties in product(KINDS, (3, 10), TIES)
)
