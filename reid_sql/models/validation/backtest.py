"""Every estimate of uniqueness held against one table, by samples of it.

Source: Rocher, Hendrickx & de Montjoye 2019, supplement, algorithms 2 and 3: m samples without replacement, a
model of each, and the mean absolute error of the uniqueness that it gives the whole.

The table is taken for the population and parts of it for samples. That tells which methods suit data of this
kind at sizes up to its own. It does not tell the error of a forecast from the table to a larger population:
over 210 cases of six corpora the error from a tenth of a sample and the error beyond it were hardly related
(correlations of −0.25 to 0.69 within corpora, 0.1 on average).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np

from reid_sql.errors import NoRecordsError, TooFewRecordsError
from reid_sql.models.classes.disclosure import NO_RECORDS, Integers
from reid_sql.models.people.shape import row_keys
from reid_sql.models.population.population_uniqueness import EVERY, METHODS
from reid_sql.models.validation.methods import CORRECTNESS, UNIQUENESS, Given, Told, told
from reid_sql.models.validation.person_scores import PersonScores, Truths, person_scores
from reid_sql.models.validation.subsample import Texts, evidence_of
from reid_sql.parameters import Choice, Number, Numbers

FRACTION: Final = Number(
    "a share of the records above 0 and below 1",
    "pass how much of the table a sample holds, such as 0.1",
    float(np.nextafter(0.0, 1.0)),
    float(np.nextafter(1.0, 0.0)),
)
REPEATS: Final = Number(
    "a whole number of samples from 1 to 1000",
    "pass how many to draw at each fraction, such as 10",
    1.0,
    1000.0,
    whole=True,
)
Fractions = Annotated[Sequence[float] | None, Numbers(FRACTION, optional=True)]
Repeats = Annotated[int, REPEATS]
ONE: Final = Choice(tuple(EVERY))
USUAL: Final = (0.1, 0.01)
A_HALF: Final = 0.5  # where the usual ones would leave too few
LEAST: Final = 50  # records of a sample, as in the paper
SMALLEST: Final = 20  # records of a table
PERSONS: Final = 1000  # outside the sample, who are scored
CANNOT_TELL: Final = (
    "errors within this table, from samples of it; they do not tell the error of a forecast from this table "
    "to a larger population"
)
SCORES: Final = (
    *("auc", "brier", "brier_constant", "false_discovery_rate", "recall", "f_score", "reliability"),
)


@dataclass(frozen=True)
class Backtest:
    """One figure of one method at one fraction: of one sample, or over all of them where `sample` is None."""

    method: str
    fraction: float
    sample: int | None
    figure: str
    value: float | None
    low: float | None
    high: float | None
    truth: float | None
    counted: int  # records of the sample, samples with an answer, or persons
    status: str


@dataclass(frozen=True)
class Whole:
    """A table as codes, (records, columns), with what they stand for; what is true of it."""

    codes: Integers
    texts: Texts
    names: Sequence[str]
    alone: Truths  # (records,)
    truths: dict[str, float]


def backtest(
    codes: Integers,
    fractions: Sequence[float] | None = None,
    samples: int = 5,
    seed: int = 0,
    *,
    texts: Texts = (),
    names: Sequence[str] = (),
    methods: Sequence[str] = tuple(METHODS),
) -> list[Backtest]:
    """Give rows of each fraction and method; `codes` are (records, columns), one small number for each value.

    Refuses fractions whose samples would hold fewer than 50 records.

    >>> draw = np.random.default_rng(1)
    >>> rows = backtest(draw.integers(0, 9, (600, 3)), [0.5], samples=2)
    >>> [(row.method, row.figure) for row in rows if row.sample == 1][:2], rows[0].counted
    ([('people', 'uniqueness'), ('people', 'correctness')], 300)
    """
    REPEATS.check("samples", samples)
    if not len(codes):
        raise NoRecordsError(NO_RECORDS)
    shares = _shares(fractions, len(codes))
    _, place, sizes = np.unique(row_keys(codes), return_inverse=True, return_counts=True)
    alone = np.asarray(sizes[place.ravel()] == 1)
    truths = {UNIQUENESS: float(alone.mean()), CORRECTNESS: len(sizes) / len(codes)}
    whole = Whole(codes, texts, names, alone, truths)
    return [row for share in shares for row in _at(whole, share, int(samples), seed, methods)]


def asked(methods: Sequence[str] | None) -> list[str]:
    """The methods that were asked for, each once, all of them where none is named; refuses unknown ones.

    >>> asked(["people", "people"]), len(asked(None)) == len(METHODS)
    (['people'], True)
    """
    named = list(dict.fromkeys(methods or METHODS))
    for name in named:
        ONE.check("methods", name)
    return named


def _shares(fractions: Sequence[float] | None, people: int) -> list[float]:
    """The fractions, checked; the usual ones where none are given and their samples are large enough."""
    if fractions is None:
        usual = [share for share in USUAL if round(share * people) >= LEAST]
        if not usual and people < SMALLEST:
            rule = f"the table must hold at least {SMALLEST} records for samples of a half of it"
            raise TooFewRecordsError(f"{rule}, got {people}; pass a larger table")
        return usual or [A_HALF]
    shares = np.atleast_1d(FRACTION.check("fractions", np.asarray(fractions, dtype=np.float64)))
    for share in shares:
        if round(share * people) < LEAST:
            rule = f"fractions must leave samples of at least {LEAST} records"
            got = f"got {share:g} of {people} records"
            raise TooFewRecordsError(f"{rule}, {got}; pass at least {LEAST / people:.3g}, or a larger table")
    return list(shares.tolist())


def _at(whole: Whole, fraction: float, samples: int, seed: int, methods: Sequence[str]) -> Iterator[Backtest]:
    people = len(whole.codes)
    size = min(round(fraction * people), people - 1)
    rng = np.random.default_rng([seed, size])
    answers: dict[str, list[Told]] = {method: [] for method in methods}
    truths = []
    for _ in range(samples):
        order = rng.permutation(people)
        others = order[size : size + PERSONS]
        given = Given(
            evidence_of(whole.codes[order[:size]], whole.texts, whole.names), people, _values(whole, others)
        )
        truths.append(whole.alone[others])
        for method in methods:
            answers[method].append(told(method, given))
    for method, found in answers.items():
        yield from _samples(whole, (method, fraction, size), found)
        yield from _errors(whole, (method, fraction), found)
        yield from _persons((method, fraction), found, truths)


def _values(whole: Whole, records: Integers) -> Texts:
    """Values of these records by column, as texts."""
    codes = whole.codes[records].T.tolist()
    if not whole.texts:
        return [[str(code) for code in column] for column in codes]
    return [[own[code] for code in column] for own, column in zip(whole.texts, codes, strict=True)]


def _samples(whole: Whole, of: tuple[str, float, int], found: Sequence[Told]) -> Iterator[Backtest]:
    """What the method says from each sample, beside the truth."""
    method, fraction, size = of
    for number, each in enumerate(found, 1):
        for said in each.said:
            ends = said.value, said.low, said.high, whole.truths[said.figure]
            yield Backtest(method, fraction, number, said.figure, *ends, size, said.status)


def _errors(whole: Whole, of: tuple[str, float], found: Sequence[Told]) -> Iterator[Backtest]:
    """Mean absolute error, mean error, and how often the interval held the truth, over all samples."""
    for figure in dict.fromkeys(said.figure for each in found for said in each.said):
        truth = whole.truths[figure]
        said = [one for each in found for one in each.said if one.figure == figure]
        errors = np.array([one.value - truth for one in said if one.value is not None])
        ends = [(one.low, one.high) for one in said if one.low is not None and one.high is not None]
        held = np.array([float(low <= truth <= high) for low, high in ends])
        width = np.array([high - low for low, high in ends])
        for name, values in (("error", np.abs(errors)), ("bias", errors), ("width", width)):
            yield _over(of, f"{figure}_{name}", values, truth)
        share = float(held.mean()) if held.size else None
        yield Backtest(*of, None, f"{figure}_held", share, None, None, truth, held.size, CANNOT_TELL)


def _over(of: tuple[str, float], figure: str, values: np.ndarray, truth: float) -> Backtest:
    """Mean of the samples, between the least and the largest of them."""
    if not values.size:
        return Backtest(*of, None, figure, None, None, None, truth, 0, CANNOT_TELL)
    mean, least, most = float(values.mean()), float(values.min()), float(values.max())
    return Backtest(*of, None, figure, mean, least, most, truth, values.size, CANNOT_TELL)


def _persons(of: tuple[str, float], found: Sequence[Told], truths: Sequence[Truths]) -> Iterator[Backtest]:
    """How the scores of persons outside the samples fared, over all samples, and tenth by tenth."""
    scored = [(each.xi, truth) for each, truth in zip(found, truths, strict=True) if each.xi is not None]
    if not scored:
        return
    scores: PersonScores = person_scores(
        np.concatenate([xi for xi, _ in scored]), np.concatenate([truth for _, truth in scored])
    )
    for figure in SCORES:
        value = getattr(scores, figure)
        yield Backtest(*of, None, figure, value, None, None, None, scores.persons, CANNOT_TELL)
    for tenth in scores.tenths:
        shown = tenth.score, tenth.low, tenth.high, tenth.unique
        yield Backtest(*of, None, "tenth", *shown, tenth.persons, CANNOT_TELL)
