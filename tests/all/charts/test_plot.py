"""What the first tier leaves of tests/charts/test_plot.py."""

from pathlib import Path
from typing import Any

from reid_sql.charts import column_charts, estimate_charts
from reid_sql.charts.estimate_charts import losses
from reid_sql.charts.risk_charts import frontier, quasi_identifiers
from reid_sql.charts.svg import save, svg
from tests.cells import each_cell

HOSTILE = [
    "a$b$",
    "$\\frac$",
    "<script>",
    "_hidden",
    "\x1b[2J",
    "\u202etxt",
    "a" * 300,
    "",
    "%s{}",
    "\\$",
]


@each_cell("name", HOSTILE)
def test_no_text_of_the_data_is_a_formula_or_breaks_the_picture(tmp_path: Path, name: str) -> None:
    risk = [{"columns": [name, "b"], "distinction": 0.5, "separation": 0.9}]
    row = {
        "method": name,
        "uniqueness": 0.1,
        "uniqueness_low": None,
        "uniqueness_high": None,
        "status": "ok",
    }
    steps = {name: [{"step": 0, "risk": 0.5, "bound": 0.5}, {"step": 1, "risk": 0.4, "bound": 0.3}]}
    table: dict[str, Any] = {"name": name, "k": 5, "frontier": [], "losses": None}
    loss = [{"column_name": name, "information_loss": 0.5}]
    known = [{"points": 1, "uniqueness": 0.5, "uniqueness_low": 0.4, "uniqueness_high": 0.6}]
    made = [column_charts.attribute_risk(risk), estimate_charts.methods([row])]
    made += [column_charts.elimination(steps), losses(loss), estimate_charts.unicity({name: known})]
    left_out = {"column": name, "without": {"average_risk": 0.5, "k": 2}}
    release = {
        "name": name,
        "records": 9,
        "records_dropped": 0,
        "classes": 3,
        "columns": [left_out],
    }
    for chart in [*made, *frontier(table), *quasi_identifiers({"tables": [release, release]})]:
        save(chart, name, str(tmp_path / "picture.svg"))
        for text in ((tmp_path / "picture.svg").read_text(encoding="utf-8"), svg(chart)):
            assert "<script>" not in text
            assert "\x1b" not in text
            assert "\u202e" not in text
