"""The outcome of preparing as a dictionary without small counts, and as rows of CSV."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from reid_sql.check.masking import round_figures
from reid_sql.hierarchies.hierarchy import Hierarchy
from reid_sql.hierarchies.steps import ALL
from reid_sql.models.generalization.boxes import Boxes, PartitionColumn
from reid_sql.models.generalization.lattice import LOSS_LABELS, DistinctRecords, Entropy, make_loss
from reid_sql.models.generalization.search import MAX_NODES, CountedNode
from reid_sql.models.generalization.suppression import (
    CellSuppression,
    PeopleRules,
    SizeRules,
    apply_suppression,
    merge_people,
    suppress_cells,
)
from reid_sql.models.generalization.usefulness import recode_by_boxes
from reid_sql.models.numerics.quantiles import percent
from reid_sql.parameters import Flags
from reid_sql.prepare.local import LocalTransformation
from reid_sql.prepare.partitioning import LocalRelease
from reid_sql.prepare.usefulness import (
    describe_global,
    describe_pairs,
    describe_recoded,
    describe_target,
    mask_share,
    no_suppression,
    round_share,
)

if TYPE_CHECKING:
    from reid_sql.prepare.transformation import Outcome, TableRelease

Page = dict[str, Any]
FORMAT: Final = "reid-sql release 1"
ENTROPY: Final = "entropy"
SUPPRESSION: Final = (
    *("suppressed_share", "suppressed_below", "suppressed_for"),
    *("blank_share", "blank_columns"),
)
OF_CLASS_SIZES: Final = ("discernibility", "class_size")  # losses that are sums over the classes
# In the JSON alone: lists of the table's own, and what a row has under another name.
LEFT_OUT: Final = {
    *("name", "loss", "columns", "columns_released", "columns_left_out"),
    *("columns_blank", "columns_numbered"),
    *("frontier", "cross_tables", "choices"),
}
COMPLETE, OTHER_NULLS, TOO_LARGE, TIME_LIMIT = "complete", "other_nulls", "too_large", "time_limit"
REFUSED = "refused_cautions"


def page(outcome: "Outcome") -> Page:
    """Describe the release of each table, with the gate's report on it."""
    described: Page = round_figures(
        {
            "format": FORMAT,
            "policy": outcome.policy.name,
            "policy_sha256": outcome.policy.sha256,
            "verdict": outcome.verdict,
            "exit_code": outcome.exit_code,
            "tables": [_table_page(outcome, table) for table in outcome.tables],
            "report": outcome.report,
        }
    )
    return described


def _table_page(outcome: "Outcome", table: "TableRelease") -> Page:
    best, below = table.result.best, outcome.policy.mask_below
    recoding = GlobalRecoding(table, best, below) if best else None
    losses: dict[str, Page | None] = {
        "global": recoding.losses() if recoding else None,
        "local": {word: round_share(loss) for word, loss in table.local.losses.items()}
        if table.local
        else None,
    }
    if _hides_class_sizes(outcome, table.table.name):
        losses = {
            method: each and each | dict.fromkeys(OF_CLASS_SIZES) for method, each in losses.items()
        }
    minimized = {
        method: each[table.preparing.loss] if each else None for method, each in losses.items()
    }
    method = "local" if table.is_local else "global"
    described = {
        "name": table.table.name,
        "loss": table.preparing.loss,
        "method": method,
        "global_loss": minimized["global"],
        "local_loss": minimized["local"],
        "partition": None,
        "recovered": None,
        "optimal": False,
        "none_meets": False,
        "least_possible_loss": None,
        "search_ended": _search_end(table),
        "forms": table.result.nodes,
        "forms_counted": len(table.result.counted),
        "seconds": round(table.seconds, 1),
        "measured_on_the_release": sorted(set(table.left_to_gate)),
        **dict.fromkeys(SUPPRESSION),
        "entity": table.table.entity,
        "target": None,
        "cross_tables": [],
        "columns": [],
        "losses": losses[method],
        "columns_released": table.shipped if table.form else [],
        "columns_left_out": table.omitted,
        "columns_blank": table.blank,
        "columns_numbered": [table.numbered] if table.form and table.numbered else [],
        "k": max(2, table.requirement.k),  # the size below which classes are small
        "frontier": frontier_of(table, below),
        "choices": [dict(each) for each in table.choices],
        "cautions": list(table.cautions),
    }
    if table.is_local:
        return described | _local_release(table, below)
    return described | _global_release(table, recoding, minimized["global"])


