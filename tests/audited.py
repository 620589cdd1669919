"""Tables as attacks on a synthetic table see them, and distances by their definition."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from reid_sql.models.synthetic.audited_tables import AuditedTables

Row = tuple[Any, ...]
ALL = 4096  # the greatest distance in a column
ORDINAL = [False, True, True, False]


def encode(
    original: Sequence[Row],
    synthetic: Sequence[Row],
    holdout: Sequence[Row],
    ordinal: Sequence[bool] = ORDINAL,
) -> AuditedTables:
    """The tables of these rows, each value as its rank among those of all."""
    every = [*original, *synthetic, *holdout]
    ranks = [
        {None: 0} | {v: n for n, v in enumerate(sorted({row[at] for row in every} - {None}), 1)}
        for at in range(len(every[0]))
    ]
    distinct = sorted({tuple(ranks[at][value] for at, value in enumerate(row)) for row in every})
    coded = [
        [tuple(ranks[at][value] for at, value in enumerate(row)) for row in table]
        for table in (original, synthetic, holdout)
    ]
    counts = [np.array([table.count(row) for row in distinct]) for table in coded]
    columns = len(every[0])
    return AuditedTables(
        [f"c{at}" for at in range(columns)],
        [at == 3 for at in range(columns)],
        list(ordinal)[:columns],
        np.array(distinct).T,
        counts[0],
        counts[1],
        counts[2],
        [bool(holdout)],
    )


def measure(
    every: Sequence[Row], at: int, *, ordinal: bool | None = None
) -> Callable[[Any, Any], int]:
    """The distance of two values of a column: of middle ranks where numbers, else whether they are equal."""
    known = [row[at] for row in every if row[at] is not None]
    is_ordinal = ORDINAL[at] if ordinal is None else ordinal

    def rank(value: Any) -> int:
        below, equal = len([v for v in known if v < value]), known.count(value)
        return round(ALL * (below + equal / 2) / len(known))

    def distance(one: Any, other: Any) -> int:
        if one is None or other is None or not is_ordinal:
            return 0 if one == other else ALL
        return abs(rank(one) - rank(other))

    return distance


def encode_row(row: Row, every: Sequence[Row]) -> tuple[int, ...]:
    """The order of a record among all: NULL first, then by value."""
    return tuple(
        0 if value is None else 1 + sum(other < value for other in {r[at] for r in every} - {None})
        for at, value in enumerate(row)
    )


def encode_people(
    original: Sequence[Sequence[Row]],
    synthetic: Sequence[Sequence[Row]],
    holdout: Sequence[Sequence[Row]],
) -> AuditedTables:
    """The same of people, each with their rows."""
    tables = [original, synthetic, holdout]
    used, made, unused = ([row for own in table for row in own] for table in tables)
    rows = encode(used, made, unused)
    distinct = [tuple(codes) for codes in rows.codes.T.tolist()]
    every = sorted({row for table in tables for own in table for row in own}, key=str)
    ordered = sorted(every, key=lambda row: encode_row(row, every))
    code_of = dict(zip(ordered, distinct, strict=True))
    records = [
        (side, number, code_of[row])
        for side, table in enumerate(tables)
        for number, own in enumerate(table)
        for row in sorted(set(own), key=str)
    ]
    originals, synthetics, controls = (
        np.array([int(record[0] == side) for record in records]) for side in range(3)
    )
    return AuditedTables(
        rows.names,
        rows.is_sensitive,
        rows.is_ordinal,
        np.array([record[2] for record in records]).T,
        originals,
        synthetics,
        controls,
        [bool(holdout)],
        np.array([record[1] for record in records]),
    )
