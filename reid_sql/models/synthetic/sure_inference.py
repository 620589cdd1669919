"""Inference by an attacker who attacks only where she is sure, and abstains from all other people.

She knows some columns of a person, and looks for the released people with the same values. She names their
most frequent value of another column if enough of them have it and there are enough of them: a rule. Which
columns and which rule serve her best is chosen on one half of the people, and measured on the other half. The
release is the first sample, the choosing half the second, and the measuring half the third, so no figure is
high because it was chosen. Sources: Francis & Wagner 2025 (abstention, precision and recall);
Giomi et al. 2023 (the control).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

import numpy as np

from reid_sql.models.classes.subset_counts import count_subsets
from reid_sql.models.interruption import checkpoint
from reid_sql.models.numerics.quantiles import NORMAL_95
from reid_sql.models.numerics.special_functions import ndtri
from reid_sql.models.synthetic.attacks import (
    ERROR,
    STATUS_ONE_COLUMN,
    AuditedAttack,
    judge_shares,
    sum_where,
    unavailable,
)
from reid_sql.models.synthetic.audited_tables import Flags, OrderedTables, People
from reid_sql.models.synthetic.matches import RULES, Cells, Release, number_values
from reid_sql.parameters import Floats, Integers, Places

ROUNDING: Final = 1e-9


@dataclass(frozen=True)
class Counts:
    """People, those of them who were attacked, and those about whom the attack was right."""

    people: int
    attacked: int
    right: int

    @property
    def recall(self) -> float:
        """Share of the people about whom the attack is right."""
        return self.right / max(1, self.people)

    @property
    def precision(self) -> float | None:
        """Share of the attacked about whom it is right; None where nobody is attacked."""
        return self.right / self.attacked if self.attacked else None


@dataclass(frozen=True)
class Tally:
    """The same by each rule."""

    people: int
    attacked: Integers  # (rules,)
    right: Integers  # (rules,)

    @property
    def error(self) -> Floats:
        """The standard error of the share of people about whom each rule is right, never 0."""
        share = (self.right + 0.5) / (self.people + 1)
        return np.asarray(np.sqrt(share * (1 - share) / max(1, self.people)))


@dataclass(frozen=True)
class SureAttack:
    """What the chosen rule of some columns does on the measuring half."""

    target: int  # the place of the inferred column
    columns: Places  # places of the known columns
    strength: tuple[int, float]  # how well it did on the choosing half; more is better
    rule: tuple[int, int]  # percent, people
    counts: Counts
    guessed: int  # attacked people who have the most frequent value of the release
    control_rule: tuple[int, int] | None
    control: Counts | None
    control_columns: Places  # of the control's rule
    joint_right: int  # people about whom the rule, or the control's where it abstains, is right


@dataclass(frozen=True)
class KnownColumns:
    """The rule of some known columns, and what each rule does on the choosing half of the control."""

    columns: Places
    place: int  # of the rule
    strength: tuple[int, float]
    control: Tally
    outcomes: np.ndarray  # of the rule, in bits


@dataclass(frozen=True)
class Baseline:
    """The columns and the rule that serve best without people's own records."""

    columns: Places
    place: int
    outcomes: Flags  # (5, people)


