"""What a model of people is fitted to: counts of values, pairs of values and class sizes, and drawn records.

`evidence_from_rows` encodes what an engine counted (`EvidenceRows`), `count_records` counts coded records in
Python. The number of records drawn is bounded.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import NoRecordsError, UnknownNameError, suggestion
from reid_sql.models.classes.disclosure import Histogram, count_people
from reid_sql.models.copula.marginals import check_shares, order_values
from reid_sql.models.evidence import CLASS_SIZE, DRAWN_RECORD, PAIR, EvidenceRows, Text
from reid_sql.models.interruption import checkpoint
from reid_sql.models.marginals.column import positions
from reid_sql.parameters import ColumnNames, Floats, Integers

MAX_DRAWN: Final = 10_000  # records
# distinct records, or records drawn of more, whose pairs of values are counted
MAX_PAIRED: Final = 100_000
MAX_COMBINATIONS: Final = 20_000  # of values, of one pair of columns
# of all pairs of columns together, so that memory stays bounded
MAX_ALL_COMBINATIONS: Final = 1_000_000
MAX_COLUMNS_PAIRED: Final = 32  # with more columns, all pairs are counted among the drawn records
MAX_KEY: Final = 2**62  # of a record of codes, before records are numbered
# share of the records with a value that have a position, for a column with an order
ON_SCALE: Final = 0.9
SCALE_LETTERS: Final = (
    "0123456789.-+:_,eETZ "  # that a number, a date or a timestamp is written with
)
MIN_POSITIONS: Final = 4
SIGNED_ZEROS: Final = (("0.0", "-0.0"), ("-0.0", "0.0"))
PairCounts = Mapping[tuple[int, int], tuple[Integers, Integers, Floats]]


@dataclass(frozen=True)
class PeopleEvidence:
    """Counts of a sample; a value's code is its place among the values of its column.

    Pairs are counted among drawn records where the sample has more than MAX_PAIRED distinct ones, and among
    fewer where a pair has too many combinations. They are not scaled up: a scaled count would look like
    several records that agree. `drawn` are records of a seeded draw, all of them where the sample is small,
    and `drawn_size` the sizes of their classes in the whole sample. `known_shares` are shares of values
    from outside, by the number of their column. `value_weights` are sums of survey weights, scaled to the
    number of records. With either, only the tree is fitted, to the sample, and raked to these shares:
    records and class sizes have no weights.
    """

    columns: tuple[str, ...]
    ordered: tuple[bool, ...]
    values: tuple[tuple[Text, ...], ...]
    counts: tuple[Floats, ...]  # by column: (values,)
    pairs: PairCounts  # of columns i < j: codes in i, codes in j, counts
    histogram: Histogram
    drawn: Integers  # (drawn, columns)
    drawn_size: Integers  # (drawn,)
    known_shares: Mapping[int, tuple[Sequence[Text], Floats]] = field(default_factory=dict)
    value_weights: tuple[Floats, ...] = ()  # by column: (values,)
    drawn_weight: Floats | None = None  # (drawn,), of records with weights

    @property
    def records(self) -> int:
        """Number of records of the sample."""
        return int(self.histogram.records.sum())

    @property
    def weighted(self) -> bool:
        """Whether records have different weights."""
        return bool(self.value_weights)

    @property
    def effective_records(self) -> float:
        """Number of records without weights that show as much: (Σ w)² / Σ w². Source: Kish 1965."""
        w = self.drawn_weight
        if w is None or not (w > 0).any():
            return float(self.records)
        return self.records * float(w.sum() ** 2 / (w @ w) / len(w))


def count_records(
    codes: Integers,
    columns: ColumnNames,
    values: Sequence[Sequence[Text]],
    ordered: Sequence[bool],
    *,
    max_drawn: int = MAX_DRAWN,
    seed: int = 0,
) -> PeopleEvidence:
    """Count coded records, (records, columns), as an engine does; refuses an empty table.

    >>> evidence = count_records(np.array([[0], [0], [1]]), ["sex"], [["F", "M"]], [False])
    >>> evidence.counts, evidence.histogram.class_size.tolist()
    ((array([2., 1.]),), [1, 2])
    """
    if not len(codes):
        raise NoRecordsError
    _, inverse, sizes = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    class_size, classes = np.unique(sizes, return_counts=True)
    order = np.random.default_rng(seed).permutation(len(codes))
    rows = order[:max_drawn]
    paired = codes if len(sizes) <= MAX_PAIRED else codes[order[:MAX_PAIRED]]
    pairs = {}
    for i, j in combinations(range(len(columns)), 2):
        counted = count_pairs(paired[:, i], paired[:, j])
        too_many = len(counted[0]) > max_combinations(len(columns))
        pairs[i, j] = count_pairs(codes[rows, i], codes[rows, j]) if too_many else counted
    return PeopleEvidence(
        tuple(columns),
        tuple(ordered),
        tuple(tuple(some) for some in values),
        tuple(
            np.bincount(column_codes, minlength=len(some)).astype(np.float64)
            for column_codes, some in zip(codes.T, values, strict=True)
        ),
        pairs,
        Histogram(class_size, classes, class_size * classes),
        codes[rows],
        sizes[inverse.ravel()[rows]],
    )


def max_combinations(columns: int) -> int:
    """Combinations of values up to which each pair of so many columns is counted in the whole sample.

    >>> max_combinations(10), max_combinations(20), max_combinations(64)
    (20000, 5263, 0)
    """
    if columns > MAX_COLUMNS_PAIRED:
        return 0
    return min(MAX_COMBINATIONS, MAX_ALL_COMBINATIONS // max(columns * (columns - 1) // 2, 1))


def count_pairs(
    one: Integers, other: Integers, weight: Floats | None = None
) -> tuple[Integers, Integers, Floats]:
    """Count the pairs of codes that occur, or add up their weights.

    >>> [each.tolist() for each in count_pairs(np.array([1, 0, 1]), np.array([2, 0, 2]))]
    [[0, 1], [0, 2], [1.0, 2.0]]
    """
    width = int(other.max()) + 1
    pair, place = np.unique(one * width + other, return_inverse=True)
    return pair // width, pair % width, np.bincount(place.ravel(), weight).astype(np.float64)


def row_keys(codes: Integers) -> Integers:
    """Number the distinct records of codes: one key for each record."""
    key, bound = np.zeros(len(codes), dtype=np.int64), 1
    for column in codes.T:
        width = int(column.max(initial=0)) + 1
        if bound * width > MAX_KEY:  # numbered keys leave room for more columns
            key, bound = np.unique(key, return_inverse=True)[1].ravel(), len(key)
        key, bound = key * width + column, bound * width
    numbered: Integers = np.unique(key, return_inverse=True)[1].ravel()
    return numbered


def order_columns(evidence: PeopleEvidence) -> list[int]:
    """Columns in an order that depends on what they contain, and on names only between equal ones.

    Seeds and ties follow it, so that the order in which a table has its columns moves no figure.

    >>> values = [["F", "M"], ["x", "y", "z"]]
    >>> codes = np.array([[0, 0], [0, 1], [1, 2]])
    >>> order_columns(count_records(codes, ["sex", "town"], values, [False, False]))
    [1, 0]
    """

    def content(j: int) -> tuple[int, float, str]:
        counts = np.sort(evidence.counts[j])
        return -len(counts), float(counts @ counts), evidence.columns[j]

    return sorted(range(len(evidence.columns)), key=content)


def reorder_columns(evidence: PeopleEvidence, order: Sequence[int]) -> PeopleEvidence:
    """The evidence with its columns in this order, and its records in one that only their values decide."""
    reordered = select_columns(evidence, order)
    drawn, weight = reordered.drawn, evidence.drawn_weight
    rows = np.lexsort(drawn.T)[np.random.default_rng(len(drawn)).permutation(len(drawn))]
    return replace(
        reordered,
        drawn=drawn[rows],
        drawn_size=evidence.drawn_size[rows],
        drawn_weight=None if weight is None else weight[rows],
    )


def select_columns(evidence: PeopleEvidence, columns: Sequence[int]) -> PeopleEvidence:
    """The evidence of these columns, in this order; the classes stay what they are.

    >>> values = [["1", "2", "3"], ["A", "B"]]
    >>> table = count_records(np.array([[0, 0], [2, 1]]), ["zip", "state"], values, [False, False])
    >>> select_columns(table, [1]).columns
    ('state',)
    """
    shares = evidence.known_shares
    return replace(
        evidence,
        columns=tuple(evidence.columns[j] for j in columns),
        ordered=tuple(evidence.ordered[j] for j in columns),
        values=tuple(evidence.values[j] for j in columns),
        counts=tuple(evidence.counts[j] for j in columns),
        value_weights=tuple(evidence.value_weights[j] for j in columns if evidence.weighted),
        pairs={
            (i, j): _pair_of(evidence, columns[i], columns[j])
            for i, j in combinations(range(len(columns)), 2)
        },
        drawn=evidence.drawn[:, columns],
        known_shares={i: shares[j] for i, j in enumerate(columns) if j in shares},
    )


def _pair_of(evidence: PeopleEvidence, one: int, other: int) -> tuple[Integers, Integers, Floats]:
    """Counts of a pair of columns in this order, by code."""
    if one < other:
        return evidence.pairs[one, other]
    second, first, counts = evidence.pairs[other, one]
    rows = np.lexsort((second, first))
    return first[rows], second[rows], counts[rows]


def same_counts(one: PeopleEvidence, other: PeopleEvidence) -> bool:
    """Whether two samples without known shares have the same counts in the same order.

    >>> table = count_records(np.array([[0], [0], [1]]), ["sex"], [["F", "M"]], [False])
    >>> other = count_records(np.array([[0], [1], [1]]), ["sex"], [["F", "M"]], [False])
    >>> same_counts(table, table), same_counts(table, other)
    (True, False)
    """
    names = [(each.columns, each.ordered, each.values, each.weighted) for each in (one, other)]
    return (
        names[0] == names[1]
        and not one.known_shares
        and not other.known_shares
        and one.pairs.keys() == other.pairs.keys()
        and all(np.array_equal(a, b) for a, b in zip(_arrays(one), _arrays(other), strict=True))
    )


def _arrays(evidence: PeopleEvidence) -> Iterator[npt.NDArray[Any]]:
    yield from (*evidence.counts, *evidence.value_weights, evidence.drawn, evidence.drawn_size)
    yield from (evidence.histogram.class_size, evidence.histogram.classes)
    for pair in sorted(evidence.pairs):
        yield from evidence.pairs[pair]


def evidence_from_rows(
    rows: EvidenceRows, ordered: ColumnNames = (), nominal: ColumnNames = ()
) -> PeopleEvidence:
    """Encode the values and sort the rows; refuses an empty table, unknown column names, and bad weights.

    Columns of numbers, dates and timestamps have an order, unless `nominal` names them; `ordered` names
    further ones.
    """
    columns = rows.columns()
    weight = rows.scale_weights(columns[0][1])
    names = tuple(name for name, _ in columns)
    for name in (*ordered, *nominal):
        if name not in names:
            raise UnknownNameError(
                f"ordered and nominal must name columns of the model, got '{name}'; {suggestion(name, names)}"
            )
    values, counts, weights = _read_values(rows, columns, weight)
    encodings = [_encode_values(column_values) for column_values in values]
    drawn = rows.select(DRAWN_RECORD)
    drawn = drawn[np.argsort(rows.draw_order[drawn], kind="stable")]
    records = [rows.texts[row] or () for row in drawn.tolist()]
    codes = [[code[text] for code, text in zip(encodings, row, strict=True)] for row in records]
    drawn_codes = np.array(codes, dtype=np.int64).reshape(-1, len(encodings))
    total = int(rows.records[columns[0][1]].sum())
    # the whole sample: in an order that does not depend on an engine's hash
    if len(drawn) == total:
        order = np.lexsort(drawn_codes.T)[np.random.default_rng(total).permutation(total)]
        drawn, drawn_codes = drawn[order], drawn_codes[order]
    # records by the size of their class alone, whatever its expected count
    classes = rows.select(CLASS_SIZE)
    sizes, place = np.unique(rows.class_size[classes], return_inverse=True)
    records_of_size = np.bincount(place, rows.records[classes], len(sizes)).astype(np.int64)
    return PeopleEvidence(
        names,
        tuple(
            name in ordered or (name not in nominal and _has_scale(column_values, count))
            for name, column_values, count in zip(names, values, counts, strict=True)
        ),
        values,
        counts,
        _read_pairs(rows, encodings, drawn_codes, total),
        count_people(sizes, records_of_size),
        drawn_codes,
        rows.class_size[drawn],
        _read_known_shares(rows, names),
        weights if rows.is_weighted else (),
        rows.weight[drawn] if rows.is_weighted else None,
    )


def _read_values(
    rows: EvidenceRows, columns: Sequence[tuple[str, Integers]], weight: Floats
) -> tuple[tuple[tuple[Text, ...], ...], tuple[Floats, ...], tuple[Floats, ...]]:
    """Values in order of number or text, counts and weights: independent of the engine's order of rows."""
    values, counts, weights = [], [], []
    for _, lines in columns:
        checkpoint()
        texts = [rows.first_value[row] for row in lines.tolist()]
        order = order_values(texts)
        values.append(tuple(texts[place] for place in order))
        counts.append(rows.records[lines][order].astype(np.float64))
        weights.append(weight[lines][order])
    return tuple(values), tuple(counts), tuple(weights)


