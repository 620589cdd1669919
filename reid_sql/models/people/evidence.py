"""What a model of people is fitted to: counts of values, pairs of values and class sizes, and drawn records.

An engine counts it in rows of several kinds (`EvidenceRows`, see evidence_kinds); `evidence_from_rows` makes
coded arrays of them, `count_records` counts coded records in Python. The number of records drawn is bounded.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import NoRecordsError, OutOfDomainError, UnknownNameError
from reid_sql.interruption import checkpoint
from reid_sql.models.classes.disclosure import NO_RECORDS, Histogram, Integers, count_people
from reid_sql.models.copula.marginals import order_values
from reid_sql.models.evidence_kinds import CLASS_SIZE, DRAWN_RECORD, MARGINAL_SHARE, VALUE
from reid_sql.models.marginals.scale import positions
from reid_sql.parameters import MAX_PEOPLE, Floats
from reid_sql.suggestion import suggestion

MAX_DRAWN: Final = 10_000  # records
MAX_COMBINATIONS: Final = 20_000  # of values, of one pair of columns
MAX_ALL_COMBINATIONS: Final = 1_000_000  # of all pairs of columns together, so that memory stays bounded
MAX_COLUMNS_PAIRED: Final = 32  # with more columns, all pairs are counted among the drawn records
ON_SCALE: Final = 0.9  # share of the records with a value that have a position, for a column with an order
MIN_POSITIONS: Final = 4
SIGNED_ZEROS: Final = (("0.0", "-0.0"), ("-0.0", "0.0"))
Text = str | None
PairCounts = Mapping[tuple[int, int], tuple[Integers, Integers, Floats]]
# first, second, label, first_value, second_value, records, mass, texts
EvidenceRow = tuple[int, int, Text, Text, Text, int, float, Sequence[Text] | None]


@dataclass(frozen=True)
class PeopleEvidence:
    """Counts of a sample; a value's code is its place among the values of its column.

    `counts` and the counts of `pairs` may be sums of survey weights, scaled to the number of records. Pairs
    of columns with too many combinations are counted among the drawn records only, and are not scaled up: a
    scaled count would look like several records that agree. `drawn` are records of a seeded draw, all of them
    where the sample is small, and `drawn_size` the sizes of their classes in the whole sample.
    `known_shares` are shares of values from outside, by the number of their column. With them, or if
    `weighted`, only the tree is fitted: donors and class sizes have no weights.
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
    weighted: bool = False

    @property
    def records(self) -> int:
        """Number of records of the sample."""
        return int(self.histogram.records.sum())


