"""Values as places on a scale: numbers by size, dates by day, moments by second; other texts have none."""

from collections.abc import Sequence
from datetime import date, datetime
from fractions import Fraction
from math import gcd
from typing import Final

import numpy as np

from reid_sql.models.copula.marginals import number, numbers
from reid_sql.parameters import Floats

DIGITS: Final = 6  # decimal places that a step may have
LONGEST: Final = 1e9  # a gap; wider ones are no multiples in doubles
FARTHEST: Final = 1e15  # from 0, for a number on a scale
WHOLE: Final = 1e-3  # of a step: what is as good as whole
SHORTEST_DATE: Final = 10  # characters of 2024-02-29


def place(text: str | None) -> float | None:
    """Where the value lies on its scale, None where it lies on none.

    >>> place("1.5"), place("1970-01-03"), place("old"), place(None)
    (1.5, 2.0, None, None)
    """
    found = number(text)
    if found is not None:
        return found if abs(found) <= FARTHEST else None
    if text is None or len(text) < SHORTEST_DATE or text[4:5] != "-":
        return found
    try:
        if len(text) == SHORTEST_DATE:
            return float(date.fromisoformat(text).toordinal() - date(1970, 1, 1).toordinal())
        moment = datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        return None
    return (moment - datetime(1970, 1, 1)).total_seconds()  # noqa: DTZ001  # both are without a zone


def places(values: Sequence[str | None]) -> Floats:
    """Where values lie on their scale, NaN for those that lie on none.

    >>> places(["1.5", None, "old"])
    array([1.5, nan, nan])
    """
    found = numbers(values)
    if found is not None:
        return np.where(np.abs(found) <= FARTHEST, found, np.nan)
    return np.array([np.nan if at is None else at for at in map(place, values)])


def step(places: Floats) -> float:
    """Greatest distance of which all distances of these places are multiples; else the smallest of them.

    The places are in order.

    >>> step(np.array([0.0, 2.0, 5.0])), step(np.array([0.25, 0.5, 1.5]))
    (1.0, 0.25)
    """
    gaps = np.diff(places)
    if gaps.max() > LONGEST:
        return float(gaps.min())
    scaled = np.round(gaps * 10.0**DIGITS)
    if (np.abs(gaps * 10.0**DIGITS - scaled) < WHOLE).all() and scaled.min() >= 1:
        return float(Fraction(gcd(*scaled.astype(np.int64).tolist()), 10**DIGITS))
    return float(gaps.min())


def spelled(position: float, like: Sequence[str | None]) -> str:
    """Text of a place on the scale of values like these.

    >>> spelled(2.0, ["1970-01-01"]), spelled(7.0, ["3"]), spelled(0.5, ["1.5"])
    ('1970-01-03', '7', '0.5')
    """
    texts = [text for text in like if text is not None and number(text) is None and place(text) is not None]
    if not texts:
        return repr(round(position, DIGITS)).removesuffix(".0")
    if len(texts[0]) == SHORTEST_DATE:
        return date.fromordinal(round(position) + date(1970, 1, 1).toordinal()).isoformat()
    return str(np.datetime64(round(position), "s")).replace("T", texts[0][SHORTEST_DATE])
