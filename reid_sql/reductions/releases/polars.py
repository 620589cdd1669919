"""The classes of two releases in Polars, and the people who are in both.

As in sql.py, both releases are one frame, in which `side` is 0 or 1, and `p1` and `p2` are their people.
"""

from collections.abc import Mapping, Sequence

import polars as pl

from reid_sql.engines.polars.frames import (
    aliases,
    check_columns,
    drop_nulls,
    exact_column,
    map_whole,
    schema,
    unify_types,
    with_aliases,
)
from reid_sql.errors import OutOfDomainError
from reid_sql.parameters import QUASI_IDENTIFIERS
from reid_sql.reduction import refuse_repeated_key, refuse_several
from reid_sql.reductions.releases import (
    LINE_CELLS,
    RELEASE_CLASSES,
    RELEASES,
    columns_label,
    refuse_roles,
)

PEOPLE = ("p1", "p2")
FIRST, SECOND = (pl.col("side") == side for side in (0, 1))
N1, N2 = pl.col("n1"), pl.col("n2")
IN_BOTH = pl.len() == len(PEOPLE)  # rows of a person in a class, one of each release


def release_classes(
    first: pl.LazyFrame,
    second: pl.LazyFrame,
    qi: Sequence[str],
    key: str | None = None,
    entity: str | None = None,
    sensitive: str | None = None,
    nulls: str = "value",
) -> pl.LazyFrame:
    """Count classes, pairs of classes and people of two releases."""
    refuse_roles(list(qi), key, entity, sensitive, nulls)
    person = key if entity is None else entity
    asked = [*qi, *([] if sensitive is None else [sensitive])]
    label = columns_label(key, entity, sensitive)
    for frame in (first, second):
        check_columns(QUASI_IDENTIFIERS, qi, frame)
        check_columns(label, [*asked, *([] if person is None else [person])], frame)
    own = [
        with_aliases(frame, asked, *([] if person is None else [exact_column(person).alias(name)]))
        for frame, name in zip((first, second), PEOPLE, strict=True)
    ]
    sides = unify_types(own, asked, RELEASES)
    sides = sides if person is None else _unify_people(sides, "key" if entity is None else "entity")
    names = aliases(qi)
    read = pl.concat(
        [side.with_columns(side=pl.lit(place)) for place, side in enumerate(sides)], how="diagonal"
    )
    read = read.rename({f"q{len(asked)}": "s"}) if sensitive is not None else read
    counted = [*names, *(["s"] if sensitive is not None else [])]
    rows = drop_nulls(read, counted, nulls)
    if person is not None:
        rows = map_whole(rows, _check_people if entity is None else _check_values)
    if entity is not None:
        rows = rows.unique()
    counts = {"is_keyed": person is not None, "has_sensitive": sensitive is not None}
    lines = _lines(rows, names, counts, of_people=entity is not None)
    missing = pl.any_horizontal(pl.col(counted).is_null()) if nulls == "drop" else pl.lit(value=False)
    dropped = read.select(missing.sum().cast(pl.Int64).alias("records_dropped"))
    return lines.join(dropped, how="cross").with_columns(pl.lit(nulls).alias("nulls"))


def _unify_people(sides: Sequence[pl.LazyFrame], label: str) -> list[pl.LazyFrame]:
    """The people of both releases in one type; refuses types whose values are not compared exactly."""
    kinds = [side.collect_schema()[name] for side, name in zip(sides, PEOPLE, strict=True)]
    if kinds[0] == kinds[1]:
        return list(sides)
    if not all(kind.is_integer() for kind in kinds):
        rule = f"{label} must have the same type in both tables, got {kinds[0]} and {kinds[1]}"
        raise OutOfDomainError(f"{rule}; cast one of the columns")
    return [side.cast({name: pl.Int128()}) for side, name in zip(sides, PEOPLE, strict=True)]


def _check_people(rows: pl.DataFrame) -> pl.DataFrame:
    for side, name in enumerate(PEOPLE):
        keys = rows.filter(pl.col("side") == side)[name]
        refuse_repeated_key(is_repeated=keys.n_unique() < len(keys))
    return rows


def _check_values(rows: pl.DataFrame) -> pl.DataFrame:
    """Refuse people of several sensitive values in a class, if there is such a column."""
    if "s" in rows.columns:
        distinct = rows.unique()
        refuse_several(distinct.height - distinct.drop("s").unique().height, of_shares=False)
    return rows


def _lines(
    rows: pl.LazyFrame, names: Sequence[str], counts: Mapping[str, bool], *, of_people: bool
) -> pl.LazyFrame:
    """Count the lines of each kind."""
    cells, classes = _count_classes(rows, names, has_sensitive=counts["has_sensitive"])
    parts = [classes.with_columns(kind=0)]
    if counts["is_keyed"]:
        stays, changes = _moves(rows, names, of_people=of_people)
        joined = classes.join(stays, on=names, how="left", nulls_equal=True)
        parts = [joined.with_columns(kind=0), _pairs(cells, classes, changes, names).with_columns(kind=1)]
    if of_people:
        parts.append(_people(rows, classes, names).with_columns(kind=2))
    types = schema(RELEASE_CLASSES.columns)
    lines = pl.concat([_line(part) for part in parts])
    counted = lines.group_by(LINE_CELLS).agg(pl.len().cast(pl.Int64).alias("number"))
    flags = (pl.lit(int(flag), dtype=pl.Int64).alias(name) for name, flag in counts.items())
    return counted.with_columns(flags).select(list(types)).sort("kind")


