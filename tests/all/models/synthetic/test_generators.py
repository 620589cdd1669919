"""Tables of a real generator: it draws columns by themselves and reveals nobody, until copies are put in."""

import polars as pl

from benchmarks.accuracy.audit_generators import audit, divide_people, make_by_metasyn

JUDGED = ("strongest_inference", "copied_records", "strongest_membership")


def test_a_generator_of_single_columns_reveals_nobody_and_copies_are_found() -> None:
    used, holdout = divide_people()
    made = make_by_metasyn(used, 0)
    attacks = audit(used, made, holdout).filter(pl.col("attack").is_in(JUDGED))
    assert attacks.filter(pl.col("low") > 0).is_empty()
    leaky = pl.concat([made[450:], used[:450]])
    found = audit(used, leaky, holdout).filter(
        (pl.col("attack").is_in(JUDGED)) & (pl.col("low") > 0)
    )
    assert set(found["attack"]) == set(JUDGED)
    assert {"share", "precision"} <= set(
        found.filter(pl.col("attack") == "strongest_inference")["figure"]
    )
