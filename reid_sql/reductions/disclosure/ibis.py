"""Ibis: what each class gives away about a sensitive column, from the records of each of its values.

They are counted in each class.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

import ibis
import ibis.expr.datatypes as dt
from ibis.expr.types import BooleanValue, FloatingValue, NumericValue, Table

from reid_sql.engines.ibis.frames import (
    backend,
    kept,
    null_report,
    number_of,
    numbered,
    own_names,
    places,
    resolved,
    sorted_fast,
    sum_over,
    summed,
    whole,
    windowed,
)
from reid_sql.engines.ibis.groups import refuse_by
from reid_sql.errors import UnavailableError
from reid_sql.models.classes.sensitive import MEASURE_TOLERANCE, QI
from reid_sql.reduction import refuse_result_names
from reid_sql.reductions.disclosure import EQUAL_ALONE, NO_INFINITY

By = Sequence[str] | None
NOTHING: Final = 0.0
FINITE: Final = ("mssql", "mysql", "singlestoredb", "flink")  # databases whose doubles are never infinite


@dataclass(frozen=True)
class Cells:
    """How many records, `n`, hold each sensitive value, `s`, in each class, by numbered class columns."""

    rows: Table
    names: Sequence[str]
    own: Sequence[str]
    nulls: str
    counts: Table
    keys: Sequence[str]  # what tells classes apart

    def measured(self, cells: Table, value: Callable[[Table], NumericValue], **parts: NumericValue) -> Table:
        """The size and the value of each class, from parts that are aggregated of its cells."""
        classes = cells.group_by(list(self.keys)).agg(
            class_size=summed(cells["n"]), parts=whole(cells.count()), most=cells["n"].max(), **parts
        )
        return classes.select(*self.keys, "class_size", value=_double(value(classes)))

    def against_the_table(self) -> Table:
        """The cells beside the table's records of their value, and all its records.

        They meet by `=`, which every database plans well, and NULL by itself; by a window, which sorts all
        cells, where a value may be no equal of its own: NaN in some databases, a NULL within a list.
        What is one number of the table is a query of its own: joined, it would be sorted with each cell.
        """
        counts, held = self.counts, self.held
        total = held["held"].sum().name("total").as_scalar()
        if counts["s"].type().is_floating() or counts["s"].type().is_nested():
            return counts.mutate(held=sum_over(counts, ["s"], "n"), total=total)
        met = counts.left_join(held, counts["s"] == held["s"])
        of_null = held["held"].sum(where=held["s"].isnull()).name("of_null").as_scalar()
        return met.mutate(held=ibis.coalesce(met["held"], of_null), total=total)

    @property
    def held(self) -> Table:
        """How many of the table's records have each value."""
        return self.counts.group_by("s").agg(held=_double(self.counts["n"]).sum())

    def kinds(self, measured: Table) -> Table:
        """How many classes have each size and value."""
        found = number_of(measured, ["class_size", "value"], "classes")
        return null_report(self.rows, self.names, self.nulls, found)

    def offending(self, measured: Table, offends: Callable[[Table], BooleanValue]) -> Table:
        """The classes that offend a threshold, or whose value is not known, by their own names."""
        shown = measured.filter(measured["value"].isnull() | offends(measured))
        listed = own_names(shown, self.own)
        found = shown.select(**listed, class_size=shown["class_size"], value=shown["value"])
        return null_report(self.rows, self.names, self.nulls, found)


def _double(value: NumericValue) -> FloatingValue:
    """The number as a double: some databases divide whole numbers as whole ones."""
    return value.cast(dt.float64)


def _cells(tbl: Table, qi: Sequence[str], sensitive: str, nulls: str) -> Cells:
    every = resolved(QI, [*qi, sensitive], tbl)
    rows, names = numbered(tbl, every), places(every)
    held = kept(rows, names, nulls).rename(s=names[-1])
    counts, keys = sorted_fast(number_of(held, [*names[:-1], "s"], "n"), names[:-1])
    return Cells(rows, names, list(qi), nulls, counts, keys)


