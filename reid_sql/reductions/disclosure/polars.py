"""Polars: what each class gives away about a sensitive column, from the records of each of its values."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Any, Final

import polars as pl

from reid_sql.engines.polars.frames import aliases, check_columns, drop_nulls, null_report, with_aliases
from reid_sql.engines.polars.groups import report_groups, rows_of_groups
from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes.sensitive import MEASURE_TOLERANCE, QI, refuse_sensitive_groups
from reid_sql.reduction import refuse_result_names

COUNT: Final = pl.col("n")
SIZE: Final = pl.col("class_size")
PARTS: Final = pl.col("parts")
SHARE: Final = pl.col("in_table") / pl.col("total")  # of a value in the table
GAIN: Final = pl.max_horizontal(0.0, pl.col("most") * pl.col("total") / SIZE - 1)
SURPRISE: Final = pl.max_horizontal(
    0.0, (pl.col("most") * pl.col("total") / SIZE).log(), -(pl.col("least") * pl.col("total") / SIZE).log()
)
# What is aggregated of the cells of a class, and the measure from that: aggregates of plain columns are what
# Polars is fast at, the largest of equal ones faster than the first.
OF_CELLS: Final = {
    "largest": COUNT.max(),
    "bits": pl.col("n_log_n").sum(),
    "most": pl.col("ratio").max(),
    "least": pl.col("ratio").min(),
    "needed": pl.col("allowed").max(),
    "total": pl.col("total").max(),
    "kinds": pl.col("kinds").max(),
}
MEASURES: Final[dict[tuple[str, str | None], tuple[tuple[str, ...], pl.Expr]]] = {
    ("l_diversity", "distinct"): ((), PARTS),
    ("l_diversity", "entropy"): (
        ("largest", "bits"),
        pl.when(pl.col("largest") * PARTS == SIZE)
        .then(PARTS)
        .otherwise((SIZE.log() - pl.col("bits") / SIZE).exp()),
    ),
    ("alpha_k_anonymity", None): (("largest",), pl.col("largest") / SIZE),
    ("beta_likeness", "basic"): (("most", "total"), GAIN),
    ("beta_likeness", "enhanced"): (
        ("most", "total", "needed"),
        pl.when(pl.col("needed") <= SIZE).then(GAIN).otherwise(inf),
    ),
    ("delta_disclosure", "present"): (("most", "least", "total"), SURPRISE),
    ("delta_disclosure", "all"): (
        ("most", "least", "total", "kinds"),
        pl.when(pl.col("kinds") == PARTS).then(SURPRISE).otherwise(inf),
    ),
}


@dataclass(frozen=True)
class Cells:
    """How many records, `n`, hold each sensitive value, `s`, in each class; each group is a table of its own.

    The columns of the groups, if any, are among those of the classes.
    """

    counts: pl.LazyFrame
    keys: Sequence[str]
    sensitive: str
    groups: Sequence[str] = ()
    people: pl.LazyFrame | None = None  # the people of each cell, `entity`, where they are counted

    def in_group(self, of_table: pl.Expr) -> pl.Expr:
        """Aggregate over the table, or over the group where there are groups."""
        return of_table.over(self.groups) if self.groups else of_table

    @property
    def in_table(self) -> pl.LazyFrame:
        """How many of the table's records, or people, have each value, `in_table`: each person once."""
        names = [*self.groups, "s"]
        if self.people is None:
            return self.counts.group_by(names).agg(COUNT.sum().alias("in_table"))
        values = self.people.select(*names, "entity").unique()
        return values.group_by(names).agg(pl.len().cast(pl.Int64).alias("in_table"))


@dataclass(frozen=True)
class Rows:
    """The quasi-identifiers and the sensitive column, the last, under numbers."""

    frame: pl.LazyFrame
    own: Sequence[str]
    sensitive: str
    nulls: str
    has_people: bool

    @property
    def names(self) -> list[str]:
        """The numbers."""
        return aliases([*self.own, self.sensitive])

    @property
    def cells(self) -> Cells:
        """Records of each value in each class."""
        *keys, last = self.names
        taken = drop_nulls(self.frame, self.names, self.nulls).rename({last: "s"})
        counts = taken.group_by(*keys, "s").agg(pl.len().cast(pl.Int64).alias("n"))
        return Cells(counts, keys, self.sensitive, people=taken if self.has_people else None)

    def offending(self, measured_classes: pl.LazyFrame, offends: pl.Expr) -> pl.LazyFrame:
        """The classes that offend a threshold, or whose value is not known, under the original names."""
        refuse_result_names(self.own, ("class_size", "value"))
        shown = measured_classes.filter(pl.col("value").is_null() | offends)
        own = (pl.col(key).alias(name) for key, name in zip(self.names, self.own, strict=False))
        return null_report(self.frame, self.names, self.nulls, shown.select(*own, "class_size", "value"))


