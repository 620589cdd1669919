"""What a sample shows of its population, as an engine counts it: rows of several kinds.

A model of people, a copula and the estimators of population uniqueness are fitted to such rows; each asks for
the kinds that it needs. Columns are numbered from 1. A row has NULL, or 0 where it is a whole number, in the
columns that its kind does not use:

| kind | columns of the row |
| --- | --- |
| VALUE | first: the column; label: its name; first_value; records with the value; sum of their weights |
| PAIR | first, second: the columns; first_value, second_value; records with both; sum of their weights |
| MARGINAL_SHARE | first: the column, 0 if unknown; label: its name; first_value; share of people as weight |
| CLASS_SIZE | class_size; log_expected; records in classes of this size and expected count |
| DRAWN_RECORD | texts: a value for each column; class_size; draw_order, 0 to 1; mean weight of its class |
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np

from reid_sql.errors import NoRecordsError, OutOfDomainError, UnknownNameError
from reid_sql.parameters import MAX_PEOPLE, Floats, Integers, plain

VALUE: Final = "value"
PAIR: Final = "pair"
MARGINAL_SHARE: Final = "marginal share"
CLASS_SIZE: Final = "class size"
DRAWN_RECORD: Final = "drawn record"
KINDS: Final = (VALUE, PAIR, MARGINAL_SHARE, CLASS_SIZE, DRAWN_RECORD)
Text = str | None


class EvidenceRow(NamedTuple):
    """One row; see the table above."""

    kind: str
    first: int = 0
    second: int = 0
    label: Text = None
    first_value: Text = None
    second_value: Text = None
    class_size: int = 0
    log_expected: float = np.nan  # ln of the count that independent columns would give the class
    records: int = 0
    weight: float = 0.0
    draw_order: float = 0.0
    texts: Sequence[Text] | None = None


@dataclass(frozen=True)
class EvidenceRows:
    """The rows, column by column; `line` numbers them."""

    line: Integers
    kind: Sequence[str]
    first: Integers
    second: Integers
    label: Sequence[Text]
    first_value: Sequence[Text]
    second_value: Sequence[Text]
    class_size: Integers
    log_expected: Floats
    records: Integers
    weight: Floats
    draw_order: Floats
    texts: Sequence[Sequence[Text] | None]

    @cached_property
    def _by_kind(self) -> Mapping[str, Integers]:
        kinds = np.array(self.kind, dtype=object)
        return {kind: np.flatnonzero(kinds == kind) for kind in KINDS}

    def select(self, kind: str, first: int = 0, second: int = 0) -> Integers:
        """Places of the rows of a kind, or of those of one column or of two columns."""
        places = self._by_kind[kind]
        for column, number in ((self.first, first), (self.second, second)):
            places = places[column[places] == number] if number else places
        return places

    def columns(self) -> list[tuple[str, Integers]]:
        """The name of each column, with the places of the rows of its values; refuses an empty table."""
        values = self.select(VALUE)
        if not int(self.records[values].sum()):
            raise NoRecordsError
        numbers = range(1, int(self.first[values].max()) + 1)
        selected = [self.select(VALUE, number) for number in numbers]
        return [(str(self.label[rows[0]]), rows) for rows in selected]

    def reorder(self, order: Sequence[int]) -> "EvidenceRows":
        """The same rows of columns in another order, given by their numbers from 0.

        >>> rows = rows_from_columns({"sex": ["F", "M"], "age": ["1", "2"]}).reorder([1, 0])
        >>> [name for name, _ in rows.columns()], rows.first_value[-5], rows.texts[-1]
        (['age', 'sex'], '1', ['2', 'M'])
        """
        number = np.zeros(len(order) + 1, dtype=np.int64)
        number[np.add(order, 1)] = np.arange(1, len(order) + 1)
        first, second = number[self.first], number[self.second]
        turned = (second > 0) & (first > second)
        values = [
            [
                second if turn else first
                for first, second, turn in zip(*each, turned.tolist(), strict=True)
            ]
            for each in (
                (self.first_value, self.second_value),
                (self.second_value, self.first_value),
            )
        ]
        return replace(
            self,
            first=np.where(turned, second, first),
            second=np.where(turned, first, second),
            first_value=values[0],
            second_value=values[1],
            texts=[
                None if each is None else [each[place] for place in order] for each in self.texts
            ],
        )

    @property
    def unique_records(self) -> int:
        """Records that are alone in all columns together."""
        sizes = self.select(CLASS_SIZE)
        return int(self.records[sizes[self.class_size[sizes] == 1]].sum())

    @property
    def is_weighted(self) -> bool:
        """Whether records have different weights: some value's weight is not its number of records."""
        values = self.select(VALUE)
        return not np.array_equal(self.weight[values], self.records[values])

    def scale_weights(self, values_of_first: Integers) -> Floats:
        """Weights of values and pairs that add up to the number of records; 0 for rows of other kinds.

        Refuses weights that are missing or below zero, and all of them together 0 or more than there are
        people.
        """
        weight, counted = np.zeros(len(self.kind)), np.r_[self.select(VALUE), self.select(PAIR)]
        weight[counted] = self.weight[counted]
        total = float(np.sort(weight[values_of_first]).sum())
        if not np.isfinite(weight).all() or (weight < 0).any() or not total > 0:
            rule = "weight must be a number of at least 0 for every record, and not 0 for all"
            raise OutOfDomainError(f"{rule}, got {plain(total)} altogether; mend the weight column")
        if total > MAX_PEOPLE:
            rule = f"weight must add up to at most {MAX_PEOPLE:g} people"
            raise OutOfDomainError(f"{rule}, got {plain(total)}; mend the weight column")
        return np.asarray(weight * (int(self.records[values_of_first].sum()) / total))

    def marginal_shares(self, names: Sequence[str]) -> dict[int, list[tuple[Text, float]]]:
        """Values with their shares from outside, by column from 0; refuses names that are no columns."""
        shares: dict[int, list[tuple[Text, float]]] = {}
        for row in self.select(MARGINAL_SHARE).tolist():
            if not self.first[row]:
                raise UnknownNameError(
                    f"marginals must name columns of the model in column_name, got another; the columns are {', '.join(names)}"
                )
            share = self.first_value[row], float(self.weight[row])
            shares.setdefault(int(self.first[row]) - 1, []).append(share)
        return shares


