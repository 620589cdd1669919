"""A whole table as codes, and the evidence of a sample of its records, counted as an engine counts it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.copula.marginals import order_values
from reid_sql.models.evidence import (
    CLASS_SIZE,
    DRAWN_RECORD,
    PAIR,
    VALUE,
    DistinctTexts,
    EvidenceRow,
    rows_from_tuples,
)
from reid_sql.models.people.evidence import MAX_DRAWN, count_pairs, row_keys
from reid_sql.models.population.population_uniqueness import UniquenessEvidence
from reid_sql.parameters import Integers, order_by_name

MAX_RECORDS: Final = 5_000_000  # that are sampled in memory
ZERO_TEXTS: Final[dict[str | None, str]] = {
    "-0.0": "0.0"
}  # one value, which an engine may write as either
DECIMALS: Final = 3  # of ln of the expected count
Texts = Sequence[Sequence[str | None]]  # of each column's codes


@dataclass(frozen=True)
class EncodedTable:
    """Every record by the codes of its values, which are places among the texts of its column."""

    names: list[str]
    texts: list[list[str | None]]
    codes: Integers  # (records, columns)


def encode_table(table: DistinctTexts) -> EncodedTable:
    """Encode values and repeat records, ordered by name and value; refuses an empty and a too large table.

    >>> rows = [["sex", "age"], ["F", "9"], ["F", "10"]]
    >>> table = encode_table(DistinctTexts(np.arange(3), rows, np.array([0, 1, 2])))
    >>> table.texts, table.codes.tolist()
    ([['9', '10'], ['F']], [[0, 0], [1, 0], [1, 0]])
    """
    count = np.asarray(table.records, dtype=np.int64)
    rows, total = np.flatnonzero(count > 0), int(count.sum())
    if not total:
        raise NoRecordsError
    if total > MAX_RECORDS:
        raise OutOfDomainError(
            f"the table must contain at most {MAX_RECORDS} records, from which samples are drawn in memory, got {total}; pass a random sample of it"
        )
    header = list(map(str, table.texts[int(np.flatnonzero(count == 0)[0])]))
    columns = list(zip(*(table.texts[row] for row in rows.tolist()), strict=True))
    by_name = order_by_name(header)
    texts, column_codes = [], []
    for place in by_name:
        values = [ZERO_TEXTS.get(text, text) for text in columns[place]]
        distinct = list(dict.fromkeys(values))
        # in the order of numbers, or else of texts
        texts.append([distinct[at] for at in order_values(distinct)])
        code = {text: at for at, text in enumerate(texts[-1])}
        column_codes.append(np.array([code[value] for value in values], dtype=np.int64))
    codes = np.stack(column_codes, axis=1)
    order = np.lexsort(codes.T[::-1])
    repeated = np.repeat(codes[order], count[rows][order], axis=0)
    return EncodedTable([header[place] for place in by_name], texts, repeated)


def count_sample(
    codes: Integers, texts: Texts = (), names: Sequence[str] = ()
) -> UniquenessEvidence:
    """Count the evidence of all methods; codes are (records, columns), in the random order of the draw.

    `texts` are the values of each column's codes, by default the codes themselves.

    >>> count_sample(np.array([[1, 1], [1, 1], [1, 2]])).histogram.class_size.tolist()
    [1, 2]
    """
    key = row_keys(codes)
    _, first, place, sizes = np.unique(
        key, return_index=True, return_inverse=True, return_counts=True
    )
    # Ln of n Π (share of each value): the records that independent columns would give each class.
    log_expected = np.full(len(first), np.log(len(codes)))
    for of_records in codes.T:
        codes_seen, counts = np.unique(of_records, return_counts=True)
        place_seen = np.searchsorted(codes_seen, of_records[first])
        log_expected += np.log(counts[place_seen] / len(codes))
    kinds, classes = np.unique(
        np.stack([sizes, np.round(log_expected, DECIMALS)], axis=1), axis=0, return_counts=True
    )  # (rows, 2)
    texts = texts or [[str(code) for code in range(int(column.max()) + 1)] for column in codes.T]
    names = names or [f"c{place}" for place in range(1, codes.shape[1] + 1)]
    rows = [
        EvidenceRow(CLASS_SIZE, class_size=int(size), log_expected=log, records=int(size) * number)
        for (size, log), number in zip(kinds.tolist(), classes.tolist(), strict=True)
    ]
    rows += [*_count_values(codes, texts, names), *_count_pairs(codes, texts)]
    drawn = zip(codes[:MAX_DRAWN].tolist(), sizes[place[:MAX_DRAWN]].tolist(), strict=True)
    for order, (record, size) in enumerate(drawn):
        values = [column_texts[value] for column_texts, value in zip(texts, record, strict=True)]
        rows.append(
            EvidenceRow(DRAWN_RECORD, class_size=size, draw_order=order / len(codes), texts=values)
        )
    return UniquenessEvidence.from_rows(rows_from_tuples(rows))


def _count_values(codes: Integers, texts: Texts, names: Sequence[str]) -> Iterator[EvidenceRow]:
    for column, (column_texts, name) in enumerate(zip(texts, names, strict=True)):
        values, counts = np.unique(codes[:, column], return_counts=True)
        for value, n in zip(values.tolist(), counts.tolist(), strict=True):
            yield EvidenceRow(
                VALUE, column + 1, label=name, first_value=column_texts[value], records=n, weight=n
            )


def _count_pairs(codes: Integers, texts: Texts) -> Iterator[EvidenceRow]:
    for i, j in combinations(range(codes.shape[1]), 2):
        counted = zip(
            *(each.tolist() for each in count_pairs(codes[:, i], codes[:, j])), strict=True
        )
        for one, other, n in counted:
            values = texts[i][one], texts[j][other]
            yield EvidenceRow(PAIR, i + 1, j + 1, None, *values, records=int(n), weight=n)
