"""Ibis: groups of a table, by the values of columns, each counted for itself in one pass."""

from collections.abc import Sequence
from dataclasses import dataclass

import ibis
import ibis.expr.datatypes as dt
from ibis.expr.types import Table

from reid_sql.engines.ibis.alike import shown
from reid_sql.engines.ibis.frames import (
    WHOLE,
    missing,
    nobody,
    number_of,
    numbered,
    places,
    resolved,
    summed,
    unasked,
    whole,
    windowed,
)
from reid_sql.engines.ibis.people import WORDS
from reid_sql.errors import UnavailableError
from reid_sql.parameters import QUASI_IDENTIFIERS
from reid_sql.reduction import DIVIDING, group_names, refuse_entity, refuse_groups


@dataclass(frozen=True)
class Counted:
    """The distinct rows with their counts, columns under numbers, people as `entity`."""

    rows: Table
    names: Sequence[str]  # of the columns
    groups: Sequence[str]
    by: Sequence[str]  # the groups' own names
    nulls: str

    @property
    def kept(self) -> Table:
        """The rows that are counted."""
        return self.rows.filter(~missing(self.rows, self.names)) if self.nulls == "drop" else self.rows

    def told(self, sized: Table) -> Table:
        """What was counted of each group, all groups there, with how many records were dropped of each.

        Both stand under one another and are told apart by windows: a join would have to be NULL-safe.
        """
        lacks = missing(self.rows, self.names) if self.nulls == "drop" else ibis.literal(value=False)
        left_out = self.rows.group_by(list(self.groups)).agg(
            left_out=summed(lacks.ifelse(self.rows["records"], nobody()))
        )
        empty = left_out.select(
            *self.groups, "left_out", class_size=ibis.null(WHOLE), classes=nobody(), records=nobody()
        )
        counts = sized.select(*self.groups, "class_size", "classes", "records", left_out=nobody())
        both = ibis.union(empty.select(counts.columns), counts)
        groups = windowed(both, self.groups)
        marked = both.mutate(
            records_dropped=whole(both["left_out"].sum().over(group_by=groups)),
            sizes=both["class_size"].count().over(group_by=groups),
        )
        every = marked.filter(marked["class_size"].notnull() | (marked["sizes"] == 0))
        told = group_names(self.by)
        own = {name: shown(every[group]) for group, name in zip(self.groups, told, strict=True)}
        return every.select(
            **own,
            class_size=every["class_size"],
            classes=every["classes"],
            records=every["records"],
            blank_records=unasked(),
            records_dropped=every["records_dropped"],
            nulls=ibis.literal(self.nulls, dt.string),
        )


def counted_by_group(
    tbl: Table, qi: Sequence[str], by: Sequence[str], entity: str | None, nulls: str
) -> Counted:
    """Count the rows by the columns and the groups, and by people where a column tells them apart."""
    refuse_entity(qi, entity, nulls)
    refuse_groups(nulls)
    asked = [*qi, entity] if entity is not None else list(qi)
    resolved(QUASI_IDENTIFIERS if entity is None else WORDS, asked, tbl)
    every = [*qi, *resolved(DIVIDING, by, tbl), *asked[len(qi) :]]
    names, rows = places(every), numbered(tbl, every)
    if entity is not None:
        rows, names[-1] = rows.rename(entity=names[-1]), "entity"
    groups = names[len(qi) : len(qi) + len(by)]
    return Counted(number_of(rows, names, "records"), names[: len(qi)], groups, by, nulls)


def refuse_by(by: Sequence[str] | None) -> None:
    """Refuse groups where the histogram of classes does not answer."""
    if by is not None:
        raise UnavailableError(
            f"by on Ibis must be asked of functions of the class-size histogram, got {list(by)} for another; "
            "ask about each group in a filtered table, or ask DuckDB"
        )
