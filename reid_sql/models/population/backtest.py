"""Every estimate of uniqueness compared with one table's counted truth, by samples of the table.

Source: Rocher, Hendrickx & de Montjoye 2019, supplement, algorithms 2 and 3: m samples without replacement, a
model of each, and the mean absolute error of the uniqueness that it estimates for the whole.

The table is taken as the population and parts of it as samples. This shows which methods suit data of this
kind at sizes up to its own. It does not show the error of a forecast from the table to a larger population:
over 210 cases of six corpora the error from a tenth of a sample and the error beyond it were hardly related
(correlations of −0.25 to 0.69 within corpora, 0.1 on average).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Annotated, Final, TypeVar

import numpy as np

from reid_sql.errors import NoRecordsError, ReidError, TooFewRecordsError
from reid_sql.models.copula import copula_fit, gaussian_copula
from reid_sql.models.copula.gaussian_copula import CopulaForecast, GaussianCopula
from reid_sql.models.fitted_model import FittedModel
from reid_sql.models.people.evidence import evidence_from_rows, row_keys
from reid_sql.models.people.fit import fit
from reid_sql.models.people.model import PeopleModel
from reid_sql.models.population.population_uniqueness import (
    METHODS,
    PopulationUniqueness,
    UniquenessEvidence,
    estimate_by_methods,
)
from reid_sql.models.population.subsample import Texts, count_sample
from reid_sql.models.population_risk.answer import PopulationRisk, answer_by_fit, fit_sample
from reid_sql.models.pyc import pitman_yor_forecast
from reid_sql.models.pyc.pitman_yor_forecast import PycForecast
from reid_sql.parameters import Choice, Flags, Floats, Integers, Number, Numbers

# How well scores ξ of persons predict who is unique: ranking, errors, false discoveries and reliability.
#
# Source: Rocher, Hendrickx & de Montjoye 2019, table 1, and
# supplement, equations 1 to 9 and table 7.

# ξ above which a person is predicted to be unique, in the false-discovery rate
CERTAIN_SCORE: Final = 0.95
LIKELY_SCORE: Final = 0.5  # and in the F-score, table 7
BINS: Final = 10


@dataclass(frozen=True)
class Tenth:
    """Persons whose score is in one tenth of the scale: how many, what they score and how many are unique."""

    low: float
    high: float
    persons: int
    score: float  # mean
    unique: float  # share


@dataclass(frozen=True)
class PersonScores:
    """Figures of the scores; None where there are no such persons.

    `brier` below `brier_constant` is better than giving each person the share of the unique. `reliability` is
    the mean distance, over tenths of the scale, between the mean score and the share of the unique, weighted
    by persons.
    """

    persons: int
    auc: float | None
    brier: float
    brier_constant: float
    false_discovery_rate: float | None
    recall: float | None
    f_score: float | None
    reliability: float
    tenths: tuple[Tenth, ...]


def score_persons(xi: Floats, unique: Flags) -> PersonScores:
    """Compare scores with the truth.

    >>> scores = score_persons(np.array([0.99, 0.8, 0.3, 0.1]), np.array([True, True, False, False]))
    >>> scores.auc, round(scores.brier, 4), scores.false_discovery_rate, scores.recall, scores.f_score
    (1.0, 0.035, 0.0, 0.5, 1.0)
    """
    # Tenths of the scale that contain persons: the supplement's reliability diagram (figure 7).
    tenth_of = np.minimum((xi * BINS).astype(np.int64), BINS - 1)
    persons, score, alone = (
        np.bincount(tenth_of, weight, BINS) for weight in (np.ones(xi.size), xi, unique)
    )
    tenths = tuple(
        Tenth(
            tenth / BINS,
            (tenth + 1) / BINS,
            int(persons[tenth]),
            float(score[tenth] / persons[tenth]),
            float(alone[tenth] / persons[tenth]),
        )
        for tenth in np.flatnonzero(persons).tolist()
    )
    share = float(unique.mean())
    certain, likely = xi > CERTAIN_SCORE, xi > LIKELY_SCORE
    both = int(likely.sum() + unique.sum())
    return PersonScores(
        persons=xi.size,
        auc=_auc(xi, unique),
        brier=float(np.mean((xi - unique) ** 2)),
        brier_constant=share * (1 - share),  # supplement, equation 4 at its lowest
        false_discovery_rate=_share(~unique, certain),
        recall=_share(certain, unique),
        # the harmonic mean of precision and recall
        f_score=float(2 * (likely & unique).sum() / both) if both else None,
        reliability=sum(each.persons * abs(each.score - each.unique) for each in tenths) / xi.size,
        tenths=tenths,
    )


def _auc(xi: Floats, unique: Flags) -> float | None:
    """Chance that a unique person scores above another one, ties counting half (Mann–Whitney)."""
    positive = int(unique.sum())
    pairs = positive * (xi.size - positive)
    if not pairs:
        return None
    from scipy.stats import rankdata  # noqa: PLC0415 - see numerics/special_functions

    return float((rankdata(xi)[unique].sum() - positive * (positive + 1) / 2) / pairs)


def _share(of: Flags, among: Flags) -> float | None:
    return float(of[among].mean()) if among.any() else None


FRACTION: Final = Number(
    "a share of the records above 0 and below 1",
    "pass the share of the table that a sample contains, such as 0.1",
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
FRACTIONS: Final = Numbers(
    FRACTION, optional=True, is_one_enough=True, example="0.1 or [0.1, 0.01]"
)
Fractions = Annotated[Sequence[float] | None, FRACTIONS]
Repeats = Annotated[int, REPEATS]
METHOD: Final = Choice(tuple(METHODS))
DEFAULT_FRACTIONS: Final = (0.1, 0.01)
FRACTION_OF_SMALL_TABLES: Final = 0.5
MIN_SAMPLE_RECORDS: Final = 50  # as in the paper
MIN_TABLE_RECORDS: Final = 20
MAX_PERSONS: Final = 1000  # outside the sample, who are scored
UNIQUENESS: Final = "uniqueness"
CORRECTNESS: Final = "correctness"
STATUS_WITHIN_TABLE: Final = (
    "within_table: errors of samples of this table may differ for a larger population"
)
SCORES: Final = (
    *("auc", "brier", "brier_constant", "false_discovery_rate", "recall", "f_score", "reliability"),
)
Counted = TypeVar("Counted")


@dataclass(frozen=True)
class Estimate:
    """A share of the whole by one method, with its interval; None where the status says why."""

    figure: str
    value: float | None
    low: float | None
    high: float | None
    status: str


@dataclass(frozen=True)
class MethodResult:
    """The estimates of a method from one sample, and ξ of persons outside it where it scores persons."""

    estimates: Sequence[Estimate]
    xi: Floats | None = None


@dataclass(frozen=True)
class SampleEvidence:
    """A sample's evidence, the size of the whole, and the values of persons outside the sample, by column."""

    evidence: UniquenessEvidence
    people: float
    unsampled: Texts = field(repr=False)


