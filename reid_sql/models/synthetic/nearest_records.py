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
from reid_sql.models.synthetic.audited_tables import Flags, OrderedTables, People
from reid_sql.models.synthetic.distances import UNITS, Distances
from reid_sql.parameters import Floats, Integers

LINKABILITY: Final = "linkability"
INFERENCE: Final = "inference"
SHARE: Final = "share"
TOLERANCE: Final = UNITS // 20  # of a number's rank among all records, within which an inferred one is right


def attack_by_nearest_records(
    tables: OrderedTables, people: People, shares: tuple[float, float]
) -> Iterator[AuditedAttack]:
    """Measure linkability of every other column with the rest, then the inference of each column."""
    columns = len(tables.names)
    if columns < 2:  # noqa: PLR2004 - something known, and something else
        yield unavailable(LINKABILITY, SHARE, STATUS_ONE_COLUMN)
        yield unavailable(INFERENCE, SHARE, STATUS_ONE_COLUMN, tables.names[0])
        return
    synthetic = np.flatnonzero(tables.synthetics)
    records = tables.synthetics[synthetic]
    distances = Distances(tables)
    links = np.zeros(len(people.rows))
    inferred = np.zeros((columns, len(people.rows)))
    for block, by_column in distances.by_column(people.rows, synthetic, shares):
        links[block] = _chance_of_link(by_column, records)
        total = by_column.sum(axis=0, dtype=by_column.dtype)
        for place, own in enumerate(by_column):
            inferred[place, block] = _chance_of_value(total - own, own <= TOLERANCE, records)
    baseline = 1 / int(records.sum())
    yield judge_shares(LINKABILITY, SHARE, people.shares(links), people.sizes, baseline=baseline)
    for place, name in enumerate(tables.names):
        guess = _chance_of_guess(distances, place, people.rows, synthetic, records)
        baseline = people.shares(guess)[0]
        shares_right = people.shares(inferred[place])
        yield judge_shares(INFERENCE, SHARE, shares_right, people.sizes, column=name, baseline=baseline)


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
    # numpy searches a flat array several times as fast.
    found = np.flatnonzero(distances == distances.min(axis=1)[:, None])
    people, nearest = np.divmod(found, distances.shape[1])
    whole = np.bincount(people, records[nearest], len(distances))
    right = np.bincount(people, records[nearest] * is_right[people, nearest], len(distances))
    return np.asarray(right / whole)


def _chance_of_guess(
    distances: Distances, place: int, rows: Integers, synthetic: Integers, records: Integers
) -> Floats:
    """Chance that a synthetic record drawn at random has a person's value of one column, (rows,)."""
    values = distances.values[place].astype(np.int64)
    near = TOLERANCE if distances.is_ordinal[place] else 0
    order = np.argsort(values[synthetic], kind="stable")
    in_order, below = values[synthetic][order], np.r_[0, np.cumsum(records[order])]
    first = np.searchsorted(in_order, values[rows] - near, side="left")
    last = np.searchsorted(in_order, values[rows] + near, side="right")
    return np.asarray((below[last] - below[first]) / below[-1])
