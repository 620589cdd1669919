"""Ibis: the sample's classes, by what a population table holds of them."""

from collections.abc import Sequence

import ibis
from ibis.expr.types import Table

from reid_sql.engines.ibis.frames import (
    WHOLE,
    aliases,
    bigint,
    check_columns,
    count_by,
    count_distinct,
    null_count,
    null_report,
    sum_bigint,
    window_keys,
    with_aliases,
    zero,
)
from reid_sql.engines.ibis.people import people_of, smallest_class_sizes
from reid_sql.errors import OutOfDomainError
from reid_sql.parameters import QUASI_IDENTIFIERS, ColumnNames


def population_histogram(
    tbl: Table, population_tbl: Table, qi: ColumnNames, nulls: str, *, entity: str | None = None
) -> Table:
    """The histogram of the sample's records, or people, by the size of their class in the population."""
    if entity is not None:
        return _one_row_per_person((tbl, population_tbl), qi, entity, nulls)
    frames = [
        with_aliases(frame, check_columns(QUASI_IDENTIFIERS, qi, frame))
        for frame in (tbl, population_tbl)
    ]
    (rows, population), names = _unify_types(frames, qi), aliases(qi)
    sample, in_population = (
        count_distinct(rows, names, nulls),
        count_distinct(population, names, nulls),
    )
    # A union of the two is counted at once: a join would have to be NULL-safe, which few databases do by
    # more than going through every pair.
    mine = sample.select(*names, in_sample=sample["records"], in_population=zero())
    both = ibis.union(
        mine, in_population.select(*names, in_sample=zero(), in_population=in_population["records"])
    )
    sums = both.group_by(list(names)).agg(
        in_sample=sum_bigint(both["in_sample"]), in_population=sum_bigint(both["in_population"])
    )
    matched = sums.filter(sums["in_sample"] > 0).mutate(records=sums["in_sample"])
    sized = matched.mutate(
        class_size=ibis.greatest(matched["in_population"], matched["in_sample"]),
        uncovered=(matched["in_population"] < matched["in_sample"]).ifelse(
            matched["records"], zero()
        ),
    )
    reduced = sized.group_by("class_size").agg(
        classes=bigint(sized.count()),
        records=sum_bigint(sized["records"]),
        uncovered=sum_bigint(sized["uncovered"]),
    )
    return null_report(rows, names, nulls, reduced.mutate(blank_records=null_count()))


def _one_row_per_person(frames: Sequence[Table], qi: ColumnNames, entity: str, nulls: str) -> Table:
    """The same of people, each by their smallest class."""
    (rows, sample), (_, other) = (people_of(frame, qi, entity, nulls) for frame in frames)
    people, population = _unify_types([sample, other], qi)
    names = aliases(qi)
    mine = people.select(*names, "entity", mine=ibis.literal(1, WHOLE), theirs=zero())
    theirs = count_by(population, names, "theirs")
    nameless = ibis.null(mine.schema()["entity"])
    both = ibis.union(
        mine, theirs.select(*names, entity=nameless, mine=zero(), theirs=theirs["theirs"])
    )
    groups = window_keys(both, names)
    counts = {"in_sample": "mine", "in_population": "theirs"}
    joined = both.mutate(
        **{name: bigint(both[each].sum().over(group_by=groups)) for name, each in counts.items()}
    ).filter(lambda each: each["mine"] == 1)
    sized = joined.mutate(class_size=ibis.greatest(joined["in_population"], joined["in_sample"]))
    sizes = count_by(sized.group_by([*names, "class_size"]).agg(), ["class_size"], "classes")
    of_people = smallest_class_sizes(sized, sized["in_population"] < sized["in_sample"])
    histograms = ibis.union(
        sizes.mutate(records=zero(), uncovered=zero()),
        of_people.select(
            "class_size",
            classes=zero(),
            records=of_people["records"],
            uncovered=of_people["uncovered"],
        ),
    )
    sums = histograms.group_by("class_size").agg(
        **{name: sum_bigint(histograms[name]) for name in ("classes", "records", "uncovered")}
    )
    return null_report(rows, names, nulls, sums.mutate(blank_records=null_count()))


def _unify_types(frames: Sequence[Table], qi: ColumnNames) -> list[Table]:
    """Cast integers of different widths to one that fits both; refuses columns of another kind of value."""
    mine, theirs = (frame.schema() for frame in frames)
    wider = {}
    for name, q in zip(qi, aliases(qi), strict=True):
        same = mine[q].copy(nullable=True) == theirs[q].copy(nullable=True)
        if not same and not (mine[q].is_integer() and theirs[q].is_integer()):
            raise OutOfDomainError(
                f"tbl and population_tbl must contain '{name}' as the same type, got {mine[q]} and {theirs[q]}; "
                "cast one of them"
            )
        wider[q] = mine[q].copy(nullable=True) if same else WHOLE
    return [
        frame.mutate(
            **{q: frame[q].cast(kind) for q, kind in wider.items() if frame.schema()[q] != kind}
        )
        for frame in frames
    ]
