"""What the first tier leaves of tests/release/test_prepare.py."""

from itertools import product
from pathlib import Path

import polars as pl
import pytest

from reid_sql.release.preparation import run
from tests.conftest import DATA
from tests.release.brute import K, class_sizes, made_by, policy, written
from tests.release.test_prepare import lost


@pytest.mark.real_data
def test_adult_with_eight_quasi_identifiers_is_solved_in_under_a_minute(tmp_path: Path) -> None:
    qi = ["age", "workclass", "education", "marital_status", "occupation", "race", "sex", "native_country"]
    file = written(tmp_path, policy(str(DATA / "adult.parquet"), qi, K.format(5)))
    made = run(file)
    assert made.passed
    assert made.tables[0].result.optimal
    assert made.tables[0].seconds < 60
    released = made_by(made.sql, "adult_released")
    assert class_sizes(released, qi)[0] >= 5
    assert len(released) >= 0.98 * 32561


@pytest.mark.real_data
@pytest.mark.parametrize(("k", "suppression"), [(5, 0.01), (50, 0.0)])
def test_adult_on_a_small_lattice_loses_what_an_exhaustive_search_does(
    tmp_path: Path, k: int, suppression: float
) -> None:
    qi = ["age", "education", "race", "marital_status"]
    hierarchies = """
        hierarchies.age = [{ bands = 10 }, { bands = 20 }]
        hierarchies.education = [{ rare = 1000 }]
        hierarchies.race = [{ rare = 1000 }]
        hierarchies.marital_status = [{ rare = 2000 }]
    """
    prepare = f"suppression = {suppression}\n{hierarchies}"
    made = run(written(tmp_path, policy(str(DATA / "adult.parquet"), qi, K.format(k), prepare=prepare)))
    frame = pl.read_parquet(DATA / "adult.parquet").select(qi)
    forms = {
        "age": [pl.col("age"), pl.col("age") // 10, pl.col("age") // 20, pl.lit(0)],
        **{name: [pl.col(name), frequent_values(name, least), pl.lit("")] for name, least in RARE.items()},
    }
    least = min(
        loss
        for chosen in product(*(forms[name] for name in qi))
        if (loss := lost_by(frame, dict(zip(qi, chosen, strict=True)), k, suppression)) is not None
    )
    assert lost(made) == pytest.approx(least)


RARE = {"education": 1000, "race": 1000, "marital_status": 2000}


def frequent_values(name: str, least: int) -> pl.Expr:
    """Values of so many records, the others as one."""
    return pl.when(pl.len().over(name) >= least).then(pl.col(name)).otherwise(pl.lit("other"))


def lost_by(frame: pl.DataFrame, chosen: dict[str, pl.Expr], k: int, suppression: float) -> float | None:
    """The loss of a form, each record by itself; None where too many would be left out."""
    qi = list(chosen)
    coarse = frame.with_columns(form.alias(f"{name}_coarse") for name, form in chosen.items())
    stays = pl.len().over([f"{name}_coarse" for name in qi]) >= k
    parts = [
        pl.when(stays).then(pl.len().over(f"{name}_coarse")).otherwise(pl.len()) / pl.len().over(name)
        for name in qi
    ]
    reported = coarse.select(
        stays.not_().sum().alias("gone"),
        pl.sum_horizontal(part.log(2).sum() for part in parts).alias("lost"),
        pl.sum_horizontal((pl.len() / pl.len().over(name)).log(2).sum() for name in qi).alias("whole"),
    ).row(0, named=True)
    return None if reported["gone"] > suppression * len(frame) else reported["lost"] / reported["whole"]