def _global_release(
    table: "TableRelease", recoding: "GlobalRecoding | None", loss: float | None
) -> Page:
    """Describe global recoding: what is proved of it, what it leaves out, its use, and its columns."""
    columns = _global_columns(table)
    if recoding is None:
        return {"none_meets": table.proved and not table.is_refused, "columns": columns}
    form, wanted = table.generalization, table.preparing
    parts = recoding.best.node, recoding.shown_suppression, recoding.below
    return recoding.suppression_page() | {
        "optimal": table.proved,
        "least_possible_loss": None if loss is None else min(round_share(table.result.bound), loss),
        "target": describe_target(form, wanted.target, *parts),
        "cross_tables": describe_global(form, wanted.cross_tables, *parts),
        "columns": columns,
    }


def _local_release(table: "TableRelease", below: int) -> Page:
    """Describe local recoding, which leaves out no record."""
    local = table.local
    if local is None:
        none = {"level": None, "form": None, "loss": None}
        return {"columns": [each | none for each in _global_columns(table)]}
    nothing: Page = dict.fromkeys(("suppressed_share", "blank_share"), 0.0)
    return nothing | {
        "partition": local.strategy,
        "recovered": round_share(local.recovered_share),
        "suppressed_for": [],
        "blank_columns": [],
        "target": local_target(table, local, below),
        "cross_tables": local_cross_tables(table, local, below),
        "columns": local_columns(table, local, below),
    }


def _hides_class_sizes(outcome: "Outcome", name: str) -> bool:
    """Whether the report on the release masks how many classes or records are of some size.

    The number of classes and the sum of their squares, next to what is shown, would give them.
    """
    reported = (
        [each for each in outcome.report["tables"] if each["name"] == name]
        if outcome.report
        else []
    )
    sizes = [part["records"] for each in reported for part in each["class_sizes"]]
    return None in sizes or any(each["classes"] is None for each in reported)


