"""Categories that are sums of others, whatever they are called: totals that nobody declared.

As one more category, a total would link nothing: a hidden part would be called protected, although the total
less what is shown gives it. A total is found by its counts. In a slice (the cells that differ in one column
alone) without hidden cells it is the sum of its parts; where parts are hidden, it is larger by as much as
hidden cells may have. What is left is chance: an ordinary category has this very count with about one chance
in as many as it has people, so that a few slices, or one of large counts, are evidence enough. Without hidden
cells nothing is at stake.

Parts may be all other categories, or some of them, as of a country over its regions: those that are listed
next to it, or any that add up to it in all slices. A mean of the others, and a total over a whole level of
other totals, are multiples.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log
from typing import Final

import numpy as np

from reid_sql.errors import OutOfDomainError
from reid_sql.models.tables.programmes import Programme
from reid_sql.models.tables.published_tables import NULL, Counted, Reading, group_by_table
from reid_sql.parameters import Flags, Floats, Integers

# that an ordinary category has counts of a total of all others, given that it is as large as they are
MAX_CHANCE: Final = 0.12
MAX_CHANCE_OF_PARTS: Final = 0.03  # that one of all sums of some others that may fit does
MAX_CHANCE_OF_SETS: Final = 0.01  # of means, of totals over levels, and of sets in any place
NEXT_TO_TOTALS: Final = 0.1  # of these, where totals are declared: then another one is not likely
MIN_SHARE: Final = (
    0.9  # of the slices in which the sum must fit: offices err, or leave somebody out
)
PLAUSIBLE: Final = (
    2  # times k, which a hidden count hardly exceeds, unless it is hidden for another one
)
MIN_PARTS: Final = 2  # a sum of one category is that category
LEVELS: Final = (2, 3)  # of totals within one column, over which a total counts everybody as often
MAX_CATEGORIES: Final = 60  # among which sets are sought
MIN_SLICES: Final = 3  # in which such a set must fit

ALL_OTHERS = "the sum of the others"
SOME_OTHERS = "the sum of some others"
MEAN_OF_OTHERS = "the mean of the others"
REMEDIES: Final = {
    ALL_OTHERS: "pass total := {0}",
    SOME_OTHERS: "give its parts a column of their own, in which its row is a total",
    MEAN_OF_OTHERS: "put the sum in its place and pass it as total",
}


@dataclass(frozen=True)
class Slices:
    """The cells of one table by the categories of one column: an array has a row for each slice.

    It has a column for each category. A cell that is not listed is one of nobody.
    """

    categories: list[str]
    low: Floats  # (slices, categories): what a count may be at least; of a shown one, that count
    high: Floats
    is_hidden: Flags
    is_listed: Flags
    totals: Floats  # (slices,): the declared total, NaN where none is shown


def refuse_undeclared_totals(
    counted: Sequence[Counted],
    columns: Sequence[str],
    reading: Reading,
    k: int,
) -> None:
    """Refuse a category that is a total by its counts, in a table whose rows do not say what they total.

    >>> from reid_sql.models.tables.published_tables import Cell
    >>> cells = [("M", 200.0), ("F", 300.0), ("X", None), ("Alle", 503.0)]
    >>> counted = [Counted(1, (each,), Cell(1.0, 1e9, count)) for each, count in cells]
    >>> refuse_undeclared_totals(counted[:3], ["sex"], Reading(), 5)
    >>> refuse_undeclared_totals(counted, ["sex"], Reading(), 5)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    reid_sql.errors.OutOfDomainError: total must name each category that is a total, ...
    """
    if not reading.distance and all(each.cell.value is not None for each in counted):
        return
    for cells in group_by_table(counted).values():
        if all(each.names_totals for each in cells):
            continue
        for place, column in enumerate(columns):
            slices = slice_cells(cells, place, len(columns))
            total = None if slices is None else find_total(slices, reading, k)
            if total is not None:
                raise OutOfDomainError(_refusal(column, *total))


def _refusal(column: str, category: str, kind: str) -> str:
    is_null = category == NULL
    named = "NULL" if is_null else f"'{category}'"
    rule = "total must name each category that is a total"
    got = f"got {named} of '{column}', whose counts are {kind}"
    label = "a text that replaces NULL" if is_null else named
    remedy = REMEDIES[kind].format(label)
    return f"{rule}, {got}; {remedy}, or not_total := {label} if it is an ordinary category"


def slice_cells(cells: Sequence[Counted], place: int, width: int) -> Slices | None:
    """The slices of one column of a table; None where it has too few categories for a total and its parts."""
    categories = list(
        dict.fromkeys(each.key[place] for each in cells if each.key[place] is not None)
    )
    if len(categories) <= MIN_PARTS:
        return None
    at = {category: number for number, category in enumerate(categories)}
    rows: dict[tuple[str | None, ...], int] = {}
    for each in cells:
        rows.setdefault((*each.key[:place], *each.key[place + 1 : width]), len(rows))
    shape = (len(rows), len(categories))
    low, high, totals = np.zeros(shape), np.zeros(shape), np.full(len(rows), np.nan)
    is_hidden, is_listed = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    for each in cells:
        row = rows[*each.key[:place], *each.key[place + 1 : width]]
        category = each.key[place]
        if category is None:
            totals[row] = np.nan if each.cell.value is None else each.cell.value
            continue
        cell = row, at[str(category)]
        low[cell], high[cell] = each.cell.bounds
        is_hidden[cell], is_listed[cell] = each.cell.value is None, True
    return Slices([str(each) for each in categories], low, high, is_hidden, is_listed, totals)


def find_total(slices: Slices, reading: Reading, k: int) -> tuple[str, str] | None:
    """Give the category that is a total or a mean, and of what; None where all are ordinary."""
    sums = [
        _Sums(slices, place, reading.distance, k)
        for place, category in enumerate(slices.categories)
        if category not in reading.not_total
    ]
    factor = 1.0 if np.isnan(slices.totals).all() else NEXT_TO_TOTALS
    searches = (
        (ALL_OTHERS, MAX_CHANCE, _Sums.all_others),
        (MEAN_OF_OTHERS, MAX_CHANCE_OF_SETS * factor, _Sums.mean_of_others),
        (SOME_OTHERS, MAX_CHANCE_OF_SETS * factor, _Sums.levels_of_others),
        (SOME_OTHERS, MAX_CHANCE_OF_PARTS * factor, _Sums.neighbours),
        (SOME_OTHERS, MAX_CHANCE_OF_SETS * factor, _Sums.any_others),
    )
    for kind, most, search in searches:
        chances = [(chance, each.place) for each in sums for chance in search(each)]
        least, place = min(chances, default=(0.0, 0))
        tried = 1 if kind == ALL_OTHERS else len(chances)
        if chances and least <= log(most / tried):
            return slices.categories[place], kind
    return None


class _Sums:
    """One category against sums of others, in the slices that show it.

    Each search yields the logarithm of the chance of each sum that fits; a sum that does not fit is none.
    """

    def __init__(self, slices: Slices, place: int, distance: int, k: int) -> None:
        rows = np.flatnonzero(slices.is_listed[:, place] & ~slices.is_hidden[:, place])
        self.candidates = np.delete(np.arange(len(slices.categories)), place)
        self.counts = slices.low[rows, place]
        self.low, self.high = slices.low[rows], slices.high[rows]
        self.is_hidden, self.is_listed = slices.is_hidden[rows], slices.is_listed[rows]
        self.totals, self.place, self.distance, self.k = slices.totals[rows], place, distance, k

    def all_others(self) -> Iterator[float]:
        """The sum of all others; of no category next to another total that is declared."""
        if not (~np.isnan(self.totals) & (self.totals != self.counts)).any():
            yield from self._fit(self.candidates, 1)

    def mean_of_others(self) -> Iterator[float]:
        """The mean of all others, rounded."""
        parts = len(self.candidates)
        yield from self._fit(self.candidates, parts, rounded=parts / 2, is_whole_alone=True)

    def levels_of_others(self) -> Iterator[float]:
        """The sum of others that count everybody several times: parts, and totals of them."""
        for times in LEVELS:
            yield from self._fit(self.candidates, times, is_whole_alone=True)

    def neighbours(self) -> Iterator[float]:
        """The sums of those that are listed right before it, or right after it, one of them hidden."""
        if not len(self.counts):
            return
        before, after = self.candidates[: self.place][::-1], self.candidates[self.place :]
        for direction in (before, after):
            slack = self.distance * (np.arange(len(direction)) + 2)
            more = self.counts[:, None] - self.low[:, direction].cumsum(
                axis=1
            )  # of runs of each length
            most = (self.high - self.low)[:, direction].cumsum(axis=1)
            does_fit = ((more >= -slack) & (more <= most + slack)).mean(axis=0) >= MIN_SHARE
            for length in np.flatnonzero(does_fit) + 1:
                run = direction[:length]
                if MIN_PARTS <= length < len(self.candidates) and self.is_hidden[:, run].any():
                    yield from self._fit(run, 1)

    def any_others(self) -> Iterator[float]:
        """The sum of the set of others that fits all slices, if an integer programme finds one.

        Its chance is that of any set: no search is made where chance would find one.
        """
        of = self.candidates[(self.low[:, self.candidates] <= self.counts[:, None]).all(axis=0)]
        evidence = float(np.log(self.counts + 1).sum()) + log(MAX_CHANCE_OF_SETS)
        if (
            not MIN_PARTS < len(of) <= MAX_CATEGORIES
            or len(self.counts) < MIN_SLICES
            or not self.is_hidden[:, of].any()
            or evidence < len(of) * log(2)
        ):
            return
        is_hidden = self.is_hidden[:, of]
        most = np.where(
            is_hidden, np.minimum(self.high[:, of], self.counts[:, None]), self.low[:, of]
        )
        slack = self.distance * (len(of) + 1)
        infinite = np.full(len(self.counts), np.inf)
        chosen = Programme(
            np.concatenate([self.low[:, of], most, np.ones((1, len(of)))]),
            (np.zeros(len(of)), np.ones(len(of))),
            (
                np.concatenate([-infinite, self.counts - slack, [MIN_PARTS]]),
                np.concatenate([self.counts + slack, infinite, [len(self.candidates) - 1]]),
            ),
            is_hidden.sum(axis=0).astype(float),
            whole=True,
        ).solve()
        parts = of[np.zeros(0, dtype=int) if chosen is None else np.flatnonzero(np.round(chosen))]
        if self.is_hidden[:, parts].any():
            for chance in self._fit(parts, 1):
                yield chance + len(of) * log(2)

    def _fit(
        self,
        parts: Integers,
        times: int,
        *,
        rounded: float = 0.0,
        is_whole_alone: bool = False,
    ) -> Iterator[float]:
        """The chance that `times` its count is the sum of the parts, or more by what hidden parts may have.

        Slices without hidden parts are evidence each, the others together; `is_whole_alone`, they are none.
        """
        multiples = times * self.counts
        low = self.low[:, parts]
        is_hidden = self.is_hidden[:, parts]
        hidden = is_hidden.sum(axis=1)
        slack = rounded + self.distance * (len(parts) + times)
        more = multiples - low.sum(axis=1)  # what hidden parts have together, beyond the least
        most = np.where(is_hidden, self.high[:, parts] - low, 0.0).sum(axis=1)
        does_fit, is_whole = (more >= -slack) & (more <= most + slack), hidden == 0
        if not _nearly_all(does_fit) or not _nearly_all(does_fit[is_whole]):
            return
        has_parts = does_fit & (self.is_listed[:, parts].sum(axis=1) >= MIN_PARTS)
        whole, part = is_whole & has_parts, ~is_whole & has_parts
        chance = sum(log(min(1.0, (2 * slack + 1) / (each + 1))) for each in multiples[whole])
        shown = np.where(is_hidden | (low == 0), np.inf, low)
        if part.any() and not is_whole_alone:
            if self._is_plausible(more[part], hidden[part], shown[part]):
                chance += log(
                    min(1.0, (more[part].clip(0).sum() + 1) / (multiples[part].sum() + 1))
                )
            elif chance > log(MAX_CHANCE_OF_SETS):
                return
        yield chance

    def _is_plausible(self, more: Floats, hidden: Integers, shown: Floats) -> bool:
        """Whether hidden cells may have so many people: few, or fewer than each of several that are shown.

        In a single slice, the sum must also reveal one of them; else it may stay as it is.
        """
        has_several = np.isfinite(shown).sum(axis=1) >= MIN_PARTS
        few = np.where(has_several, PLAUSIBLE * self.k, self.k)
        few = np.where(has_several, np.maximum(few, shown.min(axis=1)), few)
        if not _nearly_all(more / hidden < few):
            return False
        return len(self.counts) > 1 or int(hidden[0]) == 1 or float(more[0]) + 1 < self.k


def _nearly_all(does_fit: Flags) -> bool:
    return not len(does_fit) or float(does_fit.mean()) >= MIN_SHARE
