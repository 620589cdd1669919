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
from reid_sql.errors import UnavailableError
from reid_sql.models.classes.sensitive import MEASURE_TOLERANCE, QI
from reid_sql.parameters import Arguments, ColumnNames
from reid_sql.reduction import refuse_result_names
from reid_sql.reductions.disclosure import NO_INFINITY, Criterion, read_criterion

NOTHING: Final = 0.0
# databases whose doubles are never infinite
FINITE: Final = ("mssql", "mysql", "singlestoredb", "flink")


@dataclass(frozen=True)
class Recipe:
    """How a measure follows from the cells of a class: parts that are aggregated, and its value from them."""

    value: Callable[[Table], NumericValue]
    parts: Callable[[Table], dict[str, NumericValue]] = lambda cells: {}  # noqa: ARG005 - none
    # whether it needs the records of the table that have the cell's value
    is_relative: bool = False
    needs_size: bool = False  # whether it needs the size of the class next to each cell
    # whether it needs the values of a class in the order of their frequency
    needs_tail: bool = False
    needs_kinds: bool = False  # whether it needs how many values the table has


@dataclass(frozen=True)
class Cells:
    """How many records, `n`, hold each sensitive value, `s`, in each class, by numbered class columns."""

    rows: Table
    names: ColumnNames
    qi: ColumnNames
    nulls: str
    counts: Table
    keys: Sequence[str]  # that distinguish classes

    def measured(self, *recipes: Recipe) -> Table:
        """The size and the values of each class: `value`, or `value_0`, `value_1`, … of several measures.

        The parts that several measures need are aggregated once; the same name is the same part.
        """
        cells = (
            self.against_the_table() if any(each.is_relative for each in recipes) else self.counts
        )
        if any(each.needs_size for each in recipes):
            cells = cells.mutate(size=sum_over(cells, self.keys))
        if any(each.needs_tail for each in recipes):
            keys, n = window_keys(cells, self.keys), _double(cells["n"])
            tail = n.sum().over(ibis.cumulative_window(group_by=keys, order_by=cells["n"]))
            cells = cells.mutate(tail=tail, largest=n.max().over(group_by=keys))
        if any(each.needs_kinds for each in recipes):
            cells = cells.mutate(kinds=self.in_table.count().name("kinds").as_scalar())
        parts = {name: part for each in recipes for name, part in each.parts(cells).items()}
        classes = cells.group_by(list(self.keys)).agg(
            class_size=sum_bigint(cells["n"]),
            parts=bigint(cells.count()),
            most=cells["n"].max(),
            **parts,
        )
        names = value_names(len(recipes))
        values = {
            name: _double(each.value(classes)) for name, each in zip(names, recipes, strict=True)
        }
        return classes.select(*self.keys, "class_size", **values)

    def against_the_table(self) -> Table:
        """The cells, each with the number of the table's records of its value, and of all records.

        They meet by `=`, which every database plans well, and NULL by itself; by a window, which sorts all
        cells, where a value may be no equal of its own: NaN in some databases, a NULL within a list.
        What is one number of the table is a query of its own: joined, it would be sorted with each cell.
        """
        counts, in_table = self.counts, self.in_table
        total = in_table["in_table"].sum().name("total").as_scalar()
        if counts["s"].type().is_floating() or counts["s"].type().is_nested():
            return counts.mutate(in_table=sum_over(counts, ["s"]), total=total)
        joined = counts.left_join(in_table, counts["s"] == in_table["s"])
        of_null = in_table["in_table"].sum(where=in_table["s"].isnull()).name("of_null").as_scalar()
        return joined.mutate(in_table=ibis.coalesce(joined["in_table"], of_null), total=total)

    @property
    def in_table(self) -> Table:
        """How many of the table's records have each value."""
        return self.counts.group_by("s").agg(in_table=_double(self.counts["n"]).sum())

    def kinds(self, *recipes: Recipe) -> Table:
        """How many classes have each size and value, or values."""
        counted = count_by(
            self.measured(*recipes), ["class_size", *value_names(len(recipes))], "classes"
        )
        counted = counted.mutate(records=counted["class_size"] * counted["classes"])
        return null_report(self.rows, self.names, self.nulls, counted)

    def offending(self, measured: Table, offends: BooleanValue) -> Table:
        """The classes that offend a threshold, or whose value is not known, under the original names."""
        shown = measured.filter(measured["value"].isnull() | offends)
        listed = with_names(shown, self.qi)
        columns = shown.select(**listed, class_size=shown["class_size"], value=shown["value"])
        return null_report(self.rows, self.names, self.nulls, columns)


