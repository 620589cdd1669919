"""What going through a table class by class finds of a sensitive column: the definitions, word for word."""

import math
from collections import Counter
from fractions import Fraction
from itertools import accumulate
from typing import Any

import polars as pl
import pytest
import scipy.optimize

from tests.tables import Row, by_duckdb, drop_nulls, key, keys, on_polars

MEASURES: dict[str, tuple[str, ...]] = {
    "l_diversity": ("distinct", "entropy", "recursive"),
    "t_closeness": ("equal", "ordered", "numeric"),
    "beta_likeness": ("basic", "enhanced"),
    "delta_disclosure": ("present", "all"),
    "alpha_k_anonymity": ("general",),
}
THRESHOLDS = {
    "l_diversity": "l",
    "t_closeness": "t",
    "beta_likeness": "threshold",
    "delta_disclosure": "threshold",
    "alpha_k_anonymity": "threshold",
}
OUTPUTS = ("alpha_k_anonymity", "beta_likeness", "delta_disclosure")
SIX = ["age", "education", "occupation", "relationship", "sex", "native_country"]
Shares = dict[Any, Fraction]


def call_of(measure: str) -> tuple[str, dict[str, Any]]:
    """The function that answers a measure, and the argument by which it does."""
    return ("attribute_disclosure", {"measure": measure}) if measure in OUTPUTS else (measure, {})


def both(
    name: str, frame: pl.DataFrame, qi: list[str], sensitive: str, **options: Any
) -> list[list[dict[str, Any]]]:
    """Ask both engines."""
    name, preset = call_of(name)
    options = preset | options
    extras = "".join(f", {option} := {value!r}" for option, value in options.items())
    answer = by_duckdb(f"FROM {name}(t, {qi!r}, '{sensitive}'{extras})", t=frame)
    return [answer, on_polars(answer, name, frame, qi, sensitive, **options)]


def hold(frame: pl.DataFrame, measure: str, variant: str, nulls: str, threshold: float) -> None:
    """Hold an engine's summary and listing to the definition; the sensitive column is the last one."""
    *qi, sensitive = frame.columns
    rows = drop_nulls(keys(frame), nulls)
    if not rows or not qi:
        return
    values, sizes, offending = found(rows, measure, variant, threshold)
    expected = summary(rows, measure, variant, threshold) | {
        "records_dropped": frame.height - len(rows),
        "nulls": nulls,
    }
    options = asked(measure, variant, threshold) | {"nulls": nulls}
    for answer in both(measure, frame, qi, sensitive, **options):
        assert [{name: row[name] for name in expected} for row in answer] == [expected]
        assert (answer[0]["status"] == "ok") == math.isfinite(answer[0]["value"])
    listing = {"measure": measure, "threshold": threshold, "nulls": nulls}
    listing |= {} if variant == "general" else {"variant": variant}
    for answer in both("disclosing_classes", frame, qi, sensitive, **listing):
        listed = {
            tuple(key(row[name]) for name in qi): (row["class_size"], row["value"])
            for row in answer
        }
        assert listed == {
            key: (sizes[key], pytest.approx(values[key], rel=1e-9, abs=1e-9)) for key in offending
        }


def asked(measure: str, variant: str, threshold: float) -> dict[str, Any]:
    """The threshold and the variant by the names that the function has for them."""
    return {THRESHOLDS[measure]: threshold} | ({} if variant == "general" else {"variant": variant})


def found(
    rows: list[Row], measure: str, variant: str, threshold: float
) -> tuple[dict[Row, float], dict[Row, int], set[Row]]:
    """The value and the size of each class, and those that offend."""
    values = measured(rows, measure, variant)
    sizes = {key: len(members) for key, members in classes(rows).items()}
    beyond = {
        key
        for key, value in values.items()
        if (value < threshold - 1e-9 if measure == "l_diversity" else value > threshold + 1e-9)
    }
    small = {key for key, size in sizes.items() if measure == "alpha_k_anonymity" and size < 2}
    return values, sizes, beyond | small