@dataclass(frozen=True)
class GlobalRecoding:
    """The transformation of a node, with what it leaves out; numbers of few records are masked."""

    table: "TableRelease"
    best: CountedNode
    below: int

    @cached_property
    def distinct(self) -> DistinctRecords:
        """The distinct records at the levels of the node."""
        return self.table.generalization.lattice.records_at(self.best.node)

    @cached_property
    def suppression(self) -> CellSuppression:
        """The blank cells and suppressed classes."""
        table, best = self.table, self.best
        if table.transformation is not None and table.transformation.stages:
            protected = table.generalization.protected
            return suppress_cells(self.distinct, best.outcome.cut or 1, protected)
        gone = (table.rules or SizeRules()).gone(best.node, self.distinct, best.outcome)
        return replace(no_suppression(self.distinct), gone=gone)

    @property
    def suppressed_share(self) -> float | None:
        """The share of records that are left out; None masks few records, or those of few people."""
        gone, person = self.suppression.gone, self.table.table.entity
        people = 0 if person is None else PeopleRules.count_people(self.distinct, gone)
        return None if 0 < people < self.below else self._share(gone)

    @property
    def blank_share(self) -> float | None:
        """The share of records with blank values; None masks few records."""
        return self._share(np.any(self.suppression.blank, axis=0))

    def _share(self, classes: Flags) -> float | None:
        records = int(self.distinct.counts[classes].sum())
        return None if 0 < records < self.below else records / self.table.records

    @property
    def shown_suppression(self) -> CellSuppression:
        """What is blank and suppressed; nothing if it is of few records, whose number would follow."""
        hides = self.suppressed_share is None or self.blank_share is None
        return no_suppression(self.distinct) if hides else self.suppression

    def suppression_page(self) -> Page:
        """Describe the suppressed records, those with blank values, and the blank columns."""
        form = self.table.transformation
        return {
            "suppressed_share": self.suppressed_share,
            "suppressed_below": None if form is None or form.cut <= 1 else form.cut,
            "blank_share": self.blank_share,
            "suppressed_for": [f"{rule.label} of {column}" for column, rule in form.rules]
            if form
            else [],
            "blank_columns": [list(stage) for stage in form.stages] if form else [],
        }

    def losses(self) -> Page:
        """Return the losses; those of the levels alone where few records are suppressed or blank."""
        lattice, node = self.table.generalization.lattice, self.best.node
        shown = self.shown_suppression
        after = apply_suppression(self.distinct, shown)
        after = after if self.table.table.entity is None else merge_people(after)
        none = np.zeros(len(after.counts), dtype=np.bool_)
        entropy = Entropy(lattice)
        lost = entropy.of_cells(node, self.distinct, shown.blank | shown.gone)
        losses = {ENTROPY: round_share(entropy.least(node) + lost)}
        for word in LOSS_LABELS:
            if word != ENTROPY:
                losses[word] = round_share(make_loss(word, lattice).of(node, after, none))
        return losses


def column_page(table: "TableRelease", hierarchy: Hierarchy, weight: float, shown: Page) -> Page:
    """Describe a column: what is `shown` of it, its weight, its limit and its hierarchy."""
    limit = table.preparing.limits.get(hierarchy.column)
    names = [hierarchy.words(at) for at in range(hierarchy.levels)]
    return {
        "column": hierarchy.column,
        **shown,
        "weight": weight,
        "limit": None if limit is None else limit.words,
        "hierarchy": names,
        "ladder": names,  # the older name of the key
    }


def _global_columns(table: "TableRelease") -> list[Page]:
    """Describe each column with its level, and the share of its bits that the level loses."""
    hierarchies, lattice = table.generalization.hierarchies, table.generalization.lattice
    # people are one more column of the lattice
    bits, weights = Entropy(lattice).columns[: len(hierarchies)], lattice.weights
    form, columns = table.transformation, []
    for at, (hierarchy, lost) in enumerate(zip(hierarchies, bits, strict=True)):
        shown: Page = dict.fromkeys(("level", "form", "loss"))
        if form is not None:
            level = form.node[at]
            loss = round_share(lost[level] / lost[-1]) if lost[-1] else None
            shown = {"level": level, "form": hierarchy.words(level), "loss": loss}
        columns.append(column_page(table, hierarchy, weights[at], shown))
    return columns


def frontier_of(table: "TableRelease", below: int) -> list[Page]:
    """List the evaluated transformations to which no other is superior in both risk and loss.

    The risk is the share of records in classes below k, before suppression. A masked share is given as
    the largest that the mask hides.
    """
    entropy = Entropy(table.generalization.lattice)
    lost = [
        (counted_node.below_k, entropy.least(counted_node.node), counted_node)
        for counted_node in table.result.counted
    ]
    shown: list[Page] = []
    for risk, loss, counted_node in sorted(lost, key=lambda each: each[:2]):
        shown_risk = max(risk, below / table.records) if risk else 0.0
        if not shown or (
            loss < shown[-1]["generalisation_loss"] and shown_risk > shown[-1]["records_below_k"]
        ):
            shown.append(
                {
                    "levels": list(counted_node.node[: len(table.generalization.hierarchies)]),
                    "records_below_k": shown_risk,
                    "generalisation_loss": loss,
                    "meets_class_sizes": counted_node.outcome.cut is not None,
                }
            )
    return [
        each | {"generalisation_loss": round_share(each["generalisation_loss"])} for each in shown
    ]


