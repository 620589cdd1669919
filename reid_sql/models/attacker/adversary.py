"""Risk against an attacker with some knowledge: prosecutor, journalist, marketer and overall.

The attacker knows some attributes of some people. S are the sets of groups of attributes that may be known,
P(S) their probabilities, and e = e(S) the records that match the subject on them. The sums are over S:

    prosecutor = Σ P(S) [e = 1]
    journalist = Σ P(S) [e = 1] u(S)
    marketer   = Σ P(S) / e
    overall    = Σ P(S) (1 − (1 − P_d P_s [e = 1]) (1 − P_u u(S) [e = 1]) (1 − P_c / e))

u(S) = P(population unique | sample unique) is estimated. Where a population table determines it, it is 1 for
a record that is alone there too, else 0. A record that is alone with what was decided so far is alone in
every set that adds to it, so the sum over these is known without counting. Source: Xia et al. 2021.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.attacker.inclusion import Alike
from reid_sql.models.attacker.knowledge import (
    MAX_ENUMERATED_SETS,
    STATUS_PITMAN,
    Knowledge,
    Subjects,
    Unique,
    choose_uniqueness,
    count_sets,
    draw_sets,
    enumerate_sets,
    find_subjects,
    match_records,
    refuse_both,
)
from reid_sql.models.attacker.scenario import Scenario, scenario
from reid_sql.models.classes.disclosure import OK, STATUS_UNCOVERED, Histogram
from reid_sql.models.fitted_model import FittedModel
from reid_sql.models.interruption import checkpoint
from reid_sql.parameters import Floats, Integers

MEASURES: Final = ("prosecutor", "journalist", "marketer", "overall")
STATUS_DRAWN: Final = "knowledge_drawn: {} knowledge sets were drawn, see standard_error"
STATUS_TAKEN_AS_UNIQUE: Final = "taken_as_unique: {} of {} knowledge sets have no estimate in the population and count as unique"
STATUS_BLANK: Final = (
    "blank_records: {} records have no value in the scenario's columns and match anybody"
)


@dataclass(frozen=True)
class KnownRecords:
    """Distinct records: their numbers, codes of the columns (0 for NULL), and texts of named columns.

    The columns are the scenario's; named are those whose values it names. With a population table, records
    that only it has are included.
    """

    records: Integers  # (distinct,)
    codes: Integers  # (distinct, columns)
    texts: Sequence[Sequence[str | None]]  # (distinct, named columns)
    # (distinct,) how many of a population table have each; −1 without one
    people: Integers | None = None
    near: Integers | None = (
        None  # (distinct, 2 columns) first and last code that matches; () if equal ones do
    )

    @property
    def population(self) -> Integers | None:
        """How many of the population table have each, if there is one."""
        counted = (
            self.people is not None and len(self.people) > 0 and bool((self.people >= 0).all())
        )
        return self.people if counted else None

    @property
    def rows(self) -> Integers:
        """The distinct records of the table itself, by their places."""
        return np.flatnonzero(self.records > 0)

    @property
    def of_table(self) -> "KnownRecords":
        """The distinct records of the table itself, without those of the population alone."""
        if self.population is None:
            return self
        rows = self.rows
        near = None if self.near is None else self.near[rows]
        texts = [self.texts[row] for row in rows.tolist()]
        return KnownRecords(self.records[rows], self.codes[rows], texts, near=near)


@dataclass(frozen=True)
class Expectations:
    """Expected [e = 1], [e = 1] u and 1/e of each distinct record; second moments of the last two.

    The second moments are there where sets were drawn.
    """

    prosecutor: Floats  # (distinct,)
    journalist: Floats  # (distinct,)
    marketer: Floats  # (distinct,)
    journalist_square: Floats  # (distinct,), else ()
    marketer_square: Floats  # (distinct,), else ()
    trials: int | None = None  # where sets were drawn
    unbounded: int = 0  # sets in which population uniqueness was taken as certain
    estimated: int = 0  # sets in which it was estimated
    words: str = STATUS_PITMAN  # the status of such an estimate
    sets: int = 0  # sets whose records were counted
    notes: tuple[str, ...] = ()  # what else the reader must know

    def overall(self, parameters: Sequence[float]) -> Floats:
        """Overall risk for P_d, P_s, P_u, P_c: linear in the others, as an indicator is its own square.

        The others are the three other measures.
        """
        alone, again, confirmed, link = _measure_weights(parameters)
        return np.asarray(
            alone * self.prosecutor + again * confirmed * self.journalist + link * self.marketer
        )

    def risks(self, parameters: Sequence[float]) -> tuple[Floats, Floats, Floats, Floats]:
        """Prosecutor, journalist, marketer and overall risk."""
        return self.prosecutor, self.journalist, self.marketer, self.overall(parameters)

    def standard_error(self, parameters: Sequence[float]) -> Floats:
        """Largest standard error of the four measures; 0 where every set was counted."""
        if self.trials is None:
            return np.zeros_like(self.prosecutor)
        alone, again, confirmed, link = _measure_weights(parameters)
        whole, step = alone + link, again * confirmed  # the value where e = 1 is whole + step · u
        square = (
            whole**2 * self.prosecutor
            + 2 * whole * step * self.journalist
            + step**2 * self.journalist_square
        )
        square = square + link**2 * (self.marketer_square - self.prosecutor)
        pairs = (
            (self.prosecutor, self.prosecutor),
            (self.journalist, self.journalist_square),
            (self.marketer, self.marketer_square),
            (self.overall(parameters), square),
        )
        variance = np.max([second - mean**2 for mean, second in pairs], axis=0)
        return np.asarray(np.sqrt(np.maximum(variance, 0.0) / self.trials))

    @property
    def status(self) -> str:
        """Ok, or what the reader must know of all measures together."""
        return self.status_of(estimate=True)

    def status_of(self, *, estimate: bool) -> str:
        """Ok, or what the reader must know of a measure that rests on an estimate, or on none."""
        drawn = STATUS_DRAWN.format(self.trials) if self.trials else ""
        taken = (
            STATUS_TAKEN_AS_UNIQUE.format(self.unbounded, self.sets)
            if estimate and self.unbounded
            else ""
        )
        estimated = self.words if estimate and self.estimated else ""
        return "; ".join(filter(None, [drawn, taken, estimated, *self.notes])) or OK


def uses_estimate(measure: str, parameters: Sequence[float]) -> bool:
    """Whether the measure rests on an estimate of uniqueness in the population, for P_d, P_s, P_u, P_c."""
    _, again, confirmed, _ = _measure_weights(parameters)
    return measure == "journalist" or (measure == "overall" and again * confirmed > 0)


def _measure_weights(parameters: Sequence[float]) -> tuple[float, float, float, float]:
    """Weights of prosecutor, of journalist (two factors) and of marketer in the overall risk."""
    disclosed, discovered, confirmed, link = parameters
    again = (1 - disclosed * discovered) * (1 - link)
    return 1 - again - link, again, confirmed, link


@dataclass
class ExpectationCounter:
    """A walk over the knowledge sets that adds up what each distinct record contributes."""

    matching: Sequence[Any]  # (groups,) codes by which a partition or an inclusion is refined
    order: Sequence[int]  # (groups,) in which they are decided on
    profile: Integers  # (distinct,)
    population: float
    # how likely a unique record is unique in the population, if the parameters need it
    unique: Unique | None
    squares: bool = False
    sums: dict[str, Floats] = field(default_factory=dict)
    sets: int = 0
    unbounded: int = 0
    estimated: int = 0

    def run(self, start: tuple[Alike, Integers], knowledge: Knowledge) -> Expectations:
        """Walk from where nothing is known: who is alike there, and who alone."""
        all_records, alone = start
        self.sums = {name: np.zeros(len(self.profile)) for name in MEASURES[:3]}
        self.sums |= {
            f"{name}_square": np.zeros(len(self.profile) * self.squares) for name in MEASURES[1:3]
        }
        self._alone(alone, knowledge.weight, self._visit((), 0, all_records, knowledge))
        expectations = {name: np.minimum(values, 1.0) for name, values in self.sums.items()}
        return Expectations(
            expectations["prosecutor"],
            expectations["journalist"],
            expectations["marketer"],
            expectations["journalist_square"],
            expectations["marketer_square"],
            unbounded=self.unbounded,
            estimated=self.estimated,
            words=self.unique.words if self.unique else "",
            sets=self.sets,
        )

    def _visit(
        self, learnt: tuple[int, ...], place: int, alike: Alike, knowledge: Knowledge
    ) -> Floats:
        """Add up all sets that decide on this group and those after it: Σ P u and Σ P u² (2, profiles)."""
        checkpoint()
        weight = knowledge.weight
        if not weight.any():
            return np.zeros((2, len(weight)))
        if place == len(self.order):
            # One set: its records not alone, and how likely its unique ones are unique in
            # the population.
            matches, rows = alike.matches, alike.rows
            shares = weight[self.profile[rows] if len(weight) > 1 else 0] / matches
            self.sums["marketer"][rows] += shares
            if self.squares:
                self.sums["marketer_square"][rows] += shares / matches
            self.sets += 1
            chance = self._unique_in_population(learnt, alike.histogram) if self.unique else 0.0
            return np.stack([weight * chance, weight * chance**2])
        group = self.order[place]
        without, having = knowledge.split(place)
        if not having.weight.any():
            return self._visit(learnt, place + 1, alike, without)
        finer, alone = alike.refine(self.matching[group])
        if finer.same_as(alike) and not (self.unique and self.unique.by_columns):
            # equal knowledge is counted once
            return self._visit(learnt, place + 1, alike, knowledge)
        below = self._visit((*learnt, group), place + 1, finer, having)
        self._alone(alone, having.weight, below)
        return self._visit(learnt, place + 1, alike, without) + below

    def _alone(self, rows: Integers, weight: Floats, below: Floats) -> None:
        """Records that are alone in every set below."""
        profile = self.profile[rows] if len(weight) > 1 else 0
        self.sums["prosecutor"][rows] += weight[profile]
        self.sums["marketer"][rows] += weight[profile]
        self.sums["journalist"][rows] += below[0, profile]
        if self.squares:
            self.sums["marketer_square"][rows] += weight[profile]
            self.sums["journalist_square"][rows] += below[1, profile]

    def _unique_in_population(self, learnt: tuple[int, ...], histogram: Histogram) -> float:
        """u(S) = n_s Ξ / s_1, at most 1; 1 where the sample is the population or leaves no estimate."""
        unique, records = int(histogram.classes[0]), int(histogram.records.sum())
        if histogram.class_size[0] != 1:
            return 0.0
        if records == self.population:
            return 1.0
        learned = self.unique.share(histogram, learnt) if self.unique else None
        self.unbounded += learned is None
        self.estimated += learned is not None
        return 1.0 if learned is None else min(1.0, records * learned / unique)


def compute_expectations(
    distinct: KnownRecords,
    attacker: Scenario,
    nulls: str,
    *,
    trials: int,
    seed: int,
    model: FittedModel | None = None,
) -> Expectations:
    """Expectations over what the attacker knows: exact up to MAX_ENUMERATED_SETS sets, else drawn.

    They are those of the distinct records of the table itself.
    """
    who = check_known_records(distinct.of_table, attacker, nulls)
    probabilities = who.probabilities[who.order]
    exact = count_sets(probabilities) <= MAX_ENUMERATED_SETS
    knowledge = enumerate_sets(probabilities) if exact else draw_sets(probabilities, trials, seed)
    expectations = _walk_sets(distinct, who, knowledge, (attacker, nulls, model), squares=not exact)
    table, notes = distinct.of_table, list(who.notes)
    if who.matching.blank is not None and who.matching.blank.any():
        notes.append(STATUS_BLANK.format(int(table.records[who.matching.blank].sum())))
    if distinct.population is not None:
        _, same = np.unique(distinct.codes, axis=0, return_inverse=True)
        records, people = (
            np.bincount(same.ravel(), weights=each)
            for each in (distinct.records, distinct.population)
        )
        # records whose equals in the population table are fewer than in the table
        if uncovered := int(records[people < records].sum()):
            notes.append(STATUS_UNCOVERED.format(uncovered))
    return replace(expectations, trials=None if exact else trials, notes=tuple(notes))


def compute_worst_case(
    distinct: KnownRecords, attacker: Scenario, nulls: str, model: FittedModel | None = None
) -> Expectations:
    """Expectations where the attacker knows every column of the scenario of all people."""
    who = check_known_records(distinct.of_table, attacker, nulls)
    informed = replace(who, profile=np.zeros_like(who.profile))
    certain = enumerate_sets(np.ones((len(who.order), 1)))
    return _walk_sets(distinct, informed, certain, (attacker, nulls, model), squares=False)


def _walk_sets(
    distinct: KnownRecords,
    who: Subjects,
    knowledge: Knowledge,
    setting: tuple[Scenario, str, FittedModel | None],
    *,
    squares: bool,
) -> Expectations:
    """Count the table's own records, and with a population table also who is alone there."""
    attacker, nulls, model = setting
    refuse_both(people=distinct.population is not None, model=model is not None)
    unique = choose_uniqueness(attacker, model) if distinct.population is None else None
    count = ExpectationCounter(
        who.matching.groups, who.order, who.profile, attacker.population, unique, squares
    )
    expectations = count.run(who.matching.start(distinct.of_table.records), knowledge)
    if distinct.population is None:
        return expectations
    both = match_records(distinct.codes, distinct.texts, attacker, nulls, distinct.near)
    profile = np.zeros_like(distinct.records)
    profile[distinct.rows] = who.profile
    among = ExpectationCounter(both.groups, who.order, profile, attacker.population, None)
    alone = among.run(both.start(distinct.records, distinct.population), knowledge).prosecutor[
        distinct.rows
    ]
    return replace(
        expectations,
        journalist=alone,
        journalist_square=alone if squares else expectations.journalist_square,
    )


