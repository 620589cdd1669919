"""Ibis: groups of a table, and people in place of rows, each counted by the warehouse."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import ibis
import ibis.expr.datatypes as dt
from ibis.expr.types import BooleanValue, Table

from reid_sql.engines.ibis.alike import shown
from reid_sql.engines.ibis.frames import (
    WHOLE,
    collected,
    kept,
    missing,
    nobody,
    number_of,
    numbered,
    over,
    own_names,
    places,
    resolved,
    summed,
    unasked,
    whole,
    windowed,
    with_ones,
)
from reid_sql.errors import UnavailableError
from reid_sql.parameters import QUASI_IDENTIFIERS, Columns
from reid_sql.reduction import (
    DIVIDING,
    group_names,
    refuse_entity,
    refuse_groups,
    refuse_one_row_per_person,
    refuse_several,
)

WORDS: Final = Columns("quasi-identifiers and entity")
BESIDE: Final = Columns("columns and entity")
VALUES: Final = Columns("quasi-identifiers, sensitive and entity")


def people_of(
    frame: Table, qi: Sequence[str], entity: str, nulls: str, words: Columns = WORDS
) -> tuple[Table, Table]:
    """The rows under numbers, and the people of each class, NULL one, with the records of each there."""
    refuse_entity(qi, entity, nulls)
    names = places([*qi, entity])
    rows = numbered(frame, resolved(words, [*qi, entity], frame)).rename(entity=names[-1])
    return rows, number_of(kept(rows, names[:-1], nulls), [*names[:-1], "entity"], "records")


def sizes_of(people: Table, names: Sequence[str]) -> Table:
    """How many people each class has, and how many records."""
    grouped = people.group_by(list(names))
    return grouped.agg(class_size=whole(people.count()), records=summed(people["records"]))


def individuals(frame: Table, qi: Sequence[str], entity: str, nulls: str) -> Table:
    """A row a person, NULL one of them: the values of their smallest class, of several the first in order."""
    refuse_one_row_per_person(qi, entity, nulls)
    _, people = people_of(frame, qi, entity, nulls)
    names, ones = places(qi), with_ones(people)
    sized = ones.mutate(class_size=over(ones, names))
    order = [sized["class_size"], *(sized[name].asc(nulls_first=True) for name in names)]
    ranked = sized.mutate(place=ibis.row_number().over(group_by=windowed(sized, ["entity"]), order_by=order))
    first = ranked.filter(ranked["place"] == 0)
    return first.select(**own_names(first, qi))


def values_of_people(frame: Table, qi: Sequence[str], sensitive: str, entity: str, nulls: str) -> Table:
    """A row for each person and their value in a class, NULL one person; refuses those of several there."""
    columns = [*qi, sensitive]
    refuse_entity(columns, entity, nulls)
    names = places([*columns, entity])
    distinct = numbered(frame, resolved(VALUES, [*columns, entity], frame)).distinct()
    held = distinct.filter(~missing(distinct, names[:-1])) if nulls == "drop" else distinct
    several = number_of(held, [*names[:-2], names[-1]], "several")
    found = several.filter(several["several"] > 1).limit(1).select("several")
    refuse_several(collected(found, "people of several values").num_rows)
    return distinct.select(**own_names(distinct, columns))


def smallest(people: Table, short: BooleanValue) -> Table:
    """How many people have each size of their smallest class, and how many of them are uncovered."""
    told = people.select("entity", "class_size", short=short.ifelse(1, 0))
    each = told.group_by("entity").agg(class_size=told["class_size"].min(), short=told["short"].max())
    grouped = each.group_by("class_size")
    return grouped.agg(records=whole(each.count()), uncovered=summed(each["short"]))


# Groups, by the values of columns


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
