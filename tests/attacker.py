"""An attacker who goes through every set of groups and every pair of records by hand."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.population import pitman

Record = Mapping[str, Any]


def attack(
    records: Sequence[Record],
    given: Mapping[str, Any],
    nulls: str = "value",
    people: Sequence[Record] | None = None,
) -> list[tuple[float, float, float, float]]:
    """Prosecutor, journalist, marketer and overall risk of each record, from the sums as they are defined.

    With `people`, a population, a record that is alone is held against all of them.
    """
    found = [[0.0] * 4 for _ in records]
    for known in product((False, True), repeat=len(given["groups"])):
        groups = [group for group, learnt in zip(given["groups"], known, strict=True) if learnt]
        columns = [column for group in groups for column in group["columns"]]
        chance = _unique_in_population(
            [tuple(record[column] for column in columns) for record in records], given["population"]
        )
        for place, subject in enumerate(records):
            probability = math.prod(
                _probability(group, subject) if learnt else 1 - _probability(group, subject)
                for group, learnt in zip(given["groups"], known, strict=True)
            )
            matches = _count(subject, records, columns, given, nulls)
            alone = matches == 1
            if people is not None:
                chance = float(alone and _count(subject, people, columns, given, nulls) <= 1)
            routes = (
                given.get("presence_disclosed", 1) * given.get("presence_discovered", 1) * alone,
                given.get("uniqueness_confirmed", 1) * chance * alone,
                given.get("link_confirmed", 1) / matches,
            )
            values = (
                alone,
                alone * chance,
                1 / matches,
                1 - math.prod(1 - route for route in routes),
            )
            for measure, value in enumerate(values):
                found[place][measure] += probability * value
    return [(row[0], row[1], row[2], row[3]) for row in found]


def _count(
    subject: Record,
    others: Sequence[Record],
    columns: Sequence[str],
    given: Mapping[str, Any],
    nulls: str,
) -> int:
    return sum(
        all(_matches(subject[c], other[c], c, given, nulls) for c in columns)
        for other in others
        if nulls != "wildcard" or _blank(subject, given) or not _blank(other, given)
    )


def _blank(record: Record, given: Mapping[str, Any]) -> bool:
    """Whether nothing of the record can be known; such a record is nobody else's match."""
    return all(record[column] is None for group in given["groups"] for column in group["columns"])


def _probability(group: Mapping[str, Any], subject: Record) -> float:
    if "by" not in group:
        return float(group["probability"])
    return float(group["probabilities"].get(subject[group["by"]], group.get("otherwise")))


def _matches(subject: Any, other: Any, column: str, given: Mapping[str, Any], nulls: str) -> bool:
    if nulls == "wildcard" and (subject is None or other is None):
        return True
    hierarchy = given.get("hierarchies", {}).get(column, {})
    return subject == other or (
        subject is not None and other is not None and _includes(other, subject, hierarchy)
    )


def _includes(other: str, subject: str, hierarchy: Mapping[str, Any]) -> bool:
    if other in hierarchy.get("includes_all", []):
        return True
    return any(
        each == other or _includes(other, each, hierarchy)
        for each in hierarchy.get("broader", {}).get(subject, [])
    )


def _unique_in_population(values: Sequence[tuple[Any, ...]], population: float) -> float:
    """u(S) over classes of equal values."""
    sizes = Counter(Counter(values).values())
    if not sizes[1]:
        return 0.0
    if population == len(values):
        return 1.0
    size = np.array(sorted(size for size in sizes if sizes[size]))
    classes = np.array([sizes[each] for each in size])
    estimate = pitman.pitman_uniqueness(
        Histogram(size, classes, size * classes), population
    ).uniqueness
    return 1.0 if estimate is None else min(1.0, estimate * len(values) / sizes[1])
