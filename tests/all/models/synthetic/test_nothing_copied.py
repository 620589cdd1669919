"""Intervals of singling out and linkability where nothing was copied."""

import random

import numpy as np

from reid_sql.models.synthetic.attacks import AuditedAttack, attack_by_nearest_records
from reid_sql.models.synthetic.audit import single_out
from reid_sql.models.synthetic.audited_tables import draw_people
from tests.audited import Row, encode


def held(figure: AuditedAttack) -> bool:
    return figure.low is not None and figure.high is not None and figure.low <= 0 <= figure.high


def test_intervals_contain_0_where_nothing_was_copied() -> None:
    """Three samples of one population, 60 times: of 95 % intervals, fewer than 52 hold once in 100 runs."""
    rng, singled, linked = random.Random(5), 0, 0  # noqa: S311 - no secret
    for seed in range(60):

        def draw() -> list[Row]:
            return [
                (rng.choice("abcd"), rng.randrange(30), rng.randrange(9), rng.choice("xy")) for _ in range(60)
            ]

        tables = encode(draw(), draw(), draw()).in_order()
        singled += held(list(single_out(tables, np.random.default_rng(seed)))[1])
        some = draw_people(tables, 60, np.random.default_rng(seed))
        linked += held(
            next(iter(attack_by_nearest_records(tables, some, np.random.default_rng(0), (0.0, 1.0))))
        )
    assert singled >= 52
    assert linked >= 52