def _encode_values(values: Sequence[Text]) -> dict[Text, int]:
    """Codes by text; 0.0 and −0.0 are one value, which an engine may write as either."""
    codes = {value: code for code, value in enumerate(values)}
    for one, other in SIGNED_ZEROS:
        if one in codes:
            codes.setdefault(other, codes[one])
    return codes


def _read_pairs(
    rows: EvidenceRows,
    encodings: Sequence[Mapping[Text, int]],
    drawn: Integers,
    total: int,
) -> PairCounts:
    """Counts of each pair of columns; of the drawn records where these are all, or it has too many, or none.

    The counts of the sample and of drawn records that are the whole sample are equal.
    """
    pairs, most = {}, max_combinations(len(encodings))
    if len(drawn) == total:
        most = 0
    for i, j in combinations(range(len(encodings)), 2):
        checkpoint()
        lines = rows.select(PAIR, i + 1, j + 1)
        if 0 < len(lines) <= most:
            one = np.array([encodings[i][rows.first_value[row]] for row in lines.tolist()])
            other = np.array([encodings[j][rows.second_value[row]] for row in lines.tolist()])
            pairs[i, j] = count_pairs(one, other, rows.records[lines].astype(np.float64))
        else:
            pairs[i, j] = count_pairs(drawn[:, i], drawn[:, j])
    return pairs


def _has_scale(values: Sequence[Text], counts: Floats) -> bool:
    """Whether nearly all records with a value have a position on a scale, of at least a few positions."""
    at = positions(values)
    on_scale = ~np.isnan(at)
    not_null = np.array([value is not None for value in values])
    enough = len(np.unique(at[on_scale])) >= MIN_POSITIONS
    return bool(enough and counts[on_scale].sum() >= ON_SCALE * counts[not_null].sum())


def _read_known_shares(
    rows: EvidenceRows, names: Sequence[str]
) -> dict[int, tuple[list[Text], Floats]]:
    """Shares from outside by column; those of a value that is named twice are added up."""
    by_column = {}
    for column, listed in rows.marginal_shares(names).items():
        checked = check_shares([share for _, share in listed])  # each: a sum would hide one below 0
        shares: dict[Text, float] = {}
        for (value, _), share in zip(listed, checked.tolist(), strict=True):
            shares[value] = shares.get(value, 0.0) + share
        by_column[column] = list(shares), np.array(list(shares.values()))
    return by_column
