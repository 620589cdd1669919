"""What an engine hands over of a sample, line by line, made into what a model of people is fitted to.

A line is a value of a column (`second` 0), a pair of values, a share from outside (−1), a size of classes
(−3) or a record drawn (−4), whose mass is a random number by which those drawn are in order. Pairs with very
many combinations are not handed over: they are counted among the drawn.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from reid_sql.errors import NoRecordsError, OutOfDomainError, UnknownNameError
from reid_sql.interruption import checkpoint
from reid_sql.models.classes.disclosure import NO_RECORDS, Histogram, Integers
from reid_sql.models.copula.gaussian_copula import OUTSIDE
from reid_sql.models.copula.marginals import in_order
from reid_sql.models.marginals import scale
from reid_sql.models.people.people_evidence import Pairs, PeopleEvidence, pair_counts
from reid_sql.parameters import MOST_PEOPLE, Floats
from reid_sql.suggestion import suggestion

SIZES: Final = -3  # in place of a second column: `records` in a class, `mass` such classes
DRAWN: Final = -4  # `texts` of a record, by column; `records` in its class
MOSTLY: Final = 0.9  # of the records that have a value: on a scale, where a column counts as ordered
FEWEST_PLACES: Final = 4
NOUGHTS: Final = (("0.0", "-0.0"), ("-0.0", "0.0"))
Told = str | None  # a value as text
# first, second, label, first_value, second_value, records, mass, texts
Line = tuple[int, int, Told, Told, Told, int, float, Sequence[Told] | None]


@dataclass(frozen=True)
class PeopleLines:
    """Counts of values, pairs and class sizes, and records drawn; columns by number from 1."""

    line: Integers
    first: Integers
    second: Integers
    label: Sequence[str | None]
    first_value: Sequence[str | None]
    second_value: Sequence[str | None]
    records: Integers
    mass: Sequence[float]
    texts: Sequence[Sequence[str | None] | None]

    @property
    def is_weighted(self) -> bool:
        """Whether records count differently: some value's mass is not its number of records."""
        alone = np.asarray(self.second) == 0
        mass = np.asarray(self.mass, dtype=np.float64)[alone]
        return not np.array_equal(mass, np.asarray(self.records, dtype=np.float64)[alone])


def lines_of(columns: Mapping[str, Sequence[str | None]]) -> PeopleLines:
    """Count a small table of columns as an engine does, every record drawn.

    >>> lines_of({"sex": ["F", "F", "M"]}).records.tolist()
    [2, 1, 1, 2, 2, 2, 1]
    """
    records = list(zip(*columns.values(), strict=True))
    found: list[Line] = []
    for place, (name, values) in enumerate(columns.items(), 1):
        found += [(place, 0, name, value, None, n, float(n), None) for value, n in Counter(values).items()]
    for (i, one), (j, other) in combinations(enumerate(columns.values(), 1), 2):
        counted = Counter(zip(one, other, strict=True))
        found += [(i, j, None, *pair, n, float(n), None) for pair, n in counted.items()]
    classes = Counter(records)
    sizes = Counter(classes.values())
    found += [(0, SIZES, None, None, None, size, float(n), None) for size, n in sorted(sizes.items())]
    found += [(0, DRAWN, None, None, None, classes[record], 0.0, list(record)) for record in records]
    return of_lines(found)


def of_lines(lines: Sequence[Line]) -> PeopleLines:
    """Turn lines, each with all that is told of it, into columns."""
    return PeopleLines(
        np.arange(len(lines)),
        np.array([line[0] for line in lines], dtype=np.int64),
        np.array([line[1] for line in lines], dtype=np.int64),
        [line[2] for line in lines],
        [line[3] for line in lines],
        [line[4] for line in lines],
        np.array([line[5] for line in lines], dtype=np.int64),
        [line[6] for line in lines],
        [line[7] for line in lines],
    )


def evidence_of(
    lines: PeopleLines, ordered: Sequence[str] = (), nominal: Sequence[str] = ()
) -> PeopleEvidence:
    """Code the values and sort the lines; refuses an empty table, names that are no columns, and bad weights.

    Columns of numbers, dates and moments have an order, unless `nominal` names them; `ordered` names others.
    """
    first, second = np.asarray(lines.first), np.asarray(lines.second)
    mass, records = np.asarray(lines.mass, dtype=np.float64), np.asarray(lines.records, dtype=np.int64)
    total = int(records[(first == 1) & (second == 0)].sum())
    if total == 0:
        raise NoRecordsError(NO_RECORDS)
    weight = _scaled(mass, (first == 1) & (second == 0), second >= 0, total)
    names, values, counts = _columns(lines, first, second, weight)
    for name in (*ordered, *nominal):
        if name not in names:
            rule = f"ordered and nominal must name columns of the model, got '{name}'"
            raise UnknownNameError(f"{rule}; {suggestion(name, names)}")
    drawn = np.flatnonzero(second == DRAWN)
    drawn = drawn[np.argsort(mass[drawn], kind="stable")]
    codes = _codes(values)
    coded = _coded([lines.texts[line] or () for line in drawn.tolist()], codes)
    if len(drawn) == total:  # all of them: in an order that no engine's hash decides
        order = np.lexsort(coded.T)[np.random.default_rng(total).permutation(total)]
        drawn, coded = drawn[order], coded[order]
    sizes = np.flatnonzero(second == SIZES)
    sizes = sizes[np.argsort(records[sizes])]
    of_size = np.asarray(mass[sizes], dtype=np.int64)
    return PeopleEvidence(
        names,
        tuple(
            name in ordered or (name not in nominal and _on_a_scale(own, count))
            for name, own, count in zip(names, values, counts, strict=True)
        ),
        values,
        counts,
        _pairs(lines, (first, second, weight), codes, coded),
        Histogram(records[sizes], of_size, records[sizes] * of_size),
        coded,
        records[drawn],
        _outside(lines, second, names),
        lines.is_weighted,
    )


