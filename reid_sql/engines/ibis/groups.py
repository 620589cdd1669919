"""Ibis: groups of a table, and people in place of rows, each counted by the warehouse."""

from dataclasses import dataclass
from typing import Final

import ibis
import ibis.expr.datatypes as dt
from ibis.expr.types import BooleanValue, Table

from reid_sql.engines.ibis.frames import (
    WHOLE,
    aliases,
    bigint,
    check_columns,
    count_by,
    drop_nulls,
    has_null,
    null_count,
    sum_bigint,
    window_keys,
    with_aliases,
    zero,
)
from reid_sql.parameters import QUASI_IDENTIFIERS, ColumnNames, Columns
from reid_sql.reduction import DIVIDING, group_names, refuse_entity, refuse_groups

QI_AND_ENTITY: Final = Columns("quasi-identifiers and entity")


def people_of(frame: Table, qi: ColumnNames, entity: str, nulls: str) -> tuple[Table, Table]:
    """The rows as q1, q2, …, and the people of each class, with the records of each there."""
    refuse_entity(qi, entity, nulls)
    names = aliases([*qi, entity])
    rows = with_aliases(frame, check_columns(QI_AND_ENTITY, [*qi, entity], frame)).rename(
        entity=names[-1]
    )
    return rows, count_by(drop_nulls(rows, names[:-1], nulls), [*names[:-1], "entity"], "records")


def sizes_of(people: Table, names: ColumnNames) -> Table:
    """How many people each class has, and how many records."""
    grouped = people.group_by(list(names))
    return grouped.agg(class_size=bigint(people.count()), records=sum_bigint(people["records"]))


def smallest_class_sizes(people: Table, short: BooleanValue) -> Table:
    """How many people have each size of their smallest class, and how many of them are uncovered."""
    marked = people.select("entity", "class_size", short=short.ifelse(1, 0))
    each = marked.group_by("entity").agg(
        class_size=marked["class_size"].min(), short=marked["short"].max()
    )
    grouped = each.group_by("class_size")
    return grouped.agg(records=bigint(each.count()), uncovered=sum_bigint(each["short"]))


# Groups, by the values of columns


@dataclass(frozen=True)
class GroupCounts:
    """The distinct rows with their counts, columns as q1, q2, …, people as `entity`."""

    rows: Table
    names: ColumnNames  # of the columns
    groups: ColumnNames
    by: ColumnNames  # the groups' original names
    nulls: str

    @property
    def taken(self) -> Table:
        """The rows that are counted."""
        return (
            self.rows.filter(~has_null(self.rows, self.names))
            if self.nulls == "drop"
            else self.rows
        )

    def report(self, sized: Table) -> Table:
        """Report the counts of each group, all groups included, with the records dropped of each.

        The groups' values are as they are compared, so that two that are written alike are two.
        """
        counts = (
            sized.mutate(records_dropped=zero())
            if self.nulls != "drop"
            else self._with_dropped(sized)
        )
        originals = group_names(self.by)
        named = {name: counts[group] for group, name in zip(self.groups, originals, strict=True)}
        return counts.select(
            **named,
            class_size=counts["class_size"],
            classes=counts["classes"],
            records=counts["records"],
            blank_records=null_count(),
            records_dropped=counts["records_dropped"],
            nulls=ibis.literal(self.nulls, dt.string),
        )

    def _with_dropped(self, sized: Table) -> Table:
        """Add the groups of which nothing is counted, and what was dropped of each.

        A window over the union of both, since a join would have to be NULL-safe.
        """
        lacks = has_null(self.rows, self.names)
        left_out = self.rows.group_by(list(self.groups)).agg(
            left_out=sum_bigint(lacks.ifelse(self.rows["records"], zero()))
        )
        empty = left_out.select(
            *self.groups, "left_out", class_size=ibis.null(WHOLE), classes=zero(), records=zero()
        )
        counts = sized.select(*self.groups, "class_size", "classes", "records", left_out=zero())
        both = ibis.union(empty.select(counts.columns), counts)
        groups = window_keys(both, self.groups)
        marked = both.mutate(
            records_dropped=bigint(both["left_out"].sum().over(group_by=groups)),
            sizes=both["class_size"].count().over(group_by=groups),
        )
        return marked.filter(marked["class_size"].notnull() | (marked["sizes"] == 0))


def count_by_group(
    tbl: Table, qi: ColumnNames, by: ColumnNames, entity: str | None, nulls: str
) -> GroupCounts:
    """Count the rows by the columns and the groups, and by people where a column identifies them."""
    refuse_groups(nulls)
    refuse_entity(qi, entity, nulls)
    named = [*qi, entity] if entity is not None else list(qi)
    check_columns(QUASI_IDENTIFIERS if entity is None else QI_AND_ENTITY, named, tbl)
    columns_read = [*qi, *check_columns(DIVIDING, by, tbl), *named[len(qi) :]]
    names, rows = aliases(columns_read), with_aliases(tbl, columns_read)
    if entity is not None:
        rows, names[-1] = rows.rename(entity=names[-1]), "entity"
    groups = names[len(qi) : len(qi) + len(by)]
    return GroupCounts(count_by(rows, names, "records"), names[: len(qi)], groups, by, nulls)
