"""Linkability and inference: what the synthetic records nearest to a person tell.

Source: Giomi, Boenisch, Wehmeyer & Tasnádi 2023, sections 4.2 and 4.3. Where several synthetic records are as
near, the attacker takes one of them at random; what is counted is the chance that it is right.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from reid_sql.models.synthetic.attack_figures import (
    STATUS_ONE_COLUMN,
    AuditedAttack,
    judge_shares,
    unavailable,
)
from reid_sql.models.synthetic.audited_tables import UNITS, AuditedTables, Flags, People, measure_distances
from reid_sql.parameters import Floats, Integers

LINKABILITY: Final = "linkability"
INFERENCE: Final = "inference"
SHARE: Final = "share"
TOLERANCE: Final = UNITS // 20  # of a number's rank among all records, within which an inferred one is right


def attack_by_nearest_records(
    tables: AuditedTables, people: People, shares: tuple[float, float]
) -> Iterator[AuditedAttack]:
    """Measure linkability of every other column with the rest, then the inference of each column."""
    columns = len(tables.names)
    if columns < 2:  # noqa: PLR2004 - something known, and something else
        yield unavailable(LINKABILITY, SHARE, STATUS_ONE_COLUMN)
        yield unavailable(INFERENCE, SHARE, STATUS_ONE_COLUMN, tables.names[0])
        return
    is_synthetic = tables.synthetics > 0
    records = tables.synthetics[is_synthetic]
    synthetic = tables.positions[:, is_synthetic]
    rows, place_of_person = np.unique(people.rows, return_inverse=True)
    links = np.zeros(len(rows))
    inferred = np.zeros((columns, len(rows)))
    for block, distances in measure_distances(tables.positions[:, rows], synthetic, shares):
        links[block] = _chance_of_link(distances, records)
        total = distances.sum(axis=0, dtype=distances.dtype)
        for place, own in enumerate(distances):
            inferred[place, block] = _chance_of_value(total - own, own <= TOLERANCE, records)
    whole = int(records.sum())
    yield judge_shares(
        LINKABILITY, SHARE, people.shares(links[place_of_person]), people.sizes, baseline=1 / whole
    )
    for place, name in enumerate(tables.names):
        guess = _chance_of_guess(tables.positions[place, rows], synthetic[place], records)
        originals = place_of_person[people.is_original]
        yield judge_shares(
            INFERENCE,
            SHARE,
            people.shares(inferred[place][place_of_person]),
            people.sizes,
            column=name,
            baseline=float(guess[originals].mean()),
        )


def _chance_of_link(distances: Integers, records: Integers) -> Floats:
    """Chance that both halves of a person's columns lead to the same synthetic record, (block,).

    One of the records nearest by every other column, from the first, and one of those nearest by the rest:
    among a and b records, of which c are the same, they are one record with chance c / (a b).
    """
    near = []
    for half in (distances[::2], distances[1::2]):
        total = half.sum(axis=0, dtype=half.dtype)
        near.append(total == total.min(axis=1)[:, None])
    both, one, other = (flags @ records.astype(np.float64) for flags in (near[0] & near[1], *near))
    return np.asarray(both / (one * other))


def _chance_of_value(distances: Integers, is_right: Flags, records: Integers) -> Floats:
    """Chance that one of the nearest synthetic records has the person's value, (block,)."""
    people, nearest = np.nonzero(distances == distances.min(axis=1)[:, None])
    whole = np.bincount(people, records[nearest], len(distances))
    right = np.bincount(people, records[nearest] * is_right[people, nearest], len(distances))
    return np.asarray(right / whole)


def _chance_of_guess(own: Integers, synthetic: Integers, records: Integers) -> Floats:
    """Chance that a synthetic record drawn at random has the person's value of one column, (people,)."""
    order = np.argsort(synthetic, kind="stable")
    below = np.r_[0, np.cumsum(records[order])]
    first = np.searchsorted(synthetic[order], own - TOLERANCE, side="left")
    last = np.searchsorted(synthetic[order], own + TOLERANCE, side="right")
    return np.asarray((below[last] - below[first]) / below[-1])
