"""How spread a record's places in its quasi-identifiers' joint distributions are (ordinal columns)."""

import threading
from math import isqrt, prod
from typing import Final

import numpy as np

from reid_sql.interruption import checkpoint
from reid_sql.models.classes.class_keys import MB, require, spread
from reid_sql.models.extreme.quasi_identifiers import Codes, Integers, QuasiIdentifiers
from reid_sql.parameters import Floats

CELL_BYTES: Final = (
    32  # of the memory for each cell of a grid of counts, its running sums and a second thread's
)
BIN_BYTES: Final = 4
NOT_ORDINAL: Final = "has no order; pass columns of numbers, dates or ordered categories"
HAS_NULL: Final = "holds NULL, which has no place in an order; pass nulls := 'drop'"
TOO_WIDE: Final = "cells of the joint distribution are too many for memory_mb"


def not_ordinal(table: Codes) -> str:
    """Say which column has no order; nothing where all have.

    >>> not_ordinal(Codes(["zip"], [False], [np.array([1])], np.arange(1)))
    "'zip' has no order; pass columns of numbers, dates or ordered categories"
    """
    for column, ordinal, codes in zip(table.names, table.ordinal, table.codes, strict=True):
        if not ordinal:
            return f"'{column}' {NOT_ORDINAL}"
        if not codes.all():
            return f"'{column}' {HAS_NULL}"
    return ""


def too_wide(chosen: QuasiIdentifiers, memory_mb: int) -> str:
    """Say whether some joint distribution has more cells than there is memory for; nothing where none has."""
    cells = prod(sorted(_levels(chosen.table))[-chosen.places.shape[1] :])
    return f"{cells} {TOO_WIDE} := {memory_mb}" if cells * CELL_BYTES > memory_mb * MB else ""


def _levels(table: Codes) -> list[int]:
    return [int(codes.max()) for codes in table.codes]


def entropy(chosen: QuasiIdentifiers, memory_mb: int = 1024) -> Floats:
    """Give each record's entropy E = −Σ p ln p over √N_p equal intervals of its places H(i, j).

    √N_p is rounded down. H(i, j) is the share of records whose joint ecdf F(·, j) is at most that of record
    i. Béra et al. 2023, section 3.4.

    >>> from reid_sql.models.extreme.quasi_identifiers import choose
    >>> columns = [np.array([1, 2]), np.array([2, 1]), np.array([1, 1]), np.array([1, 2])]
    >>> table = Codes(list("abcd"), [True] * 4, columns, np.arange(2))
    >>> entropy(choose(table, 1)).round(4).tolist()
    [0.6931, 0.5623]
    """
    bins, records = isqrt(len(chosen)), chosen.records
    require(records * bins * BIN_BYTES, memory_mb, f"the entropy of {records} records")
    found = np.zeros((records, bins), dtype=np.uint32)
    rows, levels, lock = np.arange(records), _levels(chosen.table), threading.Lock()

    def count(number: int) -> None:
        checkpoint()
        places = _ecdf_rank(chosen, chosen.places[number].tolist(), levels)
        cells = (places * bins - 1) // records
        with lock:
            found[rows, cells] += 1

    spread(count, range(len(chosen)), records)
    shares = found / len(chosen)
    with np.errstate(divide="ignore", invalid="ignore"):
        answer: Floats = -np.where(found > 0, shares * np.log(shares), 0.0).sum(axis=1)
    return np.abs(answer)


def _ecdf_rank(chosen: QuasiIdentifiers, places: list[int], levels: list[int]) -> Integers:
    """For each record, how many have a joint ecdf of at most its own."""
    shape = [levels[place] for place in places]
    cells = np.ravel_multi_index([chosen.table.codes[place] - 1 for place in places], shape)
    below = np.bincount(cells, minlength=prod(shape)).reshape(shape)
    for axis in range(len(shape)):
        below.cumsum(axis=axis, out=below)
    ecdf = below.ravel()[cells]
    ranks: Integers = np.bincount(ecdf, minlength=chosen.records + 1).cumsum()[ecdf]
    return ranks
