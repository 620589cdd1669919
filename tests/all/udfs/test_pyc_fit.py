"""What the first tier leaves of tests/udfs/test_pyc_fit.py."""

import pytest

from tests.tables import ADULT10, by_duckdb


@pytest.mark.real_data
def test_adult_fits_its_own_class_count(adult: str) -> None:
    found = by_duckdb(f"FROM pyc_fit('{adult}', {ADULT10})")[0]
    again = by_duckdb(f"SELECT pyc_share({found['entropy']!r}, {found['tail']!r}, 32561) AS kappa")[
        0
    ]
    assert found["classes"] == 27_515
    assert again["kappa"] == pytest.approx(27_515 / 32_561, abs=0.02)
