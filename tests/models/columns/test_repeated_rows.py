"""Rows that were written several times, by tables of which the copies are known."""

import duckdb
import numpy as np
import polars as pl
import pytest

from reid_sql.sources.equal_rows import find_copies


def people(rows: int, seed: int, *, detailed: bool) -> pl.DataFrame:
    """Draw people of whom some columns depend on others; by few columns, others are equal."""
    rng = np.random.default_rng(seed)
    age = 20 + np.minimum(rng.integers(0, 40, rows), rng.integers(0, 40, rows))
    frame = pl.DataFrame({"age": age, "adult": age > 30, "sex": rng.choice(["m", "f"], rows)})
    if not detailed:
        return frame
    town = (rng.integers(0, 900, rows) * rng.random(rows)).astype(int)
    cost = rng.normal(size=rows).round(2)
    return frame.with_columns(town=pl.Series(town), land=pl.Series(town // 60), cost=cost)


def share(frame: pl.DataFrame) -> float:
    with duckdb.connect() as con:
        con.register("t", frame)
        return find_copies(lambda sql: con.execute(sql).fetchall(), "t", frame.columns)


@pytest.mark.parametrize("seed", [1, 2])
def test_rows_that_are_equal_by_chance_are_no_copies(seed: int) -> None:
    assert share(people(1500, seed, detailed=False)) == 0
    assert share(people(1500, seed, detailed=True)) == 0
    assert share(people(1500, seed, detailed=True).drop("cost", "town")) == 0


@pytest.mark.parametrize("copied", [0.05, 0.4, 0.98])
def test_the_share_of_copies_is_found(copied: float) -> None:
    for seed in (1, 2):
        own = people(1000, seed, detailed=True)
        more = int(1000 * copied)
        found = share(pl.concat([own, own.head(more)]).sample(fraction=1, shuffle=True, seed=3))
        assert found == pytest.approx(more / (1000 + more), rel=0.15)


@pytest.mark.parametrize(("times", "rest"), [(20, 0), (20, 20), (12, 5)])
def test_a_table_that_was_written_many_times_is_found(times: int, rest: int) -> None:
    own = people(400, 5, detailed=True)
    expected = 1 - 400 / (400 * times + rest)
    found = share(pl.concat([own] * times + [own.head(rest)]))
    assert found == pytest.approx(expected, rel=0.01)
