"""Attacks on a synthetic table, each with its control: the same attack on people who were not used.

An attack on the original succeeds for some people by what is true of everybody: a common combination occurs
in any table of such people. The holdout, people of the same kind who were not used, measures how often.
Only what the original has in excess was learned from its records. Source: Giomi et al. 2023 (the control).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

import numpy as np

from reid_sql.models.classes.disclosure import OK
from reid_sql.models.comparison.comparison import (
    STATUS_FEW_COMPARABLE,
    STATUS_FEW_WRITTEN,
    STATUS_NOT_COMPARABLE,
    ColumnCounts,
)
from reid_sql.models.interruption import checkpoint
from reid_sql.models.synthetic.attacks import (
    STATUS_NO_HOLDOUT,
    STATUS_ONE_COLUMN,
    STATUS_WEAK_ATTACK,
    AuditedAttack,
    attack_by_nearest_records,
    judge_shares,
    unavailable,
)
from reid_sql.models.synthetic.audited_tables import (
    NOBODY,
    AuditedTables,
    OrderedTables,
    draw_people,
)
from reid_sql.models.synthetic.membership import attack_membership
from reid_sql.models.synthetic.sure_inference import audit_sure_inference
from reid_sql.parameters import Integers

# Singling out: predicates that fit one synthetic record, and how often they fit one person.
#
# An attacker who holds the synthetic table alone writes a predicate that one of its records fulfils, and
# claims that one person of the original does. Univariate: a value that one record has, or the ends of a
# range. Multivariate: some values of one record, numbers as "at most" or "at least". The same predicates,
# on as many people who were not used, are the control; values that are put together from different records
# the guess. Source: Giomi, Boenisch, Wehmeyer & Tasnádi 2023, section 4.1; Cohen & Nissim 2020 for the
# predicates.

UNIVARIATE: Final = "singling_out_univariate"
MULTIVARIATE: Final = "singling_out_multivariate"
SHARE: Final = "share_of_predicates"
STATUS_NO_PREDICATE: Final = "no_predicate: no such predicate fits a single synthetic record"
PREDICATES: Final = 2000
RESAMPLES: Final = 200  # draws of other people
# people, of whom one may be left when others are drawn: of more, with 1 in 1,000
MAX_FEW: Final = 8
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
        drawn = [
            side.take(np.sort(rng.choice(len(side), smallest, replace=False))) for side in sides
        ]
        sides = [tables.synthetic_people, *drawn]
        self.ends = [side.ends(np.arange(size), size) for side in sides]
        self.people = [side.people_by_record(size) for side in sides]
        self.tried = smallest

    def rows(self, predicate: Predicate) -> Integers:
        """Find the distinct records that fulfil the predicate."""
        spans = []  # how many distinct records fulfil a condition; its column, first and last code
        for column, relation, code in predicate:
            starts = self.starts[column]
            first, last = code, code
            if relation != "=":  # code 0 is NULL, which is in no range of numbers
                first, last = (code, len(starts) - 2) if relation == ">" else (1, code)
            spans.append((starts[last + 1] - starts[first], column, first, last))
        _, place, first, last = min(spans)
        rows = self.orders[place, self.starts[place][first] : self.starts[place][last + 1]]
        for _, other, low, high in spans:
            if other != place:
                values = self.codes[other, rows]
                rows = rows[(values >= low) & (values <= high)]
        return np.asarray(rows)

    def is_one(self, table: int, rows: Integers) -> bool:
        """Whether one person of the table, 0 for the synthetic one, has any of the records."""
        if not len(rows):
            return False
        first, last = self.ends[table]
        return bool(first[rows].min() == last[rows].max())

    def find_few(self, table: int, rows: Integers) -> list[int]:
        """The people of the table who have any of the records, if they are few."""
        people, starts = self.people[table]
        fulfilling: set[int] = set()
        for row in rows.tolist():
            fulfilling.update(people[starts[row] : starts[row + 1]].tolist())
            if len(fulfilling) > MAX_FEW:
                return []
        return sorted(fulfilling)


def single_out(tables: OrderedTables, rng: np.random.Generator) -> Iterator[AuditedAttack]:
    """Measure both attacks with up to 2,000 predicates each that fit one synthetic record."""
    counter = _Counter(tables, rng)
    # values that one synthetic person has, and both ends of each column of numbers or dates
    univariate: list[Predicate] = []
    for place, codes in enumerate(tables.codes):
        person = tables.synthetic_people.only_person(codes, int(codes.max()) + 1)
        univariate += [((place, "=", code),) for code in np.flatnonzero(person >= 0).tolist()]
        present = np.flatnonzero(person[1:] != NOBODY) + 1
        if tables.is_ordinal[place] and len(present):
            univariate.append(((place, "<", int(present[0])),))
            univariate.append(((place, ">", int(present[-1])),))
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
    sides = [_SingledOut() for _ in counter.ends[1:]]
    count = 0
    for rows in _find_fitting_one(counter, predicates):
        count += 1
        for table, side in enumerate(sides, 1):
            side.add(counter.find_few(table, rows))
    if not count:
        return unavailable(attack, SHARE, STATUS_NO_PREDICATE)
    guessed = [counter.is_one(1, counter.rows(guess)) for guess in islice(guesses, count)]
    shares = sides[0].hits / count, sides[1].hits / count if tables.is_judged else None
    rng = np.random.default_rng(SEED)
    trials = [side.count_trials(count, counter.tried, rng) for side in sides]
    return judge_shares(
        attack, SHARE, shares, (trials[0], trials[-1]), baseline=float(np.mean(guessed))
    )


def _find_fitting_one(counter: _Counter, predicates: Iterable[Predicate]) -> Iterator[Integers]:
    """The records of each distinct predicate that fits one synthetic record, up to 2,000."""
    tried: set[Predicate] = set()
    count = 0
    for predicate in predicates:
        if count >= PREDICATES:
            break
        checkpoint()
        if predicate in tried:
            continue
        tried.add(predicate)
        rows = counter.rows(predicate)
        if counter.is_one(0, rows):
            count += 1
            yield rows


class _SingledOut:
    """Predicates that fit one person of a table, and how much their number varies if other people are drawn.

    Predicates on the same people are not independent: a person whom one singles out, others single out too.
    Drawing people with replacement, not predicates, shows by how much the variance is greater than that of
    independent predicates. Sources: Efron 1979 (the bootstrap); Kish 1965 (the design effect).
    """

    def __init__(self) -> None:
        self.hits = 0
        self.people: list[int] = []  # of all predicates that fit few
        self.starts: list[int] = []  # the place of each predicate's first

    def add(self, people: Sequence[int]) -> None:
        """Count a predicate that fits these people; without them, one that fits nobody or many."""
        self.hits += len(people) == 1
        if people:
            self.starts.append(len(self.people))
            self.people.extend(people)

    def count_trials(self, predicates: int, people: int, rng: np.random.Generator) -> float:
        """How many independent predicates have the share's variance: at most one a person, if none varies."""
        if not self.people:
            return min(predicates, people)
        involved, places = np.unique(self.people, return_inverse=True)
        shares = np.empty(RESAMPLES)
        for draw in range(RESAMPLES):
            times = rng.poisson(1.0, len(involved))  # how often each person is drawn
            fits = np.add.reduceat(times[places.ravel()], self.starts)
            shares[draw] = np.count_nonzero(fits == 1) / predicates
        mean, variance = float(shares.mean()), float(shares.var(ddof=1))
        if not variance:
            return min(predicates, people)
        return max(1.0, min(predicates, mean * (1 - mean) / variance))


