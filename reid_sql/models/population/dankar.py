"""The decision rule of Dankar, El Emam, Neisa and Roffey: which estimator to take when.

The estimators are those of population uniqueness. Pitman's for samples of up to a tenth of the population,
the slide negative binomial for larger ones, unless Zayatz' is lower; Zayatz' wherever the other has no
answer. Source: Dankar et al. 2012; Rocher, Hendrickx & de Montjoye 2019, supplement, reference 1.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import ceil
from typing import Final

from reid_sql.models.classes.disclosure import OK
from reid_sql.models.population.estimate import Estimate

TENTH: Final = 0.1


def sampled(records: int, population: float) -> float:
    """Share of the population in the sample; a tenth that was rounded up to whole records is a tenth.

    >>> sampled(3_257, 32_561), sampled(3_258, 32_561) > TENTH
    (0.1, True)
    """
    return TENTH if records == ceil(population * TENTH) else records / population


def choose(fraction: float, of: Mapping[str, Callable[[], Estimate]]) -> Estimate:
    """Take the estimate that the rule names for this sampled fraction; the status says whose it is.

    >>> found = {"pitman": Estimate(None, None, None, "none"), "zayatz": Estimate(0.25, None, None, "ok")}
    >>> choose(0.05, {name: lambda name=name: found[name] for name in found}).status
    'by zayatz'
    """
    first, safe = "pitman" if fraction <= TENTH else "snb", of["zayatz"]()
    found = of[first]()
    if found.uniqueness is None or (
        first == "snb" and safe.uniqueness is not None and safe.uniqueness < found.uniqueness
    ):
        return _by("zayatz", safe)
    return _by(first, found)


def _by(name: str, found: Estimate) -> Estimate:
    return replace(found, status=f"by {name}" if found.status == OK else f"by {name}; {found.status}")