def release_rows(page: Page) -> list[Page]:
    """Return a row for each column: its level and loss, then the outcome for its table."""
    return [
        {
            "table": table["name"],
            "verdict": page["verdict"],
            **column,
            "minimised": table["loss"],
            **{name: value for name, value in table.items() if name not in LEFT_OUT},
        }
        for table in page["tables"]
        for column in table["columns"]
    ]


def _search_end(table: "TableRelease") -> str:
    """Say why the search of global recoding ended."""
    if table.is_refused:
        return REFUSED
    if table.result.optimal:
        return COMPLETE if table.proved else OTHER_NULLS
    return TOO_LARGE if table.result.nodes > MAX_NODES else TIME_LIMIT


# A release by local recoding: columns, the target, cross tables.


def local_columns(table: "TableRelease", local: LocalRelease, below: int) -> list[Page]:
    """Describe each column: the records that show it as it is or not at all, and its bits lost, as shares."""
    form, columns = local.transformation, []
    for hierarchy, column, boxes, lost in zip(
        form.hierarchies, form.columns, form.partition.boxes, local.column_losses, strict=True
    ):
        words = f"{hierarchy.column} {_words(form, hierarchy.column, column, boxes, below)}"
        shown = {"level": None, "form": words, "loss": round_share(float(lost))}
        columns.append(column_page(table, hierarchy, column.weight, shown))
    return columns


def _words(
    form: LocalTransformation, name: str, column: PartitionColumn, boxes: Boxes, below: int
) -> str:
    """Describe what classes show, by shares of the records; small counts are masked."""
    labels = form.labels.get(name)
    if labels is None:
        return "as it is"
    sizes = form.partition.sizes
    single = (boxes.low == boxes.high) & (boxes.level == 0)
    hidden = np.array([label == ALL for label in labels])
    if hidden.all():
        return "left out"
    shares = [
        (words, mask_share(float(sizes[which].sum() / sizes.sum()), int(sizes.sum()), below))
        for words, which in (("as it is", single), ("left out", hidden))
    ]
    coarser = "in ranges" if column.ordered else "at levels of its hierarchy"
    listed = ", ".join(f"{words} in {percent(share)}" for words, share in shares if share)
    return f"{coarser}; {listed} of the records" if listed else coarser


def local_target(
    table: "TableRelease", local: LocalRelease, below: int
) -> Mapping[str, Any] | None:
    """Describe how well the target is predicted by what the classes show."""
    target = table.preparing.target
    if target is None:
        return None
    form, rows = local.transformation, local.rows
    place = form.partition.place
    codes = np.array(
        [_codes(form.labels.get(name), place, rows.codes[at]) for at, name in enumerate(form.names)]
    )
    shown = DistinctRecords(codes, rows.counts)
    values = rows.codes[table.generalization.columns.index(target)]
    return describe_recoded(table.generalization, target, (shown, values, place), below)


def local_cross_tables(table: "TableRelease", local: LocalRelease, below: int) -> list[Page]:
    """Describe how much each cross table changes by what the classes show."""
    pairs = table.preparing.cross_tables
    if not pairs:
        return []
    form, rows = local.transformation, local.rows
    place = form.partition.place
    recoded = [
        recode_by_boxes(column, boxes, place)
        for column, boxes in zip(form.columns, form.partition.boxes, strict=True)
    ]
    stays = np.ones(len(rows.counts), dtype=np.bool_)
    return describe_pairs(table.generalization, pairs, (recoded, rows, stays), below)


def _codes(labels: Any, place: Any, original: Any) -> Any:  # noqa: ANN401 - arrays of codes
    """Number what each record shows."""
    if labels is None:
        return original
    numbers = {label: at for at, label in enumerate(dict.fromkeys(labels))}
    return np.array([numbers[label] for label in labels])[place]
