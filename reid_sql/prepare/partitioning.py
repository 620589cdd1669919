"""Search a release by local recoding: the partition of several strategies that loses least."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

import numpy as np

from reid_sql.check.duckdb_table import DuckDBTableCounts
from reid_sql.errors import UnavailableError
from reid_sql.hierarchies.hierarchy import Hierarchy
from reid_sql.hierarchies.steps import Bands, DatePart, text
from reid_sql.models.generalization.boxes import PartitionColumn, keep_range, limit_column
from reid_sql.models.generalization.criteria import Criterion
from reid_sql.models.generalization.downcoding import count_recovered_bits
from reid_sql.models.generalization.lattice import DistinctRecords, Entropy
from reid_sql.models.generalization.partition import STRATEGIES, ClassRequirement, Partition, divide
from reid_sql.models.generalization.suppression import Requirement
from reid_sql.parameters import Floats, quoted
from reid_sql.prepare.local import LocalTransformation, read_texts
from reid_sql.prepare.problem import Generalization

ORDERED_TYPES: Final = (
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
    *("DECIMAL", "FLOAT", "DOUBLE", "DATE", "TIMESTAMP"),
)
ONE_TEXT_TYPES: Final = (
    *(kind for kind in ORDERED_TYPES if kind not in {"FLOAT", "DOUBLE"}),
    "VARCHAR",
    "BOOLEAN",
)


@dataclass(frozen=True)
class LocalRelease:
    """A partition that meets the policy: its query, its losses, and the distinct records that it divides."""

    transformation: LocalTransformation
    losses: dict[str, float]
    column_losses: Floats  # (columns,) of all bits of the column
    rows: DistinctRecords
    recovered: Floats  # (columns,) bits that the divisions give back

    @property
    def recovered_share(self) -> float:
        """The share of all lost bits that the divisions give back, weighted as the loss is."""
        form = self.transformation
        weights = np.array([column.weight for column in form.columns])
        lost = float(form.partition.bits @ weights)
        return float(self.recovered @ weights) / lost if lost else 0.0

    @property
    def strategy(self) -> str:
        """How classes are divided."""
        return self.transformation.partition.strategy


def refuse_other_tables(original: DuckDBTableCounts) -> None:
    """Refuse checks that compare with a table whose records belong to no class of the partition."""
    if original.table.role_sources:
        rule = "prepare.method = 'local' must have checks of the table alone"
        got = f"got {original.table.name} with {', '.join(original.table.role_sources)}"
        raise UnavailableError(f"{rule}, {got}; write method = 'global'")


def find_several_texts(
    original: DuckDBTableCounts,
    hierarchies: Sequence[Hierarchy],
    kinds: Mapping[str, str],
    by_text: Collection[str],
) -> str | None:
    """Return a column of which equal values have several texts, as -0.0 and 0.0, or an hour and 60 minutes.

    By these texts, the query finds the class of a record, but for columns that are divided by cuts alone.
    """
    for each in hierarchies:
        name, kind = quoted(each.column), kinds[each.column]
        if kind.partition("(")[0] in ONE_TEXT_TYPES or is_ordered(
            each, kind, written=each.column in by_text
        ):
            continue
        several = f"""SELECT count(*) FROM (
            SELECT {name} FROM {original.engine.view}
            GROUP BY {name} HAVING count(DISTINCT {text(name)}) > 1)"""
        if original.engine.ask(several)[0][0]:
            return each.column
    return None


def refuse_several_texts(name: str, kind: str) -> UnavailableError:
    """Say why a column is not recoded locally."""
    rule = "a column to recode locally must have one text for equal values"
    return UnavailableError(
        f"{rule}, got '{name}' of type {kind}; write these values alike in a view, or method = 'global'"
    )


def is_ordered(hierarchy: Hierarchy, kind: str, *, written: bool) -> bool:
    """Whether classes show ranges of the column: numbers and dates without a hierarchy in the policy."""
    scaled = any(isinstance(step, Bands | DatePart) for step in hierarchy.steps)
    return not written and scaled and kind.partition("(")[0] in ORDERED_TYPES


def smallest_class(requirement: Requirement) -> int:
    """Give a size of classes with which every limit on class sizes is met.

    A class of n records has risk 1/n. No record is above a threshold t if n >= 1/t, and there are no more
    than a classes for each record if n >= 1/a.
    """
    sizes = [requirement.k, 2 if requirement.unique < requirement.records else 1]
    sizes += (
        [ceil(1 / requirement.average * (1 - 1e-9))]
        if requirement.average > 0
        else [requirement.records + 1]
    )
    sizes += [
        ceil(1 / threshold * (1 - 1e-9)) if threshold > 0 else requirement.records + 1
        for threshold, most in requirement.shares
        if most < 1
    ]
    return max(sizes)


def partition_table(
    original: DuckDBTableCounts,
    generalization: Generalization,
    requirement: Requirement,
    criteria: Sequence[tuple[str, Criterion]],
    settings: "Settings",
) -> LocalRelease | None:
    """Return the partition of the least loss that meets the policy, if one of the strategies finds any."""
    kinds = tuple(settings.kinds[each.column] for each in generalization.hierarchies)
    columns = _partition_columns(generalization, settings)
    lattice = generalization.wider or generalization.lattice
    rows = lattice.records_at((0,) * len(lattice.shape))
    asked = _class_requirement(rows, generalization, smallest_class(requirement), criteria)
    found = [divide(columns, rows, asked, strategy, settings.stop) for strategy in STRATEGIES]
    losses = {
        at: _losses(made, generalization) for at, made in enumerate(found) if made is not None
    }
    texts = None
    for at in sorted(losses, key=lambda at: losses[at][settings.loss]):
        texts = texts or tuple(
            read_texts(original, each, column)
            for each, column in zip(generalization.hierarchies, columns, strict=True)
        )
        partition = found[at]
        if partition is None:
            continue
        form = LocalTransformation(generalization.hierarchies, columns, kinds, texts, partition)
        if settings.is_met(form):
            bits = np.array([column.all_bits for column in columns])
            recovered = count_recovered_bits(columns, partition)
            # a column of one value has no bits to lose
            lost = np.divide(partition.bits, bits, out=np.zeros(len(bits)), where=bits > 0)
            return LocalRelease(form, losses[at], lost, rows, recovered)
    return None


def _partition_columns(
    generalization: Generalization, settings: "Settings"
) -> tuple[PartitionColumn, ...]:
    """Return the columns as a partition divides them, within their limits."""
    columns = []
    for each, codes, weight in zip(
        generalization.hierarchies,
        generalization.lattice.level_codes,
        generalization.lattice.weights,
        strict=True,
    ):
        name = each.column
        ordered = is_ordered(each, settings.kinds[name], written=name in settings.written)
        limits = limit_column(codes, generalization.limits.get(name, len(codes.codes)))
        if ordered and name in settings.never_left_out:
            limits = keep_range(codes)
        columns.append(PartitionColumn(codes, ordered, weight, limits))
    return tuple(columns)


@dataclass(frozen=True)
class Settings:
    """What a partition is chosen by, columns with a hierarchy in the policy, and those never left out."""

    loss: str
    kinds: dict[str, str]
    written: frozenset[str]
    never_left_out: frozenset[str]
    is_met: Callable[[LocalTransformation], bool]
    stop: Callable[[], bool]


def _class_requirement(
    rows: DistinctRecords,
    generalization: Generalization,
    least: int,
    criteria: Sequence[tuple[str, Criterion]],
) -> ClassRequirement:
    columns = len(generalization.hierarchies)
    coded = [
        (criterion, rows.codes[columns + generalization.others.index(column)])
        for column, criterion in criteria
    ]
    shares = [np.bincount(codes, rows.counts) / rows.counts.sum() for _, codes in coded]
    return ClassRequirement(
        least,
        tuple(
            (criterion, codes, share)
            for (criterion, codes), share in zip(coded, shares, strict=True)
        ),
    )


def _losses(made: Partition, generalization: Generalization) -> dict[str, float]:
    """Give the losses of the partition, as those of the lattice: no record is left out."""
    sizes, records = made.sizes.astype(np.float64), generalization.lattice.records
    return {
        "entropy": float(made.bits @ generalization.lattice.weights)
        / Entropy(generalization.lattice).whole,
        "discernibility": float(sizes @ sizes) / records**2,
        "class_size": float(sizes.mean()) / records,
    }
