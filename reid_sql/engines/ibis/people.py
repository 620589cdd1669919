"""Ibis: people in place of rows, where a column tells them apart."""

from collections.abc import Sequence
from typing import Final

import ibis
from ibis.expr.types import BooleanValue, Table

from reid_sql.engines.ibis.frames import (
    collected,
    kept,
    missing,
    number_of,
    numbered,
    over,
    own_names,
    places,
    resolved,
    summed,
    whole,
    windowed,
    with_ones,
)
from reid_sql.parameters import Columns
from reid_sql.reduction import refuse_entity, refuse_one_row_per_person, refuse_several

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