def check_known_records(distinct: KnownRecords, attacker: Scenario, nulls: str) -> Subjects:
    """Give the subjects as the scenario sees them; refuses an empty table and a smaller population."""
    records = int(distinct.records.sum())
    if records == 0:
        raise NoRecordsError
    if attacker.population < records:
        rule = (
            f"scenario population must be at least the {records:,} records of "
            f"the table, got {attacker.population:,}".removesuffix(".0")
        )
        raise OutOfDomainError(
            f"{rule}; write the size of the population that the records were drawn from"
        )
    return find_subjects(distinct.codes, distinct.texts, attacker, nulls, distinct.near)


@dataclass(frozen=True)
class AdversaryRisk:
    """Risk of each distinct record, and the status of all."""

    prosecutor: Floats
    journalist: Floats
    marketer: Floats
    overall: Floats
    standard_error: Floats
    status: str


def score_known_records(
    distinct: KnownRecords,
    source: Any,  # noqa: ANN401 - what a scenario may be read from
    nulls: str = "value",
    *,
    trials: int = 10_000,
    seed: int = 0,
    model: FittedModel | None = None,
) -> AdversaryRisk:
    """Give the four risks of each distinct record against the attacker of the scenario.

    Records that only a population table has have none: 0.

    >>> people = KnownRecords(np.array([1, 1, 2]), np.array([[1], [2], [3]]), [[], [], []])
    >>> ages = {"population": 4, "groups": [{"columns": ["age"], "probability": 0.5}]}
    >>> answer = score_known_records(people, ages)
    >>> answer.prosecutor.tolist(), answer.marketer.tolist()
    ([0.5, 0.5, 0.0], [0.625, 0.625, 0.375])
    """
    attacker = scenario(source)
    expectations = compute_expectations(
        distinct, attacker, nulls, trials=trials, seed=seed, model=model
    )
    risks = expectations.risks(attacker.parameters)
    risks_of_all = np.zeros((len(risks) + 1, len(distinct.records)))
    risks_of_all[:, distinct.rows] = (*risks, expectations.standard_error(attacker.parameters))
    prosecutor, journalist, marketer, overall, error = risks_of_all
    return AdversaryRisk(prosecutor, journalist, marketer, overall, error, expectations.status)