def value_names(measures: int) -> list[str]:
    """The columns of the values of so many measures.

    >>> value_names(1), value_names(2)
    (['value'], ['value_0', 'value_1'])
    """
    return ["value"] if measures == 1 else [f"value_{place}" for place in range(measures)]


def _double(value: NumericValue) -> FloatingValue:
    """The number as a double: some databases divide whole numbers as whole ones."""
    return value.cast(dt.float64)


def _cells(tbl: Table, qi: ColumnNames, sensitive: str, nulls: str) -> Cells:
    columns = check_columns(QI, [*qi, sensitive], tbl)
    rows, names = with_aliases(tbl, columns), aliases(columns)
    in_table = drop_nulls(rows, names, nulls).rename(s=names[-1])
    counts, keys = with_sort_hash(count_by(in_table, [*names[:-1], "s"], "n"), names[:-1])
    return Cells(rows, names, list(qi), nulls, counts, keys)


def _listed(tbl: Table, qi: ColumnNames, sensitive: str, nulls: str) -> Cells:
    cells = _cells(tbl, qi, sensitive, nulls)
    refuse_result_names(qi, ("class_size", "value"))
    return cells


def _diversity(variant: str, c: float) -> Recipe:
    if variant == "distinct":
        return Recipe(lambda each: each["parts"])
    if variant == "entropy":
        return Recipe(_effective, _n_log_n)

    def hits(cells: Table) -> dict[str, NumericValue]:
        hit = (cells["largest"] < c * cells["tail"]).ifelse(1, 0)
        return {"hits": _double(hit).sum()}  # 1.0 is a decimal to PostgreSQL

    return Recipe(lambda each: each["hits"], hits, needs_tail=True)


def _n_log_n(cells: Table) -> dict[str, NumericValue]:
    n = _double(cells["n"])
    return {"n_log_n": (n * n.ln()).sum()}


def _effective(each: Table) -> FloatingValue:
    """The number of equally frequent values that have the same entropy."""
    size, parts = _double(each["class_size"]), _double(each["parts"])
    even = each["most"] * each["parts"] == each["class_size"]
    return even.ifelse(parts, (size.ln() - each["n_log_n"] / size).exp())


def _closeness(variant: str) -> Recipe:  # noqa: ARG001 - 'equal': DuckDB answers the others

    def further(cells: Table) -> dict[str, NumericValue]:
        n, size, in_table, total = (
            _double(cells[name]) for name in ("n", "size", "in_table", "total")
        )
        excess = n / size - in_table / total
        return {"further": (excess > 0).ifelse(excess, NOTHING).sum()}

    return Recipe(lambda each: each["further"], further, is_relative=True, needs_size=True)


def _most_frequent() -> Recipe:
    return Recipe(lambda each: _double(each["most"]) / _double(each["class_size"]))


def _likeness(variant: str) -> Recipe:
    if variant == "basic":
        return Recipe(_gain, _ends, is_relative=True)

    def parts(cells: Table) -> dict[str, NumericValue]:
        n, in_table, total = (_double(cells[name]) for name in ("n", "in_table", "total"))
        return _ends(cells) | {
            "allowed": (n * total / (in_table * (1 - (in_table / total).ln()))).max()
        }

    def bounded(each: Table) -> FloatingValue:
        return (each["allowed"] <= each["class_size"]).ifelse(_gain(each), inf)

    return Recipe(bounded, parts, is_relative=True)


