"""Ibis: what each class gives away about a sensitive column, from the records of each of its values.

They are counted in each class.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any, Final

import ibis
import ibis.expr.datatypes as dt
from ibis.expr.types import BooleanValue, FloatingValue, NumericValue, Table

from reid_sql.engines.ibis.frames import (
    aliases,
    backend,
    bigint,
    check_columns,
    count_by,
    drop_nulls,
    null_report,
    sum_bigint,
    sum_over,
    window_keys,
    with_aliases,
    with_names,
    with_sort_hash,
)
from reid_sql.engines.ibis.groups import refuse_by
from reid_sql.errors import UnavailableError
from reid_sql.models.classes.sensitive import MEASURE_TOLERANCE, QI
from reid_sql.reduction import refuse_result_names
from reid_sql.reductions.disclosure import EQUAL_ALONE, NO_INFINITY

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
    keys: Sequence[str]  # that distinguish classes

    def measured(self, cells: Table, value: Callable[[Table], NumericValue], **parts: NumericValue) -> Table:
        """The size and the value of each class, from parts that are aggregated of its cells."""
        classes = cells.group_by(list(self.keys)).agg(
            class_size=sum_bigint(cells["n"]), parts=bigint(cells.count()), most=cells["n"].max(), **parts
        )
        return classes.select(*self.keys, "class_size", value=_double(value(classes)))

    def against_the_table(self) -> Table:
        """The cells, each with the number of the table's records of its value, and of all records.

        They meet by `=`, which every database plans well, and NULL by itself; by a window, which sorts all
        cells, where a value may be no equal of its own: NaN in some databases, a NULL within a list.
        What is one number of the table is a query of its own: joined, it would be sorted with each cell.
        """
        counts, in_table = self.counts, self.in_table
        total = in_table["in_table"].sum().name("total").as_scalar()
        if counts["s"].type().is_floating() or counts["s"].type().is_nested():
            return counts.mutate(in_table=sum_over(counts, ["s"], "n"), total=total)
        joined = counts.left_join(in_table, counts["s"] == in_table["s"])
        of_null = in_table["in_table"].sum(where=in_table["s"].isnull()).name("of_null").as_scalar()
        return joined.mutate(in_table=ibis.coalesce(joined["in_table"], of_null), total=total)

    @property
    def in_table(self) -> Table:
        """How many of the table's records have each value."""
        return self.counts.group_by("s").agg(in_table=_double(self.counts["n"]).sum())

    def kinds(self, measured: Table) -> Table:
        """How many classes have each size and value."""
        counted = count_by(measured, ["class_size", "value"], "classes")
        counted = counted.mutate(records=counted["class_size"] * counted["classes"])
        return null_report(self.rows, self.names, self.nulls, counted)

    def offending(self, measured: Table, offends: BooleanValue) -> Table:
        """The classes that offend a threshold, or whose value is not known, under the original names."""
        shown = measured.filter(measured["value"].isnull() | offends)
        listed = with_names(shown, self.own)
        columns = shown.select(**listed, class_size=shown["class_size"], value=shown["value"])
        return null_report(self.rows, self.names, self.nulls, columns)


def _double(value: NumericValue) -> FloatingValue:
    """The number as a double: some databases divide whole numbers as whole ones."""
    return value.cast(dt.float64)


def _cells(tbl: Table, qi: Sequence[str], sensitive: str, nulls: str) -> Cells:
    every = check_columns(QI, [*qi, sensitive], tbl)
    rows, names = with_aliases(tbl, every), aliases(every)
    in_table = drop_nulls(rows, names, nulls).rename(s=names[-1])
    counts, keys = with_sort_hash(count_by(in_table, [*names[:-1], "s"], "n"), names[:-1])
    return Cells(rows, names, list(qi), nulls, counts, keys)


def _listed(tbl: Table, qi: Sequence[str], sensitive: str, nulls: str) -> Cells:
    cells = _cells(tbl, qi, sensitive, nulls)
    refuse_result_names(qi, ("class_size", "value"))
    return cells


def _diversity(cells: Cells, variant: str, c: float) -> Table:
    counts = cells.counts
    if variant == "distinct":
        return cells.measured(counts, lambda each: each["parts"])
    if variant == "entropy":
        n = _double(counts["n"])
        return cells.measured(counts, _effective, n_log_n=(n * n.ln()).sum())
    keys = window_keys(counts, cells.keys)
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
    joined = cell.mutate(size=sum_over(cell, cells.keys, "n"), share=cell["in_table"] / cell["total"])
    n, size, share = (_double(joined[name]) for name in ("n", "size", "share"))
    further = n / size - share
    positive = (further > 0).ifelse(further, NOTHING)
    return cells.measured(joined, lambda each: each["further"], further=positive.sum())


