"""Ibis: the classes, the size of each record's, and how many have each size."""

from collections.abc import Sequence

import ibis
import pyarrow as pa
from ibis.expr.types import Table

from reid_sql.engines.ibis import wildcard
from reid_sql.engines.ibis.alike import compared
from reid_sql.engines.ibis.frames import (
    all_missing,
    counted,
    framed,
    nobody,
    null_report,
    number_of,
    numbered,
    over,
    own_names,
    places,
    resolved,
    scattered,
    summed,
    unasked,
    whole,
    windowed,
    with_ones,
)
from reid_sql.engines.ibis.groups import WORDS, Counted, counted_by_group, people_of, sizes_of, smallest
from reid_sql.parameters import QUASI_IDENTIFIERS
from reid_sql.reduction import refuse_entity, refuse_result_names


def class_size(tbl: Table, columns: Sequence[str], name: str, entity: str | None = None) -> Table:
    """Put beside each record how many records, or people, share its values."""
    given = list(columns)
    asked = [*given, entity] if entity is not None else given
    refuse_entity(given, entity, "value")
    found = resolved(QUASI_IDENTIFIERS if entity is None else WORDS, asked, tbl)
    own = [compared(each) for each in windowed(tbl, found[: len(given)])]
    keys = [*scattered(tbl, own), *own]
    if entity is None:
        one = _apart("reid_one", tbl)
        ones = with_ones(tbl, one)
        return ones.mutate(**{name: whole(ones[one].count().over(group_by=keys))}).drop(one)
    first = _apart("reid_first", tbl)
    # Each person counts once in a class: where their first record there stands.
    person = [*keys, compared(tbl[found[-1]])]
    place = ibis.row_number().over(group_by=person, order_by=person[-1])
    marked = tbl.mutate(**{first: (place == 0).ifelse(1, 0)})
    return marked.mutate(**{name: whole(whole(marked[first]).sum().over(group_by=keys))}).drop(first)


def _apart(name: str, tbl: Table) -> str:
    """The name, made longer until no column has it."""
    return _apart(f"{name}_", tbl) if name in {other.lower() for other in tbl.columns} else name


def classes(tbl: Table, qi: Sequence[str], nulls: str, entity: str | None = None) -> Table:
    """Distinct combinations of values, with how many records, or people, share each."""
    names = places(qi)
    if entity is None:
        rows = numbered(tbl, resolved(QUASI_IDENTIFIERS, qi, tbl))
        found = _sized(rows, names, nulls)
    else:
        rows, people = people_of(tbl, qi, entity, nulls)
        found = sizes_of(people, names)
    refuse_result_names(qi)
    listed = found.select(**own_names(found, qi), class_size=found["class_size"], records=found["records"])
    return null_report(rows, names, nulls, listed)


def histogram(
    tbl: Table,
    qi: Sequence[str],
    nulls: str,
    entity: str | None = None,
    by: Sequence[str] | None = None,
) -> Table:
    """How many classes, and how many records, or people by their smallest class, have each class size."""
    if by is not None:
        return _of_groups(counted_by_group(tbl, qi, by, entity, nulls), of_people=entity is not None)
    if entity is not None:
        return _of_people(tbl, qi, nulls, entity)
    rows, names = numbered(tbl, resolved(QUASI_IDENTIFIERS, qi, tbl)), places(qi)
    found = _sized(rows, names, nulls)
    blank = all_missing(found, names).ifelse(found["records"], nobody())
    reduced = found.group_by("class_size").agg(
        classes=whole(found.count()),
        records=summed(found["records"]),
        **({"blank_records": summed(blank)} if nulls == "wildcard" else {}),
    )
    told = reduced if nulls == "wildcard" else reduced.mutate(blank_records=unasked())
    return null_report(rows, names, nulls, told)


def _of_people(tbl: Table, qi: Sequence[str], nulls: str, entity: str) -> Table:
    """The sizes of classes and of people's smallest ones stand under one another, and are added up."""
    rows, people = people_of(tbl, qi, entity, nulls)
    names, ones = places(qi), with_ones(people)
    of_classes = number_of(number_of(people, names, "class_size"), ["class_size"], "classes")
    held = smallest(ones.mutate(class_size=over(ones, names)), ibis.literal(value=False))
    both = ibis.union(
        of_classes.mutate(records=nobody()),
        held.select("class_size", classes=nobody(), records=held["records"]),
    )
    sums = both.group_by("class_size").agg(classes=summed(both["classes"]), records=summed(both["records"]))
    return null_report(rows, names, nulls, sums.mutate(blank_records=unasked()))


def _of_groups(counted: Counted, *, of_people: bool) -> Table:
    """The same of each group, all from one count by the columns and the groups."""
    kept, groups = counted.kept, list(counted.groups)
    told, every = [*groups, "class_size"], [*groups, *counted.names]
    if not of_people:
        sized = kept.mutate(class_size=kept["records"]).group_by(told)
        return counted.told(sized.agg(classes=lambda each: whole(each.count()), records=_all_records))
    sizes = number_of(number_of(kept, every, "class_size"), told, "classes")
    ones = with_ones(kept)
    placed = ones.mutate(class_size=over(ones, every))
    each = placed.group_by([*groups, "entity"]).agg(class_size=placed["class_size"].min())
    people = number_of(each, told, "records")
    both = ibis.union(
        sizes.mutate(records=nobody()), people.mutate(classes=nobody()).select(*told, "classes", "records")
    )
    sums = both.group_by(told).agg(classes=summed(both["classes"]), records=summed(both["records"]))
    return counted.told(sums)


def _all_records(each: Table) -> ibis.expr.types.IntegerScalar:
    return summed(each["records"])


def _sized(rows: Table, names: Sequence[str], nulls: str) -> Table:
    """The distinct records, with how many hold each and how many each matches."""
    found = counted(rows, names, nulls)
    if nulls != "wildcard":
        return found.mutate(class_size=found["records"])
    table = wildcard.distinct(found)
    return framed(table.append_column("class_size", pa.array(wildcard.class_sizes(table, table, names))))
