"""Cell probabilities of some columns alone under a copula: their marginals, their part of the correlation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from reid_sql.models.copula.gaussian_copula import GaussianCopula
from reid_sql.models.profile.people_parts import Chosen
from reid_sql.parameters import Floats


@dataclass(frozen=True)
class CopulaParts:
    """The sub-models of a copula, for one person's values."""

    model: GaussianCopula
    values: Sequence[str | None]

    def scores(self, chosen: Chosen, people: float) -> tuple[Floats, Floats, Floats]:
        """q, ξ and κ of each choice of columns."""
        q, xi, kappa = np.empty(len(chosen)), np.empty(len(chosen)), np.empty(len(chosen))
        for row, mask in enumerate(chosen):
            places = np.flatnonzero(mask).tolist()
            cell = part(self.model, places).cell_probability([[self.values[place]] for place in places])
            q[row] = cell.probability[0]
            xi[row], kappa[row] = cell.uniqueness(people)[0], cell.correctness(people)[0]
        return q, xi, kappa


def part(model: GaussianCopula, places: Sequence[int]) -> GaussianCopula:
    """The law of these columns alone, by their numbers from 0, which is a Gaussian copula too."""
    return replace(
        model,
        columns=tuple(model.columns[place] for place in places),
        marginals=tuple(model.marginals[place] for place in places),
        correlation=model.correlation[np.ix_(places, places)],
        _scores={},
    )
