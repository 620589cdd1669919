"""A form of a table: each column at a level, and the classes that are taken away, as one query."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from reid_sql.domains import quoted, sql_text
from reid_sql.ladders.ladder import Ladder
from reid_sql.ladders.step import ALL
from reid_sql.models.release.lattice import Node

SMALL: Final = "reid_small"
RESCUED: Final = "reid_rescued"


@dataclass(frozen=True)
class Form:
    """The ladders of the quasi-identifiers with their levels, and the size below which classes go."""

    ladders: tuple[Ladder, ...]
    node: Node
    cut: int
    stages: tuple[tuple[str, ...], ...] = ()  # columns that become blank in records of small classes

    @property
    def names(self) -> list[str]:
        """The quasi-identifiers."""
        return [each.column for each in self.ladders]

    @property
    def levels(self) -> dict[str, tuple[Ladder, int]]:
        """The ladder and the level of each column."""
        return {each.column: (each, level) for each, level in zip(self.ladders, self.node, strict=True)}

    def columns(self, names: Sequence[str]) -> list[str]:
        """Spell each column as it stands in the release, under its own name."""
        return [self._column(name) for name in names]

    def _column(self, name: str) -> str:
        """Spell a column; one that becomes blank in some records is text."""
        ladder, level = self.levels.get(name, (None, 0))
        if ladder is not None and level:
            return f"{ladder.sql(level)} AS {quoted(name)}"
        blanked = any(name in stage for stage in self.stages)
        return f"CAST({quoted(name)} AS VARCHAR) AS {quoted(name)}" if blanked else quoted(name)

    def select(self, names: Sequence[str], source: str) -> str:
        """Spell the release as a query on the source: no record is listed, classes are counted where it runs.

        Records of a class below the cut are left out as rows, so that no class of blanks is formed by them.
        """
        listed = ",\n    ".join(self.columns(names))
        inner = f"SELECT\n    {listed}\n  FROM {source}"
        if self.cut <= 1:
            return inner
        outer = f"SELECT {', '.join(quoted(name) for name in names)}"
        kept = f"QUALIFY count(*) OVER (PARTITION BY {_listed(self.names)}) >= {self.cut}"
        if not self.stages:
            return f"{outer}\nFROM (\n  {inner}\n)\n{kept}"
        steps = [f"reid_form_0 AS (\n  {inner}\n)"]
        steps += [self._stage(number, stage) for number, stage in enumerate(self.stages, 1)]
        forms = ",\n".join(steps)
        return f"WITH {forms}\n{outer}\nFROM reid_form_{len(self.stages)}\n{kept}"

    def _stage(self, number: int, stage: Sequence[str]) -> str:
        """Blank the columns in records of small classes that are then alike with enough others of them."""
        others = _listed([SMALL, *(name for name in self.names if name not in stage)])
        told = f"count(*) OVER (PARTITION BY {_listed(self.names)}) < {self.cut} AS {SMALL}"
        small = f"SELECT *, {told} FROM reid_form_{number - 1}"
        rescued = f"{SMALL} AND count(*) OVER (PARTITION BY {others}) >= {self.cut} AS {RESCUED}"
        blank = ", ".join(
            f"CASE WHEN {RESCUED} THEN {sql_text(ALL)} ELSE {quoted(name)} END AS {quoted(name)}"
            for name in stage
        )
        away = f"* EXCLUDE ({SMALL}, {RESCUED}) REPLACE ({blank})"
        return f"reid_form_{number} AS (\n  SELECT {away}\n  FROM (SELECT *, {rescued} FROM ({small}))\n)"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(quoted(name) for name in names)
