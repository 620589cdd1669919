"""Populations under a model of people: shares with intervals that hold, and records drawn from the tree."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.interruption import checkpoint
from reid_sql.models.classes.disclosure import Histogram, Integers
from reid_sql.models.copula.copula_population import CopulaForecast
from reid_sql.models.marginals.column import Column
from reid_sql.models.numerics.quantiles import clopper_pearson_upper
from reid_sql.models.one_answer import interval
from reid_sql.models.one_answer.interval import Share
from reid_sql.models.people import curves
from reid_sql.models.people.people_model import CHUNK, PeopleModel
from reid_sql.models.people.ties import UNTOLD, Tie
from reid_sql.parameters import COUNT, Floats

WIDTHS: Final = {
    "uniqueness": interval.UNIQUENESS,
    "correctness": interval.CORRECTNESS,
    "below_k": interval.BELOW,
}
TWO: Final = 2
OF_MODEL: Final = (
    "the interval holds the error of the model, for tables of people like those it was measured on"
)
OF_SAMPLE: Final = "the population is no larger than the sample: counted in the sample"


@dataclass(frozen=True)
class Shares:
    """Shares of one population: unique people, right matches, and people in classes smaller than k."""

    uniqueness: Share
    correctness: Share
    below_k: Share


def shares(model: PeopleModel, people: float, k: int = 5, *, random: bool = True) -> Shares:
    """Expected shares among so many people, each with its 95 % interval.

    At the sample's own size they are counted. Upper ends are at most what is provable where the sample is
    `random`, every record as likely as another.

    Ξ(N) = E_q[(1 + N q/a)^−(a+1)] and so on, E over records drawn from the model and over the shapes a.
    """
    held = curves.held(model.histogram, k)
    if people <= model.records:
        return counted(model.histogram, k)
    found, fraction = {}, model.records / people
    for name, width in WIDTHS.items():
        told = on_shapes(model, name, people, k)
        estimate = float(model.shapes @ told.values)
        variance = interval.with_chance(told.variance, estimate, fraction, width.together)
        sample = held[name] / model.records, model.records
        spread = interval.spread(told.values, model.shapes, variance, sample, width, apart=told.apart)
        most = clopper_pearson_upper(held[name], model.records) if random else 1.0
        share = interval.share(spread, width.z, most)
        found[name] = replace(share, low=share.low * model.twins.share_left(name, fraction, k))
    return Shares(**found)


@dataclass(frozen=True)
class OnShapes:
    """One share for each shape, and what is not known of it."""

    values: Floats
    variance: float  # over persons of the model at the middle shape
    apart: float = 0.0  # log-odds by which the sample's own persons differ


def on_shapes(model: PeopleModel, name: str, people: float, k: int) -> OnShapes:
    """Work one share out for each shape."""
    share, shapes = curves.SHARES[name], np.exp(model.scatter.log_shapes(people))
    q = np.exp(model.drawn_log_q)[:, None]
    terms = share.of_model(q, shapes, people, k)  # (draws, shapes)
    values = np.asarray(terms.mean(axis=0))
    middle = np.exp(model.shapes @ np.log(shapes))
    variance = float(share.of_model(q, np.array([middle]), people, k).var())
    if model.seen is None:
        return OnShapes(values, variance)
    by_sample = curves.of_sample(share, model.seen, shapes, (model.histogram, people), k)
    near = interval.NEAR_THE_ENDS / model.records
    apart = float(model.shapes @ (curves.log_odds(by_sample, near) - curves.log_odds(values, near)))
    return OnShapes(curves.joined(values, by_sample, model.records / people, near), variance, apart)


def counted(histogram: Histogram, k: int) -> Shares:
    """Shares of the sample itself."""
    records = int(histogram.records.sum())
    ends = {name: held / records for name, held in curves.held(histogram, k).items()}
    return Shares(**{name: Share(end, end, end) for name, end in ends.items()})


def forecast(model: PeopleModel, populations: npt.ArrayLike) -> list[CopulaForecast]:
    """Ξ and κ of populations of these sizes, with 95 % intervals that hold the error of the model."""
    found = []
    for people in COUNT.check("populations", populations).tolist():
        of = shares(model, people, TWO)
        one, other = of.uniqueness, of.correctness
        ends = (one.estimate, one.low, one.high, other.estimate, other.low, other.high)
        found.append(CopulaForecast(people, *ends, OF_MODEL if people > model.records else OF_SAMPLE))
    return found


def sample_codes(model: PeopleModel, places: Integers, seed: int) -> Integers:
    """Codes of the records at these places of an endless sample of the tree: the same whoever asks for which.

    Donors take no part, so that no record of a person is handed out; nor do values that have no text.
    """
    found = np.empty((len(places), len(model.columns)), dtype=np.int64)
    chunks = places // CHUNK
    for chunk in np.unique(chunks).tolist():
        checkpoint()
        rng = np.random.default_rng([seed, 1, chunk])
        drawn = np.zeros((CHUNK, len(model.columns)), dtype=np.int64)
        drawn[:, model.kept] = model.stack.tree.draw(CHUNK, rng)
        for j in model.kept:
            drawn[:, j] = _with_text(model.marginals[j], drawn[:, j], rng)
        for tie in model.ties:
            drawn[:, tie.column] = _tied(tie, drawn[:, tie.source], model.marginals[tie.column], rng)
        rows = chunks == chunk
        found[rows] = drawn[places[rows] % CHUNK]
    return found


def _tied(tie: Tie, source: Integers, column: Column, rng: np.random.Generator) -> Integers:
    """Give what goes with each of the source's codes; drawn by its share where the sample does not say."""
    goes = tie.goes[source]
    return _with_text(column, np.where(goes == UNTOLD, column.elsewhere, goes), rng)


def _with_text(column: Column, codes: Integers, rng: np.random.Generator) -> Integers:
    """Put a value of the sample in the place of one that fits nowhere."""
    named = column.mass[: len(column.seen)]
    missing = codes == column.elsewhere
    return np.where(missing, rng.choice(len(named), len(codes), p=named / named.sum()), codes)
