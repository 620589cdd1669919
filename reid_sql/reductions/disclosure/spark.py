"""Spark: what each class gives away about a sensitive column, from the records of each of its values."""

# By hand: groups are not there in Ibis' words, and beta takes 1.7 x as long (docs/spark.md).

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.counting import counted, null_report, own_names
from reid_sql.engines.spark.frames import Rows, alike, keyed, rows_of, with_totals
from reid_sql.engines.spark.groups import counted_by_group, rows_by_group
from reid_sql.errors import UnavailableError
from reid_sql.models.classes.sensitive import MEASURE_TOLERANCE, QI, refuse_sensitive_groups
from reid_sql.reduction import refuse_result_names
from reid_sql.reductions.disclosure import EQUAL_ALONE


@dataclass(frozen=True)
class Cells:
    """How many records, `n`, hold each sensitive value in each class; the sensitive column stands last.

    Where there are groups, each is a table of its own.
    """

    rows: Rows
    nulls: str
    counts: DataFrame
    groups: Sequence[str] = ()

    @property
    def keys(self) -> list[str]:
        """The columns of the classes."""
        return [*self.groups, *self.rows.names[:-1]]

    def measured(self, value: Column, **parts: Column) -> DataFrame:
        """The size and the value of each class, from parts that are aggregated of its cells."""
        always = {"class_size": F.sum("n"), "kinds_here": F.count(F.lit(1)), "most": F.max("n")}
        named = (part.alias(name) for name, part in (always | parts).items())
        classes = self.counts.groupBy(*self.keys).agg(*named)
        return classes.select(*self.keys, "class_size", value.cast("double").alias("value"))

    def against_the_table(self) -> "Cells":
        """The cells beside the table's records of their value, all its records, and its kinds of values."""
        own = [*self.groups, self.rows.names[-1]]
        held = self.counts.groupBy(*own).agg(F.sum("n").alias("held"))
        totals = held.groupBy(*self.groups).agg(
            F.sum("held").alias("total"), F.count(F.lit(1)).alias("kinds")
        )
        right = keyed(with_totals(held, totals, self.groups), own)
        both = self.counts.join(right, alike([F.col(name) for name in own], right))
        return replace(self, counts=both.drop("reid_key", "reid_hash"))

    def offending(self, measured: DataFrame, offends: Column) -> DataFrame:
        """The classes that offend a threshold, or whose value is not known."""
        kept = measured.filter(F.col("value").isNull() | offends)
        names = own_names(self.rows)[:-1]
        return null_report(self.rows, self.nulls, kept.select(*names, "class_size", "value"))


def _cells(tbl: DataFrame, qi: Sequence[str], sensitive: str, nulls: str) -> Cells:
    rows = rows_of(tbl, [*qi, sensitive], QI)
    return Cells(rows, nulls, counted(rows, nulls).withColumnRenamed("records", "n"))


def _kinds(
    measured: Callable[[Cells], DataFrame],
    tbl: DataFrame,
    qi: Sequence[str],
    sensitive: str,
    nulls: str,
    by: Sequence[str] | None,
) -> DataFrame:
    """How many classes have each size and value of the measure, in the table or in each group."""
    number = F.count(F.lit(1)).alias("classes")
    if by is None:
        cells = _cells(tbl, qi, sensitive, nulls)
        return null_report(cells.rows, nulls, measured(cells).groupBy("class_size", "value").agg(number))
    refuse_sensitive_groups(by, sensitive)
    rows = rows_by_group(tbl, [*qi, sensitive], by, None, nulls, QI)
    held = counted_by_group(rows, by, nulls)
    cells = Cells(rows, nulls, held.kept.drop("kept").withColumnRenamed("records", "n"), held.groups)
    return held.told(measured(cells).groupBy(*held.groups, "class_size", "value").agg(number))


def _listed(tbl: DataFrame, qi: Sequence[str], sensitive: str, nulls: str) -> Cells:
    cells = _cells(tbl, qi, sensitive, nulls)
    refuse_result_names(qi, ("class_size", "value"))
    return cells


def _above(threshold: float) -> Column:
    return F.col("value") > threshold * (1 + MEASURE_TOLERANCE)


def l_diversity(
    tbl: DataFrame,
    qi: Sequence[str],
    sensitive: str,
    *,
    variant: str,
    c: float,
    nulls: str,
    by: Sequence[str] | None = None,
) -> DataFrame:
    """How many values, well represented, a class has."""
    return _kinds(lambda cells: _diversity(cells, variant, c), tbl, qi, sensitive, nulls, by)


def l_diversity_classes(
    tbl: DataFrame,
    qi: Sequence[str],
    sensitive: str,
    *,
    variant: str,
    c: float,
    l: float,  # noqa: E741 - the parameter of SQL
    nulls: str,
) -> DataFrame:
    """The classes of fewer than l."""
    cells = _listed(tbl, qi, sensitive, nulls)
    return cells.offending(_diversity(cells, variant, c), F.col("value") < l * (1 - MEASURE_TOLERANCE))