def count_records(
    codes: Integers,
    columns: Sequence[str],
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
        raise NoRecordsError(NO_RECORDS)
    _, inverse, sizes = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    class_size, classes = np.unique(sizes, return_counts=True)
    rows = np.random.default_rng(seed).permutation(len(codes))[:max_drawn]
    pairs = {}
    for i, j in combinations(range(len(columns)), 2):
        counted = count_pairs(codes[:, i], codes[:, j])
        too_many = len(counted[0]) > max_combinations(len(columns))
        pairs[i, j] = count_pairs(codes[rows, i], codes[rows, j]) if too_many else counted
    return PeopleEvidence(
        tuple(columns),
        tuple(ordered),
        tuple(tuple(some) for some in values),
        tuple(
            np.bincount(own, minlength=len(some)).astype(np.float64)
            for own, some in zip(codes.T, values, strict=True)
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


def count_pairs(one: Integers, other: Integers) -> tuple[Integers, Integers, Floats]:
    """Count the pairs of codes that occur."""
    width = int(other.max()) + 1
    pair, counts = np.unique(one * width + other, return_counts=True)
    return pair // width, pair % width, counts.astype(np.float64)


def row_keys(codes: Integers) -> Integers:
    """Number the distinct records of codes: one key for each record."""
    key = np.zeros(len(codes), dtype=np.int64)
    for column in codes.T:
        both = key * (int(column.max(initial=0)) + 1) + column
        key = np.unique(both, return_inverse=True)[1].ravel()
    return key


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
    yield from (*evidence.counts, evidence.drawn, evidence.drawn_size)
    yield from (evidence.histogram.class_size, evidence.histogram.classes)
    for pair in sorted(evidence.pairs):
        yield from evidence.pairs[pair]


@dataclass(frozen=True)
class EvidenceRows:
    """The rows of the reduction `people`, column by column; see evidence_kinds for what a row counts."""

    line: Integers
    first: Integers
    second: Integers  # number of the second column, or the kind of the row
    label: Sequence[Text]
    first_value: Sequence[Text]
    second_value: Sequence[Text]
    records: Integers
    mass: Sequence[float]
    texts: Sequence[Sequence[Text] | None]

    @property
    def is_weighted(self) -> bool:
        """Whether records have different weights: some value's mass is not its number of records."""
        of_values = np.asarray(self.second) == VALUE
        mass = np.asarray(self.mass, dtype=np.float64)[of_values]
        return not np.array_equal(mass, np.asarray(self.records, dtype=np.float64)[of_values])


def rows_from_columns(columns: Mapping[str, Sequence[Text]]) -> EvidenceRows:
    """Count a small table, given by column, as an engine does; every record is drawn.

    >>> rows_from_columns({"sex": ["F", "F", "M"]}).records.tolist()
    [2, 1, 1, 2, 2, 2, 1]
    """
    records = list(zip(*columns.values(), strict=True))
    rows: list[EvidenceRow] = []
    for place, (name, values) in enumerate(columns.items(), 1):
        rows += [(place, VALUE, name, value, None, n, float(n), None) for value, n in Counter(values).items()]
    for (i, one), (j, other) in combinations(enumerate(columns.values(), 1), 2):
        counted = Counter(zip(one, other, strict=True))
        rows += [(i, j, None, *pair, n, float(n), None) for pair, n in counted.items()]
    classes = Counter(records)
    sizes = Counter(classes.values())
    rows += [(0, CLASS_SIZE, None, None, None, size, float(n), None) for size, n in sorted(sizes.items())]
    rows += [(0, DRAWN_RECORD, None, None, None, classes[record], 0.0, list(record)) for record in records]
    return rows_from_tuples(rows)


def rows_from_tuples(rows: Sequence[EvidenceRow]) -> EvidenceRows:
    """Transpose rows to columns."""
    return EvidenceRows(
        np.arange(len(rows)),
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([row[1] for row in rows], dtype=np.int64),
        [row[2] for row in rows],
        [row[3] for row in rows],
        [row[4] for row in rows],
        np.array([row[5] for row in rows], dtype=np.int64),
        [row[6] for row in rows],
        [row[7] for row in rows],
    )


def evidence_from_rows(
    rows: EvidenceRows, ordered: Sequence[str] = (), nominal: Sequence[str] = ()
) -> PeopleEvidence:
    """Encode the values and sort the rows; refuses an empty table, unknown column names, and bad weights.

    Columns of numbers, dates and timestamps have an order, unless `nominal` names them; `ordered` names
    further ones.
    """
    first, second = np.asarray(rows.first), np.asarray(rows.second)
    mass, records = np.asarray(rows.mass, dtype=np.float64), np.asarray(rows.records, dtype=np.int64)
    of_first_column = (first == 1) & (second == VALUE)
    total = int(records[of_first_column].sum())
    if total == 0:
        raise NoRecordsError(NO_RECORDS)
    weight = _scale_weights(mass, of_first_column, second >= VALUE, total)
    names, values, counts = _read_columns(rows, first, second, weight)
    for name in (*ordered, *nominal):
        if name not in names:
            rule = f"ordered and nominal must name columns of the model, got '{name}'"
            raise UnknownNameError(f"{rule}; {suggestion(name, names)}")
    drawn = np.flatnonzero(second == DRAWN_RECORD)
    drawn = drawn[np.argsort(mass[drawn], kind="stable")]
    encodings = [_encode_values(own) for own in values]
    drawn_codes = _encode_records([rows.texts[row] or () for row in drawn.tolist()], encodings)
    if len(drawn) == total:  # the whole sample: in an order that does not depend on an engine's hash
        order = np.lexsort(drawn_codes.T)[np.random.default_rng(total).permutation(total)]
        drawn, drawn_codes = drawn[order], drawn_codes[order]
    sizes = np.flatnonzero(second == CLASS_SIZE)
    sizes = sizes[np.argsort(records[sizes])]
    return PeopleEvidence(
        names,
        tuple(
            name in ordered or (name not in nominal and _has_scale(own, count))
            for name, own, count in zip(names, values, counts, strict=True)
        ),
        values,
        counts,
        _read_pairs(rows, (first, second, weight), encodings, drawn_codes),
        count_people(records[sizes], np.rint(mass[sizes] * records[sizes]).astype(np.int64)),
        drawn_codes,
        records[drawn],
        _read_known_shares(rows, second, names),
        rows.is_weighted,
    )


def _scale_weights(mass: Floats, of_first_column: np.ndarray, counted: np.ndarray, records: int) -> Floats:
    """Scale the weights so that they add up to the number of records; 0 for rows that count nothing."""
    total = float(np.sort(mass[of_first_column]).sum())
    if not np.isfinite(mass[counted]).all() or (mass[counted] < 0).any() or not total > 0:
        rule = "weight must be a number of at least 0 for every record, and not 0 for all"
        raise OutOfDomainError(f"{rule}, got {total:g} altogether; mend the weight column")
    if total > MAX_PEOPLE:
        rule = f"weight must add up to at most {MAX_PEOPLE:g} people"
        raise OutOfDomainError(f"{rule}, got {total:g}; mend the weight column")
    return np.asarray(np.where(counted, mass * (records / total), 0.0))


def _read_columns(
    rows: EvidenceRows, first: Integers, second: Integers, weight: Floats
) -> tuple[tuple[str, ...], tuple[tuple[Text, ...], ...], tuple[Floats, ...]]:
    """Names, values in order of number or text, and counts: independent of the engine's order of rows."""
    names, values, counts = [], [], []
    for column in range(1, int(first[second == VALUE].max()) + 1):
        checkpoint()
        own = np.flatnonzero((first == column) & (second == VALUE)).tolist()
        texts = [rows.first_value[row] for row in own]
        order = order_values(texts)
        names.append(str(rows.label[own[0]]))
        values.append(tuple(texts[place] for place in order))
        counts.append(weight[own][order])
    return tuple(names), tuple(values), tuple(counts)


def _encode_values(values: Sequence[Text]) -> dict[Text, int]:
    """Codes by text; 0.0 and −0.0 are one value, which an engine may write as either."""
    codes = {value: code for code, value in enumerate(values)}
    for one, other in SIGNED_ZEROS:
        if one in codes:
            codes.setdefault(other, codes[one])
    return codes


def _encode_records(texts: Sequence[Sequence[Text]], encodings: Sequence[Mapping[Text, int]]) -> Integers:
    """Codes of records: (records, columns)."""
    codes = [[code[text] for code, text in zip(encodings, row, strict=True)] for row in texts]
    return np.array(codes, dtype=np.int64).reshape(-1, len(encodings))


def _read_pairs(
    rows: EvidenceRows,
    counted: tuple[Integers, Integers, Floats],
    encodings: Sequence[Mapping[Text, int]],
    drawn: Integers,
) -> PairCounts:
    """Counts of each pair of columns; of the drawn records where the engine returned none."""
    first, second, weight = counted
    pairs = {}
    for i, j in combinations(range(len(encodings)), 2):
        checkpoint()
        own = np.flatnonzero((first == i + 1) & (second == j + 1)).tolist()
        if own:
            one = np.array([encodings[i][rows.first_value[row]] for row in own])
            other = np.array([encodings[j][rows.second_value[row]] for row in own])
            order = np.lexsort((other, one))
            pairs[i, j] = one[order], other[order], weight[own][order]
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
    rows: EvidenceRows, second: Integers, names: Sequence[str]
) -> dict[int, tuple[list[Text], Floats]]:
    """Shares from outside by column; those of a value that is named twice are added up."""
    columns: dict[int, dict[Text, float]] = {}
    for row in np.flatnonzero(second == MARGINAL_SHARE).tolist():
        if rows.first[row] == 0:
            rule = "marginals must name columns of the model in column_name"
            raise UnknownNameError(f"{rule}, got another; the columns are {', '.join(names)}")
        own = columns.setdefault(int(rows.first[row]) - 1, {})
        own[rows.first_value[row]] = own.get(rows.first_value[row], 0.0) + float(rows.mass[row])
    for shares in columns.values():
        total = sum(shares.values())
        if not all(share >= 0 for share in shares.values()) or not 0 < total < np.inf:
            rule = "share of the marginals must be a number of at least 0 for every value, and not 0 for all"
            raise OutOfDomainError(f"{rule}, got {total:g} altogether; mend the table of marginals")
    return {column: (list(shares), np.array(list(shares.values()))) for column, shares in columns.items()}