def _scaled(mass: Floats, of_first: np.ndarray, counted: np.ndarray, records: int) -> Floats:
    """Scale the weights so that they add up to the number of records."""
    total = float(np.sort(mass[of_first]).sum())
    if not np.isfinite(mass[counted]).all() or (mass[counted] < 0).any() or not total > 0:
        rule = "weight must be a number of at least 0 for every record, and not 0 for all"
        raise OutOfDomainError(f"{rule}, got {total:g} altogether; mend the weight column")
    if total > MOST_PEOPLE:
        rule = f"weight must add up to at most {MOST_PEOPLE:g} people"
        raise OutOfDomainError(f"{rule}, got {total:g}; mend the weight column")
    return np.asarray(np.where(counted, mass * (records / total), 0.0))


def _columns(
    lines: PeopleLines, first: Integers, second: Integers, weight: Floats
) -> tuple[tuple[str, ...], tuple[tuple[str | None, ...], ...], tuple[Floats, ...]]:
    """Names, values in order of text or number, and counts: the same whatever order an engine has."""
    names, values, counts = [], [], []
    for column in range(1, int(first[second == 0].max()) + 1):
        checkpoint()
        alone = np.flatnonzero((first == column) & (second == 0)).tolist()
        told = [lines.first_value[line] for line in alone]
        order = in_order(told)
        names.append(str(lines.label[alone[0]]))
        values.append(tuple(told[place] for place in order))
        counts.append(weight[alone][order])
    return tuple(names), tuple(values), tuple(counts)


def _codes(values: Sequence[Sequence[str | None]]) -> list[dict[str | None, int]]:
    """Codes by text; 0.0 and −0.0 are one value, and an engine may tell it by either."""
    found: list[dict[str | None, int]] = [{value: code for code, value in enumerate(own)} for own in values]
    for codes in found:
        for one, other in NOUGHTS:
            if one in codes:
                codes.setdefault(other, codes[one])
    return found


def _coded(texts: Sequence[Sequence[str | None]], codes: Sequence[Mapping[str | None, int]]) -> Integers:
    """Codes of records: (records, columns)."""
    rows = [[code[text] for code, text in zip(codes, row, strict=True)] for row in texts]
    return np.array(rows, dtype=np.int64).reshape(-1, len(codes))


def _pairs(
    lines: PeopleLines,
    counted: tuple[Integers, Integers, Floats],
    codes: Sequence[Mapping[str | None, int]],
    drawn: Integers,
) -> Pairs:
    first, second, weight = counted
    found = {}
    for i, j in combinations(range(len(codes)), 2):
        checkpoint()
        own = np.flatnonzero((first == i + 1) & (second == j + 1)).tolist()
        if own:
            one = np.array([codes[i][lines.first_value[line]] for line in own])
            other = np.array([codes[j][lines.second_value[line]] for line in own])
            order = np.lexsort((other, one))
            found[i, j] = one[order], other[order], weight[own][order]
        else:
            found[i, j] = pair_counts(drawn[:, i], drawn[:, j])
    return found


def _on_a_scale(values: Sequence[str | None], counts: Floats) -> bool:
    """Whether nearly all records that have a value have one on a scale, of some places."""
    places = scale.places(values)
    on = ~np.isnan(places)
    told = np.array([value is not None for value in values])
    enough = len(np.unique(places[on])) >= FEWEST_PLACES
    return bool(enough and counts[on].sum() >= MOSTLY * counts[told].sum())


def _outside(
    lines: PeopleLines, second: Integers, names: Sequence[str]
) -> dict[int, tuple[list[str | None], Floats]]:
    """Shares from outside by column, values named twice added up."""
    found: dict[int, dict[str | None, float]] = {}
    for line in np.flatnonzero(second == OUTSIDE).tolist():
        if lines.first[line] == 0:
            unknown = str(lines.label[line])
            rule = "marginals must name columns of the model in column_name"
            raise UnknownNameError(f"{rule}, got '{unknown}'; {suggestion(unknown, names)}")
        own = found.setdefault(int(lines.first[line]) - 1, {})
        own[lines.first_value[line]] = own.get(lines.first_value[line], 0.0) + float(lines.mass[line])
    for shares in found.values():
        told = list(shares.values())
        if not all(share >= 0 for share in told) or not 0 < sum(told) < np.inf:
            rule = "share of the marginals must be a number of at least 0 for every value, and not 0 for all"
            raise OutOfDomainError(f"{rule}, got {sum(told):g} altogether; mend the table of marginals")
    return {column: (list(shares), np.array(list(shares.values()))) for column, shares in found.items()}
