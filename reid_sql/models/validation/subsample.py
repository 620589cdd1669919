"""What an estimate of uniqueness looks at, counted from coded records."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

import numpy as np

from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.copula.gaussian_copula import ALONE
from reid_sql.models.people.people_evidence import MOST_DRAWN
from reid_sql.models.people.people_lines import DRAWN
from reid_sql.models.people.shape import row_keys
from reid_sql.models.population.evidence import UniquenessEvidence
from reid_sql.parameters import Floats

DECIMALS: Final = 3  # of ln of the expected count
Texts = Sequence[Sequence[str | None]]  # of each column's codes


@dataclass
class Lines:
    """Lines of evidence on single values, pairs, who is alone, and records drawn."""

    texts: Texts
    first: list[int] = field(default_factory=list)
    second: list[int] = field(default_factory=list)
    label: list[str | None] = field(default_factory=list)
    values: list[tuple[str | None, str | None]] = field(default_factory=list)
    records: list[int] = field(default_factory=list)
    mass: list[float] = field(default_factory=list)
    drawn: list[list[str | None] | None] = field(default_factory=list)

    def add(self, columns: tuple[int, int], label: str | None, values: Integers, records: Integers) -> None:
        """Add a line for each value, or each pair of values, of one or two columns, by number from 1."""
        for line, count in zip(values.reshape(len(records), -1).tolist(), records.tolist(), strict=True):
            told = [self.texts[c - 1][v] for c, v in zip(columns, line, strict=False) if c > 0]
            one, other = (*told, None, None)[:2]
            self.label.append(label)
            self.drawn.append(None)
            self._line(columns, (one, other), count, float(count))

    def add_drawn(self, codes: Integers, sizes: Integers) -> None:
        """Add records, in the order in which they were drawn, with the sizes of their classes."""
        for place, (line, size) in enumerate(zip(codes.tolist(), sizes.tolist(), strict=True)):
            self.label.append(None)
            self.drawn.append([own[value] for own, value in zip(self.texts, line, strict=True)])
            self._line((0, DRAWN), (None, None), size, place / len(codes))

    def _line(
        self,
        columns: tuple[int, int],
        values: tuple[str | None, str | None],
        records: int,
        mass: float,
    ) -> None:
        self.first.append(columns[0])
        self.second.append(columns[1])
        self.values.append(values)
        self.records.append(records)
        self.mass.append(mass)


def evidence_of(codes: Integers, texts: Texts = (), names: Sequence[str] = ()) -> UniquenessEvidence:
    """Count what all methods look at; codes are (records, columns), in the random order of the draw.

    `texts` are what each column's codes stand for, the codes themselves if there are none.

    >>> evidence_of(np.array([[1, 1], [1, 1], [1, 2]])).histogram.class_size.tolist()
    [1, 2]
    """
    key = row_keys(codes)
    _, first, place, sizes = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    distinct = codes[first]
    counted = np.stack([sizes, np.round(_log_expected(codes, distinct), DECIMALS)], axis=1)
    kinds, classes = np.unique(counted, axis=0, return_counts=True)  # (lines, 2)
    told = texts or [[str(code) for code in range(int(column.max()) + 1)] for column in codes.T]
    lines = _lines(codes, told, names or [f"c{place}" for place in range(1, codes.shape[1] + 1)])
    lines.add((0, ALONE), None, np.array([0]), np.array([(sizes == 1).sum()]))
    lines.add_drawn(codes[:MOST_DRAWN], sizes[place[:MOST_DRAWN]])
    none, more = np.zeros(len(kinds), dtype=np.int64), len(lines.records)
    nothing: list[None] = [None] * len(kinds)
    return UniquenessEvidence(
        np.r_[kinds[:, 0].astype(np.int64), np.zeros(more, dtype=np.int64)],
        np.r_[kinds[:, 1], np.full(more, np.nan)],
        np.r_[classes, np.zeros(more, dtype=np.int64)],
        np.r_[none, lines.first],
        np.r_[none, lines.second],
        [*nothing, *lines.label],
        [*nothing, *(one for one, _ in lines.values)],
        [*nothing, *(other for _, other in lines.values)],
        np.r_[none, lines.records],
        [*[0.0] * len(kinds), *lines.mass],
        [*nothing, *lines.drawn],
    )


def _log_expected(codes: Integers, distinct: Integers) -> Floats:
    """Ln of n Π (share of each value): the records that independent columns would give each class."""
    records = len(codes)
    total = np.full(len(distinct), np.log(records))
    for column in range(codes.shape[1]):
        values, counts = np.unique(codes[:, column], return_counts=True)
        total += np.log(counts[np.searchsorted(values, distinct[:, column])] / records)
    return total


def _lines(codes: Integers, texts: Texts, names: Sequence[str]) -> Lines:
    """Values and pairs of values."""
    lines = Lines(texts)
    for column, name in enumerate(names):
        values, counts = np.unique(codes[:, column], return_counts=True)
        lines.add((column + 1, 0), name, values, counts)
    for one, other in combinations(range(codes.shape[1]), 2):
        wide = int(codes[:, other].max()) + 1
        pairs, counts = np.unique(codes[:, one] * wide + codes[:, other], return_counts=True)
        lines.add((one + 1, other + 1), None, np.stack([pairs // wide, pairs % wide], axis=1), counts)
    return lines
