"""What a person risks: ξ and κ of records under a model of people, with what the sample shows of their classes.

A person whose record the sample holds as somebody else's is not unique; nor is one of several alike in it.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from reid_sql.domains import Floats
from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.people import residual
from reid_sql.models.people.people_model import PeopleModel


@dataclass(frozen=True)
class PersonRisk:
    """Cell probability q, chance ξ of being the only one of the population, and mean κ of 1/F."""

    cell_probability: Floats
    uniqueness_xi: Floats
    correctness_kappa: Floats


def person_risk(model: PeopleModel, q: npt.ArrayLike, known: Integers, population: float) -> PersonRisk:
    """Score persons of cell probability q, of whose class `known` people are seen: the person, and others in the sample.

    ξ = ((a + n q)/(a + N q))^(a+1) where nobody else is seen, else 0. κ is the mean of 1/F under the negative
    binomial; where others are seen it takes the mean of ln a.
    """
    cells = np.asarray(q, dtype=np.float64)
    alone = np.asarray(known) == 1
    xi, kappa = np.zeros(len(cells)), np.empty(len(cells))
    if alone.any():
        n, people = float(model.records), max(float(population), float(model.records))
        told = partial(residual.uniqueness_known, records=n, people=people)
        xi[alone] = model.looked_up(cells[alone], people, told)
        right = partial(residual.correctness_known, 1.0, records=n, people=people)
        kappa[alone] = model.looked_up(cells[alone], people, right)
    kappa[~alone] = _of_several(model, cells[~alone], np.asarray(known)[~alone], population)
    return PersonRisk(cells, xi, kappa)


def _of_several(model: PeopleModel, q: Floats, known: Integers, population: float) -> Floats:
    if not len(q):
        return q
    a = float(np.exp(model.shapes @ model.log_shapes(population)))
    people = max(population, float(model.records))
    return residual.correctness_known(known, q, a, model.records, people)
