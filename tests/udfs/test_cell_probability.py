import polars as pl
import pytest

import reid_sql.polars as rp
from tests.copulas import fitted
from tests.tables import by_duckdb


def test_one_column_is_its_own_share() -> None:
    frame = pl.DataFrame({"sex": ["F"] * 30 + ["M"] * 50 + [None] * 20})
    fitted("m", frame, ["sex"])
    duck = by_duckdb("SELECT DISTINCT sex, cell_probability('m', sex) AS q FROM t", t=frame)
    assert {row["sex"]: row["q"] for row in duck} == pytest.approx(
        {"F": 0.3, "M": 0.5, None: 0.2}, rel=1e-6
    )
    lazy = frame.lazy().select("sex", q=rp.cell_probability("m", "sex")).unique().collect()
    assert sorted(map(str, lazy.to_dicts())) == sorted(map(str, duck))