def _rows(tbl: pl.LazyFrame, qi: Sequence[str], sensitive: str, nulls: str, entity: str | None) -> Rows:
    every = [*check_columns(QI, qi, tbl), sensitive]
    person = [] if entity is None else [pl.col(entity).alias("entity")]
    frame = with_aliases(tbl, check_columns(QI, every, tbl), *person)
    return Rows(frame, qi, sensitive, nulls, has_people=entity is not None)


def _kinds(
    measure: str,
    *,
    tbl: pl.LazyFrame,
    qi: Sequence[str],
    sensitive: str,
    nulls: str,
    entity: str | None = None,
    by: Sequence[str] | None = None,
    variant: str | None = None,
    c: float = 3,
) -> pl.LazyFrame:
    """How many classes have each size and value of the measure, in the table or in each group."""
    if by is None:
        rows = _rows(tbl, qi, sensitive, nulls, entity)
        return null_report(rows.frame, rows.names, nulls, _empty_answer(rows.cells, measure, variant, c))
    refuse_sensitive_groups(by, sensitive)
    counted, names, groups = rows_of_groups(tbl, [*qi, sensitive], by, entity, nulls, QI)
    taken = counted.filter("complete").rename({names[-1]: "s"}).drop("complete")
    keys = [*groups, *names[:-1]]
    in_table = taken.group_by(*keys, "s").agg(pl.col("records").sum().alias("n"))
    cells = Cells(in_table, keys, sensitive, groups, None if entity is None else taken)
    return report_groups(counted, _empty_answer(cells, measure, variant, c), groups, by, nulls)


def _empty_answer(cells: Cells, measure: str, variant: str | None, c: float) -> pl.LazyFrame:
    kinds, classes = [*cells.groups, "class_size", "value"], pl.len().cast(pl.Int64).alias("classes")
    measured = _measured(cells, measure, variant, c)
    if cells.people is None:
        summary = (
            measured.group_by(kinds).agg(classes).with_columns((SIZE * pl.col("classes")).alias("records"))
        )
        return summary.sort("class_size", "value")
    measured = measured.cache()
    counted = measured.group_by(kinds).agg(classes)
    worst = pl.col("value").min() if measure == "l_diversity" else pl.col("value").max()
    of_classes = cells.people.join(measured, on=cells.keys, nulls_equal=True)
    people = of_classes.group_by(*cells.groups, "entity").agg(SIZE.min(), worst)
    of_people = people.group_by(kinds).agg(classes.alias("records"))
    both = pl.concat([counted, of_people], how="diagonal").group_by(kinds)
    return both.agg(pl.col("classes", "records").sum()).sort("class_size", "value")


def _offends(measure: str, k: int | None = None, **threshold: float) -> pl.Expr:
    """Test for a value beyond the threshold by more than rounding may add to it, or fewer than k records."""
    (limit,) = threshold.values()
    value = pl.col("value")
    low, high = limit * (1 - MEASURE_TOLERANCE), limit * (1 + MEASURE_TOLERANCE)
    test = value.lt(low) if measure == "l_diversity" else value.gt(high)
    return test if k is None else test.or_(SIZE.lt(k))


def _classes(
    measure: str,
    *,
    tbl: pl.LazyFrame,
    qi: Sequence[str],
    sensitive: str,
    nulls: str,
    entity: str | None = None,
    variant: str | None = None,
    c: float = 3,
    **thresholds: Any,  # noqa: ANN401 - the threshold of the measure, and k of one
) -> pl.LazyFrame:
    """List the classes that offend the thresholds, or whose value is not known."""
    rows = _rows(tbl, qi, sensitive, nulls, entity)
    return rows.offending(_measured(rows.cells, measure, variant, c), _offends(measure, **thresholds))


