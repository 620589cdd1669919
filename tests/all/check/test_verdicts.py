"""What the first tier leaves of tests/check/test_verdicts.py."""

from pathlib import Path

import pytest

from reid_sql.check.gate import check
from tests.check.test_verdicts import tables_policy


@pytest.mark.real_data
def test_measures_of_sensitive_columns_are_the_published_figures(
    tmp_path: Path, adult: str
) -> None:
    columns = ["age", "education", "occupation", "relationship", "sex", "native_country"]
    limits = {
        "k": 1,
        "l_diversity": 1,
        "t_closeness": 0.7591904426,
        "beta_likeness": 3.1526591,
        "delta_disclosure": 2.982593917,
    }
    limits |= {"unique_records": 10154, "average_risk": 0.4635299899}
    bounds = {name: "at_least" if name in ("k", "l_diversity") else "at_most" for name in limits}
    checks = ", ".join(
        f'{{measure = "{name}", {bounds[name]} = {limit}}}' for name, limit in limits.items()
    )
    text = (
        f'mask_below = 1\n[[tables]]\nfile = "{adult}"\nquasi_identifiers = {columns}\n'
        f'sensitive = ["income"]\nchecks = '
        f"[{checks}]"
    )
    page = check(tables_policy(tmp_path, text))
    assert {
        each["measure"]: each["groups"][0]["value"] for each in page["checks"]
    } == pytest.approx(limits, rel=1e-7)
