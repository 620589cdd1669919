"""What the first tier leaves of tests/udfs/test_qar_elimination.py."""

import polars as pl
import pytest

from tests.tables import by_polars


@pytest.mark.real_data
def test_the_findings_of_the_paper_on_a_health_survey(data: str) -> None:
    """Uniqueness weighted by risk beats contributions computed once, which beat the regression.

    Entropy does not help.
    """
    survey = (
        pl.read_parquet(f"{data}/brfss2020_heart.parquet")
        .drop("race")
        .with_columns(pl.col("bmi").round(0))
    )
    table = survey.with_columns(pl.col(pl.String).rank("dense")).sample(12_129, seed=1)
    paths = {
        by: by_polars(
            "qar_risk", table, table.columns, remove=2500, ranking=by, output="elimination"
        )
        for by in ("u_plus", "dt", "pls", "entropy")
    }
    left = {by: rows[-1]["risk"] / rows[0]["risk"] for by, rows in paths.items()}
    assert left["u_plus"] < left["dt"] < left["pls"] < 1 < left["entropy"]
