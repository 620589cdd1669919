"""What a person finds who compares a release with its original record by record, by loops alone."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import Any

Row = tuple[Any, ...]
People = Mapping[Any, Row]  # the values of each person, by the key


def exactly_matched(
    original: People, released: People
) -> dict[tuple[int, ...], dict[str, Fraction]]:
    """The share of right links to records with the same values, by each set of columns."""
    both = [key for key in original if key in released]
    columns = range(len(next(iter(original.values()))))
    figures = {}
    for subset in (each for n in columns for each in combinations(columns, n + 1)):
        sides = [
            {key: tuple(row[j] for j in subset) for key, row in people.items()}
            for people in (original, released)
        ]
        alike = Counter(sides[1].values())
        right = [
            Fraction(1, alike[sides[0][key]]) if sides[0][key] == sides[1][key] else Fraction(0)
            for key in both
        ]
        certain = Fraction(sum(each == 1 for each in right), len(both))
        figures[subset] = {
            "correct_links": sum(right, Fraction(0)) / len(both),
            "certain_links": certain,
            "highest_link": max(right),
        }
    return figures


def linked(original: People, released: People) -> dict[str, Fraction]:
    """The share of right links of all who stand in both, each to the likeliest released records."""
    both = [key for key in original if key in released]
    columns = range(len(next(iter(original.values()))))
    counts = [Counter(original[key][j] for key in both) for j in columns]
    became = [Counter((original[key][j], released[key][j]) for key in both) for j in columns]
    sizes = Counter(released.values())
    correct, certain, candidates, highest = Fraction(0), Fraction(0), Fraction(0), Fraction(0)
    for key in both:
        own = original[key]
        score = {
            other: prod(Fraction(became[j][own[j], row[j]], counts[j][own[j]]) for j in columns)
            / sizes[row]
            for other, row in released.items()
        }
        near = [other for other, value in score.items() if value == max(score.values())]
        right = Fraction(key in near, len(near))
        correct, certain = correct + right, certain + (right == 1)
        candidates += Fraction(1, sum(value > 0 for value in score.values()))
        highest = max(highest, right)
    return {
        "correct_links": correct / len(both),
        "certain_links": certain / len(both),
        "highest_link": highest,
        "correct_candidates": candidates / len(both),
    }


def classes(people: People) -> set[frozenset[Any]]:
    """Who is alike."""
    members: dict[Row, set[Any]] = {}
    for key, row in people.items():
        members.setdefault(row, set()).add(key)
    return {frozenset(keys) for keys in members.values()}


def changes(original: People, released: People) -> dict[str, int]:
    """How much was changed, where values are the same if they are equal and NULL alone tells nothing."""
    cells = [
        (key, mine, theirs)
        for key in original
        if key in released
        for mine, theirs in zip(original[key], released[key], strict=True)
    ]
    return {
        "classes_changed": len(classes(original) - classes(released)),
        "records_removed": len(original.keys() - released.keys()),
        "records_added": len(released.keys() - original.keys()),
        "records_changed": len({key for key, mine, theirs in cells if mine != theirs}),
        "cells_changed": sum(mine != theirs for _, mine, theirs in cells),
        "cells_suppressed": sum(mine != theirs and theirs is None for _, mine, theirs in cells),
    }


def entropy(values: Sequence[Any]) -> float:
    """The entropy of the values in bits."""
    return -math.fsum(
        n / len(values) * math.log2(n / len(values)) for n in Counter(values).values()
    )


def loss(original: People, released: People, column: int) -> float:
    """H(original | released) / H(original) as H of both less H of the released one; removed is a value."""
    mine = [row[column] for row in original.values()]
    theirs = [released[key][column] if key in released else "removed" for key in original]
    whole = entropy(mine)
    return (
        (entropy(list(zip(mine, theirs, strict=True))) - entropy(theirs)) / whole if whole else 0.0
    )


def variation(original: People, released: People, column: int) -> float:
    """Half the sum of differences between the shares of values."""
    sides = [Counter(row[column] for row in people.values()) for people in (original, released)]
    shares = [{value: n / side.total() for value, n in side.items()} for side in sides]
    return sum(abs(shares[0].get(v, 0) - shares[1].get(v, 0)) for v in {*shares[0], *shares[1]}) / 2
