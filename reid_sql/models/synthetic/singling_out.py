"""Singling out: predicates that fit one synthetic record, and how often they fit one person.

An attacker who holds the synthetic table alone writes a predicate that one of its records fulfils, and claims
that one person of the original does. Univariate: a value that one record has, or the ends of a range.
Multivariate: some values of one record, numbers as "at most" or "at least". The same predicates, on as many
people who were not used, are the control; values that are put together from different records the guess.
Source: Giomi, Boenisch, Wehmeyer & Tasnádi 2023, section 4.1; Cohen & Nissim 2020 for the predicates.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

import numpy as np

from reid_sql.interruption import checkpoint
from reid_sql.models.synthetic.attack_figures import (
    STATUS_ONE_COLUMN,
    AuditedAttack,
    judge_shares,
    unavailable,
)
from reid_sql.models.synthetic.audited_tables import NOBODY, OrderedTables
from reid_sql.parameters import Integers

UNIVARIATE: Final = "singling_out_univariate"
MULTIVARIATE: Final = "singling_out_multivariate"
SHARE: Final = "share_of_predicates"
STATUS_NO_PREDICATE: Final = "no_predicate: no such predicate fits a single synthetic record"
PREDICATES: Final = 2000
MAX_TRIES: Final = 5  # predicates that are written for each that fits one record
TRIES_OF_RECORD: Final = 20  # predicates that are written at most for each synthetic record

Condition = tuple[int, str, int]  # place of the column, one of "=", "<" and ">", the code
Predicate = tuple[Condition, ...]


class _Counter:
    """Whether one person of each table fulfils a predicate; of both sides as many people are tried.

    The distinct records are listed in the order of each column, so that those that fulfil one condition are
    neighbours; the rest of a predicate is asked of the fewest.
    """

    def __init__(self, tables: OrderedTables, rng: np.random.Generator) -> None:
        size = tables.codes.shape[1]
        self.codes = tables.codes
        self.orders = np.argsort(tables.codes, axis=1, kind="stable")
        self.starts = [np.r_[0, np.cumsum(np.bincount(codes))].tolist() for codes in tables.codes]
        sides = [tables.original_people, tables.holdout_people][: 1 + tables.is_judged]
        smallest = min(map(len, sides))
        drawn = [side.take(np.sort(rng.choice(len(side), smallest, replace=False))) for side in sides]
        self.ends = [side.ends(np.arange(size), size) for side in (tables.synthetic_people, *drawn)]

    def rows(self, predicate: Predicate) -> Integers:
        """Find the distinct records that fulfil the predicate."""
        spans = [self._span(*condition) for condition in predicate]
        _, place, first, last = min(spans)
        rows = self.orders[place, self.starts[place][first] : self.starts[place][last + 1]]
        for _, other, low, high in spans:
            if other != place:
                values = self.codes[other, rows]
                rows = rows[(values >= low) & (values <= high)]
        return np.asarray(rows)

    def _span(self, place: int, relation: str, code: int) -> tuple[int, int, int, int]:
        """How many distinct records fulfil a condition, with its column, first and last code.

        Code 0 is NULL, which is in no range of numbers.
        """
        starts = self.starts[place]
        first, last = code, code
        if relation != "=":
            first, last = (code, len(starts) - 2) if relation == ">" else (1, code)
        return starts[last + 1] - starts[first], place, first, last

    def is_one(self, table: int, rows: Integers) -> bool:
        """Whether one person of the table, 0 for the synthetic one, has any of the records."""
        if not len(rows):
            return False
        first, last = self.ends[table]
        return bool(first[rows].min() == last[rows].max())


def single_out(tables: OrderedTables, rng: np.random.Generator) -> Iterator[AuditedAttack]:
    """Measure both attacks with up to 2,000 predicates each that fit one synthetic record."""
    counter = _Counter(tables, rng)
    univariate = list(_univariate(tables))
    rng.shuffle(univariate)
    guesses = (_write(tables, rng, 1, from_one_record=False) for _ in univariate)
    yield _measure(UNIVARIATE, tables, counter, univariate, guesses)
    columns = len(tables.names)
    if columns < 2:  # noqa: PLR2004 - a combination
        yield unavailable(MULTIVARIATE, SHARE, STATUS_ONE_COLUMN)
        return
    tries = min(PREDICATES * MAX_TRIES, TRIES_OF_RECORD * int(tables.synthetics.sum()))
    widths = rng.integers(2, columns + 1, tries).tolist()
    attacks = (_write(tables, rng, width, from_one_record=True) for width in widths)
    guesses = (_write(tables, rng, width, from_one_record=False) for width in widths)
    yield _measure(MULTIVARIATE, tables, counter, attacks, guesses)


def _measure(
    attack: str,
    tables: OrderedTables,
    counter: _Counter,
    predicates: Iterable[Predicate],
    guesses: Iterable[Predicate],
) -> AuditedAttack:
    """Share of the predicates that fit one person, of those that fit one synthetic record, each once."""
    tried: set[Predicate] = set()
    hits: list[list[bool]] = []
    for predicate in predicates:
        if len(hits) >= PREDICATES:
            break
        checkpoint()
        if predicate in tried:
            continue
        tried.add(predicate)
        rows = counter.rows(predicate)
        if counter.is_one(0, rows):
            hits.append([counter.is_one(table, rows) for table in range(1, len(counter.ends))])
    if not hits:
        return unavailable(attack, SHARE, STATUS_NO_PREDICATE)
    shares = np.mean(hits, axis=0).tolist()
    guessed = [counter.is_one(1, counter.rows(guess)) for guess in islice(guesses, len(hits))]
    baseline = float(np.mean(guessed))
    control = shares[1] if tables.is_judged else None
    return judge_shares(attack, SHARE, (shares[0], control), (len(hits), len(hits)), baseline=baseline)


def _univariate(tables: OrderedTables) -> Iterator[Predicate]:
    """Values that one synthetic person has, and both ends of each column of numbers or dates."""
    for place, codes in enumerate(tables.codes):
        person = tables.synthetic_people.only_person(codes, int(codes.max()) + 1)
        yield from (((place, "=", code),) for code in np.flatnonzero(person >= 0).tolist())
        known = np.flatnonzero(person[1:] != NOBODY) + 1
        if tables.is_ordinal[place] and len(known):
            yield ((place, "<", int(known[0])),)
            yield ((place, ">", int(known[-1])),)


def _write(
    tables: OrderedTables, rng: np.random.Generator, width: int, *, from_one_record: bool
) -> Predicate:
    """Write a predicate of some columns from a synthetic record, or each column from another one.

    Numbers are compared away from the median, so that few records lie beyond: Giomi et al. 2023.
    """
    places = np.sort(rng.choice(len(tables.names), width, replace=False))
    draws = rng.random(1 if from_one_record else width)
    rows = np.broadcast_to(tables.synthetic_rows(draws), width)
    return tuple(
        (place, _relation(tables, place, code), code)
        for place, code in zip(places.tolist(), tables.codes[places, rows].tolist(), strict=True)
    )


def _relation(tables: OrderedTables, place: int, code: int) -> str:
    if code == 0 or not tables.is_ordinal[place]:
        return "="
    return ">" if code > tables.synthetic_medians[place] else "<"
