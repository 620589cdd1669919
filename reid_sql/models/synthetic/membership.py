"""Membership: scores by which an attacker tells people who were used from people who were not.

Each score is computed of a person, of the synthetic table and of all people together, used or not. If the
synthetic table says nothing about who was used, then any division of the people into as many used and unused
ones is as likely as the true one: a permutation of these labels shows what each figure is by chance, and what
the greatest of all of them is. Sources: Hilprecht, Härterich & Bernau 2019 (local neighbourhood); van
Breugel, Sun, Qian & van der Schaar 2023 (DOMIAS, the density ratio); Carlini et al. 2022 (true positives at
few false ones); Westfall & Young 1993 (the greatest of several figures).
"""

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from reid_sql.interruption import checkpoint
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.synthetic.attack_figures import STATUS_NO_HOLDOUT, AuditedAttack, RocCurve, unavailable
from reid_sql.models.synthetic.audited_tables import AuditedTables, People, measure_distances
from reid_sql.parameters import Floats, Integers

STRONGEST: Final = "strongest_membership"
ADVANTAGE: Final = "excess"
STATUS_NO_SCORE: Final = "no_score: no attack distinguishes any two people"
NEIGHBOURS: Final = 5  # other people within the radius of the density ratio
PERMUTATIONS: Final = 1000
PERMUTED_AT_ONCE: Final = 2_000_000  # labels
CONFIDENCE: Final = 0.975  # one-sided, so that the interval holds 95 %


def score_members(tables: AuditedTables, rows: Integers, shares: tuple[float, float]) -> Mapping[str, Floats]:
    """Scores of some distinct records, by the name of the attack; a greater one speaks for a member."""
    middle = (shares[0] + shares[1]) / 2
    return {
        "equal_record": (tables.synthetics[rows] > 0).astype(np.float64),
        "rare_equal_record": _score_rare_presence(tables)[rows],
        "equal_but_one_column": _score_presence_but_one(tables)[rows],
        **_score_class(tables, rows),
        **_score_neighbours(tables, rows, (shares[0], middle), (middle, shares[1])),
    }


def _score_rare_presence(tables: AuditedTables) -> Floats:
    """How surprising it is that the synthetic table has the record: -ln(1 - e^-λ); 0 where it has not.

    λ is the count that n records of independent columns with the same values would have: a Poisson count
    is above 0 with probability 1 - e^-λ. A common combination is there by chance, a rare one is a copy.
    """
    synthetics = tables.synthetics
    whole = synthetics.sum()
    expected = np.full(len(synthetics), np.log(whole))
    for codes in tables.codes:
        counts = np.bincount(codes, synthetics)[codes]
        expected += np.log(np.maximum(counts, 1) / whole)
    return np.where(synthetics > 0, -np.log(-np.expm1(-np.exp(expected))), 0.0)


def _score_presence_but_one(tables: AuditedTables) -> Floats:
    """Of how many columns one can be left out such that the synthetic table has the rest of the record."""
    columns = len(tables.codes)
    score = np.zeros(len(tables.synthetics))
    for left_out in range(columns if columns > 1 else 0):
        checkpoint()
        classes = tables.classes_by([at for at in range(columns) if at != left_out])
        score += np.bincount(classes, tables.synthetics)[classes] > 0
    return score


def _score_class(tables: AuditedTables, rows: Integers) -> dict[str, Floats]:
    """The share of the record's class by the quasi-identifiers that has its sensitive values too."""
    known = tables.places(sensitive=False)
    if len(known) == len(tables.names):
        return {}
    classes = tables.classes_by(known)
    sizes = np.bincount(classes, tables.synthetics)[classes]
    return {"class_conditional": (tables.synthetics / np.maximum(sizes, 1))[rows]}