def _disclosed(variant: str) -> Recipe:
    if variant == "present":
        return Recipe(_surprise, _ends, is_relative=True)

    def parts(cells: Table) -> dict[str, NumericValue]:
        return _ends(cells) | {"kinds": cells["kinds"].max()}

    def whole_kinds(each: Table) -> FloatingValue:
        return (each["parts"] == each["kinds"]).ifelse(_surprise(each), inf)

    return Recipe(whole_kinds, parts, is_relative=True, needs_kinds=True)


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


MEASURED: Final[Mapping[str, Callable[..., Recipe]]] = {
    "l_diversity": _diversity,
    "t_closeness": _closeness,
    "alpha_k_anonymity": _most_frequent,
    "beta_likeness": _likeness,
    "delta_disclosure": _disclosed,
}
# the variant that is not
NEVER_INFINITE: Final = {"beta_likeness": "basic", "delta_disclosure": "present"}


def recipe_of(tbl: Table, name: str, options: Arguments) -> Recipe:
    """Return how a measure of these options is aggregated, or refuse what the database cannot have."""
    if name in NEVER_INFINITE:
        finite, variant = NEVER_INFINITE[name], options["variant"]
        if variant != finite and (engine := backend(tbl)) in FINITE:
            raise UnavailableError(
                f"{name} on {engine} must have variant='{finite}', got '{variant}': {NO_INFINITY}; ask DuckDB"
            )
    return MEASURED[name](**options)


def several_kinds(
    tbl: Table, qi: ColumnNames, sensitive: str, nulls: str, *recipes: Recipe
) -> Table:
    """How many classes have each size and values of several measures: the cells are counted once."""
    return _cells(tbl, qi, sensitive, nulls).kinds(*recipes)


def _offends(measured: Table, criterion: Criterion) -> BooleanValue:
    """Test for a value beyond the threshold by more than rounding may add to it, or fewer than k records."""
    limit, value = criterion.threshold, measured["value"]
    low, high = limit * (1 - MEASURE_TOLERANCE), limit * (1 + MEASURE_TOLERANCE)
    test = value < low if criterion.measure == "l_diversity" else value > high
    return test if criterion.k is None else test | (measured["class_size"] < criterion.k)


def _kinds(
    name: str,
    tbl: Table,
    qi: ColumnNames,
    sensitive: str,
    *,
    nulls: str,
    **options: Any,  # noqa: ANN401 - the variant, and what else the measure takes
) -> Table:
    """Count the classes of each size and value of the measure."""
    cells = _cells(tbl, qi, sensitive, nulls)
    return cells.kinds(recipe_of(cells.rows, name, options))


def disclosing_classes(
    tbl: Table,
    qi: ColumnNames,
    sensitive: str,
    *,
    measure: str,
    nulls: str,
    **options: Any,  # noqa: ANN401 - the variant, the threshold, and k of one measure
) -> Table:
    """List the classes that offend the threshold, or whose value is not known."""
    criterion = read_criterion(measure, **options)
    cells = _listed(tbl, qi, sensitive, nulls)
    measured = cells.measured(recipe_of(cells.rows, measure, criterion.options))
    return cells.offending(measured, _offends(measured, criterion))


# How many values, well represented, a class has; how far they are distributed from those of the table; the
# share of the most frequent one; how much more frequent a value is in the class than in the table, at most;
# how far, in logarithms, its frequencies in the two differ, at most.
l_diversity, t_closeness = partial(_kinds, "l_diversity"), partial(_kinds, "t_closeness")
alpha_k_anonymity = partial(_kinds, "alpha_k_anonymity")
beta_likeness, delta_disclosure = (
    partial(_kinds, "beta_likeness"),
    partial(_kinds, "delta_disclosure"),
)