def _write(
    tables: OrderedTables, rng: np.random.Generator, width: int, *, from_one_record: bool
) -> Predicate:
    """Write a predicate of some columns from a synthetic record, or each column from another one.

    Numbers are compared away from the median, so that few records lie beyond: Giomi et al. 2023.
    """
    places = np.sort(rng.choice(len(tables.names), width, replace=False))
    draws = rng.random(1 if from_one_record else width)
    rows = np.broadcast_to(tables.synthetic_rows(draws), width)
    conditions = []
    for place, code in zip(places.tolist(), tables.codes[places, rows].tolist(), strict=True):
        relation = "="
        if code and tables.is_ordinal[place]:
            relation = ">" if code > tables.synthetic_medians[place] else "<"
        conditions.append((place, relation, code))
    return tuple(conditions)


# Whether a holdout is what it must be: people of the same kind as the original's, of whom none was used.
#
# The synthetic table knows a person who is in both tables on both sides, and their excess is lost. Equal
# people, who have the same records, show it: a person of both tables is two equal people, one on each side.

STATUS_HOLDOUT_EXCEEDS: Final = (
    "holdout_exceeds: attacks are right more often about holdout, so check which table is which"
)
STATUS_HOLDOUT_OVERLAPS: Final = (
    "holdout_overlaps: holdout has people of the table, or was not divided from it at random"
)
DOUBTS: Final = (STATUS_HOLDOUT_EXCEEDS, STATUS_HOLDOUT_OVERLAPS)
MAX_CHANCE: Final = 1e-4  # of random divisions that may be doubted
SEED: Final = 35