# How many values, well represented, a class has; how far they are distributed from those of the table; the
# share that the most frequent one has; how much more frequent a value is in a class than in the table, at
# most; by what factor, as a logarithm, its shares in the two differ, at most.
l_diversity, l_diversity_classes = partial(_kinds, "l_diversity"), partial(_classes, "l_diversity")
t_closeness, t_closeness_classes = partial(_kinds, "t_closeness"), partial(_classes, "t_closeness")
alpha_k_anonymity = partial(_kinds, "alpha_k_anonymity")
alpha_k_anonymity_classes = partial(_classes, "alpha_k_anonymity")
beta_likeness, beta_likeness_classes = partial(_kinds, "beta_likeness"), partial(_classes, "beta_likeness")
delta_disclosure = partial(_kinds, "delta_disclosure")
delta_disclosure_classes = partial(_classes, "delta_disclosure")


def _measured(of: Cells, measure: str, variant: str | None = None, c: float = 3) -> pl.LazyFrame:
    """Give the keys, class_size and value of every class."""
    if (measure, variant) not in MEASURES:
        return _twice(of, str(variant), c)
    cells, keys = of.counts, of.keys
    wanted, value = MEASURES[measure, variant]
    if measure == "l_diversity":
        cells = cells.with_columns((COUNT * COUNT.log()).alias("n_log_n"))
    elif measure != "alpha_k_anonymity":
        cells = _against_the_table(of)
    expressions = [OF_CELLS[name].alias(name) for name in wanted]
    counted = cells.group_by(keys).agg(
        COUNT.sum().alias("class_size"), pl.len().cast(pl.Int64).alias("parts"), *expressions
    )
    return counted.select(*keys, "class_size", value.cast(pl.Float64).alias("value"))


def _against_the_table(of: Cells) -> pl.LazyFrame:
    """Add to each cell the value's records in the table and in this class, and what β allows."""
    kinds = of.in_group(pl.col("s").n_unique()).alias("kinds")
    if of.people is None:
        own = COUNT.sum().over(*of.groups, "s").alias("in_table")
        in_table = of.counts.with_columns(own, of.in_group(COUNT.sum()).alias("total"), kinds)
    else:
        values = of.in_table.with_columns(of.in_group(pl.col("in_table").sum()).alias("total"))
        in_table = of.counts.join(values, on=[*of.groups, "s"], nulls_equal=True).with_columns(kinds)
    allowed = COUNT * pl.col("total") / (pl.col("in_table") * (1 - SHARE.log()))
    return in_table.with_columns((COUNT / pl.col("in_table")).alias("ratio"), allowed.alias("allowed"))


def _twice(of: Cells, variant: str, c: float) -> pl.LazyFrame:
    """Measure what needs a class's size at each of its cells: classes of one value at once.

    The others are measured from their cells.
    """
    of = replace(of, counts=of.counts.cache())  # else counted anew wherever they are asked for
    cells, keys = of.counts, of.keys
    if variant == "recursive":
        single = pl.lit(1.0 if c > 1 else 0.0)
    elif variant == "equal":
        cells, single = _against_the_table(of).cache(), 1 - SHARE
    else:
        of = replace(of, counts=_ranked(of.counts, of.groups))
        line = _line(of, variant).cache()
        area = line.with_columns(of.in_group(pl.col("g").max()).alias("area"))
        cells = of.counts.join(area, on=[*of.groups, "s"], nulls_equal=True).cache()
        single = 2 * pl.col("g") - pl.col("area") + 1 - pl.col("x")
    expressions = [
        COUNT.sum().alias("class_size"),
        pl.len().alias("parts"),
        pl.col("single").max().alias("value"),
    ]
    counted = cells.with_columns(single.alias("single")).group_by(keys).agg(expressions)
    several = cells.join(counted.filter(PARTS > 1).select(*keys, "class_size"), on=keys, nulls_equal=True)
    if variant == "recursive":
        value = _recursive(several, keys, c)
    elif variant == "equal":
        further = pl.max_horizontal(0.0, COUNT / SIZE - SHARE).alias("value")
        value = several.with_columns(further).group_by(keys).agg(SIZE.max(), pl.col("value").sum())
    else:
        value = _along_a_line(several, line, keys, ranks_of(of.groups))
    alone = counted.filter(PARTS == 1).select(*keys, "class_size", "value")
    return pl.concat([alone, value.select(*keys, "class_size", "value").cast({"value": pl.Float64})])


def ranks_of(groups: Sequence[str]) -> list[str]:
    """The names of the groups' columns as ranks."""
    return [f"{group}_rank" for group in groups]


def _ranked(frame: pl.LazyFrame, groups: Sequence[str]) -> pl.LazyFrame:
    """Add to the groups' columns their ranks, which are never NULL: a join by order knows no NULL."""
    ranks = (pl.col(group).rank("dense").fill_null(0) for group in groups)
    return frame.with_columns(rank.alias(name) for rank, name in zip(ranks, ranks_of(groups), strict=True))


