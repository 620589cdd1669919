"""No attacker written here is right more often than `compare` reports, by more than chance."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import polars as pl
import pytest

import reid_sql.polars as rp
from tests.cells import each_cell
from tests.mechanisms import CATEGORIES, MECHANISMS, PEOPLE, Table, Values, draw_people

UNKNOWN = 1.4  # distance of a number and none, in standard deviations


def right_links(score: Values) -> float:
    """Share of right links of an attacker who takes a record of the greatest score, (own, released)."""
    near = score >= score.max(axis=1, keepdims=True) - 1e-9
    return float((near.diagonal() / near.sum(axis=1)).mean())


def right_matches(equal: Values) -> float:
    """Share of right links of an attacker who takes a record that is equal, and none if there is none."""
    return float((equal.diagonal() / np.maximum(equal.sum(axis=1), 1)).mean())


def middle_ranks(values: Values) -> Values:
    known = ~np.isnan(values)
    ranks = np.full(len(values), np.nan)
    _, place, counts = np.unique(values[known], return_inverse=True, return_counts=True)
    ranks[known] = ((np.cumsum(counts) - counts / 2) / known.sum())[place]
    return ranks


def distances(own: Table, released: Table, power: int, *, ranks: bool = False) -> Values:
    """Sum of distances in standard deviations, to a power; of categories, 2 where they differ."""
    total = np.zeros((PEOPLE, PEOPLE))
    for name, mine in own.items():
        theirs = released[name]
        if name in CATEGORIES:
            total += 2.0 * (mine[:, None] != theirs)
            continue
        a, b = (middle_ranks(mine), middle_ranks(theirs)) if ranks else (mine, theirs)
        apart = np.abs(a[:, None] - b) / np.nanstd(a)
        total += np.where(np.isnan(apart), UNKNOWN, apart) ** power
    return total


def agreement_weights(equal: dict[str, Values]) -> Values:
    """The weights of Fellegi & Sunter of agreement and disagreement in each column."""
    total = np.zeros((PEOPLE, PEOPLE))
    for agrees in equal.values():
        m, u = np.clip([agrees.diagonal().mean(), agrees.mean()], 1e-4, 1 - 1e-4)
        total += np.where(agrees > 0, np.log(m / u), np.log((1 - m) / (1 - u)))
    return total


def fitted_distances(own: Table, released: Table) -> Iterator[tuple[str, float]]:
    """Attackers who know how far numbers moved, together and each."""
    mine, theirs = (np.stack(list(table.values()), axis=1) for table in (own, released))
    moved = theirs - mine
    inverse = np.linalg.pinv(np.cov(moved.T).reshape(len(own), -1))
    apart = theirs[None] - mine[:, None] - moved.mean(0)
    yield "Mahalanobis", right_links(-np.einsum("ijk,kl,ijl->ij", apart, inverse, apart))
    spread = np.abs(moved - np.median(moved, axis=0)).mean(0)
    if spread.all():
        yield (
            "by mean movement",
            right_links(-(np.abs(theirs[None] - mine[:, None]) / spread).sum(2)),
        )


def attackers(own: Table, released: Table) -> Iterator[tuple[str, float]]:
    """Simple attackers by brute force over all pairs, and how often each is right."""
    equal = {name: (own[name][:, None] == released[name]).astype(float) for name in own}
    for count in range(1, len(own) + 1):
        for names in combinations(own, count):
            yield f"equal {names}", right_matches(np.prod([equal[name] for name in names], axis=0))
    agreements = np.sum(list(equal.values()), axis=0)
    weights = agreement_weights(equal)
    near, near_ranks = distances(own, released, 2), distances(own, released, 2, ranks=True)
    yield "agreements", right_links(agreements)
    yield "Fellegi & Sunter", right_links(weights)
    yield "nearest", right_links(-near)
    yield "nearest by city blocks", right_links(-distances(own, released, 1))
    yield "nearest ranks", right_links(-near_ranks)
    yield "nearest ranks by city blocks", right_links(-distances(own, released, 1, ranks=True))
    yield "agreements, then nearest", right_links(100 * agreements - near)
    yield "agreements, then nearest ranks", right_links(100 * agreements - near_ranks)
    yield "Fellegi & Sunter, then nearest", right_links(weights - near / 1000)
    numbers = [name for name in own if name not in CATEGORIES]
    if all((table[name] > 0).all() for table in (own, released) for name in numbers):
        logs = [
            {name: np.log(values) if name in numbers else values for name, values in table.items()}
            for table in (own, released)
        ]
        yield "nearest logarithms", right_links(-distances(logs[0], logs[1], 2))
    if len(numbers) == len(own) and not any(np.isnan(values).any() for values in released.values()):
        yield from fitted_distances(own, released)


def frame(table: Table) -> pl.DataFrame:
    columns = {name: pl.Series(values).fill_nan(None) for name, values in table.items()}
    return pl.DataFrame({"id": range(PEOPLE), **columns})


@each_cell("name", MECHANISMS)
@pytest.mark.first(cells=12)
def test_no_simple_attacker_is_right_more_often_than_is_reported(name: str) -> None:
    columns, disturb = MECHANISMS[name]
    people = draw_people(len(name))
    own = {column: people[column] for column in columns}
    released = {**own, **disturb(people, np.random.default_rng(7))}
    rows = rp.compare(frame(own), frame(released), list(columns), key="id").collect().to_dicts()
    found = next(row for row in rows if row["measure"] == "correct_links")
    reported = found["released"]
    if (
        reported is None
    ):  # the pairs may be of strangers: nobody is right about them by more than chance
        assert found["status"].startswith("not_comparable: people of one key")
        assert name == "swap 100 %"
        reported = found["original"] * 0
    # Less than half the 95 % interval of a share of so many people, which is 0.04 of a half.
    chance = min(0.02, 1.96 * np.sqrt(max(reported * (1 - reported), 1 / PEOPLE) / PEOPLE))
    beaten = {who: share for who, share in attackers(own, released) if share > reported + chance}
    assert not beaten, (reported, beaten)
