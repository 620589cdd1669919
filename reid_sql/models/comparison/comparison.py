"""A release and its original: the risk of both, what changed, and how well records are linked.

A copy in capitals, with a space after each text, or in other units has no value of its original, and seems to
copy nobody. People who were not used show how many values two tables of such people have in common. Of keys,
and of values of people who are in both tables, half must be common: an identifier that one table writes
otherwise makes everybody a stranger.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import fsum
from typing import Final

import numpy as np

from reid_sql.models.classes.class_keys import number_columns
from reid_sql.models.classes.disclosure import OK, ClassRisk, class_risk
from reid_sql.models.comparison.disturbed_numbers import classify_column
from reid_sql.models.comparison.linkage import (
    ALL_COLUMNS,
    LIKELIHOOD,
    WITHIN_TOLERANCE,
    AttackResult,
    link_records,
    link_within,
    newcombe_interval,
    prepare_attack,
)
from reid_sql.models.comparison.nearest_records import (
    BY_AGREEMENT,
    BY_DIFFERENCES,
    BY_NUMBERS,
    BY_RANKS,
)
from reid_sql.models.comparison.paired_records import (
    STATUS_STRANGERS,
    CodedColumn,
    EqualRecords,
    PairedColumn,
    PairedRecords,
    agrees_as_strangers,
    find_records,
    group_records,
)
from reid_sql.parameters import Flags, Integers

STATUS_NO_KEY: Final = (
    "no_key: changes and links need key, a column of both tables that identifies records"
)
STATUS_DRAWN: Final = "records_drawn: the attack used {} records, drawn at random"
STATUS_NO_COMMON_RECORD: Final = "no_common_record: no value of key is in both tables"
UNKNOWN_LINKS: Final = {STATUS_NO_COMMON_RECORD, STATUS_STRANGERS}  # why nothing is known of them
STATUS_OTHER_VALUES: Final = (
    "other_values: total_variation is not available, since no released value is in the original"
)
UNKNOWN_KIND: Final = "not known"
CLASS_MEASURES: Final = (
    *("records", "classes", "k", "unique_records", "uniqueness", "highest_risk", "average_risk"),
    *("average_class_risk", "records_at_risk"),
)
CHANGE_MEASURES: Final = (
    *("classes_changed", "records_removed", "records_added", "records_changed", "cells_changed"),
    *("cells_suppressed", "information_loss"),
)
# Results of the attacks, with the figure that equals it if the original is released unchanged.
LINK_MEASURES: Final = {
    "correct_links": ("correct", "average_risk"),
    "certain_links": ("certain", "uniqueness"),
    "highest_link": ("highest", "highest_risk"),
    "correct_candidates": ("candidates", "average_risk"),
}
BY_DISTANCE: Final = (BY_NUMBERS, BY_RANKS, BY_AGREEMENT, BY_DIFFERENCES, WITHIN_TOLERANCE)
# The row in which each attack is reported; all others are exact matches on some columns.
MEASURE_OF_ATTACK: Final = {
    LIKELIHOOD: "links_by_likelihood",
    ALL_COLUMNS: "links_by_exact_match",
    **dict.fromkeys(BY_DISTANCE, "links_by_distance"),
}
STATUS_NO_NUMBERS: Final = "no_random_change: no numbers were changed at random"
STATUS_ALL_COLUMNS_BEST: Final = (
    "all_columns_best: no set of columns is right more often than all columns"
)
# Correct links by the best attack of each kind, and why there is none.
ATTACK_MEASURES: Final = {
    "links_by_likelihood": STATUS_NO_KEY,
    "links_by_distance": STATUS_NO_NUMBERS,
    "links_by_exact_match": STATUS_NO_KEY,
    "links_by_some_columns": STATUS_ALL_COLUMNS_BEST,
}

# of the share of known values that the control has, below which few are
MIN_OF_CONTROL: Final = 0.9
# of what both tables could have in common, below which little is compared
MIN_COMMON_SHARE: Final = 0.5
MIN_PEOPLE_COMPARED: Final = 20  # with fewer, sensitive values may differ by chance in each class
STATUS_FEW_COMMON: Final = "few_comparable: fewer than half of the {} are in both tables"
STATUS_NONE_COMMON: Final = "not_comparable: no {} of one table is in the other"
STATUS_FEW_WRITTEN: Final = "few_comparable: values of '{}' in {} differ from original's by capitals, spaces, accents or marks alone"
STATUS_NOT_COMPARABLE: Final = (
    "not_comparable: no value of '{}' in {} is in original, so copies are not seen"
)
STATUS_FEW_COMPARABLE: Final = (
    "few_comparable: too few values of '{}' in {} are in original to see copies"
)


@dataclass(frozen=True)
class Comparison:
    """A figure of the original and of its release."""

    measure: str
    original: float  # the figure of the original; of changes, 0
    # the figure of the release; NULL where it is not known, and the status says why
    released: float | None
    change: float | None  # the second less the first
    status: str
    # the attack that has this figure; the best of all, of the figures of links
    attack: str | None = None
    # lower end of the 95 % interval of the released figure, of drawn targets
    low: float | None = None
    high: float | None = None  # the upper end of the same interval


def compare(paired: PairedRecords, threshold: float, targets: int, seed: int) -> list[Comparison]:
    """Compare both tables by every figure.

    >>> paired = PairedRecords(["age"], [True], np.array([[1, 2]]), np.array([[1, 1]]), np.array([1, 1]),
    ...     [["23", "27"]], [["20 to 29"]])
    >>> compared = compare(paired, 0.2, 1, 0)
    >>> [(each.original, each.released) for each in compared if each.measure.endswith("_links")]
    [(1.0, 0.5), (1.0, 0.0)]
    """
    original = group_records(paired.original_codes, paired.records, "original")
    released = group_records(paired.released_codes, paired.records, "released")
    before, after = (class_risk(each.histogram, threshold) for each in (original, released))
    reason = judge_keys(paired) if paired.is_keyed else ""
    results = (
        reason if reason in UNKNOWN_LINKS else _link(paired, original, released, targets, seed)
    )
    links = _compare_links(results, before)
    return [
        *(_row(name, getattr(before, name), getattr(after, name)) for name in CLASS_MEASURES),
        *_compare_changes(paired, original, released, reason),
        *(_doubt(row, reason) for row in links),
    ]


def _row(measure: str, original: float, released: float | None, status: str = OK) -> Comparison:
    if released is None:
        return Comparison(measure, float(original), None, None, status)
    after = float(released)
    return Comparison(measure, float(original), after, after - original, status)


def _compare_changes(
    paired: PairedRecords, original: EqualRecords, released: EqualRecords, reason: str
) -> Iterator[Comparison]:
    if not paired.is_keyed:
        yield from (_row(name, 0, None, STATUS_NO_KEY) for name in CHANGE_MEASURES)
        return
    changed = np.zeros(len(paired.records), dtype=bool)
    cells, suppressed, losses = 0, 0, []
    for column in paired.columns():
        changes = column.changes
        changed[changes.rows] |= column.differs[changes.of_row]
        cells += int(changes.records[column.differs].sum())
        suppressed += int(changes.records[column.suppressed].sum())
        losses.append(information_loss(column))
    figures = (
        classes_changed(original, released),
        int(paired.records[~paired.in_release].sum()),
        int(paired.records[~paired.in_original].sum()),
        int(paired.records[changed].sum()),
        cells,
        suppressed,
        fsum(losses) / len(losses),
    )
    for name, figure in zip(CHANGE_MEASURES, figures, strict=True):
        is_count = name in {"records_removed", "records_added"}  # of the keys themselves
        is_known = reason not in UNKNOWN_LINKS or is_count
        yield _row(name, 0, figure if is_known else None, reason or OK)


def judge_keys(paired: PairedRecords) -> str:
    """Return why changes and links are doubtful, or not known; else nothing.

    Few keys of one table are in the other, or people of one key agree no better than strangers.
    """
    sides = paired.in_original, paired.in_release
    common = int(paired.records[sides[0] & sides[1]].sum())
    if not common:
        return STATUS_NO_COMMON_RECORD
    if agrees_as_strangers(paired):
        return STATUS_STRANGERS
    return judge_common(
        "key", "keys", common, min(int(paired.records[side].sum()) for side in sides)
    )


def classes_changed(original: EqualRecords, released: EqualRecords) -> int:
    """Number of classes of the original that are no class of the same records in the release."""
    both = np.stack([original.class_of_pair, released.class_of_pair]) + 1
    links = both[:, np.unique(number_columns(both), return_index=True)[1]]
    mine, theirs = (np.bincount(side) for side in links)
    same = (links[0] > 0) & (links[1] > 0) & (mine[links[0]] == 1) & (theirs[links[1]] == 1)
    return len(original.sizes) - int(same.sum())


def _link(
    paired: PairedRecords, original: EqualRecords, released: EqualRecords, targets: int, seed: int
) -> list[AttackResult] | str:
    """The results of the attacks, or why there are none."""
    if not paired.is_keyed:
        return STATUS_NO_KEY
    attack = prepare_attack(paired, original, released)
    if attack is None:
        return STATUS_NO_COMMON_RECORD
    return [*link_records(attack, targets, seed), *link_within(paired)]


def _doubt(row: Comparison, reason: str) -> Comparison:
    """The row, with the reason why it is doubtful in place of its status."""
    return replace(row, status=reason) if reason and row.released is not None else row


def _compare_links(results: list[AttackResult] | str, before: ClassRisk) -> Iterator[Comparison]:
    """The figures of the best attack, then the correct links of each."""
    for name, (figure, of_original) in LINK_MEASURES.items():
        original = getattr(before, of_original)
        if isinstance(results, str):
            yield _row(name, original, None, results)
        # which records are possible is known under the law of the changes alone
        elif figure == "candidates":
            yield _link_row(name, original, figure, results[:1])
        else:
            yield _link_row(name, original, figure, results)
    for name, reason in ATTACK_MEASURES.items():
        if isinstance(results, str):
            yield _row(name, before.average_risk, None, results)
            continue
        of_kind = [
            result
            for result in results
            if MEASURE_OF_ATTACK.get(result.attack, "links_by_some_columns") == name
        ]
        if of_kind:
            yield _link_row(name, before.average_risk, "correct", of_kind)
        else:
            yield _row(name, before.average_risk, None, reason)


def _link_row(
    measure: str, original: float, figure: str, results: list[AttackResult]
) -> Comparison:
    """The greatest figure of the attacks; its interval ends where the greatest of theirs do."""
    best = max(results, key=lambda each: getattr(each, figure))
    row = _row(measure, original, getattr(best, figure))
    drawn = next((each for each in results if each.drawn), None)
    status, low, high = OK, None, None
    if drawn:
        status = STATUS_DRAWN.format(drawn.targets)
        if figure != "highest":
            intervals = (each.interval(getattr(each, figure)) for each in results)
            low, high = (max(ends) for ends in zip(*intervals, strict=True))
    return replace(row, status=status, attack=best.attack, low=low, high=high)


@dataclass(frozen=True)
class ColumnChanges:
    """What changed in one column; what is not known is None, and the status says why."""

    column_name: str
    original_values: int  # distinct values of the column in the original, NULL not counted
    released_values: int  # the same in the release
    cells_changed: int | None  # records of both tables whose value is another than it was
    # those of them without information now: NULL, an empty text, or stars alone
    cells_suppressed: int | None
    information_loss: float | None  # share of the column's entropy that its released values lost
    total_variation: float | None  # share of records by which the distributions of values differ
    # how far numbers moved on average, as a share of the original's range
    earth_movers: float | None
    understood: str  # the kind of change that the attack of compare assumes
    status: str


def column_changes(paired: PairedRecords) -> list[ColumnChanges]:
    """Measure what changed in each column; refuses an empty table.

    >>> paired = PairedRecords(["age"], [True], np.array([[1, 2]]), np.array([[1, 1]]), np.array([1, 1]),
    ...     [["23", "27"]], [["20 to 29"]])
    >>> changes = column_changes(paired)[0]
    >>> changes.cells_changed, changes.information_loss, changes.understood
    (2, 1.0, 'recoded')
    """
    find_records(paired.original_codes, "original")
    find_records(paired.released_codes, "released")
    reason = judge_keys(paired) if paired.is_keyed else ""
    keyed = paired.is_keyed and reason not in UNKNOWN_LINKS
    return [_measure_column(column, reason, keyed=keyed) for column in paired.columns()]


def _measure_column(column: PairedColumn, reason: str, *, keyed: bool) -> ColumnChanges:
    changes, distance = column.changes, total_variation(column)
    reasons = [STATUS_NO_KEY] * (not keyed and not reason) + [STATUS_OTHER_VALUES] * (
        distance is None
    )
    reasons += [reason] * bool(reason)
    is_known = keyed and (changes.released >= 0).any()
    return ColumnChanges(
        column_name=column.name,
        original_values=len(column.original.values),
        released_values=len(column.released.values),
        cells_changed=int(changes.records[column.differs].sum()) if keyed else None,
        cells_suppressed=int(changes.records[column.suppressed].sum()) if keyed else None,
        information_loss=information_loss(column) if keyed else None,
        total_variation=distance,
        earth_movers=earth_movers(column),
        understood=classify_column(column).kind if is_known else UNKNOWN_KIND,
        status="; ".join(reasons) or OK,
    )


def information_loss(column: PairedColumn) -> float:
    """H(O | R) / H(O) of the values O and what they became, R; removed is one R; 0 where H(O) is 0.

    Shannon 1948; where values are merged only, it is the non-uniform entropy of de Waal & Willenborg 1999.
    """
    changes = column.changes
    n = changes.records.astype(np.float64)
    total = n.sum()
    of_values = np.bincount(changes.original, weights=n)
    of_released = np.bincount(changes.released + 1, weights=n)
    lost = fsum(n * np.log(of_released[changes.released + 1] / n))  # in any order of the values
    occurring = of_values[of_values > 0]
    before = fsum(occurring * np.log(total / occurring))
    return min(1.0, max(0.0, lost / before)) if before > 0 else 0.0


def total_variation(column: PairedColumn) -> float | None:
    """½ Σ |p − q| over values, NULL one of them; None where no released value is an original one."""
    before, after = _value_shares(column.original), _value_shares(column.released)
    if not (before.keys() & after.keys()) - {None} and any(value is not None for value in before):
        return None
    values = before.keys() | after.keys()
    # fsum rounds once, so that the order of the values has no effect.
    return fsum(abs(before.get(value, 0) - after.get(value, 0)) for value in values) / 2


def _value_shares(column: CodedColumn) -> dict[str | float | None, float]:
    shares: dict[str | float | None, float] = {}
    for value, n in zip(column.canonical, column.counts, strict=True):
        if n:
            shares[value] = shares.get(value, 0.0) + float(n)
    return {value: n / float(column.counts.sum()) for value, n in shares.items()}


def earth_movers(column: PairedColumn) -> float | None:
    """∫ |F − G| over the original's range, of numbers that are not suppressed; None with other values."""
    distributions = []
    for side in (column.original, column.released):
        if side.numbers is None:
            return None
        occurring = ~np.isnan(side.numbers) & (side.counts > 0)
        if not occurring.any():
            return None
        counts = side.counts[occurring]
        distributions.append((side.numbers[occurring], counts / counts.sum()))
    (mine, p), (theirs, q) = distributions
    spread = float(mine.max() - mine.min())
    if not spread:
        return None
    points, place = np.unique(np.concatenate([mine, theirs]), return_inverse=True)
    steps = np.bincount(place, weights=np.concatenate([p, -q]))
    return float((np.abs(np.cumsum(steps))[:-1] * np.diff(points)).sum() / spread)