def doubt_holdout(tables: OrderedTables, attacks: list[AuditedAttack]) -> list[AuditedAttack]:
    """Give the attacks that are judged, in place of their status, the reason why holdout is no control.

    Nothing is learned of people who were not used. If an excess is below 0 by twice its interval's half,
    which is rarer than 1 in 10,000 by chance, then the tables are swapped, or the holdout's people are of
    another kind. An attack that already has another status keeps it.
    """
    overlaps = tables.is_judged and has_people_of_both(tables)
    doubted = [_doubt(each, overlaps=overlaps) for each in attacks]
    reason = find_other_values(tables)
    return [
        replace(each, status=reason) if reason and each.status in SUPERSEDED else each
        for each in doubted
    ]


SUPERSEDED: Final = (
    OK,
    STATUS_WEAK_ATTACK,
    STATUS_NO_HOLDOUT,
    *DOUBTS,
)  # by tables that write values otherwise


def find_other_values(tables: OrderedTables) -> str:
    """Return the reason why a table cannot be compared with the original, empty if each column can be."""
    few = ""
    for name, table, counts in _count_values(tables):
        if counts.has_no_value():
            return STATUS_NOT_COMPARABLE.format(name, table)
        if not few and table == "synthetic":
            if counts.has_few_values():
                few = STATUS_FEW_COMPARABLE.format(name, table)
            elif counts.has_other_writing():
                few = STATUS_FEW_WRITTEN.format(name, table)
    return few


def _count_values(tables: OrderedTables) -> Iterator[tuple[str, str, ColumnCounts]]:
    """Count the values of each column in each of the other tables, which are named."""
    written = (
        tables.written_otherwise if len(tables.written_otherwise) else [(0, 0)] * len(tables.names)
    )
    columns = zip(tables.names, tables.is_ordinal, tables.codes, written, strict=True)
    for name, is_ordinal, codes, (in_synthetic, in_holdout) in columns:
        size = int(codes.max(initial=0)) + 1
        original, synthetic, holdout = (
            np.bincount(codes, records, size)
            for records in (tables.originals, tables.synthetics, tables.controls)
        )
        control = holdout if tables.is_judged else None
        otherwise = int(in_synthetic), int(in_holdout)
        yield (
            name,
            "synthetic",
            ColumnCounts(original, synthetic, control, is_ordinal, *otherwise),
        )
        if tables.is_judged:
            yield name, "holdout", ColumnCounts(original, holdout, None, is_ordinal)


def is_doubtful(status: str) -> bool:
    """Whether a status of the audit forbids a judgement of all of its figures."""
    codes = (
        each.partition(":")[0] for each in (*DOUBTS, STATUS_NOT_COMPARABLE, STATUS_FEW_COMPARABLE)
    )
    return status.partition(":")[0] in codes


def doubt_holdout_of_released(tables: OrderedTables) -> str | None:
    """Return why a holdout is no baseline for a released table, None if it is one or there is none."""
    if not tables.is_judged:
        return None
    overlaps = STATUS_HOLDOUT_OVERLAPS if has_people_of_both(tables) else None
    return find_other_values(tables) or overlaps


def _doubt(each: AuditedAttack, *, overlaps: bool) -> AuditedAttack:
    if each.excess is None or each.high is None or each.status not in (OK, STATUS_WEAK_ATTACK):
        return each
    if overlaps:
        return replace(each, status=STATUS_HOLDOUT_OVERLAPS)
    is_below = 2 * each.high - each.excess < 0
    return replace(each, status=STATUS_HOLDOUT_EXCEEDS) if is_below else each


def has_people_of_both(tables: OrderedTables) -> bool:
    """Whether equal people are divided between original and holdout more evenly than by chance.

    Let p be the share of all people who are in the original. Of t equal people, a are there. By a random
    division, the products (l_i - p) (l_j - p) of two people's labels, l = 1 in the original, add up to
    K = d^2 - (q - p) d - t p q with d = a - t p and q = 1 - p. Its mean is 0 and its variance
    2 t (t - 1) (p q)^2; it is least if both sides have their share, t p and t q. K / t is added up over all
    sets of equal people. Bernstein 1924 bounds the chance that the sum of -K / t, of which no term is above
    M and whose variance is V, is x or more: exp(-x^2 / (2 (V + M x / 3))).
    """
    # Sums of random numbers, one for each record, distinguish sets of records: how many people of the
    # original, and of both sides, have each.
    size = tables.codes.shape[1]
    numbers: Any = np.random.default_rng(SEED).integers(1, 2**63, size, dtype=np.uint64)
    sides = tables.original_people, tables.holdout_people
    sums = [np.add.reduceat(numbers[side.rows], side.starts) for side in sides]
    of_person = np.unique(np.concatenate(sums), return_inverse=True)[1].ravel()
    equal = np.bincount(of_person)
    used = np.bincount(of_person[: len(sides[0])], minlength=len(equal))
    share = float(used.sum() / equal.sum())
    several = equal[equal > 1].astype(np.float64)
    if not len(several):
        return False
    both, slope = share * (1 - share), 1 - 2 * share
    away = used[equal > 1] - several * share
    evenness = float(((several * both + slope * away - away**2) / several).sum())
    variance = float((2 * (several - 1) / several).sum()) * both**2
    greatest = float((both + slope**2 / (4 * several)).max())
    return evenness > 0 and evenness**2 / 2 > -np.log(MAX_CHANCE) * (
        variance + greatest * evenness / 3
    )


