"""Every estimate of uniqueness held against one table, by samples of it.

Source: Rocher, Hendrickx & de Montjoye 2019, supplement, algorithm 3: m samples without replacement, a model
of each, and the mean absolute error of the uniqueness that it gives the whole.

The table is taken for the population and parts of it for samples. That tells which methods suit data of this
kind at sizes up to its own. It does not tell the error of a forecast from the table to a larger population:
over 210 cases of six corpora the error from a tenth of a sample and the error beyond it were hardly related
(correlations of −0.25 to 0.69 within corpora, 0.1 on average).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np

from reid_sql.domains import Floats, Number, Numbers
from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.disclosure import NO_RECORDS, Integers
from reid_sql.models.classes.uniqueness import uniqueness_from_probability
from reid_sql.models.copula import copula_fit
from reid_sql.models.population.evidence import UniquenessEvidence
from reid_sql.models.population.population_uniqueness import METHODS, estimates
from reid_sql.models.validation.person_scores import PersonScores, Truths, person_scores
from reid_sql.models.validation.subsample import evidence_of

FRACTION: Final = Number(
    "a share of the records above 0 and below 1",
    "pass how much of the table a sample holds, such as 0.1",
    float(np.nextafter(0.0, 1.0)),
    float(np.nextafter(1.0, 0.0)),
)
SAMPLES: Final = Number(
    "a whole number of samples from 1 to 1000",
    "pass how many to draw at each fraction, such as 10",
    1.0,
    1000.0,
    whole=True,
)
Fractions = Annotated[Sequence[float], Numbers(FRACTION)]
LEAST: Final = 50  # records of a sample, as in the paper
PERSONS: Final = 1000  # outside the sample, who are scored
COPULA: Final = "copula"
CANNOT_TELL: Final = (
    "errors within this table, from samples of it; they do not tell the error of a forecast from this table "
    "to a larger population"
)


@dataclass(frozen=True)
class Backtest:
    """Errors of one method at one fraction; scores of persons where the method has them.

    `uniqueness` is the table's own, `error` the mean absolute error of what samples say of it and `bias` the
    mean error, both None where no sample got an answer; `unanswered` samples got none.
    """

    method: str
    fraction: float
    records: int
    samples: int
    unanswered: int
    uniqueness: float
    error: float | None
    bias: float | None
    worst: float | None
    auc: float | None
    brier: float | None
    brier_constant: float | None
    false_discovery_rate: float | None
    recall: float | None
    f_score: float | None
    reliability: float | None
    status: str


def backtest(codes: Integers, fractions: Sequence[float], samples: int = 10, seed: int = 0) -> list[Backtest]:
    """Give one row a method and fraction; `codes` are (records, columns), one small number for each value.

    Refuses fractions whose samples would hold fewer than 50 records.

    >>> draw = np.random.default_rng(1)
    >>> rows = backtest(draw.integers(0, 9, (600, 3)), [0.5], samples=2)
    >>> [row.method for row in rows][:2], rows[0].records
    (['people', 'bound'], 300)
    """
    SAMPLES.check("samples", samples)
    shares = np.atleast_1d(FRACTION.check("fractions", np.asarray(fractions, dtype=np.float64)))
    people = len(codes)
    for share in shares:
        if round(share * people) < LEAST:
            rule = f"fractions must leave samples of at least {LEAST} records"
            got = f"got {share:g} of {people} records"
            raise OutOfDomainError(f"{rule}, {got}; pass at least {LEAST / people:.3g}, or a larger table")
    alone = _alone(codes)
    return [row for share in shares.tolist() for row in _at(codes, alone, share, int(samples), seed)]


def _alone(codes: Integers) -> Truths:
    _, place, sizes = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    return np.asarray(sizes[place.ravel()] == 1)


def _at(codes: Integers, alone: Truths, fraction: float, samples: int, seed: int) -> Iterator[Backtest]:
    size = round(fraction * len(codes))
    rng = np.random.default_rng([seed, size])
    told: dict[str, list[float | None]] = {method: [] for method in METHODS}
    scored, truths = [], []
    for _ in range(samples):
        order = rng.permutation(len(codes))
        evidence = evidence_of(codes[order[:size]])
        for row in estimates(evidence, len(codes)):
            told[row.method].append(row.uniqueness)
        others = order[size : size + PERSONS]
        scored.append(_scores(evidence, codes[others], len(codes)))
        truths.append(alone[others])
    persons = person_scores(np.concatenate(scored), np.concatenate(truths))
    for method, answers in told.items():
        one = persons if method == COPULA else None
        yield _row(method, fraction, size, float(alone.mean()), answers=answers, persons=one)


def _scores(evidence: UniquenessEvidence, others: Integers, people: int) -> Floats:
    """ξ of persons outside the sample, by the copula fitted to it."""
    pairs = evidence.pairs
    if pairs is None:
        raise NoRecordsError(NO_RECORDS)
    values = [[str(value) for value in column] for column in others.T.tolist()]
    cell = copula_fit.fit(pairs).cell_probability(values)
    return np.asarray(uniqueness_from_probability(cell.probability, people))


def _row(
    method: str,
    fraction: float,
    records: int,
    uniqueness: float,
    *,
    answers: Sequence[float | None],
    persons: PersonScores | None,
) -> Backtest:
    errors = np.array([answer - uniqueness for answer in answers if answer is not None])
    some = bool(errors.size)
    return Backtest(
        method=method,
        fraction=fraction,
        records=records,
        samples=len(answers),
        unanswered=len(answers) - errors.size,
        uniqueness=uniqueness,
        error=float(np.abs(errors).mean()) if some else None,
        bias=float(errors.mean()) if some else None,
        worst=float(np.abs(errors).max()) if some else None,
        auc=persons.auc if persons else None,
        brier=persons.brier if persons else None,
        brier_constant=persons.brier_constant if persons else None,
        false_discovery_rate=persons.false_discovery_rate if persons else None,
        recall=persons.recall if persons else None,
        f_score=persons.f_score if persons else None,
        reliability=persons.reliability if persons else None,
        status=CANNOT_TELL,
    )
