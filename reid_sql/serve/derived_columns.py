"""Columns that a statement computes from one column: bands of ages, the month of a day, a condition.

The cells of a table by age are many, and one that is hidden hides each sum that it is part of. So `age >= 60`
and `age // 10` are counted as columns of their own. The record links them, as anybody knows which ages are in
which band.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from reid_sql.parameters import quoted
from reid_sql.serve.bands import count_bands, has_casts, is_choice, is_condition, is_plain
from reid_sql.serve.catalogue import ServedColumn
from reid_sql.serve.filters import Filter, conjuncts
from reid_sql.serve.tree import Node, columns_in, replaced, spliced

RELATION: Final = "reid_derived"  # the table with them, for one question
DIGITS: Final = 32  # of a digest: fewer could be those of two expressions that somebody looks for


@dataclass(frozen=True)
class DerivedColumn:
    """An expression of one column, under a name without its constants, which may be values.

    `bands` are how many groups it lists, which must all have people; 0 where it lists none.
    """

    base: str
    expression: str
    bands: int = 0

    @property
    def name(self) -> str:
        """Name the column; the names of two expressions differ without regard to case, too."""
        return f"{self.base} {sha256(self.expression.encode()).hexdigest()[:DIGITS]}"


@dataclass(frozen=True)
class Derivation:
    """Puts derived columns in place of the expressions of a statement.

    `columns` are those of the table; `parse` reads SQL as a tree, `write` writes a tree, `compute` computes
    constants.
    """

    columns: Mapping[str, ServedColumn]
    parse: Callable[[str], Node]
    write: Callable[[Node], str]
    compute: Callable[[Sequence[Node]], Sequence[Any]]
    derived: dict[str, DerivedColumn] = field(default_factory=dict)  # by their names

    def derive(self, groups: Sequence[Node], where: Node | None) -> tuple[list[Node], Node | None]:
        """Return groups and a filter of columns; a filter that lists values of a column keeps it."""
        groups = [self._as_group(each) for each in groups]
        plain = {each["column_names"][0] for each in groups if each["type"] == "COLUMN_REF"}
        kept: list[Node] = []
        of_column: dict[str, list[Node]] = {}
        for part in conjuncts(where):
            names = columns_in(part)
            if len(names) != 1 or names[0] in plain:
                kept.append(part)
            else:
                of_column.setdefault(names[0], []).append(part)
        named = Filter(self.columns, self.compute)
        for column, parts in of_column.items():
            is_listed = named.list_values(column, parts) is not None
            kept += parts if is_listed else self._as_conditions(parts)
        return groups, self._all_of(kept) if kept else None

    def _all_of(self, parts: Sequence[Node]) -> Node:
        both = self.parse("SELECT 1 WHERE true AND true")["where_clause"]
        return {**both, "children": [*parts]} if len(parts) > 1 else parts[0]

    def _as_conditions(self, parts: Sequence[Node]) -> list[Node]:
        """Return a condition on the column that says whether all hold, where it may be computed."""
        whole = self._all_of(parts)
        if whole["type"] == "COLUMN_REF" or not is_plain(whole) or not is_condition(whole):
            return [*parts]
        # as WHERE does, for NULL and what fails
        bands = count_bands(whole, self.compute) or 0
        holds = self._add(whole, "coalesce(TRY({}), false)", bands)
        condition = self.parse("SELECT 1 WHERE reid_holds = true")["where_clause"]
        return [spliced(condition, {"reid_holds": holds})]

    def _as_group(self, part: Node) -> Node:
        """Return the column that an expression computes; itself where it is one, of several, or no band.

        What fails for a value, or is NULL for it, is no group of its own, which nobody would have to be in:
        a condition does not hold for it, and CASE has its ELSE.
        """
        if part["type"] == "COLUMN_REF" or len(columns_in(part)) != 1 or not is_plain(part):
            return part
        [base] = columns_in(part)
        bands = count_bands(part, self.compute)
        # a cast of texts tells those that are numbers or dates from all others
        if bands is None or (not bands and has_casts(part) and self._is_text(base)):
            return part
        template = "TRY({})"
        if is_choice(part):
            template = f"coalesce(TRY([{{}}]), [{self.write(part['else_expr'])}])[1]"
        elif bands:
            template = f"coalesce(TRY({{}}), CASE WHEN {quoted(base)} IS NOT NULL THEN false END)"
        return self._add(part, template, bands)

    def _add(self, part: Node, template: str, bands: int) -> Node:
        """Add the column that an expression computes; returns it as a part of a statement."""
        # once, as a name or a constant may have braces
        written = self.write({**self._as_texts(part), "alias": ""})
        expression = template.replace("{}", written, 1)
        [base] = columns_in(part)
        column = DerivedColumn(base, expression, bands)
        self.derived[column.name] = column
        node = self.parse(f"SELECT {quoted(column.name)}")["select_list"][0]
        return {**node, "alias": part.get("alias", "")}

    def _is_text(self, column: str) -> bool:
        return self.columns[column].type == "VARCHAR"

    def _as_texts(self, part: Node) -> Node:
        """Read a column as text where it is served as text: what an ENUM lists is not shown."""
        cast = self.parse("SELECT CAST(reid_text AS VARCHAR)")["select_list"][0]

        def as_text(each: Node) -> Node | None:
            if each.get("type") != "COLUMN_REF":
                return None
            is_text = self._is_text(each["column_names"][0])
            return spliced(cast, {"reid_text": each}) if is_text else each

        text: Node = replaced(part, as_text)
        return text


def name_bases(names: Iterable[str], derived: Iterable[DerivedColumn]) -> list[str]:
    """Name the columns that derived ones are computed from in their place, each once."""
    bases = {each.name: each.base for each in derived}
    return list(dict.fromkeys(bases.get(name, name) for name in names))


def add_derived(table: str, derived: Iterable[DerivedColumn]) -> str:
    """Write a table with derived columns; one whose expression fails for a value has NULL there.

    >>> add_derived("t", [])
    't'
    """
    # an error would tell that somebody has the value
    added = [f"{each.expression} AS {quoted(each.name)}" for each in derived]
    return f"(SELECT *, {', '.join(added)} FROM {table})" if added else table
