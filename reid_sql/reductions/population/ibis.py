"""Ibis: the sample's classes, by what a population table holds of them."""

from collections.abc import Sequence

import ibis
import pyarrow as pa
from ibis.expr.types import Table

from reid_sql.engines.ibis import wildcard
from reid_sql.engines.ibis.frames import (
    WHOLE,
    all_missing,
    counted,
    framed,
    nobody,
    null_report,
    number_of,
    numbered,
    places,
    resolved,
    summed,
    unasked,
    whole,
    windowed,
)
from reid_sql.engines.ibis.groups import people_of, refuse_by, smallest
from reid_sql.errors import OutOfDomainError
from reid_sql.parameters import QUASI_IDENTIFIERS


def population_histogram(
    tbl: Table,
    population_tbl: Table,
    qi: Sequence[str],
    nulls: str,
    *,
    entity: str | None = None,
    by: Sequence[str] | None = None,
) -> Table:
    """The histogram of the sample's records, or people, by the size of their class in the population."""
    refuse_by(by)
    if entity is not None:
        return _of_people((tbl, population_tbl), qi, entity, nulls)
    frames = [numbered(frame, resolved(QUASI_IDENTIFIERS, qi, frame)) for frame in (tbl, population_tbl)]
    (rows, population), names = _alike(frames, qi), places(qi)
    own, other = counted(rows, names, nulls), counted(population, names, nulls)
    found = _matched(own, other, names) if nulls == "wildcard" else _met(own, other, names)
    sized = found.mutate(
        class_size=ibis.greatest(found["found"], found["own"]),
        uncovered=(found["found"] < found["own"]).ifelse(found["records"], nobody()),
        blank=all_missing(found, names).ifelse(found["records"], nobody()),
    )
    reduced = sized.group_by("class_size").agg(
        classes=whole(sized.count()),
        records=summed(sized["records"]),
        uncovered=summed(sized["uncovered"]),
        **({"blank_records": summed(sized["blank"])} if nulls == "wildcard" else {}),
    )
    told = reduced if nulls == "wildcard" else reduced.mutate(blank_records=unasked())
    return null_report(rows, names, nulls, told)


def _met(own: Table, other: Table, names: Sequence[str]) -> Table:
    """How many of the population, and of the sample itself, hold each distinct record of the sample.

    The two stand under one another and are counted together: a join would have to be NULL-safe, which few
    databases do by more than going through every pair.
    """
    mine = own.select(*names, own=own["records"], found=nobody())
    both = ibis.union(mine, other.select(*names, own=nobody(), found=other["records"]))
    sums = both.group_by(list(names)).agg(own=summed(both["own"]), found=summed(both["found"]))
    return sums.filter(sums["own"] > 0).mutate(records=sums["own"])


def _matched(own: Table, other: Table, names: Sequence[str]) -> Table:
    """The same where NULL may be any value."""
    mine, others = wildcard.distinct(own), wildcard.distinct(other)
    sizes = {
        "records": mine["records"],
        "own": wildcard.class_sizes(mine, mine, names),
        "found": wildcard.class_sizes(mine, others, names),
        **{name: mine[name] for name in names},
    }
    return framed(pa.table(sizes))


def _of_people(frames: Sequence[Table], qi: Sequence[str], entity: str, nulls: str) -> Table:
    """The same of people, each by their smallest class."""
    (rows, own), (_, other) = (people_of(frame, qi, entity, nulls) for frame in frames)
    people, others = _alike([own, other], qi)
    names = places(qi)
    mine = people.select(*names, "entity", mine=ibis.literal(1, WHOLE), theirs=nobody())
    theirs = number_of(others, names, "theirs")
    nameless = ibis.null(mine.schema()["entity"])
    both = ibis.union(mine, theirs.select(*names, entity=nameless, mine=nobody(), theirs=theirs["theirs"]))
    groups = windowed(both, names)
    counts = {"own": "mine", "found": "theirs"}
    met = both.mutate(
        **{name: whole(both[each].sum().over(group_by=groups)) for name, each in counts.items()}
    ).filter(lambda each: each["mine"] == 1)
    sized = met.mutate(class_size=ibis.greatest(met["found"], met["own"]))
    sizes = number_of(sized.select(*names, "class_size").distinct(), ["class_size"], "classes")
    held = smallest(sized, sized["found"] < sized["own"])
    every = ibis.union(
        sizes.mutate(records=nobody(), uncovered=nobody()),
        held.select("class_size", classes=nobody(), records=held["records"], uncovered=held["uncovered"]),
    )
    sums = every.group_by("class_size").agg(
        **{name: summed(every[name]) for name in ("classes", "records", "uncovered")}
    )
    return null_report(rows, names, nulls, sums.mutate(blank_records=unasked()))


def _alike(frames: Sequence[Table], qi: Sequence[str]) -> list[Table]:
    """Whole numbers of any width under one that holds both; refuses columns of another kind of value."""
    mine, theirs = (frame.schema() for frame in frames)
    wider = {}
    for name, q in zip(qi, places(qi), strict=True):
        same = mine[q].copy(nullable=True) == theirs[q].copy(nullable=True)
        if not same and not (mine[q].is_integer() and theirs[q].is_integer()):
            rule = f"tbl and population_tbl must hold '{name}' as the same type"
            raise OutOfDomainError(f"{rule}, got {mine[q]} and {theirs[q]}; cast one of them")
        wider[q] = mine[q].copy(nullable=True) if same else WHOLE
    return [
        frame.mutate(**{q: frame[q].cast(kind) for q, kind in wider.items() if frame.schema()[q] != kind})
        for frame in frames
    ]
