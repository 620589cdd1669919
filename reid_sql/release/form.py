"""A form of a table: each column at a level, and the classes that are taken away, as one query."""

from collections.abc import Sequence
from dataclasses import dataclass

from reid_sql.domains import quoted
from reid_sql.ladders.ladder import Ladder
from reid_sql.models.release.lattice import Node


@dataclass(frozen=True)
class Form:
    """The ladders of the quasi-identifiers with their levels, and the size below which classes go."""

    ladders: tuple[Ladder, ...]
    node: Node
    cut: int

    @property
    def levels(self) -> dict[str, tuple[Ladder, int]]:
        """The ladder and the level of each column."""
        return {each.column: (each, level) for each, level in zip(self.ladders, self.node, strict=True)}

    def columns(self, names: Sequence[str]) -> list[str]:
        """Spell each column as it stands in the release, under its own name."""
        levels = self.levels
        return [
            f"{levels[name][0].sql(levels[name][1])} AS {quoted(name)}"
            if name in levels and levels[name][1]
            else quoted(name)
            for name in names
        ]

    def select(self, names: Sequence[str], source: str) -> str:
        """Spell the release as a query on the source: no record is listed, classes are counted where it runs.

        Records of a class below the cut are left out as rows, so that no class of blanks is formed by them.
        """
        listed = ",\n    ".join(self.columns(names))
        inner = f"SELECT\n    {listed}\n  FROM {source}"
        if self.cut <= 1:
            return inner
        classes = ", ".join(quoted(each.column) for each in self.ladders)
        outer = f"SELECT {', '.join(quoted(name) for name in names)}"
        return f"{outer}\nFROM (\n  {inner}\n)\nQUALIFY count(*) OVER (PARTITION BY {classes}) >= {self.cut}"