Answer = PopulationRisk | CopulaForecast | PycForecast


def ask_method(method: str, sample: SampleEvidence) -> MethodResult:
    """Estimate by a method; the status of one that refuses is its refusal."""
    ask = ASK.get(method)
    try:
        if ask is None:
            row = estimate_by_methods(sample.evidence, sample.people, method)[0]  # type: ignore[arg-type]
            return MethodResult([_estimate_of(row, UNIQUENESS)])
        answered, model = ask(sample)
        xi = None
        if model is not None:
            xi = model.cell_probability(sample.unsampled).uniqueness(sample.people)
    except ReidError as error:
        return MethodResult([Estimate(UNIQUENESS, None, None, None, str(error))])
    estimates = [_estimate_of(answered, figure) for figure in (UNIQUENESS, CORRECTNESS)]
    return MethodResult(estimates, xi)


def _ask_people(sample: SampleEvidence) -> tuple[PopulationRisk, PeopleModel]:
    evidence = evidence_from_rows(_require(sample.evidence.rows))
    fitted = fit_sample(evidence, sample.people)
    row = answer_by_fit(fitted, evidence, [sample.people])[0]
    model = fitted.model
    if model is None or model.columns != evidence.columns:
        # scores need the columns that others determine, as fit_people has them
        model = fit(evidence)
    return row, model


