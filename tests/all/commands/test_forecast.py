"""The picture of a forecast costs no second fit."""

from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from reid_sql import cli
from reid_sql.models.people import fit as fit_module
from reid_sql.models.people.evidence import PeopleEvidence
from reid_sql.models.people.model import PeopleModel


def test_figures_and_picture_are_of_one_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted, anew = [], fit_module._fit_free_columns  # noqa: SLF001

    def counting(evidence: PeopleEvidence, seed: int) -> PeopleModel:
        fitted.append(evidence.columns)
        return anew(evidence, seed)

    monkeypatch.setattr(fit_module, "_fit_free_columns", counting)
    rng, file, picture = (
        np.random.default_rng(1),
        tmp_path / "people.parquet",
        tmp_path / "curve.svg",
    )
    people = pa.table({"age": rng.integers(0, 90, 400), "zip": rng.integers(0, 40, 400)})
    with duckdb.connect() as con:
        con.register("people", people)
        con.execute(f"COPY people TO '{file}'")
    call = ["risk", str(file), "--qi", "age,zip", "--population", "1e5", "--plot", str(picture)]
    assert cli.main(call) == 0
    assert picture.stat().st_size > 1000
    assert fitted == [("age", "zip")]