# Attacks that look equal values up: replicated uniques, exact presence, disclosive correct.
#
# Source: Raab, Nowok & Dibben 2024.

STATUS_OTHER_SIZE: Final = (
    "other_size: holdout has another number of records, so other people are unique in it"
)
SIZE_TOLERANCE: Final = 0.1  # of the numbers of records, within which uniques are as frequent
REPLICATED_UNIQUES: Final = "replicated_uniques"
EXACT_PRESENCE: Final = "exact_presence"
DISCLOSIVE_CORRECT: Final = "disclosive_correct"


def attack_by_equal_values(tables: OrderedTables) -> Iterator[AuditedAttack]:
    """Count the people of the original and of the holdout whom each attack is right about, of all."""
    sides = tables.original_people, tables.holdout_people
    people = len(sides[0]), len(sides[1])

    def judge(
        attack: str, hits: list[int], column: str | None = None, status: str | None = None
    ) -> AuditedAttack:
        shares = [hit / max(1, persons) for hit, persons in zip(hits, people, strict=True)]
        control = shares[1] if tables.is_judged else None
        return judge_shares(
            attack, "share", (shares[0], control), people, column=column, status=status
        )

    classes = tables.classes_by(tables.places(sensitive=False))
    size = int(classes.max()) + 1
    is_once = tables.synthetic_people.only_person(classes, size) >= 0
    unique = [
        side.count((is_once & (side.only_person(classes, size) >= 0))[classes]) for side in sides
    ]
    is_other_size = abs(people[1] / people[0] - 1) > SIZE_TOLERANCE
    yield judge(REPLICATED_UNIQUES, unique, status=STATUS_OTHER_SIZE if is_other_size else None)
    yield judge(EXACT_PRESENCE, [side.count(tables.synthetics > 0) for side in sides])
    for place in tables.places(sensitive=True):
        # Whether each distinct record's class has, in the synthetic table, its value of the
        # column alone.
        values = tables.classes_by([*tables.places(sensitive=False), place])
        is_there = np.bincount(values, tables.synthetics) > 0
        class_of_value = np.zeros(len(is_there), dtype=np.int64)
        class_of_value[values] = classes
        several = np.bincount(class_of_value, is_there) > 1
        is_disclosed = np.asarray(is_there[values] & ~several[classes])
        yield judge(
            DISCLOSIVE_CORRECT, [side.count(is_disclosed) for side in sides], tables.names[place]
        )


NEAREST_TARGETS: Final = 2000  # records of each table that links and inferences are tried on
SHARES: Final = (0.1, 0.4, 1.0)  # of the whole work that is done after each family of attacks


def audit(tables: AuditedTables, targets: int, seed: int) -> list[AuditedAttack]:
    """Try all attacks; refuses an empty table.

    >>> one, some = np.ones(4, dtype=int), np.array([1, 1, 0, 0])
    >>> tables = AuditedTables(
    ...     ["a"], [False], [False], np.array([[1, 2, 3, 4]]), some, some, one, [True]
    ... )
    >>> [(row.original, row.holdout) for row in audit(tables, 10, 0)[:2]]
    [(1.0, 0.5), (1.0, 0.5)]
    """
    ordered = tables.in_order()
    # so that none depends on another
    draws = [np.random.default_rng([seed, family]) for family in range(6)]
    people = draw_people(ordered, targets, draws[0])
    some = draw_people(ordered, min(targets, NEAREST_TARGETS), draws[1])
    attacks = [
        *attack_by_equal_values(ordered),
        *single_out(ordered, draws[2]),
        *attack_by_nearest_records(ordered, some, draws[4], SHARES[:2]),
        *audit_sure_inference(ordered, people, draws[5]),
        *attack_membership(ordered, people, draws[3], SHARES[1:]),
    ]
    # the figures of each attack in the order in which the columns were named
    places = {name: place for place, name in enumerate(tables.names)}
    order = {each.attack: place for place, each in reversed(list(enumerate(attacks)))}
    attacks.sort(key=lambda each: (order[each.attack], places.get(each.column_name or "", 0)))
    return doubt_holdout(ordered, attacks)
