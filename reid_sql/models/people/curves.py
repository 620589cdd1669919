"""The shares of people that are asked for, each as a chance of one person given the cell's probability and the shape."""

from collections.abc import Callable, Mapping
from typing import Final

from reid_sql.domains import Floats
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.people import residual

Curve = Callable[[Floats, Floats, float, int], Floats]  # q, a, people, k


def _uniqueness(q: Floats, a: Floats, people: float, k: int) -> Floats:  # noqa: ARG001  # of classes of 1
    return residual.uniqueness(q, a, people)


def _correctness(q: Floats, a: Floats, people: float, k: int) -> Floats:  # noqa: ARG001  # of all classes
    return residual.correctness(q, a, people)


CURVES: Final[Mapping[str, Curve]] = {
    "uniqueness": _uniqueness,
    "correctness": _correctness,
    "below_k": residual.below,
}


def held(histogram: Histogram, k: int) -> dict[str, int]:
    """How many records the sample itself has alone, how many classes, and how many records in classes of fewer than k."""
    return {
        "uniqueness": int(histogram.records[histogram.class_size == 1].sum()),
        "correctness": int(histogram.classes.sum()),
        "below_k": int(histogram.records[histogram.class_size < k].sum()),
    }
