"""Some measures of sensitive columns are infinite: no limit holds, and JSON has no such number."""

import json
from pathlib import Path

import polars as pl
import pytest

from reid_sql.check.gate import check
from reid_sql.check.html import render_html
from reid_sql.check.report import render_junit, to_json

PATIENTS = pl.DataFrame({"zip": [1, 2, 2, 2], "disease": ["gout", "flu", "flu", "flu"]})
POLICY = """
[[tables]]
file = "patients.parquet"
quasi_identifiers = ["zip"]
sensitive = ["disease"]

[[tables.checks]]
measure = "{measure}"
variant = "{variant}"
at_most = 1e9
"""


@pytest.mark.parametrize(
    ("measure", "variant"), [("delta_disclosure", "all"), ("beta_likeness", "enhanced")]
)
def test_an_infinite_figure_is_beyond_every_limit(
    tmp_path: Path, measure: str, variant: str
) -> None:
    PATIENTS.write_parquet(tmp_path / "patients.parquet")
    file = tmp_path / "policy.toml"
    file.write_text(POLICY.format(measure=measure, variant=variant))
    page = check(file)
    (group,) = page["checks"][0]["groups"]
    assert (page["verdict"], page["exit_code"]) == ("fail", 1)
    assert (group["verdict"], group["value"]) == ("fail", None)
    assert group["status"].startswith("infinite_")
    assert json.loads(to_json(page)) == page
    assert "infinite_" in render_junit(page) + render_html(page)