def _listed(tbl: Table, qi: Sequence[str], sensitive: str, nulls: str) -> Cells:
    cells = _cells(tbl, qi, sensitive, nulls)
    refuse_result_names(qi, ("class_size", "value"))
    return cells


def _above(threshold: float) -> Callable[[Table], BooleanValue]:
    return lambda measured: measured["value"] > threshold * (1 + MEASURE_TOLERANCE)


def l_diversity(
    tbl: Table, qi: Sequence[str], sensitive: str, *, variant: str, c: float, nulls: str, by: By = None
) -> Table:
    """How many values, well represented, a class has."""
    refuse_by(by)
    cells = _cells(tbl, qi, sensitive, nulls)
    return cells.kinds(_diversity(cells, variant, c))


def l_diversity_classes(
    tbl: Table,
    qi: Sequence[str],
    sensitive: str,
    *,
    variant: str,
    c: float,
    l: float,  # noqa: E741 - the parameter of SQL
    nulls: str,
) -> Table:
    """The classes of fewer than l."""
    cells = _listed(tbl, qi, sensitive, nulls)
    return cells.offending(
        _diversity(cells, variant, c), lambda measured: measured["value"] < l * (1 - MEASURE_TOLERANCE)
    )


def _diversity(cells: Cells, variant: str, c: float) -> Table:
    counts = cells.counts
    if variant == "distinct":
        return cells.measured(counts, lambda each: each["parts"])
    if variant == "entropy":
        n = _double(counts["n"])
        return cells.measured(counts, _effective, n_log_n=(n * n.ln()).sum())
    keys = windowed(counts, cells.keys)
    n = _double(counts["n"])
    rising = counts.mutate(
        tail=n.sum().over(ibis.cumulative_window(group_by=keys, order_by=counts["n"])),
        largest=n.max().over(group_by=keys),
    )
    hits = _double((rising["largest"] < c * rising["tail"]).ifelse(1, 0))  # 1.0 is a decimal to PostgreSQL
    return cells.measured(rising, lambda each: each["hits"], hits=hits.sum())


def _effective(each: Table) -> FloatingValue:
    """The number of equally frequent values that have the same entropy."""
    size, parts = _double(each["class_size"]), _double(each["parts"])
    even = each["most"] * each["parts"] == each["class_size"]
    return even.ifelse(parts, (size.ln() - each["n_log_n"] / size).exp())


def _closeness(cells: Cells, variant: str) -> Table:
    if variant != "equal":
        raise UnavailableError(
            f"t_closeness on Ibis must have variant='equal', got '{variant}': {EQUAL_ALONE}; ask DuckDB"
        )
    cell = cells.against_the_table()
    beside = cell.mutate(size=sum_over(cell, cells.keys, "n"), share=cell["held"] / cell["total"])
    n, size, share = (_double(beside[name]) for name in ("n", "size", "share"))
    further = n / size - share
    positive = (further > 0).ifelse(further, NOTHING)
    return cells.measured(beside, lambda each: each["further"], further=positive.sum())


def alpha_k_anonymity(tbl: Table, qi: Sequence[str], sensitive: str, nulls: str, by: By = None) -> Table:
    """The share that a class's most frequent value has in it."""
    refuse_by(by)
    cells = _cells(tbl, qi, sensitive, nulls)
    return cells.kinds(_most_frequent(cells))


def alpha_k_anonymity_classes(
    tbl: Table, qi: Sequence[str], sensitive: str, *, alpha: float, k: int, nulls: str
) -> Table:
    """The classes where it has more than alpha, or of fewer than k records."""
    cells, beyond = _listed(tbl, qi, sensitive, nulls), _above(alpha)
    return cells.offending(
        _most_frequent(cells), lambda measured: beyond(measured) | (measured["class_size"] < int(k))
    )


def _most_frequent(cells: Cells) -> Table:
    return cells.measured(cells.counts, lambda each: _double(each["most"]) / _double(each["class_size"]))