def _line(part: pl.LazyFrame) -> pl.LazyFrame:
    """Select the cells of a line, 0 where it has none."""
    known = part.rename({"n1": "first_size", "n2": "second_size"}, strict=False)
    has = known.collect_schema()
    return known.select(
        (pl.col(name).cast(pl.Int64).fill_null(0) if name in has else pl.lit(0, pl.Int64)).alias(name)
        for name in LINE_CELLS
    )


def _count_classes(
    rows: pl.LazyFrame, names: Sequence[str], *, has_sensitive: bool
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """The classes of both releases; the cells of each sensitive value, or the classes themselves without."""
    sizes = [FIRST.sum().cast(pl.Int64).alias("n1"), SECOND.sum().cast(pl.Int64).alias("n2")]
    if not has_sensitive:
        classes = rows.group_by(names).agg(sizes)
        return classes, classes
    cells = rows.group_by(*names, "s").agg(sizes)
    classes = cells.group_by(names).agg(
        N1.sum(),
        N2.sum(),
        overlap=pl.min_horizontal(N1, N2).sum(),
        common_values=((N1 > 0) & (N2 > 0)).sum(),
        first_values=(N1 > 0).sum(),
        second_values=(N2 > 0).sum(),
        gained_values=(N2 > N1).sum(),
        lost_values=(N1 > N2).sum(),
    )
    return cells, classes


def _moves(rows: pl.LazyFrame, names: Sequence[str], *, of_people: bool) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """The people who are in a class in both releases, and those who moved between two.

    Of people with several rows in a release, it is not known from which class to which they moved.
    """
    others = [f"r{name}" for name in names]
    single = rows.filter(pl.len().over("side", *PEOPLE) == 1) if of_people else rows
    one = single.filter(FIRST).select(*names, "p1")
    renamed = (pl.col(q).alias(r) for q, r in zip(names, others, strict=True))
    other = single.filter(SECOND).select("p2", *renamed)
    both = one.join(other, left_on="p1", right_on="p2", nulls_equal=True)
    number = pl.len().cast(pl.Int64).alias("people")
    moves = both.group_by(*names, *others).agg(number)
    is_same = pl.all_horizontal(pl.col(q).eq_missing(pl.col(r)) for q, r in zip(names, others, strict=True))
    changes = moves.filter(~is_same)
    if not of_people:
        return moves.filter(is_same).select(*names, "people"), changes
    person = pl.coalesce(*PEOPLE).alias("person")
    twice = rows.group_by(*names, person).agg(IN_BOTH.alias("in_both")).filter("in_both")
    return twice.group_by(names).agg(number), changes


def _pairs(
    cells: pl.LazyFrame, classes: pl.LazyFrame, changes: pl.LazyFrame, names: Sequence[str]
) -> pl.LazyFrame:
    """The pairs of different classes that people moved between."""
    others = [f"r{name}" for name in names]
    to_class = {"left_on": others, "right_on": list(names), "nulls_equal": True}
    if "s" not in cells.collect_schema():
        own = changes.join(classes.select(*names, "n1"), on=names, nulls_equal=True)
        return own.join(classes.select(*names, "n2"), **to_class)  # type: ignore[arg-type]
    keys = [*names, *others]
    own = changes.join(cells.filter(N1 > 0).select(*names, "s", "n1"), on=names, nulls_equal=True)
    after = cells.filter(N2 > 0).select(*names, "s", "n2")
    valued = own.join(after, left_on=[*others, "s"], right_on=[*names, "s"], how="left", nulls_equal=True)
    met = valued.group_by(keys).agg(
        pl.col("people").max(),
        N1.sum(),
        overlap=pl.min_horizontal(N1, N2.fill_null(0)).sum(),
        common_values=N2.count(),
        first_values=pl.len(),
    )
    return met.join(classes.select(*names, "n2", "second_values"), **to_class)  # type: ignore[arg-type]


def _people(rows: pl.LazyFrame, classes: pl.LazyFrame, names: Sequence[str]) -> pl.LazyFrame:
    """Everybody by their classes: how many, whether one is common to the releases, or theirs alone."""
    sized = rows.with_columns(pl.coalesce(*PEOPLE).alias("person")).join(
        classes.select(*names, "n1", "n2"), on=names, nulls_equal=True
    )
    in_both = IN_BOTH.over(*names, "person")
    sized = sized.with_columns(in_both.alias("in_both"))
    flags = {
        f"is_{name}_{which}": (side & test).any()
        for name, test in (("common", (N1 > 0) & (N2 > 0)), ("followed", (N1 == 1) & (N2 == 1)))
        for which, side in (("first", FIRST), ("second", SECOND))
    }
    return sized.group_by("person").agg(
        first_size=FIRST.sum(),
        second_size=SECOND.sum(),
        link_size=pl.max_horizontal(N1, N2).filter(pl.col("in_both")).min(),
        **flags,
    )
