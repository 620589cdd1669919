"""A whole table as codes, and the evidence of a sample of its records, counted as an engine counts it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

import numpy as np

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.disclosure import NO_RECORDS, Integers
from reid_sql.models.copula.marginals import order_values
from reid_sql.models.evidence_kinds import DRAWN_RECORD, UNIQUE_RECORDS, VALUE
from reid_sql.models.people.evidence import MAX_DRAWN, row_keys
from reid_sql.models.population.evidence import UniquenessEvidence
from reid_sql.parameters import Floats

MAX_RECORDS: Final = 5_000_000  # that are sampled in memory
ZERO_TEXTS: Final = {"-0.0": "0.0"}  # one value, which an engine may write as either
DECIMALS: Final = 3  # of ln of the expected count
Texts = Sequence[Sequence[str | None]]  # of each column's codes


@dataclass(frozen=True)
class DistinctTexts:
    """Distinct records as texts, with the number of records of each; a row of 0 records names the columns."""

    line: Integers
    texts: Sequence[Sequence[str | None]]
    records: Integers


@dataclass(frozen=True)
class EncodedTable:
    """Every record by the codes of its values, which are places among the texts of its column."""

    names: list[str]
    texts: list[list[str | None]]
    codes: Integers  # (records, columns)


def encode_table(table: DistinctTexts) -> EncodedTable:
    """Encode the values and repeat the records, ordered by value; refuses an empty and a too large table.

    >>> rows = [["sex", "age"], ["F", "9"], ["F", "10"]]
    >>> table = encode_table(DistinctTexts(np.arange(3), rows, np.array([0, 1, 2])))
    >>> table.texts, table.codes.tolist()
    ([['F'], ['9', '10']], [[0, 0], [0, 1], [0, 1]])
    """
    count = np.asarray(table.records, dtype=np.int64)
    rows, total = np.flatnonzero(count > 0), int(count.sum())
    if not total:
        raise NoRecordsError(NO_RECORDS)
    if total > MAX_RECORDS:
        rule = f"the table must hold at most {MAX_RECORDS} records, from which samples are drawn in memory"
        raise OutOfDomainError(f"{rule}, got {total}; pass a random sample of it")
    names = [str(name) for name in table.texts[int(np.flatnonzero(count == 0)[0])]]
    columns = zip(*(table.texts[row] for row in rows.tolist()), strict=True)
    encoded = [
        _encode_column([ZERO_TEXTS.get(text, text) if text else text for text in column])
        for column in columns
    ]
    codes = np.stack([own for _, own in encoded], axis=1)
    order = np.lexsort(codes.T[::-1])
    return EncodedTable(
        names, [texts for texts, _ in encoded], np.repeat(codes[order], count[rows][order], axis=0)
    )


def _encode_column(values: Sequence[str | None]) -> tuple[list[str | None], Integers]:
    """The texts of a column in the order of numbers or else of texts, and the code of each value."""
    distinct = list(dict.fromkeys(values))
    texts = [distinct[place] for place in order_values(distinct)]
    code = {text: place for place, text in enumerate(texts)}
    return texts, np.array([code[value] for value in values], dtype=np.int64)


@dataclass
class _EvidenceColumns:
    """Columns of evidence_kinds that rows are appended to."""

    texts: Texts
    first: list[int] = field(default_factory=list)
    second: list[int] = field(default_factory=list)
    label: list[str | None] = field(default_factory=list)
    values: list[tuple[str | None, str | None]] = field(default_factory=list)
    records: list[int] = field(default_factory=list)
    mass: list[float] = field(default_factory=list)
    drawn: list[list[str | None] | None] = field(default_factory=list)

    def add_counts(
        self, columns: tuple[int, int], label: str | None, codes: Integers, records: Integers
    ) -> None:
        """Add a row for each value, or each pair of values, of one or two columns, by number from 1."""
        for row, count in zip(codes.reshape(len(records), -1).tolist(), records.tolist(), strict=True):
            texts = [self.texts[c - 1][v] for c, v in zip(columns, row, strict=False) if c > 0]
            one, other = (*texts, None, None)[:2]
            self._add(columns, (one, other), count, float(count), label=label)

    def add_drawn(self, codes: Integers, sizes: Integers) -> None:
        """Add records, in the order in which they were drawn, with the sizes of their classes."""
        for place, (row, size) in enumerate(zip(codes.tolist(), sizes.tolist(), strict=True)):
            texts = [own[value] for own, value in zip(self.texts, row, strict=True)]
            self._add((0, DRAWN_RECORD), (None, None), size, place / len(codes), drawn=texts)

    def _add(
        self,
        columns: tuple[int, int],
        values: tuple[str | None, str | None],
        records: int,
        mass: float,
        *,
        label: str | None = None,
        drawn: list[str | None] | None = None,
    ) -> None:
        self.first.append(columns[0])
        self.second.append(columns[1])
        self.label.append(label)
        self.values.append(values)
        self.records.append(records)
        self.mass.append(mass)
        self.drawn.append(drawn)


def count_sample(codes: Integers, texts: Texts = (), names: Sequence[str] = ()) -> UniquenessEvidence:
    """Count the evidence of all methods; codes are (records, columns), in the random order of the draw.

    `texts` are the values of each column's codes, by default the codes themselves.

    >>> count_sample(np.array([[1, 1], [1, 1], [1, 2]])).histogram.class_size.tolist()
    [1, 2]
    """
    key = row_keys(codes)
    _, first, place, sizes = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    log_expected = np.round(_log_expected(codes, codes[first]), DECIMALS)
    kinds, classes = np.unique(
        np.stack([sizes, log_expected], axis=1), axis=0, return_counts=True
    )  # (rows, 2)
    texts = texts or [[str(code) for code in range(int(column.max()) + 1)] for column in codes.T]
    rows = _count_values(codes, texts, names or [f"c{place}" for place in range(1, codes.shape[1] + 1)])
    rows.add_counts((0, UNIQUE_RECORDS), None, np.array([0]), np.array([(sizes == 1).sum()]))
    rows.add_drawn(codes[:MAX_DRAWN], sizes[place[:MAX_DRAWN]])
    none, more = np.zeros(len(kinds), dtype=np.int64), len(rows.records)
    nothing: list[None] = [None] * len(kinds)
    return UniquenessEvidence(
        np.r_[kinds[:, 0].astype(np.int64), np.zeros(more, dtype=np.int64)],
        np.r_[kinds[:, 1], np.full(more, np.nan)],
        np.r_[classes, np.zeros(more, dtype=np.int64)],
        np.r_[none, rows.first],
        np.r_[none, rows.second],
        [*nothing, *rows.label],
        [*nothing, *(one for one, _ in rows.values)],
        [*nothing, *(other for _, other in rows.values)],
        np.r_[none, rows.records],
        [*[0.0] * len(kinds), *rows.mass],
        [*nothing, *rows.drawn],
    )


def _log_expected(codes: Integers, distinct: Integers) -> Floats:
    """Ln of n Π (share of each value): the records that independent columns would give each class."""
    records = len(codes)
    total = np.full(len(distinct), np.log(records))
    for column in range(codes.shape[1]):
        values, counts = np.unique(codes[:, column], return_counts=True)
        total += np.log(counts[np.searchsorted(values, distinct[:, column])] / records)
    return total


def _count_values(codes: Integers, texts: Texts, names: Sequence[str]) -> _EvidenceColumns:
    """Count values and pairs of values."""
    rows = _EvidenceColumns(texts)
    for column, name in enumerate(names):
        values, counts = np.unique(codes[:, column], return_counts=True)
        rows.add_counts((column + 1, VALUE), name, values, counts)
    for one, other in combinations(range(codes.shape[1]), 2):
        width = int(codes[:, other].max()) + 1
        pairs, counts = np.unique(codes[:, one] * width + codes[:, other], return_counts=True)
        pair_codes = np.stack([pairs // width, pairs % width], axis=1)
        rows.add_counts((one + 1, other + 1), None, pair_codes, counts)
    return rows
