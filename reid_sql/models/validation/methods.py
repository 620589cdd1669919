"""What each method says of a whole from one sample of it, and how models score persons outside the sample."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from reid_sql.errors import NoRecordsError, ReidError
from reid_sql.models.classes.disclosure import NO_RECORDS
from reid_sql.models.copula import copula_fit, copula_population
from reid_sql.models.copula.copula_population import CopulaForecast
from reid_sql.models.one_answer import population_risk
from reid_sql.models.one_answer.population_risk import PopulationRisk
from reid_sql.models.people import people_fit, people_lines
from reid_sql.models.population.evidence import UniquenessEvidence
from reid_sql.models.population.population_uniqueness import estimates
from reid_sql.models.pyc import pitman_yor_forecast
from reid_sql.models.pyc.pitman_yor_forecast import PycForecast
from reid_sql.models.validation.subsample import Texts
from reid_sql.parameters import Floats

Counted = TypeVar("Counted")
UNIQUENESS: Final = "uniqueness"
CORRECTNESS: Final = "correctness"


@dataclass(frozen=True)
class Said:
    """A share of the whole as a method estimates it, with its interval; None where the status says why."""

    figure: str
    value: float | None
    low: float | None
    high: float | None
    status: str


@dataclass(frozen=True)
class Told:
    """All that a method says from one sample, and ξ of the persons outside it, where it scores persons."""

    said: Sequence[Said]
    xi: Floats | None = None


@dataclass(frozen=True)
class Given:
    """A sample's evidence, the size of the whole, and the values of persons outside the sample, by column."""

    evidence: UniquenessEvidence
    people: float
    others: Texts = field(repr=False)


def told(method: str, given: Given) -> Told:
    """Ask a method; one that refuses says so in the status."""
    own: dict[str, Callable[[Given], Told]] = {"people": _people, "copula": _copula, "pyc": _pyc}
    try:
        return own.get(method, _named(method))(given)
    except ReidError as error:
        return Told([Said(UNIQUENESS, None, None, None, str(error))])


def _named(method: str) -> Callable[[Given], Told]:
    def ask(given: Given) -> Told:
        row = estimates(given.evidence, given.people, method)[0]  # type: ignore[arg-type]
        ends = row.uniqueness, row.uniqueness_low, row.uniqueness_high
        return Told([Said(UNIQUENESS, *ends, row.status)])

    return ask


def _held(counted: Counted | None) -> Counted:
    """What was counted of records, or the refusal: without records there is nothing."""
    if counted is None:
        raise NoRecordsError(NO_RECORDS)
    return counted


def _people(given: Given) -> Told:
    evidence = people_lines.evidence_of(_held(given.evidence.people))
    fitted = population_risk.told_by(evidence, given.people)
    found = population_risk.answer_of(fitted, evidence, [given.people])[0]
    model = fitted.model
    if model is None or model.columns != evidence.columns:
        model = people_fit.fit(evidence)  # as fit_people: with columns that follow
    return Told(list(_both(found)), model.cell_probability(given.others).uniqueness(given.people))


def _copula(given: Given) -> Told:
    model = copula_fit.fit(_held(given.evidence.pairs))
    found = copula_population.forecast(model, [given.people])[0]
    return Told(list(_both(found)), model.cell_probability(given.others).uniqueness(given.people))


def _pyc(given: Given) -> Told:
    return Told(list(_both(pitman_yor_forecast.forecast(given.evidence.histogram, [given.people])[0])))


def _both(found: PopulationRisk | CopulaForecast | PycForecast) -> Iterator[Said]:
    one = found.uniqueness, found.uniqueness_low, found.uniqueness_high
    yield Said(UNIQUENESS, *one, found.status)
    other = found.correctness, found.correctness_low, found.correctness_high
    yield Said(CORRECTNESS, *other, found.status)
