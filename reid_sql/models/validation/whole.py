"""A table as an engine hands it over to be sampled: its distinct records as texts, made into codes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.disclosure import NO_RECORDS, Integers
from reid_sql.models.copula.marginals import order_values

MOST: Final = 5_000_000  # records that are sampled in memory
NOUGHT: Final = {"-0.0": "0.0"}  # one value, by whichever text an engine tells it


@dataclass(frozen=True)
class DistinctTexts:
    """Distinct records as texts, with how many records hold each; a line of no records names the columns."""

    line: Integers
    texts: Sequence[Sequence[str | None]]
    records: Integers


@dataclass(frozen=True)
class Coded:
    """Every record by the codes of its values, which are places among the texts of its column."""

    names: list[str]
    texts: list[list[str | None]]
    codes: Integers  # (records, columns)


def coded(table: DistinctTexts) -> Coded:
    """Code the values and repeat the records, in an order that the values decide; refuses none and too many.

    >>> lines = [["sex", "age"], ["F", "9"], ["F", "10"]]
    >>> found = coded(DistinctTexts(np.arange(3), lines, np.array([0, 1, 2])))
    >>> found.texts, found.codes.tolist()
    ([['F'], ['9', '10']], [[0, 0], [0, 1], [0, 1]])
    """
    count = np.asarray(table.records, dtype=np.int64)
    held, total = np.flatnonzero(count > 0), int(count.sum())
    if not total:
        raise NoRecordsError(NO_RECORDS)
    if total > MOST:
        rule = f"the table must hold at most {MOST} records, from which samples are drawn in memory"
        raise OutOfDomainError(f"{rule}, got {total}; pass a random sample of it")
    names = [str(name) for name in table.texts[int(np.flatnonzero(count == 0)[0])]]
    columns = list(zip(*(table.texts[line] for line in held.tolist()), strict=True))
    pairs = [_column([NOUGHT.get(text, text) if text else text for text in column]) for column in columns]
    codes = np.stack([own for _, own in pairs], axis=1)
    order = np.lexsort(codes.T[::-1])
    return Coded(names, [texts for texts, _ in pairs], np.repeat(codes[order], count[held][order], axis=0))


def _column(values: Sequence[str | None]) -> tuple[list[str | None], Integers]:
    """The texts of a column in the order of numbers or else of texts, and the code of each value."""
    distinct = list(dict.fromkeys(values))
    texts = [distinct[place] for place in order_values(distinct)]
    code = {text: place for place, text in enumerate(texts)}
    return texts, np.array([code[value] for value in values], dtype=np.int64)