def _recursive(several: pl.LazyFrame, keys: Sequence[str], c: float) -> pl.LazyFrame:
    """Count the places from which on all values together, c times, are more than the most frequent one."""
    rising = several.sort("n").with_columns(
        COUNT.cum_sum().over(keys).alias("tail"), COUNT.max().over(keys).alias("largest")
    )
    return rising.group_by(keys).agg(
        SIZE.max(), (pl.col("largest") < c * pl.col("tail")).sum().alias("value")
    )


def _along_a_line(
    several: pl.LazyFrame, line: pl.LazyFrame, keys: Sequence[str], ranks: Sequence[str]
) -> pl.LazyFrame:
    """Sum up, run by run between a class's own values, the area between its distribution and the table's."""
    runs = several.sort("f").with_columns(
        (COUNT.cum_sum().over(keys) / SIZE).alias("reached"),
        (pl.int_range(pl.len()).over(keys) == 0).alias("first"),
        pl.col("x").shift(-1).over(keys).fill_null(1.0).alias("next_x"),
        pl.col("g").shift(-1).over(keys).fill_null(pl.col("area")).alias("next_g"),
    )
    crossing = line.select(
        *ranks, pl.col("f").alias("reached"), pl.col("x").alias("found_x"), pl.col("g").alias("found_g")
    )
    crossed = runs.sort("reached").join_asof(
        crossing.sort("reached"),
        on="reached",
        by=ranks or None,
        strategy="forward",
        allow_exact_matches=False,
        check_sortedness=not ranks,  # which Polars cannot do by group
    )
    cumulated = pl.col("found_x").fill_null(pl.col("next_x"))
    before, beyond = cumulated <= pl.col("x"), cumulated >= pl.col("next_x")
    cross_x = pl.when(before).then("x").when(beyond).then("next_x").otherwise(cumulated)
    cross_g = pl.when(before).then("g").when(beyond).then("next_g").otherwise("found_g")
    between = (
        pl.col("reached") * (2 * cross_x - pl.col("x") - pl.col("next_x"))
        + pl.col("g")
        + pl.col("next_g")
        - 2 * cross_g
    )
    area = pl.when("first").then("g").otherwise(0.0) + between
    known = pl.when(pl.col("value").is_null().any()).then(None).otherwise(pl.col("value").sum())
    return crossed.with_columns(area.alias("value")).group_by(keys).agg(SIZE.max(), known.alias("value"))


def _line(of: Cells, variant: str) -> pl.LazyFrame:
    """Place the sensitive values: x from 0 to 1, the share f of records up to it, the area g left of it.

    The area is that under f.
    """
    kind, sensitive = of.counts.collect_schema()["s"], of.sensitive
    ordered = kind.is_numeric() or kind.is_temporal() or isinstance(kind, pl.Enum | pl.Boolean)
    if variant == "numeric" and not kind.is_numeric():
        raise OutOfDomainError(
            f"sensitive must be a column of numbers for variant := 'numeric', got '{sensitive}'; "
            "cast it to a number, or pass variant := 'equal'"
        )
    if not ordered:
        raise OutOfDomainError(
            "sensitive must be a column of numbers, dates, times, booleans or ENUMs for variant := "
            f"'ordered', got '{sensitive}'; cast it to one of them, or pass variant := 'equal'"
        )
    groups, within = [*of.groups, *ranks_of(of.groups)], of.in_group
    values = _ranked(of.in_table, of.groups).sort("s", nulls_last=True)
    order = within(pl.int_range(pl.len())).cast(pl.Float64)
    number = pl.col("s").cast(pl.Float64) if variant == "numeric" else order
    known = number.is_finite() if variant == "numeric" else pl.col("s").is_not_null()
    place, in_table = pl.col("place"), pl.col("in_table")
    span = place.max() / 2 - place.min() / 2
    x = (
        pl.when(place.is_null().any())
        .then(None)
        .when(span == 0)
        .then(1.0)
        .otherwise((place / 2 - place.min() / 2) / span)
    )
    lined = values.with_columns(pl.when(known).then(number).alias("place")).with_columns(
        within(x).alias("x"), within(in_table.cum_sum() / in_table.sum()).alias("f")
    )
    step = pl.col("x") - pl.col("x").shift(1, fill_value=0.0)
    area = within((pl.col("f").shift(1, fill_value=0.0) * step).cum_sum()).alias("g")
    return lined.select(*groups, "s", "x", "f", area)