def _most_frequent(cells: Cells) -> Table:
    return cells.measured(cells.counts, lambda each: _double(each["most"]) / _double(each["class_size"]))


def _likeness(cells: Cells, variant: str) -> Table:
    joined = cells.against_the_table()
    if variant == "basic":
        return cells.measured(joined, _gain, **_ends(joined))
    _refuse_finite(cells, "beta_likeness", "basic", variant)
    n, in_table, total = (_double(joined[name]) for name in ("n", "in_table", "total"))
    allowed = (n * total / (in_table * (1 - (in_table / total).ln()))).max()

    def bounded(each: Table) -> FloatingValue:
        return (each["allowed"] <= each["class_size"]).ifelse(_gain(each), inf)

    return cells.measured(joined, bounded, allowed=allowed, **_ends(joined))


def _disclosed(cells: Cells, variant: str) -> Table:
    joined = cells.against_the_table()
    if variant == "present":
        return cells.measured(joined, _surprise, **_ends(joined))
    _refuse_finite(cells, "delta_disclosure", "present", variant)

    values = cells.in_table.count().name("kinds").as_scalar()

    def whole_kinds(each: Table) -> FloatingValue:
        return (each["parts"] == values).ifelse(_surprise(each), inf)

    return cells.measured(joined, whole_kinds, **_ends(joined))


def _refuse_finite(cells: Cells, name: str, finite: str, variant: str) -> None:
    """Refuse a measure that can be infinite to a database whose doubles cannot."""
    if (engine := backend(cells.rows)) in FINITE:
        rule = f"{name} on {engine} must have variant='{finite}', got '{variant}'"
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


def _ends(joined: Table) -> dict[str, NumericValue]:
    """The highest and lowest share of a value's records in the class, and the table's records."""
    ratio = _double(joined["n"]) / _double(joined["in_table"])
    return {"highest": ratio.max(), "lowest": ratio.min(), "total": joined["total"].max()}


def _in_class(each: Table, end: str) -> FloatingValue:
    """A value's frequency in the class over that in the table."""
    return each[end] * _double(each["total"]) / _double(each["class_size"])


MEASURED: Final[Mapping[str, Callable[..., Table]]] = {
    "l": _diversity,
    "t": _closeness,
    "alpha": _most_frequent,
    "beta": _likeness,
    "delta": _disclosed,
}


def _offends(measured: Table, measure: str, k: int | None = None, **threshold: float) -> BooleanValue:
    """Test for a value beyond the threshold by more than rounding may add to it, or fewer than k records."""
    (limit,) = threshold.values()
    value = measured["value"]
    low, high = limit * (1 - MEASURE_TOLERANCE), limit * (1 + MEASURE_TOLERANCE)
    test = value < low if measure == "l" else value > high
    return test if k is None else test | (measured["class_size"] < int(k))


def _kinds(
    measure: str,
    tbl: Table,
    qi: Sequence[str],
    sensitive: str,
    *,
    nulls: str,
    by: Sequence[str] | None = None,
    **options: Any,  # noqa: ANN401 - the variant, and what else the measure takes
) -> Table:
    """Count the classes of each size and value of the measure."""
    refuse_by(by)
    cells = _cells(tbl, qi, sensitive, nulls)
    return cells.kinds(MEASURED[measure](cells, **options))


def _classes(
    measure: str,
    tbl: Table,
    qi: Sequence[str],
    sensitive: str,
    *,
    nulls: str,
    variant: str | None = None,
    c: float | None = None,
    **thresholds: Any,  # noqa: ANN401 - the threshold of the measure, and k of one
) -> Table:
    """List the classes that offend the thresholds, or whose value is not known."""
    cells = _listed(tbl, qi, sensitive, nulls)
    options = {name: value for name, value in (("variant", variant), ("c", c)) if value is not None}
    measured = MEASURED[measure](cells, **options)
    return cells.offending(measured, _offends(measured, measure, **thresholds))


# How many values, well represented, a class has; how far they are distributed from those of the table; the
# share of the most frequent one; how much more frequent a value is in a class than in the table, at most; how
# far, in logarithms, its frequencies in the two differ, at most.
l_diversity, l_diversity_classes = partial(_kinds, "l"), partial(_classes, "l")
t_closeness, t_closeness_classes = partial(_kinds, "t"), partial(_classes, "t")
alpha_k_anonymity, alpha_k_anonymity_classes = partial(_kinds, "alpha"), partial(_classes, "alpha")
beta_likeness, beta_likeness_classes = partial(_kinds, "beta"), partial(_classes, "beta")
delta_disclosure, delta_disclosure_classes = partial(_kinds, "delta"), partial(_classes, "delta")