def _likeness(cells: Cells, variant: str) -> Table:
    beside = cells.against_the_table()
    if variant == "basic":
        return cells.measured(beside, _gain, **_ends(beside))
    _refuse_finite(cells, "beta_likeness", "basic", variant)
    n, held, total = (_double(beside[name]) for name in ("n", "held", "total"))
    allowed = (n * total / (held * (1 - (held / total).ln()))).max()

    def bounded(each: Table) -> FloatingValue:
        return (each["allowed"] <= each["class_size"]).ifelse(_gain(each), inf)

    return cells.measured(beside, bounded, allowed=allowed, **_ends(beside))


def _disclosed(cells: Cells, variant: str) -> Table:
    beside = cells.against_the_table()
    if variant == "present":
        return cells.measured(beside, _surprise, **_ends(beside))
    _refuse_finite(cells, "delta_disclosure", "present", variant)

    values = cells.held.count().name("kinds").as_scalar()

    def whole_kinds(each: Table) -> FloatingValue:
        return (each["parts"] == values).ifelse(_surprise(each), inf)

    return cells.measured(beside, whole_kinds, **_ends(beside))


def _refuse_finite(cells: Cells, name: str, finite: str, variant: str) -> None:
    """Refuse a measure that can be infinite to a database whose doubles cannot."""
    if (held := backend(cells.rows)) in FINITE:
        rule = f"{name} on {held} must have variant='{finite}', got '{variant}'"
        raise UnavailableError(f"{rule}: {NO_INFINITY}; ask DuckDB")


def _gain(each: Table) -> FloatingValue:
    """How much more frequent a value is in the class than in the table, at most."""
    gain = _in_class(each, "highest") - 1
    return (gain > 0).ifelse(gain, NOTHING)


def _surprise(each: Table) -> FloatingValue:
    """By what factor, as a logarithm, a value's shares in the class and in the table differ, at most."""
    more, less = _in_class(each, "highest").ln(), -_in_class(each, "lowest").ln()
    most = (more > less).ifelse(more, less)
    return (most > 0).ifelse(most, NOTHING)


def _ends(beside: Table) -> dict[str, NumericValue]:
    """The highest and lowest share of a value's records in the class, and the table's records."""
    ratio = _double(beside["n"]) / _double(beside["held"])
    return {"highest": ratio.max(), "lowest": ratio.min(), "total": beside["total"].max()}


def _in_class(each: Table, end: str) -> FloatingValue:
    """A value's frequency in the class over that in the table."""
    return each[end] * _double(each["total"]) / _double(each["class_size"])


def _of_variant(measured: Callable[[Cells, str], Table]) -> Callable[..., Table]:
    """Bind a measure whose variant is its one option."""

    def kinds(
        tbl: Table, qi: Sequence[str], sensitive: str, *, variant: str, nulls: str, by: By = None
    ) -> Table:
        refuse_by(by)
        cells = _cells(tbl, qi, sensitive, nulls)
        return cells.kinds(measured(cells, variant))

    return kinds


def _beyond(measured: Callable[[Cells, str], Table], threshold: str) -> Callable[..., Table]:
    """Bind the listing of classes whose value is above the threshold, an argument of this name."""

    def classes(
        tbl: Table, qi: Sequence[str], sensitive: str, *, variant: str, nulls: str, **limits: float
    ) -> Table:
        cells = _listed(tbl, qi, sensitive, nulls)
        return cells.offending(measured(cells, variant), _above(limits[threshold]))

    return classes


# How far the values of a class are distributed from those of the table; how much more frequent a value is in
# a class than in the table, at most; how far, in logarithms, its frequencies in the two are apart, at most.
t_closeness, t_closeness_classes = _of_variant(_closeness), _beyond(_closeness, "t")
beta_likeness, beta_likeness_classes = _of_variant(_likeness), _beyond(_likeness, "beta")
delta_disclosure, delta_disclosure_classes = _of_variant(_disclosed), _beyond(_disclosed, "delta")
