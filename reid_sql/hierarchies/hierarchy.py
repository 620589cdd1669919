"""A hierarchy: the coarser forms of a column, each of which merges values of the one before."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reid_sql.hierarchies.step import Drop, Step, expression
from reid_sql.parameters import quoted

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Hierarchy:
    """A column and its steps; level 0 is the column as it is, level 1 the first step, the last leaves it out.

    >>> from reid_sql.hierarchies.step import Bands
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

    def words(self, level: int) -> str:
        """What is done at the level, in words."""
        return f"{self.column} {self.steps[level - 1].words if level else 'as it is'}"

    def sql(self, level: int, value: str | None = None) -> str:
        """Spell the column at the level in SQL; `value` is how it is spelled itself, unless by its name."""
        spelled = quoted(self.column) if value is None else value
        return self.steps[level - 1].sql(spelled) if level else spelled

    def polars(self, level: int) -> "pl.Expr":
        """Give the column at the level as a Polars expression."""
        import polars as pl  # noqa: PLC0415 - SQL alone needs none

        return expression(self.steps[level - 1], self.column) if level else pl.col(self.column)

    def python(self, level: int) -> str:
        """Spell the Polars expression as Python."""
        column = f"pl.col({self.column!r})"
        return f"({self.steps[level - 1].polars(column)}).alias({self.column!r})" if level else column


def hierarchy(column: str, steps: Sequence[Step]) -> Hierarchy:
    """Make a hierarchy that ends with leaving the column out."""
    ended = bool(steps) and isinstance(steps[-1], Drop)
    return Hierarchy(column, (*steps, *(() if ended else (Drop(),))))
