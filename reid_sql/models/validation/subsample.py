"""What an estimate of uniqueness looks at, counted from coded records."""

from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

import numpy as np

from reid_sql.domains import Floats
from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.copula.gaussian_copula import ALONE
from reid_sql.models.population.evidence import UniquenessEvidence

DECIMALS: Final = 3  # of ln of the expected count


@dataclass
class Lines:
    """Lines of evidence on single values, pairs, and who is alone."""

    first: list[int] = field(default_factory=list)
    second: list[int] = field(default_factory=list)
    label: list[str | None] = field(default_factory=list)
    first_value: list[str | None] = field(default_factory=list)
    second_value: list[str | None] = field(default_factory=list)
    records: list[int] = field(default_factory=list)

    def add(self, columns: tuple[int, int], label: str | None, values: Integers, records: Integers) -> None:
        """Add a line for each value, or each pair of values, of one or two columns."""
        for line, count in zip(values.reshape(len(records), -1).tolist(), records.tolist(), strict=True):
            texts = [str(value) for value in line] + [None, None]
            self.first.append(columns[0])
            self.second.append(columns[1])
            self.label.append(label)
            self.first_value.append(texts[0])
            self.second_value.append(texts[1])
            self.records.append(count)


def evidence_of(codes: Integers) -> UniquenessEvidence:
    """Count classes by size and expected count under independence, values, and pairs of values.

    Codes are (records, columns).

    >>> evidence_of(np.array([[1, 1], [1, 1], [1, 2]])).histogram.class_size.tolist()
    [1, 2]
    """
    distinct, sizes = np.unique(codes, axis=0, return_counts=True)
    counted = np.stack([sizes, np.round(_log_expected(codes, distinct), DECIMALS)], axis=1)
    kinds, classes = np.unique(counted, axis=0, return_counts=True)  # (lines, 2)
    pairs = _pairs(codes, int((sizes == 1).sum()))
    none, more = np.zeros(len(kinds), dtype=np.int64), len(pairs.records)
    texts: list[str | None] = [None] * len(kinds)
    return UniquenessEvidence(
        np.r_[kinds[:, 0].astype(np.int64), np.zeros(more, dtype=np.int64)],
        np.r_[kinds[:, 1], np.full(more, np.nan)],
        np.r_[classes, np.zeros(more, dtype=np.int64)],
        np.r_[none, pairs.first],
        np.r_[none, pairs.second],
        texts + pairs.label,
        texts + pairs.first_value,
        texts + pairs.second_value,
        np.r_[none, pairs.records],
        [*[0.0] * len(kinds), *map(float, pairs.records)],
    )


def _log_expected(codes: Integers, distinct: Integers) -> Floats:
    """Ln of n Π (share of each value): the records that independent columns would give each class."""
    records = len(codes)
    total = np.full(len(distinct), np.log(records))
    for column in range(codes.shape[1]):
        values, counts = np.unique(codes[:, column], return_counts=True)
        total += np.log(counts[np.searchsorted(values, distinct[:, column])] / records)
    return total


def _pairs(codes: Integers, alone: int) -> Lines:
    lines = Lines()
    for column in range(codes.shape[1]):
        values, counts = np.unique(codes[:, column], return_counts=True)
        lines.add((column + 1, 0), f"c{column + 1}", values, counts)
    for one, other in combinations(range(codes.shape[1]), 2):
        values, counts = np.unique(codes[:, [one, other]], axis=0, return_counts=True)
        lines.add((one + 1, other + 1), None, values, counts)
    lines.add((0, ALONE), None, np.array([0]), np.array([alone]))
    return lines