def rows_from_columns(columns: Mapping[str, Sequence[Text]]) -> EvidenceRows:
    """Count a small table, given by column, as an engine does; every record is drawn.

    >>> rows_from_columns({"sex": ["F", "F", "M"]}).records.tolist()
    [2, 1, 1, 2, 0, 0, 0]
    """
    records = list(zip(*columns.values(), strict=True))
    rows: list[EvidenceRow] = []
    for place, (name, values) in enumerate(columns.items(), 1):
        rows += [
            EvidenceRow(VALUE, place, label=name, first_value=value, records=n, weight=n)
            for value, n in Counter(values).items()
        ]
    for (i, one), (j, other) in combinations(enumerate(columns.values(), 1), 2):
        rows += [
            EvidenceRow(PAIR, i, j, first_value=a, second_value=b, records=n, weight=n)
            for (a, b), n in Counter(zip(one, other, strict=True)).items()
        ]
    classes = Counter(records)
    sizes = Counter(classes.values())
    rows += [EvidenceRow(CLASS_SIZE, class_size=n, records=n * sizes[n]) for n in sorted(sizes)]
    rows += [EvidenceRow(DRAWN_RECORD, class_size=classes[each], texts=each) for each in records]
    return rows_from_tuples(rows)


def rows_from_tuples(rows: Sequence[EvidenceRow]) -> EvidenceRows:
    """Transpose rows to columns."""
    columns = dict(zip(EvidenceRow._fields, zip(*rows, strict=True), strict=True))
    numbers: dict[str, Any] = {}
    for name, kind in (("first", int), ("second", int), ("class_size", int), ("records", int)):
        numbers[name] = np.array(columns[name], dtype=kind)
    for name in ("log_expected", "weight", "draw_order"):
        numbers[name] = np.array(columns[name], dtype=np.float64)
    by_name = {"line": np.arange(len(rows)), **columns, **numbers}
    return EvidenceRows(**{each.name: by_name[each.name] for each in fields(EvidenceRows)})


@dataclass(frozen=True)
class DistinctTexts:
    """Distinct records as texts, with the number of records of each; a row of 0 records names the columns."""

    line: Integers
    texts: Sequence[Sequence[str | None]]
    records: Integers
