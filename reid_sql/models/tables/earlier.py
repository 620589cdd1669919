"""Earlier tables: what they show of a new table's cells is known, and what they hide stays hidden."""

import json
from collections.abc import Sequence
from typing import Final

import numpy as np

from reid_sql.errors import OutOfDomainError
from reid_sql.models.tables.published_tables import (
    NULL,
    Key,
    PublishedRows,
    Reading,
    read_cells,
    text_of,
)
from reid_sql.models.tables.suppression import HIDDEN_BEFORE, NOT_BEFORE, SHOWN_BEFORE
from reid_sql.parameters import Integers, fold_case

REFUSAL_OTHER_PEOPLE: Final = (
    "published must count the same people as tbl, got cells that differ; pass tables of the same people, or "
    "compare them by audit_tables(…, people := 'nested')"
)
REFUSAL_TOTALS: Final = (
    "published must have no totals that the new table lacks, got some; pass totals := 'margins', or list "
    "their columns in tables"
)


def find_earlier(
    rows: PublishedRows,
    columns: Sequence[str],
    labels: Sequence[str],
    codes: Integers,
    counts: Integers,
) -> Integers:
    """Say of each cell what the earlier tables did with it; `labels` are its categories, as JSON lists.

    >>> texts = ['{"a": "x", "records": 7}', '{"a": "y", "records": null}']
    >>> rows = PublishedRows(np.ones(2, dtype=int), texts)
    >>> find_earlier(rows, ["a"], ['["x"]', '["y"]', '["z"]'], np.array([[1], [2], [3]]), np.array([7, 3, 9]))
    array([1, 2, 0])
    """
    names, cells = read_cells(rows, Reading())
    places = {fold_case(name): place for place, name in enumerate(columns)}
    if unknown := [name for name in names if fold_case(name) not in places]:
        raise OutOfDomainError(
            f"published must have columns of by, got '{unknown[0]}'; "
            "name it in by, and the columns of the new table in tables"
        )
    at = [places[fold_case(name)] for name in names]
    named = zip(labels, codes, strict=True)
    number = {_key_of(json.loads(label), code): cell for cell, (label, code) in enumerate(named)}
    layouts = {tuple(row) for row in (codes > 0).tolist()}
    answer = np.full(len(counts), NOT_BEFORE)
    for categories, cell in cells.items():
        key: list[str | None] = [None] * len(columns)
        for place, category in zip(at, categories, strict=True):
            key[place] = category
        if tuple(each is not None for each in key) not in layouts:
            raise OutOfDomainError(REFUSAL_TOTALS)
        match = number.get(tuple(key))
        count = 0 if match is None else counts[match]
        if count != (count if cell.value is None and match is not None else cell.value):
            raise OutOfDomainError(REFUSAL_OTHER_PEOPLE)
        if match is not None:
            answer[match] = HIDDEN_BEFORE if cell.value is None else SHOWN_BEFORE
    return answer


def _key_of(categories: Sequence[object], code: Integers) -> Key:
    return tuple(
        (NULL if category is None else text_of(category)) if is_shown else None
        for category, is_shown in zip(categories, code > 0, strict=True)
    )
