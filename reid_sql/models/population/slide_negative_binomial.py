"""Population uniqueness by the slide negative binomial model: a class has one person, and more.

A class of the population has F people. F − 1 is negative binomial with parameters α and β; sampled with the
fraction f, a class shows once or twice with P(1) = f c (1 + (α − 1) d) / (1 − d) and P(2) = f²/2 · c α (1 −
β) (2 + (α − 1) d) / (1 − d)², where c = (β/(1 − d))^α and d = (1 − f)(1 − β). Chen and Keller-McNulty solve K
P(1) = s₁ and K P(2) = s₂, with K the classes of the population. P(2)/P(1) gives α for each β by a quadratic
equation, and the first equation is then one in β alone; many samples have no solution. Source: Chen &
Keller-McNulty 1998; Rocher, Hendrickx & de Montjoye 2019, supplement, note 1, equation 13.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.numerics.scipy_functions import expit, log_expit
from reid_sql.models.population.estimate import NO_INTERVAL, Estimate, sample_of
from reid_sql.models.population.shlosser import population_classes
from reid_sql.parameters import Floats

STATUS: Final = f"{NO_INTERVAL}the moments of the slide negative binomial model give none"
NOT_SOLVED: Final = (
    "not available: no slide negative binomial model has the sample's unique and twofold classes"
)
LOGITS: Final = np.linspace(-40.0, 40.0, 1601)  # of β, among which a solution is looked for
HALVINGS: Final = 60
CLOSE: Final = 1e-9  # of its value, by which a solution may miss either equation


def estimate(histogram: Histogram, population: float) -> Estimate:
    """Estimate Ξ = K β^α / n; of several (α, β) that solve the equations, the one of most unique people.

    Refuses what `sample_of` refuses.

    >>> sizes, classes = np.array([1, 2, 3, 9]), np.array([20, 6, 4, 2])
    >>> estimated = estimate(Histogram(sizes, classes, sizes * classes), 620)
    >>> round(estimated.uniqueness, 4)
    0.0852
    """
    sample = sample_of(histogram, population)
    unique, twofold = (int(histogram.classes[histogram.class_size == size].sum()) for size in (1, 2))
    if unique == 0 or twofold == 0 or sample.unique == sample.records:
        return Estimate(None, None, None, NOT_SOLVED)
    classes = population_classes(histogram, sample.fraction)
    equations = Equations(unique / classes, twofold / unique, sample.fraction)
    found = equations.solutions()
    if not len(found):
        return Estimate(None, None, None, NOT_SOLVED)
    shares = classes / sample.population * np.exp(equations.alpha(found) * log_expit(found))
    return Estimate(min(1.0, float(shares.max())), None, None, STATUS)


@dataclass(frozen=True)
class Equations:
    """Both moment equations as one in the logit of β.

    The sample gives the share of classes that show once, twofold classes per unique one, and the fraction.
    """

    once: float
    ratio: float
    fraction: float

    def alpha(self, logit: Floats) -> Floats:
        """α of each β: the positive root of d α² + (2 − d − r d) α − r (1 − d) = 0.

        r = 2 (s₂/s₁) (1 − d) / (f (1 − β)).
        """
        d, rest = self._thinned(logit), expit(-logit)
        r = 2 * self.ratio * (1 - d) / (self.fraction * rest)
        middle = 2 - d - r * d
        root = np.hypot(middle, 2 * np.sqrt(d * r * (1 - d)))
        # The form of the root in which nothing cancels.
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(
                np.where(middle > 0, 2 * r * (1 - d) / (middle + root), (root - middle) / (2 * d))
            )

    def miss(self, logit: Floats) -> Floats:
        """Logarithm of the modelled over the given share of classes that show once."""
        d, alpha = self._thinned(logit), self.alpha(logit)
        # log_expit: the logarithm of expit(36) is 0, and the rounding of its neighbours would pass for a
        # solution.
        share = alpha * (log_expit(logit) - np.log1p(-d)) + np.log1p((alpha - 1) * d) - np.log1p(-d)
        return np.asarray(share + np.log(self.fraction / self.once))

    def miss_of_ratio(self, logit: Floats) -> Floats:
        """Logarithm of the modelled P(2)/P(1) over the given number of twofold per unique classes."""
        d, alpha = self._thinned(logit), self.alpha(logit)
        twice = self.fraction / 2 * alpha * expit(-logit) * (2 + (alpha - 1) * d)
        return np.asarray(np.log(twice / ((1 - d) * (1 + (alpha - 1) * d)) / self.ratio))

    def solutions(self) -> Floats:
        """Logits of β that solve both equations, by halving; what solves only one is none.

        Each half is that between signs that differ.
        """
        values = self.miss(LOGITS)
        turns = np.flatnonzero(np.sign(values[1:]) * np.sign(values[:-1]) < 0)
        low, high, below = LOGITS[turns], LOGITS[turns + 1], np.sign(values[turns])
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            same = np.sign(self.miss(middle)) == below
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        found = (low + high) / 2
        return found[(np.abs(self.miss(found)) < CLOSE) & (np.abs(self.miss_of_ratio(found)) < CLOSE)]

    def _thinned(self, logit: Floats) -> Floats:
        return np.asarray((1 - self.fraction) * expit(-logit))