def summary(rows: list[Row], measure: str, variant: str, threshold: float) -> dict[str, Any]:
    """What is said of a table of these rows."""
    values, sizes, offending = found(rows, measure, variant, threshold)
    at_fault = sum(sizes[key] for key in offending)
    worst = (min if measure == "l_diversity" else max)(values.values())
    return {
        "variant": variant,
        "value": pytest.approx(worst, rel=1e-9, abs=1e-9),
        "records": len(rows),
        "classes": len(values),
        "k": min(sizes.values()),
        "offending_classes": len(offending),
        "offending_records": at_fault,
        "offending_share": pytest.approx(at_fault / len(rows)),
        "threshold": threshold,
    }


def classes(rows: list[Row]) -> dict[Row, list[Any]]:
    """The sensitive values, which stand last, of each class."""
    found: dict[Row, list[Any]] = {}
    for row in rows:
        found.setdefault(row[:-1], []).append(row[-1])
    return found


def shares(values: list[Any]) -> Shares:
    return {value: Fraction(count, len(values)) for value, count in Counter(values).items()}


def measured(rows: list[Row], measure: str, variant: str, c: float = 3) -> dict[Row, float]:
    """The value of the measure of each class."""
    table = [row[-1] for row in rows]
    return {
        key: value_of(members, table, measure, variant, c) for key, members in classes(rows).items()
    }


def value_of(members: list[Any], table: list[Any], measure: str, variant: str, c: float) -> float:
    p, q = shares(members), shares(table)
    if measure == "l_diversity":
        return diversity(members, p, variant, c)
    if measure == "t_closeness":
        return distance(p, q, variant)
    if measure == "alpha_k_anonymity":
        return float(max(p.values()))
    if measure == "beta_likeness":
        gains = {value: (p.get(value, Fraction(0)) - share) / share for value, share in q.items()}
        allowed = all(gain <= -math.log(q[value]) for value, gain in gains.items())
        return math.inf if variant == "enhanced" and not allowed else float(max(gains.values()))
    counts = p if variant == "present" else dict.fromkeys(q)
    return max(abs(math.log(p[value] / q[value])) if value in p else math.inf for value in counts)


def diversity(members: list[Any], p: Shares, variant: str, c: float) -> float:
    if variant == "distinct":
        return len(p)
    if variant == "entropy":
        return math.exp(-sum(float(share) * math.log(share) for share in p.values()))
    counts = sorted(Counter(members).values(), reverse=True)
    return max(
        [
            0,
            *(
                place
                for place in range(1, len(counts) + 1)
                if counts[0] < c * sum(counts[place - 1 :])
            ),
        ]
    )


def distance(p: Shares, q: Shares, variant: str) -> float:
    """The earth mover's distance, by moving the earth: a linear programme over what goes where.

    From each value to each.
    """
    values = sorted(q) if variant != "equal" else list(q)
    if len(values) == 1:
        return 0.0
    places = values if variant == "numeric" else range(len(values))
    span = float(places[-1] - places[0])
    costs = [0.0 if i == j else 1.0 if variant == "equal" else abs(float(places[i] - places[j])) / span
             for i in range(len(values)) for j in range(len(values))]  # fmt: skip
    leaving = [
        [float(cell // len(values) == i) for cell in range(len(costs))] for i in range(len(values))
    ]
    coming = [
        [float(cell % len(values) == j) for cell in range(len(costs))] for j in range(len(values))
    ]
    amounts = [float(p.get(value, 0)) for value in values] + [float(q[value]) for value in values]
    return float(scipy.optimize.linprog(costs, A_eq=leaving + coming, b_eq=amounts).fun)


def area_between(p: Shares, q: Shares) -> Fraction:
    """The distance along an order of evenly spaced values, as Li et al. write it for numbers.

    By running sums.
    """
    differences = [p.get(value, Fraction(0)) - q[value] for value in sorted(q)]
    return sum((abs(total) for total in accumulate(differences)), Fraction(0)) / max(
        1, len(differences) - 1
    )