def _ask_copula(sample: SampleEvidence) -> tuple[CopulaForecast, GaussianCopula]:
    model = copula_fit.fit_copula(_require(sample.evidence.rows))
    return gaussian_copula.forecast_copula(model, [sample.people])[0], model


def _ask_pyc(sample: SampleEvidence) -> tuple[PycForecast, None]:
    histogram = sample.evidence.histogram
    return pitman_yor_forecast.forecast_pitman_yor(histogram, [sample.people])[0], None


def _require(counts: Counted | None) -> Counted:
    if counts is None:
        raise NoRecordsError
    return counts


# Methods that answer more than Ξ, with the model that scores persons, if there is one.
ASK: Final[Mapping[str, Callable[[SampleEvidence], tuple[Answer, FittedModel | None]]]] = {
    "people": _ask_people,
    "copula": _ask_copula,
    "pyc": _ask_pyc,
}


def _estimate_of(row: Answer | PopulationUniqueness, figure: str) -> Estimate:
    """Take a figure with its ends from a method's answer."""
    value, low, high = (getattr(row, f"{figure}{end}") for end in ("", "_low", "_high"))
    return Estimate(figure, value, low, high, row.status)


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
class WholeTable:
    """A table as codes, (records, columns), the texts of the codes, and its counted truth."""

    codes: Integers
    texts: Texts
    names: Sequence[str]
    unique: Flags  # (records,)
    truths: dict[str, float]

    def values(self, records: Integers) -> Texts:
        """Values of these records by column, as texts."""
        codes = self.codes[records].T.tolist()
        if not self.texts:
            return [[str(code) for code in column] for column in codes]
        return [
            [column_texts[code] for code in column]
            for column_texts, column in zip(self.texts, codes, strict=True)
        ]


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
    """Compare the methods at each fraction; `codes` are (records, columns), small numbers for each value.

    Refuses fractions whose samples would have fewer than 50 records.

    >>> draw = np.random.default_rng(1)
    >>> rows = backtest(draw.integers(0, 9, (600, 3)), [0.5], samples=2)
    >>> [(row.method, row.figure) for row in rows if row.sample == 1][:2], rows[0].counted
    ([('people', 'uniqueness'), ('people', 'correctness')], 300)
    """
    REPEATS.check("samples", samples)
    if not len(codes):
        raise NoRecordsError
    shares = _choose_fractions(fractions, len(codes))
    _, place, sizes = np.unique(row_keys(codes), return_inverse=True, return_counts=True)
    unique = np.asarray(sizes[place.ravel()] == 1)
    truths = {UNIQUENESS: float(unique.mean()), CORRECTNESS: len(sizes) / len(codes)}
    whole = WholeTable(codes, texts, names, unique, truths)
    return [
        row for share in shares for row in _test_fraction(whole, share, int(samples), seed, methods)
    ]


def choose_methods(methods: Sequence[str] | None) -> list[str]:
    """The methods named, each once, or all of them; refuses unknown ones.

    >>> choose_methods(["people", "people"]), len(choose_methods(None)) == len(METHODS)
    (['people'], True)
    """
    named = list(dict.fromkeys(methods or METHODS))
    for name in named:
        METHOD.check("methods", name)
    return named


def _choose_fractions(fractions: Sequence[float] | None, people: int) -> list[float]:
    """The fractions, checked; by default the usual ones whose samples are large enough."""
    if fractions is None:
        usual = [
            share for share in DEFAULT_FRACTIONS if round(share * people) >= MIN_SAMPLE_RECORDS
        ]
        if not usual and people < MIN_TABLE_RECORDS:
            raise TooFewRecordsError(
                f"the table must contain at least {MIN_TABLE_RECORDS} records for samples of a half of it, got {people}; pass a larger table"
            )
        return usual or [FRACTION_OF_SMALL_TABLES]
    shares = np.atleast_1d(FRACTION.check("fractions", np.asarray(fractions, dtype=np.float64)))
    for share in shares:
        if round(share * people) < MIN_SAMPLE_RECORDS:
            got, least = f"got {share:g} of {people} records", MIN_SAMPLE_RECORDS / people
            raise TooFewRecordsError(
                f"fractions must leave samples of at least {MIN_SAMPLE_RECORDS} records, {got}; pass at least {least:.3g}, or a larger table"
            )
    return list(shares.tolist())


