"""Intervals contain the truth of tables with heaps, identical rows and keys, or a status says why not."""

from collections.abc import Iterator

import numpy as np
import pytest

from benchmarks.accuracy import peculiar
from benchmarks.accuracy.generated import coded
from benchmarks.accuracy.people_cases import count_truth
from reid_sql.models.population_risk.answer import PopulationRisk, answer

KEYS = ("house_numbers", "members", "tickets", "cases_of_courts", "beds", "numbers_of_offices")
OTHERS = tuple(kind for kind in peculiar.KINDS if kind not in KEYS)
PEOPLE = 20_000


def answers(
    kinds: tuple[str, ...], records: int, seed: int
) -> Iterator[tuple[PopulationRisk, float]]:
    for kind in kinds:
        rng = np.random.default_rng([seed, *kind.encode()])
        table = coded(peculiar.KINDS[kind](rng, PEOPLE))
        people = len(table.codes)
        _, evidence = table.sampled(range(len(table.columns)), rng.permutation(people)[:records])
        yield answer(evidence, [people])[0], count_truth(table.codes)["uniqueness"]


@pytest.mark.parametrize("records", [400, 1500])
def test_heaps_and_identical_rows(records: int) -> None:
    """Of 20 intervals, one misses on average; 4 or more do with probability 2 %."""
    found = [one for seed in (21, 22) for one in answers(OTHERS, records, seed)]
    assert len(found) == 2 * len(OTHERS)
    missed = [not row.uniqueness_low <= truth <= row.uniqueness_high for row, truth in found]
    above = [truth > row.uniqueness_high for row, truth in found]
    assert sum(missed) <= 3
    assert sum(above) <= 2


@pytest.mark.parametrize("records", [200, 400, 1500])
def test_keys_are_no_estimate_without_a_doubt(records: int) -> None:
    for row, truth in answers(KEYS, records, 23):
        assert truth == 1
        assert row.uniqueness_high == 1 or row.status != "ok"
