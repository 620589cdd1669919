"""The figures of a large table after a click: from its distinct combinations, which are counted once.

They are exact. What needs all rows again is not counted here: the columns in no check, the cautions, and the
population. So no check is judged. Where nearly all rows are distinct, shares are estimated from drawn rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from reid_sql.check.duckdb_table import DuckDBTableCounts
from reid_sql.check.evaluation import read_figure
from reid_sql.check.exact_figures import (
    WHOLE,
    ColumnSizes,
    MeasuredCheck,
    MeasuredTable,
    Overview,
)
from reid_sql.check.gate import report_tables
from reid_sql.check.masking import ReportPage
from reid_sql.check.policy_model import Check, Policy
from reid_sql.check.remarks import remark
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.classes.sensitive import ClassValues, summarize_lowest
from reid_sql.models.comparison.linkage import wilson_interval
from reid_sql.models.generalization.lattice import (
    DistinctRecords,
    Lattice,
    Node,
    class_sizes,
    combine_codes,
    count_sizes,
)
from reid_sql.models.generalization.suppression import Rules
from reid_sql.prepare.problem import Generalization

LARGE: Final = 500_000  # rows, from which a click counts the distinct combinations alone
NOT_COUNTED: Final = "the columns in no check, the cautions and the population are not counted yet"
SAMPLED: Final = 2_000_000  # distinct combinations, above which a click estimates shares
DRAWN: Final = 20_000  # rows: a share of them is right to .7 percentage points, at 95 %
MULTIPLIER: Final = np.uint64(
    0x9E3779B97F4A7C15
)  # 2**64 over the golden ratio: Knuth's hash of a number
BITS: Final = 22  # of a hash, by which rows are passed over
LEAST_VALUES: Final = 2.0  # of a sensitive column, in each class


class QuickCounts:
    """The classes of a release without the records that are `gone`, and what follows from them."""

    def __init__(
        self,
        generalization: Generalization,
        node: tuple[int, ...],
        gone: NDArray[np.bool_],  # (classes,)
        rules: Rules | None,  # on the sensitive columns, if there are any
    ) -> None:
        """Take the classes at the node that stay."""
        self.generalization, self.node = generalization, node
        classes, self.stays = generalization.lattice.records_at(node), ~gone
        self.values = {} if rules is None else rules.counts(node, classes)
        self.classes = DistinctRecords(classes.codes[:, self.stays], classes.counts[self.stays])

    def histogram(self, places: Sequence[int]) -> Histogram:
        """Count the classes of each size by some of the columns."""
        codes = [self.classes.codes[at] for at in places]
        sizes = [self.generalization.lattice.level_codes[at].sizes[self.node[at]] for at in places]
        counts = class_sizes(codes, sizes, self.classes.counts)
        size, classes = count_sizes(counts)
        return Histogram(size, classes, size * classes)

    def diversity(self, column: str) -> Mapping[str, Any]:
        """Count the values of a sensitive column in each class, as l_diversity answers."""
        counted = self.values[self.generalization.unchanged.index(column)]
        values = counted.total(np.ones(len(counted.place)))[self.stays]
        classes = ClassValues(self.classes.counts, values, np.ones_like(self.classes.counts))
        return asdict(summarize_lowest(classes, LEAST_VALUES, "distinct"))


class DrawnRows:
    """Rows drawn from a table without replacement, whose classes are counted among all its rows."""

    def __init__(self, lattice: Lattice) -> None:
        """Draw rows by their places, which are in the order in which the database lists them."""
        self.lattice, records = lattice, lattice.records
        counts = lattice.records_at((0,) * len(lattice.shape)).counts
        rng = np.random.default_rng(0)
        drawn = rng.choice(records, min(DRAWN, records), replace=False, shuffle=False)
        self.drawn = np.searchsorted(np.cumsum(counts), drawn, side="right")

    def class_sizes(self, node: Node) -> NDArray[np.int64]:
        """Count the class of each drawn row at a node."""
        codes, sizes, records = self.lattice.codes_at(node)
        key = combine_codes(codes, sizes)
        drawn, place = np.unique(key[self.drawn], return_inverse=True)
        # Few rows are in the class of a drawn one: the hashes of these pass over nearly all others
        hashes = (key.view(np.uint64) * MULTIPLIER) >> np.uint64(64 - BITS)
        marked = np.zeros(2**BITS, dtype=np.bool_)
        marked[hashes[self.drawn]] = True
        near = np.flatnonzero(marked[hashes])
        found = np.minimum(np.searchsorted(drawn, key[near]), len(drawn) - 1)
        is_there = drawn[found] == key[near]
        counts = records[near]
        return np.bincount(found[is_there], counts[is_there], len(drawn)).astype(np.int64)[place]


def interval_below(sizes: NDArray[np.int64], least: int) -> tuple[float, float]:
    """The interval of 95 % of the share of rows whose class has fewer than `least`."""
    return wilson_interval(float((sizes < least).mean()), len(sizes))


def measure_quickly(policy: Policy, counts: DuckDBTableCounts, quick: QuickCounts) -> ReportPage:
    """Report the figures that follow from the classes."""
    table, places = counts.table, range(len(quick.node))
    classes = quick.histogram(places)
    columns = tuple(
        ColumnSizes(
            name,
            quick.histogram([at]),
            quick.histogram([each for each in places if each != at]) if len(places) > 1 else None,
        )
        for at, name in enumerate(table.quasi_identifiers)
    )
    measured = MeasuredTable(
        table,
        counts.evidence,
        int(classes.records.sum()),
        tuple(_measure(each, counts, classes, quick) for each in table.checks),
        classes=classes,
        overview=Overview(columns),
    )
    return report_tables(policy, [measured], None)


def _measure(
    check: Check, counts: DuckDBTableCounts, classes: Histogram, quick: QuickCounts
) -> MeasuredCheck:
    """Read a check's figure from the classes; with a caution, as not everything was looked at."""
    cautions = (remark(NOT_COUNTED),)
    if check.measure.of_class_sizes:
        rows = counts.from_histogram(check, classes)
    elif check.measure.name == "l_diversity" and check.sensitive is not None:
        rows = [dict(quick.diversity(check.sensitive))]
    else:
        return MeasuredCheck(counts.table.name, check, (), cautions, NOT_COUNTED)
    return MeasuredCheck(counts.table.name, check, (read_figure(check, rows, WHOLE),), cautions)
