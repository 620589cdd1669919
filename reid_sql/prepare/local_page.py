"""A release by local recoding as the page of `prepare` describes it: columns, losses, the target."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from reid_sql.hierarchies.steps import ALL
from reid_sql.models.generalization.boxes import Boxes, PartitionColumn
from reid_sql.models.generalization.lattice import DistinctRecords
from reid_sql.models.generalization.usefulness import recode_by_boxes
from reid_sql.models.numerics.quantiles import percent
from reid_sql.prepare.local import LocalTransformation
from reid_sql.prepare.partitioning import LocalRelease
from reid_sql.prepare.usefulness import describe_pairs, describe_recoded, mask_share

if TYPE_CHECKING:
    from reid_sql.prepare.transformation import TableRelease

DIGITS: Final = 4  # of a loss, as for global recoding


def local_losses(local: LocalRelease) -> dict[str, float]:
    """Round the losses."""
    return {word: _few(loss) for word, loss in local.losses.items()}


def limit_words(table: "TableRelease", column: str) -> str | None:
    """Describe the limit of a column, None if it has none."""
    limit = table.limits.get(column)
    return None if limit is None else limit.words


def local_columns(table: "TableRelease", local: LocalRelease, below: int) -> list[dict[str, Any]]:
    """Describe each column: the records that show it as it is or not at all, and its bits lost, as shares."""
    form = local.transformation
    parts = zip(
        form.hierarchies, form.columns, form.partition.boxes, local.column_losses, strict=True
    )
    return [
        {
            "column": hierarchy.column,
            "level": None,
            "form": f"{hierarchy.column} {_words(form, hierarchy.column, column, boxes, below)}",
            "loss": _few(float(lost)),
            "weight": column.weight,
            "limit": limit_words(table, hierarchy.column),
            "hierarchy": (names := [hierarchy.words(at) for at in range(hierarchy.levels)]),
            "ladder": names,  # the older name of the key
        }
        for hierarchy, column, boxes, lost in parts
    ]


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
    if table.target is None:
        return None
    form, rows = local.transformation, local.rows
    place = form.partition.place
    codes = np.array(
        [_codes(form.labels.get(name), place, rows.codes[at]) for at, name in enumerate(form.names)]
    )
    shown = DistinctRecords(codes, rows.counts)
    values = rows.codes[len(codes) + table.target.place]
    return describe_recoded(table.target, table.lattice, (shown, values, place), below)


def local_cross_tables(
    table: "TableRelease", local: LocalRelease, below: int
) -> list[dict[str, Any]]:
    """Describe how much each cross table changes by what the classes show."""
    if table.cross is None:
        return []
    form, rows = local.transformation, local.rows
    place = form.partition.place
    recoded = [
        recode_by_boxes(column, boxes, place)
        for column, boxes in zip(form.columns, form.partition.boxes, strict=True)
    ]
    return describe_pairs(
        table.cross, rows, (recoded, rows, np.ones(len(rows.counts), dtype=np.bool_)), below
    )


def _codes(labels: Any, place: Any, original: Any) -> Any:  # noqa: ANN401 - arrays of codes
    """Number what each record shows."""
    if labels is None:
        return original
    numbers = {label: at for at, label in enumerate(dict.fromkeys(labels))}
    return np.array([numbers[label] for label in labels])[place]


def _few(loss: float) -> float:
    return float(f"{loss:.{DIGITS}g}")