def _diversity(cells: Cells, variant: str, c: float) -> DataFrame:
    size, distinct = F.col("class_size"), F.col("kinds_here").cast("double")
    if variant == "distinct":
        return cells.measured(distinct)
    if variant == "entropy":
        even = F.col("most") * F.col("kinds_here") == size
        effective = F.when(even, distinct).otherwise(F.exp(F.log(size) - F.col("n_log_n") / size))
        return cells.measured(effective, n_log_n=F.sum(F.col("n") * F.log("n")))
    start = F.struct(F.lit(0).cast("bigint").alias("sum"), F.lit(0).alias("hits"))

    def add(state: Column, count: Column) -> Column:
        reached = state["sum"] + count
        hit = (reached * F.lit(float(c)) > F.col("most")).cast("int")
        return F.struct(reached.alias("sum"), (state["hits"] + hit).alias("hits"))

    recursive = F.aggregate("held_by", start, add, lambda state: state["hits"])
    return cells.measured(recursive, held_by=F.sort_array(F.collect_list("n")))


def _closeness(cells: Cells, variant: str) -> DataFrame:
    if variant != "equal":
        raise UnavailableError(
            f"t_closeness on Spark must have variant='equal', got '{variant}': {EQUAL_ALONE}; ask DuckDB"
        )
    share = F.col("held") / F.col("total")
    shares = F.collect_list(F.struct(F.col("n").alias("n"), share.alias("share")))

    def add(found: Column, cell: Column) -> Column:
        return found + F.greatest(F.lit(0.0), cell["n"] / F.col("class_size") - cell["share"])

    return cells.against_the_table().measured(F.aggregate("shares", F.lit(0.0), add), shares=shares)


def alpha_k_anonymity(
    tbl: DataFrame, qi: Sequence[str], sensitive: str, nulls: str, by: Sequence[str] | None = None
) -> DataFrame:
    """The share that a class's most frequent value has in it."""
    return _kinds(_most_frequent, tbl, qi, sensitive, nulls, by)


def alpha_k_anonymity_classes(
    tbl: DataFrame, qi: Sequence[str], sensitive: str, *, alpha: float, k: int, nulls: str
) -> DataFrame:
    """The classes where it has more than alpha, or of fewer than k records."""
    cells = _listed(tbl, qi, sensitive, nulls)
    return cells.offending(_most_frequent(cells), _above(alpha) | (F.col("class_size") < int(k)))


def _most_frequent(cells: Cells) -> DataFrame:
    return cells.measured(F.col("most") / F.col("class_size"))


def _likeness(cells: Cells, variant: str) -> DataFrame:
    share, ends = F.col("held") / F.col("total"), _ends()
    gain = F.greatest(F.lit(0.0), _in_class("highest") - 1)
    if variant != "basic":
        ends["allowed"] = F.max(F.col("n") * F.col("total") / (F.col("held") * (1 - F.log(share))))
        gain = F.when(F.col("allowed") <= F.col("class_size"), gain).otherwise(inf)
    return cells.against_the_table().measured(gain, **ends)


def _disclosed(cells: Cells, variant: str) -> DataFrame:
    surprise = F.greatest(F.lit(0.0), F.log(_in_class("highest")), -F.log(_in_class("lowest")))
    if variant != "present":
        surprise = F.when(F.col("kinds_here") == F.col("kinds"), surprise).otherwise(inf)
    return cells.against_the_table().measured(surprise, **_ends())


def _ends() -> dict[str, Column]:
    """The highest and lowest share of a value's records in the class, and what is said of the table."""
    ratio = F.col("n") / F.col("held")
    of_table = {name: F.first(name) for name in ("total", "kinds")}
    return {"highest": F.max(ratio), "lowest": F.min(ratio), **of_table}


def _in_class(end: str) -> Column:
    """A value's frequency in the class over that in the table."""
    return F.col(end) * F.col("total") / F.col("class_size")


def _of_variant(measured: Callable[[Cells, str], DataFrame]) -> Callable[..., DataFrame]:
    """Bind a measure whose variant is its one option."""

    def kinds(
        tbl: DataFrame,
        qi: Sequence[str],
        sensitive: str,
        *,
        variant: str,
        nulls: str,
        by: Sequence[str] | None = None,
    ) -> DataFrame:
        return _kinds(lambda cells: measured(cells, variant), tbl, qi, sensitive, nulls, by)

    return kinds


def _beyond(measured: Callable[[Cells, str], DataFrame], threshold: str) -> Callable[..., DataFrame]:
    """Bind the listing of classes whose value is above the threshold, an argument of this name."""

    def classes(
        tbl: DataFrame, qi: Sequence[str], sensitive: str, *, variant: str, nulls: str, **limits: float
    ) -> DataFrame:
        cells = _listed(tbl, qi, sensitive, nulls)
        return cells.offending(measured(cells, variant), _above(limits[threshold]))

    return classes


# How far the values of a class are distributed from those of the table; how much more frequent a value is in
# a class than in the table, at most; how far, in logarithms, its frequencies in the two are apart, at most.
t_closeness, t_closeness_classes = _of_variant(_closeness), _beyond(_closeness, "t")
beta_likeness, beta_likeness_classes = _of_variant(_likeness), _beyond(_likeness, "beta")
delta_disclosure, delta_disclosure_classes = _of_variant(_disclosed), _beyond(_disclosed, "delta")
