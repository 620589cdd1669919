"""What a release is still good for: how well a target column is predicted, and cross tables that matter."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from reid_sql.hierarchies.hierarchy import Hierarchy
from reid_sql.models.generalization.lattice import DistinctRecords, Node
from reid_sql.models.generalization.suppression import CellSuppression, match_classes
from reid_sql.models.generalization.usefulness import (
    Prediction,
    RecodedColumn,
    column_at_level,
    cross_table_change,
    information_bits,
    misfits,
    predict_target,
    unchanged_column,
)
from reid_sql.models.numerics.quantiles import percent
from reid_sql.parameters import Integers
from reid_sql.prepare.problem import Generalization

DIGITS: Final = 4  # an exact share could reveal single records


def describe_target(
    generalization: Generalization,
    target: str | None,
    node: Node,
    suppression: CellSuppression,
    below: int,
) -> dict[str, Any] | None:
    """Describe the prediction from the table, and from its transformation at a node.

    A share of fewer records than `below` is given as the largest that the mask hides.
    """
    if target is None:
        return None
    recoded = _records(generalization, target, node, suppression)
    return describe_recoded(generalization, target, recoded, below)


def describe_recoded(
    generalization: Generalization,
    target: str,
    recoded: tuple[DistinctRecords, Integers, Integers],
    below: int,
) -> dict[str, Any]:
    """Describe the prediction from the table, and from recoded records with their target and classes."""
    hierarchies, lattice = generalization.hierarchies, generalization.lattice
    bottom = (0,) * len(lattice.shape)
    none = no_suppression(lattice.records_at(bottom))
    before, values, _ = _records(generalization, target, bottom, none)
    after, left, place = recoded
    whole = np.bincount(values, before.counts).astype(np.float64)
    gone = int(before.counts.sum() - after.counts.sum())
    first, last = predict_target(before, values), predict_target(after, left, gone, whole)

    def masked(share: float) -> float:
        return mask_share(share, int(before.counts.sum()), below)

    columns = []
    for at, hierarchy in enumerate(hierarchies):
        bits = information_bits(before, values, [at], whole)
        bits_left = max(information_bits(after, left, [at], whole), 0.0)
        # None if the column predicted nothing
        share_kept = round_share(min(bits_left / bits, 1.0)) if bits > 0 else None
        columns.append({"column": hierarchy.column, "information_kept": share_kept})
    kept = round_share(min(last.bits / first.bits, 1.0)) if first.bits > 0 else None
    return {
        "column": target,
        "expected_error": masked(1 - whole.max() / whole.sum()),
        "original": _prediction(first, hierarchies, masked),
        "released": _prediction(last, hierarchies, masked),
        "information_kept": kept,
        "classification_metric": masked(misfits(after, place, left, gone)),
        "columns": columns,
    }


def no_suppression(distinct: DistinctRecords) -> CellSuppression:
    """Return that nothing is blank and no record is left out."""
    gone = np.zeros(len(distinct.counts), dtype=np.bool_)
    return CellSuppression((), np.zeros(distinct.codes.shape, dtype=np.bool_), gone)


def _records(
    generalization: Generalization, target: str, node: Node, suppression: CellSuppression
) -> tuple[DistinctRecords, Integers, Integers]:
    """Return the distinct records that stay, their target's codes, and their classes."""
    rows, place = _rows_at(generalization, node)
    stays = ~suppression.gone[place]
    codes = np.where(suppression.blank[:, place], np.max(rows.codes) + 1, rows.codes[: len(node)])
    staying = DistinctRecords(codes[:, stays], rows.counts[stays])
    return staying, rows.codes[generalization.columns.index(target)][stays], place[stays]


def _rows_at(generalization: Generalization, node: Node) -> tuple[DistinctRecords, Integers]:
    """Return the distinct records of the widest lattice at a node, and the class of each."""
    rows = generalization.widest.records_at((*node, *(0,) * len(generalization.unchanged)))
    distinct = generalization.lattice.records_at(node)
    return rows, match_classes(generalization.widest, node, distinct, rows)


def _prediction(
    prediction: Prediction, hierarchies: Sequence[Hierarchy], masked: Callable[[float], float]
) -> dict[str, Any]:
    return {
        "by": [hierarchies[at].column for at in prediction.columns],
        "error": masked(prediction.error),
        "information": round_share(prediction.information),
        "log_loss": round_share(prediction.log_loss),
    }


def mask_share(share: float, records: int, below: int) -> float:
    """Round a share of the records; of few records, or of all but few, it is the mask or 1.

    >>> [mask_share(count / 1000, 1000, 10) for count in (0, 3, 125, 995, 1000)]
    [0.0, 0.01, 0.125, 1.0, 1.0]
    """
    count = round(share * records)
    if 0 < count < below:
        return min(1.0, below / records)
    return 1.0 if 0 < records - count < below else round_share(share)


def round_share(share: float) -> float:
    """Round a share or a loss to a few digits."""
    return float(f"{share:.{DIGITS}g}")


# Cross tables that matter: how much the table of two columns changes from the original to the release.


CHI_SQUARE_DIGITS: Final = 4
# columns, rows, rows that stay
Recoded = tuple[Sequence[RecodedColumn], DistinctRecords, NDArray[np.bool_]]


def describe_global(
    generalization: Generalization,
    pairs: Sequence[tuple[str, str]],
    node: Node,
    suppression: CellSuppression,
    below: int,
) -> list[dict[str, Any]]:
    """Describe how much each cross table changes by a transformation at a node."""
    if not pairs:
        return []
    rows, place = _rows_at(generalization, node)
    recoded = [
        column_at_level(column, level, codes, blank)
        for column, level, codes, blank in zip(
            generalization.widest.level_codes[: len(node)],
            node,
            rows.codes,
            suppression.blank[:, place],
            strict=False,
        )
    ]
    return describe_pairs(generalization, pairs, (recoded, rows, ~suppression.gone[place]), below)


def describe_pairs(
    generalization: Generalization,
    pairs: Sequence[tuple[str, str]],
    after: Recoded,
    below: int,
) -> list[dict[str, Any]]:
    """Describe the change of each cross table; a change of few records is given as the largest of few."""
    wider = generalization.widest
    before = wider.records_at((0,) * len(wider.shape))
    recoded, rows, stays = after
    unchanged = [
        unchanged_column(column.sizes[0], codes)
        for column, codes in zip(
            wider.level_codes[len(recoded) :], rows.codes[len(recoded) :], strict=True
        )
    ]
    columns = [*recoded, *unchanged]
    described = []
    for pair in pairs:
        one, two = (generalization.columns.index(name) for name in pair)
        first, second = (
            RecodedColumn(columns[at].shown[stays], columns[at].spread) for at in (one, two)
        )
        change = cross_table_change(
            (before.codes[one], before.codes[two], before.counts),
            (first, second, rows.counts[stays]),
        )
        records = int(before.counts.sum())
        variation = mask_share(change.variation, records, below)
        is_few = 0 < round(change.variation * records) < below
        described.append(
            {
                "columns": list(pair),
                "variation": variation,
                "chi_square": None
                if is_few
                else float(f"{change.chi_square:.{CHI_SQUARE_DIGITS}g}"),
            }
        )
    return described


def cross_table_words(page: dict[str, Any]) -> str:
    """Describe the change of a cross table."""
    first, second = page["columns"]
    distance = page["chi_square"]
    squared = "" if distance is None else f"; chi-square distance {distance:.2g}"
    return f"Cross table of {first} and {second}: {percent(page['variation'])} of the records moved{squared}."
