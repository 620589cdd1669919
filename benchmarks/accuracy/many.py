"""Many populations from the Pitman–Yor urn at once."""

import numpy as np

from reid_sql.parameters import Integers


def populations(
    discount: float, concentration: float, people: int, runs: int, seed: int
) -> Integers:
    """Seat the people of `runs` populations: the class of each person, (runs, people).

    Of the weight α + n, a class of size s has s − d: s − 1 for those who joined it, whose class a newcomer
    takes by picking one of them, and 1 − d for the one who opened it, the same for all classes. What is left,
    α + K d, opens a class.
    """
    chance = np.random.default_rng(seed).random((people, runs))
    labels, joiners = (
        np.zeros((people, runs), dtype=np.int64),
        np.zeros((people, runs), dtype=np.int64),
    )
    classes, run = np.ones(runs, dtype=np.int64), np.arange(runs)  # the first person opened class 0
    for person in range(1, people):
        joined = person - classes
        place = chance[person] * (concentration + person)
        opened = np.minimum(np.maximum(place - joined, 0) / (1 - discount), classes).astype(
            np.int64
        )
        label = np.where(
            place < joined, joiners[np.minimum(place.astype(np.int64), person - 1), run], opened
        )
        labels[person] = label
        # overwritten by the next who joins, where this person opened a class
        joiners[joined, run] = label
        classes += label == classes
    return labels.T
