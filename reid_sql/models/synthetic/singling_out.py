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
from reid_sql.models.synthetic.audited_tables import AuditedTables
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
    """How many records of each table fulfil a predicate; people are as many of each side."""

    def __init__(self, tables: AuditedTables, rng: np.random.Generator) -> None:
        self.codes = tables.codes
        people = [tables.originals, tables.controls] if tables.is_judged else [tables.originals]
        smallest = min(int(side.sum()) for side in people)
        drawn = [rng.multivariate_hypergeometric(side, smallest, method="marginals") for side in people]
        self.counts = np.array([tables.synthetics, *drawn])

    def records(self, predicate: Predicate) -> Integers:
        """Count the records, (tables,)."""
        rows: Integers | slice = slice(None)
        for place, relation, code in predicate:
            values = self.codes[place][rows]
            if relation == "=":
                matches = values == code
            else:  # a range of numbers; code 0 is NULL, which is in none
                matches = values >= code if relation == ">" else (values <= code) & (values > 0)
            rows = np.flatnonzero(matches) if isinstance(rows, slice) else rows[matches]
        return np.asarray(self.counts[:, rows].sum(axis=1))


def single_out(tables: AuditedTables, rng: np.random.Generator) -> Iterator[AuditedAttack]:
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
    tables: AuditedTables,
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
        synthetic, *people = counter.records(predicate).tolist()
        if synthetic == 1:
            hits.append([records == 1 for records in people])
    if not hits:
        return unavailable(attack, SHARE, STATUS_NO_PREDICATE)
    shares = np.mean(hits, axis=0).tolist()
    guessed = [counter.records(guess)[1] == 1 for guess in islice(guesses, len(hits))]
    baseline = float(np.mean(guessed))
    control = shares[1] if tables.is_judged else None
    return judge_shares(attack, SHARE, (shares[0], control), (len(hits), len(hits)), baseline=baseline)


def _univariate(tables: AuditedTables) -> Iterator[Predicate]:
    """Values that one synthetic record has, and both ends of each column of numbers or dates."""
    for place, codes in enumerate(tables.codes):
        counts = np.bincount(codes, tables.synthetics)
        yield from (((place, "=", code),) for code in np.flatnonzero(counts == 1).tolist())
        known = np.flatnonzero(counts[1:]) + 1
        if tables.is_ordinal[place] and len(known):
            yield ((place, "<", int(known[0])),)
            yield ((place, ">", int(known[-1])),)


def _write(
    tables: AuditedTables, rng: np.random.Generator, width: int, *, from_one_record: bool
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


def _relation(tables: AuditedTables, place: int, code: int) -> str:
    if code == 0 or not tables.is_ordinal[place]:
        return "="
    return ">" if code > tables.synthetic_medians[place] else "<"
