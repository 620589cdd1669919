"""Copied records: intervals against exact ones, the share of copies that was put in, and its coverage."""

import random

import numpy as np
import pytest
from scipy import stats

from reid_sql.models.synthetic.attacks import AuditedAttack
from reid_sql.models.synthetic.audited_tables import AuditedTables
from reid_sql.models.synthetic.membership import CopiedRecords
from tests.audited import Row, encode

ERROR = 0.025


def measure_copies(tables: AuditedTables) -> AuditedAttack:
    return CopiedRecords(tables.in_order(), np.random.default_rng(0)).figure(ERROR)


def persons(rng: random.Random, records: int, values: int) -> list[Row]:
    return [
        (rng.randrange(values), rng.randrange(9), rng.randrange(30), "x") for _ in range(records)
    ]


@pytest.mark.parametrize("hits", [0, 1, 7, 26])
def test_where_all_weigh_the_same_the_ends_are_those_of_exact_counts(hits: int) -> None:
    """Of 40 people of equally rare records: the lower end is that of a sign test.

    The upper one is that of Garwood 1936 by chi-square quantiles, joined as by Zou & Donner 2008.
    """
    original = [(f"o{n}",) for n in range(40)]
    holdout = [(f"h{n}",) for n in range(40)]
    synthetic = original[:hits] + [(f"s{n}",) for n in range(40 - hits)]
    row = measure_copies(encode(original, synthetic, holdout))
    assert (row.original, row.holdout) == pytest.approx((hits / 40, 0))
    assert row.low == pytest.approx((hits - (2 * stats.binom.ppf(0.975, hits, 0.5) - hits)) / 40)
    above = stats.chi2.ppf(0.975, 2 * hits + 2) / 2
    assert row.high == pytest.approx(min(1, hits / 40 + (min(40, above) - hits) / 40))


def test_a_rare_record_weighs_more_than_a_common_one() -> None:
    """One person in 41 has a rare record; their copy is most of what can be learned."""
    common: list[Row] = [("a", 1, 1, "x")] * 40
    rare: Row = ("b", 2, 2, "y")
    others: list[Row] = [("a", 1, 1, "x")] * 40 + [("c", 3, 3, "y")]
    row = measure_copies(encode([*common, rare], [*common, rare], others))
    assert row.original == 1
    assert row.holdout is not None
    assert row.holdout < 0.3


@pytest.mark.parametrize("blank", [0, 1, 2])
def test_the_interval_contains_the_excess_where_a_table_is_of_another_kind(blank: int) -> None:
    """All people of one table have the same record, which weighs little."""
    rng = random.Random(5)  # noqa: S311 - no secret
    tables = [persons(rng, 300, 20) for _ in range(3)]
    tables[blank] = [(None, None, None, "x")] * 300
    row = measure_copies(encode(*tables))  # type: ignore[arg-type]
    assert row.low is not None
    assert row.excess is not None
    assert row.high is not None
    assert -1 <= row.low <= row.excess <= row.high <= 1