def _score_neighbours(
    tables: AuditedTables, rows: Integers, before: tuple[float, float], after: tuple[float, float]
) -> dict[str, Floats]:
    """Scores by distances to synthetic records, compared with those to other people.

    The density of synthetic records near a person is the number within the distance of the person's fifth
    other neighbour; the density of people there is the same for everybody, 5, so that this number is the
    ratio of both, as in DOMIAS. The local neighbourhood is a distance that is the same for everybody: the
    median of the distances to the next person.
    """
    positions, people = tables.positions, (tables.originals + tables.controls)[rows]
    own = positions[:, rows]
    next_person, radius = np.zeros(len(rows)), np.zeros(len(rows))
    reach = min(NEIGHBOURS, len(rows) - 1)
    for block, distances in measure_distances(own, own, before):
        total = distances.sum(axis=0, dtype=distances.dtype)
        nearest = np.partition(total, sorted({min(1, reach), reach}), axis=1)  # the first is the person's own
        next_person[block], radius[block] = nearest[:, min(1, reach)], nearest[:, reach]
    next_person[people > 1] = 0
    is_synthetic = tables.synthetics > 0
    records = tables.synthetics[is_synthetic].astype(np.float64)
    common_radius = np.median(next_person)
    nearest_record, within, local = (np.zeros(len(rows)) for _ in range(3))
    for block, distances in measure_distances(own, positions[:, is_synthetic], after):
        total = distances.sum(axis=0, dtype=distances.dtype)
        nearest_record[block] = total.min(axis=1)
        within[block] = (total <= radius[block][:, None]) @ records
        local[block] = (total <= common_radius) @ records
    return {
        "nearest_record": -nearest_record,
        "nearest_of_rare_person": (next_person + 1) / (nearest_record + 1),
        "density_ratio": within,
        "local_neighbourhood": local,
    }


def attack_membership(
    tables: AuditedTables, people: People, rng: np.random.Generator, shares: tuple[float, float]
) -> Iterator[AuditedAttack]:
    """Measure each attack by the area under its curve and by true positives at few false ones.

    Last comes the strongest figure, with an interval that allows for its choice.
    """
    if not tables.is_judged:
        yield unavailable(STRONGEST, ADVANTAGE, STATUS_NO_HOLDOUT)
        return
    rows, place_of_person = np.unique(people.rows, return_inverse=True)
    middle = (shares[0] + shares[1]) / 2
    scores = score_members(tables, rows, (shares[0], middle))
    curves = {name: RocCurve(each[place_of_person]) for name, each in scores.items()}
    figures = [each for name, curve in curves.items() for each in curve.measure(name, people.is_original)]
    yield from figures
    yield _strongest(figures, _permute(curves, people, rng, (middle, shares[1])))


def _permute(
    curves: Mapping[str, RocCurve], people: People, rng: np.random.Generator, shares: tuple[float, float]
) -> Floats:
    """Excesses of all figures under permuted labels, (permutations, figures)."""
    size = max(1, min(PERMUTATIONS, PERMUTED_AT_ONCE // len(people.rows)))
    drawn = []
    for start in range(0, PERMUTATIONS, size):
        checkpoint(shares[0] + (shares[1] - shares[0]) * start / PERMUTATIONS)
        count = min(size, PERMUTATIONS - start)
        labels = rng.permuted(np.broadcast_to(people.is_original, (count, len(people.rows))), axis=1)
        drawn.append(np.concatenate([curve.excesses(labels) for curve in curves.values()], axis=1))
    return np.concatenate(drawn)


def _strongest(figures: list[AuditedAttack], permuted: Floats) -> AuditedAttack:
    """The figure that is the most standard deviations above chance, and how far the greatest is by chance.

    For 95 of 100 tables that say nothing about who was used, no figure is as many deviations above or below
    its mean as the bound: so many are taken off and added, as if this figure had been chosen beforehand.
    """
    mean, deviation = permuted.mean(axis=0), permuted.std(axis=0)
    is_known = deviation > 0
    if not is_known.any():
        return unavailable(STRONGEST, ADVANTAGE, STATUS_NO_SCORE)
    excess = np.array([figure.excess for figure in figures])
    standard = np.where(is_known, (excess - mean) / np.where(is_known, deviation, 1), -np.inf)
    chance = (permuted[:, is_known] - mean[is_known]) / deviation[is_known]
    bound = float(np.quantile(chance.max(axis=1), CONFIDENCE))
    best = int(standard.argmax())
    half, chosen = bound * float(deviation[best]), figures[best]
    middle = float(excess[best] - mean[best])
    return AuditedAttack(
        STRONGEST,
        None,
        f"{chosen.attack}: {chosen.figure}",
        chosen.original,
        chosen.holdout,
        None,
        chosen.excess,
        max(-1.0, middle - half),
        min(1.0, middle + half),
        OK,
    )
