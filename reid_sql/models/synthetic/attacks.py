"""Attacks on a synthetic table, next to a control and a guess: shares, ROC curves, nearest records."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from math import comb
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from reid_sql.models.classes.disclosure import OK
from reid_sql.models.comparison.linkage import newcombe_interval
from reid_sql.models.interruption import checkpoint
from reid_sql.models.numerics.quantiles import NORMAL_95
from reid_sql.models.numerics.special_functions import ndtri
from reid_sql.models.synthetic.audited_tables import Flags, OrderedTables, People
from reid_sql.parameters import Floats, Integers

STATUS_NO_HOLDOUT: Final = (
    "no_holdout: a verdict needs holdout, people of the same kind who were not used"
)
STATUS_ONE_COLUMN: Final = "one_column: the attack needs two or more columns"
STATUS_WEAK_ATTACK: Final = "weak_attack: the attack is no better than guessing and shows nothing"


@dataclass(frozen=True)
class AuditedAttack:
    """An attack on a synthetic table."""

    attack: str  # what the attacker does with the synthetic table
    # the column that is inferred; of links, both halves of the columns: "a, b / c"
    column_name: str | None
    # what is measured: a share of people or predicates, the area under the ROC curve, …
    figure: str
    original: float | None  # the figure on people of the original
    holdout: float | None  # the same on people of the holdout, about whom nothing was learned
    # the figure of a guess without the records' joint values, where there is one
    baseline: float | None
    # `original` less `holdout`, a share of all people: what the table gives away
    excess: float | None
    low: float | None  # lower end of the 95 % interval of the excess
    high: float | None  # the upper end of the same interval
    status: str
    risk: float | None = None


def judge_shares(
    attack: str,
    figure: str,
    shares: tuple[float, float | None],
    trials: tuple[float, float],
    *,
    column: str | None = None,
    baseline: float | None = None,
    status: str | None = None,
    quantile: float = NORMAL_95,
) -> AuditedAttack:
    """Compare the shares of the original and of the holdout, of so many trials each.

    `quantile` is that of the normal distribution at the end of the interval.
    """
    original, control = shares
    if control is None:
        return AuditedAttack(
            attack, column, figure, original, None, baseline, None, None, None, STATUS_NO_HOLDOUT
        )
    low, high = newcombe_interval((original, trials[0]), (control, trials[1]), quantile)
    is_weak = baseline is not None and original <= baseline
    own_status = status or (STATUS_WEAK_ATTACK if is_weak else OK)
    excess = original - control
    risk = excess / (1 - control) if control < 1 else None
    return AuditedAttack(
        attack, column, figure, original, control, baseline, excess, low, high, own_status, risk
    )


def unavailable(attack: str, figure: str, status: str, column: str | None = None) -> AuditedAttack:
    """Report an attack that there is none of, and why."""
    return AuditedAttack(attack, column, figure, None, None, None, None, None, None, status)


# The ROC curve of a membership score: its area, and true positives at few false ones.

AREA: Final = "auc"
FALSE_POSITIVES: Final = {"true_positives_at_0.01": 0.01, "true_positives_at_0.001": 0.001}
CHANCE: Final = 0.5
STATUS_SMALL_HOLDOUT: Final = (
    "small_holdout: holdout has too few records for this share, so no false positives are allowed"
)


class RocCurve:
    """Scores of people, in order; any division of them into members and others has its curve."""

    def __init__(self, scores: Floats) -> None:
        self.order = np.argsort(-scores, kind="stable")
        falling = scores[self.order]
        is_end = np.r_[falling[1:] != falling[:-1], True]
        self.ends = np.flatnonzero(is_end)  # (distinct scores,), the last person of each
        starts = np.r_[0, self.ends[:-1] + 1]
        # Ranks from the lowest score, equal ones sharing their mean: Mann & Whitney 1947.
        middles = len(scores) + 1 - (starts + self.ends + 2) / 2
        self.ranks = np.repeat(middles, np.diff(np.r_[-1, self.ends]))

    def measure(self, attack: str, is_member: Flags) -> Iterator[AuditedAttack]:
        """The area and both shares of true positives; those are compared with the shares of false ones."""
        members = int(np.count_nonzero(is_member))
        sizes = members, len(is_member) - members
        area = CHANCE + float(self._areas(is_member[None, self.order])[0])
        low, high = self._interval(area, is_member[self.order])
        yield AuditedAttack(
            attack, None, AREA, area, CHANCE, None, area - CHANCE, low - CHANCE, high - CHANCE, OK
        )
        positives = self._positives(is_member[None, self.order])
        for (figure, share), (true, false) in zip(FALSE_POSITIVES.items(), positives, strict=True):
            status = STATUS_SMALL_HOLDOUT if share * sizes[1] < 1 else None
            yield judge_shares(
                attack, figure, (float(true[0]), float(false[0])), sizes, status=status
            )

    def excesses(self, labels: Flags) -> Floats:
        """What `measure` reports as excess, for many labels of the same people: (labels, figures)."""
        ordered = labels[:, self.order]
        positives = self._positives(ordered)
        return np.stack(
            [self._areas(ordered), *(true - false for true, false in positives)], axis=1
        )

    def _areas(self, members: Flags) -> Floats:
        """The area under the curve less a half, of members in the order of the scores, (labels,)."""
        count = members.sum(axis=1)
        rest = members.shape[1] - count
        above = sum_where(members, self.ranks) - count * (count + 1) / 2
        return np.asarray(above / (count * rest) - CHANCE)

    def _positives(self, members: Flags) -> Iterator[tuple[Floats, Floats]]:
        """True and false positives of the lowest threshold with at most each share of false ones."""
        count = members.sum(axis=1)
        rest = members.shape[1] - count
        false = np.cumsum(~members, axis=1, dtype=np.int32)[:, self.ends]
        for share in FALSE_POSITIVES.values():
            steps = (false <= np.floor(share * rest + 1e-9)[:, None]).sum(axis=1)
            taken = np.r_[0, self.ends + 1][steps]
            last = np.take_along_axis(false, np.maximum(steps - 1, 0)[:, None], axis=1)[:, 0]
            wrong = np.where(steps > 0, last, 0)
            yield np.asarray((taken - wrong) / count), np.asarray(wrong / rest)

    def _interval(self, area: float, is_member: Flags) -> tuple[float, float]:
        """The 95 % interval of the area: DeLong, DeLong & Clarke-Pearson 1988, eq. 5.

        A person's share of the others whom they stand above follows from their rank among all and among their
        own kind: Sun & Xu 2014.
        """
        variance = 0.0
        for of_kind in (is_member, ~is_member):
            # Share of the other kind that each person of this kind stands above, equal
            # scores as one half.
            groups = np.repeat(np.arange(len(self.ends)), np.diff(np.r_[-1, self.ends]))
            counts: Integers = np.bincount(groups[~of_kind], minlength=len(self.ends))
            below = counts[::-1].cumsum()[::-1] - counts / 2
            places = np.asarray((below / max(1, counts.sum()))[groups[of_kind]])
            variance += float(places.var(ddof=1)) / len(places) if len(places) > 1 else 0.25
        half = NORMAL_95 * variance**0.5
        return max(0.0, area - half), min(1.0, area + half)


# Linkability and inference: what the synthetic records nearest to a person tell.
#
# Source: Giomi, Boenisch, Wehmeyer & Tasnádi 2023, sections 4.2 and 4.3. Where several synthetic records
# are as near, the attacker takes one of them at random; what is counted is the chance that it is right.


UNITS: Final = 4096  # the greatest distance of two values of one column
BLOCK: Final = 1 << 18  # distances at once
MAX_EXACT: Final = 2**24  # whole numbers that a short float adds up exactly
# columns whose distances add up to 16 bits, and one is left
MAX_SHORT_SUMS: Final = (2**16 - 2) // UNITS
MISSING: Final = -2 * UNITS  # the position of NULL, farther than UNITS from any number

Block = tuple[slice, npt.NDArray[Any]]


class Distances:
    """Distances between distinct records of audited tables.

    That of two numbers or dates is the difference of their middle ranks among the records of all tables, so
    that a far-off value weighs no more than others. Any two other values, and NULL and any value, are UNITS
    apart.
    """

    def __init__(self, tables: OrderedTables) -> None:
        records = tables.originals + tables.synthetics + tables.controls
        self.values: list[npt.NDArray[Any]] = []
        for codes, is_ordinal in zip(tables.codes, tables.is_ordinal, strict=True):
            short = np.min_scalar_type(int(codes.max(initial=0)))
            self.values.append(
                rank_positions(codes, records) if is_ordinal else codes.astype(short)
            )
        self.is_ordinal = tables.is_ordinal
        self.sums = np.uint16 if len(self.values) <= MAX_SHORT_SUMS else np.uint32

    def by_column(
        self, rows: Integers, targets: Integers, shares: tuple[float, float]
    ) -> Iterator[Block]:
        """Distances of some distinct records to targets, block by block: (columns, block, targets).

        `shares` are those of the whole computation before and after.
        """
        for block, mine, theirs in self._blocks(rows, targets, shares):
            shape = len(theirs), block.stop - block.start, len(targets)
            distances = np.empty(shape, dtype=self.sums)
            for place, out in enumerate(distances):
                self._fill(place, mine[place], theirs[place], out)
            yield block, distances

    def total(
        self, rows: Integers, targets: Integers, shares: tuple[float, float]
    ) -> Iterator[Block]:
        """The sums of the distances over the columns, (block, targets)."""
        for block, mine, theirs in self._blocks(rows, targets, shares):
            total = np.zeros((block.stop - block.start, len(targets)), dtype=self.sums)
            one = np.empty_like(total)
            for place in range(len(theirs)):
                self._fill(place, mine[place], theirs[place], one)
                total += one
            yield block, total

    def _blocks(
        self, rows: Integers, targets: Integers, shares: tuple[float, float]
    ) -> Iterator[tuple[slice, list[npt.NDArray[Any]], list[npt.NDArray[Any]]]]:
        theirs = [values[targets] for values in self.values]
        width = max(1, BLOCK // max(1, len(targets)))
        for start in range(0, len(rows), width):
            checkpoint(shares[0] + (shares[1] - shares[0]) * start / len(rows))
            block = slice(start, min(start + width, len(rows)))
            yield block, [values[rows[block]] for values in self.values], theirs

    def _fill(
        self, place: int, left: npt.NDArray[Any], right: npt.NDArray[Any], out: npt.NDArray[Any]
    ) -> None:
        """Write the distances of one column."""
        if not self.is_ordinal[place]:
            np.multiply(left[:, None] != right, self.sums(UNITS), out=out)
            return
        away = left[:, None] - right
        np.abs(away, out=away)
        np.minimum(away, UNITS, out=away)
        out[...] = away


def rank_positions(codes: Integers, records: Integers) -> npt.NDArray[np.int16]:
    """Middle ranks of the values among the records, from 0 to UNITS; MISSING of NULL.

    >>> rank_positions(np.array([0, 1, 2]), np.array([9, 1, 1])).tolist()
    [-8192, 1024, 3072]
    """
    counts = np.bincount(codes, records)
    counts[0] = 0
    middle = np.cumsum(counts) - counts / 2
    ranks = np.rint(UNITS * middle / max(counts.sum(), 1)).astype(np.int16)
    ranks[0] = MISSING
    return np.asarray(ranks[codes])


LINKABILITY: Final = "linkability"
INFERENCE: Final = "inference"
SHARE: Final = "share"
MAX_SPLITS: Final = 35  # of the columns into halves: all of up to 8 columns
ERROR: Final = 0.025  # at each end of an interval
# of a number's rank among all records, within which an inferred one is right
TOLERANCE: Final = UNITS // 20


def attack_by_nearest_records(
    tables: OrderedTables, people: People, rng: np.random.Generator, shares: tuple[float, float]
) -> Iterator[AuditedAttack]:
    """Measure the linkability of two halves of the columns, the worst, then the inference of each column."""
    columns = len(tables.names)
    if columns < 2:  # noqa: PLR2004 - something known, and something else
        yield unavailable(LINKABILITY, SHARE, STATUS_ONE_COLUMN)
        yield unavailable(INFERENCE, SHARE, STATUS_ONE_COLUMN, tables.names[0])
        return
    synthetic = np.flatnonzero(tables.synthetics)
    records = tables.synthetics[synthetic]
    distances = Distances(tables)
    splits = split_columns(columns, rng)
    links = np.zeros((len(splits), len(people.rows)))
    inferred = np.zeros((columns, len(people.rows)))
    for block, by_column in distances.by_column(people.rows, synthetic, shares):
        total = by_column.sum(axis=0, dtype=by_column.dtype)
        for place, half in enumerate(splits):
            checkpoint()
            one = reduce(np.add, (by_column[column] for column in half))
            links[place, block] = _compute_link_chance((one, total - one), records)
        for place, distance in enumerate(by_column):
            inferred[place, block] = _compute_value_chance(
                total - distance, distance <= TOLERANCE, records
            )
    baseline = 1 / int(records.sum())
    yield _judge_worst_split(tables, people, links, splits, baseline)
    for place, name in enumerate(tables.names):
        # Chance that a synthetic record drawn at random has a person's value of one column,
        # (rows,).
        values = distances.values[place].astype(np.int64)
        near = TOLERANCE if distances.is_ordinal[place] else 0
        order = np.argsort(values[synthetic], kind="stable")
        in_order, below = values[synthetic][order], np.r_[0, np.cumsum(records[order])]
        first = np.searchsorted(in_order, values[people.rows] - near, side="left")
        last = np.searchsorted(in_order, values[people.rows] + near, side="right")
        guess = np.asarray((below[last] - below[first]) / below[-1])
        baseline = people.shares(guess)[0]
        shares_right = people.shares(inferred[place])
        yield judge_shares(
            INFERENCE, SHARE, shares_right, people.sizes, column=name, baseline=baseline
        )


def split_columns(columns: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """One half of each division of so many columns into two halves: all divisions, or so many drawn.

    >>> split_columns(4, np.random.default_rng(0))
    [(0, 1), (0, 2), (0, 3)]
    """
    half = columns // 2
    # the other half is one of the same size, so that the first column is fixed
    is_even = columns == 2 * half
    if comb(columns, half) // (1 + is_even) <= MAX_SPLITS:
        halves = combinations(range(columns), half)
        return [each for each in halves if 0 in each or not is_even]
    drawn: set[tuple[int, ...]] = set()
    while len(drawn) < MAX_SPLITS:
        order = rng.permutation(columns).tolist()
        chosen = order[:half] if not is_even or 0 in order[:half] else order[half:]
        drawn.add(tuple(sorted(chosen)))
    return sorted(drawn)


def _judge_worst_split(
    tables: OrderedTables,
    people: People,
    links: Floats,
    splits: list[tuple[int, ...]],
    baseline: float,
) -> AuditedAttack:
    """The split that reveals most, with the interval that it has if all of them contain their truth.

    Each interval errs in its share of 5 %: Bonferroni 1936. So the greatest of all is within its own.
    """
    quantile = float(ndtri(1 - ERROR / len(splits)))
    figures = []
    for half, chances in zip(splits, links, strict=True):
        rest = [at for at in range(len(tables.names)) if at not in half]
        named = " / ".join(", ".join(tables.names[at] for at in side) for side in (half, rest))
        shares = people.shares(chances)
        figures.append(
            judge_shares(
                LINKABILITY,
                SHARE,
                shares,
                people.sizes,
                column=named,
                baseline=baseline,
                quantile=quantile,
            )
        )
    return max(figures, key=lambda each: (each.excess or 0.0, each.original or 0.0))


def _compute_link_chance(halves: tuple[Integers, Integers], records: Integers) -> Floats:
    """Chance that both halves of a person's columns lead to the same synthetic record, (block,).

    One of the records nearest by one half, from the first, and one of those nearest by the rest: among a and
    b records, of which c are the same, they are one record with chance c / (a b).
    """
    near = [total == total.min(axis=1)[:, None] for total in halves]
    both, one, other = (sum_where(flags, records) for flags in (near[0] & near[1], *near))
    return np.asarray(both / (one * other))


def sum_where(flags: Flags, weights: npt.NDArray[Any]) -> Floats:
    """Add up the weights of the flagged, in single precision where whole numbers add up exactly."""
    is_short = weights.dtype.kind in "biu" and weights.sum() < MAX_EXACT
    short = weights.astype(np.float32 if is_short else np.float64)
    with np.errstate(invalid="ignore"):  # BLAS may flag what lies beyond the rows
        return np.asarray(flags.astype(short.dtype) @ short, dtype=np.float64)


def _compute_value_chance(distances: Integers, is_right: Flags, records: Integers) -> Floats:
    """Chance that one of the nearest synthetic records has the person's value, (block,)."""
    # numpy searches a flat array several times as fast.
    pairs = np.flatnonzero(distances == distances.min(axis=1)[:, None])
    people, nearest = np.divmod(pairs, distances.shape[1])
    whole = np.bincount(people, records[nearest], len(distances))
    right = np.bincount(people, records[nearest] * is_right[people, nearest], len(distances))
    return np.asarray(right / whole)