def _test_fraction(
    whole: WholeTable, fraction: float, samples: int, seed: int, methods: Sequence[str]
) -> Iterator[Backtest]:
    people = len(whole.codes)
    size = min(round(fraction * people), people - 1)
    rng = np.random.default_rng([seed, size])
    results: dict[str, list[MethodResult]] = {method: [] for method in methods}
    unique = []
    for _ in range(samples):
        order = rng.permutation(people)
        unsampled = order[size : size + MAX_PERSONS]
        evidence = count_sample(whole.codes[order[:size]], whole.texts, whole.names)
        sample = SampleEvidence(evidence, people, whole.values(unsampled))
        unique.append(whole.unique[unsampled])
        for method in methods:
            results[method].append(ask_method(method, sample))
    for method, method_results in results.items():
        for number, result in enumerate(method_results, 1):
            for one in result.estimates:
                values = one.value, one.low, one.high, whole.truths[one.figure]
                yield Backtest(method, fraction, number, one.figure, *values, size, one.status)
        yield from _list_error_rows(whole, (method, fraction), method_results)
        yield from _list_person_rows((method, fraction), method_results, unique)


def _list_error_rows(
    whole: WholeTable, test: tuple[str, float], results: Sequence[MethodResult]
) -> Iterator[Backtest]:
    """Mean absolute error, mean error, and how often the interval contained the truth, over all samples."""
    by_figure: dict[str, list[Estimate]] = {}
    for one in chain(*(each.estimates for each in results)):
        by_figure.setdefault(one.figure, []).append(one)
    for figure, estimates in by_figure.items():
        truth = whole.truths[figure]
        errors = np.array([one.value - truth for one in estimates if one.value is not None])
        pairs = [(one.low, one.high) for one in estimates if None not in (one.low, one.high)]
        low, high = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
        for kind, values in (("error", np.abs(errors)), ("bias", errors), ("width", high - low)):
            name, size, ends = f"{figure}_{kind}", values.size, _average(values)
            yield Backtest(*test, None, name, *ends, truth, size, STATUS_WITHIN_TABLE)
        covered = (low <= truth) & (truth <= high)
        name, size, share = f"{figure}_held", covered.size, _average(covered)[0]
        yield Backtest(*test, None, name, share, None, None, truth, size, STATUS_WITHIN_TABLE)


def _average(values: Floats | Flags) -> tuple[float | None, float | None, float | None]:
    """Return the mean of the samples, between the least and the greatest; None for none."""
    if not values.size:
        return None, None, None
    return float(values.mean()), float(values.min()), float(values.max())


def _list_person_rows(
    test: tuple[str, float], results: Sequence[MethodResult], unique: Sequence[Flags]
) -> Iterator[Backtest]:
    """How well scores of persons outside the samples predict who is unique, over all and by tenths of ξ."""
    scored = [
        (each.xi, truth) for each, truth in zip(results, unique, strict=True) if each.xi is not None
    ]
    if not scored:
        return
    scores: PersonScores = score_persons(
        np.concatenate([xi for xi, _ in scored]), np.concatenate([truth for _, truth in scored])
    )
    for figure in SCORES:
        value = getattr(scores, figure)
        yield Backtest(
            *test, None, figure, value, None, None, None, scores.persons, STATUS_WITHIN_TABLE
        )
    for tenth in scores.tenths:
        shown = tenth.score, tenth.low, tenth.high, tenth.unique
        yield Backtest(*test, None, "tenth", *shown, tenth.persons, STATUS_WITHIN_TABLE)
