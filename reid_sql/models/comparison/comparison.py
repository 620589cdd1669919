"""A release against its original: the risk of both, what was changed, and how well records are linked."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from reid_sql.models.classes.disclosure import OK, ClassRisk, class_risk
from reid_sql.models.comparison.column_changes import NO_KEY, information_loss
from reid_sql.models.comparison.linkage import Linkage, attack, link
from reid_sql.models.comparison.paired_records import Alike, PairedRecords, alike, numbered

NOBODY: Final = "no record stands in both tables"
OF_CLASSES: Final = (
    *("records", "classes", "k", "unique_records", "uniqueness", "highest_risk", "average_risk"),
    *("average_class_risk", "records_at_risk"),
)
OF_CHANGES: Final = (
    *("classes_changed", "records_removed", "records_added", "records_changed", "cells_changed"),
    *("cells_suppressed", "information_loss"),
)
# What the attack finds, with the figure that it finds of an original that is released as it is.
OF_LINKS: Final = {
    "correct_links": "average_risk",
    "certain_links": "uniqueness",
    "highest_link": "highest_risk",
    "correct_candidates": "average_risk",
}


@dataclass(frozen=True)
class Comparison:
    """A figure of the original and of its release."""

    measure: str
    original: float  # the figure of the original; of what was changed, 0
    released: float | None  # the figure of the release; NULL where it is not known, and the status says why
    change: float | None  # the second less the first
    status: str


def compare(paired: PairedRecords, threshold: float, targets: int, seed: int) -> list[Comparison]:
    """Compare both tables by every figure.

    >>> paired = PairedRecords(["age"], [True], np.array([[1, 2]]), np.array([[1, 1]]), np.array([1, 1]),
    ...     [["23", "27"]], [["20 to 29"]])
    >>> [(each.original, each.released) for each in compare(paired, 0.2, 1, 0) if "links" in each.measure]
    [(1.0, 0.5), (1.0, 0.0)]
    """
    own = alike(paired.original_codes, paired.records, "original")
    released = alike(paired.released_codes, paired.records, "released")
    before, after = (class_risk(each.histogram, threshold) for each in (own, released))
    return [
        *(_row(name, getattr(before, name), getattr(after, name)) for name in OF_CLASSES),
        *_changes(paired, own, released),
        *_links(_linked(paired, own, released, targets, seed), before),
    ]


def _row(measure: str, original: float, released: float | None, status: str = OK) -> Comparison:
    after = None if released is None else float(released)
    return Comparison(measure, float(original), after, None if after is None else after - original, status)


def _changes(paired: PairedRecords, own: Alike, released: Alike) -> Iterator[Comparison]:
    if not paired.is_keyed:
        yield from (_row(name, 0, None, NO_KEY) for name in OF_CHANGES)
        return
    changed = np.zeros(len(paired.records), dtype=bool)
    cells, suppressed, lost = 0, 0, []
    for column in paired.columns():
        became = column.became
        changed[became.rows] |= column.differs[became.of_row]
        cells += int(became.records[column.differs].sum())
        suppressed += int(became.records[column.suppressed].sum())
        lost.append(information_loss(column))
    figures = (
        classes_changed(own, released),
        int(paired.records[~paired.in_release].sum()),
        int(paired.records[~paired.in_original].sum()),
        int(paired.records[changed].sum()),
        cells,
        suppressed,
        float(np.mean(lost)),
    )
    yield from (_row(name, 0, figure) for name, figure in zip(OF_CHANGES, figures, strict=True))


def classes_changed(own: Alike, released: Alike) -> int:
    """How many classes of the original are no class of the same records in the release."""
    both = np.stack([own.of_pair, released.of_pair]) + 1
    ids, _ = numbered(both)
    links = both[:, np.unique(ids, return_index=True)[1]]
    mine, theirs = (np.bincount(side) for side in links)
    kept = (links[0] > 0) & (links[1] > 0) & (mine[links[0]] == 1) & (theirs[links[1]] == 1)
    return len(own.sizes) - int(kept.sum())


def _linked(paired: PairedRecords, own: Alike, released: Alike, targets: int, seed: int) -> Linkage | str:
    """What the attack finds, or why there is none."""
    if not paired.is_keyed:
        return NO_KEY
    known = attack(paired, own, released)
    return link(known, targets, seed) if known else NOBODY


def _links(found: Linkage | str, before: ClassRisk) -> Iterator[Comparison]:
    for name, alone in OF_LINKS.items():
        if isinstance(found, str):
            yield _row(name, getattr(before, alone), None, found)
        else:
            status = f"of {found.targets} records, drawn" if found.drawn else OK
            yield _row(name, getattr(before, alone), getattr(found, name), status)