def judge_common(one: str, several: str, common: float, possible: float, least: int = 1) -> str:
    """Return why little can be compared if few of what could be in both tables is there, else nothing.

    >>> judge_common("key", "keys", 2, 5), judge_common("key", "keys", 3, 5)
    ('few_comparable: fewer than half of the keys are in both tables', '')
    """
    if possible < least or common >= MIN_COMMON_SHARE * possible:
        return ""
    return STATUS_FEW_COMMON.format(several) if common else STATUS_NONE_COMMON.format(one)


@dataclass(frozen=True)
class ColumnCounts:
    """How many records, or people, of each table have each value of a column; value 0 is NULL."""

    original: Integers  # (values,), in order
    other: Integers  # (values,)
    control: Integers | None  # (values,), of people of the same kind as the original's
    is_ordinal: bool
    # records of the other table whose value differs from one of the original in writing alone
    written: int = 0
    control_written: int = 0  # the same of the control

    @property
    def is_known(self) -> Flags:
        """Whether the original has each value; of numbers and dates, whether they are in its range."""
        if not self.is_ordinal:
            return self.original > 0
        is_present = np.zeros(len(self.original), dtype=np.bool_)
        present = np.flatnonzero(self.original[1:]) + 1
        if len(present):
            is_present[present[0] : present[-1] + 1] = True
        is_present[0] = self.original[0] > 0
        return is_present

    def has_no_value(self) -> bool:
        """Whether the original has no value that the other table has."""
        return bool(self.other.sum()) and not self.other[self.is_known].sum()

    def has_few_values(self) -> bool:
        """Whether the other table has clearly fewer known values than people of the same kind have."""
        share = _share(self.other, self.is_known)
        # the share of known values in the control; without one, of records in the rest of the original
        expected = _share(self.original, self.original > 1)
        if self.control is not None and self.control[self.is_known].sum():
            expected = _share(self.control, self.is_known)
        control = self.original if self.control is None else self.control
        records = max(1, int(self.other.sum())), max(1, int(control.sum()))
        low, _ = newcombe_interval((expected, records[1]), (share, records[0]))
        return low > 0 and share < MIN_OF_CONTROL * expected

    def has_other_writing(self) -> bool:
        """Whether clearly more values differ in writing alone than do of people of the same kind."""
        controls = 0 if self.control is None else int(self.control.sum())
        records = max(1, int(self.other.sum())), max(1, controls or int(self.original.sum()))
        shares = self.written / records[0], self.control_written / records[1]
        low, _ = newcombe_interval((shares[0], records[0]), (shares[1], records[1]))
        return low > 0


def _share(records: Integers, flags: Flags) -> float:
    whole = float(records.sum())
    return float(records[flags].sum()) / whole if whole else 0.0