class Trial:
    """People whom the attack is tried on, and the half of them on which its columns and its rule are chosen.

    The control are people who are not in the table; or, if a released table has all of them, the same people,
    each with their own record taken out.
    """

    def __init__(
        self, tables: OrderedTables, people: People, rng: np.random.Generator, *, is_released: bool
    ) -> None:
        self.tables, self.people, self.is_released = tables, people, is_released
        self.release = Release(tables)
        self.is_choosing = np.zeros(len(people.is_original), dtype=np.bool_)
        for side in (people.is_original, ~people.is_original):
            places = rng.permutation(np.flatnonzero(side))
            self.is_choosing[places[: len(places) // 2]] = True
        self.takes_out = is_released and bool(people.is_original.all())
        self.is_control = people.is_original if self.takes_out else ~people.is_original

    def attack(
        self, target: int, subsets: Sequence[Places], precisions: Sequence[float]
    ) -> list[list[SureAttack]]:
        """Attack a column by each set of known columns, the strongest first: a list for each precision.

        Of a released table, the control is the best rule of any set: what people's own records give away is
        what no columns give away without them. Of a synthetic one, it is the same rule of the same set.
        """
        values = number_values(self.tables, target)
        totals = self.release.count(values, int(values.max(initial=0)) + 1)
        is_guess = (values == int(totals.argmax()))[self.people.holders.rows]
        trials = []
        for columns in subsets:
            checkpoint()
            outcomes = self._try(values, columns, is_guess)
            trials.append(self._choose(columns, outcomes, precisions))
        attacks = []
        for each, min_precision in zip(zip(*trials, strict=True), precisions, strict=True):
            baseline = self._find_baseline(values, is_guess, each, min_precision)
            of_sets = (self._count(trial, target, baseline) for trial in each)
            attacks.append(sorted(of_sets, key=lambda attack: attack.strength, reverse=True))
        return attacks

    def _find_baseline(
        self,
        values: Integers,
        is_guess: Flags,
        trials: Sequence[KnownColumns],
        min_precision: float,
    ) -> Baseline | None:
        """Find the best rule of any set without people's own records, if a released table has them."""
        if self.is_released:
            nothing = self._try(values, (), is_guess)  # a guess, without any column
            guess = self._of_people(is_guess[None])[0][self.people.is_original & self.is_choosing]
            limit = limit_of_baseline(float(guess.mean()) if len(guess) else 0.0, min_precision)
            by_guess = self._choose((), nothing, [min_precision])
            chosen = choose_baseline([*trials, *by_guess], limit)
            if chosen is not None:
                columns, place = chosen
                outcomes = self._try(values, columns, is_guess)
                return Baseline(columns, place, outcomes[:, place])
        return None

    def _try(self, values: Integers, columns: Places, is_guess: Flags) -> Flags:
        """What each rule of some known columns does: (5, rules, people).

        Whether it attacks each person, is right about them, and attacks one who has the guess; then the first
        two of the control.
        """
        holders = self.people.holders
        classes = (
            self.tables.classes_by(columns) if columns else np.zeros(len(values), dtype=np.int64)
        )
        cells = Cells(self.release, classes, values)
        matches = cells.match(holders.rows)
        attacked = matches.attacked()
        outcomes = [attacked, attacked & matches.is_right, attacked & is_guess]
        if self.takes_out:
            matches = cells.match_without_own(holders, has_several=self.release.has_several)
            attacked = matches.attacked()
        outcomes += [attacked, attacked & matches.is_right]
        return np.stack([self._of_people(flags) for flags in outcomes])

    def _choose(
        self, columns: Places, outcomes: Flags, precisions: Sequence[float]
    ) -> list[KnownColumns]:
        """Choose the rule of some known columns, for each precision, on one half of the people."""
        people = self._tally(outcomes[:2], self.people.is_original)
        control = self._tally(outcomes[3:], self.is_control)
        compared = None if self.is_released else control
        rules = [choose_rule(people, compared, precision) for precision in precisions]
        return [
            KnownColumns(columns, place, strength, control, np.packbits(outcomes[:, place], axis=1))
            for place, strength in rules
        ]

    def _tally(self, outcomes: Flags, people: Flags) -> Tally:
        """Count those of the choosing half whom each rule attacks and is right about: (2, rules, people)."""
        chosen = people & self.is_choosing
        attacked, right = sum_where(outcomes, chosen).astype(np.int64)
        return Tally(int(np.count_nonzero(chosen)), attacked, right)

    def _count(self, trial: KnownColumns, target: int, baseline: Baseline | None) -> SureAttack:
        """Count what the rule of some known columns, and its control, do on the other half."""
        size = len(self.people.is_original)
        outcomes = np.unpackbits(trial.outcomes, axis=1, count=size).astype(np.bool_)
        attacked, right, guessed = outcomes[:3]
        joint, control = right, outcomes[3:]
        rule, columns = RULES[trial.place], trial.columns
        if self.is_released:
            control, columns = np.zeros_like(control), ()
        if baseline is not None:  # where she is not sure, she uses the columns of the baseline
            joint = np.where(attacked, right, baseline.outcomes[1])
            # her control: the baseline alone, or where the known columns abstain without own records,
            # what serves better
            alone, without = baseline.outcomes[3:], outcomes[3:]
            both = np.stack([without[0] | alone[0], np.where(without[0], without[1], alone[1])])
            chosen = self.is_control & self.is_choosing
            right_alone, right_of_both = (
                np.count_nonzero(flags[1] & chosen) for flags in (alone, both)
            )
            control = alone if right_alone >= right_of_both else both
            rule, columns = RULES[baseline.place], baseline.columns
        measured = self.people.is_original & ~self.is_choosing
        controls = self.is_control & ~self.is_choosing
        return SureAttack(
            target,
            trial.columns,
            trial.strength,
            RULES[trial.place],
            _count_people(outcomes[:2], measured),
            int(np.count_nonzero(guessed & measured)),
            None if self.is_released and baseline is None else rule,
            _count_people(control, controls) if controls.any() else None,
            columns,
            int(np.count_nonzero(joint & measured)),
        )

    def _of_people(self, flags: Flags) -> Flags:
        """Whether one record of each person is flagged, (flags, people)."""
        starts = self.people.holders.starts
        is_each = flags.shape[1] == len(starts)
        return flags if is_each else np.asarray(np.maximum.reduceat(flags, starts, axis=1))


def _count_people(outcomes: Flags, people: Flags) -> Counts:
    """Count the people whom a rule attacks, and is right about: (2, people)."""
    attacked, right = np.count_nonzero(outcomes[:, people], axis=1)
    return Counts(int(np.count_nonzero(people)), int(attacked), int(right))


def choose_rule(
    people: Tally, control: Tally | None, min_precision: float
) -> tuple[int, tuple[int, float]]:
    """Choose the rule that is right about most people among the precise ones, and return its strength.

    With a control, precise rules come first that are right more often about the people than about the
    control, beyond chance: by the lower end of this excess. If no rule is precise, the most precise one is
    taken.
    """
    is_precise = (people.attacked > 0) & (
        people.right >= min_precision * people.attacked - ROUNDING
    )
    share = people.right / max(1, people.people)
    value = np.where(is_precise, share, people.right / (people.attacked + 1))
    level = is_precise.astype(np.int64)
    if control is not None and control.people:
        low = (
            share
            - control.right / control.people
            - NORMAL_95 * np.hypot(people.error, control.error)
        )
        exceeds = is_precise & (low > 0)
        level += exceeds
        value = np.where(exceeds, low, value)
    place = int(np.argmax(np.where(level == level.max(), value, -1.0)))
    return place, (int(level[place]), float(value[place]))


def limit_of_baseline(guess: float, min_precision: float) -> float:
    """The least precision of a baseline: nearer to the precision asked for than to a guess.

    At the precision itself, a rule that is right about 94 of 100 would be no baseline of 95, and all that it
    reveals an excess. What a guess of the most frequent value reveals is no inference.

    >>> limit_of_baseline(0.25, 0.95), limit_of_baseline(0.97, 0.95)
    (0.6, 0.95)
    """
    return min(min_precision, (guess + min_precision) / 2)


def choose_baseline(trials: Sequence[KnownColumns], limit: float) -> tuple[Places, int] | None:
    """Choose the columns and the rule that are right about most of the control, precise to the limit."""
    best, most = None, 0
    for trial in trials:
        control = trial.control
        right = np.where(control.right >= limit * control.attacked - ROUNDING, control.right, 0)
        place = int(np.argmax(right))
        if right[place] > most:
            best, most = (trial.columns, place), int(right[place])
    return best


def list_subsets(places: Sequence[int], max_size: int) -> list[Places]:
    """Every set of up to so many places, and all of them together.

    >>> list_subsets([0, 1, 2], 1)
    [(0,), (1,), (2,), (0, 1, 2)]
    """
    sizes = range(1, min(max_size, len(places)) + 1)
    some = [subset for size in sizes for subset in combinations(places, size)]
    return some if max_size >= len(places) else [*some, tuple(places)]


# In the audit of a synthetic table: people who were used, and a holdout.

SURE_INFERENCE: Final = "sure_inference"
STRONGEST_INFERENCE: Final = "strongest_inference"
# by the precision that a rule must have
ATTACKS: Final = {SURE_INFERENCE: 0.95, STRONGEST_INFERENCE: 0.0}
SHARE: Final = "share"
PRECISION: Final = "precision"
MAX_SIZE: Final = 3  # known columns, unless the attacker knows all
MAX_WORK: Final = 20_000_000  # distinct records times sets of columns
STATUS_NOBODY: Final = "nobody_attacked: the attacker is sure about nobody"
STATUS_NO_CONTROL: Final = (
    "no_control_attacked: the attacker is sure about nobody in the control, so judge by the share"
)


def audit_sure_inference(
    tables: OrderedTables, people: People, rng: np.random.Generator
) -> Iterator[AuditedAttack]:
    """Measure, for each inferred column, the share of people and the precision; the worst column first.

    One attacker needs a precision, the other takes the rule with the greatest excess. The inferred columns
    are the sensitive ones, or all if there is none. The intervals of several columns hold together:
    Bonferroni 1936.
    """
    targets = tables.places(sensitive=True) or list(range(len(tables.names)))
    quasi = tables.places(sensitive=False)
    known_columns = {target: [place for place in quasi if place != target] for target in targets}
    if not all(known_columns.values()):
        for name in ATTACKS:
            yield unavailable(name, SHARE, STATUS_ONE_COLUMN, tables.names[targets[0]])
        return
    size = _choose_size(len(quasi), len(targets), tables.codes.shape[1])
    trial = Trial(tables, people, rng, is_released=False)
    quantile = float(ndtri(1 - ERROR / len(targets)))
    precisions = list(ATTACKS.values())
    attacks = [
        [each[0] for each in trial.attack(target, list_subsets(columns, size), precisions)]
        for target, columns in known_columns.items()
    ]
    for name, of_targets in zip(ATTACKS, zip(*attacks, strict=True), strict=True):
        for attack in sorted(of_targets, key=lambda attack: attack.strength, reverse=True):
            columns = ", ".join(tables.names[place] for place in attack.columns)
            yield from _judge(name, attack, f"{tables.names[attack.target]} / {columns}", quantile)


def _choose_size(columns: int, targets: int, records: int) -> int:
    """The most known columns of which all sets can be tried; one at the least."""
    most = MAX_WORK // (len(ATTACKS) * targets * records)
    sizes = range(2, MAX_SIZE + 1)
    return max([1, *(size for size in sizes if count_subsets(columns, size) <= most)])


def _judge(name: str, attack: SureAttack, column: str, quantile: float) -> Iterator[AuditedAttack]:
    """Compare the shares of all people about whom the attack is right, then of those who are attacked."""
    counts, control = attack.counts, attack.control
    recalls = counts.recall, control.recall if control else None
    trials = counts.people, control.people if control else 1
    yield judge_shares(name, SHARE, recalls, trials, column=column, quantile=quantile)
    if counts.precision is None:
        yield unavailable(name, PRECISION, STATUS_NOBODY, column)
        return
    precisions = counts.precision, control.precision if control else None
    trials = counts.attacked, control.attacked if control else 1
    guess = attack.guessed / counts.attacked
    measured = judge_shares(
        name, PRECISION, precisions, trials, column=column, baseline=guess, quantile=quantile
    )
    lacks_control = control is not None and not control.attacked
    yield replace(measured, status=STATUS_NO_CONTROL) if lacks_control else measured
