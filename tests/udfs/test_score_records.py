import polars as pl
import pytest

import reid_sql.polars as rp
from reid_sql.models.copula.calibration import SampleUse
from tests.copulas import people
from tests.tables import by_duckdb

COLUMNS = ["age", "sex", "grade"]
FIT = {"p": "fit_people", "c": "fit_copula"}


@pytest.mark.parametrize("model", FIT)
@pytest.mark.parametrize("sample", ["ignored", "known"])
def test_it_says_what_the_row_functions_and_the_old_name_say(model: str, sample: SampleUse) -> None:
    frame = people().with_row_index("row").cast({"row": pl.Int64})
    by_duckdb(f"FROM {FIT[model]}('{model}', t, {COLUMNS})", t=frame)
    getattr(rp, FIT[model])(model, frame, COLUMNS).collect()
    call = f"(t, '{model}', 5000, sample := '{sample}') ORDER BY row"
    found = by_duckdb(f"FROM score_records{call}", t=frame)
    assert found == by_duckdb(f"FROM score_copula{call}", t=frame)
    lazy = rp.score_records(frame, model, 5000, sample).sort("row").collect().rows(named=True)
    for one, other in zip(found, lazy, strict=True):
        assert one == {n: pytest.approx(v, rel=1e-9) if isinstance(v, float) else v for n, v in other.items()}
    if sample == "ignored":
        xi = f"SELECT uniqueness_xi('{model}', 5000, age, sex, grade) AS xi FROM t ORDER BY row"
        want = [row["xi"] for row in by_duckdb(xi, t=frame)]
        assert [row["uniqueness_xi"] for row in found] == pytest.approx(want, abs=1e-9)
    else:
        assert all((row["uniqueness_xi"] == 0) == (row["class_size"] > 1) for row in found)
