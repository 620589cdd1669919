"""Ibis: the classes, the size of each record's, and how many have each size."""

from collections.abc import Sequence

import ibis
from ibis.expr.types import Table

from reid_sql.engines.contract import unused_name
from reid_sql.engines.ibis.alike import comparable
from reid_sql.engines.ibis.frames import (
    WHOLE,
    aliases,
    bigint,
    check_columns,
    count_by,
    count_distinct,
    count_over,
    drop_nulls,
    null_count,
    null_report,
    sort_hash,
    sum_bigint,
    window_keys,
    with_aliases,
    with_names,
    with_ones,
    zero,
)
from reid_sql.engines.ibis.people import (
    QI_AND_ENTITY,
    GroupCounts,
    count_by_group,
    people_of,
    sizes_of,
    smallest_class_sizes,
)
from reid_sql.parameters import MAX_COLUMNS, QUASI_IDENTIFIERS, ColumnNames
from reid_sql.reduction import refuse_entity, refuse_result_names


def class_size(tbl: Table, columns: ColumnNames, name: str, entity: str | None = None) -> Table:
    """Add to each record how many records, or people, share its values."""
    names = list(columns)
    columns_read = [*names, entity] if entity is not None else names
    refuse_entity(names, entity, "value")
    checked = check_columns(
        QUASI_IDENTIFIERS if entity is None else QI_AND_ENTITY, columns_read, tbl
    )
    keys_alone = [comparable(each) for each in window_keys(tbl, checked[: len(names)])]
    keys = [*sort_hash(tbl, keys_alone), *keys_alone]
    if entity is None:
        one = unused_name("reid_one", tbl.columns)
        ones = with_ones(tbl, one)
        return ones.mutate(**{name: bigint(ones[one].count().over(group_by=keys))}).drop(one)
    first = unused_name("reid_first", tbl.columns)
    # Each person counts once in a class: at their first record there.
    person = [*keys, comparable(tbl[checked[-1]])]
    place = ibis.row_number().over(group_by=person, order_by=person[-1])
    marked = tbl.mutate(**{first: (place == 0).ifelse(1, 0)})
    return marked.mutate(**{name: bigint(bigint(marked[first]).sum().over(group_by=keys))}).drop(
        first
    )


def classes(tbl: Table, qi: ColumnNames, nulls: str, entity: str | None = None) -> Table:
    """Distinct combinations of values, with how many records, or people, share each."""
    names = aliases(qi)
    if entity is None:
        rows = with_aliases(tbl, check_columns(QUASI_IDENTIFIERS, qi, tbl))
        class_rows = _sized(rows, names, nulls)
    else:
        rows, people = people_of(tbl, qi, entity, nulls)
        class_rows = sizes_of(people, names)
    refuse_result_names(qi)
    listed = class_rows.select(
        **with_names(class_rows, qi),
        class_size=class_rows["class_size"],
        records=class_rows["records"],
    )
    return null_report(rows, names, nulls, listed)


def histogram(
    tbl: Table,
    qi: ColumnNames,
    nulls: str,
    entity: str | None = None,
    by: ColumnNames | None = None,
) -> Table:
    """How many classes, and how many records, or people by their smallest class, have each class size."""
    if by is not None:
        return _of_groups(count_by_group(tbl, qi, by, entity, nulls), of_people=entity is not None)
    if entity is not None:
        return _one_row_per_person(tbl, qi, nulls, entity)
    rows, names = with_aliases(tbl, check_columns(QUASI_IDENTIFIERS, qi, tbl)), aliases(qi)
    with_sizes = _sized(rows, names, nulls)
    reduced = with_sizes.group_by("class_size").agg(
        classes=bigint(with_sizes.count()), records=sum_bigint(with_sizes["records"])
    )
    return null_report(rows, names, nulls, reduced.mutate(blank_records=null_count()))


def histograms(tbl: Table, sets: Sequence[ColumnNames], *, drop: bool) -> Table:
    """How many classes by each set of columns have each size: `place` of the set, `class_size`, `classes`.

    The table is read once: the distinct records on all columns are counted again for each set.
    """
    all_columns = list(dict.fromkeys(name for each in sets for name in each))
    for start in range(0, len(all_columns), MAX_COLUMNS):
        check_columns(QUASI_IDENTIFIERS, all_columns[start : start + MAX_COLUMNS], tbl)
    distinct = count_by(with_aliases(tbl, all_columns), aliases(all_columns), "records")
    short = dict(zip(all_columns, aliases(all_columns), strict=True))
    parts = []
    for place, each in enumerate(sets):
        names = [short[name] for name in each]
        rows = drop_nulls(distinct, names, "drop" if drop else "value")
        classes = rows.mutate(class_size=rows["records"])
        if len(names) < len(all_columns):
            classes = rows.group_by(names).agg(class_size=sum_bigint(rows["records"]))
        counted = count_by(classes, ["class_size"], "classes").mutate(
            place=ibis.literal(place, WHOLE)
        )
        parts.append(counted.select("place", "class_size", "classes"))
    return ibis.union(*parts) if parts[1:] else parts[0]


def _one_row_per_person(tbl: Table, qi: ColumnNames, nulls: str, entity: str) -> Table:
    """Union the sizes of classes and of people's smallest ones, and add them up."""
    rows, people = people_of(tbl, qi, entity, nulls)
    names, ones = aliases(qi), with_ones(people)
    of_classes = count_by(count_by(people, names, "class_size"), ["class_size"], "classes")
    of_people = smallest_class_sizes(
        ones.mutate(class_size=count_over(ones, names)), ibis.literal(value=False)
    )
    both = ibis.union(
        of_classes.mutate(records=zero()),
        of_people.select("class_size", classes=zero(), records=of_people["records"]),
    )
    sums = both.group_by("class_size").agg(
        classes=sum_bigint(both["classes"]), records=sum_bigint(both["records"])
    )
    return null_report(rows, names, nulls, sums.mutate(blank_records=null_count()))


def _of_groups(counted: GroupCounts, *, of_people: bool) -> Table:
    """The same of each group, all from one count by the columns and the groups."""
    taken, groups = counted.taken, list(counted.groups)
    sizes_by, keys = [*groups, "class_size"], [*groups, *counted.names]
    if not of_people:
        sized = taken.mutate(class_size=taken["records"]).group_by(sizes_by)
        return counted.report(
            sized.agg(
                classes=lambda each: bigint(each.count()),
                records=lambda each: sum_bigint(each["records"]),
            )
        )
    sizes = count_by(count_by(taken, keys, "class_size"), sizes_by, "classes")
    ones = with_ones(taken)
    placed = ones.mutate(class_size=count_over(ones, keys))
    each = placed.group_by([*groups, "entity"]).agg(class_size=placed["class_size"].min())
    people = count_by(each, sizes_by, "records")
    both = ibis.union(
        sizes.mutate(records=zero()),
        people.mutate(classes=zero()).select(*sizes_by, "classes", "records"),
    )
    sums = both.group_by(sizes_by).agg(
        classes=sum_bigint(both["classes"]), records=sum_bigint(both["records"])
    )
    return counted.report(sums)


def _sized(rows: Table, names: ColumnNames, nulls: str) -> Table:
    """The distinct records, with the number of records of each as its class size too."""
    distinct_rows = count_distinct(rows, names, nulls)
    return distinct_rows.mutate(class_size=distinct_rows["records"])
